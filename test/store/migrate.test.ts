/** Migrations: by any number of processes at once, all or nothing, and never of a database that is newer than the code. */
import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { migrate, newerDatabase, readSchemaState } from '../../src/store/migrations.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { dumpSchema } from '../support/schema-dump.ts';

let empty: TestDatabase;

beforeEach(async () => {
  empty = await createEmptyDatabase();
});

const applied = async (database: TestDatabase) =>
  (await database.query<{ name: string }>('select name from daywalk.migrations order by id')).map(
    ({ name }) => name,
  );
const schemas = (database: TestDatabase) =>
  database.query(`select from pg_namespace where nspname = 'daywalk'`);

describe('an empty database', () => {
  it('has all migrations pending, in order, and none after they were applied', async () => {
    const { pending, newer } = await readSchemaState(empty.url);
    expect(pending.slice(0, 2)).toEqual(['0001_tables', '0002_storing']);
    expect([...pending].sort()).toEqual(pending);
    expect(newer).toEqual([]);
    expect(await schemas(empty)).toEqual([]);
    expect(await migrate(empty.url)).toEqual(pending);
    expect(await readSchemaState(empty.url)).toMatchObject({ pending: [], newer: [] });
    expect(await migrate(empty.url)).toEqual([]);
    expect(await applied(empty)).toEqual(pending);
    expect(await dumpSchema(empty)).toBe(await dumpSchema(await createTestDatabase()));
  });

  it('is migrated once by five clients at once (D26)', async () => {
    const { pending } = await readSchemaState(empty.url);
    const results = await Promise.all(Array.from({ length: 5 }, () => migrate(empty.url)));
    expect(await applied(empty)).toEqual(pending);
    expect(results.flat()).toEqual(pending);
  });
});

describe('an empty database of another encoding', () => {
  it.each(['LATIN1', 'SQL_ASCII'])('%s is refused, with how to make one', async (encoding) => {
    const name = `${empty.name}_${encoding.toLowerCase()}`;
    await empty.query(
      `create database ${name} encoding '${encoding}' locale 'C' template template0`,
    );
    const { href } = Object.assign(new URL(empty.url), { pathname: `/${name}` });
    try {
      for (const look of [readSchemaState, migrate])
        await expect(look(href)).rejects.toMatchObject({
          message: `the encoding of the database is ${encoding}, and daywalk needs UTF8`,
          hint: expect.stringContaining(`encoding 'UTF8' template template0`),
        });
    } finally {
      await empty.query(`drop database ${name}`);
    }
  });
});

describe('a database that is newer than the code', () => {
  it('is refused, by name, and nothing is changed', async () => {
    const server = await createTestDatabase();
    await server.query(
      `insert into daywalk.migrations (name, run_on) values ('9999_future', now())`,
    );
    const before = await dumpSchema(server);
    const state = await readSchemaState(server.url);
    expect(state).toMatchObject({ newer: ['9999_future'], pending: [] });
    const error = await migrate(server.url).catch((caught: unknown) => caught);
    // Nothing was pending, so it is the caller that refuses, in the same words.
    expect(newerDatabase(state)).toBeInstanceOf(SettingsError);
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as SettingsError).message).toContain('9999_future');
    expect(await dumpSchema(server)).toBe(before);
  });

  it('is refused also where something is pending as well', async () => {
    const server = await createTestDatabase();
    await server.query(
      `insert into daywalk.migrations (name, run_on) values ('9999_future', now())`,
    );
    const names = await applied(server);
    await server.query('delete from daywalk.migrations where name = $1', [names.at(-2)]);
    await expect(migrate(server.url)).rejects.toThrow(SettingsError);
    expect((await applied(server)).length).toBe(names.length - 1);
  });
});

describe('a newer daywalk that migrates at the same time', () => {
  it('is found when the lock is had: the older one goes no further', async () => {
    const server = await createTestDatabase();
    const [last = ''] = (await applied(server)).reverse();
    await server.query('delete from daywalk.migrations where name = $1', [last]);
    const newer = new pg.Client({ connectionString: server.url });
    await newer.connect();
    await newer.query('begin');
    await newer.query('select pg_advisory_xact_lock($1)', [0x6461_7977]);
    const migrating = migrate(server.url).catch((caught: unknown) => caught);
    const waiting = `select from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`;
    await expect.poll(() => server.query(waiting)).toHaveLength(1);
    await newer.query(
      `insert into daywalk.migrations (name, run_on) values ($1, now()), ('9999_future', now())`,
      [last],
    );
    await newer.query('commit');
    await newer.end();
    const error = await migrating;
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as SettingsError).message).toContain('9999_future');
  });
});

describe('a database of a version before 0.1.0', () => {
  it('is refused, with what to do, and nothing is changed', async () => {
    await empty.query('create schema daywalk');
    await empty.query('create table daywalk.migrations (id int, name text, run_on timestamptz)');
    await empty.query(
      `insert into daywalk.migrations values (1, '0001_core', now()), (2, '0002_storing', now())`,
    );
    const before = await dumpSchema(empty);
    await expect(migrate(empty.url)).rejects.toMatchObject({
      message:
        'the database was made by a daywalk before 0.1.0, and its tables cannot be taken over',
      hint: expect.stringContaining('export anew'),
    });
    expect(await dumpSchema(empty)).toBe(before);
  });
});

describe('a database that lacks a migration before its last one', () => {
  it('is refused, by name, and nothing is changed', async () => {
    const server = await createTestDatabase();
    const names = await applied(server);
    await server.query('delete from daywalk.migrations where name = $1', [names.at(-2)]);
    const before = await dumpSchema(server);
    const error = await migrate(server.url).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as SettingsError).message).toContain(names.at(-2));
    expect(await dumpSchema(server)).toBe(before);
  });
});

describe('a migration that fails', () => {
  it('leaves nothing, not even the schema, and works once the reason is gone', async () => {
    // The event trigger refuses the first view: all tables are made by then.
    await empty.query(
      `create function public.refuse() returns event_trigger language plpgsql as $$
       begin if tg_tag = 'CREATE VIEW' then raise exception 'no views today'; end if; end $$`,
    );
    await empty.query(
      `create event trigger refuse_views on ddl_command_start execute function public.refuse()`,
    );
    await expect(migrate(empty.url)).rejects.toThrow(/no views today/);
    expect(await schemas(empty)).toEqual([]);
    await empty.query('drop event trigger refuse_views');
    expect((await migrate(empty.url)).length).toBeGreaterThan(1);
  });

  it('does not keep the lock: the next process waits for nobody', async () => {
    await empty.query('create schema daywalk');
    await empty.query('create table daywalk.walks (walk_id int)');
    await expect(migrate(empty.url)).rejects.toThrow();
    await empty.query('drop schema daywalk cascade');
    expect((await migrate(empty.url)).length).toBeGreaterThan(1);
  });
});

describe('an owner of the schema', () => {
  it('makes the tables in it, and needs no right to make schemas in the database', async () => {
    const server = await createEmptyDatabase();
    const role = `owner_${server.name}`;
    await server.query(`create role ${role} login password 'pw'`);
    await server.query(`create schema daywalk authorization ${role}`);
    const { href } = Object.assign(new URL(server.url), { username: role, password: 'pw' });
    try {
      expect((await migrate(href)).length).toBeGreaterThan(1);
      expect(await readSchemaState(href)).toMatchObject({ pending: [] });
    } finally {
      await server.drop();
      await empty.query(`drop role ${role}`);
    }
  });
});

describe('the role of a worker', () => {
  it('needs no right to create tables: partitions are made by the owner of the schema', async () => {
    const server = await createTestDatabase();
    const role = `worker_${server.name}`;
    await server.query(`create role ${role} login password 'pw'`);
    await server.query(`select daywalk.let_work('${role}')`);
    const client = new pg.Client({
      connectionString: Object.assign(new URL(server.url), { username: role, password: 'pw' }).href,
    });
    await client.connect();
    try {
      await client.query(`select daywalk.ensure_partition('2019-05-01')`);
      expect(
        (await client.query(`select from pg_class where relname = 'pages_2019_05'`)).rowCount,
      ).toBe(1);
      await expect(client.query('create table daywalk.mine ()')).rejects.toThrow(
        /permission denied/,
      );
    } finally {
      await client.end();
      await server.drop();
      await empty.query(`drop role ${role}`);
    }
  });
});
