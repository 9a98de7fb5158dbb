/** The budget of pages ahead: how many all walks of a process may have together, and how many bytes. */

/** How much there is. */
export interface PrefetchLimits {
  /** Pages, on their way or waiting to be stored: some arrive while others wait, and more would only wait longer. */
  readonly pages: number;
  /** Bytes of these. */
  readonly bytes: number;
}

/** A walk that would fetch ahead. */
export interface PrefetchingWalk {
  /** How many pages it has ahead; who has the fewest goes first. */
  readonly ahead: number;
  /** Bytes that its next page is expected to have; null: it wants none now. */
  readonly wants: number | null;
  /** Begins one request, at once. */
  begin(): void;
}

/** Pages ahead take what the requests leave that walks need now: those always pass, and go first in the limiter's line. */
export class PrefetchBudget {
  readonly limits: PrefetchLimits;
  /** Walks that would fetch ahead. */
  readonly walks = new Set<PrefetchingWalk>();
  /** Of pages ahead, as far as their sizes are known. */
  bytes = 0;

  constructor(limits: PrefetchLimits) {
    this.limits = limits;
  }

  /** Lets walks fetch ahead while there is room. */
  offer(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) next.begin();
  }

  #next(): PrefetchingWalk | null {
    let next: PrefetchingWalk | null = null;
    let pages = 0;
    for (const walk of this.walks) {
      const { wants } = walk;
      pages += walk.ahead;
      if (wants === null || this.bytes + wants > this.limits.bytes) continue;
      if (next === null || walk.ahead < next.ahead) next = walk;
    }
    return pages < this.limits.pages ? next : null;
  }
}
