/** Filters of pages in the database, and up to which publication they were made. */
import type { Day } from '../model.ts';
import type { Database } from '../store/database.ts';

/** Up to which publication of a stream filters were made; 0: none was. */
export function readFilterPlace(database: Database, streamId: number): Promise<number> {
  return database.value(
    'select coalesce((select seq from daywalk.filter_places where stream_id = $1), 0)',
    [streamId],
  );
}

/** Notes up to which publication filters were made; it never goes back. */
export async function noteFilterPlace(
  database: Database,
  streamId: number,
  seq: number,
  signal?: AbortSignal,
): Promise<void> {
  await database.persist(
    `insert into daywalk.filter_places as place (stream_id, seq) values ($1, $2)
     on conflict (stream_id) do update set seq = greatest(place.seq, excluded.seq)`,
    [streamId, seq],
    signal,
  );
}

/** One statement reads about this much, a second's work. */
const MOST_BYTES = 16_000_000;

/**
 * Makes filters of some pages of a day that have none. Repeating it does no harm.
 * @returns how many pages were looked at; 0: none lacks one; null: another process makes filters of the stream.
 */
export function makeFilters(
  database: Database,
  streamId: number,
  day: Day,
  signal?: AbortSignal,
): Promise<number | null> {
  return database.value(
    'select daywalk.make_filters($1, $2::date, $3)',
    [streamId, day, MOST_BYTES],
    signal,
  );
}
