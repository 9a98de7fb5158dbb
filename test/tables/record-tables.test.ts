/** Record tables: equal to what the views show, with every value right or listed. */
import { beforeEach, describe, expect, it } from 'vitest';
import { readTables } from '../../src/days/coverage-rows.ts';
import { SettingsError } from '../../src/errors.ts';
import type { Database } from '../../src/store/database.ts';
import { registerStreams } from '../../src/store/streams.ts';
import { applyTables } from '../../src/tables/record-tables.ts';
import type { TestDatabase } from '../support/database.ts';
import { letHoursPass, proveTexts, publishNext, windowOf } from '../support/publishing.ts';
import { DAY, freshStore, planBareDays, planDays } from '../support/store.ts';
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

/** A second table, of the same. */
const OTHERS = tableOf(IDS.columns, { name: 'others' });

/** The statement that an error says. */
const attachOf = ({ message }: Error) => /alter table .* to \([^)]*\)/.exec(message)?.[0] ?? '';

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
    await dayWith(database, ['{"id": 1}']);
    await apply(database, IDS);
    await sync(database);
    const before = await server.query('select xmin, * from daywalk.table_days');
    await sync(database);
    expect(await server.query('select xmin, * from daywalk.table_days')).toEqual(before);
  });

  it('keeps every digit', async () => {
    const long = '9'.repeat(400);
    await dayWith(database, [`{"id": 9223372036854775807, "n": ${long}.10, "t": 1.10, "u": 5e3}`]);
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
    await dayWith(database, [
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
    await dayWith(database, [`{"id": 1, "name": "${long}"}`, '{"id": 2, "name": "short"}']);
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

  it('has of a value the same, whatever stands beside it', async () => {
    // It would fit into an index, being compressed; and Postgres reads such an offset, which daywalk.time_of does not.
    const odd = `"name": "${'a'.repeat(5000)}", "n": ${'9'.repeat(3000)}, "at": "2026-03-05T12:00:00.5+1:00"`;
    await dayWith(database, [`{"id": 1, ${odd}}`]);
    const columns = [
      column('id', 'integer'),
      column('name', 'text', { index: true }),
      column('n', 'numeric', { index: true }),
      column('whole', 'bigint', { path: ['n'] }),
      column('at', 'timestamptz', { index: true }),
    ];
    await apply(database, tableOf(columns));
    await sync(database);
    expect(await server.query('select id, name, n, at from daywalk.alerts')).toEqual([
      { id: 1, name: null, n: null, at: null },
    ]);
    expect(await faults()).toMatchObject([
      { column: 'at', reason: 'it is no time that is understood' },
      { column: 'n', reason: 'it is too long for an index: 3000 bytes' },
      { column: 'name', reason: 'it is too long for an index: 5000 bytes' },
      // Without the value, so that reasons can be counted.
      { column: 'whole', reason: 'value is out of range for type bigint' },
    ]);
  });

  it('keeps the record where it is told to, and columns and names that need quotes', async () => {
    await dayWith(database, ['{"id": 1, "rule": {"a.b": {"it\'s": 5}}}']);
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

  it('does not take the name of what is there: the settings are wrong', async () => {
    for (const name of ['events', 'pages', 'record_tables', 'table_faults']) {
      const applying = apply(database, tableOf([column('id', 'bigint')], { name }));
      await expect(applying).rejects.toThrow('is no record table');
      await expect(applying).rejects.toBeInstanceOf(SettingsError);
    }
  });

  it('has times without a zone of the zone that the source is said to have since', async () => {
    const timePath = ['at'];
    const streamId = await planBareDays(database, [DAY], { timePath });
    await proveTexts(database, await windowOf(database, streamId, DAY), [
      ['{"at": "2026-03-05T10:00:00"}', '{"at": "2026-03-05T11:00:00Z"}'],
    ]);
    await apply(database, tableOf([column('at', 'timestamptz')]));
    await sync(database);
    for (const [timeZone, behind] of [
      ['Asia/Tokyo', 1],
      ['Asia/Tokyo', 0],
    ] as const) {
      const calendar = { since: null, firstSince: DAY, timeZone, settleMs: 0 };
      await registerStreams(
        database,
        [{ name: 'events', resource: 'events', filters: {}, timePath }],
        calendar,
      );
      expect(await readTables(database)).toMatchObject([{ behind }]);
      await sync(database);
      expect(await server.query('select at from daywalk.alerts order by 1')).toEqual(
        await server.query('select at from daywalk.events order by 1'),
      );
    }
  });

  it.each([
    { mended: 'attached again', mend: (error: Error) => server.query(attachOf(error)) },
    { mended: 'built anew', mend: () => applyTables(database, [IDS, OTHERS], ['alerts']) },
  ])(
    'names a month that was detached, and has others in step, until it is $mended',
    async ({ mend }) => {
      const streamId = await planBareDays(database, ['2026-02-27', DAY]);
      await publishNext(database, streamId, [[1, 2]]);
      await publishNext(database, streamId, [[3]]);
      await apply(database, IDS, OTHERS);
      await database.query(
        'select daywalk.ensure_table_partition(table_id, $1::date) from daywalk.record_tables',
        [DAY],
      );
      const [{ partition } = { partition: '' }] = await server.query<{ partition: string }>(
        `select inhrelid::regclass::text as partition from pg_inherits where inhparent = 'daywalk.alerts'::regclass and inhrelid::regclass::text like '%03'`,
      );
      await server.query(`alter table daywalk.alerts detach partition ${partition}`);
      const error = await sync(database).catch((why: unknown) => why as Error);
      expect(error).toBeInstanceOf(SettingsError);
      const step = () => server.query('select "table", behind::int, days::int from daywalk.tables');
      expect(new Set(await step())).toEqual(
        new Set([
          { table: 'alerts', behind: 1, days: 1 },
          { table: 'others', behind: 0, days: 2 },
        ]),
      );
      await mend(error as Error);
      await sync(database);
      await expectInStep(server);
    },
  );
});
