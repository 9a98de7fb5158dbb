/** A clock on which waiting takes no time. */
import type { Dice } from '../../simulator/random.ts';
import { type Clock, systemClock } from '../../src/clock.ts';

/**
 * Waits end at once, and its time goes on by what was waited. Chance comes again with the dice.
 * @param passed is told what was waited; milliseconds.
 */
export function hastyClock(dice: Dice, passed: (ms: number) => void = () => {}): Clock {
  let ahead = 0;
  const monotonic = () => performance.now() + ahead;
  return {
    ...systemClock,
    monotonic,
    random: () => dice.next(),
    sleep: async (ms, signal) => {
      const until = monotonic() + ms;
      await systemClock.sleep(0, signal);
      const left = until - monotonic();
      if (left <= 0) return;
      ahead += left;
      passed(left);
    },
  };
}
