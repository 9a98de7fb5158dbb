/** The rate budget that all workers of this database share: slots of the generic cell rate algorithm, by database time only. */
import type { Database } from './database.ts';

/** Further ahead nobody has taken slots, unless the database's clock was set back: then they are forgotten. */
const LONGEST_QUEUE_S = 60;
const LONGEST_QUEUE_SLOTS = 256;

/**
 * Takes the next `count` slots. Who asks first gets the earlier ones, so workers that ask for equal batches have equal
 * shares. Repeated after a lost answer it takes slots that nobody uses: less than the rate, never more.
 * @param rate requests a second.
 * @returns milliseconds until the first, 0 at least, and from one to the next.
 * @throws {UnavailableError} when the database stays away.
 */
export async function takeSlots(
  database: Database,
  origin: string,
  rate: number,
  count: number,
  signal?: AbortSignal,
): Promise<{ count: number; startsInMs: number; intervalMs: number }> {
  const interval = 1 / rate;
  const startsInMs = await database.value<number>(
    `insert into daywalk.rates as r (origin, next_slot)
     values ($1, clock_timestamp() + make_interval(secs => $2::double precision * $3::integer))
     on conflict (origin) do update
        set next_slot = make_interval(secs => $2::double precision * $3::integer)
            + case when r.next_slot between clock_timestamp() and clock_timestamp() + make_interval(secs => $4::double precision)
                   then r.next_slot else clock_timestamp() end
     returning 1000 * greatest(0, extract(epoch from next_slot - make_interval(secs => $2::double precision * $3::integer) - clock_timestamp()))::double precision as "startsInMs"`,
    [origin, interval, count, Math.max(LONGEST_QUEUE_S, LONGEST_QUEUE_SLOTS * interval)],
    signal,
  );
  return { count, startsInMs, intervalMs: interval * 1000 };
}
