/** What must hold in a daywalk database at any moment, whatever was killed, cut or stolen (ARCHITECTURE, invariants). */
import type { TestDatabase } from './database.ts';

/** Each sentence tells of something that must never be; none: all is well. */
export async function audit(database: TestDatabase): Promise<string[]> {
  const rows = await database.query<{ found: string }>(
    `with recursive chain as (
       select walk_id, page_no, start + skip as start, records,
              coalesce(sum(records) over (partition by walk_id order by page_no rows between unbounded preceding and 1 preceding), 0) as expected,
              row_number() over (partition by walk_id order by page_no) - 1 as ordinal
         from daywalk.pages
     ), stored as (
       select k.walk_id, k.window_id, k.number, k.next_start, k.pages, k.outcome, k.proof, k.published,
              count(c.page_no) as page_count, coalesce(sum(c.records), 0) as record_count
         from daywalk.walks k left join chain c on c.walk_id = k.walk_id
        group by k.walk_id
     ), above as (
       select window_id, split_from as ancestor from daywalk.windows where split_from is not null
        union all
       select above.window_id, w.split_from
         from above join daywalk.windows w on w.window_id = above.ancestor where w.split_from is not null
     ), covered as (
       -- What a window published before it was split stays until the last part is complete.
       select distinct above.window_id from above join daywalk.walks k on k.window_id = above.ancestor and k.published
     ), newest as (
       select distinct on (window_id) window_id, walk_id, proof
         from daywalk.walks where outcome = 'proven' order by window_id, number desc
     ), believed as (
       select window_id, walk_id from newest
        union
       select window_id, jsonb_array_elements_text(coalesce(proof -> 'unites', '[]'))::bigint from newest
     ), united as (
       select n.walk_id, sum(most) as record_count
         from newest n
        cross join lateral (
          select max(copies) as most
            from (select h.hash, count(*) as copies
                    from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
                   where p.walk_id in (select b.walk_id from believed b where b.window_id = n.window_id)
                   group by h.hash, p.walk_id, p.page_no) as by_page
           group by hash) as by_record
        where n.proof ->> 'kind' = 'union' group by n.walk_id
     )
     select format('I1: walk %s has its checkpoint at %s after %s pages, but %s records on %s pages', walk_id, next_start, pages, record_count, page_count) as found
       from stored where next_start <> record_count or pages <> page_count
      union all
     select format('I3: page %s of walk %s starts at %s, the pages before it end at %s', page_no, walk_id, start, expected)
       from chain where start <> expected or page_no <> ordinal
      union all
     select format('I4: window %s is complete, and nothing shows it', w.window_id)
       from daywalk.windows w
      where w.state = 'complete' and w.window_id not in (select window_id from covered)
        and not exists (select from daywalk.walks k where k.window_id = w.window_id and k.published)
      union all
     select format('I4: walk %s is proven with proof %s and %s records', s.walk_id, s.proof, coalesce(u.record_count, s.record_count))
       from stored s left join united u on u.walk_id = s.walk_id
      where s.outcome = 'proven'
        and (s.proof ->> 'records')::bigint is distinct from coalesce(u.record_count, s.record_count)
      union all
     select format('I6: walk %s of window %s is %s', s.walk_id, s.window_id,
                   case when s.published then 'shown, and not the newest proven one' else 'the newest proven one, and not shown' end)
       from stored s join daywalk.windows w on w.window_id = s.window_id
      where case when s.published then (s.window_id, s.walk_id) not in (select window_id, walk_id from believed)
                 else w.state = 'complete' and s.window_id not in (select window_id from covered)
                      and s.walk_id in (select walk_id from believed) end
      union all
     select format('I6: window %s and window %s above it are both shown', above.window_id, above.ancestor)
       from above
      where exists (select from daywalk.walks k where k.window_id = above.window_id and k.published)
        and exists (select from daywalk.walks k where k.window_id = above.ancestor and k.published)
      union all
     select format('window %s has an ended walk as its walk in progress', w.window_id)
       from daywalk.windows w join daywalk.walks k on k.walk_id = w.current_walk where k.outcome is not null
      union all
     select format('walk %s of window %s is in progress, but not the one of its window', k.walk_id, k.window_id)
       from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
      where k.outcome is null and w.current_walk is distinct from k.walk_id
      union all
     select format('I6: the published walks of %s hold %s, and daywalk.days says %s', d.day, c, (n.records, n.pages, n.bytes, n.proof))
       from (select stream_id, day from daywalk.days union select stream_id, day from daywalk.windows where state = 'complete') as d
      cross join lateral daywalk.contents_of(d.stream_id, d.day) as c
       left join daywalk.days n on n.stream_id = d.stream_id and n.day = d.day
      where (n.records, n.pages, n.bytes, n.proof) is distinct from (c.records, c.pages, c.bytes, c.proof)
        and (n.stream_id is not null or c.pages > 0)
      union all
     -- Where nothing is to be looked at, the ledger has every complete day as it is.
     select format('the ledger lacks %s, and nothing says so', l.day)
       from daywalk.ledger_due l join daywalk.days n on n.stream_id = l.stream_id and n.day = l.day and not n.unsealed
      where l.unsealed_pages > 0 or l.entry is not null`,
  );
  return rows.map((row) => row.found);
}

/**
 * From now on, a change of a stored page, or of what a walk that has ended stored, is an error (I7). An ended walk may
 * still be believed or not, and shown or not.
 */
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
    `create trigger i7_walks_delete before delete on daywalk.walks
       for each row execute function public.refuse_change()`,
  );
  await database.query(
    `create trigger i7_walks before update on daywalk.walks
       for each row when (old.outcome is not null and
         (old.window_id, old.number, old.span, old.day, old.page_length, old.records_path, old.total_path, old.relation_path,
          old.next_start, old.pages, old.bytes, old.first_total, old.last_total, old.started_at)
         is distinct from
         (new.window_id, new.number, new.span, new.day, new.page_length, new.records_path, new.total_path, new.relation_path,
          new.next_start, new.pages, new.bytes, new.first_total, new.last_total, new.started_at))
       execute function public.refuse_change()`,
  );
  // A walk that was proven, or that met a fault, stays so.
  await database.query(
    `create trigger i7_outcomes before update on daywalk.walks
       for each row when (old.outcome in ('proven', 'shifted', 'failed') and
         (old.outcome, old.proof, old.reason) is distinct from (new.outcome, new.proof, new.reason))
       execute function public.refuse_change()`,
  );
}
