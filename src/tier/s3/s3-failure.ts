/** What an answer of S3 that is not the one that was asked for means, and what to do about it. */
import { type DaywalkError, ObjectStoreError, TransientError } from '../../errors.ts';
import { excerpt } from '../../redactor.ts';
import { parseRetryAfter } from '../../source/retry.ts';
import { MOST_ERROR_BYTES, type S3Answer, type S3Link } from './s3-exchange.ts';

/** A whole answer that is an error as S3 tells it, and what is in it; a page of a proxy is none. */
const ERROR = /^\s*(?:<\?xml[^<>]*>\s*)?<Error(?:\s[^<>]*)?>(.*)<\/Error>\s*$/s;
const errorIn = ({ body }: S3Answer): string =>
  ERROR.exec(body.toString('utf8', 0, MOST_ERROR_BYTES))?.[1] ?? '';

/** What the store says: S3's own word for it; undefined: it is no error of S3, or the answer to a HEAD, which has no body. */
export const codeIn = (answer: S3Answer): string | undefined =>
  /<Code>([A-Za-z0-9.]{1,60})<\/Code>/.exec(errorIn(answer))?.[1];

/** What it says in a sentence, as it stands. */
const messageIn = (answer: S3Answer): string =>
  /<Message>([^<]*)<\/Message>/.exec(errorIn(answer))?.[1] ?? '';

/** The body was not what was signed, or came too slowly. */
const PASSING_CODES = new Set([
  'BadDigest',
  'IncompleteBody',
  'RequestTimeout',
  'XAmzContentSHA256Mismatch',
  'XAmzContentChecksumMismatch',
]);

const KEY_HINT =
  'Check tier.key_file, tier.secret_file and tier.session_token_file: they are read again after each refusal.';
const HINTS: Readonly<Record<string, string>> = {
  AccessDenied:
    'The key needs s3:GetObject, s3:PutObject and s3:DeleteObject on the prefix, s3:ListBucket on the bucket (without it AWS refuses to say that an object is missing), and s3:PutObjectRetention and s3:GetObjectRetention for tier.lock_days.',
  AuthorizationHeaderMalformed: 'Is tier.region right?',
  EntityTooLarge: 'The store takes no object of this size.',
  ExpiredToken: KEY_HINT,
  InvalidAccessKeyId: KEY_HINT,
  InvalidRequest: 'tier.lock_days needs a bucket that was made with object lock.',
  InvalidToken: KEY_HINT,
  NoSuchBucket: 'Make the bucket, or correct tier.url or tier.path_style.',
  NotImplemented:
    'The store lacks a part of S3 that is needed: conditional writes (If-None-Match: *).',
  RequestTimeTooSkewed: 'The clock of this machine and that of the store differ: set it by NTP.',
  SignatureDoesNotMatch: `${KEY_HINT} A proxy that changes the Host header breaks signatures, too.`,
};

/** The error to throw for an answer. @param asked for what, with the name of the store. */
export function failureOf(
  answer: S3Answer,
  asked: string,
  { clock, retry, secrets }: Pick<S3Link, 'clock' | 'retry' | 'secrets'>,
): DaywalkError {
  const { status, headers } = answer;
  const code = codeIn(answer);
  const told = code === undefined ? [] : [code, excerpt(messageIn(answer), secrets())];
  const words = [`answered ${status}`, ...told].filter((word) => word !== '').join(' ');
  if (isPassing(status, code)) {
    const after = String(headers['retry-after'] ?? '');
    const retryAfterMs = parseRetryAfter(after, clock.now(), retry.retryAfterLimitMs);
    return new TransientError(words, {
      status,
      retryAfterMs,
      hint: 'The store is reached, and does not do what was asked; does its own log say why?',
    });
  }
  const region = headers['x-amz-bucket-region'];
  const hint =
    status < 400 || code === 'PermanentRedirect' || code === 'AuthorizationHeaderMalformed'
      ? `Redirects are not followed: check tier.endpoint, tier.region and tier.path_style${region === undefined ? '' : `; the bucket is in ${excerpt(String(region), secrets(), 40)}`}.`
      : HINTS[code ?? (status === 403 ? 'AccessDenied' : status === 400 ? 'ExpiredToken' : '')];
  return new ObjectStoreError('settings', `${asked}: ${words}`, { hint });
}

/** A 404 that is not S3's comes from a proxy whose backend is away; a 2xx here is not what S3 answers. */
function isPassing(status: number, code: string | undefined): boolean {
  if (code !== undefined && PASSING_CODES.has(code)) return true;
  if (status === 404) return code === undefined;
  return (
    [408, 409, 412, 425, 429].includes(status) || status < 300 || (status >= 500 && status !== 501)
  );
}
