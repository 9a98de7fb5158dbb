/** A simulated S3 and a store before it, as the tests of the bucket want them; both end with the test. */
import type { ServerOptions } from 'node:https';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openRedactor } from '../../src/redactor.ts';
import { S3Store, type S3StoreOptions } from '../../src/tier/s3/s3-store.ts';
import { type S3Server, type S3ServerKeys, startS3Server } from '../support/s3-server.ts';
import type { WatchedStore } from './object-store-contract.ts';

export const KEYS: S3ServerKeys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};

export async function newServer(keys = KEYS, tls?: ServerOptions): Promise<S3Server> {
  const server = await startS3Server(keys, tls);
  onTestFinished(server.close);
  return server;
}

/** The keys of all that is behind {@link storeAt}. */
export const keysIn = ({ objects }: S3Server, prefix = 'pre/fix/'): string[] =>
  [...objects.keys()]
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length))
    .sort();

/** A store at this server that waits little between its tries; `retries` are the failures that it tried again after. */
export function storeAt(
  server: Pick<S3Server, 'url' | 'bucket' | 'region'>,
  options: Partial<S3StoreOptions> = {},
): { store: S3Store; retries: string[] } {
  const retries: string[] = [];
  const store = new S3Store({
    endpoint: server.url,
    bucket: server.bucket,
    region: server.region,
    prefix: 'pre/fix',
    pathStyle: true,
    keys: async () => KEYS,
    tls: {},
    proxy: {},
    clock: systemClock,
    redactor: openRedactor(),
    retry: { timeMs: 60_000, baseMs: 1, capMs: 4, retryAfterLimitMs: 10_000 },
    onRetry: ({ error }) => retries.push(error.message),
    ...options,
  });
  onTestFinished(() => store.close());
  return { store, retries };
}

/** An empty store, with the bucket in the path and a prefix. */
export async function inPath(): Promise<WatchedStore> {
  const server = await newServer();
  return { store: storeAt(server).store, keys: () => keysIn(server) };
}

/** An empty store, with the bucket in the host, through a proxy, with a session token. */
export async function inHost(): Promise<WatchedStore> {
  const server = await newServer();
  const keys = { ...KEYS, sessionToken: 'token/of+a=day' };
  server.allow(keys);
  const { store } = storeAt(server, {
    endpoint: 'http://s3.test',
    pathStyle: false,
    prefix: '',
    keys: async () => keys,
    proxy: { http: server.url },
  });
  return { store, keys: () => keysIn(server, '') };
}
