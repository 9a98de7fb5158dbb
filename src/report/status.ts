/** Where the export stands, read at one moment, and as the document that `status --json` and the status page give to programs. */
import { lastClosedDay } from '../plan/days.ts';
import {
  type CoverageRow,
  type RunningWindow,
  readCoverage,
  readRunning,
  readSplits,
  type SplitRow,
} from '../store/coverage.ts';
import type { Database } from '../store/database.ts';
import { readStreamDifferences, type StreamDifferences } from '../store/differences.ts';
import { type LedgerHead, readLedgerHeads } from '../store/ledger.ts';
import { type RunRow, readLastRun } from '../store/runs.ts';
import { databaseNow } from '../store/windows.ts';

/** What `status` knows. */
export interface StatusFacts {
  readonly streams: readonly string[];
  /** IANA name of the source's zone. */
  readonly timeZone: string;
  readonly coverage: readonly CoverageRow[];
  readonly running: readonly RunningWindow[];
  readonly lastRun: RunRow | null;
  readonly differences: readonly StreamDifferences[];
  /** Windows that could not be walked whole. */
  readonly splits: readonly SplitRow[];
  /** The ends of the ledger's chains. */
  readonly ledger: readonly LedgerHead[];
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
  /** The newest day that is closed. */
  readonly lastClosed: string;
}

/** Reads all of it. */
export async function readStatus(
  database: Database,
  streams: readonly string[],
  { timeZone, settleMs }: { readonly timeZone: string; readonly settleMs: number },
): Promise<StatusFacts> {
  const [coverage, running, lastRun, differences, splits, ledger, now] = await Promise.all([
    readCoverage(database, streams),
    readRunning(database),
    readLastRun(database),
    readStreamDifferences(database, streams),
    readSplits(database, streams),
    readLedgerHeads(database, streams),
    databaseNow(database),
  ]);
  return {
    streams,
    timeZone,
    now,
    coverage,
    running,
    lastRun,
    differences,
    splits,
    ledger,
    lastClosed: lastClosedDay(now, timeZone, settleMs),
  };
}

/** The status for programs. */
export function statusDocument(facts: StatusFacts): unknown {
  return {
    timezone: facts.timeZone,
    lastClosedDay: facts.lastClosed,
    streams: facts.streams.map((stream) => {
      const { days, ...totals } = totalsOf(facts, stream);
      const ledger = facts.ledger.find((head) => head.stream === stream) ?? null;
      return { stream, ...totals, ledger, days: days.map((day) => withSplits(day, facts.splits)) };
    }),
    running: facts.running,
    lastRun: facts.lastRun,
    differences: facts.differences,
  };
}

/** A day with the reasons for its splits. */
function withSplits(day: CoverageRow, splits: readonly SplitRow[]) {
  const own = splits.filter((split) => split.stream === day.stream && split.day === day.day);
  return { ...day, splits: own.map(({ from, to, by, reason }) => ({ from, to, by, reason })) };
}

/** A stream's days, and their sums. */
export function totalsOf(facts: StatusFacts, stream: string) {
  const days = facts.coverage.filter((row) => row.stream === stream);
  const sum = (of: (row: CoverageRow) => number) => days.reduce((total, row) => total + of(row), 0);
  return {
    closed: days.length,
    complete: days.filter((row) => row.state === 'complete').length,
    records: sum((row) => row.records),
    pages: sum((row) => row.pages),
    bytes: sum((row) => row.bytes),
    days,
  };
}
