/** Waiting for something that is to be seen in real state, within a bound. */
import { setTimeout as pause } from 'node:timers/promises';

const INTERVAL_MS = 15;

/**
 * Looks again and again until `look` gives something else than undefined, null or false.
 * @throws after `withinMs`, with what was waited for.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  withinMs = 60_000,
): Promise<Exclude<Awaited<T>, undefined | null | false>> {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false)
      return found as Exclude<Awaited<T>, undefined | null | false>;
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms for ${what}`);
    await pause(INTERVAL_MS);
  }
}
