/** Objects in a bucket of an S3-compatible store. What another may have written is never overwritten by `create`. */
import type { Clock } from '../../clock.ts';
import type { Redactor } from '../../redactor.ts';
import { openDispatcher, type ProxyOptions, type TlsOptions } from '../../source/dispatcher.ts';
import type { RetryNotice, RetryPolicy } from '../../source/retry.ts';
import type { ObjectStore } from '../object-store.ts';
import { bucketAddress, type S3Place } from './s3-address.ts';
import { openS3Asking } from './s3-asking.ts';
import { openCredentials, type S3Keys } from './s3-keys.ts';
import { readFromS3, removeFromS3, sizeInS3 } from './s3-read.ts';
import { s3Writer } from './s3-write.ts';

export interface S3StoreOptions extends S3Place {
  readonly region: string;
  /** Read anew when they are refused. */
  readonly keys: S3Keys | (() => Promise<S3Keys>);
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

/** An object store with connections. */
export interface S3Store extends ObjectStore {
  close(): Promise<void>;
}

/** Of the connections to a bucket. */
const CONNECTING = { connections: 4, connectTimeoutMs: 10_000 };
const DEFAULTS = {
  retry: { timeMs: 120_000, baseMs: 200, capMs: 20_000, retryAfterLimitMs: 300_000 },
  requestTimeoutMs: 60_000,
  onRetry: () => {},
};

/**
 * Opens no connection yet.
 * @throws {ObjectStoreError} for a place that is none; {SettingsError} for TLS and proxy.
 */
export function openS3Store(given: S3StoreOptions): S3Store {
  const options = { ...DEFAULTS, ...given, ...CONNECTING };
  const { clock, redactor, region, connectTimeoutMs, requestTimeoutMs } = options;
  const address = bucketAddress(options);
  const dispatcher = openDispatcher({ ...options, address });
  const secrets = redactor.secrets;
  const link = { address, region, dispatcher, clock, connectTimeoutMs, requestTimeoutMs, secrets };
  const credentials = openCredentials(address.name, options.keys, redactor);
  const ask = openS3Asking(link, credentials, options.retry, options.onRetry);
  const write = s3Writer(ask, clock, options.lockDays);
  return {
    name: address.name,
    create: (key, body, signal) => write(key, body, signal, { anew: true }),
    replace: async (key, body, signal) => {
      await write(key, body, signal, { anew: false });
    },
    read: (key, signal, range) => readFromS3(ask, key, signal, range),
    size: (key, signal) => sizeInS3(ask, key, signal),
    remove: (key, signal) => removeFromS3(ask, key, signal),
    close: () => dispatcher.destroy(),
  };
}
