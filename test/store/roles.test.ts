/** The roles of docs/roles.md: the worker runs a whole export and can do no more, the reader sees the views and nothing else. */
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { readDayStory } from '../../src/days/story-rows.ts';
import { describeStory } from '../../src/days/story-text.ts';
import { recordContents } from '../../src/files/contents.ts';
import { exportDays } from '../../src/files/export-days.ts';
import { verifyStored } from '../../src/ledger/verify-stored.ts';
import { listMovedDays } from '../../src/store/moved-days.ts';
import { findFields } from '../../src/tables/fields.ts';
import { search } from '../../src/tables/search.ts';
import { checkTieredDays } from '../../src/tier/check-days.ts';
import { UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import { restoreDays } from '../../src/tier/restore.ts';
import type { TestDatabase } from '../support/database.ts';
import { exportHere } from '../support/export-here.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { expectExact } from '../support/multiset.ts';
import { openPool } from '../support/pool.ts';
import { temporaryFolder } from '../support/program.ts';
import { endLooks } from '../support/publishing.ts';
import { serveStored } from '../support/served-archive.ts';
import { openDatabase } from '../support/store.ts';
import { moveAll, partsOf } from '../tier/moving-scene.ts';
import { DAYS, DENIED, type Roles, rolesOfThisFile } from './roles-scene.ts';

const STREAMS = ['events', 'smart-event'];
const { signal } = new AbortController();

let roles: Roles;
let server: TestDatabase;
let working: string;
let reading: string;
let worker: pg.Pool;
let reader: pg.Pool;

rolesOfThisFile(async (made) => {
  roles = made;
  ({ server } = roles);
  [working, reading] = [await roles.newRole('worker'), await roles.newRole('reader')];
  await roles.give('let_work', working);
  await roles.give('let_read', reading);
  worker = openPool(roles.urlOf(working), 2);
  reader = openPool(roles.urlOf(reading), 2);
  return async () => {
    await worker.end();
    await reader.end();
  };
});

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

/** What the verbs read that write nothing. */
async function readsEverything(role: string): Promise<void> {
  const database = openDatabase(roles.urlOf(role));
  const told = describeStory(await readDayStory(database, 'events', DAYS.from)).join('\n');
  expect(told).toContain('complete');
  const [found] = (
    await findFields(database, { streams: STREAMS, from: null, to: null, all: true }, signal)
  ).looked;
  expect(found?.records).toBeGreaterThan(100);
  const request = { value: 'nothing of this kind', streams: STREAMS, ...DAYS, limit: null };
  const searched = await search(database, { ...request, moved: null }, () => {}, signal);
  expect(searched.streams.map(({ proven, unproven }) => [proven, unproven])).toEqual([
    [2, []],
    [2, []],
  ]);
  const parts = { database, clock: systemClock };
  expect(await verifyStored(parts, STREAMS, null, 2, signal)).toMatchObject({
    findings: [],
    ledger: [],
    unsealedPages: 0,
  });
}

describe('the worker', () => {
  it('exports, walks again, and reads everything', async () => {
    for (const only of ['missing', 'all'] as const)
      expect(await exportHere(roles.api, roles.urlOf(working), DAYS, only)).toMatchObject({
        failures: [],
        stopped: [],
        notInStep: [],
      });
    await expectExact({ api: roles.api, database: server }, DAYS);
    await readsEverything(working);
  }, 240_000);

  it.each([
    'delete from daywalk.pages',
    `update daywalk.pages set body = '{}'`,
    'truncate daywalk.pages',
    'drop table daywalk.pages',
    'alter table daywalk.pages add column more text',
    'delete from daywalk.windows',
    'delete from daywalk.walks',
    'delete from daywalk.ledger',
    `update daywalk.ledger set digest = ''`,
    'alter table daywalk.ledger disable trigger all',
    'create table daywalk.mine (a int)',
    'create schema mine',
    `create function daywalk.mine() returns int language sql as 'select 1'`,
    `insert into daywalk.migrations (name, run_on) values ('x', now())`,
    'insert into daywalk.prunings default values',
    'update daywalk.prunings set walks = walks',
    'insert into daywalk.tiered_days default values',
    `select daywalk.empty_month('2026-03-01')`,
    `select daywalk.let_move('public')`,
    `select daywalk.let_work('public')`,
    `select daywalk.let_read(current_user)`,
    'create role mine',
    `copy daywalk.windows to program 'true'`,
    `select pg_read_file('postgresql.conf')`,
  ])('may not: %s', async (statement) => {
    expect(await codeOf(worker.query(statement))).toBe(DENIED);
  });

  it('drops days that are not wanted, and no others', async () => {
    const count = 'select count(*)::int as windows from daywalk.windows';
    const before = await server.query(count);
    expect(await codeOf(worker.query('select daywalk.drop_unwanted_days(1)'))).toBe('done');
    expect(await server.query(count)).toEqual(before);
  });

  it('makes partitions of months that can have days, and of no others', async () => {
    const made = async (month: string) => {
      const code = await codeOf(worker.query(`select daywalk.ensure_partition(${month})`));
      const [row] = await server.query<{ there: boolean }>(
        `select to_regclass('daywalk.pages_' || to_char(${month}, 'YYYY_MM')) is not null as there`,
      );
      return row?.there ? code : [code];
    };
    const next = `(date_trunc('month', now()) + interval '1 month')::date`;
    expect(await made(`date '1970-01-01'`)).toBe('done');
    expect(await made(next)).toBe('done');
    expect(await made(`date '1969-12-31'`)).toEqual(['22023']);
    expect(await made(`(${next} + interval '1 month')::date`)).toEqual(['22023']);
    for (const day of ['0001-01-01', '9999-12-31', 'infinity', '-infinity'])
      expect(await codeOf(worker.query(`select daywalk.ensure_partition('${day}')`))).toBe('22023');
  });
});

describe('the auditor', () => {
  let auditor: string;
  beforeAll(async () => {
    auditor = await roles.newRole('auditor');
    await roles.give('let_audit', auditor);
  });

  it('reads everything, also as files', async () => {
    await readsEverything(auditor);
    const database = openDatabase(roles.urlOf(auditor));
    const report = await exportDays(
      { database, clock: systemClock },
      {
        folder: temporaryFolder(),
        contents: recordContents(database, STREAMS, UNREACHED_RECORDS),
        format: 'ndjson',
        ...DAYS,
        checkFiles: false,
      },
      signal,
    );
    expect(report).toMatchObject({ written: 4, incomplete: [] });
  });

  it('serves the archive', async () => {
    const { total } = await serveStored({ ...server, url: roles.urlOf(auditor) });
    // Of days before the first of the stream.
    expect(await total('length=1')).toMatchObject({ status: 409 });
    const { ask } = await serveStored({ ...server, url: roles.urlOf(auditor) });
    const window = `fromDate=${DAYS.from}%2000%3A00%3A00&toDate=${DAYS.to}%2023%3A59%3A59`;
    expect(await ask(`start=0&length=1&${window}`)).toMatchObject({ status: 200 });
  });

  it('writes nothing', async () => {
    const pool = openPool(roles.urlOf(auditor), 1);
    try {
      const tables = await server.query<{ name: string }>(
        `select format('daywalk.%I', relname) as name from pg_class
          where relnamespace = 'daywalk'::regnamespace and relkind in ('r', 'p')`,
      );
      for (const { name } of tables)
        for (const statement of [`delete from ${name}`, `insert into ${name} default values`])
          expect([statement, await codeOf(pool.query(statement))]).toEqual([statement, DENIED]);
      expect(await codeOf(pool.query(`select daywalk.ensure_partition('2026-05-01')`))).toBe(
        DENIED,
      );
    } finally {
      await pool.end();
    }
  });
});

describe('what a role was given before', () => {
  it('is taken back by what it is given now', async () => {
    const role = await roles.newRole('changed');
    await roles.give('let_move', role);
    const may = async () => {
      const [row] = await server.query<{ removes: boolean; empties: boolean; writes: boolean }>(
        `select has_table_privilege($1, 'daywalk.pages', 'delete') as removes,
                has_function_privilege($1, 'daywalk.empty_month(date)', 'execute') as empties,
                has_table_privilege($1, 'daywalk.pages', 'insert') as writes`,
        [role],
      );
      return row;
    };
    expect(await may()).toEqual({ removes: true, empties: true, writes: true });
    await roles.give('let_work', role);
    expect(await may()).toEqual({ removes: false, empties: false, writes: true });
    await roles.give('let_read', role);
    expect(await may()).toEqual({ removes: false, empties: false, writes: false });
  });

  it('is not taken from the owner', async () => {
    await expect(server.query('select daywalk.let_work(current_user)')).rejects.toThrow(
      /has the rights of the owner of daywalk and needs no others/,
    );
  });
});

describe('a worker that moves days', () => {
  it('moves them, and brings them back', async () => {
    const mover = await roles.newRole('mover');
    await roles.give('let_move', mover);
    await endLooks(server);
    const parts = partsOf(openDatabase(roles.urlOf(mover)), new MemoryStore());
    const moved = await moveAll(parts, STREAMS, Object.values(DAYS));
    expect(moved).toMatchObject({ kept: [], emptied: ['2026-03'] });
    expect(moved.days).toHaveLength(4);
    const days = await listMovedDays(parts.database, STREAMS, null);
    expect(await checkTieredDays(parts, days)).toMatchObject({ days: 4, findings: [] });
    expect((await restoreDays(parts, days, 7)).kept).toEqual([]);
    await expectExact({ api: roles.api, database: server }, DAYS);
  }, 240_000);
});

describe('the reader', () => {
  const relations = (kinds: string) =>
    server.query<{ name: string }>(
      `select format('daywalk.%I', relname) as name from pg_class
        where relnamespace = 'daywalk'::regnamespace and relkind = any ($1::text[]) order by 1`,
      [[...kinds]],
    );

  it('selects from every view', async () => {
    const views = await relations('v');
    expect(views.length).toBeGreaterThan(5);
    for (const { name } of views)
      expect([name, await codeOf(reader.query(`select * from ${name}`))]).toEqual([name, 'done']);
    const [row] = (await reader.query('select count(*)::int as records from daywalk.events')).rows;
    expect(row.records).toBeGreaterThan(100);
  });

  it('searches, and asks whether days are proven, though it may not read what these read', async () => {
    const days = `'${DAYS.from}', '${DAYS.to}'`;
    const [found] = (
      await reader.query(
        `select count(*)::int as hits from daywalk.search((select record ->> 'id' from daywalk.events limit 1), ${days})
          where daywalk.require_complete('events', ${days})`,
      )
    ).rows;
    expect(found.hits).toBeGreaterThan(0);
    expect(await codeOf(reader.query('select * from daywalk.page_filters'))).toBe(DENIED);
    expect(await codeOf(reader.query(`select daywalk.make_filters(1, '${DAYS.from}', 1)`))).toBe(
      DENIED,
    );
  });

  it('reads and writes no table, partitions among them', async () => {
    const tables = await relations('rp');
    expect(tables.map(({ name }) => name)).toContain('daywalk.pages_2026_03');
    for (const { name } of tables)
      for (const statement of [`select from ${name}`, `delete from ${name}`, `truncate ${name}`])
        expect([statement, await codeOf(reader.query(statement))]).toEqual([statement, DENIED]);
  });

  it('calls no function that writes', async () => {
    const functions = await server.query<{ name: string }>(
      `select p.oid::regprocedure::text as name from pg_proc p
        where p.pronamespace = 'daywalk'::regnamespace and p.provolatile = 'v'
          and has_function_privilege($1, p.oid, 'execute')`,
      [reading],
    );
    expect(functions).toEqual([]);
    expect(await codeOf(reader.query(`select daywalk.ensure_partition('2099-01-01')`))).toBe(
      DENIED,
    );
    expect(await codeOf(reader.query('create table daywalk.mine (a int)'))).toBe(DENIED);
  });
});

it('somebody without a role here sees nothing', async () => {
  const pool = openPool(roles.urlOf(await roles.newRole('nobody')), 1);
  try {
    expect(await codeOf(pool.query('select * from daywalk.events'))).toBe(DENIED);
    expect(await codeOf(pool.query(`select daywalk.ensure_partition('2099-01-01')`))).toBe(DENIED);
  } finally {
    await pool.end();
  }
});
