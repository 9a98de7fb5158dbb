/** Quantities are numbers with a unit, as people write them: `1000`, `90s`, `64MiB`. */
import { Wrong } from './problems.ts';

/** Milliseconds; smallest first. */
const DURATIONS: readonly (readonly [string, number])[] = [
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
];
/** Bytes; smallest first. */
const SIZES: readonly (readonly [string, number])[] = [
  ['B', 1],
  ['kB', 1_000],
  ['KiB', 1_024],
  ['MB', 1_000_000],
  ['MiB', 1_048_576],
  ['GB', 1_000_000_000],
  ['GiB', 1_073_741_824],
];

/** A whole number from `min` to `max`, in plain digits. */
export function parseInteger(text: string, min: number, max: number): number | Wrong {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max
    ? value
    : new Wrong(`is not a whole number from ${min} to ${max}`);
}

/** Milliseconds from `90s`, `15m`, `1h`, `2d`, `250ms` or `0`. */
export function parseDuration(text: string, min: number, max: number): number | Wrong {
  const value = text === '0' ? 0 : quantityOf(text, DURATIONS);
  if (value === undefined) return new Wrong('is not a duration such as 90s, 15m, 1h or 2d');
  return value >= min && value <= max
    ? value
    : new Wrong(`is not a duration from ${formatDuration(min)} to ${formatDuration(max)}`);
}

/** Bytes from `64MiB`, `10MB` or `512KiB`; a kB is 1000 bytes, a KiB 1024. */
export function parseSize(text: string, min: number, max: number): number | Wrong {
  const value = quantityOf(text, SIZES);
  if (value === undefined) return new Wrong('is not a size such as 64MiB or 10MB');
  return value >= min && value <= max
    ? value
    : new Wrong(`is not a size from ${formatSize(min)} to ${formatSize(max)}`);
}

/** The shortest way to write `ms` that `parseDuration` reads back. */
export function formatDuration(ms: number): string {
  return ms === 0 ? '0s' : formatted(ms, DURATIONS);
}

/** The shortest way to write `bytes` that `parseSize` reads back. */
export function formatSize(bytes: number): string {
  return bytes === 0 ? '0B' : formatted(bytes, SIZES);
}

function quantityOf(
  text: string,
  units: readonly (readonly [string, number])[],
): number | undefined {
  const found = /^(\d{1,12}) ?([a-z]+)$/i.exec(text);
  const name = found?.[2]?.toLowerCase();
  const unit = units.find(([known]) => known.toLowerCase() === name);
  return unit && Number(found?.[1]) * unit[1];
}

function formatted(value: number, units: readonly (readonly [string, number])[]): string {
  const whole = units.filter(([, factor]) => value % factor === 0);
  const [name, factor] = whole.at(-1) ?? ['', 1];
  return `${value / factor}${name}`;
}
