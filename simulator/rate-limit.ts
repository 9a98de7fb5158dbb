/** A token bucket: how many requests per second the server takes before it answers 429. */

export class TokenBucket {
  readonly #perSecond: number;
  readonly #size: number;
  #tokens: number;
  #filledAt: number;

  /** @param now milliseconds on a clock that never jumps */
  constructor(perSecond: number, burst: number | undefined, now: number) {
    this.#perSecond = perSecond;
    this.#size = burst ?? Math.max(1, Math.ceil(perSecond));
    this.#tokens = this.#size;
    this.#filledAt = now;
  }

  /** Takes a token: 0 when there was one, otherwise the seconds until the next. */
  take(now: number): number {
    const filled = this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#size, filled);
    this.#filledAt = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return (1 - this.#tokens) / this.#perSecond;
  }
}
