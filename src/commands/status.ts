/** `daywalk status`: the coverage calendar, totals, what runs now, and what is wrong. */
import { readEnvironment } from '../config/environment.ts';
import type { Settings } from '../config/settings.ts';
import { EXIT } from '../errors.ts';
import { addDays, lastClosedDay } from '../plan/days.ts';
import {
  type CoverageRow,
  type RunningWindow,
  readCoverage,
  readRunning,
  readSplits,
  type SplitRow,
} from '../store/coverage.ts';
import { readStreamDifferences, type StreamDifferences } from '../store/differences.ts';
import { type LedgerHead, readLedgerHeads } from '../store/ledger.ts';
import { type RunRow, readLastRun } from '../store/runs.ts';
import { databaseNow } from '../store/windows.ts';
import { type CalendarStream, type CellState, renderCalendar } from './calendar.ts';
import { formatBytes, formatCount } from './format.ts';
import { describeGaps, describeUnplanned } from './gaps.ts';
import { print, printJson, terminal } from './output.ts';
import type { Invocation } from './verb.ts';
import { openDatabase, openLog, settingsOf } from './wiring.ts';

/** What `status` knows. */
export interface StatusFacts {
  readonly streams: readonly string[];
  readonly coverage: readonly CoverageRow[];
  readonly running: readonly RunningWindow[];
  readonly lastRun: RunRow | null;
  readonly differences: readonly StreamDifferences[];
  /** Windows that could not be walked whole. */
  readonly splits: readonly SplitRow[];
  /** The ends of the ledger's chains. */
  readonly ledger: readonly LedgerHead[];
  /** The newest day that is closed, and the day after it that is not. */
  readonly lastClosed: string;
}

/** Prints where the export stands. */
export async function status(invocation: Invocation): Promise<number> {
  const settings = settingsOf(invocation);
  const log = await openLog(settings);
  const { database, close } = await openDatabase(settings, log, invocation.signal);
  try {
    const streams = settings.streams.map((stream) => stream.name);
    const [coverage, running, lastRun, differences, splits, ledger, now] = await Promise.all([
      readCoverage(database, streams),
      readRunning(database),
      readLastRun(database),
      readStreamDifferences(database, streams),
      readSplits(database, streams),
      readLedgerHeads(database, streams),
      databaseNow(database),
    ]);
    const facts = {
      streams,
      coverage,
      running,
      lastRun,
      differences,
      splits,
      ledger,
      lastClosed: lastClosedDay(now, settings.timezone, settings.settle),
    };
    if (invocation.options.json === true) printJson(statusDocument(facts, settings));
    else print(...describeStatus(facts, terminal(readEnvironment())));
    return EXIT.done;
  } finally {
    await close();
    await log.flush();
  }
}

/** The status for programs. */
export function statusDocument(facts: StatusFacts, settings: Pick<Settings, 'timezone'>): unknown {
  return {
    timezone: settings.timezone,
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

/** The status for people: calendar, totals, what runs, the last run, and what is missing. */
export function describeStatus(
  facts: StatusFacts,
  look: { colour: boolean; unicode: boolean; width: number },
): string[] {
  if (facts.coverage.length === 0)
    return [
      'Nothing is planned yet. `daywalk run` exports what is due; `daywalk doctor` checks the settings first.',
    ];
  const gaps = facts.coverage.flatMap((row) =>
    row.state === 'complete' ? [] : [{ ...row, state: row.state }],
  );
  const unplanned = facts.streams.filter((name) =>
    facts.coverage.every((row) => row.stream !== name),
  );
  return [
    ...renderCalendar(
      facts.streams.map((stream) => cells(facts, stream)),
      look,
    ),
    '',
    ...facts.streams.map((stream) => {
      const totals = totalsOf(facts, stream);
      return `${stream}: ${formatCount(totals.complete)} of ${formatCount(totals.closed)} days complete, ${formatCount(totals.records)} records, ${formatCount(totals.pages)} pages, ${formatBytes(totals.bytes)}`;
    }),
    ...facts.running.map(
      ({ stream, from, to, owner, records, total }) =>
        `running: ${stream} ${from} to ${to} by ${owner}: ${formatCount(records)}${total === null ? '' : ` of ${formatCount(total)}`} records`,
    ),
    ...facts.differences.flatMap(describeDifferences),
    ...describeLastRun(facts.lastRun),
    '',
    ...describeUnplanned(unplanned),
    ...(unplanned.length > 0 && gaps.length === 0 ? [] : describeGaps(gaps)),
  ];
}

function describeDifferences({ stream, late, vanished }: StreamDifferences): string[] {
  return [
    ...(late > 0
      ? [
          `${stream}: ${formatCount(late)} records came after their day had closed (daywalk.lateness)`,
        ]
      : []),
    ...(vanished > 0
      ? [
          `${stream}: ${formatCount(vanished)} exported records are gone from the source, or differ (daywalk.source_changes)`,
        ]
      : []),
  ];
}

function describeLastRun(run: RunRow | null): string[] {
  if (run === null) return [];
  const end = run.finishedAt === null ? 'not ended' : `${run.outcome}, ${second(run.finishedAt)}`;
  const error = run.error === null ? '' : `: ${run.error}`;
  return [`last run: ${run.trigger}, began ${second(run.startedAt)}, ${end}${error}`];
}

const second = (instant: Date): string =>
  `${instant.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

function totalsOf(facts: StatusFacts, stream: string) {
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

const CELLS: Record<CoverageRow['state'], CellState> = {
  complete: 'complete',
  running: 'running',
  failed: 'failed',
  pending: 'missing',
  missing: 'missing',
};

/** The days of a stream, and the one day after them that is not closed yet. */
function cells(facts: StatusFacts, stream: string): CalendarStream {
  const days = facts.coverage
    .filter((row) => row.stream === stream)
    .map((row) => ({
      day: row.day,
      state: row.state === 'complete' && row.records === 0 ? ('empty' as const) : CELLS[row.state],
    }));
  return { stream, days: [...days, { day: addDays(facts.lastClosed, 1), state: 'open' }] };
}
