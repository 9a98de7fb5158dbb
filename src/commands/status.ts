/** `daywalk status`: the coverage calendar, totals, what runs now, and what is wrong. */
import { readEnvironment } from '../config/environment.ts';
import { EXIT } from '../errors.ts';
import { addDays } from '../plan/days.ts';
import { formatBytes, formatCount } from '../report/format.ts';
import { describeGaps, describeUnplanned } from '../report/gaps.ts';
import { readStatus, type StatusFacts, statusDocument, totalsOf } from '../report/status.ts';
import type { CoverageRow } from '../store/coverage.ts';
import type { StreamDifferences } from '../store/differences.ts';
import type { RunRow } from '../store/runs.ts';
import { type CalendarStream, type CellState, renderCalendar } from './calendar.ts';
import { print, printJson, terminal } from './output.ts';
import type { Invocation } from './verb.ts';
import { openDatabase, openLog, settingsOf } from './wiring.ts';

/** Prints where the export stands. */
export async function status(invocation: Invocation): Promise<number> {
  const settings = settingsOf(invocation);
  const log = await openLog(settings);
  const { database, close } = await openDatabase(settings, log, invocation.signal);
  try {
    const streams = settings.streams.map((stream) => stream.name);
    const facts = await readStatus(database, streams, {
      timeZone: settings.timezone,
      settleMs: settings.settle,
    });
    if (invocation.options.json === true) printJson(statusDocument(facts));
    else print(...describeStatus(facts, terminal(readEnvironment())));
    return EXIT.done;
  } finally {
    await close();
    await log.flush();
  }
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
