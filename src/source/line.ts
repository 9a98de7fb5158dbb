/** The line of those who wait for a turn, and who of them goes first. */
import type { Priority } from '../model.ts';
import type { Quota } from './quota-headers.ts';

/** How a request ended, as far as the limiter learns from it. */
export type Ending =
  /** An answer that is no refusal; `answerMs` until its first byte, where such times can be compared. */
  | { readonly kind: 'answered'; readonly answerMs?: number; readonly quota?: Quota | null }
  /** Refused for everyone; `retryAfterMs` as the API said, null where it did not. */
  | {
      readonly kind: 'refused';
      readonly status: 429 | 503;
      readonly retryAfterMs: number | null;
      readonly quota?: Quota | null;
    }
  /** No answer in time. */
  | { readonly kind: 'late' }
  /** Nothing can be learned from it. */
  | { readonly kind: 'lost' };

/** Leave to send one request. */
export interface Turn {
  /** Milliseconds in the line, without those in which the API held everyone. */
  readonly waitedMs: number;
  /** Gives the place back, once the request has ended in any way; only the first call counts. */
  end(ending: Ending): void;
}

/** Someone who waits for a turn. */
export interface Waiter {
  readonly priority: Priority;
  readonly like: string;
  /** When it came, on a clock that stands still during holds. */
  readonly cameAt: number;
  readonly go: (turn: Turn) => void;
  readonly fail: (error: unknown) => void;
}

/** Earlier words go first. */
const RANK = { scheduled: 0, recheck: 1, backfill: 2 } as const;

/** Takes the first of those who wait out of the line. */
export function takeFirst(waiters: Waiter[]): Waiter {
  let first = 0;
  for (const [index, { priority }] of waiters.entries())
    if (rankOf(priority) < rankOf(waiters[first]?.priority ?? priority)) first = index;
  return waiters.splice(first, 1)[0] as Waiter;
}

/** Lower goes first: no backfill before a page ahead of a scheduled window. */
function rankOf({ purpose, ahead = false }: Priority): number {
  return RANK[purpose] * 2 + (ahead ? 1 : 0);
}
