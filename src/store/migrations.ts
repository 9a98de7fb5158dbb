/** Brings the schema up, under a lock; refuses a database that is newer than the code. */
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { SettingsError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { withClient } from './connection/one-client.ts';

const FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url));
const NAME = /^\d{4}_[a-z_]+\.sql$/;
/** Any number that nothing else in the database uses as an advisory lock. */
const LOCK = 0x6461_7977;

/** How long looking at the schema may take. */
const LONGEST_LOOK_MS = 10_000;

/** How the database's schema stands against the code. */
export interface SchemaState {
  /** Migrations that the database has and the code does not: it is newer. */
  readonly newer: readonly string[];
  /** Migrations that the code has and the database does not, in order. */
  readonly pending: readonly string[];
  /** The database has had no migration at all. */
  readonly empty: boolean;
}

/**
 * Compares the migrations that a database has had with those of the code.
 * @param limitMs how long a silent database is waited for, to connect and to answer.
 */
export async function readSchemaState(
  url: string,
  limitMs = LONGEST_LOOK_MS,
): Promise<SchemaState> {
  const limit = Math.min(limitMs, LONGEST_LOOK_MS);
  return withClient(url, (client) => compare(client), {
    connectionTimeoutMillis: limit,
    query_timeout: limit,
  });
}

/**
 * Applies the pending migrations in one transaction, under an advisory lock that ends with it, so that any number of
 * processes may try at once and a transaction-pooling proxy may stand between.
 * @returns the names of the migrations that were applied.
 * @throws {SettingsError} when the database is newer than the code.
 */
export async function migrate(
  url: string,
  log?: Pick<Logger, 'debug'>,
): Promise<readonly string[]> {
  return withClient(url, async (client) => {
    if ((await settled(client)).pending.length === 0) return [];
    // Loaded here because a run with nothing to migrate should not pay for it.
    const { runner } = await import('node-pg-migrate');
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    // The runner's own BEGIN finds the transaction open, and its COMMIT ends it and the lock.
    const applied = await runner({
      dbClient: client,
      dir: FOLDER,
      ignorePattern: '(schema\\.sql|\\..*)',
      direction: 'up',
      migrationsTable: 'migrations',
      migrationsSchema: 'daywalk',
      createMigrationsSchema: true,
      singleTransaction: true,
      noLock: true,
      checkOrder: true,
      log: (message: string) => log?.debug(message),
    }).catch((error: unknown) => {
      // Node-pg-migrate's own complaint: what is pending has to come before what was applied.
      if (!(error instanceof Error) || !/preceding/.test(error.message)) throw error;
      throw new SettingsError(`the migrations of this database do not fit: ${error.message}`, {
        hint: 'Another build of daywalk made it, or rows of daywalk.migrations were removed: use that build, or a backup; nothing was changed.',
        cause: error,
      });
    });
    await client.query('commit');
    const { pending } = await settled(client);
    if (pending.length > 0)
      throw new SettingsError(`migrations did not take: ${pending.join(', ')}`, {
        hint: 'Does something else write to daywalk.migrations?',
      });
    return applied.map((migration) => migration.name);
  });
}

async function settled(client: pg.Client): Promise<SchemaState> {
  const state = await compare(client);
  if (state.newer.length > 0) throw newerDatabase(state);
  return state;
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
      hint: '`daywalk migrate` brings it up, as `run` and `worker` do by themselves; nothing was changed.',
    },
  );
}

async function compare(client: pg.Client): Promise<SchemaState> {
  const names = await namesOfCode();
  const had = await client.query<{ present: boolean }>(
    `select to_regclass('daywalk.migrations') is not null as present`,
  );
  const { rows } = had.rows[0]?.present
    ? await client.query<{ name: string }>('select name from daywalk.migrations order by id')
    : { rows: [] };
  const done = rows.map(({ name }) => name);
  return {
    newer: done.filter((name) => !names.includes(name)),
    pending: names.filter((name) => !done.includes(name)),
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
