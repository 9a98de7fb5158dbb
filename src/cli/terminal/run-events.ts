/** The events of a run for programs: one JSON object a line on stdout, described by docs/events.schema.json. */
import type { Clock } from '../../clock.ts';
import { DaywalkError, exitCodeOf } from '../../errors.ts';
import type { LimiterState } from '../../source/limiter.ts';
import type { RunEvent } from '../../walk/run.ts';
import { redactor } from '../process-redactor.ts';
import { printEvent } from './output.ts';
import type { ProgressState } from './run-progress.ts';

/** Writes events. */
export interface EventWriter {
  /** Something happened in the run. */
  happened(event: RunEvent): void;
  /** How far it is. */
  progress(state: ProgressState, requests: LimiterState): void;
  /** The last event of a run that came to its end; `report` is what `--json` prints. */
  ended(exitCode: number, report: object): void;
  /** The last event of a run that an error ended. */
  broke(error: unknown): void;
}

/** Writes events to stdout; each has its name under `event` and its time under `at`. */
export function openEventWriter(clock: Pick<Clock, 'now'>): EventWriter {
  const write = (event: string, fields: object) =>
    printEvent({ event, at: new Date(clock.now()), ...fields });
  return {
    happened: ({ kind, ...fields }) => write(kind, fields),
    progress: (state, requests) => write('progress', { ...state, requests }),
    ended: (exitCode, report) => write('report', { exitCode, report }),
    broke: (error) =>
      write('error', {
        exitCode: exitCodeOf(error),
        message: redactor.redact(error instanceof Error ? error.message : String(error)),
        hint: (error instanceof DaywalkError ? error.hint : undefined) ?? null,
      }),
  };
}
