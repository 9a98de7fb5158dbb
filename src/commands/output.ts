/** Results go to stdout: text for people, JSON for programs; foreign text in them can steer no terminal. */
import { visible } from '../log.ts';

/** The colours that we print; the rest of what a terminal obeys is shown instead. */
const ESCAPE = '\u001b';
const COLOUR = new RegExp(`(${ESCAPE}\\[(?:0|2|3[0-7]|90)m)`);

/** Prints a result, a line each. */
export function print(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${harmless(line)}\n`);
}

/** Prints a result for programs: one JSON document. */
export function printJson(value: unknown): void {
  const lines = JSON.stringify(value, null, 2).split('\n');
  process.stdout.write(`${lines.map(visible).join('\n')}\n`);
}

/** A line with nothing in it that a terminal obeys, but for colours: names and errors come from the API and the database. */
export function harmless(line: string): string {
  return line
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join('');
}

/** Prints one event of many for programs: a JSON object on a line of its own. */
export function printEvent(event: unknown): void {
  process.stdout.write(`${visible(JSON.stringify(event))}\n`);
}

/** What the terminal behind stdout can show. */
export function terminal(environment: Readonly<Record<string, string | undefined>>): {
  colour: boolean;
  unicode: boolean;
  width: number;
} {
  const locale = environment.LC_ALL ?? environment.LC_CTYPE ?? environment.LANG ?? '';
  return {
    colour: wantsColour(environment, process.stdout.isTTY === true),
    unicode: locale === '' || /utf-?8/i.test(locale),
    width: process.stdout.columns ?? 100,
  };
}

/**
 * Whether to colour what is written: FORCE_COLOR decides (0 and false say no), then NO_COLOR (https://no-color.org), then
 * whether it goes to a terminal that can.
 */
export function wantsColour(
  { FORCE_COLOR, NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  return isTerminal && TERM !== 'dumb';
}
