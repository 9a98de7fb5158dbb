/** What this worker does just now: the pass that runs, how the last one ended, and when the next one begins. */
import type { Clock } from '../clock.ts';
import type { RefusedKey } from '../store/refused-keys.ts';
import type { RunEvent } from '../walk/run.ts';

/** A pass under way. */
export interface Pass {
  /** Milliseconds since the epoch. */
  readonly beganAt: number;
  readonly elapsedMs: number;
  readonly windows: number;
  readonly done: number;
  readonly failed: number;
  readonly records: number;
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
}

/** Watches the passes of this process. */
export class Activity {
  readonly #clock: Clock;
  readonly #startedAt: number;
  #pass: { -readonly [Key in keyof Omit<Pass, 'elapsedMs'>]: Pass[Key] } | null = null;
  #monotonic = 0;
  #nextTick: number | null = null;
  #endedEarly: string | null = null;
  /** Set while the key is refused. */
  refused: RefusedKey | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** A pass begins. */
  begin(): void {
    this.#monotonic = this.#clock.monotonic();
    this.#nextTick = null;
    this.#pass = { beganAt: this.#clock.now(), windows: 0, done: 0, failed: 0, records: 0 };
  }

  /** Takes in one event of the pass. */
  add(event: RunEvent): void {
    const pass = this.#pass;
    if (pass === null) return;
    if (event.kind === 'planned') pass.windows = event.windows;
    else if (event.kind === 'page') pass.records += event.records;
    else if (event.kind === 'complete' || event.kind === 'unchanged') pass.done += 1;
    else if (event.kind === 'failed') pass.failed += 1;
    else if (event.kind === 'split') {
      pass.done += 1;
      pass.windows += event.parts;
    }
  }

  /** The pass has ended. @param why what ended it early; null: it came to its end. */
  end(why: string | null): void {
    this.#pass = null;
    this.#endedEarly = why;
  }

  /** The worker waits. */
  wait(nextTick: Date | null): void {
    this.#nextTick = nextTick?.getTime() ?? null;
  }

  /** What it does now. */
  get doing(): Doing {
    const pass = this.#pass;
    return {
      startedAt: this.#startedAt,
      pass: pass && { ...pass, elapsedMs: this.#clock.monotonic() - this.#monotonic },
      nextTick: this.#nextTick,
      endedEarly: this.#endedEarly,
      refused: this.refused,
    };
  }
}
