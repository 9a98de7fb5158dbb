/** What every object store must do, whatever is behind it; the files of the stores run it. */
import { createHash, randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ObjectStoreError } from '../../src/errors.ts';
import { checkStore, type ObjectBody, type ObjectStore } from '../../src/tier/object-store.ts';

/** Nobody stops. */
export const going = new AbortController().signal;

/** What is to be written as an object, read in parts. */
export const fileOf = (bytes: Buffer): Exclude<ObjectBody, Buffer> => ({
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  read: async (start, end) => bytes.subarray(start, end),
});

/** A store, and the keys of all that is behind it, which are found out without it. */
export interface WatchedStore {
  readonly store: ObjectStore;
  /** In order. */
  readonly keys: () => Promise<readonly string[]> | readonly string[];
}

const DAY = 'events/stream=events/day=2026-03-01';
const ODD_KEYS = [
  'odd/A',
  'odd/_delta_log/00000000000000000000.json',
  'odd/a b+c%20d',
  'odd/a&b<c>d"e\'f',
  'odd/a(1)!*~',
  'odd/a-b/x',
  'odd/a/b/x',
  'odd/a/b=%2F',
  'odd/a0',
  'odd/stream=%C3%BC/day=2026-03-01/x.parquet',
  'odd/ä/ö',
  'odd/\u{ffdc}',
  'odd/\u{1f600}',
];

/**
 * @param open gives a store that is empty.
 * @param runs of random operations; a real server is slower than memory.
 */
export function objectStoreContract(open: () => Promise<WatchedStore>, runs = 8): void {
  test('an object is written, read, sized and removed', async () => {
    const { store, keys } = await open();
    const [key, bytes] = [`${DAY}/x.parquet`, randomBytes(70_000)];
    expect(await store.create(key, bytes, going)).toBe('created');
    expect(await store.read(key, going)).toEqual(bytes);
    expect(await store.size(key, going)).toBe(70_000);
    expect(await keys()).toEqual([key]);
    await store.remove(key, going);
    expect(await store.read(key, going)).toBeNull();
    expect(await keys()).toEqual([]);
  });

  test('a file of this machine is written, and an empty object', async () => {
    const { store } = await open();
    const bytes = randomBytes(1_500_000);
    expect(await store.create('a/file', fileOf(bytes), going)).toBe('created');
    expect((await store.read('a/file', going))?.equals(bytes)).toBe(true);
    expect(await store.create('a/empty', fileOf(Buffer.alloc(0)), going)).toBe('created');
    expect(await store.create('a/nothing', Buffer.alloc(0), going)).toBe('created');
    expect(await store.read('a/empty', going)).toEqual(Buffer.alloc(0));
    expect(await store.size('a/nothing', going)).toBe(0);
  });

  test('a file that cannot be read to its end becomes no object', async () => {
    const { store, keys } = await open();
    const file = fileOf(randomBytes(300_000));
    const read = async (start: number, end: number) => {
      if (start > 0) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
      return file.read(start, end);
    };
    await expect(store.create('a/file', { ...file, read }, going)).rejects.toThrow(
      `what was made in ${tmpdir()} cannot be read (EIO)`,
    );
    expect(await keys()).toEqual([]);
  });

  test('what is there is not overwritten, be it with the same bytes; replace does', async () => {
    const { store } = await open();
    const first = Buffer.from('first');
    expect(await store.create('log/0.json', first, going)).toBe('created');
    expect(await store.create('log/0.json', Buffer.from('second'), going)).toBe('exists');
    expect(await store.create('log/0.json', first, going)).toBe('exists');
    expect(await store.create('log/0.json', fileOf(first), going)).toBe('exists');
    expect(await store.read('log/0.json', going)).toEqual(first);
    await store.replace('log/0.json', Buffer.from('third'), going);
    await store.replace('log/last', Buffer.from('new'), going);
    expect(String(await store.read('log/0.json', going))).toBe('third');
    expect(String(await store.read('log/last', going))).toBe('new');
  });

  test('of many writers at a time one wins, and its bytes are there', async () => {
    const { store } = await open();
    for (let round = 0; round < 5; round++) {
      const key = `log/${round}`;
      const bodies = Array.from({ length: 8 }, (_, writer) => Buffer.from(`writer ${writer % 7}`));
      const results = await Promise.all(bodies.map((body) => store.create(key, body, going)));
      expect(results.filter((result) => result === 'created')).toHaveLength(1);
      expect(await store.read(key, going)).toEqual(bodies[results.indexOf('created')]);
    }
  });

  test('ranges are read; of what is behind the end nothing', async () => {
    const { store } = await open();
    const bytes = randomBytes(1000);
    await store.create('a/x', bytes, going);
    for (const [start, end] of [
      [0, 1],
      [0, 1000],
      [500, 600],
      [999, 1000],
      [990, 2000],
      [1000, 1001],
      [5000, 6000],
    ] as const)
      expect(await store.read('a/x', going, { start, end })).toEqual(bytes.subarray(start, end));
    expect(await store.read('a/y', going, { start: 0, end: 1 })).toBeNull();
  });

  test('keys of all kinds are taken, each as it is', async () => {
    const { store, keys } = await open();
    for (const key of ODD_KEYS)
      expect(await store.create(key, Buffer.from(key), going)).toBe('created');
    expect(await keys()).toEqual([...ODD_KEYS].sort());
    for (const key of ODD_KEYS) expect(String(await store.read(key, going))).toBe(key);
    for (const key of ODD_KEYS) await store.remove(key, going);
    expect(await keys()).toEqual([]);
  });

  test('what is not there is null, and may be removed', async () => {
    const { store } = await open();
    expect(await store.read('a/b', going)).toBeNull();
    expect(await store.size('a/b', going)).toBeNull();
    await store.remove('a/b', going);
  });

  test.each([
    '',
    '/a',
    'a/',
    '../a',
    'a/../b',
    'a//b',
    './a',
    'a/.half',
    'a\nb',
    'a\0b',
    'x'.repeat(256),
  ])('the key %j is refused', async (key) => {
    const { store, keys } = await open();
    const nothing = Buffer.alloc(0);
    await expect(store.create(key, nothing, going)).rejects.toThrow(ObjectStoreError);
    await expect(store.replace(key, nothing, going)).rejects.toThrow(ObjectStoreError);
    await expect(store.read(key, going)).rejects.toThrow(ObjectStoreError);
    await expect(store.size(key, going)).rejects.toThrow(ObjectStoreError);
    await expect((async () => store.remove(key, going))()).rejects.toThrow(ObjectStoreError);
    expect(await keys()).toEqual([]);
  });

  test('whoever is told to stop writes nothing', async () => {
    const { store, keys } = await open();
    const stopped = AbortSignal.abort(new Error('stop'));
    await expect(store.create('a/x', Buffer.from('x'), stopped)).rejects.toThrow('stop');
    await expect(store.replace('a/x', Buffer.from('x'), stopped)).rejects.toThrow('stop');
    expect(await keys()).toEqual([]);
  });

  test('it is trusted, and nothing is left of the check', async () => {
    const { store, keys } = await open();
    await checkStore(store, going);
    expect(await keys()).toEqual([]);
  });

  randomHistories(open, runs);
}

/** Random operations, so often. */
export function randomHistories(open: () => Promise<WatchedStore>, runs: number): void {
  test(`${runs} random histories are as those of a map`, async () => {
    const key = fc.constantFrom('a', 'b/c', 'b/d', 'b-d', 'e/f/g');
    const body = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes));
    const step = fc.record({ does: fc.constantFrom('create', 'replace', 'remove'), key, body });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { store, keys } = await open();
        const model = new Map<string, Buffer>();
        for (const { does, key, body } of steps) {
          if (does === 'create')
            expect(await store.create(key, body, going)).toBe(
              model.has(key) ? 'exists' : 'created',
            );
          else if (does === 'replace') await store.replace(key, body, going);
          else await store.remove(key, going);
          if (does === 'remove') model.delete(key);
          else if (does === 'replace' || !model.has(key)) model.set(key, body);
          expect(await store.read(key, going)).toEqual(model.get(key) ?? null);
          expect(await store.size(key, going)).toBe(model.get(key)?.length ?? null);
        }
        expect(await keys()).toEqual([...model.keys()].sort());
      }),
      { numRuns: runs },
    );
  });
}
