/** Variants of one subject: some are tried at every change, all at night (`npm run test:long`, which sets `NIGHT`). */

/** Those of every change, and at night the others besides. */
export const andAtNight = <const T>(always: readonly T[], atNight: readonly T[]): readonly T[] =>
  process.env.NIGHT === undefined ? always : [...always, ...atNight];
