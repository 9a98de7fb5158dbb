/** Units and ranges of settings, as the table of settings writes them. */

/** Milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** Bytes. */
export const KIB = 1024;
export const MIB = 1024 * KIB;

export const integer = (min: number, max: number) => ({ kind: 'integer', min, max }) as const;
/** No wait may reach 2^31 ms (24.8 days): a longer timer fires at once. */
export const duration = (min: number, max: number) => ({ kind: 'duration', min, max }) as const;
/** How old a day must be to go; no wait is made of it, so that it may be long. */
export const AGE = duration(DAY, 36_500 * DAY);
export const choice = <const C extends readonly string[]>(...choices: C) =>
  ({ kind: 'choice', choices }) as const;
