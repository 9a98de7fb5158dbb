/** Objects in a bucket of Ceph's radosgw, an S3 that we did not write: the contract, many objects, a bad way, locks. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/errors.ts';
import type { S3StoreOptions } from '../../src/tier/s3/s3-store.ts';
import { absenceOfRadosgw, type Radosgw, startRadosgw } from '../support/radosgw.ts';
import {
  cutAnswer,
  cutRequest,
  flippedAnswer,
  flippedRequest,
  lostAnswer,
  shortRequest,
  startFaultyStoreProxy,
  twice,
} from './faulty-store-proxy.ts';
import { fileOf, going, keysOf, objectStoreContract } from './object-store-contract.ts';
import { storeAt } from './s3-store-scene.ts';

const absence = absenceOfRadosgw();
const BUCKET = 'events-of-years';
const LOCKED = 'locked-events';

describe.skipIf(absence !== null)(`radosgw (${absence ?? 'there'})`, () => {
  let server: Radosgw | undefined;
  let stores = 0;

  /** A store with a prefix of its own. */
  function newStore(options: Partial<S3StoreOptions> = {}) {
    if (server === undefined) throw new Error('radosgw does not run');
    const { url, region, keys } = server;
    stores += 1;
    const prefix = `pre fix/${stores}`;
    return { prefix, ...storeAt({ url, region, bucket: BUCKET }, { keys, prefix, ...options }) };
  }

  beforeAll(async () => {
    server = await startRadosgw();
    await server.makeBucket(BUCKET);
    await server.makeBucket(LOCKED, true);
  });
  afterAll(async () => server?.close());

  objectStoreContract(async () => newStore().store, 10);

  test('more objects than one answer lists are listed, in order', async () => {
    const { store } = newStore();
    const keys = Array.from(
      { length: 1100 },
      (_, at) => `log/${String(at).padStart(20, '0')}.json`,
    );
    const left = [...keys];
    const work = async () => {
      for (let key = left.pop(); key !== undefined; key = left.pop())
        await store.create(key, Buffer.from(key), going);
    };
    await Promise.all(Array.from({ length: 4 }, work));
    expect(await keysOf(store)).toEqual(keys);
    expect(await keysOf(store, 'log/', keys[49])).toEqual(keys.slice(50));
  });

  test('a bad way changes nothing', async () => {
    const proxy = await startFaultyStoreProxy(server?.url ?? '');
    const { store } = newStore({ endpoint: proxy.url });
    const bytes = randomBytes(300_000);
    for (const [at, fault] of [
      cutRequest,
      shortRequest,
      flippedRequest,
      lostAnswer,
      twice,
    ].entries()) {
      proxy.next(fault);
      expect(await store.create(`x${at}`, fileOf(bytes), going)).toBe('created');
      expect(await store.create(`x${at}`, fileOf(bytes), going)).toBe('exists');
      proxy.next(cutAnswer, flippedAnswer);
      expect((await store.read(`x${at}`, going))?.equals(bytes)).toBe(true);
    }
    expect(await keysOf(store)).toHaveLength(5);
  });

  test('objects are locked where the bucket has it, and told where not', async () => {
    const objectLock = { mode: 'GOVERNANCE', days: 1 } as const;
    const { store, prefix } = newStore({ bucket: LOCKED, objectLock });
    expect(await store.create('x', Buffer.from('x'), going)).toBe('created');
    const headers = await server?.head(`${LOCKED}/${encodeURI(prefix)}/x`);
    expect(headers?.get('x-amz-object-lock-mode')).toBe('GOVERNANCE');
    const error = await newStore({ objectLock })
      .store.create('x', Buffer.from('x'), going)
      .catch((reason: unknown) => reason);
    expect(exitCodeOf(error)).toBe(2);
  });

  test.each([
    ['bucket', { bucket: 'another-bucket' }, 'NoSuchBucket'],
    ['key', { keys: { accessKeyId: 'OTHER', secretAccessKey: 'x' } }, 'InvalidAccessKeyId'],
    ['secret', { keys: { accessKeyId: 'TESTKEY', secretAccessKey: 'x' } }, 'SignatureDoesNotMatch'],
  ])('another %s is told', async (_, options, code) => {
    const { store } = newStore(options);
    for (const work of [
      () => store.create('x', Buffer.from('x'), going),
      () => store.read('x', going),
    ]) {
      const error = await work().catch((reason: unknown) => reason);
      expect(String(error)).toContain(code);
      expect(exitCodeOf(error)).toBe(2);
    }
  });
});
