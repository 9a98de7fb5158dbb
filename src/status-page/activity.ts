/** What this worker does just now: the pass that runs, how the last one ended, and when the next one begins. */
import type { LimiterState } from '../source/limiter.ts';
import type { RefusedKey } from '../store/refused-keys.ts';
import type { NotInStep } from '../walk/followers.ts';

/** A pass under way; cuts are not counted as windows. */
export interface Pass {
  /** Windows that were due, the parts of split ones included. */
  readonly windows: number;
  readonly done: number;
  readonly failed: number;
  readonly records: number;
  readonly elapsedMs: number;
  /** Milliseconds, if the rest goes as what is done; null: nothing is done yet, or nothing is left. */
  readonly leftMs: number | null;
}

/** What the worker notes, and the pages show. */
export interface Activity {
  /** Milliseconds since the epoch; null: not known while a pass runs. */
  nextTick: number | null;
  /** Where the pass stands; null: none runs. */
  pass: (() => Pass) | null;
  /** How the last pass ended, in words; null: it came to its end, or there was none. */
  endedEarly: string | null;
  /** The key is refused, so nothing is asked; null: it may be sent. */
  refused: RefusedKey | null;
  /** What follows the data and failed in the last pass that came to its end. */
  notInStep: readonly NotInStep[];
  /** What the limiter of the requests does; null: nothing is asked before there is a database. */
  limits: (() => LimiterState) | null;
}

/** Of a worker that has just begun. */
export const noActivity = (): Activity => ({
  nextTick: null,
  pass: null,
  endedEarly: null,
  refused: null,
  notInStep: [],
  limits: null,
});
