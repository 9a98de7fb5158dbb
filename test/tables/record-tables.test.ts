/** Record tables: equal to what the views show, with every value right or listed. */
import { beforeEach, describe, expect, it } from 'vitest';
import { readTables } from '../../src/days/table-rows.ts';
import type { Database } from '../../src/store/database.ts';
import { compareTables } from '../../src/tables/record-tables.ts';
import type { TestDatabase } from '../support/database.ts';
import { letHoursPass, proveTexts, publishNext, windowOf } from '../support/publishing.ts';
import { DAY, freshStore, planBareDays, planDays } from '../support/store.ts';
import { apply, column, dropTables, expectInStep, sync, tableOf } from './tables-stage.ts';

let database: Database;
let server: TestDatabase;
freshStore((store) => {
  ({ database, server } = store);
});
beforeEach(() => dropTables(database));

const IDS = tableOf([column('id', 'bigint', { index: true })]);

/** A day with these records, proven. */
async function dayWith(texts: readonly string[]): Promise<number> {
  const streamId = await planBareDays(database);
  await proveTexts(database, await windowOf(database, streamId, DAY), [texts]);
  return streamId;
}

const faults = () =>
  server.query(
    'select "column", place, found, reason from daywalk.table_faults order by place, "column"',
  );

describe('a record table', () => {
  it('has what the view shows, and follows it', async () => {
    const streamId = await planDays(database);
    await apply(database, IDS);
    await sync(database);
    expect(await server.query('select * from daywalk.alerts')).toEqual([]);
    await publishNext(database, streamId, [[1, 2], [3]]);
    await sync(database);
    await expectInStep(server);
    expect(await readTables(database)).toMatchObject([
      { table: 'alerts', state: 'live', days: 1, records: 3, faults: 0, behind: 0, firstDay: DAY },
    ]);
    // A record goes: it stays, and says so.
    for (const ids of [
      [1, 3],
      [1, 3],
    ]) {
      await letHoursPass(database, 2);
      const window = await windowOf(database, streamId, DAY);
      await proveTexts(database, window, [ids.map((id) => `{"id": ${id}}`)]);
    }
    expect(await readTables(database)).toMatchObject([{ behind: 1 }]);
    await sync(database);
    await expectInStep(server);
    expect(
      await server.query('select id::int from daywalk.alerts where gone_since is not null'),
    ).toEqual([{ id: 2 }]);
  });

  it('does nothing where nothing was published', async () => {
    await dayWith(['{"id": 1}']);
    await apply(database, IDS);
    await sync(database);
    const before = await server.query('select xmin, * from daywalk.table_days');
    await sync(database);
    expect(await server.query('select xmin, * from daywalk.table_days')).toEqual(before);
  });

  it('keeps every digit', async () => {
    const long = '9'.repeat(400);
    await dayWith([`{"id": 9223372036854775807, "n": ${long}.10, "t": 1.10, "u": 5e3}`]);
    const columns = [
      column('id', 'bigint'),
      column('n', 'numeric'),
      column('t', 'text'),
      column('u', 'integer'),
    ];
    await apply(database, tableOf(columns));
    await sync(database);
    expect(await server.query('select id::text, n::text, t, u from daywalk.alerts')).toEqual([
      { id: '9223372036854775807', n: `${long}.10`, t: '1.10', u: 5000 },
    ]);
    expect(await faults()).toEqual([]);
  });

  it('lists what does not fit, and has null instead', async () => {
    await dayWith([
      '{"id": 1, "level": 7, "name": "a", "at": "2026-03-05T10:00:00Z", "ip": "10.0.0.1", "on": "2026-03-05"}',
      '{"id": 2, "level": 70000, "name": {"x": 1}, "at": "yesterday", "ip": "nowhere", "on": "2026-02-30"}',
      '{"id": 3, "level": 1.5, "name": ["x"], "at": 5, "ip": null, "on": "now"}',
      '{"id": 4}',
      '{"id": "5", "level": "12", "name": 12, "at": 1772704800, "ip": "::1", "on": null}',
    ]);
    await apply(
      database,
      tableOf([
        column('id', 'bigint'),
        column('level', 'smallint'),
        column('name', 'text'),
        column('at', 'timestamptz'),
        column('ip', 'inet'),
        column('on', 'date'),
      ]),
    );
    await sync(database);
    expect(
      await server.query(
        `select id::int, level, name, to_char(at at time zone 'UTC', 'HH24:MI') as at, host(ip) as ip, "on"::text from daywalk.alerts order by place`,
      ),
    ).toEqual([
      { id: 1, level: 7, name: 'a', at: '10:00', ip: '10.0.0.1', on: '2026-03-05' },
      { id: 2, level: null, name: null, at: null, ip: null, on: null },
      { id: 3, level: null, name: null, at: null, ip: null, on: null },
      { id: 4, level: null, name: null, at: null, ip: null, on: null },
      { id: 5, level: 12, name: '12', at: '10:00', ip: '::1', on: null },
    ]);
    expect(await faults()).toEqual([
      { column: 'at', place: 2, found: '"yesterday"', reason: 'it is no time that is understood' },
      { column: 'ip', place: 2, found: '"nowhere"', reason: 'invalid input syntax for type inet' },
      {
        column: 'level',
        place: 2,
        found: '70000',
        reason: expect.stringContaining('out of range'),
      },
      { column: 'name', place: 2, found: '{"x": 1}', reason: 'it is an object, not a text' },
      {
        column: 'on',
        place: 2,
        found: '"2026-02-30"',
        reason: expect.stringContaining('out of range'),
      },
      { column: 'at', place: 3, found: '5', reason: 'it is no time that is understood' },
      {
        column: 'level',
        place: 3,
        found: '1.5',
        reason: expect.stringContaining('invalid input syntax'),
      },
      { column: 'name', place: 3, found: '["x"]', reason: 'it is an array, not a text' },
      { column: 'on', place: 3, found: '"now"', reason: 'it is no date such as 2026-03-01' },
    ]);
    expect(await readTables(database)).toMatchObject([{ records: 5, faults: 9 }]);
  });

  it('takes a text that no index can hold as one that does not fit', async () => {
    // Random, so that it cannot be compressed.
    const long = Array.from({ length: 4000 }, (_, i) => ((i * 7919) % 1297).toString(36)).join('');
    await dayWith([`{"id": 1, "name": "${long}"}`, '{"id": 2, "name": "short"}']);
    await apply(
      database,
      tableOf([column('id', 'bigint'), column('name', 'text', { index: true })]),
    );
    await sync(database);
    expect(await server.query('select id::int, name from daywalk.alerts order by place')).toEqual([
      { id: 1, name: null },
      { id: 2, name: 'short' },
    ]);
    expect(await faults()).toMatchObject([
      { column: 'name', reason: expect.stringContaining('too long') },
    ]);
  });

  it('keeps the record where it is told to, and columns and names that need quotes', async () => {
    await dayWith(['{"id": 1, "rule": {"a.b": {"it\'s": 5}}}']);
    const columns = [
      column('select', 'integer', { path: ['rule', 'a.b', "it's"], index: true }),
      column('all', 'jsonb', { path: ['rule'], index: true }),
    ];
    await apply(database, tableOf(columns, { name: 'order', keepRecord: true }));
    await sync(database);
    expect(
      await server.query('select "select", "all", record, day::text from daywalk."order"'),
    ).toEqual([
      {
        select: 5,
        all: { 'a.b': { "it's": 5 } },
        record: { id: 1, rule: { 'a.b': { "it's": 5 } } },
        day: DAY,
      },
    ]);
    await dropTables(database);
    expect(await server.query(`select to_regclass('daywalk."order"') as there`)).toEqual([
      { there: null },
    ]);
  });

  it('does not take the name of what is there', async () => {
    for (const name of ['events', 'pages', 'record_tables'])
      await expect(apply(database, tableOf([column('id', 'bigint')], { name }))).rejects.toThrow(
        'is no record table',
      );
  });
});

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
    await dayWith(['{"id": 1}']);
    await apply(database, IDS);
    await sync(database);
    await server.query('create view public.mine as select id from daywalk.alerts');
    try {
      await apply(database, tableOf([column('id', 'bigint'), column('kind', 'text')]));
      await sync(database);
      expect(await readTables(database)).toMatchObject([
        { state: 'live', trouble: null },
        { state: 'building', behind: 0, trouble: expect.stringContaining('depends on') },
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

describe('what is pruned', () => {
  const prune = (streamId: number) =>
    server.query(
      `select daywalk.append_to_ledger($1, $2::date);
       `.split(';')[0] ?? '',
      [streamId, DAY],
    );

  it('goes from a table without a retention of its own, and stays in one that outlives the pages', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await prune(streamId);
    await apply(
      database,
      IDS,
      tableOf([column('id', 'bigint')], { name: 'longer', retention: null }),
    );
    const mark = () =>
      server.query<{ marked: string }>(
        `select daywalk.mark_pruned($1, $2::date, 'day', d.walks, daywalk.marks_digest(d.walks)) as marked
           from daywalk.shown_days d where d.stream_id = $1`,
        [streamId, DAY],
      );
    // Not before the table that outlives the pages has them.
    expect(await mark()).toEqual([{ marked: 'wanted' }]);
    await sync(database);
    expect(await mark()).toEqual([{ marked: 'pruned' }]);
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

  it('goes from a table whose own retention is over, while the pages stay', async () => {
    await dayWith(['{"id": 1}']);
    await apply(database, tableOf([column('id', 'bigint')], { retention: 86_400_000 }));
    await sync(database);
    expect(await server.query('select id from daywalk.alerts')).toEqual([]);
    expect(await server.query('select record from daywalk.events')).toHaveLength(1);
  });
});
