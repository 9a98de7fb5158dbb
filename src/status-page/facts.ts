/** What the pages show, read through a few connections of their own, so that no reader of a page can hold the export up. */
import type { Clock } from '../clock.ts';
import { readRunning } from '../days/coverage-rows.ts';
import { type Expectation, readHealth } from '../days/health.ts';
import { readTables } from '../days/record-table-rows.ts';
import { type Database, readTogether } from '../store/database.ts';
import { readRunHistory } from '../store/runs.ts';

/** What reading needs. */
export interface FactsParts {
  readonly database: Database;
  readonly streams: readonly string[];
  readonly expectation: Expectation;
}

/** Those that found nothing new are folded. */
const RUNS_READ = 200;

/** Where the export stands, at one moment. */
export type Standing = Awaited<ReturnType<typeof readStanding>>;

/** Reads where the export stands. */
export async function readStanding({ database, streams, expectation }: FactsParts) {
  const [{ days, ...judged }, found] = await Promise.all([
    readHealth(database, streams, expectation),
    readTogether({
      running: readRunning(database),
      runs: readRunHistory(database, RUNS_READ),
      tables: readTables(database),
    }),
  ]);
  return { streams: days, ...judged, ...found };
}

/**
 * Keeps what was read for a short time, failures too, and reads once for all who ask meanwhile: a page that is asked
 * for a hundred times a second costs the database what one reader costs.
 */
export function keep<T>(clock: Clock, forMs: number, read: () => Promise<T>) {
  let value: Promise<T> | null = null;
  let until = 0;
  return {
    /** @throws what reading throws. */
    get(): Promise<T> {
      if (value !== null && clock.monotonic() < until) return value;
      until = Number.POSITIVE_INFINITY;
      value = read();
      const done = () => {
        until = clock.monotonic() + forMs;
      };
      value.then(done, done);
      return value;
    },
    /** The next who asks has it read anew. */
    forget() {
      value = null;
    },
  };
}

/** What {@link keep} keeps. */
export type Kept<T> = ReturnType<typeof keep<T>>;
