/** What the limiter does, in the log: a line where something changed that an operator would want to know. */
import type { Logger } from '../log.ts';
import type { LimiterState } from '../source/limiter.ts';
import type { Away } from '../source/source.ts';

/** Shorter pauses are not told. */
const LONG_PAUSE_MS = 5_000;
/** A pace that differs by no more than this factor from what was told is no news. */
const PACE_NEWS = 1.5;

/** Watches the states of a limiter. */
export class LimitNews {
  readonly #log: Logger;
  /** Requests a second, as told last. */
  #pace: number | null = null;
  #limit: number | null = null;
  #paused = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes in a state. */
  readonly onLimits = (state: LimiterState): void => {
    this.#tellPause(state);
    this.#tellPace(state);
    this.#tellLimit(state);
  };

  #tellPause({ pausedMs, refused }: LimiterState): void {
    const long = pausedMs >= LONG_PAUSE_MS;
    if (long && !this.#paused)
      this.#log.warn(
        { pausedMs: Math.round(pausedMs), refused },
        `the API refuses requests; all of them wait for ${Math.round(pausedMs / 1000)} s`,
      );
    // A pause that runs out passes below the bound, and is the same one still.
    if (long || pausedMs === 0) this.#paused = long;
  }

  #tellPace({ pace, refused }: LimiterState): void {
    if (pace === null) {
      if (this.#pace !== null) this.#log.info({ refused }, 'the API takes requests freely again');
      this.#pace = null;
      return;
    }
    const news =
      this.#pace === null || pace > this.#pace * PACE_NEWS || pace < this.#pace / PACE_NEWS;
    if (!news) return;
    this.#pace = pace;
    this.#log.info(
      { perSecond: Math.round(pace * 10) / 10, refused },
      `the API limits requests: going on with about ${Math.round(pace)} a second`,
    );
  }

  #tellLimit({ limit, most }: LimiterState): void {
    const told = this.#limit ?? most;
    const cut = limit < most && limit <= told / 2;
    const back = limit === most && told < most;
    if (!cut && !back) return;
    this.#limit = limit;
    const fields = { limit, most };
    if (cut)
      this.#log.info(fields, `answers do not come in time: ${limit} of ${most} requests at a time`);
    else this.#log.info(fields, `answers come in time again: ${most} requests at a time`);
  }
}

/** Tells that the API is away, and how long it is tried. */
export function tellAway(log: Logger): (away: Away) => void {
  return ({ awayMs, until }) => {
    const time = new Date(until).toISOString();
    log.warn(
      { awayMs: Math.round(awayMs), until: time },
      `the API has been away for ${Math.round(awayMs / 1000)} s; trying until ${time.slice(11, 19)} UTC`,
    );
  };
}
