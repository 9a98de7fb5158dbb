/** What is set, of values that may be unset: for options that are absent, not undefined. */

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** `values` without those that are undefined. */
export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}
