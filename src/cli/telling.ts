/** Runs whose beginning and end people are told. */
import { systemClock } from '../clock.ts';
import { exitCodeOf } from '../errors.ts';
import type { RunEnd, Teller } from '../notify/teller.ts';
import type { RunReport } from '../walk/run.ts';
import { describeRun, exitCodeOfRun } from './terminal/run-text.ts';

/**
 * Runs, and tells people that it began and how it ended; an interruption is not told, because it is no end of the work.
 * @throws what `run` throws.
 */
export async function told(
  teller: Teller,
  signal: AbortSignal,
  run: () => Promise<RunReport>,
): Promise<RunReport> {
  const telling = teller.begin();
  const began = systemClock.monotonic();
  try {
    const report = await run();
    const text = describeRun(report, systemClock.monotonic() - began).join('\n');
    await telling.ended({ exitCode: exitCodeOfRun(report), text });
    return report;
  } catch (error) {
    if (!signal.aborted) await telling.ended(failedEnd(error));
    throw error;
  }
}

/** Opens what a run needs; where it cannot be opened, that is told like a run that it ended. */
export async function tellingFailure<T>(
  teller: Teller,
  signal: AbortSignal,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!signal.aborted) await teller.begin().ended(failedEnd(error));
    throw error;
  }
}

function failedEnd(error: unknown): RunEnd {
  const text = error instanceof Error ? error.message : String(error);
  return { exitCode: exitCodeOf(error), text, error };
}
