/** The query that the demo shows, and its answer. */
import type { Database } from '../store/database.ts';

/** Events of each day by severity; runs against the views as they are. */
export const EXAMPLE_QUERY = `select day,
       count(*) as events,
       count(*) filter (where (record -> 'rule' ->> 'level')::int >= 10) as severe,
       count(distinct record ->> 'id') as different_ids
  from daywalk.events
 group by day
 order by day`;

/** One row of {@link EXAMPLE_QUERY}. */
export interface ExampleRow {
  readonly day: string;
  readonly events: number;
  readonly severe: number;
  readonly different_ids: number;
}

/** Runs {@link EXAMPLE_QUERY}. */
export async function runExampleQuery(database: Database): Promise<ExampleRow[]> {
  return database.persist<{ day: string; events: number; severe: number; different_ids: number }>(
    EXAMPLE_QUERY,
  );
}

/** How many pages are stored, in all walks. */
export async function countPages(database: Database): Promise<number> {
  const [row] = await database.persist<{ pages: number }>(
    'select coalesce(sum(pages), 0)::bigint as pages from daywalk.walks',
  );
  return row?.pages ?? 0;
}
