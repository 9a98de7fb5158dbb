/** The connections to Postgres: one autocommit statement at a time, each under a deadline of our own. */
import pg from 'pg';
import { type Clock, orAborted } from '../clock.ts';
import { TransientError, UnavailableError } from '../errors.ts';
import { type Host, hostsOf, mustTakeWrites } from '../hosts.ts';
import type { Logger } from '../log.ts';
import { cancelStatement } from './connection/cancel.ts';
import { Client } from './connection/client.ts';
import { types } from './connection/column-values.ts';
import {
  describeRefusals,
  firstThatTakesWrites,
  type RefusedHost,
  requireWrites,
} from './connection/primary.ts';
import { namedConnectError, namedError, OutcomeUnknownError } from './connection/sqlstate.ts';

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
  readonly clock: Clock;
  readonly log: Logger;
}

/** Values of a statement; a Buffer is sent in binary form. */
export type SqlValues = readonly (
  | string
  | number
  | boolean
  | null
  | Buffer
  | readonly (string | number | null)[]
)[];

/** Runs one statement of a snapshot. */
export type Query = <Row extends pg.QueryResultRow>(
  sql: string,
  values?: SqlValues,
) => Promise<Row[]>;

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/** How long closing all connections may take. */
const LONGEST_GOODBYE_MS = 2_000;

/** A host with its connections. */
interface Server extends Pick<Host, 'name'> {
  readonly pool: pg.Pool;
}

/** A pool of connections to one Postgres, or to the one of several that takes writes; safe behind a transaction-pooling proxy. */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #servers: readonly Server[];
  /** The place of the one that had the last connection. */
  #writing: number | undefined;
  /** Connections whose statement was given up, until it has ended. */
  readonly #cancelling = new WeakMap<pg.PoolClient, Promise<void>>();

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#servers = hostsOf(options.url).map(({ name, url }) => ({
      name,
      pool: this.#openPool(url),
    }));
  }

  #openPool(url: string): pg.Pool {
    const { connections, statementTimeoutMs, log } = this.#options;
    const limitMs = Math.min(statementTimeoutMs, 10_000);
    const pool = new pg.Pool({
      Client,
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: limitMs,
      keepAlive: true,
      allowExitOnIdle: true,
      types,
      ...(mustTakeWrites(this.#options.url) && {
        onConnect: (client: pg.ClientBase) => requireWrites(client, limitMs),
      }),
    });
    // Without a handler a connection that dies while idle ends the process.
    const note = (error: Error) =>
      log.debug({ err: namedError(error) }, 'a connection to Postgres was lost');
    pool.on('error', note);
    pool.on('connect', (client) => client.on('error', note));
    return pool;
  }

  /**
   * Runs one statement once.
   * @throws {OutcomeUnknownError} where it may or may not have taken effect; {@link namedError} for the others.
   */
  async query<Row extends pg.QueryResultRow>(sql: string, values: SqlValues = []): Promise<Row[]> {
    const client = await this.#connect();
    let broken = false;
    try {
      return await this.#run<Row>(client, sql, values);
    } catch (error) {
      broken = error instanceof OutcomeUnknownError;
      throw error;
    } finally {
      this.#release(client, broken);
    }
  }

  /**
   * Runs a statement that does no harm when it runs twice, again and again while the database is away.
   * @throws {UnavailableError} when it stayed away for `patienceMs`; the signal's reason when stopped.
   */
  async persist<Row extends pg.QueryResultRow>(
    sql: string,
    values: SqlValues = [],
    signal?: AbortSignal,
  ): Promise<Row[]> {
    return this.retry(() => this.query<Row>(sql, values), signal);
  }

  /** The value of a statement that gives one row with one column; patient as {@link persist}. */
  async value<T>(sql: string, values: SqlValues = [], signal?: AbortSignal): Promise<T> {
    const [row] = await this.persist<Record<string, T>>(sql, values, signal);
    if (row === undefined) throw new Error(`no row came of ${sql}`);
    return Object.values(row)[0] as T;
  }

  /**
   * Runs reads that all see one state, in a read-only transaction on one connection.
   * @throws {OutcomeUnknownError} or {@link namedError}, never repeated; what `work` throws, as it is.
   */
  snapshot<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#transact('isolation level repeatable read, read only', work);
  }

  /**
   * Runs statements that take effect together or not at all and see one state, on one connection. One attempt.
   * @throws as {@link snapshot}; where another transaction changed the same rows, {@link TransientError}.
   */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#transact('isolation level repeatable read', work);
  }

  /**
   * Runs `work` while `claim` holds, on a connection of its own, an advisory lock of its transaction; a process that dies
   * gives it back. No snapshot is held meanwhile, and `work` may lose the lock with the connection.
   * @returns null where another process has the lock.
   */
  async alone<T>(
    claim: (query: Query) => Promise<boolean>,
    work: () => Promise<T>,
  ): Promise<T | null> {
    const client = await this.#connect();
    try {
      await this.#run(client, 'begin transaction isolation level read committed, read only', []);
      const isMine = await claim((sql, values = []) => this.#run(client, sql, values));
      return isMine ? await work() : null;
    } finally {
      // Where the connection was lost meanwhile, so was the lock.
      const committing = this.#run(client, 'commit', []);
      const broken = await committing.then(() => false).catch(() => true);
      this.#release(client, broken);
    }
  }

  async #transact<T>(mode: string, work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken = false;
    const query: Query = async (sql, values = []) => {
      try {
        return await this.#run(client, sql, values);
      } catch (error) {
        broken ||= error instanceof OutcomeUnknownError;
        throw error;
      }
    };
    try {
      await query(`begin transaction ${mode}`);
      const result = await work(query);
      await query('commit');
      return result;
    } catch (error) {
      if (!broken)
        await query('rollback').catch(() => {
          broken = true;
        });
      throw error;
    } finally {
      this.#release(client, broken);
    }
  }

  /** Repeats `attempt` while it fails with what may pass; see {@link persist}. */
  async retry<T>(
    attempt: () => Promise<T>,
    signal?: AbortSignal,
    patienceMs = this.#options.patienceMs,
  ): Promise<T> {
    const { clock, log } = this.#options;
    const since = clock.monotonic();
    for (let failures = 0; ; failures++) {
      signal?.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        const away = clock.monotonic() - since;
        if (away >= patienceMs)
          throw new UnavailableError('database', gaveUp(failures, error), {
            cause: error,
            hint:
              error.hint ??
              'Is Postgres running, and is DATABASE_URL right? `daywalk doctor` tells more.',
          });
        const wait =
          Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures) * (0.5 + clock.random() / 2);
        log.warn(
          { err: error, waitMs: Math.round(wait) },
          'the database cannot be used now, trying again',
        );
        await clock.sleep(wait, signal);
      }
    }
  }

  /** Closes all connections; on a line that has gone silent nobody answers a goodbye, so it is not waited for. */
  async close(): Promise<void> {
    const closed = Promise.all(this.#servers.map(({ pool }) => pool.end()));
    const deadline = this.#options.clock.timeout(LONGEST_GOODBYE_MS);
    await orAborted(closed, deadline).catch((error: unknown) => {
      if (!deadline.aborted) throw error;
    });
  }

  /** One statement on a connection, under the deadline. */
  async #run<Row extends pg.QueryResultRow>(
    client: pg.PoolClient,
    sql: string,
    values: SqlValues,
  ): Promise<Row[]> {
    const { clock, statementTimeoutMs } = this.#options;
    const deadline = clock.timeout(statementTimeoutMs);
    const late = () =>
      new OutcomeUnknownError(`Postgres did not answer within ${statementTimeoutMs} ms`);
    const running = client.query<Row>(sql, values as unknown[]);
    try {
      return (await orAborted(running, deadline, late)).rows;
    } catch (error) {
      if (deadline.aborted) this.#cancelling.set(client, cancelStatement(client, running, clock));
      throw namedError(error);
    }
  }

  /**
   * Gives a connection back. One whose last statement has no known end must not serve another one, and holds its place
   * until that statement has ended: closing it stops nothing, and its successors would fill the server.
   */
  #release(client: pg.PoolClient, broken: boolean): void {
    const cancelling = this.#cancelling.get(client);
    if (cancelling === undefined) client.release(broken);
    else void cancelling.then(() => client.release(true));
  }

  /** A connection to the host that had the last one, or else to the first after it that takes writes. */
  async #connect(): Promise<pg.PoolClient> {
    const at = this.#writing ?? 0;
    const inTurn = [...this.#servers.slice(at), ...this.#servers.slice(0, at)];
    const { host, result, refusals } = await firstThatTakesWrites(inTurn, async ({ pool }) => {
      try {
        return await pool.connect();
      } catch (error) {
        throw namedConnectError(error);
      }
    });
    this.#turnTo(this.#servers.indexOf(host), refusals);
    return result;
  }

  #turnTo(at: number, refusals: readonly RefusedHost[]): void {
    const before = this.#writing;
    if (at === before) return;
    this.#writing = at;
    if (this.#servers.length === 1) return;
    const { log } = this.#options;
    const about = { host: this.#servers[at]?.name, refused: describeRefusals(refusals) };
    if (before === undefined) log.debug(about, 'this host of the database takes writes');
    else log.warn(about, 'another host of the database takes writes now');
  }
}

const gaveUp = (failures: number, { message }: Error): string =>
  failures === 0 ? message : `gave up on the database: ${message}`;
