/** The first day that there is anything to say about. */
import type { Day } from '../model.ts';
import type { Database } from './database.ts';

/** The oldest day that any of these streams wants or has; null: none of them was ever planned. */
export async function readFirstDay(
  database: Database,
  streamNames: readonly string[],
): Promise<Day | null> {
  const [row] = await database.persist<{ first_day: string | null }>(
    `select min(least(s.since, (select min(w.day) from daywalk.windows w where w.stream_id = s.stream_id)))::text as first_day
       from daywalk.streams s where s.name = any ($1::text[])`,
    [streamNames],
  );
  return row?.first_day ?? null;
}
