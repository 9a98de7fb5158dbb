/** Perils of a run: every statement and every request passes a gate that can end the process, cut the connection, or call a thief. */
import { silentLogger } from '../../src/log.ts';
import type { DatabaseOptions } from '../../src/store/connection/connections.ts';
import { OutcomeUnknownError } from '../../src/store/connection/sqlstate.ts';
import { Database, type Query, type SqlValues } from '../../src/store/database.ts';
import { bySocket } from '../support/database.ts';
import { keptPlans } from '../support/kept-plans.ts';
import { hastyClock } from '../support/store.ts';

/** Lets `act` happen, or not. `statement` is its SQL; null: a request to the source. */
export type Gate = <T>(statement: string | null, act: () => Promise<T>) => Promise<T>;

/** The process was ended here: whatever it would still have done does not happen. */
export class Killed extends Error {}

/** Counts the steps that pass. */
export interface Steps {
  taken: number;
}

export const openGate: Gate = (_, act) => act();

/** Ends the process at step `at`: neither that step nor any later one happens. */
export function killedAt(at: number, steps: Steps): Gate {
  return async (_, act) => {
    steps.taken += 1;
    if (steps.taken >= at) throw new Killed(`killed at step ${at}`);
    return act();
  };
}

/** Cuts the connection at step `at`, if that is a statement: before Postgres has it, or before its answer. */
export function cutAt(at: number, when: 'before' | 'after', steps: Steps): Gate {
  return async (statement, act) => {
    steps.taken += 1;
    if (steps.taken !== at || statement === null) return act();
    if (when === 'after') await act();
    throw new OutcomeUnknownError(`cut ${when} step ${at}`);
  };
}

/** Calls `disturb` before step `at`. */
export function disturbedAt(at: number, steps: Steps, disturb: () => Promise<void>): Gate {
  return async (_, act) => {
    steps.taken += 1;
    if (steps.taken === at) await disturb();
    return act();
  };
}

class GatedDatabase extends Database {
  readonly #gate: Gate;
  constructor(options: DatabaseOptions, gate: Gate) {
    super(options);
    this.#gate = gate;
  }
  override query<Row extends Record<string, unknown>>(
    sql: string,
    values: SqlValues = [],
  ): Promise<Row[]> {
    return this.#gate(sql, () => super.query<Row>(sql, values));
  }
}

/** The database of one process that has the connections of others; with its end it has none, as if they were its own. */
class BorrowingDatabase extends Database {
  readonly #lender: Database;
  readonly #gate: Gate;
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;
  constructor(options: DatabaseOptions, lender: Database, gate: Gate) {
    super(options);
    this.#lender = lender;
    this.#gate = gate;
  }
  /** Connections that are closed refuse what comes too late. */
  #through<T>(act: (database: Database) => Promise<T>, own: () => Promise<T>): Promise<T> {
    const running = this.#isClosed ? own() : act(this.#lender);
    const ended = running
      .catch(() => undefined)
      .finally(() => {
        this.#running.delete(ended);
      });
    this.#running.add(ended);
    return running;
  }
  override query<Row extends Record<string, unknown>>(
    sql: string,
    values: SqlValues = [],
  ): Promise<Row[]> {
    return this.#gate(sql, () =>
      this.#through(
        (database) => database.query<Row>(sql, values),
        () => super.query<Row>(sql, values),
      ),
    );
  }
  override snapshot<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#through(
      (database) => database.snapshot(work),
      () => super.snapshot(work),
    );
  }
  override transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#through(
      (database) => database.transaction(work),
      () => super.transaction(work),
    );
  }
  override alone<T>(
    claim: (query: Query) => Promise<boolean>,
    work: () => Promise<T>,
  ): Promise<T | null> {
    return this.#through(
      (database) => database.alone(claim, work),
      () => super.alone(claim, work),
    );
  }
  /** A statement on its way has ended then, as when connections are closed. */
  override async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#running);
    await super.close();
  }
}

/** A database whose every statement passes the gate, over connections that have learned the schema before. */
export function borrow(lender: Database, url: string, gate: Gate): Database {
  return new BorrowingDatabase(optionsFor(url), lender, gate);
}

/** A database whose every statement passes the gate. */
export function openGated(url: string, gate: Gate, statementTimeoutMs?: number): Database {
  return new GatedDatabase(optionsFor(url, statementTimeoutMs), gate);
}

const optionsFor = (url: string, statementTimeoutMs = 20_000): DatabaseOptions => ({
  url: keptPlans(bySocket(url)),
  connections: 6,
  statementTimeoutMs,
  patienceMs: 20_000,
  clock: hastyClock,
  log: silentLogger,
});
