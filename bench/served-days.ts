/** What the page server has: days of records, spread over each day as people work, and the page that a request asks for. */
import { type Block, textOf } from './records.ts';

/**
 * The days of a source; when the records are used up the first day's come again. What is to come has none, and neither has
 * what was long before the first day: a source that showed the same records there would ignore which day it is asked for.
 */
export interface ServedDays {
  readonly block: Block;
  /** Of the largest days. */
  readonly recordsPerDay: number;
  /** Days differ by up to a tenth, as real ones do; else all are equally large. */
  readonly uneven?: boolean;
  /** The most that a day before the first one holds, by which the stream is made known; absent: as many as the others. */
  readonly mostBefore?: number;
  /** The day that has the first records, YYYY-MM-DD. */
  readonly firstDay: string;
}

/** A request as far as the server looks at it. */
export interface Asked {
  readonly fromDate: string;
  readonly toDate: string;
  readonly start: number;
  readonly length: number;
}

/** A page in pieces, so that nothing is copied. */
export interface ServedPage {
  readonly total: number;
  readonly records: number;
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
}

const DAY_SECONDS = 86_400;
/** So many days before the first one have records. */
const DAYS_BEFORE_FIRST = 3_000;
const TAIL = Buffer.from(']}');
/** At noon four times as many as at midnight. */
const SWING = 0.6;

/**
 * The page for a request. No record lies in the first or the last second of a day, so that seams are empty; a request
 * for more than one day is one for a seam.
 */
export function pageFor(days: ServedDays, asked: Asked): ServedPage {
  const { first, last } = recordsOf(days, asked);
  const total = last - first;
  const from = first + Math.min(asked.start, total);
  const to = Math.min(from + asked.length, last);
  const head = Buffer.from(`{"total":${total},"data":[`);
  const pieces = [head, textOf(days.block, from, to), TAIL];
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { total, records: to - from, pieces, bytes };
}

function recordsOf(days: ServedDays, { fromDate, toDate }: Asked): { first: number; last: number } {
  const day = fromDate.slice(0, 10);
  const number = epochDay(day) - epochDay(days.firstDay);
  const isKept = number > -DAYS_BEFORE_FIRST && Date.parse(`${day}T00:00:00Z`) < Date.now();
  if (!isKept || toDate.slice(0, 10) !== day) return { first: 0, last: 0 };
  const whole = Math.floor(days.block.count / days.recordsPerDay);
  const inTurn = ((number % whole) + whole) % whole;
  const offset = inTurn * days.recordsPerDay;
  const size = sizeOf(days, number);
  return {
    first: offset + recordsBefore(size, secondOf(fromDate)),
    last: offset + recordsBefore(size, secondOf(toDate) + 1),
  };
}

/** How many records a day holds, by its number from the first one on: 90 to 100 hundredths, scattered as if by chance, and the same in each run. */
export function sizeOf(
  { recordsPerDay, uneven, mostBefore = recordsPerDay }: Omit<ServedDays, 'block'>,
  day: number,
): number {
  const scattered = uneven === true ? (Math.imul(day + 101, 0x9e37_79b1) >>> 8) % 1_001 : 0;
  const size = Math.floor((recordsPerDay * (10_000 - scattered)) / 10_000);
  return day < 0 ? Math.min(size, mostBefore) : size;
}

/** How many records of a day lie before that second of it. */
function recordsBefore(recordsPerDay: number, second: number): number {
  const share = Math.min(1, Math.max(0, (second - 1) / (DAY_SECONDS - 2)));
  const passed = share - (SWING / (2 * Math.PI)) * Math.sin(2 * Math.PI * share);
  return Math.round(recordsPerDay * passed);
}

const epochDay = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 86_400_000;

function secondOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.slice(11).split(':').map(Number);
  return (hours * 60 + minutes) * 60 + seconds;
}
