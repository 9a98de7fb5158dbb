/** How late records came: those that a later walk found and the first one could not have. */
import type { Database } from '../store/database.ts';

/** Records of one stream that came after their day had closed. */
export interface Lateness {
  readonly stream: string;
  /** Records found after their day had closed. */
  readonly late: number;
  readonly days: number;
  /** Records by the hours after the close within which they were found: up to 24, 72, 168 and later. */
  readonly within: readonly [number, number, number, number];
  /** Hours after the close at which the last one was found. */
  readonly longestHours: number;
}

/** The lateness of these streams; none where nothing came late. */
export function readLateness(
  database: Database,
  streamNames: readonly string[],
): Promise<Lateness[]> {
  return database.persist(
    `select stream, sum(records)::bigint as late, count(distinct day) as days,
            array[coalesce(sum(records) filter (where after <= interval '24 hours'), 0),
                  coalesce(sum(records) filter (where after > interval '24 hours' and after <= interval '72 hours'), 0),
                  coalesce(sum(records) filter (where after > interval '72 hours' and after <= interval '168 hours'), 0),
                  coalesce(sum(records) filter (where after > interval '168 hours'), 0)]::float8[] as within,
            (extract(epoch from max(after)) / 3600)::double precision as "longestHours"
       from daywalk.lateness
      where stream = any ($1::text[])
      group by stream
      order by array_position($1::text[], stream)`,
    [streamNames],
  );
}
