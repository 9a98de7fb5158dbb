/** Quantities are numbers with a unit, as people write them: `1000`, `90s`, `64MiB`. */
import { Wrong } from '../problems.ts';

/** Units by name, the smallest first, each with what it is worth. */
type Units = readonly (readonly [string, number])[];

/** Milliseconds. */
const DURATIONS: Units = [
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
];
/** Bytes. */
const SIZES: Units = [
  ['B', 1],
  ['kB', 1_000],
  ['KiB', 1_024],
  ['MB', 1_000_000],
  ['MiB', 1_048_576],
  ['GB', 1_000_000_000],
  ['GiB', 1_073_741_824],
];
/** Seconds. */
const RATES: Units = [
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
];

/** A whole number from `min` to `max`, in plain digits. */
export function parseInteger(text: string, min: number, max: number): number | Wrong {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return within(value, min, max, `a whole number from ${min} to ${max}`);
}

/** Milliseconds from `90s`, `15m`, `1h`, `2d`, `250ms` or `0`. */
export function parseDuration(text: string, min: number, max: number): number | Wrong {
  const value = quantityOf(text, DURATIONS);
  if (value === undefined) return new Wrong('is not a duration such as 90s, 15m, 1h or 2d');
  return within(value, min, max, `a duration from ${writeDuration(min)} to ${writeDuration(max)}`);
}

/** Bytes from `64MiB`, `10MB`, `512KiB` or `0`; a kB is 1000 bytes, a KiB 1024. */
export function parseSize(text: string, min: number, max: number): number | Wrong {
  const value = quantityOf(text, SIZES);
  if (value === undefined) return new Wrong('is not a size such as 64MiB or 10MB');
  return within(value, min, max, `a size from ${formatSize(min)} to ${formatSize(max)}`);
}

/** Requests a second from `20/s`, `600/m`, `5000/h`, or a number. */
export function parseRate(text: string, min: number, max: number): number | Wrong {
  const found = /^(\d{1,9}(?:\.\d{1,6})?) ?(?:\/ ?([smh]))?$/i.exec(text);
  if (found === null) return new Wrong('is not a rate such as 20/s, 600/m or 5000/h');
  const seconds = RATES.find(([unit]) => unit === (found[2] ?? 's').toLowerCase())?.[1] ?? 1;
  const value = Number(found[1]) / seconds;
  return within(value, min, max, `a rate from ${formatRate(min)} to ${formatRate(max)}`);
}

/** The first unit in which `perSecond` is a whole number, or in requests a second. */
export function formatRate(perSecond: number): string {
  for (const [unit, seconds] of RATES) {
    const count = Math.round(perSecond * seconds * 1e6) / 1e6;
    if (Number.isInteger(count)) return `${count}/${unit}`;
  }
  return `${perSecond}/s`;
}

/** The shortest way to write `ms` that `parseDuration` reads back. */
export function writeDuration(ms: number): string {
  return ms === 0 ? '0s' : formatted(ms, DURATIONS);
}

/** The shortest way to write `bytes` that `parseSize` reads back. */
export function formatSize(bytes: number): string {
  return bytes === 0 ? '0B' : formatted(bytes, SIZES);
}

function within(value: number, min: number, max: number, what: string): number | Wrong {
  return value >= min && value <= max ? value : new Wrong(`is not ${what}`);
}

function quantityOf(text: string, units: Units): number | undefined {
  if (text === '0') return 0;
  const found = /^(\d{1,12}) ?([a-z]+)$/i.exec(text);
  const name = found?.[2]?.toLowerCase();
  const unit = units.find(([known]) => known.toLowerCase() === name);
  return unit && Number(found?.[1]) * unit[1];
}

function formatted(value: number, units: Units): string {
  const whole = units.filter(([, factor]) => value % factor === 0);
  const [name, factor] = whole.at(-1) ?? ['', 1];
  return `${value / factor}${name}`;
}
