/** Elapsed time as whoever was awake saw it: a machine that stands still for seconds makes nobody late. */
import { onTestFinished } from 'vitest';

const LOOK_MS = 20;
/** More between two looks was a pause of this process, and most likely of all others. */
const LONGEST_LOOK_MS = 100;

/** Starts a stopwatch for the rest of the test. @returns reads it: milliseconds, pauses of this process left out. */
export function startStopwatch(): () => number {
  let elapsed = 0;
  let lookedAt = performance.now();
  const look = (): number => {
    const now = performance.now();
    elapsed += Math.min(now - lookedAt, LONGEST_LOOK_MS);
    lookedAt = now;
    return elapsed;
  };
  const looking = setInterval(look, LOOK_MS);
  onTestFinished(() => clearInterval(looking));
  return look;
}
