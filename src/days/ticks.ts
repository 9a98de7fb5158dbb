/** When a schedule ticks: the first tick after an instant, as node-cron, in UTC, will have it. */
import { parse } from 'node-cron';

/** A schedule ticks at least once in so many days; 29 February on a given weekday is 40 years away at most. */
const MOST_DAYS = 40 * 366;
const DAY_MS = 86_400_000;

/**
 * The first tick after an instant, of an expression of five fields. Day of the month and day of the week must both match.
 * @returns milliseconds since the epoch.
 */
export function firstTickAfter(expression: string, afterMs: number): number {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(expression);
  const minutesOfDay = hour.flatMap((h) => minute.map((m) => h * 60 + m)).sort((a, b) => a - b);
  const midnight = Math.floor(afterMs / DAY_MS) * DAY_MS;
  for (let day = midnight; day <= midnight + MOST_DAYS * DAY_MS; day += DAY_MS) {
    const date = new Date(day);
    const due =
      month.includes(date.getUTCMonth() + 1) &&
      dayOfMonth.includes(date.getUTCDate()) &&
      dayOfWeek.includes(date.getUTCDay());
    const ticks = due ? minutesOfDay.map((m) => day + m * 60_000) : [];
    const tick = ticks.find((at) => at > afterMs);
    if (tick !== undefined) return tick;
  }
  throw new Error(`${expression} never ticks`);
}
