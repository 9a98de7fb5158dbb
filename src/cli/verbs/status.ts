/** `daywalk status`: the coverage calendar, totals, what runs now, what is next, and what is wrong. */

import type { GapRow, RunningWindow } from '../../days/coverage-rows.ts';
import type { StreamDays } from '../../days/covered-days.ts';
import { DAY_STATE_WORDS } from '../../days/day-states.ts';
import { describeMissing, GAP_WORDS } from '../../days/gaps.ts';
import { describeGone, describeLate, describeRestless } from '../../days/gone.ts';
import { describeRefusal, RUN_OUTCOME_WORDS, RUN_TRIGGER_WORDS } from '../../days/run-words.ts';
import { readStatus, type StatusFacts, statusDocument, totalsOf } from '../../days/status.ts';
import { firstTickAfter } from '../../days/ticks.ts';
import { EXIT } from '../../errors.ts';
import type { RunRow } from '../../store/runs.ts';
import { compareTables, type TableChange } from '../../tables/table-rows.ts';
import {
  counted,
  formatBytes,
  formatCount,
  formatDuration,
  linesOf,
  utcSecond,
} from '../../text.ts';
import { numberFlag } from '../flags.ts';
import { renderCalendar } from '../terminal/calendar.ts';
import { print, printColoured, printJson } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, withFewConnections } from '../wiring.ts';
import { describeChange, describeTable } from './tables.ts';

/** Spans of gaps that `status` lists; `gaps` lists all. */
const MOST_GAPS = 10;
const MOST_MONTHS = 12 * 100;

/** Prints where the export stands. */
export async function status(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { settings, names } = asked;
  const months = numberFlag('--months', invocation.options.months, 1, MOST_MONTHS);
  return withFewConnections(asked, async ({ database }) => {
    const { timezone: timeZone, settle: settleMs, schedule } = settings;
    const facts = await readStatus(database, names, { timeZone, settleMs, months });
    if (invocation.options.json === true) printJson(statusDocument(facts, schedule));
    else if (facts.streams.every(({ streamId }) => streamId === null))
      print(
        'Nothing is planned yet. `daywalk run` exports what is due; `daywalk doctor` checks the settings first.',
      );
    else {
      printColoured(...renderCalendar(facts.streams, process.stdout.columns ?? 100));
      const changes = await compareTables(database, settings.tables);
      // A table that is there and that these settings do not define may be of other ones.
      const wanting = changes.filter(({ change }) => change !== 'stray');
      print(describeStatus(facts, schedule, wanting));
    }
    return EXIT.done;
  });
}

/** What stands below the calendar: totals, what runs, the last run and the next, and what is missing. */
function describeStatus(facts: StatusFacts, schedule: string, changes: readonly TableChange[]) {
  return [
    '',
    ...facts.streams.map((stream) => describeTotals(facts, stream)),
    ...facts.gone.flatMap(describeGone),
    ...facts.late.map(describeLate),
    ...facts.restless.map(describeRestless),
    ...facts.tables.flatMap(describeTable),
    ...changes.flatMap(describeChange),
    '',
    ...facts.running.map(describeRunning),
    ...describeLastRun(facts.lastRun),
    `next run: ${utcSecond(new Date(firstTickAfter(schedule, facts.now)))}, if a worker runs then (schedule ${schedule})`,
    '',
    ...describeRefusal(facts.lastRun),
    ...describeWrong(facts),
  ];
}

function describeTotals(facts: StatusFacts, stream: StreamDays): string {
  const { openUntil, firstDay, ...totals } = totalsOf(facts, stream);
  return linesOf(
    `${stream.stream}: ${formatCount(totals.complete)} of ${formatCount(totals.closed)} days complete`,
    totals.tiered > 0 && `${counted(totals.tiered, 'day')} of them in the tier`,
    `${counted(totals.records, 'record')}, ${counted(totals.pages, 'page')}, ${formatBytes(totals.bytes)}`,
    totals.pruned > 0 && `${counted(totals.pruned, 'day')} pruned`,
    openUntil !== null &&
      `${counted(totals.open, 'day')} ${DAY_STATE_WORDS.open} (until ${utcSecond(openUntil)})`,
    firstDay !== null && firstDay < facts.from && `from ${firstDay} on (--months shows more)`,
  ).join(', ');
}

function describeRunning({ stream, from, to, owner, records, total }: RunningWindow): string {
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  return `running: ${stream} ${from} to ${to} by ${owner}: ${formatCount(records)}${of} records`;
}

function describeLastRun(run: RunRow | null): string[] {
  if (run === null) return [];
  const began = `last run: ${RUN_TRIGGER_WORDS[run.trigger]}, began ${utcSecond(run.startedAt)}`;
  if (run.finishedAt === null) return [`${began}, not ended yet`];
  const took = formatDuration(run.finishedAt.getTime() - run.startedAt.getTime());
  const error = run.error === null || run.outcome === 'interrupted' ? '' : `: ${run.error}`;
  return [
    `${began}, ${RUN_OUTCOME_WORDS[run.outcome ?? 'done']} after ${took}: ${whatRunDid(run)}${error}`,
  ];
}

function whatRunDid(run: RunRow): string {
  const { records, windowsComplete, windowsUnchanged, windowsFailed, outcome } = run;
  const failed = windowsFailed === 0 ? '' : `, ${counted(windowsFailed, 'window')} failed`;
  if (records + windowsComplete + windowsFailed > 0)
    return `${counted(records, 'record')} received${failed}`;
  if (windowsUnchanged > 0) return 'looked again, found what is stored';
  return outcome === 'done' || outcome === 'gaps' ? 'nothing was due' : 'nothing was received';
}

/** In one sentence, then span by span with the command that mends it. */
function describeWrong(facts: StatusFacts): string[] {
  const unplanned = facts.streams.filter(({ streamId }) => streamId === null);
  const names = unplanned.map(({ stream }) => stream);
  const closed = facts.totals.reduce((sum, totals) => sum + totals.closed, 0);
  const are = facts.gaps.length === 1 ? 'day is' : 'days are';
  return linesOf(
    facts.gaps.length > 0 &&
      `${formatCount(facts.gaps.length)} of ${formatCount(closed)} closed ${are} not complete: ${countedByState(facts.gaps)}.`,
    describeMissing(names, facts.streams, facts.gaps, MOST_GAPS),
  );
}

function countedByState(gaps: readonly GapRow[]): string {
  const states = ['failed', 'missing', 'pending', 'begun', 'walked', 'running'] as const;
  const counts = states.flatMap((state) => {
    const count = gaps.filter((gap) => gap.state === state).length;
    return count === 0 ? [] : `${formatCount(count)} ${GAP_WORDS[state]}`;
  });
  return counts.join('; ');
}
