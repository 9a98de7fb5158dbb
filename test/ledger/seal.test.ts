/** Sealing: a day is put into the ledger when it is complete, and again when something else is shown of it. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { appendToLedger, checkLedger, sealNext } from '../../src/ledger/rows.ts';
import { sealing } from '../../src/ledger/seal.ts';
import { verifyStored } from '../../src/ledger/verify-stored.ts';
import { silentLogger } from '../../src/log.ts';
import type { Database } from '../../src/store/database.ts';
import { BEFORE_ALL, type PagePlace } from '../../src/store/shown-records.ts';
import { checkPages } from '../../src/store/stored.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { letHoursPass, proveCutOf, proveTexts, textsOf, windowOf } from '../support/publishing.ts';
import { DAY, freshStore, planDays } from '../support/store.ts';

let database: Database;
let server: TestDatabase;
freshStore((store) => {
  ({ database, server } = store);
});

/** Seals what is to be sealed; the entries of the ledger. */
async function seal(streamId: number) {
  await sealing({ database, log: silentLogger }).catchUp([streamId], new AbortController().signal);
  expect(await audit(server)).toEqual([]);
  expect(await checkLedger(database, ['events'])).toEqual([]);
  return server.query(
    'select entry::int, revision, walks::int[] as walks, pages::int from daywalk.ledger order by entry',
  );
}

it('a day is sealed when its cuts are proven, too', async () => {
  const streamId = await planDays(database);
  await proveTexts(database, await windowOf(database, streamId, DAY), [
    textsOf([1, 2]),
    textsOf([3]),
  ]);
  expect(await seal(streamId)).toEqual([]);
  await proveCutOf(database, await windowOf(database, streamId, '2026-03-04', 'cut'));
  expect(await seal(streamId)).toEqual([]);
  await proveCutOf(database, await windowOf(database, streamId, DAY, 'cut'));
  expect(await seal(streamId)).toEqual([{ entry: 1, revision: 1, walks: [1], pages: 2 }]);
  expect(await seal(streamId)).toHaveLength(1);
});

it('a large day is sealed some pages at a time, and the last of them with its row', async () => {
  const streamId = await planDays(database);
  const window = await windowOf(database, streamId, DAY);
  await proveTexts(database, window, [textsOf([1, 2]), textsOf([3]), textsOf([4]), textsOf([5])]);
  for (const day of ['2026-03-04', DAY])
    await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
  const due = { streamId, day: DAY };
  const sealed = async () =>
    (await server.query<{ page_no: number }>('select page_no from daywalk.seals')).length;
  // More than one statement takes.
  await server.query('update daywalk.pages set byte_count = 20000000');
  const told: unknown[] = [];
  for (let place: PagePlace | null = BEFORE_ALL; place !== null; ) {
    place = await sealNext(database, due, place);
    told.push([place?.pageNo, await sealed()]);
  }
  expect(told).toEqual([
    [1, 2],
    [2, 3],
    [undefined, 3],
  ]);
  await server.query('update daywalk.pages set byte_count = octet_length(body::text)');
  expect(await seal(streamId)).toMatchObject([{ pages: 4 }]);
  expect(await sealed()).toBe(4);
});

it('a day that is not complete any more when it is appended, as after a failover, is sealed when it is', async () => {
  const streamId = await planDays(database);
  await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 2])]);
  await appendToLedger(database, { streamId, day: DAY });
  // They change nothing that is shown.
  for (const day of ['2026-03-04', DAY])
    await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
  expect(await seal(streamId)).toHaveLength(1);
});

it('it is sealed again for what came late, and for what is gone, but not for what one walk lacked', async () => {
  const streamId = await planDays(database);
  const window = await windowOf(database, streamId, DAY);
  const walk = async (ids: readonly number[]) => {
    await letHoursPass(database, 2);
    await proveTexts(database, window, [textsOf(ids)]);
    for (const day of ['2026-03-04', DAY])
      await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
    return (await seal(streamId)).length;
  };
  expect(await walk([1, 2])).toBe(1);
  expect(await walk([1, 2, 3])).toBe(2);
  expect(await walk([2, 3])).toBe(2);
  expect(await walk([2, 3])).toBe(3);
  expect(await walk([1, 2, 3])).toBe(4);
});

it('pages are sound whose records hold what is not the record, or are identified', async () => {
  const streamId = await planDays(database, [DAY], { idPath: ['id'] });
  const texts = ['{"id": 1, "age": 3}', '{"id": 2, "age": 5}'];
  const ignored = ['/age'];
  await proveTexts(database, await windowOf(database, streamId, DAY), [texts], {}, { ignored });
  expect(await checkPages(database, 1, 0, 9)).toMatchObject([{ problems: [] }]);
  await server.query('update daywalk.pages set id_hashes[1] = 1');
  expect(await checkPages(database, 1, 0, 9)).toMatchObject([
    { problems: ['its hashes are not those of its records'] },
  ]);
});

describe('what is hidden without a mark is found', () => {
  const hidden = async (statement: string) => {
    const streamId = await planDays(database);
    await planDays(database, [DAY], { name: 'severe', filters: { rule_level_from: '12' } });
    const severe = streamId + 1;
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 2])]);
    await proveTexts(database, await windowOf(database, severe, DAY), [textsOf([2])]);
    for (const day of ['2026-03-04', DAY])
      await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
    await seal(streamId);
    const check = () =>
      verifyStored(
        { database, clock: systemClock },
        ['events'],
        null,
        1,
        new AbortController().signal,
      );
    expect(await check()).toMatchObject({ findings: [], ledger: [] });
    await server.query(statement);
    const { findings, ledger } = await check();
    return [...findings, ...ledger].map(({ problem }) => problem);
  };

  it.each([
    ['shown in part', `update daywalk.walks set shown = 'part' where walk_id = 1`],
    [
      'said to be pruned',
      `with made as (
         insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
         values (1, '2020-01-01', 'day', '{99}', 1, 1, 1) returning pruning_id)
       update daywalk.walks set pruning = made.pruning_id from made where walk_id = 1`,
    ],
    [
      'said to be of another stream',
      `with flagged as (update daywalk.walks set shared = true where walk_id = 1)
       insert into daywalk.shared_records values (1, 0, 1)`,
    ],
  ])('a walk that is %s', async (_, statement) => {
    expect(await hidden(statement)).not.toEqual([]);
  });
});
