/** Which days of a random server can be proven from outside at all. */
import type { Nature } from './nature.ts';
import { dayOf, type World } from './world.ts';

const SECOND_MS = 1_000;
/** Where seconds are not honoured nothing is cut below eight minutes, so nothing shorter than sixteen is cut. */
const COARSE_SECONDS = 960;
/** Seconds that no export lasts. */
const FOR_EVER = 1e9;
/** Fewer records are no cap. */
const FEW = 10;

/**
 * Why a day cannot be proven; null: it can.
 * @param day as `YYYY-MM-DD`.
 */
export function unprovable(nature: Nature, world: World, day: string): string | null {
  if (world.records.length === 0) return 'the stream never showed a record';
  if (nature.rounding?.how === 'day') return 'the time of day is ignored';
  if (nature.total === 'cached' && nature.totalSeconds >= FOR_EVER && isDeletedFrom(world, day))
    return 'the total is of a time before a record was deleted, for ever';
  const begin = Date.parse(`${day}T00:00:00Z`);
  const times = world.records
    .map(({ time }) => time)
    .filter((time) => time >= begin && time < begin + 86_400_000);
  const { padSeconds, rounding, shortest, deep } = nature;
  const coarse = padSeconds > 0 || rounding !== null || shortest > 0;
  const seconds = coarse ? COARSE_SECONDS + 2 * padSeconds + 2 * (rounding?.seconds ?? 0) : 1;
  const most = densest(times, seconds * SECOND_MS);
  if (deep !== null && most >= deep.limit) return `${most} records in ${seconds} s, above the cap`;
  if (times.length >= FEW && most === times.length)
    return `all ${most} records lie within ${seconds} s`;
  return null;
}

const isDeletedFrom = ({ happened }: World, day: string): boolean =>
  happened.some(({ kind, time }) => kind === 'delete' && dayOf(time) === day);

/** The most of the times, in order, that lie within a stretch. */
function densest(times: readonly number[], stretch: number): number {
  let most = 0;
  let first = 0;
  for (const [index, time] of times.entries()) {
    while (time - (times[first] as number) >= stretch) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
