/** In which offset from UTC a source counts its days, told by the times that its records carry; pure. */
import { Temporal } from 'temporal-polyfill';
import type { TimeSpan } from '../../model.ts';
import { follow } from '../../source/json.ts';

/** What a source answered when it was asked for records of a span. */
export interface Answered extends TimeSpan {
  readonly records: readonly unknown[];
}

/** A source may pad a window by some seconds, or round its edges. */
const SLACK_MS = 120_000;
/** Zones are whole hours from UTC, seldom halves, hardly ever quarters. */
const STEPS_MS = [60, 30, 15].map((minutes) => minutes * 60_000);

/**
 * The offsets from UTC, in milliseconds, that a source's clock can have: those in which every record lies in the window that it
 * was shown for. Where none fits, `least` is greater than `most`; null where no record says when it happened in a way that a zone
 * does not change.
 * @param paths where a record has its time.
 */
export function offsetsShown(answers: readonly Answered[], paths: readonly (readonly string[])[]) {
  let [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { from, to, records } of answers)
    for (const record of records) {
      const time = timeOf(record, paths);
      if (time === null) continue;
      least = Math.max(least, wallTime(from) - time - SLACK_MS);
      most = Math.min(most, wallTime(to) - time + SLACK_MS);
    }
  return Number.isFinite(least) ? { least, most } : null;
}

/** The likeliest of these offsets, as `UTC+02:00`: the roundest, and of those the one nearest to the middle. */
export function formatOffset({ least, most }: { least: number; most: number }): string {
  const middle = (least + most) / 2;
  const near = STEPS_MS.map((step) => Math.round(middle / step) * step);
  const minutes = (near.find((offset) => offset >= least && offset <= most) ?? middle) / 60_000;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}

const wallTime = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`);

/** Milliseconds since the epoch; null: no time, or one that does not say in which zone it is. */
function timeOf(record: unknown, paths: readonly (readonly string[])[]): number | null {
  for (const path of paths.flatMap((one) => [one, ['_source', ...one]])) {
    const { whole, value } = follow(record, path);
    if (!whole) continue;
    if (typeof value === 'number') return value > 1e11 ? value : value > 1e8 ? value * 1000 : null;
    try {
      return Temporal.Instant.from(String(value)).epochMilliseconds;
    } catch {
      // It says no time, or not in which zone; another field may.
    }
  }
  return null;
}
