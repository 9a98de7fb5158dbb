/** What a failed exchange means: from the errors of sockets, TLS and undici to ours, by code and never by message; pure. */
import { errors } from 'undici';
import {
  DaywalkError,
  EnvelopeError,
  isBadCertificate,
  SettingsError,
  TransientError,
} from '../errors.ts';
import { excerpt } from '../redactor.ts';

/** The connection ended before an answer began. On a kept connection this is most often the server's idle timeout. */
export class LostBeforeAnswerError extends TransientError {}

/** What the words of a failure need. */
export interface FailurePlace {
  /** What was asked for: URL, start and length. */
  readonly asked: string;
  /** Host of the API as shown. */
  readonly host: string;
  /** Whether an answer had begun. */
  readonly answering: boolean;
  readonly secrets: readonly string[];
}

/**
 * The error to throw for `error`; the very same one where it is not about the connection.
 * A TransientError's message is only the words ("connection to soc.example lost before an answer"): who gives up adds the place.
 */
export function namedFailure(
  error: unknown,
  { asked, host, answering, secrets }: FailurePlace,
): unknown {
  if (error instanceof DaywalkError || !(error instanceof Error)) return error;
  // Where several addresses were tried, the first one speaks for all.
  const first = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const { code } = error as NodeJS.ErrnoException;
  const message = excerpt(first.message, secrets);
  const cause = bare(error, message);
  // undici leaves the code of a parser error undefined in many cases, and asserts on a status below 100.
  if (error instanceof errors.HTTPParserError || code === 'ERR_ASSERTION')
    return new TransientError(`what ${host} answers is not HTTP`, { cause });
  if (code === undefined) return error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new EnvelopeError(`${asked} answered with headers of more than 16 kB`, { cause });
  const [wrong, hint] = wrongSettings(code, host, message);
  if (wrong !== undefined) return new SettingsError(wrong, { hint, cause });
  if (!LOST.test(code) && !FAILED.test(code)) return error;
  const details = { hint: HINTS[code], cause };
  if (!LOST.test(code))
    return new TransientError(`connection to ${host} failed: ${message}`, details);
  return answering
    ? new TransientError(`connection to ${host} lost in the middle of the answer`, details)
    : new LostBeforeAnswerError(`connection to ${host} lost before an answer`, details);
}

const LOST = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;
/**
 * Any other code of a connection: those of TLS, of undici, and the names of the operating system (ETIMEDOUT, EHOSTUNREACH, EMFILE …);
 * Node's own programming errors are ERR_….
 */
const FAILED =
  /^(ERR_(SSL|TLS)_.+|UND_ERR_(CONNECT_TIMEOUT|HEADERS_TIMEOUT|ABORTED|RES_CONTENT_LENGTH_MISMATCH)|E(?!RR_)[A-Z0-9_]+)$/;

/** What other settings alone can mend, and what to do; nothing for any other code. */
function wrongSettings(
  code: string,
  host: string,
  message: string,
): [what?: string, hint?: string] {
  if (isBadCertificate(code) || code === 'UND_ERR_PRX_TLS')
    return [
      `the certificate of ${host} is not trusted: ${message} (${code})`,
      'if the API has a certificate of your own authority, name its file in api.ca_file; also check the host name and the dates',
    ];
  if (/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/.test(code))
    return [`${host} does not speak TLS`, 'is the port right, and is api.url really https?'];
  if (/^ERR_SSL_.*_ALERT_/.test(code) && !OF_MOMENT.test(code))
    return [
      `${host} refused the TLS handshake (${code})`,
      'it may ask for a client certificate: api.client_cert_file and api.client_key_file',
    ];
  if (code === 'UND_ERR_INVALID_ARG')
    return [
      `the request cannot be made: ${message}`,
      'a proxy that asks for a password (407) takes it from its URL, http://name:password@proxy:3128',
    ];
  return [];
}

/** Alerts by which no server says what it wants: it has a fault of its own, or bytes were damaged on the way. */
const OF_MOMENT = /_ALERT_(INTERNAL_ERROR|BAD_RECORD_MAC|UNEXPECTED_MESSAGE)$/;

const HINTS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'check the host name in api.url',
  EAI_AGAIN: 'the name server of this machine does not answer',
  ECONNREFUSED: 'are host and port in api.url right, and is the API up?',
  UND_ERR_CONNECT_TIMEOUT: 'a firewall on the way, or a proxy that is not set (proxy.https)?',
  UND_ERR_ABORTED: 'check the proxy, and whether it lets this host through',
};

/** The error without what it carries along: a parser error has the bytes received, in which a server may echo the key. */
function bare(error: Error, message: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  const cause = new Error(message);
  cause.name = error.name;
  return code === undefined ? cause : Object.assign(cause, { code });
}
