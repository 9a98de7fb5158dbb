/** `daywalk export --table`: files that hold each value of a record table exactly, and no day that the table does not hold as it is shown. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { recordContents } from '../../src/files/contents.ts';
import { exportDays, type FileExport } from '../../src/files/export-days.ts';
import type { Manifest, ManifestFile } from '../../src/files/manifest.ts';
import { tableContents } from '../../src/files/table-contents.ts';
import { planPruning } from '../../src/retention/prune.ts';
import type { Database } from '../../src/store/database.ts';
import { registerStreams } from '../../src/store/streams.ts';
import { UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import type { TestDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/program.ts';
import {
  letHoursPass,
  proveTexts,
  proveTwinsAt,
  publishNext,
  windowOf,
} from '../support/publishing.ts';
import { DAY, freshStore, planBareDays, planDays } from '../support/store.ts';
import { apply, column, dropTables, sync, tableOf } from '../tables/tables-stage.ts';

let database: Database;
let server: TestDatabase;
freshStore((store) => {
  ({ database, server } = store);
});
beforeEach(() => dropTables(database));

const signal = new AbortController().signal;
const NEXT = '2026-03-06';
const BOTH = { to: NEXT };
const LONG = `${'9'.repeat(400)}.${'1'.repeat(400)}`;
const IDS = tableOf([column('id', 'bigint')]);
const EVERY_TYPE = tableOf(
  [
    column('t', 'text'),
    column('flag', 'boolean'),
    column('small', 'smallint'),
    column('whole', 'integer'),
    column('big', 'bigint'),
    column('n', 'numeric'),
    column('at', 'timestamptz'),
    column('on', 'date'),
    column('ip', 'inet'),
    column('uid', 'uuid'),
    column('more', 'jsonb'),
    column('table', 'text'),
  ],
  { keepRecord: true },
);

/** Exports a table, or the records where it is null. */
async function exportTable(
  folder: string,
  table: string | null = 'alerts',
  more: Partial<FileExport> = {},
) {
  const contents =
    table === null
      ? recordContents(database, ['events'], UNREACHED_RECORDS)
      : await tableContents(database, table);
  const options = { folder, contents, format: null, from: null, to: DAY, checkFiles: false };
  return exportDays({ database, clock: systemClock }, { ...options, ...more }, signal);
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;

/** Asks DuckDB; every value as its text, and null. */
async function ask(query: string): Promise<(string | null)[][]> {
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = (await duck.runAndReadAll(query)).getRowsJson();
  return rows as (string | null)[][];
}

const filesOf = (folder: string) => `read_parquet('${folder}/alerts/day=*/*.parquet')`;

/** Days with these records each, proven. */
async function daysWith(days: Readonly<Record<string, readonly string[]>>): Promise<number> {
  const streamId = await planBareDays(database, Object.keys(days));
  for (const [day, texts] of Object.entries(days))
    await proveTexts(database, await windowOf(database, streamId, day), [texts]);
  return streamId;
}

/** Shows something else of the day. */
async function publishAnew(streamId: number, texts: readonly string[]): Promise<void> {
  await letHoursPass(database, 2);
  await proveTexts(database, await windowOf(database, streamId, DAY), [texts]);
}

/** Prunes the day. */
async function markPruned(streamId: number): Promise<void> {
  await server.query('select daywalk.append_to_ledger($1, $2::date)', [streamId, DAY]);
  await server.query(
    `select daywalk.mark_pruned($1, $2::date, 'day', d.walks, daywalk.marks_digest(d.walks)) from daywalk.shown_days d where d.day = $2::date`,
    [streamId, DAY],
  );
}

/** Has times without an offset be of this zone from now on. */
async function readIn(timeZone: string): Promise<void> {
  const calendar = { since: null, firstSince: DAY, timeZone, settleMs: 0 };
  await registerStreams(database, [{ name: 'events', resource: 'events', filters: {} }], calendar);
  await sync(database);
}

describe('a file of a record table', () => {
  const VALUES = [
    `{"t": "ü \\" \\n\\\\ 分析", "flag": true, "small": -32768, "whole": 2147483647, "big": 9223372036854775807, "n": ${LONG},
      "at": "2026-03-05T10:20:30.123456Z", "on": "2024-02-29", "ip": "10.1.2.3", "uid": "0b7c1f9e-5a53-4c2e-9d55-0123456789ab",
      "more": {"b": [1.10, 12345678901234567890], "a": null}, "table": "mine"}`,
    '{}',
    `{"t": "", "flag": false, "small": 32767, "whole": -2147483648, "big": -9223372036854775808, "n": "-0.00000000000000000000000000000000000000000001",
      "at": "1969-12-31T23:59:59.999999Z", "on": "1969-12-31", "ip": "2001:db8::/32", "uid": "ffffffff-ffff-ffff-ffff-ffffffffffff", "more": "x", "table": null}`,
    '{"t": "1", "flag": "yes", "small": 0, "whole": 0, "big": 0, "n": 1.10, "at": "9999-12-31T23:59:59.999999Z", "on": "9999-12-31", "ip": "10.1.0.0/16", "more": 0}',
    '{"n": "NaN", "at": "0001-01-01T00:00:00Z", "on": "0001-01-01", "more": [], "flag": "no", "ip": "::1"}',
  ];

  it('holds each value as the table does, which DuckDB reads', async () => {
    await daysWith({ [DAY]: VALUES });
    await apply(database, EVERY_TYPE);
    await sync(database);
    expect(await server.query('select * from daywalk.table_faults')).toEqual([]);
    const folder = temporaryFolder();
    expect(await exportTable(folder)).toMatchObject({ written: 1, records: 5, incomplete: [] });
    const described = await ask(`describe select * from ${filesOf(folder)}`);
    expect(described.map(([name, type]) => `${name} ${type}`)).toEqual([
      'day DATE',
      't VARCHAR',
      'flag BOOLEAN',
      'small INTEGER',
      'whole INTEGER',
      'big BIGINT',
      'n VARCHAR',
      'at TIMESTAMP WITH TIME ZONE',
      'on DATE',
      'ip VARCHAR',
      'uid UUID',
      'more JSON',
      'table VARCHAR',
      'record JSON',
      'walk_id BIGINT',
      'page_no INTEGER',
      'place INTEGER',
      'first_seen TIMESTAMP WITH TIME ZONE',
      'gone_since TIMESTAMP WITH TIME ZONE',
      'revision INTEGER',
    ]);
    expect(
      await ask(
        `select t, flag::varchar, small::varchar, whole::varchar, big::varchar, n, epoch_us("at")::varchar, "on"::varchar, ip, uid::varchar,
                more::varchar, "table" from ${filesOf(folder)} order by place`,
      ),
    ).toEqual([
      [
        'ü " \n\\ 分析',
        ...['true', '-32768', '2147483647', '9223372036854775807', LONG, '1772706030123456'],
        ...['2024-02-29', '10.1.2.3', '0b7c1f9e-5a53-4c2e-9d55-0123456789ab'],
        ...['{"a": null, "b": [1.10, 12345678901234567890]}', 'mine'],
      ],
      Array.from({ length: 12 }, () => null),
      [
        ...['', 'false', '32767', '-2147483648', '-9223372036854775808'],
        ...['-0.00000000000000000000000000000000000000000001', '-1', '1969-12-31'],
        ...['2001:db8::/32', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '"x"', null],
      ],
      [
        ...['1', 'true', '0', '0', '0', '1.10', '253402300799999999', '9999-12-31'],
        ...['10.1.0.0/16', null, '0', null],
      ],
      [
        ...[null, 'false', null, null, null, 'NaN', '-62135596800000000', '0001-01-01', '::1'],
        ...[null, '[]', null],
      ],
    ]);
  });

  it('holds the columns that every table has, and the record', async () => {
    const streamId = await daysWith({ [DAY]: ['{"id": 1}', '{"id": 2}'] });
    await publishAnew(streamId, ['{"id": 2}']);
    await publishAnew(streamId, ['{"id": 2}']);
    await apply(database, tableOf([column('id', 'bigint')], { keepRecord: true }));
    await sync(database);
    const folder = temporaryFolder();
    await exportTable(folder);
    const found = await ask(
      `select day::varchar, id::varchar, record::varchar, walk_id::varchar, page_no, place, epoch_us(first_seen)::varchar,
              epoch_us(gone_since)::varchar, revision from ${filesOf(folder)} order by place`,
    );
    const held = await server.query<{ row: (string | null)[] }>(
      `select json_build_array(day, id::text, record::text, walk_id::text, page_no, place,
                               to_char(extract(epoch from first_seen) * 1000000, 'FM9999999999999999'),
                               to_char(extract(epoch from gone_since) * 1000000, 'FM9999999999999999'), revision) as row
         from daywalk.alerts order by place`,
    );
    expect(held.map(({ row }) => row[7] === null).sort()).toEqual([false, true]);
    expect(found).toEqual(held.map(({ row }) => row));
  });

  it.each(['ndjson', 'parquet'] as const)(
    'as %s has the digest of its lines, which SQL recomputes',
    async (format) => {
      await daysWith({ [DAY]: VALUES });
      await apply(database, EVERY_TYPE);
      await sync(database);
      const folder = temporaryFolder();
      await exportTable(folder, 'alerts', { format });
      const [file] = manifestOf(folder).files;
      await server.query(
        `alter database ${new URL(server.url).pathname.slice(1)} set timezone to 'Asia/Tokyo'`,
      );
      const [row] = await server.query<{ lines: string }>(
        `select string_agg(row_to_json(a)::text || e'\\n', '' order by walk_id, page_no, place) as lines
         from (select set_config('TimeZone', 'UTC', true)) as utc, daywalk.alerts a where day = '${DAY}'`,
      );
      expect(
        createHash('sha256')
          .update(row?.lines ?? '')
          .digest('hex'),
      ).toBe(file?.recordsSha256);
      expect(file).toMatchObject({
        path: `alerts/day=${DAY}/records.${format}`,
        records: 5,
        stream: 'events',
        proof: 'total',
        table: {
          name: 'alerts',
          columns: expect.stringMatching(/^t text of \["t"\]; flag boolean of /),
        },
      });
      if (format === 'ndjson')
        expect(readFileSync(join(folder, file?.path ?? ''), 'utf8')).toBe(row?.lines);
    },
  );

  it('of more rows than are read or written at once has all of them, in order', async () => {
    const texts = Array.from(
      { length: 3_000 },
      (_, id) =>
        `{"id": ${id}, "t": "${(id * 7919).toString(36).repeat(id % 50 === 0 ? 4_000 : 2)}"}`,
    );
    await daysWith({ [DAY]: texts });
    await apply(database, tableOf([column('id', 'bigint'), column('t', 'text')]));
    await sync(database);
    const folder = temporaryFolder();
    await exportTable(folder);
    const rows = await ask(`select id::varchar, md5(t) from ${filesOf(folder)}`);
    const held = await server.query<{ row: string[] }>(
      'select json_build_array(id::text, md5(t)) as row from daywalk.alerts order by walk_id, page_no, place',
    );
    expect(rows).toEqual(held.map(({ row }) => row));
    expect(rows).toHaveLength(3_000);
  });

  it('of a day without records has the columns, and no row', async () => {
    await daysWith({ [DAY]: [], [NEXT]: ['{"id": 1}'] });
    await apply(database, IDS);
    await sync(database);
    const folder = temporaryFolder();
    expect(await exportTable(folder, 'alerts', BOTH)).toMatchObject({ written: 2, records: 1 });
    const empty = `read_parquet('${folder}/alerts/day=${DAY}/records.parquet')`;
    expect(await ask(`select count(*)::varchar from ${empty}`)).toEqual([['0']]);
    expect(await ask(`select id::varchar from ${filesOf(folder)}`)).toEqual([['1']]);
  });
});

describe('a day', () => {
  it('that the table does not hold as it is shown is left out, and its earlier file told', async () => {
    const streamId = await daysWith({ [DAY]: ['{"id": 1}'] });
    await apply(database, IDS);
    const folder = temporaryFolder();
    const reason =
      'daywalk.alerts is not in step: the next run takes it in, or daywalk tables --apply';
    expect(await exportTable(folder)).toMatchObject({
      written: 0,
      incomplete: [{ stream: 'events', day: DAY, state: 'behind', reason, earlierFile: null }],
    });
    await sync(database);
    expect(await exportTable(folder)).toMatchObject({ written: 1, incomplete: [] });
    await publishAnew(streamId, ['{"id": 1}', '{"id": 2}']);
    expect(await exportTable(folder)).toMatchObject({
      written: 0,
      incomplete: [{ state: 'behind', earlierFile: `alerts/day=${DAY}/records.parquet` }],
    });
    expect(manifestOf(folder).incomplete).toMatchObject([{ day: DAY, state: 'behind' }]);
  });

  it('that was published anew is written anew, and the others are not', async () => {
    const streamId = await daysWith({ [DAY]: ['{"id": 1}'], [NEXT]: ['{"id": 3}'] });
    await apply(database, IDS);
    await sync(database);
    const folder = temporaryFolder();
    const inode = () => statSync(join(folder, `alerts/day=${NEXT}/records.parquet`)).ino;
    await exportTable(folder, 'alerts', BOTH);
    const before = inode();
    expect(await exportTable(folder, 'alerts', BOTH)).toMatchObject({ written: 0, skipped: 2 });
    await publishAnew(streamId, ['{"id": 1}', '{"id": 2}']);
    await sync(database);
    expect(await exportTable(folder, 'alerts', BOTH)).toMatchObject({
      written: 1,
      skipped: 1,
      incomplete: [],
    });
    expect(inode()).toBe(before);
    expect(await ask(`select id::varchar from ${filesOf(folder)} order by id`)).toEqual([
      ['1'],
      ['2'],
      ['3'],
    ]);
  });

  it('is written anew where its times are read in another time zone', async () => {
    await daysWith({ [DAY]: ['{"at": "2026-03-05T10:00:00"}'] });
    await apply(database, tableOf([column('at', 'timestamptz')]));
    await sync(database);
    const folder = temporaryFolder();
    await exportTable(folder);
    await readIn('Asia/Tokyo');
    expect(await exportTable(folder)).toMatchObject({ written: 1, skipped: 0 });
    expect(await exportTable(folder)).toMatchObject({ written: 0, skipped: 1 });
    expect(await ask(`select epoch("at")::bigint::varchar from ${filesOf(folder)}`)).toEqual([
      [String(Date.parse('2026-03-05T01:00:00Z') / 1_000)],
    ]);
  });

  it('whose pages are pruned stays as its times were read, and its file says in which time zone', async () => {
    const streamId = await daysWith({ [DAY]: ['{"at": "2026-03-05T10:00:00"}'] });
    await apply(database, tableOf([column('at', 'timestamptz')], { retention: null }));
    await sync(database);
    const folder = temporaryFolder();
    await exportTable(folder);
    await markPruned(streamId);
    await readIn('Asia/Tokyo');
    expect(await exportTable(folder)).toMatchObject({ written: 0, skipped: 1 });
    expect(manifestOf(folder).files).toMatchObject([{ timeZone: 'UTC' }]);
    const later = temporaryFolder();
    expect(await exportTable(later)).toMatchObject({ written: 1 });
    expect(manifestOf(later).files[0]).not.toHaveProperty('timeZone');
  });

  it('that is published anew while it is read is read again', async () => {
    const streamId = await daysWith({ [DAY]: ['{"id": 1}'] });
    await apply(database, IDS);
    await sync(database);
    const contents = await tableContents(database, 'alerts');
    let published = false;
    const folder = temporaryFolder();
    const report = await exportTable(folder, 'alerts', {
      contents: {
        ...contents,
        async write(...given) {
          const written = await contents.write(...given);
          if (!published)
            await publishAnew(streamId, ['{"id": 1}', '{"id": 2}']).then(() => sync(database));
          published = true;
          return written;
        },
      },
    });
    expect(report).toMatchObject({ written: 1, records: 2 });
    expect(await ask(`select id::varchar from ${filesOf(folder)} order by id`)).toEqual([
      ['1'],
      ['2'],
    ]);
  });

  it('that is not complete is left out as it is of the records', async () => {
    await daysWith({ [DAY]: ['{"id": 1}'], [NEXT]: [] });
    await server.query(
      `update daywalk.windows set state = 'failed', last_error = 'a reason' where day = '${DAY}'`,
    );
    await apply(database, IDS);
    await sync(database);
    expect(
      await exportTable(temporaryFolder(), 'alerts', { from: '2026-03-04', to: NEXT }),
    ).toMatchObject({
      written: 1,
      incomplete: [
        { day: '2026-03-04', state: 'missing' },
        { day: DAY, state: 'failed' },
      ],
    });
  });

  it('whose rows somebody removed is an error, never a shorter file', async () => {
    await daysWith({ [DAY]: ['{"id": 1}', '{"id": 2}'] });
    await apply(database, IDS);
    await sync(database);
    await server.query('delete from daywalk.alerts where id = 1');
    await expect(exportTable(temporaryFolder())).rejects.toThrow(
      `events ${DAY}: its walks count 2 records, and daywalk.alerts holds 1`,
    );
  });

  it('whose pages are pruned is exported from a table that outlives them, and whose own retention is over is not', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    const outliving = tableOf([column('id', 'bigint')], { name: 'longer', retention: null });
    const shorter = tableOf([column('id', 'bigint')], { name: 'shorter', retention: 86_400_000 });
    await apply(database, IDS, outliving, shorter);
    await sync(database);
    const before = temporaryFolder();
    await exportTable(before);
    await markPruned(streamId);
    await sync(database);
    expect(await exportTable(temporaryFolder(), 'longer')).toMatchObject({
      written: 1,
      records: 2,
    });
    const asked = { from: DAY, to: DAY };
    for (const name of ['alerts', 'shorter']) {
      expect(await exportTable(temporaryFolder(), name)).toMatchObject({
        written: 0,
        incomplete: [],
      });
      expect(await exportTable(temporaryFolder(), name, asked)).toMatchObject({
        incomplete: [{ state: 'pruned' }],
      });
    }
    expect(await exportTable(before, 'alerts', asked)).toMatchObject({
      skipped: 1,
      incomplete: [],
    });
  });
});

it('a day behind a pruned one is exported as a table that outlives the pages has it, and what is behind it, too', async () => {
  const last = '2026-03-07';
  const streamId = await planDays(database, [DAY, NEXT, last]);
  for (const ids of [[1, 2], [2, 3], [4]]) await publishNext(database, streamId, [ids]);
  await proveTwinsAt(database, streamId, [DAY], [2]);
  await apply(database, tableOf([column('id', 'bigint')], { retention: null }));
  await sync(database);
  const folder = temporaryFolder();
  await exportTable(folder, 'alerts', BOTH);
  await markPruned(streamId);
  await sync(database);
  expect(await exportTable(folder, 'alerts', { to: last })).toMatchObject({ incomplete: [] });
  const ids = await ask(`select id::varchar from ${filesOf(folder)} order by id`);
  expect(ids.flat()).toEqual(['1', '2', '3', '4']);
});

describe('a folder', () => {
  it('has one table or the records, and never two of them', async () => {
    await daysWith({ [DAY]: ['{"id": 1}'] });
    await apply(database, IDS, { ...IDS, name: 'others' });
    await sync(database);
    const [folder, records] = [temporaryFolder(), temporaryFolder()];
    await exportTable(folder);
    await exportTable(records, null);
    await expect(exportTable(folder, null)).rejects.toThrow(
      `flag --out: ${folder} has the record table alerts, and takes nothing else`,
    );
    await expect(exportTable(folder, 'others')).rejects.toThrow('has the record table alerts');
    await expect(exportTable(records)).rejects.toThrow('has the records of streams');
    await expect(exportTable(folder, 'alerts', { format: 'ndjson' })).rejects.toThrow(
      'has files of parquet',
    );
    const prune = { kind: 'day', limits: [], exported: folder } as const;
    await expect(planPruning(database, prune)).rejects.toThrow(
      `flag --require-export: ${folder} holds the record table alerts, not the records as they were sent`,
    );
  });

  it('keeps its format also where a kill left a file that the manifest does not tell of', async () => {
    await daysWith({ [DAY]: ['{"id": 1}'] });
    const folder = temporaryFolder();
    await exportTable(folder, null, { format: 'ndjson' });
    const manifest = { ...manifestOf(folder), files: [] };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    await expect(exportTable(folder, null, { format: 'parquet' })).rejects.toThrow(
      `flag --format: ${folder} has files of ndjson, and takes no other format`,
    );
    expect(await exportTable(folder, null)).toMatchObject({ written: 1 });
    expect(manifestOf(folder).files).toMatchObject([{ format: 'ndjson' }]);
  });

  it('takes no files with other columns, and writes all days anew when the table was built anew', async () => {
    await daysWith({ [DAY]: ['{"id": 1}'], [NEXT]: ['{"id": 2}'] });
    await apply(database, IDS);
    await sync(database);
    const folder = temporaryFolder();
    await exportTable(folder, 'alerts', BOTH);
    const [{ table }] = manifestOf(folder).files as [ManifestFile];
    await server.query(`select daywalk.drop_table(table_id) from daywalk.record_tables`);
    await apply(database, IDS);
    await sync(database);
    expect(await exportTable(folder, 'alerts', BOTH)).toMatchObject({ written: 2, skipped: 0 });
    expect(manifestOf(folder).files[0]?.table?.id).not.toBe(table?.id);
    await apply(database, tableOf([column('id', 'numeric')]));
    await sync(database);
    await expect(exportTable(folder, 'alerts', BOTH)).rejects.toThrow(
      `${folder} has the record table alerts with other columns (id bigint of ["id"]), and takes nothing else`,
    );
  });

  it('is not asked for a table that is not there', async () => {
    await expect(exportTable(temporaryFolder(), 'alert')).rejects.toThrow(
      'flag --table: there is no record table "alert"',
    );
  });
});
