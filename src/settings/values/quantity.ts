/** Quantities are numbers with a unit, as people write them: `1000`, `90s`, `64MiB`. */
import { Wrong } from '../problems.ts';
import { DAY, HOUR, KIB, MIB, MINUTE, SECOND } from '../table/kinds.ts';

/** The least and the greatest value that is taken. */
interface Range {
  readonly min: number;
  readonly max: number;
}

/** What a quantity is called, and what each unit is worth, the smallest first. */
interface Measure {
  readonly name: string;
  readonly examples: string;
  readonly zero: string;
  readonly units: Readonly<Record<string, number>>;
}

/** In milliseconds. */
const DURATION: Measure = {
  name: 'a duration',
  examples: '90s, 15m, 1h or 2d',
  zero: '0s',
  units: { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY },
};
/** Where less than a day is none. */
const OF_DAYS: Measure = { ...DURATION, name: 'an age', examples: '400d' };
/** In bytes. */
const SIZE: Measure = {
  name: 'a size',
  examples: '64MiB or 10MB',
  zero: '0B',
  units: { B: 1, kB: 1e3, KiB: KIB, MB: 1e6, MiB: MIB, GB: 1e9, GiB: 1024 * MIB },
};
/** In seconds. */
const RATE_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** A whole number, in plain digits. */
export function parseInteger(text: string, range: Range): number | Wrong {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return within(value, range, 'a whole number', String);
}

/** Milliseconds from `90s`, `15m`, `1h`, `2d`, `250ms` or `0`. */
export const parseDuration = (text: string, range: Range): number | Wrong =>
  parseQuantity(text, range, range.min < DAY ? DURATION : OF_DAYS);

/** Bytes from `64MiB`, `10MB`, `512KiB` or `0`; a kB is 1000 bytes, a KiB 1024. */
export const parseSize = (text: string, range: Range): number | Wrong =>
  parseQuantity(text, range, SIZE);

/** Requests a second from `20/s`, `600/m`, `5000/h`, or a number. */
export function parseRate(text: string, range: Range): number | Wrong {
  const found = /^(\d{1,9}(?:\.\d{1,6})?) ?(?:\/ ?([smh]))?$/i.exec(text);
  if (found === null) return new Wrong('is not a rate such as 20/s, 600/m or 5000/h');
  const seconds = RATE_UNITS[(found[2] ?? 's').toLowerCase()] ?? 1;
  return within(Number(found[1]) / seconds, range, 'a rate', formatRate);
}

/** The first unit in which `perSecond` is a whole number, or in requests a second. */
export function formatRate(perSecond: number): string {
  for (const [unit, seconds] of Object.entries(RATE_UNITS)) {
    const count = Math.round(perSecond * seconds * 1e6) / 1e6;
    if (Number.isInteger(count)) return `${count}/${unit}`;
  }
  return `${perSecond}/s`;
}

/** The shortest way to write `ms` that `parseDuration` reads back. */
export const writeDuration = (ms: number): string => formatQuantity(ms, DURATION);

/** The shortest way to write `bytes` that `parseSize` reads back. */
export const formatSize = (bytes: number): string => formatQuantity(bytes, SIZE);

function parseQuantity(text: string, range: Range, measure: Measure): number | Wrong {
  const { name, examples, units } = measure;
  const [, count, unit] = /^(\d{1,12}) ?([a-z]+)$/i.exec(text) ?? [];
  const known = Object.entries(units).find(([one]) => one.toLowerCase() === unit?.toLowerCase());
  if (known === undefined && text !== '0') return new Wrong(`is not ${name} such as ${examples}`);
  const value = known === undefined ? 0 : Number(count) * known[1];
  return within(value, range, name, (bound) => formatQuantity(bound, measure));
}

function formatQuantity(value: number, { units, zero }: Measure): string {
  if (value === 0) return zero;
  const [name, factor] = Object.entries(units).findLast(([, one]) => value % one === 0) ?? ['', 1];
  return `${value / factor}${name}`;
}

function within(
  value: number,
  { min, max }: Range,
  name: string,
  format: (value: number) => string,
): number | Wrong {
  if (value >= min && value <= max) return value;
  return new Wrong(`is not ${name} from ${format(min)} to ${format(max)}`);
}
