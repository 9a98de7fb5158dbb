/** The database in the embedded Postgres: made on the first start, and proof on later ones that the server is ours. */
import pg from 'pg';
import { SettingsError } from '../../errors.ts';
import { DATABASE_USER } from './cluster.ts';
import { OWN_DATABASE_HINT, reasonOf } from './folder.ts';

/** The name of the database. */
const DATABASE = 'daywalk';

/** The URL under which the embedded Postgres is reached; it holds the password. */
export function databaseUrl(port: number, password: string, database = DATABASE): string {
  return `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/${database}`;
}

/**
 * Makes the database where it is missing.
 * @throws SettingsError if the server on `port` does not take our password.
 */
export async function ensureDatabase(port: number, password: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl(port, password, 'postgres'),
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const there = await client.query('select from pg_catalog.pg_database where datname = $1', [
      DATABASE,
    ]);
    if (there.rowCount === 0) await client.query(`create database ${DATABASE}`);
    if (await hasLz4(client)) await preferLz4(client);
  } catch (cause) {
    throw new SettingsError(`the embedded Postgres does not let us in: ${reasonOf(cause)}`, {
      hint: OWN_DATABASE_HINT,
      cause,
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Not all builds have lz4: those for Linux have none. */
async function hasLz4(client: pg.Client): Promise<boolean> {
  const found = await client.query(
    `select from pg_catalog.pg_settings
      where name = 'default_toast_compression' and 'lz4' = any (enumvals)`,
  );
  return found.rowCount === 1;
}

async function preferLz4(client: pg.Client): Promise<void> {
  await client.query(`alter database ${DATABASE} set default_toast_compression = 'lz4'`);
  await client.query(`alter database ${DATABASE} set wal_compression = 'lz4'`);
}
