/** The roles of docs/roles.md: the worker runs a whole export and can do no more, the reader sees the views and nothing else. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectExact } from '../support/multiset.ts';
import { API_KEY, runProgram, startProgram, temporaryFolder } from '../support/program.ts';
import { endLooks } from '../support/publishing.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const DENIED = '42501';
const ARCHIVE_KEY = 'of-the-archive';

let api: Simulator;
let server: TestDatabase;
let worker: pg.Pool;
let reader: pg.Pool;
const roles: string[] = [];
const page = readFileSync(new URL('../../docs/roles.md', import.meta.url), 'utf8');

/** The database as another role sees it. */
function urlOf(role: string, database = server): string {
  const url = new URL(database.url);
  [url.username, url.password] = [role, 'of-the-test'];
  return url.href;
}

/** The statements of the page that this role is given, with the names of this test. */
async function give(
  name: 'let_work' | 'let_move' | 'let_audit' | 'let_read',
  role: string,
): Promise<void> {
  const statement = page.match(new RegExp(`select daywalk\\.${name}\\('\\w+'\\)`))?.[0];
  if (statement === undefined) throw new Error(`docs/roles.md does not tell ${name}`);
  await server.query(statement.replace(/'\w+'/, `'${role}'`));
}

async function newRole(what: string): Promise<string> {
  const role = `${server.name}_${what}`;
  await server.query(`create role ${role} login password 'of-the-test'`);
  roles.push(role);
  return role;
}

beforeAll(async () => {
  api = await startSimulator({ key: API_KEY, seed: 'roles', eventsPerDay: 120 });
  server = await createTestDatabase();
  const [work, read] = [await newRole('worker'), await newRole('reader')];
  await give('let_work', work);
  await give('let_read', read);
  worker = new pg.Pool({ connectionString: urlOf(work), max: 2 });
  reader = new pg.Pool({ connectionString: urlOf(read), max: 2 });
});

afterAll(async () => {
  await api.close();
  await worker.end();
  await reader.end();
  for (const role of roles) {
    await server.query(`drop owned by ${role}`);
    await server.query(`drop role ${role}`);
  }
});

/** The program as the worker. */
const run = (args: readonly string[], more: Record<string, string> = {}) =>
  runProgram(args, {
    environment: {
      DAYWALK_API_URL: api.url,
      DAYWALK_API_KEY: API_KEY,
      DATABASE_URL: urlOf(roles[0] ?? ''),
      DAYWALK_PAGE_LENGTH: '40',
      ...more,
    },
  });

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

describe('the worker', () => {
  it('exports, walks again, and answers every reading verb', async () => {
    const range = ['--from', DAYS.from, '--to', DAYS.to];
    for (const args of [
      ['doctor'],
      ['backfill', ...range],
      ['backfill', ...range, '--only', 'all'],
      ['status', '--json'],
      ['why', DAYS.from],
      ['verify', ...range],
      ['verify', ...range, '--offline'],
      ['search', 'nothing of this kind', ...range],
    ]) {
      const ended = await run(args);
      expect(ended, `${args.join(' ')}:\n${ended.stdout}${ended.stderr}`).toMatchObject({
        code: 0,
      });
    }
    await expectExact({ api, database: server }, DAYS);
    const settings = join(temporaryFolder(), 'daywalk.yaml');
    writeFileSync(
      settings,
      'streams: {events: {}, severe: {resource: events, filters: {rule_level_from: 7}}}',
    );
    const both = await run(['backfill', ...range], { DAYWALK_CONFIG: settings });
    expect(both, both.stderr).toMatchObject({ code: 0 });
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

  it('says what it needs where the schema is missing: exit code 2', async () => {
    const empty = await createEmptyDatabase();
    const ended = await run(['run'], { DATABASE_URL: urlOf(roles[0] ?? '', empty) });
    expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/permission denied for database .*\(42501\)/);
    expect(ended.stderr).toMatch(/docs\/roles\.md/);
  });
});

describe('the auditor', () => {
  let auditor: string;
  beforeAll(async () => {
    auditor = await newRole('auditor');
    await give('let_audit', auditor);
  });

  it('reads everything, and answers every verb that writes nothing', async () => {
    const range = ['--from', DAYS.from, '--to', DAYS.to];
    for (const args of [
      ['status', '--json'],
      ['why', DAYS.from],
      ['fields'],
      ['search', 'nothing of this kind', ...range],
      ['export', '--out', temporaryFolder(), ...range],
      ['verify', '--offline'],
    ]) {
      const ended = await run(args, { DATABASE_URL: urlOf(auditor) });
      expect(ended, `${args.join(' ')}:\n${ended.stdout}${ended.stderr}`).toMatchObject({
        code: 0,
      });
    }
  }, 240_000);

  it('serves the archive', async () => {
    const program = startProgram(['serve-archive', '--archive-listen', '127.0.0.1:0'], {
      environment: { DATABASE_URL: urlOf(auditor), DAYWALK_ARCHIVE_KEY: ARCHIVE_KEY },
    });
    const [url] = await program.saying(/http:\/\/127\.0\.0\.1:\d+/);
    const window = `fromDate=${DAYS.from}%2000%3A00%3A00&toDate=${DAYS.to}%2023%3A59%3A59`;
    const answer = await fetch(`${url}/api/events?start=0&length=1&${window}`, {
      headers: { 'X-API-Key': ARCHIVE_KEY },
    });
    expect({ status: answer.status, body: await answer.text() }).toMatchObject({ status: 200 });
    program.kill('SIGTERM');
    await program.ended;
  }, 120_000);

  it('writes nothing', async () => {
    const pool = new pg.Pool({ connectionString: urlOf(auditor), max: 1 });
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
    const role = await newRole('changed');
    await give('let_move', role);
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
    await give('let_work', role);
    expect(await may()).toEqual({ removes: false, empties: false, writes: true });
    await give('let_read', role);
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
    const mover = await newRole('mover');
    await give('let_move', mover);
    const environment = {
      DATABASE_URL: urlOf(mover),
      DAYWALK_TIER_URL: temporaryFolder(),
    };
    const range = ['--from', DAYS.from, '--to', DAYS.to];
    await endLooks(server);
    const said = [];
    for (const args of [
      ['tier', '--older-than', '1d'],
      ['verify', '--offline'],
      ['tier', '--restore', ...range],
    ]) {
      const ended = await run(args, environment);
      expect(ended, `${args.join(' ')}:\n${ended.stdout}${ended.stderr}`).toMatchObject({
        code: 0,
      });
      said.push(ended.stdout);
    }
    expect(said[0]).toMatch(/^4 days moved to /m);
    expect(said[1]).toMatch(/^Everything that moved is what moved: 4 days in the tier, /m);
    expect(said[2]).toMatch(/^4 days, .* came back from /m);
    await expectExact({ api, database: server }, DAYS);
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
      [roles[1]],
    );
    expect(functions).toEqual([]);
    expect(await codeOf(reader.query(`select daywalk.ensure_partition('2099-01-01')`))).toBe(
      DENIED,
    );
    expect(await codeOf(reader.query('create table daywalk.mine (a int)'))).toBe(DENIED);
  });
});

it('somebody without a role here sees nothing', async () => {
  const pool = new pg.Pool({ connectionString: urlOf(await newRole('nobody')), max: 1 });
  try {
    expect(await codeOf(pool.query('select * from daywalk.events'))).toBe(DENIED);
    expect(await codeOf(pool.query(`select daywalk.ensure_partition('2099-01-01')`))).toBe(DENIED);
  } finally {
    await pool.end();
  }
});
