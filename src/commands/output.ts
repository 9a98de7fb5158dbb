/** Results go to stdout: text for people, JSON for programs. */

/** Prints a result. */
export function print(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Prints a result for programs: one JSON document. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** What the terminal behind stdout can show. */
export function terminal(environment: Readonly<Record<string, string | undefined>>): {
  colour: boolean;
  unicode: boolean;
  width: number;
} {
  const locale = environment.LC_ALL ?? environment.LC_CTYPE ?? environment.LANG ?? '';
  return {
    colour:
      process.stdout.isTTY === true &&
      environment.NO_COLOR === undefined &&
      environment.TERM !== 'dumb',
    unicode: locale === '' || /utf-?8/i.test(locale),
    width: process.stdout.columns ?? 100,
  };
}
