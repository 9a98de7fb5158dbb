/** The connections to a host: how they are made, which of several hosts takes writes, and what a column of Postgres is here. */
import pg from 'pg';
import type { Clock } from '../../clock.ts';
import { type DaywalkError, SettingsError, TransientError } from '../../errors.ts';
import { type Host, mustTakeWrites } from '../../hosts.ts';
import type { Logger } from '../../log.ts';
import { namedConnectError, namedError } from './sqlstate.ts';

/** What the store needs to reach its database. */
export interface DatabaseOptions {
  /** `postgres://…`, with one host or several; holds the password. */
  readonly url: string;
  /** The most connections at a time, to one host. */
  readonly connections: number;
  /** A statement that takes longer is given up, its outcome unknown; milliseconds. */
  readonly statementTimeoutMs: number;
  /** How long a database that is away is waited for; milliseconds. */
  readonly patienceMs: number;
  /** Ends that waiting, and so whatever is tried again; never: where it is left out. */
  readonly signal?: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After so long without a sign, whether the other side still lives is asked: a migration may take hours. */
const SIGN_OF_LIFE_MS = 10_000;

/** A host with its connections. */
export interface Server extends Pick<Host, 'name'> {
  readonly pool: pg.Pool;
}

/** Makes no connection yet. */
export function openServer(host: Host, options: DatabaseOptions): Server {
  const { connections, statementTimeoutMs, log } = options;
  const limitMs = Math.min(statementTimeoutMs, 10_000);
  const pool = new pg.Pool({
    Client,
    connectionString: host.url,
    // The URL alone says whether TLS is asked for; `pg` would look into the environment (PGSSLMODE), for a Unix socket, too.
    ssl: false,
    sslnegotiation: 'postgres',
    max: connections,
    connectionTimeoutMillis: limitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: SIGN_OF_LIFE_MS,
    allowExitOnIdle: true,
    types,
    ...(mustTakeWrites(options.url) && {
      onConnect: (client: pg.ClientBase) => requireWrites(client, limitMs),
    }),
  });
  // Without a handler a connection that dies while idle ends the process.
  const note = (error: Error) =>
    log.debug({ err: namedError(error) }, 'a connection to Postgres was lost');
  pool.on('error', note);
  pool.on('connect', (client) => client.on('error', note));
  return { name: host.name, pool };
}

/** @throws as {@link namedConnectError}. */
export async function connectTo({ pool }: Server): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw namedConnectError(error);
  }
}

const int8 = 20;

/** Counts come as numbers, instants as Date, and `date` and `timestamp` as the text that Postgres sends. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === int8) return Number;
    if (oid === pg.types.builtins.DATE || oid === pg.types.builtins.TIMESTAMP)
      return (text: string) => text;
    return pg.types.getTypeParser(oid, format);
  },
};

/** What `pg` says when a session begins, which its types do not tell. */
const { getStartupConf } = pg.Client.prototype as unknown as {
  getStartupConf(): Record<string, string>;
};

/** Gives its password in clear text to nobody, unless TLS has told who that is. */
export class Client extends pg.Client {
  /**
   * Dates come as text, and functions hold patterns, which sessions of a database or role that is set otherwise read otherwise. Said when a
   * session begins, as PgBouncer takes these two there, and refuses others.
   */
  getStartupConf(): Record<string, string> {
    const given = getStartupConf.call(this);
    return { ...given, datestyle: 'ISO, MDY', standard_conforming_strings: 'on' };
  }

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this;
    // Before the client's own listener, which sends it.
    connection.on('authenticationCleartextPassword', () => {
      if ('encrypted' in connection.stream) return;
      this.password = '';
      connection.stream.destroy();
      const refusal = new SettingsError('the database asks for the password in clear text', {
        hint: 'Have it ask for SCRAM (scram-sha-256 in pg_hba.conf, auth_type in pgbouncer.ini), or reach it by TLS: sslmode=verify-full in DATABASE_URL.',
      });
      connection.emit('error', refusal);
    });
  }
}

/** A server that takes no writes: in a failover that passes. */
export class NoWritesError extends TransientError {}

/** Why a host was not taken. */
export interface RefusedHost {
  readonly name: string;
  readonly error: DaywalkError;
}

/**
 * Makes sure that the server at the other end takes writes: it is no standby, and its transactions are not read-only.
 * @throws {NoWritesError} if not.
 */
export async function requireWrites(client: pg.ClientBase, limitMs: number): Promise<void> {
  // A server says so when a session begins, too; PgBouncer repeats there what another server once said.
  const query: pg.QueryConfig & { query_timeout: number } = {
    text: `select pg_is_in_recovery() as recovering, current_setting('transaction_read_only') as read_only`,
    query_timeout: limitMs,
  };
  const { rows } = await client.query<{ recovering: boolean; read_only: string }>(query);
  const hint = 'In a failover that passes; otherwise name the primary in DATABASE_URL.';
  if (rows[0]?.recovering) throw new NoWritesError('it is a standby', { hint });
  if (rows[0]?.read_only !== 'off')
    throw new NoWritesError('its transactions are read-only', { hint });
}

/** The reasons of all hosts in one line. */
export const describeRefusals = (refusals: readonly RefusedHost[]): string =>
  refusals.map(({ name, error }) => `${name}: ${error.message}`).join('; ');

/** Says of each host why it was refused: it may pass, unless none of them can be used before the settings are mended. */
export function noneTakesWrites(refusals: readonly RefusedHost[]): DaywalkError {
  const message = `no host of DATABASE_URL takes writes (${describeRefusals(refusals)})`;
  const hints = new Set(refusals.flatMap(({ error }) => error.hint ?? []));
  const details = { hint: [...hints].join('\n'), cause: refusals[0]?.error };
  return refusals.every(({ error }) => error instanceof SettingsError)
    ? new SettingsError(message, details)
    : new TransientError(message, details);
}
