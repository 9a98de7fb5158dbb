/** Wall-clock times of a time zone, and the instants that a window of them covers, on days with a change of clocks too. */

/** How the server compares fractions of a second at the end of a window; see `instantsOf`. */
export const SUB_SECONDS = ['seconds', 'exact'] as const;
export type SubSecond = (typeof SUB_SECONDS)[number];

/** How a server reads wall-clock times. */
interface TimeSwitches {
  readonly timeZone: string;
  readonly subSecond: SubSecond;
  readonly skippedTimes: SkippedTimes;
}

/** What a time is that the clocks skip: the moment of the change, or as much later as they skip. */
export const SKIPPED_TIMES = ['change', 'later'] as const;
export type SkippedTimes = (typeof SKIPPED_TIMES)[number];

const WALL_TIME = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;
const HOUR = 3_600_000;

/** Reads `YYYY-MM-DD HH:MM:SS` as if it were UTC; undefined when it is anything else, or no such day or time. */
export function readWallTime(text: string): number | undefined {
  if (!WALL_TIME.test(text)) return undefined;
  const time = Date.parse(`${text.replace(' ', 'T')}Z`);
  // Date.parse takes 30 February for 2 March, and 24:00:00 for the next day.
  if (Number.isNaN(time) || writeWallTime(time) !== text) return undefined;
  return time;
}

/** The opposite of `readWallTime`. */
function writeWallTime(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}

/** Instants `from <= t < to`, in milliseconds since the epoch. */
export interface Instants {
  readonly from: number;
  readonly to: number;
}

/**
 * The instants of the window `from`–`to` (as `readWallTime` gave them) in a time zone.
 * With `seconds` the last second belongs to the window as a whole, so 23:59:59.999 is in a window
 * that ends :59; with `exact` only its first millisecond does. A time that the clocks repeat
 * counts from its first to its last occurrence; one that they skip is what `skippedTimes` says.
 */
export function instantsOf(
  from: number,
  to: number,
  { timeZone, subSecond, skippedTimes }: TimeSwitches,
): Instants {
  const last = instantOf(to, timeZone, 'last', skippedTimes);
  return {
    from: instantOf(from, timeZone, 'first', skippedTimes),
    to: last + (subSecond === 'seconds' ? 1000 : 1),
  };
}

/** Whether this runtime knows the IANA time zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}

function instantOf(
  wall: number,
  timeZone: string,
  edge: 'first' | 'last',
  skipped: SkippedTimes,
): number {
  if (timeZone === 'UTC') return wall;
  const before = offsetAt(wall - 24 * HOUR, timeZone);
  const after = offsetAt(wall + 24 * HOUR, timeZone);
  const instants = [wall - before, wall - after].filter(
    (instant) => instant + offsetAt(instant, timeZone) === wall,
  );
  if (instants.length > 0) {
    return edge === 'first' ? Math.min(...instants) : Math.max(...instants);
  }
  if (skipped === 'later') return wall - before;
  const change = changeBetween(wall - 24 * HOUR, wall + 24 * HOUR, timeZone);
  return edge === 'first' ? change : change - 1000;
}

/** The first second at which the offset is no longer that of `low`. */
function changeBetween(low: number, high: number, timeZone: string): number {
  const before = offsetAt(low, timeZone);
  let same = low / 1000;
  let changed = high / 1000;
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2);
    if (offsetAt(middle * 1000, timeZone) === before) same = middle;
    else changed = middle;
  }
  return changed * 1000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function offsetAt(instant: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const parts = new Map(format.formatToParts(instant).map((part) => [part.type, part.value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return wall - Math.floor(instant / 1000) * 1000;
}
