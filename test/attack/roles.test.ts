/** The roles of docs/roles.md against what they may not: made from the catalogue, so that what is new is tried too. */
import type pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openPool } from '../support/pool.ts';
import { ARCHIVE_DAY, storeDays } from '../support/served-archive.ts';
import { attack, type Try } from './attacking.ts';

const DENIED = '42501';
/** What a worker takes out again: marks, and what was learned about the API. */
const WORKER_DELETES = [
  'marks',
  'shared_records',
  'learned',
  'contracts',
  'frames',
  'refused_keys',
];
/** What nobody but the owner changes; a worker adds rows to the first three. */
const WORKER_ADDS_ONLY = ['pages', 'seals', 'ledger'];
const WORKER_READS_ONLY = ['prunings', 'tiered_days', 'migrations'];

let server: TestDatabase;
const pools = new Map<string, pg.Pool>();

beforeAll(async () => {
  server = await createTestDatabase();
  for (const what of ['worker', 'reader', 'nobody']) {
    const role = roleOf(what);
    await server.query(`create role ${role} login password 'of-the-test'`);
    const url = new URL(server.url);
    [url.username, url.password] = [role, 'of-the-test'];
    pools.set(what, openPool(url.href, 1));
  }
  await server.query(`select daywalk.let_work('${roleOf('worker')}')`);
  await server.query(`select daywalk.let_read('${roleOf('reader')}')`);
});
afterAll(async () => {
  for (const [what, pool] of pools) {
    await pool.end();
    await server.query(`drop owned by ${roleOf(what)}`);
    await server.query(`drop role ${roleOf(what)}`);
  }
});

const roleOf = (what: string): string => `${server.name}_${what}`;

/** What no transaction may hold. */
const ALONE = /^(?:alter system|create (?:subscription|tablespace)) /;

/** The statement is refused for want of a right, and takes nothing with it. */
const denied = (who: string, statement: string): Try => ({
  name: `${who}: ${statement}`,
  run: async () => {
    const client = await pools.get(who)?.connect();
    try {
      if (!ALONE.test(statement)) await client?.query('begin');
      const code = await client?.query(statement).then(
        () => 'done',
        (error: { code?: string }) => error.code,
      );
      expect(code).toBe(DENIED);
    } finally {
      await client?.query('rollback');
      client?.release();
    }
  },
});

const names = async (kinds: string): Promise<string[]> =>
  (
    await server.query<{ name: string }>(
      `select relname as name from pg_class
        where relnamespace = 'daywalk'::regnamespace and relkind = any ($1::text[]) order by 1`,
      [[...kinds]],
    )
  ).map(({ name }) => name);

/** Statements that change a table in its shape or take all of it. */
const shaping = (table: string): string[] => [
  `truncate daywalk.${table}`,
  `drop table daywalk.${table} cascade`,
  `alter table daywalk.${table} add column more text`,
  `alter table daywalk.${table} owner to current_user`,
  `alter table daywalk.${table} disable trigger all`,
  `alter table daywalk.${table} enable row level security`,
  `create trigger mine before insert on daywalk.${table} execute function pg_catalog.suppress_redundant_updates_trigger()`,
  `create rule mine as on insert to daywalk.${table} do instead nothing`,
  `create index mine on daywalk.${table} ((1))`,
  `create policy mine on daywalk.${table}`,
  `comment on table daywalk.${table} is 'mine'`,
  `lock table daywalk.${table} in access exclusive mode`,
];
const firstColumn = async (table: string): Promise<string> =>
  (
    await server.query<{ name: string }>(
      `select attname as name from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and attgenerated = '' and attidentity = '' limit 1`,
      [`daywalk.${table}`],
    )
  )[0]?.name ?? '';

attack(
  'statements of the roles against tables that they may not change or read',
  async () => {
    await storeDays(server, { [ARCHIVE_DAY]: [[{ id: 1 }]] });
    const tries: Try[] = [];
    for (const table of await names('rp')) {
      const partition = /^pages_/.test(table);
      const column = await firstColumn(table);
      const select = `select from daywalk.${table}`;
      const remove = `delete from daywalk.${table}`;
      const update = `update daywalk.${table} set ${column} = ${column}`;
      const insert = `insert into daywalk.${table} default values`;
      const copy = `copy daywalk.${table} to stdout`;
      for (const who of ['reader', 'nobody'])
        for (const statement of [select, remove, update, insert, copy, ...shaping(table)])
          tries.push(denied(who, statement));
      // Exclusive locks need what update needs.
      const [lock, ...shapes] = shaping(table).reverse();
      const worker = [...shapes];
      if (partition) worker.push(select, remove, update, insert, String(lock));
      if (!WORKER_DELETES.includes(table)) worker.push(remove);
      if ([...WORKER_ADDS_ONLY, ...WORKER_READS_ONLY].includes(table)) worker.push(update);
      if (WORKER_READS_ONLY.includes(table)) worker.push(insert);
      tries.push(...worker.map((statement) => denied('worker', statement)));
    }
    for (const view of await names('v')) {
      tries.push(denied('nobody', `select from daywalk.${view}`));
      for (const who of ['worker', 'reader', 'nobody'])
        tries.push(
          denied(who, `drop view daywalk.${view} cascade`),
          denied(who, `create or replace view daywalk.${view} as select 1`),
          denied(who, `alter view daywalk.${view} set (security_invoker = true)`),
        );
    }
    return tries;
  },
  40,
);

attack(
  'functions that write, called and changed by roles that may not',
  async () => {
    const functions = await server.query<{
      name: string;
      call: string;
      kind: string;
      mine: boolean;
    }>(
      `select format('daywalk.%I(%s)', p.proname, oidvectortypes(p.proargtypes)) as name, p.provolatile as kind, has_function_privilege($1, p.oid, 'execute') as mine,
            format('select daywalk.%I(%s)', p.proname,
                   (select string_agg(format('null::%s', format_type(t, null)), ', ' order by n)
                      from unnest(p.proargtypes) with ordinality as a(t, n))) as call
       from pg_proc p where p.pronamespace = 'daywalk'::regnamespace and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
      order by 1`,
      [roleOf('worker')],
    );
    expect(functions.filter(({ mine }) => !mine).length).toBeGreaterThan(1);
    // The owner's search path finds them; that of the roles does not.
    const rows = (await names('rp')).join('|');
    const named = (text: string) =>
      text.replace(new RegExp(`(?<=[(: ])(?:${rows})(?=[,)[])`, 'g'), 'daywalk.$&');
    const spelled = functions.map((one) => ({
      ...one,
      name: named(one.name),
      call: named(one.call),
    }));
    return spelled.flatMap(({ name, call, kind, mine }) => [
      ...(kind === 'v' ? [denied('reader', call)] : []),
      denied('nobody', call),
      ...(mine ? [] : [denied('worker', call)]),
      ...['worker', 'reader', 'nobody'].flatMap((who) => [
        denied(who, `drop function ${name} cascade`),
        denied(who, `alter function ${name} security definer`),
        denied(who, `alter function ${name} reset search_path`),
      ]),
    ]);
  },
  40,
);

attack(
  'statements of the roles against the server',
  async () => {
    const owner = decodeURIComponent(new URL(server.url).username);
    const statements = [
      'create table daywalk.mine (a int)',
      `create function daywalk.mine() returns int language sql as 'select 1'`,
      'create view daywalk.mine as select 1',
      'create type daywalk.mine as enum ()',
      'create sequence daywalk.mine',
      'create schema mine',
      'drop schema daywalk cascade',
      'alter schema daywalk rename to mine',
      `alter database ${server.name} set search_path = mine`,
      `comment on database ${server.name} is 'mine'`,
      'create role mine superuser',
      'create role mine',
      `alter role ${owner} password 'mine'`,
      `alter role ${owner} set search_path = mine`,
      'alter role current_user superuser',
      'alter role current_user bypassrls',
      `grant ${owner} to current_user`,
      'grant pg_execute_server_program to current_user',
      `set role ${owner}`,
      `set session authorization ${owner}`,
      'set session_replication_role = replica',
      `set log_statement = 'none'`,
      `alter system set log_statement = 'none'`,
      'create extension file_fdw',
      'create foreign data wrapper mine',
      'create event trigger mine on ddl_command_start execute function pg_catalog.suppress_redundant_updates_trigger()',
      'create publication mine for all tables',
      `create subscription mine connection '' publication mine`,
      `create tablespace mine location '/nowhere'`,
      'create language mine handler pg_catalog.plpgsql_call_handler',
      `create function pg_catalog.mine() returns int language sql as 'select 1'`,
      `copy (select 1) to program 'true'`,
      `copy (select 1) to '/nowhere/file'`,
      `create temp table a (b text); copy a from '/etc/passwd'`,
      `create temp table a (b text); copy a from program 'true'`,
      `select pg_read_file('postgresql.conf')`,
      `select pg_read_binary_file('postgresql.conf')`,
      `select pg_ls_dir('.')`,
      `select pg_stat_file('postgresql.conf')`,
      `select lo_import('/etc/passwd')`,
      `select lo_export(1, '/nowhere/file')`,
      'select pg_reload_conf()',
      'select pg_rotate_logfile()',
      'select pg_switch_wal()',
      `select pg_create_restore_point('mine')`,
      'select rolpassword from pg_authid',
      'select passwd from pg_shadow',
      'select subconninfo from pg_subscription',
      'checkpoint',
      `do language plpgsql $$ begin execute 'drop table daywalk.pages'; end $$`,
    ];
    return ['worker', 'reader', 'nobody'].flatMap((who) =>
      statements.map((statement) => denied(who, statement)),
    );
  },
  20,
);
