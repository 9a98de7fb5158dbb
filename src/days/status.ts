/** Where the export stands, read at one moment, and as the document that `status --json` and the status page give to programs. */

import { readLedgerHeads } from '../ledger/rows.ts';
import type { Day } from '../model.ts';
import { dayAt, firstOfMonth, lastClosedDay } from '../plan/days.ts';
import type { Database } from '../store/database.ts';
import { readRestless } from '../store/evidence/learned.ts';
import { readGone } from '../store/publications.ts';
import { readTogether } from '../store/read-together.ts';
import { type RunRow, readLastRun } from '../store/runs.ts';
import { databaseNow } from '../store/windows.ts';
import { readGaps, readLateness, readRunning, readSplits, readTables } from './coverage-rows.ts';
import { type DaysAsked, readStreamDays, type StreamDays } from './covered-days.ts';
import { gapSpansOf, mendingOf } from './gaps.ts';
import { readTotals, type StreamTotals } from './rows.ts';
import { firstTickAfter } from './ticks.ts';

/** The months that a calendar shows, the present one included, unless others are asked for. */
const MONTHS_SHOWN = 13;

/** Whose calendar, and how much of it. */
export interface StatusAsked extends Pick<DaysAsked, 'timeZone' | 'settleMs'> {
  /** Months of days, the present one included; absent: {@link MONTHS_SHOWN}. */
  readonly months?: number | undefined;
}

/** What `status` knows. */
export type StatusFacts = Awaited<ReturnType<typeof readStatus>>;

/** Reads all of it: day by day for the months shown, as sums and gaps for the rest. */
export async function readStatus(
  database: Database,
  streams: readonly string[],
  { timeZone, settleMs, months = MONTHS_SHOWN }: StatusAsked,
) {
  const now = await databaseNow(database);
  const from = firstOfMonth(dayAt(now, timeZone), months - 1);
  const found = await readTogether({
    /** In the order of the names asked for, with the days shown. */
    streams: readStreamDays(database, { streams, from, timeZone, settleMs }),
    /** Of all days, those not shown too. */
    totals: readTotals(database, streams),
    /** All days that are not complete. */
    gaps: readGaps(database, streams),
    running: readRunning(database),
    lastRun: readLastRun(database),
    /** What the sources do not show any more. */
    gone: readGone(database, streams),
    late: readLateness(database, streams),
    /** Streams whose source answers one question in different ways. */
    restless: readRestless(database, streams),
    /** Windows of the days shown that could not be walked whole. */
    splits: readSplits(database, streams, from),
    /** The ends of the ledger's chains. */
    ledger: readLedgerHeads(database, streams),
    /** The record tables. */
    tables: readTables(database),
  });
  return {
    /** IANA name of the source's zone. */
    timeZone,
    /** Milliseconds since the epoch, by the database's clock. */
    now,
    /** The newest day that is closed. */
    lastClosed: lastClosedDay(now, timeZone, settleMs),
    /** The first day that is shown, of a month. */
    from,
    ...found,
  };
}

/** The sums of a stream. */
export const totalsOf = (
  { totals }: StatusFacts,
  { stream }: StreamDays,
): Omit<StreamTotals, 'stream'> => totals.find((own) => own.stream === stream) as StreamTotals;

/**
 * The status for programs; docs/status.schema.json describes it.
 * @param schedule five cron fields, in UTC.
 */
export function statusDocument(facts: StatusFacts, schedule: string) {
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
    gaps: gapSpansOf(facts.gaps).map((span) => ({ ...span, command: mendingOf(span) })),
    running: facts.running,
    lastRun: facts.lastRun === null ? null : lastRunDocument(facts.lastRun),
    gone: facts.gone,
    restless: facts.restless,
    late: facts.late.map(({ stream, late, longestHours }) => ({ stream, late, longestHours })),
    tables: facts.tables,
    schedule,
    nextRun: new Date(firstTickAfter(schedule, facts.now)),
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
