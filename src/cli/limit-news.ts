/** What the limiter does, in the log: a line where something changed that an operator would want to know. */
import type { Logger } from '../log.ts';
import type { LimiterState } from '../source/limiter.ts';
import type { Away } from '../source/source.ts';

/** Shorter pauses are not told. */
const LONG_PAUSE_MS = 5_000;

/** Takes in the states of a limiter, and tells of each thing once that it goes on, and once that it is over. */
export function tellLimits(log: Logger): (state: LimiterState) => void {
  /** What goes on, as told. */
  const told = new Set<string>();
  const change = (what: string, goesOn: boolean, isOver: boolean): 'begins' | 'ends' | null => {
    if (told.has(what) ? !isOver : !goesOn) return null;
    if (told.delete(what)) return 'ends';
    told.add(what);
    return 'begins';
  };
  return ({ pausedMs, refused, pace, limit, most }) => {
    // A pause that runs out passes below the bound, and is the same one still.
    if (change('pause', pausedMs >= LONG_PAUSE_MS, pausedMs === 0) === 'begins')
      log.warn(
        { pausedMs: Math.round(pausedMs), refused },
        `the API refuses requests; all of them wait for ${Math.round(pausedMs / 1000)} s`,
      );
    const paced = change('pace', pace !== null, pace === null);
    if (paced !== null)
      log.info(
        { perSecond: pace, refused },
        paced === 'begins'
          ? `the API limits requests: going on with about ${Math.round(pace ?? 0)} a second`
          : 'the API takes requests freely again',
      );
    const limited = change('limit', limit <= most / 2, limit === most);
    if (limited !== null)
      log.info(
        { limit, most },
        limited === 'begins'
          ? `answers do not come in time: ${limit} of ${most} requests at a time`
          : `answers come in time again: ${most} requests at a time`,
      );
  };
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
