/** Waiting for something that is to be seen in real state, within a bound. */
import { setTimeout as pause } from 'node:timers/promises';

const SHORTEST_MS = 15;
const LONGEST_MS = 100;

type Found<T> = Exclude<Awaited<T>, undefined | null | false>;

/**
 * Looks again and again until `look` gives something else than undefined, null or false; the more rarely the longer it
 * takes, as looking costs what it waits for its processor.
 * @throws after `withinMs`, with what was waited for.
 */
export function until<T>(
  what: string,
  look: () => T | Promise<T>,
  withinMs = 60_000,
): Promise<Found<T>> {
  // Nobody waits a tenth longer than needed.
  const next = (waitedMs: number) => Math.min(Math.max(waitedMs / 10, SHORTEST_MS), LONGEST_MS);
  return lookAgain(what, look, withinMs, next);
}

/** The same for what passes by, such as the middle of a run: always looks as often. */
export function untilMoment<T>(what: string, look: () => T | Promise<T>): Promise<Found<T>> {
  return lookAgain(what, look, 60_000, () => SHORTEST_MS);
}

async function lookAgain<T>(
  what: string,
  look: () => T | Promise<T>,
  withinMs: number,
  nextMs: (waitedMs: number) => number,
): Promise<Found<T>> {
  const began = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found as Found<T>;
    const waitedMs = performance.now() - began;
    if (waitedMs > withinMs) throw new Error(`waited ${withinMs} ms for ${what}`);
    await pause(nextMs(waitedMs));
  }
}
