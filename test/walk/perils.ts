/** Perils of a run: every statement and every request passes a gate that can end the process, cut the connection, or call a thief. */
import { silentLogger } from '../../src/log.ts';
import { Database, type DatabaseOptions, type SqlValues } from '../../src/store/database.ts';
import { OutcomeUnknownError } from '../../src/store/connection/sqlstate.ts';
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

/** A database whose every statement passes the gate. */
export function openGated(url: string, gate: Gate, statementTimeoutMs = 20_000): Database {
  return new GatedDatabase(
    {
      url: keptPlans(bySocket(url)),
      connections: 6,
      statementTimeoutMs,
      patienceMs: 20_000,
      clock: hastyClock,
      log: silentLogger,
    },
    gate,
  );
}
