/** Objects in a bucket of an S3-compatible store. Nothing is believed on its status alone; what another may have written stays. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../clock.ts';
import { ObjectStoreError, TransientError } from '../../errors.ts';
import type { Redactor } from '../../redactor.ts';
import { Credentials } from '../../source/credentials.ts';
import { openDispatcher, type ProxyOptions, type TlsOptions } from '../../source/dispatcher.ts';
import type { RetryNotice, RetryPolicy } from '../../source/retry.ts';
import {
  type ByteRange,
  bytesOf,
  CHECK_FOLDER,
  digestOf,
  type ObjectBody,
  type ObjectStore,
} from '../object-store.ts';
import { bucketAddress, type S3Place } from './s3-address.ts';
import { type AskS3, openS3Asking, type SendToS3 } from './s3-asking.ts';
import type { S3Answer } from './s3-exchange.ts';
import { codeIn } from './s3-failure.ts';
import { type S3Keys, secretsOf } from './s3-keys.ts';

export interface S3StoreOptions extends S3Place {
  readonly region: string;
  /** Read anew when they are refused. */
  readonly keys: () => Promise<S3Keys>;
  readonly tls: TlsOptions;
  readonly proxy: ProxyOptions;
  readonly clock: Clock;
  /** Is told of the secrets. */
  readonly redactor: Redactor;
  /** So long new objects cannot be removed, not even by whoever has the keys. */
  readonly lockDays?: number | undefined;
  /** Told before each wait. */
  readonly onRetry?: (notice: RetryNotice) => void;
  readonly retry?: RetryPolicy;
  /** For a request without its body. */
  readonly requestTimeoutMs?: number;
}

/** Of the connections to a bucket. */
const CONNECTING = { connections: 4, connectTimeoutMs: 10_000 };
const DEFAULTS = {
  retry: { timeMs: 120_000, baseMs: 200, capMs: 20_000, retryAfterLimitMs: 300_000 },
  requestTimeoutMs: 60_000,
  onRetry: () => {},
};

/** Metadata that goes with each object of ours: its SHA-256, hexadecimal, and which call wrote it. */
const DIGEST = 'x-amz-meta-daywalk-sha256';
const WRITE = 'x-amz-meta-daywalk-write';
const LOCK_MODE = 'x-amz-object-lock-mode';
const DAY_MS = 86_400_000;
/** What tries the store out may go soon, but be locked by the clock of the store, too. */
const CHECK_MS = 3_600_000;
/** No object is believed absent on one answer: a GET says whether the bucket is there, and a HEAD is another question. */
const NOT_BOTH = 'answered 404 for an object, and then showed it';

const isAbsent = (answer: S3Answer): boolean =>
  answer.status === 404 && codeIn(answer) === 'NoSuchKey';

/** A bucket, with its connections; what it learns of the store stays. */
export class S3Store implements ObjectStore {
  readonly name: string;
  readonly #clock: Clock;
  readonly #dispatcher: Dispatcher;
  readonly #ask: AskS3;
  readonly #lockDays: number | undefined;
  #lockWasSeen: boolean;

  /**
   * Opens no connection yet.
   * @throws {ObjectStoreError} for a place that is none; {SettingsError} for TLS and proxy.
   */
  constructor(given: S3StoreOptions) {
    const options = { ...DEFAULTS, ...given, ...CONNECTING };
    const address = bucketAddress(options);
    this.name = address.name;
    this.#clock = options.clock;
    this.#dispatcher = openDispatcher({ ...options, address });
    const credentials = new Credentials(options.redactor, options.keys, secretsOf);
    const { secrets } = options.redactor;
    const link = { ...options, address, dispatcher: this.#dispatcher, secrets };
    this.#ask = openS3Asking(link, credentials);
    this.#lockDays = options.lockDays;
    this.#lockWasSeen = options.lockDays === undefined;
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  size(key: string, signal: AbortSignal): Promise<number | null> {
    return this.#ask(`HEAD ${key}`, signal, async (send) => {
      const found = await headersOf(send, key);
      if (found !== null) return Number(found['content-length']);
      const asked = { method: 'GET', key, headers: { range: 'bytes=0-0' } } as const;
      const answer = await send(asked, (one) => isAbsent(one) || one.status === 416);
      if (!isAbsent(answer)) throw new TransientError(NOT_BOTH);
      return null;
    });
  }

  read(key: string, signal: AbortSignal, range?: ByteRange) {
    const { start = 0, end = 0 } = range ?? {};
    const headers = range === undefined ? {} : { range: `bytes=${start}-${end - 1}` };
    const asked = { method: 'GET', key, headers, expected: end - start } as const;
    const isBehindEnd = ({ status }: S3Answer) => range !== undefined && status === 416;
    return this.#ask(`GET ${key}`, signal, async (send) => {
      const answer = await send(asked, (one) => isAbsent(one) || isBehindEnd(one));
      if (isAbsent(answer)) {
        if ((await headersOf(send, key)) !== null) throw new TransientError(NOT_BOTH);
        return null;
      }
      if (isBehindEnd(answer)) return Buffer.alloc(0);
      if (answer.status === 206 && range !== undefined) return checkedRange(answer, range);
      checkDigest(answer);
      return range === undefined ? answer.body : answer.body.subarray(start, end);
    });
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    await this.#ask(`DELETE ${key}`, signal, (send) =>
      send({ method: 'DELETE', key }, (one) => one.status < 300 || isAbsent(one)),
    );
  }

  async replace(key: string, body: Buffer, signal: AbortSignal): Promise<void> {
    await this.#write(key, body, signal, {});
  }

  create(key: string, body: ObjectBody, signal: AbortSignal): Promise<'created' | 'exists'> {
    const lock = this.#lockHeaders(key, body);
    return this.#write(key, body, signal, { 'if-none-match': '*', ...lock });
  }

  /** `created` is told to the one call whose bytes are there, whatever happened to its answers. */
  #write(
    key: string,
    body: ObjectBody,
    signal: AbortSignal,
    more: Readonly<Record<string, string>>,
  ): Promise<'created' | 'exists'> {
    const [sha256, own] = [digestOf(body), this.#clock.uuid()];
    const headers = { [DIGEST]: sha256, [WRITE]: own, ...more };
    const anew = 'if-none-match' in more;
    return this.#ask(`PUT ${key}`, signal, async (send) => {
      const asked = { method: 'PUT', key, body, headers } as const;
      const { status } = await send(asked, (one) => anew && one.status === 412);
      if (status !== 412 && (!anew || this.#lockWasSeen)) return 'created';
      const found = await headersOf(send, key);
      if (found === null) throw new TransientError(`answered ${status}, and has no such object`);
      // Whoever sent it twice, or lost the answer: this call has written it.
      const isOwn = found[WRITE] === own && found[DIGEST] === sha256;
      if (!isOwn || Number(found['content-length']) !== bytesOf(body)) return 'exists';
      if (!this.#lockWasSeen && found[LOCK_MODE] === undefined) throw withoutLock(key);
      this.#lockWasSeen = true;
      return 'created';
    });
  }

  #lockHeaders(key: string, body: ObjectBody): Record<string, string> {
    if (this.#lockDays === undefined) return {};
    const ms = key.startsWith(CHECK_FOLDER) ? CHECK_MS : this.#lockDays * DAY_MS;
    const until = new Date(this.#clock.now() + ms);
    return {
      [LOCK_MODE]: 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': until.toISOString().replace(/\.\d+/, ''),
      // Amazon wants one of what is locked; elsewhere the digest that is signed says the same.
      'x-amz-checksum-sha256': Buffer.from(digestOf(body), 'hex').toString('base64'),
    };
  }
}

/** The headers of an object; null: it is not there, for all that a HEAD can say. */
async function headersOf(send: SendToS3, key: string): Promise<IncomingHttpHeaders | null> {
  const answer = await send({ method: 'HEAD', key }, ({ status }) => status === 404);
  if (answer.status === 404) return null;
  // Some proxies on the way take it out.
  if (answer.headers['content-length'] === undefined)
    throw new TransientError('answered without the size of an object');
  return answer.headers;
}

function checkedRange({ headers, body }: S3Answer, { start, end }: ByteRange): Buffer {
  const told = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '')?.map(Number) ?? [];
  const [, from, to = 0, total = 0] = told;
  if (from !== start || to !== Math.min(end, total) - 1 || body.length !== to - from + 1)
    throw new TransientError('answered with another range than was asked for');
  return body;
}

/** Objects of others have no digest. */
function checkDigest({ headers, body }: S3Answer): void {
  const told = headers[DIGEST];
  if (told !== undefined && told !== createHash('sha256').update(body).digest('hex'))
    throw new TransientError('answered with bytes that are not those that were written', {
      hint: 'If it stays so, the object is damaged.',
    });
}

const withoutLock = (key: string): ObjectStoreError =>
  new ObjectStoreError('settings', `${key} was written to the bucket, and shows no object lock`, {
    hint: 'The store knows none, or the key lacks s3:GetObjectRetention: take tier.lock_days out, or give it the right.',
  });
