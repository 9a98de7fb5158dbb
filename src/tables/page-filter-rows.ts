/** Filters of pages in the database, and up to which publication they were made. */
import type { Day } from '../model.ts';
import type { Database } from '../store/database.ts';

/** Up to which publication of a stream filters were made; 0: none was. */
export async function readFilterPlace(database: Database, streamId: number): Promise<number> {
  const [row] = await database.persist<{ seq: number }>(
    'select seq from daywalk.filter_places where stream_id = $1',
    [streamId],
  );
  return row?.seq ?? 0;
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
export async function makeFilters(
  database: Database,
  streamId: number,
  day: Day,
  signal?: AbortSignal,
): Promise<number | null> {
  const [row] = await database.persist<{ pages: number | null }>(
    'select daywalk.make_filters($1, $2::date, $3) as pages',
    [streamId, day, MOST_BYTES],
    signal,
  );
  if (row === undefined) throw new Error('daywalk.make_filters returned no row');
  return row.pages;
}
