/** Record tables whose definition changes, and days whose pages are pruned. */
import { beforeEach, describe, expect, it } from 'vitest';
import { readTables } from '../../src/days/coverage-rows.ts';
import type { RecordTable } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import {
  compareTables,
  listTableWork,
  removeTable,
  replaceDay,
} from '../../src/tables/table-rows.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  letHoursPass,
  proveCutOf,
  proveTexts,
  proveTwinsAt,
  publishNext,
  textsOf,
  windowOf,
} from '../support/publishing.ts';
import { DAY, freshStore, openDatabase, planDays } from '../support/store.ts';
import {
  apply,
  column,
  dayWith,
  dropTables,
  expectInStep,
  IDS,
  sync,
  tableOf,
} from './tables-stage.ts';

let database: Database;
let server: TestDatabase;
freshStore((store) => {
  ({ database, server } = store);
});
beforeEach(() => dropTables(database));

describe('a changed definition', () => {
  it('is built beside the old one, and takes its place in step', async () => {
    const streamId = await planDays(database, ['2026-03-04', DAY]);
    await publishNext(database, streamId, [[1]]);
    await publishNext(database, streamId, [[2]]);
    await apply(database, IDS);
    await sync(database);
    const changed = tableOf([column('id', 'bigint'), column('kind', 'text')]);
    expect(await compareTables(database, [changed])).toEqual([
      { name: 'alerts', change: 'changed' },
    ]);
    await apply(database, changed);
    // The old one is what queries see.
    expect(await readTables(database)).toMatchObject([
      { state: 'live', records: 2, behind: 0 },
      { state: 'building', records: 0, behind: 2 },
    ]);
    await expectInStep(server);
    await sync(database);
    expect(await readTables(database)).toMatchObject([{ state: 'live', records: 2, behind: 0 }]);
    expect(await server.query('select id::int, kind from daywalk.alerts order by id')).toEqual([
      { id: 1, kind: null },
      { id: 2, kind: null },
    ]);
    expect(await compareTables(database, [changed])).toEqual([{ name: 'alerts', change: 'none' }]);
    expect(await compareTables(database, [])).toEqual([{ name: 'alerts', change: 'stray' }]);
  });

  it('waits where something depends on the old table, and says so', async () => {
    await dayWith(database, ['{"id": 1}']);
    await apply(database, IDS);
    await sync(database);
    await server.query('create view public.mine as select id from daywalk.alerts');
    try {
      await apply(database, tableOf([column('id', 'bigint'), column('kind', 'text')]));
      await sync(database);
      expect(await readTables(database)).toMatchObject([
        { state: 'live', trouble: null },
        {
          state: 'building',
          behind: 0,
          trouble:
            'view public.mine depends on table daywalk.alerts; drop that, and make it again afterwards',
        },
      ]);
    } finally {
      await server.query('drop view public.mine');
    }
    await sync(database);
    expect(await readTables(database)).toMatchObject([
      { state: 'live', trouble: null, records: 1 },
    ]);
  });
});

describe('a table that somebody dropped by hand', () => {
  beforeEach(async () => {
    await dayWith(database, ['{"id": 1}']);
    await apply(database, IDS);
    await sync(database);
  });
  const drop = () => server.query('drop table daywalk.alerts');

  it('is made anew, also where another one was being built beside it', async () => {
    await apply(database, tableOf([column('id', 'bigint'), column('kind', 'text')]));
    await drop();
    expect(await compareTables(database, [IDS])).toEqual([{ name: 'alerts', change: 'new' }]);
    await apply(database, IDS);
    await sync(database);
    expect(await readTables(database)).toMatchObject([{ state: 'live', behind: 0, records: 1 }]);
    await expectInStep(server);
  });

  it('can be taken away', async () => {
    await drop();
    expect(await removeTable(database, 'alerts')).toBe(true);
    expect(await readTables(database)).toEqual([]);
  });
});

describe('a table that somebody reads', () => {
  it('is not waited for by a day of a new month', async () => {
    await dayWith(database, ['{"id": 1}']);
    await apply(database, IDS);
    const reader = await server.pool.connect();
    try {
      await reader.query('begin; select from daywalk.alerts');
      await sync(openDatabase(server.url, { statementTimeoutMs: 2_000, patienceMs: 0 }));
    } finally {
      await reader.query('rollback');
      reader.release();
    }
    expect(await readTables(database)).toMatchObject([{ behind: 0, records: 1 }]);
  });

  it('is not waited for long, so that others go on reading it', async () => {
    await dayWith(database, ['{"id": 1}']);
    await apply(database, IDS);
    await sync(database);
    await apply(database, tableOf([column('id', 'bigint'), column('kind', 'text')]));
    const reader = await server.pool.connect();
    try {
      await reader.query('begin');
      await reader.query('select * from daywalk.alerts');
      await sync(database);
      expect(await readTables(database)).toMatchObject([
        { state: 'live' },
        { state: 'building', trouble: expect.stringContaining('reads the old table') },
      ]);
      await reader.query('commit');
    } finally {
      reader.release();
    }
    await sync(database);
    expect(await readTables(database)).toMatchObject([{ state: 'live', trouble: null }]);
  });
});

describe('what is pruned', () => {
  const mark = (streamId: number, day = DAY) =>
    server.query<{ marked: string }>(
      `select daywalk.mark_pruned($1, $2::date, 'day', d.walks, daywalk.marks_digest(d.walks)) as marked
         from daywalk.shown_days d where d.stream_id = $1 and d.day = $2::date`,
      [streamId, day],
    );
  const seal = (streamId: number, day = DAY) =>
    server.query('select daywalk.append_to_ledger($1, $2::date)', [streamId, day]);

  it('goes from a table without a retention of its own, and stays in one that outlives the pages', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await seal(streamId);
    await apply(
      database,
      IDS,
      tableOf([column('id', 'bigint')], { name: 'longer', retention: null }),
    );
    // Not before the table that outlives the pages has them.
    expect(await mark(streamId)).toEqual([{ marked: 'wanted' }]);
    await sync(database);
    expect(await mark(streamId)).toEqual([{ marked: 'pruned' }]);
    await sync(database);
    expect(await server.query('select id from daywalk.alerts')).toEqual([]);
    expect(await server.query('select id::int from daywalk.longer order by id')).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
    // Not forgotten with a changed definition.
    await apply(
      database,
      tableOf([column('id', 'bigint'), column('kind', 'text')], {
        name: 'longer',
        retention: null,
      }),
    );
    await sync(database);
    expect(await server.query('select id::int, kind from daywalk.longer order by id')).toEqual([
      { id: 1, kind: null },
      { id: 2, kind: null },
    ]);
  });

  it('stays in one that outlives the pages once, also where the day behind shows it again', async () => {
    const behind = '2026-03-06';
    const streamId = await planDays(database, [DAY, behind]);
    await publishNext(database, streamId, [[1, 2]]);
    await publishNext(database, streamId, [[2, 3]]);
    await proveTwinsAt(database, streamId, [DAY], [2]);
    await seal(streamId);
    await apply(
      database,
      IDS,
      tableOf([column('id', 'bigint')], { name: 'longer', retention: null }),
    );
    await sync(database);
    expect((await mark(streamId))[0]?.marked).toBe('pruned');
    await sync(database);
    const idsOf = async (table: string) =>
      (await server.query<{ id: number }>(`select id::int from daywalk.${table} order by 1`)).map(
        ({ id }) => id,
      );
    expect(await idsOf('longer')).toEqual([1, 2, 3]);
    expect(await idsOf('alerts')).toEqual([2, 3]);
    // Nor where the day behind is walked again, or the table is built anew.
    await letHoursPass(database, 2);
    await proveTexts(database, await windowOf(database, streamId, behind), [textsOf([2, 3, 4])]);
    await sync(database);
    expect(await idsOf('longer')).toEqual([1, 2, 3, 4]);
    const other = [column('id', 'bigint'), column('kind', 'text')];
    await apply(database, tableOf(other, { name: 'longer', retention: null }));
    await sync(database);
    expect(await readTables(database)).toMatchObject([{}, { table: 'longer', state: 'live' }]);
    expect(await idsOf('longer')).toEqual([1, 2, 3, 4]);
    expect(await idsOf('alerts')).toEqual([2, 3, 4]);
    // Once the pruned day goes from the table, too, it stands under the day that shows it.
    await server.query(
      `update daywalk.record_tables set retention = clock_timestamp() - $1::timestamptz - interval '1 hour' where outlives`,
      [`${behind} 00:00Z`],
    );
    for (let run = 0; run < 2; run += 1) await sync(database);
    expect(await idsOf('longer')).toEqual([2, 3, 4]);
  });

  it('stays in one that outlives the pages once, also where the day behind is shown only then', async () => {
    const behind = '2026-03-06';
    const streamId = await planDays(database, [DAY, behind]);
    await publishNext(database, streamId, [[1, 2, 2, 2]]);
    const twos = textsOf([2, 2]);
    const cut = await windowOf(database, streamId, DAY, 'cut');
    const both = { across: twos, before: twos, after: twos };
    await proveCutOf(database, cut, both, { records: 0, removed: 2 });
    await seal(streamId);
    const longer = tableOf([column('id', 'bigint')], { name: 'longer', retention: null });
    await apply(database, IDS, longer);
    await sync(database);
    expect((await mark(streamId))[0]?.marked).toBe('pruned');
    const idsOf = async (table: string) => {
      await sync(database);
      return (
        await server.query<{ id: number }>(`select id::int from daywalk.${table} order by 1`)
      ).map(({ id }) => id);
    };
    for (const more of [[], [4]]) {
      const list = textsOf([2, 2, 2, 3, ...more]);
      await proveTexts(database, await windowOf(database, streamId, behind), [list]);
      // Two of its three are those of the midnight.
      expect(await idsOf('longer')).toEqual([1, 2, 2, 2, 2, 3, ...more]);
      expect(await idsOf('alerts')).toEqual([2, 2, 2, 3, ...more]);
      await letHoursPass(database, 2);
    }
  });

  it('stays in one that outlives the pages, where the day between two that went is shown only then, and what stood at its midnights is equal', async () => {
    const [between, behind] = ['2026-03-06', '2026-03-07'];
    const streamId = await planDays(database, [DAY, between, behind]);
    const prove = async (day: string, ids: readonly number[]) =>
      proveTexts(database, await windowOf(database, streamId, day), [textsOf(ids)]);
    await prove(DAY, [1, 2]);
    await prove(behind, [2, 4]);
    await proveTwinsAt(database, streamId, [DAY, between], [2]);
    for (const day of ['2026-03-04', behind])
      await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
    for (const day of [DAY, behind]) await seal(streamId, day);
    await apply(database, tableOf([column('id', 'bigint')], { retention: null }));
    await sync(database);
    for (const day of [DAY, behind]) expect((await mark(streamId, day))[0]?.marked).toBe('pruned');
    await prove(between, [2, 3, 2]);
    await sync(database);
    expect(
      await server.query('select day::text, id::int from daywalk.alerts order by day, id'),
    ).toEqual([
      { day: DAY, id: 1 },
      { day: DAY, id: 2 },
      { day: between, id: 3 },
      { day: behind, id: 2 },
      { day: behind, id: 4 },
    ]);
  });

  it('stays in one that outlives the pages in its newest version, also where another day shows an older one again', async () => {
    const behind = '2026-03-06';
    const streamId = await planDays(database, [DAY, behind], { idPath: ['id'] });
    const walk = async (day: string, list: readonly string[]) => {
      await proveTexts(database, await windowOf(database, streamId, day), [list]);
      await letHoursPass(database, 2);
    };
    for (const list of [['{"v": 1, "id": 5}', '{"id": 6}'], ['{"id": 6}'], ['{"id": 6}']])
      await walk(behind, list);
    await walk(DAY, ['{"v": 2, "id": 5}']);
    for (const day of ['2026-03-04', DAY, behind])
      await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
    await seal(streamId);
    const versions = tableOf([column('id', 'bigint'), column('v', 'bigint')], { retention: null });
    await apply(database, versions);
    await sync(database);
    expect((await mark(streamId))[0]?.marked).toBe('pruned');
    await sync(database);
    expect(await server.query('select record from daywalk.events order by record')).toHaveLength(2);
    expect(await server.query('select id::int, v::int from daywalk.alerts order by id')).toEqual([
      { id: 5, v: 2 },
      { id: 6, v: null },
    ]);
  });

  it('stays in one that outlives the pages also where a worker comes to the day late', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await seal(streamId);
    await apply(database, tableOf([column('id', 'bigint')], { retention: null }));
    const [work] = await listTableWork(database, [streamId], 1);
    if (work === undefined) throw new Error('nothing is to be done');
    // Meanwhile another one takes it in, and a person prunes it.
    await sync(database);
    expect(await mark(streamId)).toEqual([{ marked: 'pruned' }]);
    const held = () =>
      server.query('select records::int, publication, synced_at from daywalk.table_days');
    const before = await held();
    expect(await replaceDay(database, work, new AbortController().signal)).toBeNull();
    expect(await server.query('select id::int from daywalk.alerts order by id')).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
    expect(await held()).toEqual(before);
  });

  it('stays in the old table where the new one is of another stream, and that is said', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await seal(streamId);
    const kept = { retention: null };
    await apply(database, tableOf([column('id', 'bigint')], kept));
    await sync(database);
    expect(await mark(streamId)).toEqual([{ marked: 'pruned' }]);
    await planDays(database, ['2026-03-06'], { name: 'renamed' });
    await apply(database, tableOf([column('id', 'bigint')], { ...kept, stream: 'renamed' }));
    await sync(database);
    expect(await readTables(database)).toMatchObject([
      { stream: 'events', state: 'live', records: 2 },
      { stream: 'renamed', state: 'building', trouble: expect.stringContaining('stream events') },
    ]);
  });

  it('is taken from the old table where columns are defined the same, with what did not fit', async () => {
    const streamId = await dayWith(database, [
      '{"id": 1, "a": "here", "b": "there", "level": "high"}',
    ]);
    await seal(streamId);
    const stays = (path: string, more: Partial<RecordTable> = {}) =>
      tableOf(
        [
          column('id', 'bigint'),
          column('level', 'integer'),
          column('ip', 'text', { path: [path] }),
          column('gone', 'integer', { path: [path] }),
        ].filter(({ name }) => name !== 'gone' || path === 'a'),
        { retention: null, ...more },
      );
    await apply(database, stays('a'));
    await sync(database);
    expect(await mark(streamId)).toEqual([{ marked: 'pruned' }]);
    expect(await readTables(database)).toMatchObject([{ faults: 2 }]);
    // From b would have come something else; and the record is not there any more.
    await apply(database, stays('b', { keepRecord: true }));
    await sync(database);
    expect(await server.query('select id::int, level, ip, record from daywalk.alerts')).toEqual([
      { id: 1, level: null, ip: null, record: null },
    ]);
    expect(await readTables(database)).toMatchObject([{ state: 'live', records: 1, faults: 1 }]);
    expect(await server.query('select "column", found from daywalk.table_faults')).toEqual([
      { column: 'level', found: '"high"' },
    ]);
  });

  it('is taken from the old table also where it is too long for an index that is new, which is told', async () => {
    const long = Array.from({ length: 3_000 }, (_, at) => at.toString(36)).join('');
    const streamId = await dayWith(database, [`{"id": 1, "text": "${long}"}`]);
    await seal(streamId);
    const withText = (index: boolean) =>
      tableOf([column('id', 'bigint'), column('text', 'text', { index })], { retention: null });
    await apply(database, withText(false));
    await sync(database);
    expect(await mark(streamId)).toEqual([{ marked: 'pruned' }]);
    await apply(database, withText(true));
    await sync(database);
    expect(await readTables(database)).toMatchObject([{ state: 'live', records: 1, faults: 1 }]);
    expect(await server.query('select id::int, text from daywalk.alerts')).toEqual([
      { id: 1, text: null },
    ]);
    expect(await server.query('select "column", reason from daywalk.table_faults')).toEqual([
      { column: 'text', reason: `it is too long for an index: ${long.length} bytes` },
    ]);
  });

  it('is taken from the old table a day at a time, before the new one takes its place', async () => {
    const days = ['2026-03-03', '2026-03-04', DAY];
    const streamId = await planDays(database, days);
    for (const [number] of days.entries()) await publishNext(database, streamId, [[number]]);
    const stays = (name: string) =>
      tableOf([column('id', 'bigint'), column(name, 'text')], { retention: null });
    await apply(database, stays('kind'));
    await sync(database);
    for (const day of days) {
      await server.query('select daywalk.append_to_ledger($1, $2::date)', [streamId, day]);
      await server.query(
        `select daywalk.mark_pruned($1, $2::date, 'day', d.walks, daywalk.marks_digest(d.walks))
           from daywalk.shown_days d where d.stream_id = $1 and d.day = $2::date`,
        [streamId, day],
      );
    }
    await apply(database, stays('word'));
    const swap = async () =>
      (
        await server.query<{ done: boolean }>(
          `select daywalk.swap_table(table_id) as done from daywalk.record_tables where state = 'building'`,
        )
      )[0]?.done;
    const keep = async () =>
      (
        await server.query<{ done: boolean }>(
          `select daywalk.keep_pruned_day(table_id) as done from daywalk.record_tables where state = 'building'`,
        )
      )[0]?.done;
    const steps = [await swap(), await keep(), await swap(), await keep(), await keep()];
    expect(steps).toEqual([false, true, false, true, true]);
    expect([await keep(), await swap()]).toEqual([false, true]);
    expect(await server.query('select id::int, word from daywalk.alerts order by id')).toEqual(
      [0, 1, 2].map((id) => ({ id, word: null })),
    );
  });

  it('goes from a table whose own retention is over, while the pages stay', async () => {
    await dayWith(database, ['{"id": 1}']);
    await apply(database, tableOf([column('id', 'bigint')], { retention: 86_400_000 }));
    await sync(database);
    expect(await server.query('select id from daywalk.alerts')).toEqual([]);
    expect(await server.query('select record from daywalk.events')).toHaveLength(1);
  });
});
