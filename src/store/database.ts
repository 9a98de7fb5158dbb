/** The connections to Postgres: one autocommit statement at a time, each under a deadline of our own. */
import type pg from 'pg';
import { orAborted } from '../clock.ts';
import { DaywalkError, TransientError, UnavailableError } from '../errors.ts';
import { hostsOf } from '../hosts.ts';
import { cancelStatement } from './connection/cancel.ts';
import {
  connectTo,
  type DatabaseOptions,
  describeRefusals,
  noneTakesWrites,
  openServer,
  type RefusedHost,
  type Server,
} from './connection/connections.ts';
import { namedError, notInTime, OutcomeUnknownError } from './connection/sqlstate.ts';
import { NO_BODY, watchBody } from './connection/too-much.ts';

type SqlValue = string | number | boolean | null | Buffer | readonly (string | number | null)[];
/** Values of a statement; a Buffer is sent in binary form. */
export type SqlValues = readonly SqlValue[];

/** Runs one statement of a snapshot. */
export type Query = <Row extends pg.QueryResultRow>(
  sql: string,
  values?: SqlValues,
) => Promise<Row[]>;

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/** How long closing all connections may take. */
const LONGEST_GOODBYE_MS = 2_000;
/** So many deadlines has a statement that may have to read all that is stored of a stream: at the default half an hour. */
const LONG = 60;
const NO_LIMITS = `select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout')`;
const AWAY = 'Is Postgres running, and is DATABASE_URL right? `daywalk doctor` tells more.';

/** A pool of connections to one Postgres, or to the one of several that takes writes; safe behind a transaction-pooling proxy. */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #servers: readonly Server[];
  /** The place of the one that had the last connection. */
  #writing: number | undefined;
  /** Connections that must not be used again, each with the end of its last statement. */
  readonly #doubtful = new WeakMap<pg.PoolClient, Promise<void>>();

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#servers = hostsOf(options.url).map((host) => openServer(host, options));
  }

  /**
   * Runs one statement once.
   * @throws {OutcomeUnknownError} where it may or may not have taken effect; {@link namedError} for the others.
   */
  query<Row extends pg.QueryResultRow>(sql: string, values: SqlValues = []): Promise<Row[]> {
    return this.#onConnection((client) => this.#run<Row>(client, sql, values));
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
    const sent = values.find(Buffer.isBuffer);
    const body = sent && watchBody(sent.length, () => this.query('select 1').then(() => true));
    return this.retry(() => this.query<Row>(sql, values), signal, undefined, body);
  }

  /** The first row that {@link persist} brings; null: there is none. */
  async first<Row extends pg.QueryResultRow>(
    sql: string,
    values?: SqlValues,
    signal?: AbortSignal,
  ): Promise<Row | null> {
    const [row] = await this.persist<Row>(sql, values, signal);
    return row ?? null;
  }

  /** As {@link first}, of a statement that always has a row. */
  async one<Row extends pg.QueryResultRow>(
    sql: string,
    values?: SqlValues,
    signal?: AbortSignal,
  ): Promise<Row> {
    const row = await this.first<Row>(sql, values, signal);
    if (row === null) throw new Error(`a statement has no row: ${sql}`);
    return row;
  }

  /** The value of a statement that gives one row with one column. */
  async value<T>(sql: string, values?: SqlValues, signal?: AbortSignal): Promise<T> {
    return Object.values(await this.one<Record<string, T>>(sql, values, signal))[0] as T;
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
  alone<T>(claim: (query: Query) => Promise<boolean>, work: () => Promise<T>): Promise<T | null> {
    return this.#onConnection(async (client, query) => {
      try {
        await query('begin transaction isolation level read committed, read only');
        return (await claim(query)) ? await work() : null;
      } finally {
        // Where the connection was lost meanwhile, so was the lock.
        await query('commit').catch(() => this.#doubt(client));
      }
    });
  }

  /** Gives work that knows `pg` a connection, under no deadline; it is closed afterwards. */
  withClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.#onConnection(async (client) => {
      this.#doubt(client);
      try {
        return await work(client);
      } catch (error) {
        throw namedError(error);
      }
    });
  }

  /** Runs one statement once, under {@link LONG} deadlines, whatever limits server and role have set. @throws as {@link snapshot}. */
  patiently<Row extends pg.QueryResultRow>(sql: string, values: SqlValues): Promise<Row[]> {
    return this.#transact('isolation level read committed', async (query, client) => {
      await query(NO_LIMITS);
      return this.#run<Row>(client, sql, values, LONG * this.#options.statementTimeoutMs);
    });
  }

  #transact<T>(mode: string, work: (query: Query, client: pg.PoolClient) => Promise<T>) {
    return this.#onConnection(async (client, query) => {
      try {
        await query(`begin transaction ${mode}`);
        const result = await work(query, client);
        await query('commit');
        return result;
      } catch (error) {
        if (!this.#doubtful.has(client)) await query('rollback').catch(() => this.#doubt(client));
        throw error;
      }
    });
  }

  /**
   * Repeats `attempt` while it fails with what may pass; see {@link persist}.
   * @param signal ends it before an attempt, too; where it is left out, that of the options ends the waiting.
   * @param body that it sends; see {@link watchBody}.
   */
  async retry<T>(
    attempt: () => Promise<T>,
    signal?: AbortSignal,
    patienceMs = this.#options.patienceMs,
    body = NO_BODY,
  ): Promise<T> {
    const { clock, log } = this.#options;
    const since = clock.monotonic();
    for (let failures = 0; ; failures++) {
      signal?.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        body.failed(error);
        const away = clock.monotonic() - since;
        const gaveUp = failures === 0 ? '' : 'gave up on the database: ';
        if (away >= patienceMs) {
          await body.refuse();
          const hint = error.hint ?? AWAY;
          throw new UnavailableError('database', gaveUp + error.message, { cause: error, hint });
        }
        const wait =
          Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures) * (0.5 + clock.random() / 2);
        log.warn(
          { err: error, waitMs: Math.round(wait) },
          'the database cannot be used now, trying again',
        );
        await clock.sleep(wait, signal ?? this.#options.signal);
        await body.refuse();
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
    limitMs = this.#options.statementTimeoutMs,
  ): Promise<Row[]> {
    const deadline = this.#options.clock.timeout(limitMs);
    const late = () => notInTime(limitMs);
    const running = client.query<Row>(sql, values as unknown[]);
    try {
      return (await orAborted(running, deadline, late)).rows;
    } catch (error) {
      const named = namedError(error);
      if (deadline.aborted)
        this.#doubt(client, cancelStatement(client, running, this.#options.clock));
      else if (named instanceof OutcomeUnknownError) this.#doubt(client);
      throw named;
    }
  }

  /** A connection must not serve another statement, and is closed when its last one has ended. */
  #doubt(client: pg.PoolClient, ended = Promise.resolve()): void {
    if (!this.#doubtful.has(client)) this.#doubtful.set(client, ended);
  }

  /**
   * Lends a connection. One that is in doubt holds its place until its statement has ended: closing it stops nothing, and
   * its successors would fill the server.
   */
  async #onConnection<T>(work: (client: pg.PoolClient, query: Query) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    try {
      return await work(client, (sql, values = []) => this.#run(client, sql, values));
    } finally {
      const ended = this.#doubtful.get(client);
      if (ended === undefined) client.release();
      else void ended.then(() => client.release(true));
    }
  }

  /** A connection to the host that had the last one, or else to the first after it that takes writes. */
  async #connect(): Promise<pg.PoolClient> {
    const at = this.#writing ?? 0;
    const refusals: RefusedHost[] = [];
    for (const server of [...this.#servers.slice(at), ...this.#servers.slice(0, at)])
      try {
        const client = await connectTo(server);
        this.#turnTo(this.#servers.indexOf(server), refusals);
        return client;
      } catch (error) {
        if (this.#servers.length === 1 || !(error instanceof DaywalkError)) throw error;
        refusals.push({ name: server.name, error });
      }
    throw noneTakesWrites(refusals);
  }

  /** Each of several hosts, with why it takes no writes now; none where there is one. @param limitMs how long a silent one is waited for. */
  async lookAtHosts(
    limitMs: number,
  ): Promise<readonly { readonly name: string; readonly error: Error | undefined }[]> {
    if (this.#servers.length === 1) return [];
    const options = { ...this.#options, connections: 1, statementTimeoutMs: limitMs };
    const looking = hostsOf(options.url).map(async (host) => {
      const server = openServer(host, options);
      const error = await connectTo(server).then(
        (client) => void client.release(),
        (why: Error) => why,
      );
      await server.pool.end();
      return { name: host.name, error };
    });
    return Promise.all(looking);
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
