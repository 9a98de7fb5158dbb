/** Brings the schema up, under a lock; refuses a database that is newer than the code. */
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ClientBase } from 'pg';
import { systemClock } from '../clock.ts';
import { SettingsError } from '../errors.ts';
import { type Logger, silentLogger } from '../log.ts';
import { CREATE_DATABASE } from './connection/sqlstate.ts';
import { Database } from './database.ts';

const FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url));
const NAME = /^\d{4}_[a-z_]+\.sql$/;
/** Any number that nothing else in the database uses as an advisory lock. */
const LOCK = 0x6461_7977;

/** How long looking at the schema, and connecting, may take. */
const LONGEST_LOOK_MS = 10_000;

/** How the database's schema stands against the code. */
export type SchemaState = Awaited<ReturnType<typeof compare>>;

/**
 * Compares the migrations that a database has had with those of the code.
 * @param limitMs how long a silent database is waited for, to connect and to answer.
 */
export const readSchemaState = (url: string, limitMs = LONGEST_LOOK_MS): Promise<SchemaState> =>
  withDatabase(url, Math.min(limitMs, LONGEST_LOOK_MS), silentLogger, compare);

/**
 * Applies the pending migrations in one transaction, under an advisory lock that ends with it, so that any number of
 * processes may try at once and a transaction-pooling proxy may stand between.
 * @returns the names of the migrations that were applied.
 * @throws {SettingsError} when the database is newer than the code.
 */
export function migrate(url: string, log: Logger = silentLogger): Promise<readonly string[]> {
  return withDatabase(url, LONGEST_LOOK_MS, log, async (database) => {
    if ((await settled(database)).pending.length === 0) return [];
    const applied = await database.withClient((client) => apply(client, log));
    // A newer daywalk may have had the lock before.
    await settled(database);
    return applied;
  });
}

/** How the schema stands, which is not newer. */
async function settled(database: Database): Promise<SchemaState> {
  const state = await compare(database);
  if (state.newer.length > 0) throw newerDatabase(state);
  return state;
}

async function apply(client: ClientBase, log: Logger): Promise<readonly string[]> {
  // Loaded here because a run with nothing to migrate should not pay for it.
  const { runner } = await import('node-pg-migrate');
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
  // To make one that is there takes the right to make any.
  const { rows } = await client.query(`select from pg_namespace where nspname = 'daywalk'`);
  // The runner's own BEGIN finds the transaction open, and its COMMIT ends it and the lock.
  const applied = await runner({
    dbClient: client,
    dir: FOLDER,
    ignorePattern: '(schema\\.sql|\\..*)',
    direction: 'up',
    migrationsTable: 'migrations',
    migrationsSchema: 'daywalk',
    createMigrationsSchema: rows.length === 0,
    singleTransaction: true,
    noLock: true,
    checkOrder: true,
    log: (message: string) => log.debug(message),
  }).catch((error: unknown) => {
    // Node-pg-migrate's own complaint: what is pending has to come before what was applied.
    if (!(error instanceof Error) || !/preceding/.test(error.message)) throw error;
    throw new SettingsError(`the migrations of this database do not fit: ${error.message}`, {
      hint: 'Another build of daywalk made it, or rows of daywalk.migrations were removed: use that build, or a backup; nothing was changed.',
      cause: error,
    });
  });
  await client.query('commit');
  return applied.map((migration) => migration.name);
}

/** Opens a database for one piece of work. */
async function withDatabase<T>(
  url: string,
  statementTimeoutMs: number,
  log: Logger,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const limits = { connections: 1, statementTimeoutMs, patienceMs: 0 };
  const database = new Database({ url, ...limits, clock: systemClock, log });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** The first migration of databases that were made before 0.1.0, with another schema that nothing converts. */
const BEFORE_RELEASE = '0001_core';

/** The error for a database that has migrations that the code does not. */
export function newerDatabase({ newer }: SchemaState): SettingsError {
  if (newer.includes(BEFORE_RELEASE))
    return new SettingsError(
      'the database was made by a daywalk before 0.1.0, and its tables cannot be taken over',
      {
        hint: 'Name another database in DATABASE_URL (or drop the schema daywalk), and export anew; nothing was changed.',
      },
    );
  return new SettingsError(
    `the database is newer than this daywalk: it has the migrations ${newer.join(', ')}`,
    { hint: 'Install the daywalk version that migrated it, or a later one; nothing was changed.' },
  );
}

/** The database lacks migrations, and a verb that only looks makes none. */
export class OlderDatabaseError extends SettingsError {}

/** The error for a database that lacks migrations. */
export function olderDatabase({ pending, empty }: SchemaState): OlderDatabaseError {
  if (empty)
    return new OlderDatabaseError('the database has no tables of daywalk yet', {
      hint: 'Is it the right one? Then `daywalk run` makes them and exports what is due.',
    });
  return new OlderDatabaseError(
    `the database is older than this daywalk: it lacks ${pending.join(', ')}`,
    {
      hint: '`daywalk migrate` brings it up to date, as `run` and `worker` do by themselves; nothing was changed.',
    },
  );
}

/** The error for an empty database that could not hold the events: those of another encoding lack most characters. */
const wrongEncoding = (encoding: string) =>
  new SettingsError(`the encoding of the database is ${encoding}, and daywalk needs UTF8`, {
    hint: `Make another one, and name it in DATABASE_URL: ${CREATE_DATABASE}`,
  });

async function compare(database: Database) {
  const names = await namesOfCode();
  const [had] = await database.query<{ present: boolean; encoding: string }>(
    `select to_regclass('daywalk.migrations') is not null as present, current_setting('server_encoding') as encoding`,
  );
  const rows = had?.present
    ? await database.query<{ name: string }>('select name from daywalk.migrations order by id')
    : [];
  const done = rows.map(({ name }) => name);
  if (done.length === 0 && had && had.encoding !== 'UTF8') throw wrongEncoding(had.encoding);
  return {
    /** Migrations that the database has and the code does not: it is newer. */
    newer: done.filter((name) => !names.includes(name)),
    /** Migrations that the code has and the database does not, in order. */
    pending: names.filter((name) => !done.includes(name)),
    /** The database has had no migration at all. */
    empty: done.length === 0,
  };
}

async function namesOfCode(): Promise<string[]> {
  const files = await readdir(FOLDER).catch((error: NodeJS.ErrnoException) => {
    throw new SettingsError(`the migrations of this installation cannot be read (${error.code})`, {
      hint: 'Install daywalk again: its folder migrations is missing or closed.',
      cause: error,
    });
  });
  const known = files.filter((name) => NAME.test(name)).sort();
  return known.map((name) => name.replace(/\.sql$/, ''));
}
