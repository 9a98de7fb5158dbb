/** A search finds in days that moved what it found before, and says "nothing" only where every record was looked at. */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import type { MovedRecords } from '../../src/store/moved-days.ts';
import { type SearchRequest, type StreamHit, search } from '../../src/tables/search.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import type { ObjectStore } from '../../src/tier/object-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { temporaryFolder } from '../support/program.ts';
import { proveTexts, windowOf } from '../support/publishing.ts';
import { clear, freshCopies, hastyClock, planDays } from '../support/store.ts';
import { NUMBERS, STRINGS } from '../tables/json-trees.ts';
import { DAYS, makeDays, moveAll, partsOf, STREAMS, sealAll, signal } from './moving-scene.ts';

let server: TestDatabase;
let database: Database;
freshCopies(makeDays, (fresh) => {
  ({ server, database } = fresh);
});

async function lookFor(
  value: string,
  moved: MovedRecords | null,
  change: Partial<SearchRequest> = {},
) {
  const hits: StreamHit[] = [];
  const range = { from: DAYS[0], to: DAYS[2] };
  const request = { value, streams: STREAMS, ...range, limit: null, moved, ...change };
  const report = await search(database, request, (more) => hits.push(...more), signal);
  const streams = report.streams.map(({ pagesOpened, ...stream }) => stream);
  return { hits, report: { ...report, streams } };
}

const VALUES = [
  '1',
  '3',
  '5',
  '6',
  '8',
  '12345678901234567890.1',
  'new',
  'done',
  `a-${DAYS[1]}`,
  'nowhere',
];

/** Of which a limit leaves some out. */
const OFTEN_THERE = ['1', '5', 'done'];

/** A folder only: that files are made of either alike is seen in moved-files. */
const openStore = (): ObjectStore => openFolderStore(temporaryFolder(), hastyClock);

describe('days in a folder', () => {
  it('are searched as they were, half of them or all, with a limit and without', async () => {
    const store = openStore();
    const moved = new StoredRecords(store);
    const all = async () => {
      const found = [];
      for (const value of VALUES) found.push(await lookFor(value, moved));
      for (const value of OFTEN_THERE)
        for (const limit of [1, 2]) found.push(await lookFor(value, moved, { limit }));
      return found;
    };
    const before = await all();
    // All but what is in an older version only, and what is nowhere.
    expect(before.filter(({ hits }) => hits.length === 0)).toHaveLength(2);
    await moveAll(partsOf(database, store), ['events', 'edits'], DAYS.slice(0, 2));
    expect(await all()).toEqual(before);
    await moveAll(partsOf(database, store));
    const after = await all();
    expect(after).toEqual(before);
    // Programs get them as they stand.
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
    const { report } = await lookFor('nowhere', moved);
    expect(report.streams.map(({ proven, unproven }) => ({ proven, unproven }))).toEqual(
      STREAMS.map(() => ({ proven: 3, unproven: [] })),
    );
    // Asked to leave them out, it says that it did.
    const left = await lookFor('1', null);
    expect(left.hits).toEqual([]);
    expect(left.report.streams[0]).toMatchObject({
      proven: 0,
      unproven: DAYS.map((day) => ({ day, state: 'tiered' })),
    });
  });
});

it('whatever a value is written with', async () => {
  await clear(server);
  const streamId = await planDays(database, DAYS);
  const odd = ['/', '\u2028', '\u007f', '\u0001', '\t', '\\u0041', '𝄞', '"', "'", '\\'];
  const strings = [...new Set([...STRINGS, ...odd])].filter(
    (text) => text !== '' && !text.includes('\0'),
  );
  const texts = [
    ...strings.map((text) => JSON.stringify({ in: [{ a: text }] })),
    ...NUMBERS.map((text) => `{"n": ${text}}`),
    '{"yes": true, "n": [100.0, 1e400, "1e2", 0]}',
  ];
  for (const day of DAYS)
    await proveTexts(database, await windowOf(database, streamId, day), [
      day === DAYS[1] ? texts : [],
    ]);
  await sealAll(database);
  const store = new MemoryStore();
  const streams = ['events'];
  const values = [...strings, ...NUMBERS, 'true', 'false', '1e2', '1E+400', '0.00', '5.000e-0'];
  const all = () =>
    Promise.all(values.map((value) => lookFor(value, new StoredRecords(store), { streams })));
  const before = await all();
  expect(before.filter(({ hits }) => hits.length > 0).length).toBeGreaterThanOrEqual(
    strings.length,
  );
  await moveAll(partsOf(database, store), streams);
  expect(await all()).toEqual(before);
});

describe('what cannot be believed', () => {
  it('is an error that names the object: gone, cut, changed, another', async () => {
    const store = new MemoryStore();
    await moveAll(partsOf(database, store));
    const keys = [...store.objects.keys()].filter((name) =>
      name.startsWith('events/stream=events/'),
    );
    const [key, another] = [DAYS[0], DAYS[2]].map((day) =>
      keys.find((name) => name.includes(`day=${day}`)),
    );
    const body = store.objects.get(String(key))?.body;
    const other = store.objects.get(String(another))?.body;
    if (key === undefined || body === undefined || other === undefined)
      throw new Error('nothing moved');
    const changed = Buffer.from(body);
    // The first byte of a page that gzip has packed.
    changed[60] = (changed[60] ?? 0) ^ 0xff;
    for (const bytes of [null, body.subarray(0, -1), changed, other]) {
      if (bytes === null) store.objects.delete(key);
      else store.objects.set(key, { body: bytes });
      for (const value of ['1', 'nowhere'])
        await expect(lookFor(value, new StoredRecords(store))).rejects.toThrow(
          `memory has no whole object ${key}`,
        );
    }
  });

  it('is told by its days and the setting where there is none', async () => {
    await moveAll(partsOf(database, new MemoryStore()), ['events'], DAYS.slice(0, 2));
    await expect(lookFor('1', UNREACHED_RECORDS)).rejects.toThrow(
      'events 2026-03-05, events 2026-03-06 moved to memory: tier.url is not set',
    );
    expect((await lookFor('1', UNREACHED_RECORDS, { from: DAYS[2] })).report.streams).toHaveLength(
      3,
    );
  });
});
