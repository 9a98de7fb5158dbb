/** How late records came: those that a later walk found and the first one could not have. */
import type { Database } from './database.ts';

/** Records of one stream that came after their day had closed. */
export interface Lateness {
  readonly stream: string;
  readonly records: number;
  readonly days: number;
  /** Records by the hours after the close within which they were found: up to 24, 72, 168 and later. */
  readonly within: readonly [number, number, number, number];
  /** Hours after the close at which the last one was found. */
  readonly longestHours: number;
}

/** The lateness of these streams; none where nothing came late. */
export async function readLateness(
  database: Database,
  streamNames: readonly string[],
): Promise<Lateness[]> {
  const rows = await database.persist<{
    stream: string;
    records: number;
    days: number;
    day: number;
    three: number;
    week: number;
    later: number;
    longest: number;
  }>(
    `select stream, sum(records)::bigint as records, count(distinct day) as days,
            coalesce(sum(records) filter (where after <= interval '24 hours'), 0)::bigint as day,
            coalesce(sum(records) filter (where after > interval '24 hours' and after <= interval '72 hours'), 0)::bigint as three,
            coalesce(sum(records) filter (where after > interval '72 hours' and after <= interval '168 hours'), 0)::bigint as week,
            coalesce(sum(records) filter (where after > interval '168 hours'), 0)::bigint as later,
            (extract(epoch from max(after)) / 3600)::double precision as longest
       from daywalk.lateness
      where stream = any ($1::text[])
      group by stream
      order by array_position($1::text[], stream)`,
    [streamNames],
  );
  return rows.map(({ stream, records, days, day, three, week, later, longest }) => ({
    stream,
    records,
    days,
    within: [day, three, week, later],
    longestHours: longest,
  }));
}
