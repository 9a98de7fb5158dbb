/** Filters of pages in the database, and up to which publication they were made. */
import type { Day } from '../model.ts';
import type { Database } from '../store/database.ts';

/** Publications that are read at a time. */
const AT_ONCE = 100;

/** The days of a stream that were published since filters were made, and up to which publication; null: none was. */
export function readNews(database: Database, streamId: number) {
  return database.first<{ readonly upTo: number; readonly days: readonly Day[] }>(
    `select max(seq) as "upTo", to_jsonb(array_agg(distinct day)) as days
       from (select seq, day from daywalk.publications
              where stream_id = $1 and seq > coalesce((select seq from daywalk.filter_places where stream_id = $1), 0)
              order by seq limit ${AT_ONCE}) as p
     having count(*) > 0`,
    [streamId],
  );
}

/** Notes up to which publication filters were made; it never goes back. */
export async function noteFilterPlace(database: Database, streamId: number, seq: number) {
  await database.persist(
    `insert into daywalk.filter_places as place (stream_id, seq) values ($1, $2)
     on conflict (stream_id) do update set seq = greatest(place.seq, excluded.seq)`,
    [streamId, seq],
  );
}

/** One statement reads about this much, a second's work. */
const MOST_BYTES = 16_000_000;

/**
 * Makes filters of some pages of a day that have none. Repeating it does no harm.
 * @returns how many pages were looked at; 0: none lacks one; null: another process makes filters of the stream.
 */
export function makeFilters(database: Database, streamId: number, day: Day) {
  return database.value<number | null>('select daywalk.make_filters($1, $2::date, $3)', [
    streamId,
    day,
    MOST_BYTES,
  ]);
}
