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
} from '../store/coverage.ts';
import { type RunRow, readLastRun } from '../store/runs.ts';
import { databaseNow } from '../store/windows.ts';
import { type CalendarStream, type CellState, renderCalendar } from './calendar.ts';
import { formatBytes, formatCount } from './format.ts';
import { describeGaps } from './gaps.ts';
import { print, printJson, terminal } from './output.ts';
import type { Invocation } from './verb.ts';
import { openDatabase, openLog, settingsOf } from './wiring.ts';

/** What `status` knows. */
export interface StatusFacts {
  readonly streams: readonly string[];
  readonly coverage: readonly CoverageRow[];
  readonly running: readonly RunningWindow[];
  readonly lastRun: RunRow | null;
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
    const [coverage, running, lastRun, now] = await Promise.all([
      readCoverage(database, streams),
      readRunning(database),
      readLastRun(database),
      databaseNow(database),
    ]);
    const facts = {
      streams,
      coverage,
      running,
      lastRun,
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
      return { stream, ...totals, days };
    }),
    running: facts.running,
    lastRun: facts.lastRun,
  };
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
    ...describeLastRun(facts.lastRun),
    '',
    ...describeGaps(gaps),
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
