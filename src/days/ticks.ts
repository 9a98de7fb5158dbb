/** When a schedule ticks: the first tick after an instant, and the last one until it, as node-cron, in UTC, will have it. */
import { parse } from 'node-cron';

/** A schedule ticks at least once in so many days; 29 February on a given weekday is 40 years away at most. */
const MOST_DAYS = 40 * 366;
const DAY_MS = 86_400_000;

/**
 * The first tick after an instant, of an expression of five fields. Day of the month and day of the week must both match.
 * @returns milliseconds since the epoch.
 */
export function firstTickAfter(expression: string, afterMs: number): number {
  for (const ticks of daysWithTicks(expression, afterMs, DAY_MS)) {
    const tick = ticks.find((at) => at > afterMs);
    if (tick !== undefined) return tick;
  }
  throw new Error(`${expression} never ticks`);
}

/** The last tick until an instant, that one included. */
export function lastTickUntil(expression: string, untilMs: number): number {
  for (const ticks of daysWithTicks(expression, untilMs, -DAY_MS)) {
    const tick = ticks.findLast((at) => at <= untilMs);
    if (tick !== undefined) return tick;
  }
  throw new Error(`${expression} never ticked`);
}

/** The ticks of each day that has any, in order, from the day of an instant on, or back. */
function* daysWithTicks(expression: string, fromMs: number, step: number): Generator<number[]> {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(expression);
  const minutesOfDay = hour.flatMap((h) => minute.map((m) => h * 60 + m)).sort((a, b) => a - b);
  const midnight = Math.floor(fromMs / DAY_MS) * DAY_MS;
  for (let number = 0; number <= MOST_DAYS; number += 1) {
    const day = midnight + number * step;
    const date = new Date(day);
    if (
      month.includes(date.getUTCMonth() + 1) &&
      dayOfMonth.includes(date.getUTCDate()) &&
      dayOfWeek.includes(date.getUTCDay())
    )
      yield minutesOfDay.map((m) => day + m * 60_000);
  }
}
