/** Progress of a run on stderr: one line that redraws itself on a terminal, a log line every 30 s elsewhere. */
import type { Clock } from '../clock.ts';
import type { RunEvent } from '../export/run.ts';
import type { Logger } from '../log.ts';
import { formatCount, formatDuration } from '../report/format.ts';

const REDRAW_MS = 200;
const LOG_MS = 30_000;

/** What the progress shows at one moment. */
export interface ProgressState {
  readonly windows: number;
  readonly done: number;
  readonly failed: number;
  readonly running: number;
  readonly records: number;
  readonly elapsedMs: number;
}

/** The line of progress: share, rate and what is left, guessed from the windows that are done. */
export function progressLine(state: ProgressState): string {
  const over = state.done + state.failed;
  const rate = state.elapsedMs > 0 ? (state.records * 1000) / state.elapsedMs : 0;
  const left =
    over > 0 && over < state.windows ? (state.elapsedMs / over) * (state.windows - over) : null;
  return [
    `${formatCount(over)}/${formatCount(Math.max(state.windows, over))} windows`,
    ...(state.failed > 0 ? [`${formatCount(state.failed)} failed`] : []),
    `${state.running} running`,
    `${formatCount(state.records)} records`,
    `${formatCount(Math.round(rate))}/s`,
    ...(left === null ? [] : [`about ${formatDuration(left)} left`]),
  ].join(' · ');
}

/** Watches a run. */
export class Progress {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #terminal: boolean;
  readonly #began: number;
  readonly #stop: () => void;
  #windows = 0;
  #done = 0;
  #failed = 0;
  #records = 0;
  readonly #running = new Set<number>();
  #waitingSaid = false;

  /** @param terminal whether stderr is one that a person watches. */
  constructor(clock: Clock, log: Logger, terminal: boolean) {
    this.#clock = clock;
    this.#log = log;
    this.#terminal = terminal;
    this.#began = clock.monotonic();
    this.#stop = clock.every(terminal ? REDRAW_MS : LOG_MS, () => this.#show());
  }

  /** Takes in one event of the run. */
  readonly onEvent = (event: RunEvent): void => {
    switch (event.kind) {
      case 'planned':
        this.#windows = event.windows;
        this.#log.info({ windows: event.windows }, 'planned');
        break;
      case 'claimed':
        this.#running.add(event.window.windowId);
        break;
      case 'page':
        this.#records += event.records;
        break;
      case 'complete':
        this.#running.delete(event.window.windowId);
        this.#done += 1;
        this.#log.debug(
          { ...event.window, proof: event.proof.kind, records: event.proof.records },
          'complete',
        );
        break;
      case 'unchanged':
        this.#running.delete(event.window.windowId);
        this.#done += 1;
        break;
      case 'split':
        this.#running.delete(event.window.windowId);
        this.#windows += event.parts;
        this.#done += 1;
        this.#log.info(
          { ...event.window, by: event.by, parts: event.parts, reason: event.reason },
          'the window is split',
        );
        break;
      case 'failed':
        this.#running.delete(event.window.windowId);
        this.#failed += 1;
        this.#clear();
        this.#log.warn({ ...event.window, reason: event.reason }, 'the window failed');
        break;
      case 'stream-stopped':
        this.#clear();
        this.#log.error(
          { stream: event.stream, reason: event.reason },
          'the stream is given up for this run',
        );
        break;
      case 'waiting':
        if (this.#waitingSaid) break;
        this.#waitingSaid = true;
        this.#clear();
        this.#log.info(
          { windows: event.windows, owner: event.owner },
          'waiting for windows that another worker holds',
        );
        break;
    }
  };

  /** Stops showing, and leaves the terminal clean. Returns the milliseconds since the beginning. */
  end(): number {
    this.#stop();
    this.#clear();
    return this.#clock.monotonic() - this.#began;
  }

  #show(): void {
    const state: ProgressState = {
      windows: this.#windows,
      done: this.#done,
      failed: this.#failed,
      running: this.#running.size,
      records: this.#records,
      elapsedMs: this.#clock.monotonic() - this.#began,
    };
    if (this.#terminal) process.stderr.write(`\r\u001b[2K${progressLine(state)}`);
    else this.#log.info({ ...state, elapsedMs: Math.round(state.elapsedMs) }, progressLine(state));
  }

  #clear(): void {
    if (this.#terminal) process.stderr.write('\r\u001b[2K');
  }
}
