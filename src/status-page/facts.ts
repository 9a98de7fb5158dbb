/** What the pages show, read through a few connections of their own, so that no reader of a page can hold the export up. */
import type { Clock } from '../clock.ts';
import { type RunningWindow, readRunning } from '../days/coverage-rows.ts';
import { readStreamDays, type StreamDays } from '../days/covered-days.ts';
import { assessHealth, type Expectation, type Health } from '../days/health.ts';
import { readTables, type TableState } from '../days/record-table-rows.ts';
import { readFirstDay } from '../days/rows.ts';
import type { Database } from '../store/database.ts';
import { type Gone, readGone } from '../store/publications.ts';
import { type RunRow, readRunHistory } from '../store/runs.ts';
import { databaseNow } from '../store/windows.ts';

/** Where the export stands, at one moment. */
export interface Standing {
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
  readonly streams: readonly StreamDays[];
  readonly health: Health;
  readonly running: readonly RunningWindow[];
  readonly runs: readonly RunRow[];
  readonly tables: readonly TableState[];
  /** What the sources do not show any more. */
  readonly gone: readonly Gone[];
}

/** What reading needs. */
export interface FactsParts {
  readonly database: Database;
  readonly streams: readonly string[];
  readonly expectation: Expectation;
}

/** Those that found nothing new are folded. */
const RUNS_READ = 200;

/** Reads where the export stands. */
export async function readStanding(parts: FactsParts): Promise<Standing> {
  const { database, streams, expectation } = parts;
  const { timeZone, settleMs } = expectation;
  const [now, first, running, runs, tables, gone] = await Promise.all([
    databaseNow(database),
    readFirstDay(database, streams),
    readRunning(database),
    readRunHistory(database, RUNS_READ),
    readTables(database),
    readGone(database, streams),
  ]);
  // Of streams that were never planned there is one day to say so.
  const from = first ?? new Date(now).toISOString().slice(0, 10);
  const days = await readStreamDays(database, { streams, from, timeZone, settleMs });
  const health = assessHealth(days, now, expectation);
  return { now, streams: days, health, running, runs, tables, gone };
}

/**
 * Keeps what was read for a short time, failures too, and reads once for all who ask meanwhile: a page that is asked
 * for a hundred times a second costs the database what one reader costs.
 */
export class Kept<T> {
  readonly #read: () => Promise<T>;
  readonly #clock: Clock;
  readonly #forMs: number;
  #value: Promise<T> | null = null;
  #until = 0;

  constructor(clock: Clock, forMs: number, read: () => Promise<T>) {
    this.#clock = clock;
    this.#forMs = forMs;
    this.#read = read;
  }

  /** @throws what reading throws. */
  get(): Promise<T> {
    if (this.#value !== null && this.#clock.monotonic() < this.#until) return this.#value;
    const value = this.#read();
    this.#value = value;
    this.#until = Number.POSITIVE_INFINITY;
    const read = () => {
      this.#until = this.#clock.monotonic() + this.#forMs;
    };
    value.then(read, read);
    return value;
  }

  /** The next who asks has it read anew. */
  forget(): void {
    this.#value = null;
  }
}
