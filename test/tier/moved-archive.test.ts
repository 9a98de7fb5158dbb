/** The served archive answers for days that moved, byte for byte, what it answered before. */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import type { TestDatabase } from '../support/database.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { andAtNight } from '../support/night.ts';
import { serveStored } from '../support/served-archive.ts';
import { freshCopies } from '../support/store.ts';
import { expectServedAsBefore, FIRST, LAST, makeArchive, NEXT } from './moved-archive-scene.ts';
import { moveAll, partsOf } from './moving-scene.ts';

let server: TestDatabase;
let database: Database;

/** More letters than are read from an object at a time. */
const COUNT = 300;

freshCopies(makeArchive(COUNT), (fresh) => {
  ({ server, database } = fresh);
});

describe('days in a bucket', () => {
  it('are served as they were, some of them or all', () =>
    expectServedAsBefore({ server, database }, COUNT, andAtNight([LAST], [FIRST])));
});

describe('what cannot be believed', () => {
  it('is an error that names the object: gone, cut, changed, another', async () => {
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
    await moveAll(partsOf(database, new MemoryStore()), ['events'], [LAST]);
    const { get } = await serveStored(server, {}, UNREACHED_RECORDS);
    expect(await get('length=1', FIRST)).toMatchObject({ status: 200 });
  });

  it('does not matter to days that are here, which a filter finds nothing in', async () => {
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
