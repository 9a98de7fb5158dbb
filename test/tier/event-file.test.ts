/** The records of a day as an object: every value comes back as it was, by ranges, a row group at a time. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { ObjectStoreError, SettingsError } from '../../src/errors.ts';
import type { ShownRecord } from '../../src/store/shown-records.ts';
import { EVENTS, readEvents } from '../../src/tier/day-objects.ts';
import { writeObject } from '../../src/tier/moved-object.ts';
import { readBack } from '../../src/tier/object-file.ts';
import { changedStore, MemoryStore } from '../support/memory-store.ts';
import { tries } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';

const signal = new AbortController().signal;
const KEY = EVENTS.keyOf('events', '2026-03-05', '0b7c1f9e-5a53-4c2e-9d55-0123456789ab');

/** Writes records in these chunks, as an object of a store in memory. */
async function written(chunks: readonly (readonly ShownRecord[])[]) {
  const path = join(temporaryFolder(), 'events');
  const file = await open(path, 'wx');
  const told = await EVENTS.write(file, asStream(chunks), signal).finally(() => file.close());
  const store = new MemoryStore();
  await store.replace(KEY, await readFile(path));
  store.spent();
  return { told, store };
}

async function* asStream<T>(chunks: readonly T[]): AsyncGenerator<T> {
  yield* chunks;
}

async function allOf<T>(groups: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const group of groups) all.push(...group);
  return all;
}

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const record: fc.Arbitrary<ShownRecord> = fc.record({
  // Whatever its text is: nothing here reads it as JSON.
  text: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.constantFrom('', '\uFEFF{}', '{"n": 12345678901234567890.10}'),
  ),
  walkId: fc.maxSafeInteger(),
  pageNo: int32,
  position: fc.maxSafeInteger(),
  fetchedAt: fc.maxSafeInteger(),
  firstSeen: fc.maxSafeInteger(),
  goneSince: fc.option(fc.maxSafeInteger()),
  revision: int32,
});

/** What does not become smaller: a million characters. */
const MEGABYTE = randomBytes(750_000).toString('base64');

const recordOf = (position: number, text: string): ShownRecord => ({
  text: JSON.stringify({ position, text }),
  walkId: 1,
  pageNo: 0,
  position,
  fetchedAt: 1_772_706_030_123_456,
  firstSeen: 1_772_706_030_123_456,
  goneSince: null,
  revision: 1,
});

describe('an object of records', () => {
  it('gives back what was written, and the digest of its lines', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(record, { maxLength: 30 }), { maxLength: 4 }),
        async (chunks) => {
          const { told, store } = await written(chunks);
          const records = chunks.flat();
          expect(await allOf(readEvents(store, KEY, signal))).toEqual(records);
          const object = store.objects.get(KEY)?.body ?? Buffer.alloc(0);
          expect(told).toEqual({
            records: records.length,
            recordsSha256: sha256(records.map(({ text }) => `${text}\n`).join('')),
            bytes: object.length,
            sha256: sha256(object),
          });
          expect(await readBack(readEvents, store, KEY, signal)).toEqual(told);
        },
      ),
      { numRuns: tries(20, 50) },
    );
  });

  it('is read in part: some records, and only the groups that they are in; and never in a larger piece than a group', async () => {
    // Two groups of sixteen megabytes, and the rest.
    const records = Array.from({ length: 34 }, (_, index) => recordOf(index, MEGABYTE));
    const { told, store } = await written([
      records.slice(0, 7),
      records.slice(7, 33),
      records.slice(33),
    ]);
    const groups: number[] = [];
    for await (const group of readEvents(store, KEY, signal)) groups.push(group.length);
    expect(groups).toEqual([16, 16, 2]);
    for (const [from, to] of [
      [0, 1],
      [15, 17],
      [33, 99],
      [34, 60],
      [5, 5],
      [0, 34],
    ] as const) {
      const read = await allOf(readEvents(store, KEY, signal, { from, to }));
      expect(read.map(({ position }) => position)).toEqual(
        records.slice(from, to).map(({ position }) => position),
      );
    }
    store.spent();
    await allOf(readEvents(store, KEY, signal, { from: 20, to: 21 }));
    const { requests, bytesRead } = store.spent();
    // Its size, the footer, and one group.
    expect(requests).toBe(3);
    expect(bytesRead).toBeLessThan(14_000_000);

    let largest = 0;
    const watched = changedStore(store, {
      async read(...args) {
        const part = await store.read(...args);
        largest = Math.max(largest, part?.length ?? 0);
        return part;
      },
    });
    expect(await readBack(readEvents, watched, KEY, signal)).toMatchObject({ sha256: told.sha256 });
    expect(largest).toBeLessThan(14_000_000);
  });

  it('that is gone, cut or changed is not taken for whole', async () => {
    const { told, store } = await written([[recordOf(0, 'x'.repeat(1_000)), recordOf(1, 'y')]]);
    const whole = store.objects.get(KEY)?.body ?? Buffer.alloc(0);
    await expect(readBack(readEvents, store, 'events/none', signal)).rejects.toThrow(
      ObjectStoreError,
    );
    for (let end = 0; end < whole.length; end += 97) {
      await store.replace(KEY, whole.subarray(0, end));
      await expect(readBack(readEvents, store, KEY, signal)).rejects.toThrow();
    }
    const footer = whole.length - 8 - whole.readUInt32LE(whole.length - 8);
    for (let at = 4; at < footer; at += 3) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x40, at);
      await store.replace(KEY, changed);
      const read = await readBack(readEvents, store, KEY, signal).catch(() => null);
      expect(read?.sha256).not.toBe(told.sha256);
    }
    const short = changedStore(store, {
      read: async (key, _, range) => store.read(key, _, range && { ...range, end: range.end - 1 }),
    });
    await store.replace(KEY, whole);
    await expect(readBack(readEvents, short, KEY, signal)).rejects.toThrow(ObjectStoreError);
  });
});

it.runIf(existsSync('/dev/full'))(
  'a temporary folder that is full is told as such, with what to do',
  async () => {
    const publication = '0b7c1f9e-5a53-4c2e-9d55-0123456789ab';
    const day = { stream: 'events', day: '2026-03-05', publication };
    const parts = { store: new MemoryStore(), clock: systemClock, signal };
    const full: typeof EVENTS = {
      ...EVENTS,
      write: async (_, records) => {
        const file = await open('/dev/full', 'w');
        return EVENTS.write(file, records, signal).finally(() => file.close());
      },
    };
    const records = asStream([[recordOf(0, MEGABYTE)]]);
    const moving = writeObject(parts, day, full, records, 1);
    await expect(moving).rejects.toThrow(SettingsError);
    await expect(moving).rejects.toThrow(`no space is left in ${tmpdir()}`);
  },
);
