/** Shows a run while it goes: live lines on a terminal, a log line every 30 s elsewhere, events for programs. */
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { LimiterState } from '../../source/limiter.ts';
import type { RunEvent } from '../../walk/run.ts';
import type { LiveLines } from './live-lines.ts';
import { printEvent } from './output.ts';
import { isHeldBack, progressFrame, progressLine, requestsLine } from './progress-text.ts';
import { type ProgressState, RunProgress } from './run-progress.ts';

const REDRAW_MS = 200;
const LOG_MS = 30_000;
const EVENT_MS = 5_000;

/** Who is shown the run, besides the log. */
export interface Audience {
  /** Absent: nobody watches a terminal. */
  readonly live?: LiveLines | undefined;
  /** Whether programs are told on stdout. */
  readonly events?: boolean;
  /** What the limiter of the requests does now. */
  readonly requests: () => LimiterState;
}

/** What the log says of events, and how important that is; of others it says nothing. */
const NEWS: Partial<Record<RunEvent['kind'], readonly [keyof Logger, string]>> = {
  planned: ['info', 'planned'],
  complete: ['debug', 'complete'],
  split: ['info', 'the window is split'],
  failed: ['warn', 'the window failed'],
  'stream-stopped': ['error', 'the stream is given up for this run'],
  waiting: ['info', 'waiting for windows that another worker holds'],
  following: [
    'info',
    'the walking is done; ledger, record tables and search filters are brought in step; if this is stopped, the next run goes on with it',
  ],
};

/** Watches a run. */
export class Progress {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #audience: Audience;
  readonly #began: number;
  readonly #run: RunProgress;
  readonly #stops: readonly (() => void)[];
  #waitingSaid = false;

  constructor(clock: Clock, log: Logger, audience: Audience) {
    this.#clock = clock;
    this.#log = log;
    this.#audience = audience;
    this.#began = clock.monotonic();
    this.#run = new RunProgress(this.#began);
    const { live, requests } = audience;
    this.#stops = [
      live === undefined
        ? clock.every(LOG_MS, () => this.#tell())
        : clock.every(REDRAW_MS, () => live.show(progressFrame(this.state, requests(), live.size))),
      clock.every(EVENT_MS, () => this.#emit('progress', { ...this.state, requests: requests() })),
    ];
  }

  /** Takes in one event of the run. */
  readonly onEvent = (event: RunEvent): void => {
    this.#run.add(event, this.#clock.monotonic());
    const { kind, ...fields } = event;
    this.#emit(kind, fields);
    const news = NEWS[kind];
    if (news === undefined || (kind === 'waiting' && this.#waitingSaid)) return;
    this.#waitingSaid ||= kind === 'waiting';
    const [level, message] = news;
    const { window, ...rest } = { window: {}, ...fields };
    this.#log[level]({ ...window, ...rest }, message);
  };

  /** Where the run stands. */
  get state(): ProgressState {
    return this.#run.state(this.#clock.monotonic());
  }

  /** Stops showing, and leaves the terminal clean. Returns the milliseconds since the beginning. */
  end(): number {
    for (const stop of this.#stops) stop();
    this.#audience.live?.clear();
    return this.#clock.monotonic() - this.#began;
  }

  #tell(): void {
    const { state } = this;
    const requests = this.#audience.requests();
    const line = progressLine(state);
    this.#log.info(
      { ...state, running: state.running.length, requests },
      isHeldBack(requests) ? `${line} · ${requestsLine(requests)}` : line,
    );
  }

  #emit(event: string, fields: object): void {
    if (this.#audience.events === true) printEvent(event, fields);
  }
}
