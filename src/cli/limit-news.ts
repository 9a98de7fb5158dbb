/** What the limiter does, in the log: a line where something changed that an operator would want to know. */
import type { Logger } from '../log.ts';
import type { LimiterState } from '../source/limiter.ts';
import type { Away } from '../source/source.ts';

/** Shorter pauses are not told. */
const LONG_PAUSE_MS = 5_000;

/** Watches the states of a limiter. */
export class LimitNews {
  readonly #log: Logger;
  /** What goes on, as told. */
  readonly #told = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes in a state. */
  readonly onLimits = ({ pausedMs, refused, pace, limit, most }: LimiterState): void => {
    // A pause that runs out passes below the bound, and is the same one still.
    if (this.#change('pause', pausedMs >= LONG_PAUSE_MS, pausedMs === 0) === 'begins')
      this.#log.warn(
        { pausedMs: Math.round(pausedMs), refused },
        `the API refuses requests; all of them wait for ${Math.round(pausedMs / 1000)} s`,
      );
    const paced = this.#change('pace', pace !== null, pace === null);
    if (paced !== null)
      this.#log.info(
        { perSecond: pace, refused },
        paced === 'begins'
          ? `the API limits requests: going on with about ${Math.round(pace ?? 0)} a second`
          : 'the API takes requests freely again',
      );
    const limited = this.#change('limit', limit <= most / 2, limit === most);
    if (limited !== null)
      this.#log.info(
        { limit, most },
        limited === 'begins'
          ? `answers do not come in time: ${limit} of ${most} requests at a time`
          : `answers come in time again: ${most} requests at a time`,
      );
  };

  /** Whether something has begun, or is over: each once. */
  #change(what: string, goesOn: boolean, isOver: boolean): 'begins' | 'ends' | null {
    if (this.#told.has(what) ? !isOver : !goesOn) return null;
    if (this.#told.delete(what)) return 'ends';
    this.#told.add(what);
    return 'begins';
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
