/** What is set, of values that may be unset: for options that are absent, not undefined. */

/** `values` without those that are undefined. */
export function defined<T extends object>(values: T) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
