/** Runs whose beginning and end people are told. */
import { systemClock } from '../clock.ts';
import { followerTrouble } from '../days/run-words.ts';
import { exitCodeOf } from '../errors.ts';
import type { Notifier, RunEnd } from '../notify/notifier.ts';
import type { RunReport } from '../walk/run.ts';
import { describeRun, exitCodeOfRun } from './terminal/run-text.ts';

/**
 * Runs, and tells people that it began and how it ended; an interruption is not told, because it is no end of the work.
 * @throws what `run` throws.
 */
export async function notified(
  notifier: Notifier,
  signal: AbortSignal,
  run: () => Promise<RunReport>,
): Promise<RunReport> {
  const ended = notifier.begin();
  const began = systemClock.monotonic();
  try {
    const report = await run();
    const text = describeRun(report, systemClock.monotonic() - began).join('\n');
    const troubles = report.notInStep.map(followerTrouble);
    await ended({ exitCode: exitCodeOfRun(report), text, troubles });
    return report;
  } catch (error) {
    if (!signal.aborted) await ended(failedEnd(error));
    throw error;
  }
}

/** Opens what a run needs; where it cannot be opened, that is told like a run that it ended. */
export async function notifyingFailure<T>(
  notifier: Notifier,
  signal: AbortSignal,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!signal.aborted) await notifier.begin()(failedEnd(error));
    throw error;
  }
}

function failedEnd(error: unknown): RunEnd {
  const text = error instanceof Error ? error.message : String(error);
  return { exitCode: exitCodeOf(error), text, error };
}
