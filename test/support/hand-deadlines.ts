/** Deadlines that pass when the test says so: not by themselves, however long the machine stands still. */
import type { Clock } from '../../src/clock.ts';
import { hastyClock } from './store.ts';

export interface HandDeadlines {
  /** The real clock, but for its deadlines: they also pass by hand. Give those by themselves more time than the test has. */
  readonly clock: Clock;
  /** Lets every deadline pass that was set so far. */
  pass(): void;
}

export function handDeadlines(): HandDeadlines {
  const set = new Set<AbortController>();
  return {
    clock: {
      ...hastyClock,
      timeout(ms) {
        const byHand = new AbortController();
        set.add(byHand);
        return AbortSignal.any([byHand.signal, hastyClock.timeout(ms)]);
      },
    },
    pass() {
      for (const byHand of set) byHand.abort(new DOMException('timed out', 'TimeoutError'));
      set.clear();
    },
  };
}
