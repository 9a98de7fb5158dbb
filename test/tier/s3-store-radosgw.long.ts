/** Objects in a bucket of Ceph's radosgw, an S3 that we did not write: the contract, a bad way, locks. */
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
import { fileOf, going, objectStoreContract } from './object-store-contract.ts';
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
    const { store } = storeAt(
      { url, region, bucket: BUCKET },
      { keys: async () => keys, prefix, ...options },
    );
    const inIt = async () =>
      (await server?.keysIn(BUCKET, `${prefix}/`))?.map((key) => key.slice(prefix.length + 1)) ??
      [];
    return { prefix, store, keys: inIt };
  }

  beforeAll(async () => {
    server = await startRadosgw();
    await server.makeBucket(BUCKET);
    await server.makeBucket(LOCKED, true);
  });
  afterAll(async () => server?.close());

  objectStoreContract(async () => newStore(), 10);

  test('a bad way changes nothing', async () => {
    const proxy = await startFaultyStoreProxy(server?.url ?? '');
    const { store, keys } = newStore({ endpoint: proxy.url });
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
    expect(await keys()).toHaveLength(5);
  });

  test('objects are locked where the bucket has it, and told where not', async () => {
    const lockDays = 1;
    const { store, prefix } = newStore({ bucket: LOCKED, lockDays });
    expect(await store.create('x', Buffer.from('x'), going)).toBe('created');
    const headers = await server?.head(`${LOCKED}/${encodeURI(prefix)}/x`);
    expect(headers?.get('x-amz-object-lock-mode')).toBe('COMPLIANCE');
    const error = await newStore({ lockDays })
      .store.create('x', Buffer.from('x'), going)
      .catch((reason: unknown) => reason);
    expect(exitCodeOf(error)).toBe(2);
  });

  test.each([
    ['bucket', { bucket: 'another-bucket' }, 'NoSuchBucket'],
    [
      'key',
      { keys: async () => ({ accessKeyId: 'OTHER', secretAccessKey: 'x' }) },
      'InvalidAccessKeyId',
    ],
    [
      'secret',
      { keys: async () => ({ accessKeyId: 'TESTKEY', secretAccessKey: 'x' }) },
      'SignatureDoesNotMatch',
    ],
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
