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
  readonly #told = new Set<'pause' | 'pace' | 'limit'>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes in a state. */
  readonly onLimits = ({ pausedMs, refused, pace, limit, most }: LimiterState): void => {
    // A pause that runs out passes below the bound, and is the same one still.
    this.#tell('pause', pausedMs >= LONG_PAUSE_MS, pausedMs === 0, (begins) => {
      const text = `the API refuses requests; all of them wait for ${Math.round(pausedMs / 1000)} s`;
      if (begins) this.#log.warn({ pausedMs: Math.round(pausedMs), refused }, text);
    });
    this.#tell('pace', pace !== null, pace === null, (begins) => {
      const text = begins
        ? `the API limits requests: going on with about ${Math.round(pace ?? 0)} a second`
        : 'the API takes requests freely again';
      this.#log.info({ perSecond: pace, refused }, text);
    });
    this.#tell('limit', limit <= most / 2, limit === most, (begins) => {
      const text = begins
        ? `answers do not come in time: ${limit} of ${most} requests at a time`
        : `answers come in time again: ${most} requests at a time`;
      this.#log.info({ limit, most }, text);
    });
  };

  /** Tells once that something goes on, and once that it is over. */
  #tell(
    what: 'pause' | 'pace' | 'limit',
    goesOn: boolean,
    isOver: boolean,
    tell: (begins: boolean) => void,
  ): void {
    if (this.#told.has(what) ? !isOver : !goesOn) return;
    if (goesOn) this.#told.add(what);
    else this.#told.delete(what);
    tell(goesOn);
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
