/** An answer on HTTP, the headers that every one carries, and how it is sent. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** More headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Nothing from elsewhere, nothing inline, never in a frame, and nothing kept: what is shown is about people's events.
 * https://cheatsheetseries.owasp.org/cheatsheets/HTTP_Headers_Cheat_Sheet.html
 */
const STRICT_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Smaller answers gain nothing. */
const WORTH_ZIPPING_LETTERS = 2_048;

const zip = promisify(gzip);

/** Sends an answer, compressed for who takes that. */
export async function write(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, body, headers }: Answer,
): Promise<void> {
  const zipped = body.length >= WORTH_ZIPPING_LETTERS && takesGzip(request);
  const bytes = zipped ? await zip(body, { level: constants.Z_BEST_SPEED }) : Buffer.from(body);
  // A body that nobody asked for would be read as the next request.
  const more =
    Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'];
  response.writeHead(status, {
    ...STRICT_HEADERS,
    'content-type': type,
    'content-length': bytes.length,
    vary: 'accept-encoding',
    ...(zipped && { 'content-encoding': 'gzip' }),
    ...(more && { connection: 'close' }),
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

const takesGzip = ({ headers }: IncomingMessage): boolean =>
  String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((coding) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));

/** Some words. */
export function words(status: number, text: string, headers: Answer['headers'] = {}): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${text}\n`, headers };
}

/** A document for programs. */
export function json(status: number, value: unknown, headers: Answer['headers'] = {}): Answer {
  const body = `${JSON.stringify(value, null, 2)}\n`;
  return { status, type: 'application/json; charset=utf-8', body, headers };
}
