/**
 * Connections to the embedded Postgres by which it is known who uses it: each process holds one, and with it a lock that
 * is shared, so that the kernel and Postgres take notice when the process ends, however it ends. The watcher stops the
 * server with that lock held alone, so nobody comes in while it stops.
 */
import pg from 'pg';
import { DATABASE_USER } from './cluster.ts';
import { EmbeddedPostgresError, hasCode, reasonOf } from './errors.ts';
import type { Postmaster } from './postmaster.ts';

/** The database that programs use. */
const DATABASE = 'daywalk';
/** The one that is always there: locks are known in one database only. */
const MEETING_PLACE = 'postgres';

/** The first key of our locks; the second is which of them. */
const LOCKS = 0x6461_7977;
/** Held by all users together, and by the watcher alone while it stops the server. */
export const IN_USE = 1;
/** Held by the watcher. */
export const WATCHED = 2;

/** No time will mend these: who we are is not who may connect. Nobody listens, or not any more, may pass. */
const REFUSED = ['28000', '28P01', 'EACCES'];
/** The database, by another process. */
const ALREADY_MADE = ['42P04', '23505'];

/** The URL of a server; who may connect is what the kernel says, so it holds no password. */
export function databaseUrl({ sockets, port }: Postmaster): string {
  const host = encodeURIComponent(sockets).replaceAll('%2F', '/');
  return `postgresql:///${DATABASE}?host=${host}&port=${port}&user=${DATABASE_USER}`;
}

/** A connection by the socket; the folder was proven to be private before. */
export async function connect({ sockets, port }: Postmaster): Promise<pg.Client> {
  const client = new pg.Client({
    host: sockets,
    port,
    user: DATABASE_USER,
    database: MEETING_PLACE,
    ssl: false,
    // Otherwise that of the environment, which may want TLS for it.
    sslnegotiation: 'postgres',
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
    application_name: 'embedded-postgres',
    // Ours asks for none; otherwise `pg` would look into the environment, and give what it finds there to whoever asks.
    password: () => {
      throw new EmbeddedPostgresError(
        'the embedded Postgres asks for a password: its pg_hba.conf was changed',
      );
    },
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** A use of the server; `watched` tells whether there is someone who stops it in the end. */
export type Use = NonNullable<Awaited<ReturnType<typeof join>>>;

/** Begins to use the server; undefined when it is not there, or not yet, or about to stop. */
export async function join(postmaster: Postmaster) {
  let client: pg.Client | undefined;
  try {
    client = await connect(postmaster);
    if (await isSo(client, 'pg_catalog.pg_try_advisory_lock_shared($1, $2)', [LOCKS, IN_USE])) {
      await ensureDatabase(client);
      return { client, watched: await isWatched(client) };
    }
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    if (hasCode(error, ...REFUSED))
      throw new EmbeddedPostgresError(
        `the embedded Postgres does not let us in: ${reasonOf(error)}`,
        undefined,
        error,
      );
  }
  await client?.end().catch(() => undefined);
  return undefined;
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const isThere = 'exists (select from pg_catalog.pg_database where datname = $1)';
  if (await isSo(client, isThere, [DATABASE])) return;
  await client.query(`create database ${DATABASE}`).catch((error) => {
    if (!hasCode(error, ...ALREADY_MADE)) throw error;
  });
}

/** What Postgres says of a condition. */
async function isSo(client: pg.Client, condition: string, values: unknown[] = []) {
  const { rows } = await client.query<{ so: boolean }>(`select ${condition} as so`, values);
  return rows[0]?.so === true;
}

/** Takes a lock for this connection alone, until it ends; false when another has it. */
export const lockAlone = (client: pg.Client, lock: number): Promise<boolean> =>
  isSo(client, 'pg_catalog.pg_try_advisory_lock($1, $2)', [LOCKS, lock]);

/** Whether there is a watcher. */
export const isWatched = (client: pg.Client): Promise<boolean> =>
  isSo(
    client,
    `exists (select from pg_catalog.pg_locks
              where locktype = 'advisory' and classid = $1::bigint and objid = $2::bigint and granted)`,
    [LOCKS, WATCHED],
  );

/** Whether anyone else is connected: a program, or a person with psql. */
export const isUsed = (client: pg.Client): Promise<boolean> =>
  isSo(
    client,
    `exists (select from pg_catalog.pg_stat_activity
              where backend_type = 'client backend' and pid <> pg_catalog.pg_backend_pid())`,
  );
