/** The pages of a day as an object: every column comes back as it was, and any other value changes the digest. */
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PAGES, type TieredPage } from '../../src/tier/day-objects.ts';
import { readBack, readObject } from '../../src/tier/object-file.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { temporaryFolder } from '../support/program.ts';
import { freshStore } from '../support/store.ts';

const signal = new AbortController().signal;
const KEY = PAGES.keyOf('smart-event', '2026-03-05', '0b7c1f9e-5a53-4c2e-9d55-0123456789ab');

async function written(chunks: readonly (readonly TieredPage[])[]) {
  const path = join(temporaryFolder(), 'pages');
  const file = await open(path, 'wx');
  const stream = (async function* () {
    yield* chunks;
  })();
  const told = await PAGES.write(file, stream, signal).finally(() => file.close());
  const store = new MemoryStore();
  await store.replace(KEY, await readFile(path));
  return { told, store };
}

async function readAll(store: MemoryStore): Promise<TieredPage[]> {
  const pages: TieredPage[] = [];
  for await (const group of readObject<TieredPage>(store, KEY, signal)) pages.push(...group);
  return pages.map((page) => ({
    ...page,
    bytes: page.bytes && Uint8Array.from(page.bytes),
    sha256: Uint8Array.from(page.sha256),
  }));
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const hashes = fc.array(int64).map((all) => `{${all.join(',')}}`);
const bytes = (length?: number) =>
  fc.uint8Array(
    length === undefined ? { maxLength: 300 } : { minLength: length, maxLength: length },
  );
const page: fc.Arbitrary<TieredPage> = fc.record({
  walk_id: int64,
  page_no: int32,
  day: fc.constantFrom('2026-03-04', '2026-03-05'),
  start: int64,
  length: int32,
  skip: fc.constantFrom(0, 1),
  records: int32,
  total: fc.option(int64),
  relation: fc.option(fc.constantFrom('eq', 'gte', '', 'ü')),
  total_missing: fc.boolean(),
  more: fc.boolean(),
  body: fc.oneof(fc.json(), fc.string({ unit: 'binary' })),
  bytes: fc.option(bytes()),
  changes: fc.option(fc.json()),
  record_hashes: hashes,
  id_hashes: fc.option(hashes),
  sha256: bytes(32),
  byte_count: int32,
  fetched_at: fc.bigInt({ min: 0n, max: 253_402_300_799_999_999n }),
  duration_ms: int32,
});

describe('an object of pages', () => {
  it('gives back what was written, and its digests', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(page, { maxLength: 20 }), { maxLength: 3 }),
        async (chunks) => {
          const { told, store } = await written(chunks);
          expect(told.records).toBe(chunks.flat().length);
          expect(await readAll(store)).toEqual(chunks.flat());
          expect(await readBack(PAGES.read, store, KEY, signal)).toEqual(told);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('has another digest where any value of it is another one', async () => {
    await fc.assert(
      fc.asyncProperty(page, page, fc.nat(), async (one, other, index) => {
        const names = Object.keys(one) as (keyof TieredPage)[];
        const name = names[index % names.length] ?? 'body';
        const changed = { ...one, [name]: other[name] };
        const same =
          String(one[name]) === String(other[name]) &&
          (one[name] === null) === (other[name] === null);
        const [before, after] = [await written([[one]]), await written([[changed]])];
        expect(before.told.recordsSha256 === after.told.recordsSha256).toBe(same);
      }),
      { numRuns: 100 },
    );
  });

  it('makes a row group of each sixteen megabytes of bodies', async () => {
    const [one] = fc.sample(page, 1);
    if (one === undefined) throw new Error('no page');
    const pages = Array.from({ length: 13 }, (_, index) => ({
      ...one,
      page_no: index,
      body: JSON.stringify('x'.repeat(3_000_000)),
    }));
    const { told, store } = await written([pages]);
    const groups: number[] = [];
    for await (const group of readObject<TieredPage>(store, KEY, signal)) groups.push(group.length);
    expect(groups).toEqual([6, 6, 1]);
    expect(await readBack(PAGES.read, store, KEY, signal)).toEqual(told);
  });
});

describe('its columns', () => {
  let columns: () => Promise<{ name: string }[]>;
  freshStore(({ server }) => {
    columns = () =>
      server.query(
        "select column_name as name from information_schema.columns where table_schema = 'daywalk' and table_name = 'pages' order by ordinal_position",
      );
  });

  it('are those of the table, so that no page loses one that is added to it', async () => {
    const { store } = await written([fc.sample(page, 1)]);
    const [one] = await readAll(store);
    expect(Object.keys(one ?? {})).toEqual((await columns()).map(({ name }) => name));
  });
});
