/** One signed request to a bucket and its answer, within a time that grows with what is sent and expected. */

import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import type { Dispatcher } from 'undici';
import { type Clock, type Deadline, withDeadline } from '../../clock.ts';
import { DaywalkError, ObjectStoreError, TransientError } from '../../errors.ts';
import { beginning } from '../../source/body.ts';
import { namedFailure } from '../../source/exchange-failure.ts';
import type { RetryNotice, RetryPolicy } from '../../source/retry.ts';
import { bytesOf, digestOf, type ObjectBody, piecesOf } from '../object-store.ts';
import type { BucketAddress } from './s3-address.ts';
import type { S3Keys } from './s3-keys.ts';

/** What the requests to one bucket share. */
export interface S3Link {
  readonly address: BucketAddress;
  readonly region: string;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
  readonly retry: RetryPolicy;
  /** Told before each wait. */
  readonly onRetry: (notice: RetryNotice) => void;
  readonly secrets: () => readonly string[];
}

export interface S3Asked {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ObjectBody;
  /** About how many bytes the answer has, where there may be many. */
  readonly expected?: number;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Whole where the answer is good, else its beginning. */
  readonly body: Buffer;
}

/** Larger objects are read by range. */
const MOST_BYTES = 1 << 30;
export const MOST_ERROR_BYTES = 65_536;
/** What a body may take besides the time of a request, however slow the way is. */
const LEAST_BYTES_PER_SECOND = 100_000;
const NO_BYTES = Buffer.alloc(0);

/** @throws {TransientError} for what may pass; {ObjectStoreError} where TLS or the proxy is not set right; the signal's reason. */
export async function exchangeWith(
  link: S3Link,
  asked: S3Asked,
  keys: S3Keys,
  signal: AbortSignal,
): Promise<S3Answer> {
  const { address, dispatcher } = link;
  const { method, body: sent } = asked;
  const { path, headers } = await signed(link, asked, keys);
  let answering = false;
  const body = sent === undefined ? null : Readable.from(piecesOf(sent), { objectMode: false });
  // The request tells of it; what comes behind its end, nobody wants.
  body?.on('error', () => {});
  try {
    return await withDeadline(deadlineOf(link, asked, signal), async (stop) => {
      const { origin } = address;
      const request = { origin, path, method, headers, body, signal: stop };
      const answer = await dispatcher.request(request);
      answering = true;
      const { statusCode: status } = answer;
      const isWanted = status >= 200 && status < 300 && method !== 'HEAD';
      const bytes = isWanted ? await whole(answer) : await beginning(answer.body, MOST_ERROR_BYTES);
      return { status, headers: answer.headers, body: bytes };
    });
  } catch (error) {
    signal.throwIfAborted();
    throw failed(error, link, answering);
  } finally {
    body?.destroy();
  }
}

/** The path and the headers, with the signature among them. */
async function signed(
  { address, region, clock }: S3Link,
  { method, key, headers = {}, body = NO_BYTES }: S3Asked,
  keys: S3Keys,
): Promise<{ path: string; headers: Record<string, string> }> {
  const signer = new AwsV4Signer({
    ...keys,
    method,
    url: `${address.origin}${address.pathTo(key)}`,
    headers: { ...headers, 'x-amz-content-sha256': digestOf(body) },
    service: 's3',
    region,
    // Seconds, without the signs between: 20260301T000000Z.
    datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  const all = Object.fromEntries((await signer.sign()).headers.entries());
  const length = method === 'PUT' ? { 'content-length': String(bytesOf(body)) } : {};
  return { path: signer.encodedPath, headers: { ...all, ...length, 'user-agent': 'daywalk' } };
}

function deadlineOf(
  { clock, requestTimeoutMs }: S3Link,
  { body = NO_BYTES, expected = 0 }: S3Asked,
  signal: AbortSignal,
): Deadline {
  const bytes = bytesOf(body) + expected;
  const ms = requestTimeoutMs + Math.ceil((bytes / LEAST_BYTES_PER_SECOND) * 1000);
  const late = () => new TransientError(`no answer within ${ms / 1000} s`, { timedOut: true });
  return { clock, ms, signal, late };
}

/** All of a body, which may come without its length. */
async function whole({ headers, body }: Dispatcher.ResponseData): Promise<Buffer> {
  const parts: Buffer[] = [];
  const told = Number(headers['content-length'] ?? 0);
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (Math.max(told, bytes) > MOST_BYTES)
      throw new ObjectStoreError('settings', `an object of more than ${MOST_BYTES} bytes`);
  }
  return Buffer.concat(parts);
}

/** In the words for the API, with the settings of the store. */
function failed(error: unknown, link: S3Link, answering: boolean): unknown {
  if (error instanceof DaywalkError) return error;
  const { address, secrets } = link;
  const place = { asked: address.name, host: address.host, answering };
  const named = namedFailure(error, { ...place, secrets: secrets() });
  if (!(named instanceof DaywalkError)) return named;
  named.hint = `Is the store up at ${address.shown} (tier.endpoint)? Its certificate is checked with tier.ca_file.`;
  const { message, hint, cause } = named;
  return named instanceof TransientError
    ? named
    : new ObjectStoreError('settings', `${address.name}: ${message}`, { hint, cause });
}
