/** Deadlines that pass when the test says so: not by themselves, however long the machine stands still. */
import type { Clock } from '../../src/clock.ts';
import { hastyClock } from './store.ts';

export interface HandDeadlines {
  /** The real clock, but for its deadlines: they also pass by hand. Give those by themselves more time than the test has. */
  readonly clock: Clock;
  /** Lets every deadline pass that was set so far, but for longer ones than this. */
  pass(longestMs?: number): void;
}

export function handDeadlines(): HandDeadlines {
  const set = new Map<AbortController, number>();
  return {
    clock: {
      ...hastyClock,
      timeout(ms) {
        const byHand = new AbortController();
        set.set(byHand, ms);
        return AbortSignal.any([byHand.signal, hastyClock.timeout(ms)]);
      },
    },
    pass(longestMs = Number.POSITIVE_INFINITY) {
      for (const [byHand, ms] of set) {
        if (ms > longestMs) continue;
        byHand.abort(new DOMException('timed out', 'TimeoutError'));
        set.delete(byHand);
      }
    },
  };
}
