/** One signed request to a bucket and its answer; each of its two halves, until the headers and after, has a time. */

import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import type { Dispatcher } from 'undici';
import { type Clock, type Deadline, withDeadline } from '../../clock.ts';
import { DaywalkError, ObjectStoreError, TransientError } from '../../errors.ts';
import { beginning } from '../../source/body.ts';
import { namedFailure } from '../../source/exchange-failure.ts';
import { bytesOf, digestOf, piecesOf } from '../object-body.ts';
import type { ObjectBody } from '../object-store.ts';
import type { BucketAddress } from './s3-address.ts';
import type { S3Keys } from './s3-keys.ts';

/** What the requests to one bucket share. */
export interface S3Link {
  readonly address: BucketAddress;
  readonly region: string;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly secrets: () => readonly string[];
}

export interface S3Asked {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ObjectBody;
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
  const { method, body = NO_BYTES } = asked;
  const { path, headers } = await signed(link, asked, keys);
  let answering = false;
  const sending =
    asked.body === undefined ? null : Readable.from(piecesOf(body), { objectMode: false });
  // The request tells of it; what comes behind its end, nobody wants.
  sending?.on('error', () => {});
  try {
    const sent = deadlineOf(link, bytesOf(body), signal, 'no answer');
    const answer = await withDeadline(sent, (stop) =>
      dispatcher.request({
        origin: address.origin,
        path,
        method,
        headers,
        body: sending,
        signal: stop,
      }),
    );
    answering = true;
    const isGood = answer.statusCode >= 200 && answer.statusCode < 300;
    const claimed = Number(answer.headers['content-length'] ?? 0);
    // What is destroyed early says so.
    answer.body.on('error', () => {});
    const come = deadlineOf(link, isGood ? claimed : 0, signal, 'no complete answer');
    const bytes = await withDeadline(come, (stop) => {
      stop.addEventListener('abort', () => answer.body.destroy());
      return isGood && method !== 'HEAD'
        ? whole(answer.body, claimed)
        : beginning(answer.body, MOST_ERROR_BYTES);
    });
    return { status: answer.statusCode, headers: answer.headers, body: bytes };
  } catch (error) {
    signal.throwIfAborted();
    throw failed(error, link, answering);
  } finally {
    sending?.destroy();
  }
}

/** The path and the headers, with the signature among them. */
async function signed(
  { address, region, clock }: S3Link,
  { method, key, headers = {}, body = NO_BYTES }: S3Asked,
  keys: S3Keys,
): Promise<{ path: string; headers: Record<string, string> }> {
  const path = address.pathTo(key);
  const signer = new AwsV4Signer({
    ...keys,
    method,
    url: `${address.origin}${path}`,
    headers: { ...headers, 'x-amz-content-sha256': digestOf(body) },
    service: 's3',
    region,
    // Seconds, without the signs between: 20260301T000000Z.
    datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  const all = Object.fromEntries((await signer.sign()).headers.entries());
  const length = method === 'PUT' ? { 'content-length': String(bytesOf(body)) } : {};
  return { path, headers: { ...all, ...length, 'user-agent': 'daywalk' } };
}

/** What a body of so many bytes may take, as {@link withDeadline} wants it. */
function deadlineOf(
  { clock, requestTimeoutMs }: S3Link,
  bytes: number,
  signal: AbortSignal,
  lacking: string,
): Deadline {
  const ms = requestTimeoutMs + Math.ceil((bytes / LEAST_BYTES_PER_SECOND) * 1000);
  const late = () => new TransientError(`${lacking} within ${ms / 1000} s`, { timedOut: true });
  return { clock, ms, signal, late };
}

/** All of a body, in one piece of memory where its length is told. */
async function whole(chunks: AsyncIterable<Buffer>, claimed: number): Promise<Buffer> {
  const refuseMore = (bytes: number): void => {
    if (bytes > MOST_BYTES)
      throw new ObjectStoreError('settings', `an object of more than ${MOST_BYTES} bytes`);
  };
  refuseMore(claimed);
  const memory = Buffer.allocUnsafe(claimed);
  const rest: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    if (bytes + chunk.length <= claimed) chunk.copy(memory, bytes);
    else rest.push(chunk);
    bytes += chunk.length;
    refuseMore(bytes);
  }
  // Without a Content-Length all of it is in the rest: with one, undici has compared.
  return claimed === 0 ? Buffer.concat(rest) : memory;
}

/** In the words for the API, with the settings of the store. */
function failed(error: unknown, link: S3Link, answering: boolean): unknown {
  if (error instanceof DaywalkError) return error;
  const { address, connectTimeoutMs, secrets } = link;
  const place = { asked: address.name, host: address.host, answering, connectTimeoutMs };
  const named = namedFailure(error, { ...place, secrets: secrets() });
  if (!(named instanceof DaywalkError)) return named;
  const hint = `Is the store up at ${address.shown} (tier.endpoint)? Its certificate is checked with tier.ca_file.`;
  return named instanceof TransientError
    ? new TransientError(named.message, { hint, cause: named.cause })
    : new ObjectStoreError('settings', `${address.name}: ${named.message}`, {
        hint,
        cause: named.cause,
      });
}
