/** `daywalk worker`: the daemon; a catch-up pass at the start and at every tick of the schedule. */
import { schedule } from 'node-cron';
import { systemClock } from '../clock.ts';
import { DaywalkError, EXIT, RefusedError, SettingsError } from '../errors.ts';
import { catchUp } from '../export/run.ts';
import { describeRun } from '../report/run-text.ts';
import { type ExportSession, withExport } from './export-verb.ts';
import { Progress } from './progress.ts';
import type { Invocation } from './verb.ts';
import { exportOptions } from './wiring.ts';

/** Runs until it is stopped, or until the key or the settings are refused. */
export function worker(invocation: Invocation): Promise<number> {
  const { signal } = invocation;
  const untilStopped = async (session: ExportSession) => {
    await eachTick(session.settings.schedule, signal, session, () => pass(session, signal));
    return EXIT.done;
  };
  return withExport(invocation, untilStopped, true);
}

/**
 * Calls `work` at once and at every tick, never twice at a time: a tick during a pass asks for one more pass after it.
 * A tick only wakes the planner, so a missed one loses nothing (DESIGN 4).
 * @throws what `work` throws; the signal's reason.
 */
async function eachTick(
  expression: string,
  signal: AbortSignal,
  { log }: ExportSession,
  work: () => Promise<void>,
): Promise<void> {
  let wake: () => void = () => {};
  let ticked = true;
  // In UTC, because node-cron skips ticks around changes of the clocks elsewhere.
  const task = schedule(
    expression,
    () => {
      ticked = true;
      wake();
    },
    { timezone: 'UTC', noOverlap: false },
  );
  signal.addEventListener('abort', () => wake(), { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      if (ticked) {
        ticked = false;
        await work();
        continue;
      }
      log.info({ next: task.getNextRun() }, 'waiting for the next tick');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    await task.destroy();
  }
}

/** One pass. An API or a database that is away is no reason to end: the next tick finds everything still due. */
async function pass(
  { settings, parts, log, limits }: ExportSession,
  signal: AbortSignal,
): Promise<void> {
  const progress = new Progress(systemClock, log, { requests: limits });
  try {
    const report = await catchUp(
      parts,
      exportOptions(settings),
      'schedule',
      signal,
      progress.onEvent,
    );
    const { gaps, failures, stopped, ...counts } = report;
    const level = gaps.length === 0 && failures.length === 0 ? 'info' : 'warn';
    log[level](
      { ...counts, gaps: gaps.length, stopped },
      describeRun(report, progress.end()).join(' '),
    );
  } catch (error) {
    signal.throwIfAborted();
    const forAll = error instanceof RefusedError || error instanceof SettingsError;
    if (forAll || !(error instanceof DaywalkError)) throw error;
    log.error({ err: error }, 'the pass ended early; the next tick goes on');
  } finally {
    progress.end();
  }
}
