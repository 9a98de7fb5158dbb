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
export class ConnectionLostError extends TransientError {}

/** What the words of a failure need. */
export interface FailurePlace {
  /** What was asked for: URL, start and length. */
  readonly asked: string;
  /** Host of the API as shown. */
  readonly host: string;
  /** Whether an answer had begun. */
  readonly answering: boolean;
  readonly connectTimeoutMs: number;
  readonly secrets: readonly string[];
}

/** The other side does not speak TLS at all. */
const NO_TLS = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
]);

/**
 * The error to throw for `error`; the very same one where it is not about the connection.
 * A TransientError's message is only the words ("connection refused by 127.0.0.1:1"): who gives up adds the place.
 */
export function namedFailure(error: unknown, place: FailurePlace): unknown {
  if (error instanceof DaywalkError || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  const message = excerpt(error.message, place.secrets);
  const details = { cause: bare(error, message) };
  // undici leaves the code of a parser error undefined in many cases, and asserts on a status below 100.
  if (error instanceof errors.HTTPParserError || code === 'ERR_ASSERTION')
    return new TransientError(`what ${place.host} answers is not HTTP`, details);
  if (code === undefined) return error;
  if (isBadCertificate(code) || code === 'UND_ERR_PRX_TLS')
    return new SettingsError(
      `the certificate of ${place.host} is not trusted: ${message} (${code})`,
      {
        hint: 'if the API has a certificate of your own authority, name its file in api.ca_file; also check the host name and the dates',
        ...details,
      },
    );
  if (NO_TLS.has(code))
    return new SettingsError(`${place.host} does not speak TLS`, {
      hint: 'is the port right, and is api.url really https?',
      ...details,
    });
  if (/^ERR_SSL_.*_ALERT_/.test(code))
    return new SettingsError(`${place.host} refused the TLS handshake (${code})`, {
      hint: 'it may ask for a client certificate: api.client_cert_file and api.client_key_file',
      ...details,
    });
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new EnvelopeError(`${place.asked} answered with headers of more than 16 kB`, details);
  if (code === 'UND_ERR_INVALID_ARG')
    return new SettingsError(`the request cannot be made: ${message}`, {
      hint: 'a proxy that asks for a password (407) takes it from its URL, http://name:password@proxy:3128',
      ...details,
    });
  const words = wordsOf(error, message, code, place);
  if (words === undefined) return error;
  const lost = !place.answering && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code);
  const all = { ...details, hint: HINTS[code] };
  return lost ? new ConnectionLostError(words, all) : new TransientError(words, all);
}

const HINTS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'check the host name in api.url',
  EAI_AGAIN: 'the name server of this machine does not answer',
  ECONNREFUSED: 'are host and port in api.url right, and is the API up?',
  UND_ERR_CONNECT_TIMEOUT: 'a firewall on the way, or a proxy that is not set (proxy.https)?',
  UND_ERR_ABORTED: 'check the proxy, and whether it lets this host through',
};

/** What happened, to be read after "the last: "; undefined where `code` is none of a connection. */
function wordsOf(
  error: Error,
  message: string,
  code: string,
  place: FailurePlace,
): string | undefined {
  const { hostname = place.host } = error as { hostname?: string };
  switch (code) {
    case 'ECONNREFUSED':
      return `connection refused by ${addressOf(error) ?? place.host}`;
    case 'ENOTFOUND':
      return `no address known for ${hostname}`;
    case 'EAI_AGAIN':
      return `no answer from the name server about ${hostname}`;
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `no connection to ${place.host} within ${place.connectTimeoutMs / 1000} s`;
    case 'UND_ERR_ABORTED':
      return `no tunnel to ${place.host}: ${message}`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return place.answering
        ? `connection to ${place.host} lost in the middle of the answer`
        : `connection to ${place.host} lost before an answer`;
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return `the answer of ${place.host} is shorter or longer than its Content-Length`;
    case 'UND_ERR_HEADERS_TIMEOUT':
      return `no answer from ${place.host} or the proxy`;
  }
  if (/^ERR_(SSL|TLS)_/.test(code)) return `TLS with ${place.host} failed (${code})`;
  // The names of the operating system (ETIMEDOUT, EHOSTUNREACH, EMFILE …); Node's own programming errors are ERR_….
  if (/^E(?!RR_)[A-Z0-9_]+$/.test(code)) return `connection to ${place.host} failed (${code})`;
  return undefined;
}

/** Address and port of a system error; of the first where several addresses were tried. */
function addressOf(error: Error): string | undefined {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { address, port } = first as { address?: string; port?: number };
  if (address === undefined || port === undefined) return undefined;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** The error without what it carries along: a parser error has the bytes received, in which a server may echo the key. */
function bare(error: Error, message: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  const cause = new Error(message);
  cause.name = error.name;
  return code === undefined ? cause : Object.assign(cause, { code });
}
