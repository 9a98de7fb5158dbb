/** What a run did, in sentences, and the exit code that follows from it. */
import { acceptCommand, IF_RIGHT, kindOfError } from '../../days/gaps.ts';
import { type DaywalkError, EXIT, RefusedError, SettingsError } from '../../errors.ts';
import { spansOf, spanText } from '../../plan/days.ts';
import { counted, formatBytes, formatCount, formatDuration, linesOf } from '../../text.ts';
import type { WindowFailed } from '../../walk/events.ts';
import { notInStepText } from '../../walk/followers.ts';
import { isDone, type RunReport } from '../../walk/run.ts';
import { shortened } from './output.ts';
import type { ProgressState } from './run-progress.ts';

const MOST_LINES = 10;

/** The exit code of a finished run. */
export function exitCodeOfRun(report: RunReport): number {
  return isDone(report) ? EXIT.done : EXIT.gaps;
}

/** The lines that a person reads at the end of a run. */
export function describeRun(report: RunReport, elapsedMs: number): string[] {
  const { stopped, failures, gaps, lost, notInStep } = report;
  return linesOf(
    whatWasDone(report, formatDuration(elapsedMs)),
    stopped.map(
      ({ stream, reason }) =>
        `Stream ${stream} was given up for this run, and is tried again by the next one: ${reason}`,
    ),
    shortened(failureLines(failures), MOST_LINES, '`daywalk gaps` lists all.'),
    gaps.length > 0 && `Not complete: ${counted(gaps.length, 'day')}; \`daywalk gaps\` lists them.`,
    lost.slice(0, MOST_LINES).map((day) => {
      const share = `${formatCount(day.lost)} of ${formatCount(day.records)}`;
      return `The source does not show ${share} records of ${day.stream} ${day.day} any more; they are kept. Find out who deleted them; ${IF_RIGHT}${acceptCommand(day.stream)}`;
    }),
    notInStep.map((one) => `Failed, and tried again by the next run: ${notInStepText(one)}`),
  );
}

/** A line for each reason, with the windows that failed for it. */
function failureLines(failures: readonly WindowFailed[]): string[] {
  const groups = new Map<string, WindowFailed[]>();
  for (const failure of failures) {
    const key = JSON.stringify([failure.stream, kindOfError(failure.reason)]);
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  return [...groups.values()].map((group) => {
    const [{ stream, from, to, reason }] = group as [WindowFailed];
    const days = [...new Set(group.map(dayOf))].sort().map((day) => ({ day }));
    const what = group.every(isMidnight) ? 'midnights after' : 'windows of';
    const spans = spansOf(days, () => '').map(spanText);
    const when =
      group.length === 1 ? `${from} to ${to}` : `${group.length} ${what} ${spans.join(', ')}`;
    return `Failed: ${stream} ${when}: ${reason}`;
  });
}

const dayOf = ({ from }: Pick<WindowFailed, 'from'>): string => from.slice(0, 10);
const isMidnight = ({ from, to }: WindowFailed): boolean => dayOf({ from }) !== to.slice(0, 10);

/**
 * What a run that did not come to its end has stored, and how to go on.
 * @param all whether complete days were asked for, too.
 */
export function describeUnfinished(
  { windows, done, records }: ProgressState,
  error: DaywalkError,
  all: boolean,
): string[] {
  const isToMend = error instanceof SettingsError || error instanceof RefusedError;
  return [
    done === 0 && records === 0
      ? 'Nothing was stored in this run.'
      : `Stored in this run: ${formatCount(done)} of ${counted(windows, 'window')}, ${counted(records, 'record')} received. They are not fetched again.`,
    `To go on${isToMend ? ', once that is mended' : ''}: the same command${all ? ' (without --only all, which would walk those again, too)' : ''}.`,
  ];
}

function whatWasDone(report: RunReport, duration: string): string {
  const { windowsComplete, windowsUnchanged, failures, records, pages, bytes } = report;
  if (windowsComplete > 0 || failures.length > 0)
    return `${countDays(report, windowsComplete)} complete: ${counted(records, 'record')} received in ${counted(pages, 'page')}, ${formatBytes(bytes)}, in ${duration}.`;
  return windowsUnchanged > 0
    ? `${countDays(report, windowsUnchanged)} looked at again: the source shows what is stored, in ${duration}.`
    : 'Nothing was due.';
}

/** A window is a day of a stream, unless days were split; where midnights failed, its day is not complete. */
const countDays = ({ windowsSplit, gaps }: RunReport, count: number): string =>
  counted(count, windowsSplit + gaps.length > 0 ? 'window' : 'day');
