/** Shows a run while it goes: live lines on a terminal, a log line every 30 s elsewhere, events for programs. */
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { LimiterState } from '../../source/limiter.ts';
import type { RunEvent } from '../../walk/run.ts';
import type { LiveLines } from './live-lines.ts';
import { printEvent } from './output.ts';
import { isHeldBack, progressFrame, progressLine, requestsLine } from './progress-text.ts';
import { RunProgress } from './run-progress.ts';

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
  'stream-stopped': ['error', 'the stream is given up for this run; the next one tries it again'],
  waiting: ['info', 'waiting for windows that another worker holds'],
  following: [
    'info',
    'the walking is done; ledger, record tables and search filters are brought up to date; if this is stopped, the next run goes on with it',
  ],
};

/** Watches a run. */
export function openProgress(clock: Clock, log: Logger, { live, events, requests }: Audience) {
  const began = clock.monotonic();
  const run = new RunProgress(began);
  const state = () => run.state(clock.monotonic());
  const emit = (event: string, fields: object) => {
    if (events === true) printEvent(event, fields);
  };
  const tell = () => {
    const now = state();
    const asked = requests();
    const line = progressLine(now);
    log.info(
      { ...now, running: now.running.length, requests: asked },
      isHeldBack(asked) ? `${line} · ${requestsLine(asked)}` : line,
    );
  };
  const stops = [
    live === undefined
      ? clock.every(LOG_MS, tell)
      : clock.every(REDRAW_MS, () => live.show(progressFrame(state(), requests(), live.size))),
    clock.every(EVENT_MS, () => emit('progress', { ...state(), requests: requests() })),
  ];
  let waitingSaid = false;
  let took: number | null = null;
  return {
    /** Takes in one event of the run. */
    onEvent(event: RunEvent): void {
      run.add(event, clock.monotonic());
      const { kind, ...fields } = event;
      emit(kind, fields);
      const news = NEWS[kind];
      if (news === undefined || (kind === 'waiting' && waitingSaid)) return;
      waitingSaid ||= kind === 'waiting';
      const [level, message] = news;
      const { window, ...rest } = { window: {}, ...fields };
      log[level]({ ...window, ...rest }, message);
    },
    /** Where the run stands. */
    state,
    /** Stops showing, and leaves the terminal clean. Returns the milliseconds that the run took, until this was called first. */
    end(): number {
      for (const stop of stops) stop();
      live?.clear();
      took ??= clock.monotonic() - began;
      return took;
    },
  };
}
