/** What a run did, in sentences, and the exit code that follows from it. */
import { EXIT } from '../../errors.ts';
import { counted, formatBytes, formatCount, formatDuration } from '../../text.ts';
import { notInStepText } from '../../walk/followers.ts';
import { isDone, type RunReport } from '../../walk/run.ts';
import type { ProgressState } from './run-progress.ts';

const MOST_LINES = 10;

/** The exit code of a finished run. */
export function exitCodeOfRun(report: RunReport): number {
  return isDone(report) ? EXIT.done : EXIT.gaps;
}

/** The lines that a person reads at the end of a run. */
export function describeRun(report: RunReport, elapsedMs: number): string[] {
  const lines = [whatWasDone(report, formatDuration(elapsedMs))];
  for (const { stream, reason } of report.stopped)
    lines.push(`Stream ${stream} was given up for this run: ${reason}`);
  for (const { stream, from, to, reason } of report.failures.slice(0, MOST_LINES))
    lines.push(`Failed: ${stream} ${from} to ${to}: ${reason}`);
  if (report.failures.length > MOST_LINES)
    lines.push(`… and ${report.failures.length - MOST_LINES} more failed windows.`);
  if (report.gaps.length > 0)
    lines.push(
      `${report.gaps.length === 1 ? '1 day is' : `${formatCount(report.gaps.length)} days are`} not complete; \`daywalk gaps\` lists them.`,
    );
  for (const { stream, day, lost, records } of report.lost.slice(0, MOST_LINES))
    lines.push(
      `The source lost ${formatCount(lost)} of ${formatCount(records)} records of ${stream} ${day}; they are kept. If that is as it should be: daywalk accept`,
    );
  for (const follower of report.notInStep)
    lines.push(`Failed, and tried again by the next run: ${notInStepText(follower)}`);
  return lines;
}

/** What a run that did not come to its end has stored, and how to go on. */
export function describeUnfinished(
  { windows, done, records }: Pick<ProgressState, 'windows' | 'done' | 'records'>,
  command: string,
): string[] {
  return [
    windows === 0
      ? 'Nothing was stored in this run.'
      : `Stored in this run: ${formatCount(done)} of ${counted(windows, 'window')}, ${counted(records, 'record')} received. They are not fetched again.`,
    `To go on: ${command}`,
  ];
}

function whatWasDone(report: RunReport, duration: string): string {
  const { windowsComplete, windowsUnchanged, failures, records, pages, bytes } = report;
  if (windowsComplete > 0 || failures.length > 0)
    return `${countDays(report, windowsComplete)} complete: ${formatCount(records)} records received in ${formatCount(pages)} pages, ${formatBytes(bytes)}, in ${duration}.`;
  return windowsUnchanged > 0
    ? `${countDays(report, windowsUnchanged)} looked at again: the source shows what is stored, in ${duration}.`
    : 'Nothing was due.';
}

/** A window is a day of a stream, unless days were split. */
const countDays = ({ windowsSplit }: RunReport, count: number): string =>
  counted(count, windowsSplit > 0 ? 'window' : 'day');
