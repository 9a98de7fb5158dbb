/** The served archive answers for days that moved, byte for byte, what it answered before. */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import type { ObjectStore } from '../../src/tier/object-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { serveStored, storeDays } from '../support/served-archive.ts';
import { freshStore } from '../support/store.ts';
import { DAYS, moveAll, partsOf, sealAll } from './moving-scene.ts';
import { newServer, storeAt } from './s3-store-scene.ts';

let server: TestDatabase;
let database: Database;
freshStore((fresh) => {
  ({ server, database } = fresh);
});

const [FIRST, NEXT, LAST] = DAYS;

/** Three days: more records than a row group holds, with a time, a level, and an agent in some. */
async function makeArchive(): Promise<void> {
  const recordsOf = (day: string, count: number, bytes: number) =>
    Array.from({ length: count }, (_, at) => ({
      id: at,
      timestamp: `${day}T${String(at % 24).padStart(2, '0')}:00:00Z`,
      rule: { level: at % 15 },
      ...(at % 3 === 0 && { agent: { name: `agent-${at % 5}` } }),
      text: 'x'.repeat(bytes),
    }));
  const paged = <T>(all: readonly T[], size: number) =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, page) =>
      all.slice(page * size, (page + 1) * size),
    );
  await storeDays(server, {
    [FIRST]: paged(recordsOf(FIRST, 1_700, 10_000), 100),
    [NEXT]: [[]],
    [LAST]: [
      ...paged(recordsOf(LAST, 40, 10), 7),
      [{ timestamp: `${LAST}T23:00:00Z`, manager: { name: 'm' } }],
    ],
  });
  await sealAll(database);
}

const QUERIES = [
  'length=50',
  'start=1500&length=10000',
  'start=333&length=250',
  'start=1650&length=100',
  'start=5000&length=3',
  'length=20&agent=agent-3',
  'start=7&length=200&rule_level_from=9',
  'start=1690&length=11&search=x',
  'search=nowhere',
  'manager=m',
  'manager=nobody',
  // No record has it.
  'hideread=1',
  // Another type in no record; refused by its value.
  'rule_level=high',
];
const PIECES = [
  [`${FIRST} 06:00:00`, `${FIRST} 11:59:59`],
  [`${FIRST} 22:00:00`, `${LAST} 01:00:00`],
  [`${LAST} 23:00:00`, `${LAST} 23:59:59`],
];

type Served = Awaited<ReturnType<typeof serveStored>>;

const serve = (store: ObjectStore): Promise<Served> =>
  serveStored(server, { time: [['timestamp']] }, new StoredRecords(store));

async function answers(served: Served) {
  const found = [];
  for (const query of QUERIES)
    for (const to of [FIRST, LAST]) {
      const { status, headers, text } = await served.get(query, to);
      found.push({ query, to, status, total: headers['x-total-count'], text });
    }
  for (const [from, to] of PIECES)
    for (const query of ['length=100', 'start=40&length=30&agent=agent-0']) {
      const dates = `fromDate=${encodeURIComponent(String(from))}&toDate=${encodeURIComponent(String(to))}`;
      const { status, headers, text } = await served.ask(`${dates}&${query}`);
      found.push({ query, to, status, total: headers['x-total-count'], text });
    }
  return found;
}

/** A bucket only: that files are made of either alike is seen in moved-files. */
const openStore = async (): Promise<ObjectStore> => storeAt(await newServer()).store;

describe('days in a bucket', () => {
  it('are served as they were, some of them or all', async () => {
    await makeArchive();
    const store = await openStore();
    const lasting = await serve(store);
    const before = await answers(lasting);
    expect(before.map(({ status }) => status)).toContain(422);
    expect(before.filter(({ status }) => status === 200).length).toBeGreaterThan(20);
    await moveAll(partsOf(database, store), ['events'], [FIRST]);
    // It remembers what the days were when they were here.
    expect(await answers(lasting)).toEqual(before);
    await moveAll(partsOf(database, store), ['events'], [NEXT, LAST]);
    expect(await answers(await serve(store))).toEqual(before);
  });
});

describe('what cannot be believed', () => {
  it('is an error that names the object: gone, cut, changed, another', async () => {
    await makeArchive();
    const store = new MemoryStore();
    await moveAll(partsOf(database, store), ['events'], [FIRST, LAST]);
    const keyOf = (day: string) =>
      [...store.objects.keys()].find((key) => key.startsWith(`events/stream=events/day=${day}/`)) ??
      '';
    const key = keyOf(FIRST);
    const body = store.objects.get(key)?.body ?? Buffer.alloc(0);
    const changed = Buffer.from(body);
    // Not in a record: the footer says another number of rows, or nothing that is looked at changes at all.
    changed[changed.length - 30] = (changed.at(-30) ?? 0) ^ 1;
    for (const bytes of [
      null,
      body.subarray(0, -1),
      changed,
      store.objects.get(keyOf(LAST))?.body,
    ]) {
      if (bytes === null || bytes === undefined) store.objects.delete(key);
      else store.objects.set(key, { body: bytes });
      const { get } = await serveStored(server, {}, new StoredRecords(store));
      for (const query of ['start=1&length=1', 'agent=agent-3'])
        expect(await get(query)).toMatchObject({
          status: 500,
          body: { error: `memory has no whole object ${key}` },
        });
      // Another day is answered all the same, and so is that one when the object is back.
      store.objects.set(key, { body });
      expect((await get('agent=agent-3')).status).toBe(200);
    }
  });

  it('is refused by its days and the setting where there is none', async () => {
    await makeArchive();
    await moveAll(partsOf(database, new MemoryStore()), ['events'], [FIRST]);
    const { get } = await serveStored(server, {}, UNREACHED_RECORDS);
    expect(await get('length=1', LAST)).toMatchObject({
      status: 409,
      body: {
        error: 'moved out of the archive: events 2026-03-05 moved to memory: tier.url is not set',
        hint: expect.stringContaining('tier.url'),
        tiered: [FIRST],
      },
    });
  });

  it('does not matter to older days that are here, of which the newest ones moved', async () => {
    await makeArchive();
    await moveAll(partsOf(database, new MemoryStore()), ['events'], [LAST]);
    const { get } = await serveStored(server, {}, UNREACHED_RECORDS);
    expect(await get('length=1', FIRST)).toMatchObject({ status: 200 });
  });

  it('does not matter to days that are here, which a filter finds nothing in', async () => {
    await makeArchive();
    const store = new MemoryStore();
    await moveAll(partsOf(database, store), ['events'], [FIRST]);
    const whole = [...store.objects];
    const dates = `fromDate=${NEXT}%2000%3A00%3A00&toDate=${LAST}%2023%3A59%3A59`;
    for (const spoiled of [false, true]) {
      if (spoiled) store.objects.clear();
      for (const moved of [UNREACHED_RECORDS, new StoredRecords(store)]) {
        const { ask } = await serveStored(server, { organization: [['rule', 'id']] }, moved);
        store.spent();
        for (const query of ['agent=nobody', 'manager=nobody', 'rule_level=99'])
          expect(await ask(`${dates}&${query}`), query).toMatchObject({
            status: 200,
            headers: { 'x-total-count': '0' },
          });
        // A bucket that is away is not waited for.
        expect(store.spent().requests).toBe(0);
        // Of what no record has, as far as can be told.
        expect(await ask(`${dates}&organization=x`)).toMatchObject({
          status: 422,
          body: {
            error: expect.stringMatching(/no record has it$/),
            fields: { 'rule.level': ['number'] },
          },
        });
      }
    }
    store.objects.clear();
    for (const [key, object] of whole) store.objects.set(key, object);
    // What only days that moved have is known as long as they can be reached.
    await moveAll(partsOf(database, store), ['events'], [LAST]);
    const { total } = await serveStored(server, {}, new StoredRecords(store));
    expect(await total('manager=nobody', FIRST)).toBe(0);
  });
});
