/** What the pages show, read through a few connections of their own, so that no reader of a page can hold the export up. */
import type { Answer } from '../answer.ts';
import type { Clock } from '../clock.ts';
import { readLateness, readRunning, readTables } from '../days/coverage-rows.ts';
import { type Expectation, readHealth } from '../days/health.ts';
import { readStatus, statusDocument } from '../days/status.ts';
import type { Database } from '../store/database.ts';
import { readRestless } from '../store/evidence/learned.ts';
import { readTogether } from '../store/read-together.ts';
import { readRunHistory } from '../store/runs.ts';
import { databaseNow } from '../store/windows.ts';

/** What reading needs. */
export interface FactsParts {
  readonly streams: readonly string[];
  readonly expectation: Expectation;
  readonly clock: Clock;
}

/** A way to a database. @throws as long as there is none. */
type Way = () => Database;

/** Those that found nothing new are not shown. */
const RUNS_READ = 200;
/** What was read is shown for so long: a little less than the pages take to ask again. */
const KEPT_MS = 2_000;
/** Pages of days and months that are kept. */
const MOST_KEPT = 64;

/** Where the export stands, at one moment. */
export type Overview = Awaited<ReturnType<typeof readOverview>>;

async function readOverview(database: Database, { streams, expectation }: FactsParts) {
  const [{ days, ...judged }, found] = await Promise.all([
    readHealth(database, streams, expectation),
    readTogether({
      running: readRunning(database),
      runs: readRunHistory(database, RUNS_READ),
      tables: readTables(database),
      restless: readRestless(database, streams),
    }),
  ]);
  return { streams: days, ...judged, ...found };
}

/** What may be asked, each kept for a short time. */
export type StatusFacts = ReturnType<typeof openFacts>;

/**
 * Reads nothing yet.
 * @param shared the way for what is the same for all who ask.
 * @param chosen the way for the pages of which visitors choose the number.
 */
export function openFacts(parts: FactsParts, shared: Way, chosen: Way) {
  const { clock, streams, expectation } = parts;
  /** By their paths. */
  const pages = new Map<string, () => Promise<Answer>>();
  return {
    standing: keep(clock, async () => readOverview(shared(), parts)),
    lateness: keep(clock, async () => readLateness(shared(), streams)),
    document: keep(clock, async () =>
      statusDocument(await readStatus(shared(), streams, expectation), expectation.schedule),
    ),
    readiness: keep(clock, async () => databaseNow(shared())),
    /** A page of a day or a month; they are read one after the other. */
    page(path: string, read: (database: Database) => Promise<Answer>): Promise<Answer> {
      const kept = pages.get(path) ?? keep(clock, async () => read(chosen()));
      if (pages.size >= MOST_KEPT && !pages.has(path)) pages.clear();
      pages.set(path, kept);
      return kept();
    },
  };
}

/**
 * Keeps what was read for a short time, failures too, and reads once for all who ask meanwhile: a page that is asked
 * for a hundred times a second costs the database what one reader costs.
 */
function keep<T>(clock: Clock, read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  let until = 0;
  return () => {
    if (value !== null && clock.monotonic() < until) return value;
    until = Number.POSITIVE_INFINITY;
    value = read();
    const done = () => {
      until = clock.monotonic() + KEPT_MS;
    };
    value.then(done, done);
    return value;
  };
}
