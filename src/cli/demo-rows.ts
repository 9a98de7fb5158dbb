/** The queries that the demo shows. */
import type { Database } from '../store/database.ts';

/** Events of each day by severity; runs against the views as they are. */
export const EXAMPLE_QUERY = `select day,
       count(*) as events,
       count(*) filter (where (record -> 'rule' ->> 'level')::int >= 10) as severe,
       count(distinct record ->> 'id') as different_ids
  from daywalk.events
 group by day
 order by day`;

/** How many pages are stored, in all walks. */
export const countPages = (database: Database): Promise<number> =>
  database.value('select coalesce(sum(pages), 0)::bigint from daywalk.walks');

/** The newest severe events, from the record table of the demo. */
export const TABLE_QUERY = `select at, agent, level, rule
  from daywalk.alerts
 where level >= 12
 order by at desc
 limit 5`;
