/** What must hold in a daywalk database at any moment, whatever was killed, cut or stolen (ARCHITECTURE, invariants). */
import type { TestDatabase } from './database.ts';

/** Each sentence tells of something that must never be; none: all is well. */
export async function audit(database: TestDatabase): Promise<string[]> {
  const { rows } = await database.pool.query<{ found: string }>({
    // It takes longer to plan than to execute.
    name: 'audit',
    text: `with recursive chain as (
       select walk_id, page_no, start + skip as start, records,
              coalesce(sum(records) over (partition by walk_id order by page_no rows between unbounded preceding and 1 preceding), 0) as expected,
              row_number() over (partition by walk_id order by page_no) - 1 as ordinal
         from daywalk.pages
     ), stored as (
       select k.walk_id, k.window_id, k.next_start, k.pages, k.outcome, k.shown, count(c.page_no) as page_count,
              coalesce(sum(c.records), 0) as record_count
         from daywalk.walks k left join chain c on c.walk_id = k.walk_id
        where k.pruning is null
        group by k.walk_id
     ), above as (
       select window_id, split_from as ancestor from daywalk.windows where split_from is not null
        union all
       select above.window_id, w.split_from
         from above join daywalk.windows w on w.window_id = above.ancestor where w.split_from is not null
     ), proven as (
       select w.window_id, w.kind, w.state, coalesce(max(above.ancestor) filter (where whole.split_from is null), w.window_id) as top,
              (w.proof ->> 'records')::bigint as records, w.proof ->> 'kind' as proof,
              array_remove((w.proof ->> 'walk')::bigint || array(select jsonb_array_elements_text(coalesce(w.proof -> 'unites', '[]'))::bigint), null) as walks
         from daywalk.windows w
         left join above on above.window_id = w.window_id
         left join daywalk.windows whole on whole.window_id = above.ancestor
        where w.proof is not null and w.split_by is null and w.state <> 'replaced'
        group by w.window_id
     ), united as (
       select window_id, hash, max(copies) as copies
         from (select n.window_id, h.hash, count(*) as copies
                 from proven n
                 join daywalk.pages p on p.walk_id = any (n.walks)
                cross join lateral unnest(p.record_hashes) as h (hash)
                group by n.window_id, h.hash, case when n.proof = 'union' then p.walk_id end, case when n.proof = 'union' then p.page_no end) as by_place
        group by window_id, hash
     ), visible as (
       select coalesce(above.ancestor, w.window_id) as top, h.hash, count(*) as copies
         from daywalk.walks k
         join daywalk.windows w on w.window_id = k.window_id
         left join (select above.* from above join daywalk.windows a on a.window_id = above.ancestor and a.split_from is null) as above
           on above.window_id = w.window_id
         join daywalk.pages p on p.walk_id = k.walk_id
        cross join lateral unnest(p.record_hashes) with ordinality as h (hash, position)
         left join daywalk.marks mark on mark.walk_id = p.walk_id and mark.page_no = p.page_no and mark.position = h.position
        where k.shown <> 'no' and case when mark.state is null then k.shown = 'whole' else mark.state <> 'old' end
        group by 1, 2
     )
     select format('I1: walk %s has its checkpoint at %s after %s pages, but %s records on %s pages', walk_id, next_start, pages, record_count, page_count) as found
       from stored where next_start <> record_count or pages <> page_count
      union all
     select format('I3: page %s of walk %s starts at %s, the pages before it end at %s', page_no, walk_id, start, expected)
       from chain where start <> expected or page_no <> ordinal
      union all
     select format('I4: window %s is complete by walk %s, which is not proven', n.window_id, w.walk_id)
       from proven n cross join lateral unnest(n.walks) as w (walk_id)
       left join daywalk.walks k on k.walk_id = w.walk_id and k.window_id = n.window_id and k.outcome = 'proven'
      where k.walk_id is null
      union all
     select format('I4: window %s is proven with %s records, and its walks hold %s', n.window_id, n.records, u.records)
       from proven n
       join (select window_id, sum(copies) as records from united group by window_id) as u on u.window_id = n.window_id
      where n.kind <> 'cut' and n.records <> u.records
      union all
     -- A split that is not closed shows what it showed before.
     select format('I6: window %s holds record %s %s times, and %s are shown or hidden by a mark', u.window_id, u.hash, u.copies, coalesce(v.copies, 0))
       from united u
       join proven n on n.window_id = u.window_id and n.state = 'complete' and n.kind <> 'cut'
       join daywalk.windows top on top.window_id = n.top and top.state = 'complete'
       left join visible v on v.top = n.top and v.hash = u.hash
      where coalesce(v.copies, 0) < u.copies
        and not exists (select from daywalk.walks k where k.walk_id = any (n.walks) and (k.pruning is not null or k.ignored <> '{}'))
      union all
     select format('I6: walk %s is shown, and not proven', walk_id) from stored where shown <> 'no' and outcome is distinct from 'proven'
      union all
     select format('I6: record %s of page %s of walk %s is marked %s, and its walk is not shown', m.position, m.page_no, m.walk_id, m.state)
       from daywalk.marks m join daywalk.walks k on k.walk_id = m.walk_id where k.shown = 'no'
      union all
     select format('window %s is %s, and one of its parts is %s', p.window_id, p.state, w.state)
       from daywalk.windows p join daywalk.windows w on w.split_from = p.window_id
      where p.split_by is null and w.state <> 'replaced'
      union all
     select format('window %s has an ended walk as its walk in progress', w.window_id)
       from daywalk.windows w join daywalk.walks k on k.walk_id = w.current_walk where k.outcome is not null
      union all
     select format('walk %s of window %s is in progress, but not the one of its window', k.walk_id, k.window_id)
       from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
      where k.outcome is null and w.current_walk is distinct from k.walk_id
      union all
     select format('I6: what is shown of %s is %s, and daywalk.days says %s', d.day, c, (n.records, n.gone, n.lost, n.pages, n.bytes))
       from (select stream_id, day from daywalk.days union select stream_id, day from daywalk.windows where state = 'complete') as d
      cross join lateral daywalk.contents_of(d.stream_id, d.day) as c
       left join daywalk.days n on n.stream_id = d.stream_id and n.day = d.day
      where (n.records, n.gone, n.lost, n.pages, n.bytes) is distinct from (c.records, c.gone, c.lost, c.pages, c.bytes)
        and (n.stream_id is not null or c.pages > 0)
        -- A day that moved shows what it showed, though not here.
        and not exists (select from daywalk.tiered_days t where t.stream_id = d.stream_id and t.day = d.day)
      union all
     select format('the publications of %s end with %s records, and daywalk.days says %s', n.day, p.records, n.records)
       from daywalk.days n
       left join lateral (select records, revision from daywalk.publications p
                           where p.stream_id = n.stream_id and p.day = n.day order by seq desc limit 1) as p on true
      where (p.records, p.revision) is distinct from (n.records, n.revision)
        and not exists (select from daywalk.tiered_days t where t.stream_id = n.stream_id and t.day = n.day)
      union all
     select format('the publications of stream %s have %s numbers up to %s', stream_id, count(*), max(seq))
       from daywalk.publications group by stream_id having count(*) <> max(seq)
      union all
     -- Where nothing is to be looked at, the ledger has every complete day as it is.
     select format('the ledger lacks %s, and nothing says so', l.day)
       from daywalk.ledger_due l join daywalk.days n on n.stream_id = l.stream_id and n.day = l.day and not n.unsealed
      where l.unsealed_pages > 0 or l.entry is not null`,
  });
  return rows.map((row) => row.found);
}

/** Records of which a window holds other copies than its newest proof says, though it is not looked whether it does; must be none. */
export async function overlooked(database: TestDatabase): Promise<string[]> {
  const rows = await database.query<{ found: string }>(
    `select format('window %s: record %s, %s times, %s twins', w.window_id, d.hash, d.wanted, d.twins) as found
       from daywalk.windows w
      cross join lateral (select daywalk.ignored_now(w.window_id) as now) as ignored
      cross join lateral (
        select array(select unnest(p.record_hashes) from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id
                      where k.window_id = any (array(select daywalk.subtree(w.window_id)))) as hashes) as every
      cross join lateral daywalk.differing(w.window_id, ignored.now, every.hashes) as d
      where w.split_from is null and w.proof is not null
        and d.hash <> all (coalesce(daywalk.touched(w.window_id, ignored.now), '{}'))`,
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
         (old.window_id, old.number, old.role, old.day, old.page_length, old.records_path, old.total_path, old.relation_path,
          old.next_start, old.pages, old.bytes, old.first_total, old.last_total, old.started_at)
         is distinct from
         (new.window_id, new.number, new.role, new.day, new.page_length, new.records_path, new.total_path, new.relation_path,
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
