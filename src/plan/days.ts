/** Calendar days of the source: text in, text out, and the instant at which a day has ended there. */
import { Temporal } from 'temporal-polyfill';
import { SettingsError } from '../errors.ts';
import type { Day, DayRange, Window } from '../model.ts';

const DAY_TEXT = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** A day, given in days since 1970-01-01, as text. */
function textOf(epochDay: number): Day {
  const date = new Date(epochDay * DAY_MS);
  const year = date.getUTCFullYear();
  if (!(year >= 1 && year <= 9999))
    throw new SettingsError(`the year ${year} is outside 0001 to 9999`);
  return date.toISOString().slice(0, 10);
}

/** The inverse of `textOf`; a day that is not there, as 30 February, is read as a later one and so does not come back. */
function parseDay(day: Day): number {
  const epochDay = DAY_TEXT.test(day) ? Date.parse(`${day}T00:00:00Z`) / DAY_MS : Number.NaN;
  if (!Number.isNaN(epochDay) && textOf(epochDay) === day) return epochDay;
  throw new SettingsError(`${JSON.stringify(day)} is not a day of the calendar`, {
    hint: 'Write a day as YYYY-MM-DD, for example 2026-02-28.',
  });
}

/**
 * The day that is `count` days after `day` (before it, when negative).
 * @throws SettingsError when `day` is not a day of the calendar.
 */
export function addDays(day: Day, count: number): Day {
  return textOf(parseDay(day) + count);
}

/** Every day from `from` to `to`, both included, oldest first; none when `from` is after `to`. */
export function daysBetween(from: Day, to: Day): Day[] {
  const last = parseDay(to);
  const days: Day[] = [];
  for (let day = parseDay(from); day <= last; day += 1) days.push(textOf(day));
  return days;
}

/** Days of one kind that follow each other, and what was told of the newest of them. */
export interface DaySpan<T> extends DayRange {
  readonly newest: T;
}

/** The spans of `days`, in the order of their first days; those of a kind come oldest first. */
export function spansOf<T extends { readonly day: Day }>(
  days: readonly T[],
  kindOf: (one: T) => string,
): DaySpan<T>[] {
  const spans: { from: Day; to: Day; newest: T }[] = [];
  const open = new Map<string, (typeof spans)[number]>();
  for (const newest of days) {
    const kind = kindOf(newest);
    let span = open.get(kind);
    if (span === undefined || addDays(span.to, 1) !== newest.day) {
      span = { from: newest.day, to: newest.day, newest };
      open.set(kind, span);
      spans.push(span);
    }
    span.to = newest.day;
    span.newest = newest;
  }
  return spans;
}

/** `2026-03-05`, or `2026-03-05 to 2026-03-07`. */
export function spanText({ from, to }: DayRange): string {
  return from === to ? from : `${from} to ${to}`;
}

/** The month after `month`; both are `YYYY-MM`. */
export function nextMonth(month: string): string {
  return addDays(`${month}-01`, 31).slice(0, 7);
}

/** The first day of the month that is so many months before the one of `day`. */
export function firstOfMonth(day: Day, monthsBefore: number): Day {
  return Temporal.PlainDate.from(day)
    .with({ day: 1 })
    .subtract({ months: monthsBefore })
    .toString();
}

/** The last day of `month`, which is `YYYY-MM`. */
export function lastDayOf(month: string): Day {
  return addDays(`${nextMonth(month)}-01`, -1);
}

/** The window of a whole day: 00:00:00 to 23:59:59, also on days of 23 or 25 hours. */
export function dayWindow(day: Day): Window {
  return { day, from: `${day} 00:00:00`, to: `${day} 23:59:59` };
}

/** When the last second of `day` has passed in the zone for good: clocks set back over midnight bring a piece of the day again. */
function endsAt(day: Day, timeZone: string): number {
  const next = Temporal.PlainDate.from(addDays(day, 1));
  const midnight = next.toPlainDateTime().toZonedDateTime(timeZone, { disambiguation: 'later' });
  const beforeMidnight = midnight.add({ nanoseconds: -1 }).toPlainDate();
  const cameAgain = Temporal.PlainDate.compare(beforeMidnight, next) < 0;
  return (cameAgain ? midnight : next.toZonedDateTime(timeZone)).epochMilliseconds;
}

/**
 * When `day` is closed: it has ended in the source's time zone, and `settleMs` have passed since.
 * @returns milliseconds since the epoch.
 */
export function closesAt(day: Day, timeZone: string, settleMs: number): number {
  return endsAt(day, timeZone) + settleMs;
}

/** What the clocks of the zone show at an instant. */
function clockAt(nowMs: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(nowMs)).toZonedDateTimeISO(timeZone);
}

/** The day that it is at `nowMs` in the zone. */
export function dayAt(nowMs: number, timeZone: string): Day {
  return clockAt(nowMs, timeZone).toPlainDate().toString();
}

/** The newest day that is closed at `nowMs`; every day before it is closed, and none after it. */
export function lastClosedDay(nowMs: number, timeZone: string, settleMs: number): Day {
  const settled = nowMs - settleMs;
  let day = addDays(dayAt(settled, timeZone), -1);
  // Yesterday may come again where clocks are set back over midnight.
  while (endsAt(day, timeZone) > settled) day = addDays(day, -1);
  return day;
}

/** How far the clocks of the zone are before UTC at an instant, in milliseconds. */
export function offsetAt(nowMs: number, timeZone: string): number {
  return clockAt(nowMs, timeZone).offsetNanoseconds / 1_000_000;
}
