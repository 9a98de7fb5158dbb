/** Slots: instants at which one request may go, taken in batches from a budget that several processes may share. */
import type { Clock } from '../clock.ts';

/** A row of slots. */
export interface Batch {
  readonly count: number;
  /** Milliseconds until the first of them. */
  readonly startsInMs: number;
  /** Milliseconds from one to the next. */
  readonly intervalMs: number;
}

/** Where slots come from; two callers never get the same one. */
export interface Budget {
  /** Requests a second. */
  readonly rate: number;
  /** Reserves the next `count` slots. */
  take(count: number): Promise<Batch>;
}

/** A batch reaches so far at most: what a process that ends leaves unused, and how long others wait for their turn. */
const BATCH_MS = 500;
/** A slot that was missed by more is lost: what was saved up must not come out as a burst. */
const LATE_MS = 250;

/** The slots that this process holds. */
export class Slots {
  readonly #budget: Budget;
  readonly #clock: Clock;
  readonly #onNews: (error?: unknown) => void;
  #slots: number[] = [];
  #asking = false;

  /** @param onNews called when slots have come, or could not be had. */
  constructor(budget: Budget, clock: Clock, onNews: (error?: unknown) => void) {
    this.#budget = budget;
    this.#clock = clock;
    this.#onNews = onNews;
  }

  /** When the next of so many requests may go, at the earliest; Infinity while slots are being asked for. */
  opensAt(now: number, waiting: number): number {
    const { rate } = this.#budget;
    const lost = now - Math.max(LATE_MS, 1000 / rate);
    this.#slots = this.#slots.filter((at) => at >= lost);
    const most = Math.max(1, Math.floor((rate * BATCH_MS) / 1000));
    const wanted = Math.min(waiting, most) - this.#slots.length;
    // Not one by one: each batch is a statement.
    if (!this.#asking && wanted > Math.min(waiting, most) / 2) this.#ask(wanted);
    return this.#slots[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Uses the first slot up. */
  sent(): void {
    this.#slots.shift();
  }

  #ask(count: number): void {
    this.#asking = true;
    this.#budget.take(count).then(
      ({ count, startsInMs, intervalMs }) => {
        this.#asking = false;
        const first = this.#clock.monotonic() + startsInMs;
        for (let index = 0; index < count; index++) this.#slots.push(first + index * intervalMs);
        this.#onNews();
      },
      (error: unknown) => {
        this.#asking = false;
        this.#onNews(error);
      },
    );
  }
}
