/** The events of a run for programs: one JSON object a line on stdout, described by docs/events.schema.json. */
import type { Clock } from '../../clock.ts';
import { DaywalkError, exitCodeOf } from '../../errors.ts';
import type { LimiterState } from '../../source/limiter.ts';
import type { RunEvent } from '../../walk/run.ts';
import { redactor } from '../process-redactor.ts';
import { printEvent } from './output.ts';
import type { ProgressState } from './run-progress.ts';

/** Writes events to stdout; each has its name under `event` and its time under `at`. */
export class EventWriter {
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Something happened in the run. */
  happened({ kind, ...fields }: RunEvent): void {
    this.#write(kind, fields);
  }

  /** How far it is. */
  progress(state: ProgressState, requests: LimiterState): void {
    this.#write('progress', { ...state, requests });
  }

  /** The last event of a run that came to its end; `report` is what `--json` prints. */
  ended(exitCode: number, report: object): void {
    this.#write('report', { exitCode, report });
  }

  /** The last event of a run that an error ended. */
  broke(error: unknown): void {
    const message = redactor.redact(error instanceof Error ? error.message : String(error));
    const hint = (error instanceof DaywalkError ? error.hint : undefined) ?? null;
    this.#write('error', { exitCode: exitCodeOf(error), message, hint });
  }

  #write(event: string, fields: object): void {
    printEvent({ event, at: new Date(this.#clock.now()), ...fields });
  }
}
