/** The quota: how many requests the API has said are left, counted down as they go. */
import type { Quota } from './quota-headers.ts';

/** Below this share of all, what is left is spread over the time until there are new ones. */
const LOW = 0.2;

/** Counts requests against what the last answer said. */
export class QuotaCount {
  #sent = 0;
  #left = Number.POSITIVE_INFINITY;
  #limit: number | null = null;
  #until = Number.NEGATIVE_INFINITY;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** Notes a request that goes now. @returns its number, for {@link heard}. */
  sent(now: number): number {
    this.#left--;
    this.#lastAt = now;
    return ++this.#sent;
  }

  /** Takes in what the answer to request `number` said: those that went after it are not in its count. */
  heard({ remaining, resetMs, limit }: Quota, number: number, now: number): void {
    this.#left = remaining - (this.#sent - number);
    this.#limit = limit;
    this.#until = now + resetMs;
  }

  /** When the next request may go, at the earliest; it may be past. */
  opensAt(now: number): number {
    if (now >= this.#until) return Number.NEGATIVE_INFINITY;
    if (this.#left <= 0) return this.#until;
    if (this.#limit === null || this.#left > this.#limit * LOW) return Number.NEGATIVE_INFINITY;
    return this.#lastAt + (this.#until - this.#lastAt) / (this.#left + 1);
  }
}
