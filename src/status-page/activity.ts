/** What this worker does just now: the pass that runs, how the last one ended, and when the next one begins. */
import type { RefusedKey } from '../store/refused-keys.ts';
import type { NotInStep } from '../walk/followers.ts';

/** A pass under way; cuts are not counted as windows. */
export interface Pass {
  readonly windows: number;
  readonly done: number;
  readonly failed: number;
  readonly records: number;
  readonly elapsedMs: number;
  /** Milliseconds, as a guess; null: nothing is done yet, or nothing is left. */
  readonly leftMs: number | null;
}

/** Watches the passes of this process; what only changes as a whole is set from outside. */
export class Activity {
  /** Milliseconds since the epoch; null: not known while a pass runs. */
  nextTick: number | null = null;
  /** How the last pass ended, in words; null: it came to its end, or there was none. */
  endedEarly: string | null = null;
  /** The key is refused, so nothing is asked; null: it may be sent. */
  refused: RefusedKey | null = null;
  /** What follows the data and failed in the last pass that came to its end. */
  notInStep: readonly NotInStep[] = [];
  #pass: (() => Pass) | null = null;

  get pass(): Pass | null {
    return this.#pass?.() ?? null;
  }

  /** A pass begins. @param pass says where it stands, until it ends. */
  begin(pass: () => Pass): void {
    this.nextTick = null;
    this.#pass = pass;
  }

  /** The pass has ended. @param why what ended it early; null: it came to its end. */
  end(why: string | null): void {
    this.#pass = null;
    this.endedEarly = why;
  }
}

/** What people are shown of it. */
export type Doing = Omit<Activity, 'begin' | 'end'>;
