/** Reading in a bucket: objects, ranges, sizes. Nothing is believed on its status alone. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { TransientError } from '../../errors.ts';
import type { AskS3, SendToS3 } from './s3-asking.ts';
import type { S3Answer } from './s3-exchange.ts';
import { codeIn } from './s3-failure.ts';

/** Metadata that goes with each object of ours: its SHA-256, hexadecimal. */
export const S3_DIGEST = 'x-amz-meta-daywalk-sha256';

const isGood = ({ status }: S3Answer): boolean => status >= 200 && status < 300;

/** Whether an object was written or found: S3 always tells its ETag, which a page of a proxy on the way has not. */
export const isOfObject = (answer: S3Answer): boolean =>
  isGood(answer) && answer.headers.etag !== undefined;

/** The headers of an object; null: it is not there, for all that a HEAD can say. */
export async function headersOf(
  send: SendToS3,
  wrong: (answer: S3Answer) => Error,
  key: string,
): Promise<IncomingHttpHeaders | null> {
  const answer = await send({ method: 'HEAD', key });
  if (answer.status === 404) return null;
  if (!isOfObject(answer)) throw wrong(answer);
  // Some proxies on the way take it out.
  if (answer.headers['content-length'] === undefined)
    throw new TransientError('answered without the size of an object');
  return answer.headers;
}

/** No object is believed absent on one answer: a GET says whether the bucket is there, and a HEAD is another question. */
const NOT_BOTH = 'answered 404 for an object, and then showed it';

export function sizeInS3(ask: AskS3, key: string, signal: AbortSignal): Promise<number | null> {
  return ask(`HEAD ${key}`, signal, async (send, wrong) => {
    const found = await headersOf(send, wrong, key);
    if (found !== null) return Number(found['content-length']);
    const answer = await send({ method: 'GET', key, headers: { range: 'bytes=0-0' } });
    if (isOfObject(answer) || answer.status === 416) throw new TransientError(NOT_BOTH);
    if (codeIn(answer) !== 'NoSuchKey') throw wrong(answer);
    return null;
  });
}

export function readFromS3(
  ask: AskS3,
  key: string,
  signal: AbortSignal,
  range?: { readonly start: number; readonly end: number },
): Promise<Buffer | null> {
  const asked =
    range === undefined
      ? {}
      : {
          headers: { range: `bytes=${range.start}-${range.end - 1}` },
          expected: range.end - range.start,
        };
  return ask(`GET ${key}`, signal, async (send, wrong) => {
    const answer = await send({ method: 'GET', key, ...asked });
    // The range begins behind the object's end.
    if (range !== undefined && answer.status === 416) return Buffer.alloc(0);
    if (answer.status === 404 && codeIn(answer) === 'NoSuchKey') {
      if ((await headersOf(send, wrong, key)) !== null) throw new TransientError(NOT_BOTH);
      return null;
    }
    if (!isOfObject(answer)) throw wrong(answer);
    if (answer.status === 206 && range !== undefined) return checkedRange(answer, range);
    checkDigest(answer);
    return range === undefined ? answer.body : answer.body.subarray(range.start, range.end);
  });
}

function checkedRange(
  { headers, body }: S3Answer,
  { start, end }: { readonly start: number; readonly end: number },
): Buffer {
  const told = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '')?.map(Number) ?? [];
  const [, from, to = 0, total = 0] = told;
  if (from !== start || to !== Math.min(end, total) - 1 || body.length !== to - from + 1)
    throw new TransientError('answered with another range than was asked for');
  return body;
}

/** Objects of others have no digest. */
function checkDigest({ headers, body }: S3Answer): void {
  const told = headers[S3_DIGEST];
  if (told !== undefined && told !== createHash('sha256').update(body).digest('hex'))
    throw new TransientError('answered with bytes that are not those that were written', {
      hint: 'If it stays so, the object is damaged.',
    });
}

/** One that is not there is removed already. */
export function removeFromS3(ask: AskS3, key: string, signal: AbortSignal): Promise<void> {
  return ask(`DELETE ${key}`, signal, async (send, wrong) => {
    const answer = await send({ method: 'DELETE', key });
    if (!isGood(answer) && codeIn(answer) !== 'NoSuchKey') throw wrong(answer);
  });
}
