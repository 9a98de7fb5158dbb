/** Throughput: how many requests were accepted in the last seconds. */
import type { Accepted } from './pace.ts';

const LATELY_MS = 1_000;
const STEADILY_MS = 3_000;

/** Counts what was accepted. */
export class Throughput {
  readonly #instants: number[] = [];

  /** Notes an accepted request. */
  accepted(now: number): void {
    this.#instants.push(now);
    // Rarely, because it moves the whole array.
    if (this.#instants.length > 64 && (this.#instants[32] ?? now) < now - STEADILY_MS)
      this.#instants.splice(0, this.#firstAfter(now - STEADILY_MS));
  }

  /** What was accepted until `now`. */
  at(now: number): Accepted {
    const after = (ms: number): number => this.#instants.length - this.#firstAfter(now - ms);
    return {
      lately: (after(LATELY_MS) * 1000) / LATELY_MS,
      steadily: (after(STEADILY_MS) * 1000) / STEADILY_MS,
    };
  }

  #firstAfter(instant: number): number {
    const index = this.#instants.findIndex((one) => one > instant);
    return index < 0 ? this.#instants.length : index;
  }
}
