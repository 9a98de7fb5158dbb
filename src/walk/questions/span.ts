/** From a window to requests: which span of time and levels a walk asks for, and how the window is split. */
import type { Day, PageRequest, Span, Stream, TimeSpan } from '../../model.ts';
import { addDays, dayWindow } from '../../plan/days.ts';
import {
  around,
  DAY_SECONDS,
  isUnclear,
  type Split,
  secondsOf,
  split,
  splitByTime,
  unclearTimes,
} from '../../plan/split.ts';
import type { WindowContext } from './context.ts';
import { UNLEARNED_REACH } from './knowledge.ts';

/** The requests of a walk, but for start and length. */
export type WalkTarget = Omit<PageRequest, 'start' | 'length'>;

/** The requests for a span of a stream. */
export function targetOf({ resource, filters }: Stream, span: Span): WalkTarget {
  const levels = {
    ...(span.levelFrom === null ? {} : { rule_level_from: String(span.levelFrom) }),
    ...(span.levelTo === null ? {} : { rule_level_to: String(span.levelTo) }),
  };
  return { resource, filters: { ...filters, ...levels }, from: span.from, to: span.to };
}

/** A span of time, for people. */
export const textOf = ({ from, to }: TimeSpan): string => `${from} to ${to}`;

/** Whole days, of all levels. */
export const daysOf = (first: Day, last: Day): Span => ({
  ...dayWindow(first),
  to: dayWindow(last).to,
  levelFrom: null,
  levelTo: null,
});

/** A whole day, of all levels. */
export const dayOf = (day: Day): Span => daysOf(day, day);

/** Ranges that are longer than a day reach so many days before it, or behind it. */
const DAYS_BESIDE = [-1, 1, -7, 7];

/** Ranges of some days around one. */
export const rangesWith = (day: Day): Span[] =>
  DAYS_BESIDE.map((days) => addDays(day, days)).map((beside) =>
    beside < day ? daysOf(beside, day) : daysOf(day, beside),
  );

/** The request for the first page of a span, as long as any. */
export function firstPageOf(context: WindowContext, span: Span): PageRequest {
  const { stream, knowledge, pageLength } = context;
  return { ...targetOf(stream, span), start: 0, length: knowledge.pageLength(pageLength) };
}

/** Whether two walks ask for the same. */
export const sameSpan = (one: Span, other: Span): boolean =>
  (['from', 'to', 'levelFrom', 'levelTo'] as const).every((end) => one[end] === other[end]);

/** Seconds: an hour that the clocks repeat or skip, and one beyond it. */
const UNCLEAR_REACH = 2 * 3_600;

/** Seconds: more than the clocks of two zones differ by. */
export const BEYOND_DATES = 15 * 3_600;

/** Seconds: to an hour, at most, are the ends of ranges rounded. */
export const MOST_ROUNDED = 3_600;

/** So many seconds requests reach where ends are rounded. */
export const BEYOND_ROUNDED = 2 * MOST_ROUNDED;

/** So many days from now is a day that is not yet, whatever the clocks say. */
export const NOT_YET = 7;

/** Of the seconds of a day one is left after so many halvings. */
export const MOST_HALVINGS = 18;

/** Splits a span of the window's day; where the time of day is ignored, and by level in a stream that filters by level itself, it cannot be. */
export function splitSpan(
  { stream, timeZone, knowledge, window }: WindowContext,
  { from, to, levelFrom, levelTo }: Span,
  parts: number,
): Split | null {
  if (knowledge.reach === 'day') return null;
  const span = { from, to, levelFrom, levelTo };
  const seconds = knowledge.reachSeconds;
  const least = seconds === 1 ? 2 : 4 * seconds;
  // None shorter than a side of a cut: it may be refused.
  const most = Math.floor((2 * secondsOf(span)) / least);
  const unclear = unclearTimes(window.day, timeZone);
  const found = split(span, Math.min(parts, most), unclear, least, seconds);
  const { rule_level, rule_level_from, rule_level_to } = stream.filters;
  const levelsTaken = [rule_level, rule_level_from, rule_level_to].some(Boolean);
  return found?.by === 'level' && levelsTaken ? null : found;
}

/**
 * Parts of a span that show a record where the whole is too much: its halves, and two in its middle, of a day three hours and
 * three quarters of one; where the source is known to hide so, quarters and eighths besides.
 */
export function partsOf({ from, to }: TimeSpan, closely: boolean): TimeSpan[] {
  const seconds = secondsOf({ from, to });
  const span = { from, to, levelFrom: null, levelTo: null };
  const tiles = (closely ? [2, 4, 8] : [2]).flatMap(
    (count) => splitByTime(span, count, [], 0)?.parts ?? [],
  );
  const middles = [1 / 16, 1 / 64].map((half) =>
    around(from, Math.floor(seconds * (1 / 2 - half)), Math.floor(seconds * (1 / 2 + half)) - 1),
  );
  return [...tiles, ...middles]
    .filter((part) => part.from <= part.to)
    .map((part) => ({ from: part.from, to: part.to }));
}

/** The first minutes of a span, of a day eleven: where the whole is refused and they are not, it is too much or too long, and not too old. */
export const beginningOf = <T extends TimeSpan>(span: T): T => ({
  ...span,
  to: around(span.from, 0, Math.floor(secondsOf(span) / 128)).to,
});

/** Whether the window can be split by time. */
export const isDivisible = (context: WindowContext): boolean =>
  splitSpan(context, context.window, 2)?.by === 'time';

/**
 * The span across a cut, and those of its sides, which reach as far as is known to be needed; beside a midnight beyond what dates hide.
 * @param second the last one before it.
 */
export function spansAround(second: string, { timeZone, knowledge, window }: WindowContext) {
  const isMidnight = second.endsWith(' 23:59:59');
  const reach = knowledge.reachSeconds;
  const seconds = reachAt(second, reach, timeZone);
  const beyond = knowledge.hiddenByDate === 'day' ? DAY_SECONDS - 1 : BEYOND_DATES;
  // Before the first day of all stands what is none of it.
  const isOfDay = isMidnight && second.startsWith(window.day);
  const isFirst = isMidnight && !isOfDay && reach === BEYOND_ROUNDED;
  const least = knowledge.tries.left('oneSecond') ? 1 : UNLEARNED_REACH;
  const near = isFirst ? least : seconds;
  const before = isOfDay && knowledge.isHiddenByDate('before') ? beyond : near;
  const after = isMidnight && knowledge.isHiddenByDate('after') ? BEYOND_DATES : seconds;
  return {
    across: around(second, -before, 1 + after),
    before: around(second, -before, 0),
    after: around(second, 1, 1 + after),
  };
}

/** Whether it was learned since a cut was asked that it must reach farther. */
export function isTooShort(context: WindowContext, { from, to }: TimeSpan): boolean {
  const { across } = spansAround(context.window.from, context);
  return from > across.from || to < across.to;
}

/**
 * Seconds to reach beyond a cut: as many as are asked for; where the clocks repeat or skip an hour there, beyond that, because a
 * request that begins or ends in it may be taken for one of another hour.
 */
function reachAt(second: string, reach: number, timeZone: string): number {
  const span = around(second, -reach, 1 + reach);
  return isUnclear(span, second.slice(0, 10), timeZone) ? Math.max(reach, UNCLEAR_REACH) : reach;
}
