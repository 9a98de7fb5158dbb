/** What got better or worse since the figures that were kept last, in units that do not hang on how fast the machine was. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Row } from './case.ts';

/** The figures of a whole run. */
export interface Figures {
  readonly date: string;
  /** By case and row. */
  readonly rows: Readonly<Record<string, Pick<Row, 'units' | 'spread'>>>;
}

/** So much may two runs differ by chance, where a row was measured once or its runs lie close together. */
const BY_CHANCE = 0.15;

/** Reads what was kept; null: nothing. */
export const readFigures = (file: URL): Figures | null =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Figures) : null;

export const keepFigures = (file: URL, figures: Figures): void =>
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);

/** The figures of rows, by the name of their case. */
export function figuresOf(
  cases: readonly { readonly name: string; readonly rows: readonly Row[] }[],
): Figures['rows'] {
  const found: Record<string, Pick<Row, 'units' | 'spread'>> = {};
  for (const { name, rows } of cases)
    for (const { what, units, spread } of rows) {
      const rounded = (value: number) => Number(value.toPrecision(4));
      found[`${name}: ${what}`] = {
        units: rounded(units),
        spread: spread === null ? null : rounded(spread),
      };
    }
  return found;
}

/** In words: what differs by more than the runs of either day did. */
export function changesSince(earlier: Figures, now: Figures['rows']): string {
  const [better, worse]: [string[], string[]] = [[], []];
  let same = 0;
  for (const [name, { units, spread }] of Object.entries(now)) {
    const before = earlier.rows[name];
    if (before === undefined) continue;
    const times = units / before.units;
    const chance = 1 + Math.max(BY_CHANCE, spread ?? 0, before.spread ?? 0);
    const told = `${name} (${times.toFixed(2)} ×)`;
    if (times > chance) worse.push(told);
    else if (times < 1 / chance) better.push(told);
    else same += 1;
  }
  const list = (names: readonly string[]) => (names.length === 0 ? 'nothing' : names.join('; '));
  return `Since ${earlier.date}, in units of the machine (ratios, or times by the yardstick), by more than the runs of a day differ: better ${list(better)}; worse ${list(worse)}; ${same} as before.`;
}
