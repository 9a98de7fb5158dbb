/** Cron schedules of five fields: minute, hour, day of the month, month, day of the week. */
import { Wrong } from '../problems.ts';

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Words for the numbers from `min` on. */
  readonly words: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MINUTE: Field = { name: 'minute', min: 0, max: 59, words: [] };
const HOUR: Field = { name: 'hour', min: 0, max: 23, words: [] };
const DAY: Field = { name: 'day of the month', min: 1, max: 31, words: [] };
const MONTH: Field = { name: 'month', min: 1, max: 12, words: MONTHS };
const WEEKDAY: Field = { name: 'day of the week', min: 0, max: 7, words: WEEKDAYS };
const FIELDS = [MINUTE, HOUR, DAY, MONTH, WEEKDAY] as const;
/** In a leap year. */
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `text` with single spaces, if it is a schedule that comes due at all; stricter than node-cron, which takes `50-10`. */
export function parseCron(text: string): string | Wrong {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length)
    return new Wrong(
      `has ${parts.length === 1 ? 'one field' : `${parts.length} fields`}, not five: minute hour day month weekday, such as 15 * * * *`,
    );
  const values: number[][] = [];
  for (const [index, field] of FIELDS.entries()) {
    const found = valuesOf(parts[index] ?? '', field);
    if (found instanceof Wrong) return found;
    values.push(found);
  }
  return everDue(values) ? parts.join(' ') : new Wrong('names a day that no month has');
}

function everDue([, , days = [], months = []]: readonly number[][]): boolean {
  return months.some((month) => days.some((day) => day <= (DAYS_OF_MONTH[month - 1] ?? 0)));
}

function valuesOf(text: string, field: Field): number[] | Wrong {
  const values: number[] = [];
  for (const part of text.split(',')) {
    const found = /^(\*|\w+(?:-\w+)?)(?:\/(\d{1,2}))?$/.exec(part);
    if (!found) return new Wrong(`has a wrong ${field.name}: ${expected(field)}`);
    const [, span = '', stepText] = found;
    const range = rangeOf(span, field);
    if (range instanceof Wrong) return range;
    const step = stepText === undefined ? 1 : Number(stepText);
    if (step < 1 || step > field.max)
      return new Wrong(`has a wrong step of its ${field.name}: from 1 to ${field.max}`);
    if (stepText !== undefined && range.single)
      return new Wrong(`has a step after a single ${field.name}; give a range such as */${step}`);
    for (let value = range.from; value <= range.to; value += step) values.push(value);
  }
  return values;
}

function rangeOf(
  span: string,
  field: Field,
): { from: number; to: number; single: boolean } | Wrong {
  if (span === '*') return { from: field.min, to: field.max, single: false };
  const [first = '', last] = span.split('-');
  const from = numberOf(first, field);
  const to = last === undefined ? from : numberOf(last, field);
  if (from === undefined || to === undefined)
    return new Wrong(`has a wrong ${field.name}: ${expected(field)}`);
  if (from > to) return new Wrong(`has a ${field.name} range that ends before it begins`);
  return { from, to, single: last === undefined };
}

function numberOf(text: string, field: Field): number | undefined {
  const word = field.words.indexOf(text.toLowerCase());
  if (word >= 0) return field.min + word;
  if (!/^\d{1,2}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= field.min && value <= field.max ? value : undefined;
}

function expected(field: Field): string {
  const [first] = field.words;
  const words = first === undefined ? '' : ` or ${first}–${field.words.at(-1)}`;
  return `expected ${field.min}–${field.max}${words}, a range, a list, or *`;
}
