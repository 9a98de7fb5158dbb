/** What must hold in a daywalk database at any moment, whatever was killed, cut or stolen (ARCHITECTURE, invariants). */
import type { TestDatabase } from './database.ts';

/** Each sentence tells of something that must never be; none: all is well. */
export async function audit(database: TestDatabase): Promise<string[]> {
  const rows = await database.query<{ found: string }>(
    `with chain as (
       select walk_id, page_no, start, records,
              coalesce(sum(records) over (partition by walk_id order by page_no rows between unbounded preceding and 1 preceding), 0) as expected,
              row_number() over (partition by walk_id order by page_no) - 1 as ordinal
         from daywalk.pages
     ), stored as (
       select k.walk_id, k.next_start, k.pages, k.outcome, k.proof,
              count(c.page_no) as page_count, coalesce(sum(c.records), 0) as record_count
         from daywalk.walks k left join chain c on c.walk_id = k.walk_id
        group by k.walk_id
     )
     select format('I1: walk %s has its checkpoint at %s after %s pages, but %s records on %s pages', walk_id, next_start, pages, record_count, page_count) as found
       from stored where next_start <> record_count or pages <> page_count
      union all
     select format('I3: page %s of walk %s starts at %s, the pages before it end at %s', page_no, walk_id, start, expected)
       from chain where start <> expected or page_no <> ordinal
      union all
     select format('I4: window %s is complete on walk %s with outcome %s, proof %s and %s records', w.window_id, w.published_walk, s.outcome, s.proof, s.record_count)
       from daywalk.windows w left join stored s on s.walk_id = w.published_walk
      where w.state = 'complete' and (s.outcome is distinct from 'proven' or (s.proof ->> 'records')::bigint is distinct from s.record_count)
      union all
     select format('I6: walk %s is proven, but its window shows walk %s', s.walk_id, w.published_walk)
       from stored s join daywalk.walks k on k.walk_id = s.walk_id join daywalk.windows w on w.window_id = k.window_id
      where s.outcome = 'proven'
        and k.number = (select max(number) from daywalk.walks o where o.window_id = k.window_id and o.outcome = 'proven')
        and w.published_walk is distinct from s.walk_id
      union all
     select format('window %s has an ended walk as its walk in progress', w.window_id)
       from daywalk.windows w join daywalk.walks k on k.walk_id = w.current_walk where k.outcome is not null
      union all
     select format('walk %s of window %s is in progress, but not the one of its window', k.walk_id, k.window_id)
       from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
      where k.outcome is null and w.current_walk is distinct from k.walk_id`,
  );
  return rows.map((row) => row.found);
}

/** From now on, a change of a stored page, or of a walk that has ended, is an error (I7). */
export async function forbidChanges(database: TestDatabase): Promise<void> {
  await database.query(
    `create function public.refuse_change() returns trigger language plpgsql as $$
     begin raise exception 'I7: % of % that is stored', tg_op, tg_table_name; end $$`,
  );
  await database.query(
    `create trigger i7_pages before update or delete on daywalk.pages
       for each row execute function public.refuse_change()`,
  );
  await database.query(
    `create trigger i7_walks before update or delete on daywalk.walks
       for each row when (old.outcome is not null) execute function public.refuse_change()`,
  );
}
