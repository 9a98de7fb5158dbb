/** How many requests may be under way, found by how long answers take: fewer when like requests take much longer. */

/** The size of the step with which an average follows new values: of the present, and of what is usual. */
const PRESENT = 0.2;
const USUAL = 0.02;
const USUAL_DOWN = 0.1;
/** So many times as long as usual is a queue at the server (Gradient2 of Netflix's concurrency-limits takes 1.5 to 2). */
const TOLERATED = 2;
/** One cut leaves at least this share. */
const DEEPEST = 0.5;
/** Shorter times are all alike: what is between them may as well be this process's own work. */
const LEAST_MS = 100;

/** Watches answers; additive increase, multiplicative decrease. */
export class Crowding {
  readonly most: number;
  #limit: number;
  /** How long the present answers take, in multiples of what is usual for requests of their size. */
  #ratio = 1;
  /** Milliseconds, by kind of request: a deep or long page may take longer without any crowd. */
  readonly #usual = new Map<string, number>();
  /** Answers that were on their way when the limit was cut, and tell nothing about the new one. */
  #outdated = 0;

  constructor(most: number) {
    this.most = most;
    this.#limit = most;
  }

  /** Most requests under way at a time, at least 1. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** How many times as long as usual answers take. */
  get ratio(): number {
    return this.#ratio;
  }

  /**
   * Takes in an answer.
   * @param like the kind of request; times are compared within a kind.
   * @param ms from the request to the first byte of the answer.
   * @param underWay requests under way, this one included: a limit that nobody reaches is not raised.
   */
  answered(like: string, ms: number, underWay: number): void {
    const usual = this.#usual.get(like) ?? ms;
    this.#usual.set(like, usual + (ms < usual ? USUAL_DOWN : USUAL) * (ms - usual));
    const ratio = Math.max(ms, LEAST_MS) / Math.max(usual, LEAST_MS);
    this.#ratio += PRESENT * (ratio - this.#ratio);
    if (this.#outdated > 0) this.#outdated--;
    else if (this.#ratio > TOLERATED) this.#cut(TOLERATED / this.#ratio, underWay);
    else if (underWay >= this.limit)
      this.#limit = Math.min(this.most, this.#limit + 1 / this.#limit);
  }

  /** Takes in that no answer came in time. */
  late(underWay: number): void {
    if (this.#outdated > 0) this.#outdated--;
    else this.#cut(DEEPEST, underWay);
  }

  #cut(share: number, underWay: number): void {
    this.#limit = Math.max(1, this.#limit * Math.max(DEEPEST, share));
    this.#outdated = underWay;
  }
}
