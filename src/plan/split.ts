/** The splitter: how a window that cannot be walked whole is cut into parts, as pure functions. */
import { Temporal } from 'temporal-polyfill';
import type { Day, Span, TimeSpan, WallTime } from '../model.ts';

/** A window cut into parts that tile it: no gap, no shared second. */
export interface Split {
  readonly by: 'time' | 'level';
  readonly parts: readonly Span[];
}

/** Parts aim at this share of the cap, so that uneven time does not bring most of them over it again. */
const FILL = 0.7;
const MOST_PARTS = 500;
const MOST_PARTS_EXPECTED = 16;
/** The scale of rule levels is 0 to 15 or 16 where it is known; open ends catch the rest. */
const MIDDLE_LEVEL = 7;
const LOWEST_LEVEL = 0;
const HIGHEST_LEVEL = 16;
/** Enough for a day in which the clocks change more than once. */
const MOST_CHANGES = 4;

/**
 * How many parts: as many as the total needs below the cap; without one, as many as the records expected need, but few,
 * because what is expected of a burst elsewhere is not here; two where nothing is known.
 */
export function partsWanted(total: number | null, cap: number | null, expected: number): number {
  const records = total ?? expected;
  if (cap === null || records <= cap) return 2;
  const wanted = Math.max(2, Math.ceil(records / Math.max(1, cap * FILL)));
  return Math.min(total === null ? MOST_PARTS_EXPECTED : MOST_PARTS, wanted);
}

export const DAY_SECONDS = 86_400;

/** How long a span is, with both ends, on the clock of the wall. */
export function secondsOf(span: TimeSpan): number {
  return secondOf(span.to) - secondOf(span.from) + 1;
}

/**
 * Cuts a span into parts: by time where it is long enough; else, and where all of it lies in a time that is not clear, by
 * level.
 * @param least seconds below which a span is not cut by time; more than one where requests must reach beyond a cut.
 * @param reach seconds that they reach beyond it: none may end in a time that is not clear.
 * @returns null when it can be cut no further.
 */
export function split(
  span: Span,
  parts: number,
  unclear: readonly TimeSpan[],
  least: number,
  reach: number,
): Split | null {
  const byTime = secondsOf(span) < least ? null : splitByTime(span, parts, unclear, reach);
  return byTime ?? splitByLevel(span);
}

/**
 * Cuts by time, into so many parts or fewer; a cut never lies in a time that is not clear, nor within reach of it.
 * @returns null when no cut fits.
 */
export function splitByTime(
  span: Span,
  parts: number,
  unclear: readonly TimeSpan[],
  reach: number,
): Split | null {
  const clear = reach + 1;
  if (span.levelFrom !== null || span.levelTo !== null) return null;
  const first = secondOf(span.from);
  const last = secondOf(span.to);
  const stretches = unclear.map(({ from, to }) => ({ from: secondOf(from), to: secondOf(to) }));
  const isClear = (cut: number) =>
    cut >= first &&
    cut < last &&
    !stretches.some(({ from, to }) => cut > from - 1 - clear && cut < to + clear);
  // A cut is named by the last second before it.
  const cuts = new Set<number>();
  for (let part = 1; part < parts; part++) {
    const wanted = first - 1 + Math.round(((last - first + 1) * part) / parts);
    const beside = stretches.flatMap(({ from, to }) => [from - 1 - clear, to + clear]);
    const [cut] = [wanted, ...beside]
      .filter(isClear)
      .sort((one, other) => Math.abs(one - wanted) - Math.abs(other - wanted));
    if (cut !== undefined) cuts.add(cut);
  }
  if (cuts.size === 0) return null;
  const ends = [first - 1, ...[...cuts].sort((a, b) => a - b), last];
  return {
    by: 'time',
    parts: ends.slice(1).map((to, index) => ({
      ...span,
      from: textOf((ends[index] as number) + 1),
      to: textOf(to),
    })),
  };
}

/** A span that begins and ends so many seconds from this second of the wall clock. */
export function around(second: WallTime, before: number, after: number): Span {
  const at = secondOf(second);
  return { from: textOf(at + before), to: textOf(at + after), levelFrom: null, levelTo: null };
}

/** Cuts by rule level, in halves. Records without a level are in no half: the halves must be shown to add up. */
export function splitByLevel(span: Span): Split | null {
  const low = span.levelFrom ?? LOWEST_LEVEL;
  const high = span.levelTo ?? HIGHEST_LEVEL;
  if (low >= high) return null;
  const open = span.levelFrom === null && span.levelTo === null;
  const middle = open ? MIDDLE_LEVEL : Math.floor((low + high) / 2);
  return {
    by: 'level',
    parts: [
      { ...span, levelTo: middle },
      { ...span, levelFrom: middle + 1 },
    ],
  };
}

/**
 * The stretches of the day, and of the first second of the next one, that the clocks of the zone show twice or skip: a request that
 * begins or ends inside one has two meanings.
 */
export function unclearTimes(day: Day, timeZone: string): TimeSpan[] {
  const midnight = Temporal.PlainDate.from(day).toZonedDateTime(timeZone);
  const end = midnight.add({ days: 1, hours: 1 });
  const found: TimeSpan[] = [];
  let at = midnight.subtract({ hours: 1 });
  for (let change = 0; change < MOST_CHANGES; change++) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || Temporal.ZonedDateTime.compare(next, end) > 0) break;
    const before = next.subtract({ nanoseconds: 1 });
    const back = (before.offsetNanoseconds - next.offsetNanoseconds) / 1e9;
    const second = next.epochMilliseconds / 1000 + next.offsetNanoseconds / 1e9;
    const [from, to] = back > 0 ? [second, second + back] : [second + back, second];
    if (back !== 0) found.push({ from: textOf(from), to: textOf(to - 1) });
    at = next;
  }
  return found;
}

/** Whether the clocks of the zone show some of a span twice, or skip it. @param day as of {@link unclearTimes}. */
export const isUnclear = ({ from, to }: TimeSpan, day: Day, timeZone: string): boolean =>
  unclearTimes(day, timeZone).some((unclear) => unclear.from <= to && unclear.to >= from);

/** Seconds of wall-clock time on a scale without zones, on which every day has 86,400. */
function secondOf(time: WallTime): number {
  return Date.parse(`${time.replace(' ', 'T')}Z`) / 1000;
}

function textOf(second: number): WallTime {
  return new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ');
}
