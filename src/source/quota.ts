/** The quota: how many requests the API has said are left, counted down as they go. */
import type { Quota } from './quota-headers.ts';

/** Below this share of all, what is left is spread over the time until there are new ones. */
const LOW = 0.2;
/** A refusal in spite of a quota shows that others use it too: our share of it shrinks, and recovers with time. */
const SHRINK = 0.7;
const LEAST_SHARE = 1 / 64;
const RECOVERY = 0.002;

/** Counts requests against what the last answer said. */
export class QuotaCount {
  #sent = 0;
  #left = Number.POSITIVE_INFINITY;
  #limit: number | null = null;
  #share = 1;
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
    this.#share += (1 - this.#share) * RECOVERY;
  }

  /** Takes in that a request was refused. */
  refused(now: number): void {
    if (now < this.#until) this.#share = Math.max(LEAST_SHARE, this.#share * SHRINK);
  }

  /** When the next request may go, at the earliest; it may be past. */
  opensAt(now: number): number {
    if (now >= this.#until) return Number.NEGATIVE_INFINITY;
    if (this.#left <= 0) return this.#until;
    const left = this.#left * this.#share;
    if (this.#limit === null || left > this.#limit * LOW) return Number.NEGATIVE_INFINITY;
    return this.#lastAt + (this.#until - this.#lastAt) / (left + 1);
  }
}
