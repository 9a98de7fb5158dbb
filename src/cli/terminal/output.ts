/** Results go to stdout: text for people, JSON for programs; foreign text in them can steer no terminal. */
import { systemClock } from '../../clock.ts';
import { spansOf, spanText } from '../../plan/days.ts';
import { formatCount, linesOf, printable, printableLines } from '../../text.ts';
import type { Options } from '../verb.ts';

/** Prints a result, a line each; names and errors in it come from the API and the database. */
export function print(...lines: readonly (string | readonly string[] | false)[]): void {
  printColoured(...linesOf(...lines).map(printable));
}

/** Prints lines with colours of ours; foreign text in them has gone through `printable`, or it would colour too. */
export function printColoured(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** So many lines of one kind are listed in text. */
const MOST_LINES = 50;

/** The first of many lines, and how many more there are. */
export function shortened(lines: readonly string[], most = MOST_LINES, rest = '--json has all.') {
  if (lines.length <= most) return [...lines];
  return [...lines.slice(0, most), `… and ${formatCount(lines.length - most)} more; ${rest}`];
}

/** Days that follow each other, with the same reason, as one line each behind `label`. */
export function daySpans(
  label: string,
  days: readonly { readonly stream: string; readonly day: string; readonly reason?: string }[],
): string[] {
  const spans = spansOf(days, ({ stream, reason }) => JSON.stringify([stream, reason]));
  return spans.map(({ newest: { stream, reason }, ...span }) => {
    const why = reason === undefined ? '' : `: ${reason}`;
    return `${label} ${stream} ${spanText(span)}${why}`;
  });
}

/** Prints a result for programs: one JSON document. */
export const printJson = (value: unknown): void => printJsonLines(JSON.stringify(value, null, 2));

/** Rows as lines, the cells of each column one below the other. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widest = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = (rows[0] ?? []).map((_, column) => widest(column));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Prints a result: with `--json` as a document for programs, else in lines for people. */
export function printResult({ json }: Options, document: unknown, lines: () => readonly string[]) {
  if (json === true) printJson(document);
  else print(lines());
}

/** Prints lines of a JSON document that is written piece by piece. */
export function printJsonLines(lines: string): void {
  process.stdout.write(`${printableLines(lines)}\n`);
}

/** Prints what happened in a run for programs: a JSON object on a line of its own, described by docs/events.schema.json. */
export function printEvent(event: string, fields: object): void {
  const line = JSON.stringify({ event, at: new Date(systemClock.now()), ...fields });
  process.stdout.write(`${printable(line)}\n`);
}
