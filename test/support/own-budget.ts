/** A budget of requests that only the workers of one test share. */
import type { Clock } from '../../src/clock.ts';
import type { Budget } from '../../src/source/slots.ts';

export function ownBudget(rate: number, clock: Clock): Budget {
  const intervalMs = 1000 / rate;
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    rate,
    take: async (count) => {
      const now = clock.monotonic();
      const start = Math.max(nextAt, now);
      nextAt = start + count * intervalMs;
      return { count, startsInMs: start - now, intervalMs };
    },
  };
}
