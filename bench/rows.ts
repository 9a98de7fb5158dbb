/** Rows from numbers. */
import type { Row } from './case.ts';
import { figureOf, spreadOf } from './statistics.ts';

/** A number with its unit, in three digits. */
export type Format = (value: number) => string;

const digits = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};
const per =
  (unit: string, scale = 1) =>
  (value: number) =>
    `${digits(value / scale)} ${unit}`;

/** From milliseconds. */
export const seconds: Format = per('s', 1000);
export const milliseconds: Format = per('ms');
/** From bytes. */
export const megabytes: Format = per('MB', 1e6);
export const pagesPerSecond: Format = per('pages/s');
export const microseconds: Format = per('µs');

/** What a row says besides its numbers. */
export interface Told {
  readonly what: string;
  readonly format: Format;
  /** Said behind the measured figure. */
  readonly also?: string;
  /** What the yardstick took for one of its units, in the same unit of time; absent: the figure does not hang on the machine. */
  readonly unit?: number;
}

/** A row that is held against a floor: the most that it may be of it, or null for information. */
export function againstFloor(
  { what, format, also }: Told,
  measured: readonly number[],
  floor: readonly number[],
  most: { readonly ratio: number; readonly text: string } | null,
): Row {
  const own = figureOf(measured);
  const least = figureOf(floor);
  const ratio = own.median / least.median;
  return {
    what,
    measured: format(own.median) + (also === undefined ? '' : `; ${also}`),
    floor: format(least.median),
    ratio,
    target: most?.text ?? null,
    reached: most === null ? null : ratio <= most.ratio,
    spread: own.runs > 1 ? Math.max(spreadOf(own), spreadOf(least)) : null,
    units: ratio,
  };
}

/** At most (or at least) so much; the text is made of it where there is none. */
interface Limit {
  readonly most?: number;
  readonly least?: number;
  readonly text?: string;
}

/** A row with its floor, which is held against a limit. */
export function withFloor(
  told: Told,
  measured: readonly number[],
  floor: readonly number[],
  limit: Limit,
): Row {
  const { target, reached } = againstLimit(told, measured, limit);
  return { ...againstFloor(told, measured, floor, null), target, reached };
}

/** A row that is held against a limit, or against nothing, for information. */
export function againstLimit(
  { what, format, also, unit = 1 }: Told,
  measured: readonly number[],
  limit: Limit | null,
): Row {
  const own = figureOf(measured);
  const { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY } = limit ?? {};
  const bound = limit?.most === undefined ? `≥ ${format(least)}` : `≤ ${format(most)}`;
  return {
    what,
    measured: format(own.median) + (also === undefined ? '' : `; ${also}`),
    floor: null,
    ratio: null,
    target: limit === null ? null : (limit.text ?? bound),
    reached: limit === null ? null : own.median <= most && own.median >= least,
    spread: own.runs > 1 ? spreadOf(own) : null,
    units: own.median / unit,
  };
}
