/** Where the export stands, read at one moment, and as the document that `status --json` and the status page give to programs. */

import { type LedgerHead, readLedgerHeads } from '../ledger/rows.ts';
import type { Day } from '../model.ts';
import { dayAt, lastClosedDay } from '../plan/days.ts';
import type { Database } from '../store/database.ts';
import { type Gone, readGone } from '../store/publications.ts';
import { type RunRow, readLastRun } from '../store/runs.ts';
import { readStreams } from '../store/streams.ts';
import { databaseNow } from '../store/windows.ts';
import {
  type GapRow,
  type RunningWindow,
  readGaps,
  readRunning,
  readSplits,
  type SplitRow,
} from './coverage-rows.ts';
import { readStreamDays, type StreamDays } from './covered-days.ts';
import { gapSpansOf, mendingOf } from './gaps.ts';
import { type Lateness, readLateness } from './lateness-rows.ts';
import { readTables, type TableState } from './record-table-rows.ts';
import { readRestless } from './restless.ts';
import { readTotals, type StreamTotals } from './rows.ts';

/** The months that a calendar shows, the present one included, unless others are asked for. */
export const MONTHS_SHOWN = 13;

/** What `status` knows. */
export interface StatusFacts {
  /** IANA name of the source's zone. */
  readonly timeZone: string;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
  /** The newest day that is closed. */
  readonly lastClosed: Day;
  /** The first day that is shown, of a month. */
  readonly from: Day;
  /** In the order of the names asked for, with the days shown. */
  readonly streams: readonly StreamDays[];
  /** Of all days, those not shown too; of the streams that were ever planned. */
  readonly totals: readonly StreamTotals[];
  /** All days that are not complete. */
  readonly gaps: readonly GapRow[];
  readonly running: readonly RunningWindow[];
  readonly lastRun: RunRow | null;
  /** What the sources do not show any more. */
  readonly gone: readonly Gone[];
  readonly late: readonly Lateness[];
  /** Streams whose source answers one question in different ways. */
  readonly restless: readonly string[];
  /** Windows of the days shown that could not be walked whole. */
  readonly splits: readonly SplitRow[];
  /** The ends of the ledger's chains. */
  readonly ledger: readonly LedgerHead[];
  /** The record tables. */
  readonly tables: readonly TableState[];
}

/** Whose calendar, and how much of it. */
export interface StatusAsked {
  readonly timeZone: string;
  readonly settleMs: number;
  /** Months of days, the present one included; absent: {@link MONTHS_SHOWN}. */
  readonly months?: number;
}

/** Reads all of it: day by day for the months shown, as sums and gaps for the rest. */
export async function readStatus(
  database: Database,
  streams: readonly string[],
  asked: StatusAsked,
): Promise<StatusFacts> {
  const { timeZone, settleMs, months = MONTHS_SHOWN } = asked;
  const [now, known] = await Promise.all([databaseNow(database), readStreams(database, streams)]);
  const streamIds = known.map(({ streamId }) => streamId);
  const from = firstOfMonth(dayAt(now, timeZone), months);
  const [days, totals, gaps, running, lastRun, gone, late, splits, ledger, tables, restless] =
    await Promise.all([
      readStreamDays(database, { streams, from, timeZone, settleMs }),
      readTotals(database, streamIds),
      readGaps(database, streams),
      readRunning(database),
      readLastRun(database),
      readGone(database, streams),
      readLateness(database, streams),
      readSplits(database, streams, from),
      readLedgerHeads(database, streams),
      readTables(database),
      readRestless(database, streams),
    ]);
  return {
    timeZone,
    now,
    lastClosed: lastClosedDay(now, timeZone, settleMs),
    from,
    streams: days,
    totals,
    gaps,
    running,
    lastRun,
    gone,
    late,
    restless,
    splits,
    ledger,
    tables,
  };
}

/** The first day of the month that is `months - 1` before the one of `day`; not before the year 1. */
function firstOfMonth(day: Day, months: number): Day {
  const index = Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - months;
  const first = Math.max(index, 12);
  const year = String(Math.floor(first / 12)).padStart(4, '0');
  return `${year}-${String((first % 12) + 1).padStart(2, '0')}-01`;
}

/** The sums of a stream; zeros where it was never planned. */
export function totalsOf(
  facts: StatusFacts,
  { streamId }: StreamDays,
): Omit<StreamTotals, 'streamId'> {
  const days = { firstDay: null, closed: 0, complete: 0, pruned: 0, tiered: 0 };
  const none = { streamId, ...days, records: 0, pages: 0, bytes: 0 };
  const { streamId: _, ...totals } = facts.totals.find((own) => own.streamId === streamId) ?? none;
  return totals;
}

/** The status for programs; docs/status.schema.json describes it. */
export function statusDocument(facts: StatusFacts) {
  return {
    at: new Date(facts.now),
    timezone: facts.timeZone,
    lastClosedDay: facts.lastClosed,
    streams: facts.streams.map((stream) => ({
      stream: stream.stream,
      since: stream.since,
      ...totalsOf(facts, stream),
      ledger: facts.ledger.find((head) => head.stream === stream.stream) ?? null,
      days: stream.days
        .filter(({ state }) => state !== 'out')
        .map((day) => ({ ...day, splits: splitsOf(facts, stream.stream, day.day) })),
    })),
    gaps: gapSpansOf(facts.gaps).map((span) => ({
      ...span,
      command: mendingOf(span),
    })),
    running: facts.running,
    lastRun: facts.lastRun === null ? null : lastRunDocument(facts.lastRun),
    gone: facts.gone,
    late: facts.late.map(({ stream, late, longestHours }) => ({ stream, late, longestHours })),
    tables: facts.tables,
  };
}

/** What the status tells of a run; it is a contract, so nothing else of the row goes in. */
function lastRunDocument(run: RunRow) {
  const { runId, trigger, startedAt, finishedAt, outcome } = run;
  const { windowsComplete, windowsFailed, records, error } = run;
  const when = { runId, trigger, startedAt, finishedAt };
  return { ...when, outcome, windowsComplete, windowsFailed, records, error };
}

function splitsOf(facts: StatusFacts, stream: string, day: Day) {
  const own = facts.splits.filter((split) => split.stream === stream && split.day === day);
  return own.map(({ from, to, by, reason }) => ({ from, to, by, reason }));
}
