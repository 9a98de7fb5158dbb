/** What the limiter does, in the log: a line where something changed that an operator would want to know. */
import type { Logger } from '../log.ts';
import type { LimiterState } from '../source/limiter.ts';

/** Shorter holds are not told. */
const LONG_HOLD_MS = 5_000;
/** A pace that differs by no more than this factor from what was told is no news. */
const PACE_NEWS = 1.5;

/** Watches the states of a limiter. */
export class LimitNews {
  readonly #log: Logger;
  /** Requests a second, as told last. */
  #pace: number | null = null;
  #limit: number | null = null;
  #held = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes in a state. */
  readonly onLimits = (state: LimiterState): void => {
    this.#tellHold(state);
    this.#tellPace(state);
    this.#tellLimit(state);
  };

  #tellHold({ heldMs, refused }: LimiterState): void {
    const held = heldMs >= LONG_HOLD_MS;
    if (held && !this.#held)
      this.#log.warn(
        { heldMs: Math.round(heldMs), refused },
        `the API refuses requests; all of them wait for ${Math.round(heldMs / 1000)} s`,
      );
    // A hold that runs out passes below the bound, and is the same one still.
    if (held || heldMs === 0) this.#held = held;
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

  #tellLimit({ limit, most, slowness }: LimiterState): void {
    const told = this.#limit ?? most;
    const cut = limit < most && limit <= told / 2;
    const back = limit === most && told < most;
    if (!cut && !back) return;
    this.#limit = limit;
    const fields = { limit, most, slowness: Math.round(slowness * 10) / 10 };
    if (cut) this.#log.info(fields, `answers take long: ${limit} of ${most} requests at a time`);
    else this.#log.info(fields, `answers take no longer than usual: ${most} requests at a time`);
  }
}
