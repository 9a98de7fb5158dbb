/**
 * What is tried at every change, and what only at night (`npm run test:long`, which sets `NIGHT`, and takes of the files of every
 * change those that import this themselves).
 */
import { it, type TestFunction } from 'vitest';

/** Variants of one subject: those of every change, and at night the others besides. */
export const andAtNight = <const Always, const AtNight = Always>(
  always: readonly Always[],
  atNight: readonly AtNight[],
): readonly (Always | AtNight)[] =>
  process.env.NIGHT === undefined ? always : [...always, ...atNight];

/** A test of the night, beside one of the same subject at every change. By day there is none: one that is skipped fails a CI. */
export const atNight = (name: string, run: TestFunction): void => {
  if (process.env.NIGHT !== undefined) it(name, run);
};

/** How often something random is tried, at every change and at night. */
export const tries = (byDay: number, byNight: number): number =>
  process.env.NIGHT === undefined ? byDay : byNight;
