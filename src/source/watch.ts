/** Watching the requests of a source, for those who count them. */

/** Told as it happens; what it does must not throw. */
export interface SourceWatch {
  /** A request has ended: with an answer of this status, or without one. */
  answered(status: number | 'none', durationMs: number): void;
  /** A page is asked for again, after this wait. */
  retried(waitMs: number): void;
  /** The source asked everyone to wait (429, 503); 0: it did not say how long. */
  held(ms: number): void;
}

/** Watches nothing. */
export const unwatched: SourceWatch = { answered: () => {}, retried: () => {}, held: () => {} };
