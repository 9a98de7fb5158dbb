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
const COMMA = Buffer.from(',');
/** Longer than any cut reaches. */
const QUIET_SECONDS = 180;
/** At noon four times as many as at midnight. */
const SWING = 0.6;

/**
 * The page for a request, of one day or across a midnight. No record lies within {@link QUIET_SECONDS} of a midnight, so that cuts
 * are empty.
 */
export function pageFor(days: ServedDays, asked: Asked): ServedPage {
  const spans = spansOf(days, asked);
  const total = spans.reduce((sum, { first, last }) => sum + last - first, 0);
  const texts: Buffer[] = [];
  let [skipped, records] = [Math.min(asked.start, total), 0];
  for (const { first, last } of spans) {
    const from = Math.min(first + skipped, last);
    const to = Math.min(from + asked.length - records, last);
    skipped -= from - first;
    records += to - from;
    if (to > from) texts.push(...(texts.length > 0 ? [COMMA] : []), textOf(days.block, from, to));
  }
  const pieces = [Buffer.from(`{"total":${total},"data":[`), ...texts, TAIL];
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { total, records, pieces, bytes };
}

/** Records of the block, from the first on and before the last. */
interface Span {
  readonly first: number;
  readonly last: number;
}

function spansOf(days: ServedDays, { fromDate, toDate }: Asked): Span[] {
  const [from, to] = [fromDate, toDate].map((time) => ({
    day: epochDay(time.slice(0, 10)),
    second: secondOf(time),
  })) as [Moment, Moment];
  if (from.day === to.day) return [spanOf(days, from.day, from.second, to.second)];
  return [spanOf(days, from.day, from.second, DAY_SECONDS - 1), spanOf(days, to.day, 0, to.second)];
}

interface Moment {
  readonly day: number;
  readonly second: number;
}

/** The records of a day between two seconds, both included. */
function spanOf(days: ServedDays, day: number, from: number, to: number): Span {
  const number = day - epochDay(days.firstDay);
  const isKept = number > -DAYS_BEFORE_FIRST && day * DAY_SECONDS * 1_000 < Date.now();
  if (!isKept) return { first: 0, last: 0 };
  const whole = Math.floor(days.block.count / days.recordsPerDay);
  const inTurn = ((number % whole) + whole) % whole;
  const offset = inTurn * days.recordsPerDay;
  const size = sizeOf(days, number);
  return { first: offset + recordsBefore(size, from), last: offset + recordsBefore(size, to + 1) };
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
  const share = Math.min(
    1,
    Math.max(0, (second - QUIET_SECONDS) / (DAY_SECONDS - 2 * QUIET_SECONDS)),
  );
  const passed = share - (SWING / (2 * Math.PI)) * Math.sin(2 * Math.PI * share);
  return Math.round(recordsPerDay * passed);
}

const epochDay = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 86_400_000;

function secondOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.slice(11).split(':').map(Number);
  return (hours * 60 + minutes) * 60 + seconds;
}
