/** What this worker does just now: the pass that runs, how the last one ended, and when the next one begins. */
import type { Clock } from '../clock.ts';
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

/** What people are shown. */
export interface Doing {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly pass: Pass | null;
  /** Milliseconds since the epoch; null: not known while a pass runs. */
  readonly nextTick: number | null;
  /** How the last pass ended, in words; null: it came to its end, or there was none. */
  readonly endedEarly: string | null;
  /** The key is refused, so nothing is asked; null: it may be sent. */
  readonly refused: RefusedKey | null;
  /** What follows the data and failed in the last pass that came to its end. */
  readonly notInStep: readonly NotInStep[];
}

/** Watches the passes of this process. */
export class Activity {
  readonly #startedAt: number;
  #pass: (() => Pass) | null = null;
  #nextTick: number | null = null;
  #endedEarly: string | null = null;
  /** Set while the key is refused. */
  refused: RefusedKey | null = null;
  notInStep: readonly NotInStep[] = [];

  constructor(clock: Clock) {
    this.#startedAt = clock.now();
  }

  /** A pass begins. @param pass says where it stands, until it ends. */
  begin(pass: () => Pass): void {
    this.#nextTick = null;
    this.#pass = pass;
  }

  /** The pass has ended. @param why what ended it early; null: it came to its end. */
  end(why: string | null): void {
    this.#pass = null;
    this.#endedEarly = why;
  }

  /** The worker waits. @param nextTick milliseconds since the epoch. */
  wait(nextTick: number): void {
    this.#nextTick = nextTick;
  }

  /** What it does now. */
  get doing(): Doing {
    return {
      startedAt: this.#startedAt,
      pass: this.#pass?.() ?? null,
      nextTick: this.#nextTick,
      endedEarly: this.#endedEarly,
      refused: this.refused,
      notInStep: this.notInStep,
    };
  }
}
