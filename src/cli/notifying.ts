/** Runs whose beginning and end people are told. */
import { systemClock } from '../clock.ts';
import { followerTrouble } from '../days/run-words.ts';
import { exitCodeOf } from '../errors.ts';
import type { Notifier, RunEnd } from '../notify/notifier.ts';
import type { RunReport } from '../walk/run.ts';
import { describeRun, exitCodeOfRun } from './terminal/run-text.ts';

/** Runs, and tells people that it began and how it ended. @throws what `run` throws. */
export async function notified(
  notifier: Notifier,
  signal: AbortSignal,
  run: () => Promise<RunReport>,
): Promise<RunReport> {
  const ended = notifier.begin();
  const began = systemClock.monotonic();
  const report = await tellingFailure(ended, signal, run);
  const text = describeRun(report, systemClock.monotonic() - began).join('\n');
  const troubles = report.notInStep.map(followerTrouble);
  await ended({ exitCode: exitCodeOfRun(report), text, troubles });
  return report;
}

/** Opens what a run needs; where it cannot be opened, that is told like a run that it ended. */
export const notifyingFailure = <T>(
  notifier: Notifier,
  signal: AbortSignal,
  open: () => Promise<T>,
): Promise<T> => tellingFailure((end) => notifier.begin()(end), signal, open);

/** An interruption is not told, because it is no end of the work. */
async function tellingFailure<T>(
  ended: (end: RunEnd) => Promise<void>,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (!signal.aborted) await ended({ exitCode: exitCodeOf(error), text, error });
    throw error;
  }
}
