/** Databases for tests: each test gets its own, cloned from the migrated template; that of a failed test is kept. */
import type pg from 'pg';
import { afterAll, afterEach, expect, inject } from 'vitest';
import { inEveryFile } from './hooks.ts';
import { openPool, rowsFrom } from './pool.ts';

/** A database for one test. It is dropped after the test file, or kept, with its URL printed, if a test failed. */
export interface TestDatabase {
  readonly name: string;
  /** For the program; through PgBouncer where the suite runs with one. */
  readonly url: string;
  /** For the test; always direct. */
  readonly pool: pg.Pool;
  /** The rows of one statement. */
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    statement: string,
    values?: readonly unknown[],
  ): Promise<Row[]>;
  /** Drops the database before the end of the file. Not for clean-up: that would lose the database of a failed test. */
  drop(): Promise<void>;
}

interface Open {
  readonly database: TestDatabase;
  /** The test that made it; undefined: a hook, so that it may matter to every test. */
  readonly test: string | undefined;
  kept: boolean;
}

const open = new Set<Open>();
let made = 0;
/** Makes and drops the databases of this file, one after the other. */
let admin: pg.Pool | undefined;

/** A database with the current schema in it. */
export function createTestDatabase(): Promise<TestDatabase> {
  const { problem, template } = server();
  if (problem) throw new Error(problem);
  return create(template);
}

/** A database with nothing in it. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('template0');
}

/** A copy of a database that nobody is connected to. */
export function copyOf(database: TestDatabase): Promise<TestDatabase> {
  return create(database.name);
}

/** The server that the tests use; for what no single database can show. */
export function server() {
  const found = inject('testServer');
  if (found.adminUrl === '') throw new Error(found.problem);
  return found;
}

/**
 * The URL by which the process of a test itself reaches a database: by the server's socket where it can, which costs both of them
 * half of what a statement does over loopback. What stands between them, or logs in as somebody else, stays as it is.
 */
export function bySocket(url: string): string {
  // Several hosts, which `URL` does not read.
  if (!URL.canParse(url)) return url;
  const { adminUrl, socket } = server();
  const [given, admin] = [new URL(url), new URL(adminUrl)];
  if (socket === undefined || given.host !== admin.host || given.username !== admin.username)
    return url;
  given.searchParams.set('host', socket);
  return given.href;
}

async function create(template: string): Promise<TestDatabase> {
  const { adminUrl, cloning, prefix } = server();
  made += 1;
  const name = `${prefix}_${process.pid}_${made}`;
  await asAdmin(`create database ${name} template ${template} ${cloning}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const pool = openPool(bySocket(url.href), 5);
  const port = inject('pgbouncerPort');
  if (port !== undefined) [url.hostname, url.port] = ['127.0.0.1', String(port)];
  const entry: Open = {
    kept: false,
    test: expect.getState().currentTestName,
    database: {
      name,
      url: url.href,
      pool,
      query: rowsFrom(pool),
      async drop() {
        if (!open.delete(entry)) return;
        await pool.end();
        await asAdmin(`drop database if exists ${name} with (force)`);
      },
    },
  };
  open.add(entry);
  return entry.database;
}

async function asAdmin(statement: string): Promise<void> {
  admin ??= openPool(server().adminUrl, 1, { idleTimeoutMillis: 0 });
  await admin.query(statement);
}

inEveryFile(() => {
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return;
    const { currentTestName } = expect.getState();
    for (const entry of open) {
      if (entry.kept || (entry.test !== undefined && entry.test !== currentTestName)) continue;
      console.error(`"${task.name}" failed; its database is kept: ${entry.database.url}`);
      entry.kept = true;
    }
  });
  afterAll(async () => {
    for (const { kept, database } of [...open])
      await (kept ? database.pool.end() : database.drop());
    open.clear();
    await admin?.end();
    admin = undefined;
  });
});
