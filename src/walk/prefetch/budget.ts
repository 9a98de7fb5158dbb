/** The budget of pages ahead: what all walks of a process share, in requests under way and in bytes that wait to be stored. */

/** How much there is. */
export interface PrefetchLimits {
  /** Pages are fetched ahead while fewer requests than this are under way in the process. */
  readonly requests: number;
  /** So many more may stand in the limiter's line, so that one goes in the very moment in which another ends. */
  readonly inLine: number;
  /** Bytes of pages that are fetched ahead, under way or waiting to be stored. */
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

/** Requests that a walk needs now always pass; pages ahead take what they leave. */
export class PrefetchBudget {
  readonly limits: PrefetchLimits;
  /** Walks that would fetch ahead. */
  readonly walks = new Set<PrefetchingWalk>();
  /** Of pages ahead, as far as their sizes are known. */
  bytes = 0;
  #underWay = 0;

  constructor(limits: PrefetchLimits) {
    this.limits = limits;
  }

  /** So many pages may be ahead, of all walks together: some arrive while others wait, and more would only wait longer. */
  get mostPages(): number {
    return 2 * this.limits.requests;
  }

  /** Makes a request and counts it while it is under way. */
  async request<T>(ask: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await ask();
    } finally {
      this.#underWay -= 1;
      this.offer();
    }
  }

  /** Lets walks fetch ahead while there is room. */
  offer(): void {
    const { requests, inLine } = this.limits;
    while (this.#underWay < requests + inLine) {
      const next = this.#next();
      if (next === null) return;
      next.begin();
    }
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
    return pages < this.mostPages ? next : null;
  }
}
