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

/** A budget of this process alone. */
export function ownBudget(rate: number, clock: Clock): Budget {
  const intervalMs = 1000 / rate;
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    rate,
    take: async (count) => {
      const now = clock.monotonic();
      const start = Math.max(nextAt, now);
      nextAt = start + count * intervalMs;
      return { count, startsInMs: start - now, intervalMs };
    },
  };
}

/** The slots that this process holds. */
export class Slots {
  readonly #budget: Budget;
  readonly #clock: Clock;
  readonly #onNews: (error?: unknown) => void;
  readonly #slots: number[] = [];
  #asking = false;
  #batch = 1;

  /** @param onNews called when slots have come, or could not be had. */
  constructor(budget: Budget, clock: Clock, onNews: (error?: unknown) => void) {
    this.#budget = budget;
    this.#clock = clock;
    this.#onNews = onNews;
  }

  /** When the next request may go, at the earliest; Infinity while slots are being asked for. */
  opensAt(now: number): number {
    this.#drop(now);
    if (this.#slots.length <= this.#batch / 2) this.#ask();
    return this.#slots[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Uses the first slot up. */
  sent(): void {
    this.#slots.shift();
  }

  #drop(now: number): void {
    const late = now - Math.max(LATE_MS, 1000 / this.#budget.rate);
    let lost = 0;
    while ((this.#slots[lost] ?? now) < late) lost++;
    // Less is needed than was taken.
    if (lost > 0) this.#batch = Math.max(1, Math.floor(this.#batch / 2));
    this.#slots.splice(0, lost);
  }

  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    const most = Math.max(1, Math.floor((this.#budget.rate * BATCH_MS) / 1000));
    const wanted = Math.min(this.#batch, most);
    this.#batch = Math.min(most, this.#batch * 2);
    this.#budget.take(wanted).then(
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
