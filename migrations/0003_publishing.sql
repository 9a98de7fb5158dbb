-- Publishing: a window, a cut or a split is proven, and what readers see changes: here and nowhere else, in one
-- transaction each time, under a lock of the stream. docs/completeness.md tells what "shown", "missing" and "gone" mean.

-- Who waits for a lock must see what others did meanwhile; at higher isolation levels a statement sees the past.
create function daywalk.need_read_committed() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'daywalk needs the isolation level READ COMMITTED, and this session has %', upper(current_setting('transaction_isolation'))
      using errcode = 'inappropriate_isolation_level_for_branch_transaction',
            hint = 'Reset default_transaction_isolation for the database and for the role of daywalk.';
  end if;
end $$;

-- Takes the lock under which what is shown of a stream changes.
create function daywalk.lock_stream(of_stream integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform daywalk.need_read_committed();
  perform pg_advisory_xact_lock(hashtext('daywalk.show'), of_stream);
end $$;

-- When a day of a stream closed: it ended in the source's time zone, and the settle delay has passed.
create function daywalk.closed_at(day date, time_zone text, settle interval) returns timestamptz
stable parallel safe return ((day + 1)::timestamp at time zone time_zone) + settle;

-- When a window is looked at again that was just found as it is stored: a day from now, until recheck_days after it
-- closed; half a day more is granted, so that the last day gets its look too.
create function daywalk.next_look(closed timestamptz, recheck_days integer) returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when clock_timestamp() + interval '1 day' <= closed + make_interval(days => recheck_days, hours => 12)
              then clock_timestamp() + interval '1 day' end
$$;

-- What stands for a window now: the parts at the ends of its splits and the cuts between them, or the window itself.
create function daywalk.leaves(top bigint) returns setof daywalk.windows
language plpgsql stable rows 10 set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return query
  with recursive tree as (
    select * from daywalk.windows where window_id = top
     union all
    select part.* from tree join daywalk.windows part on part.split_from = tree.window_id
     where tree.split_by is not null and part.state <> 'replaced'
  )
  select * from tree where split_by is null;
end $$;

-- A window and all that was ever split from it.
create function daywalk.subtree(top bigint) returns setof bigint
language plpgsql stable rows 10 set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return query
  with recursive tree as (
    select top as window_id
     union all
    select part.window_id from tree join daywalk.windows part on part.split_from = tree.window_id
  )
  select window_id from tree;
end $$;

-- The walks that a proof rests on: that of a window; of a cut those across, before and behind it; and those that they are united with.
create function daywalk.walks_of(proof jsonb) returns bigint[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select array_remove(array[(proof ->> 'walk')::bigint, (proof ->> 'across')::bigint, (proof ->> 'before')::bigint, (proof ->> 'after')::bigint], null)
         || array(select value::bigint from jsonb_array_elements_text(coalesce(proof -> 'unites', '[]')))
$$;

-- The walks that the newest proofs of the leaves of a window rest on. united: a union, whose lists may show a record on several
-- pages: how often it is there is then what one page shows of it, not what the walk shows.
create function daywalk.proven_walks(top bigint)
returns table (window_id bigint, kind text, role text, walk_id bigint, day date, records_path text[], ignored text[], id_path text[], finished_at timestamptz, united boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select leaf.window_id, leaf.kind, k.role, k.walk_id, k.day, k.records_path, k.ignored, k.id_path, k.finished_at,
         leaf.kind <> 'cut' and leaf.proof ? 'unites' or count(*) over (partition by leaf.window_id, k.role) > 1
    from daywalk.leaves(top) as leaf
    join daywalk.walks k on k.walk_id = any (daywalk.walks_of(leaf.proof));
end $$;

-- What is ignored in the records of a window, as its newest walk says.
create function daywalk.ignored_now(top bigint) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return coalesce((select k.ignored from daywalk.walks k
                    where k.walk_id = (select max(proven.walk_id) from daywalk.proven_walks(top) as proven)), '{}');
end $$;

-- The records of which a window may hold other copies than its newest proof says: those of walks that are not both shown as a
-- whole and what is proven, and those that are marked. All others stand where the proof has them, millions of them on some days.
create function daywalk.touched(top bigint, under text[]) returns bigint[]
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return (
  with proven as materialized (
    select walk_id, role = 'whole' and not united as whole from daywalk.proven_walks(top)
  ), walk as materialized (
    select k.walk_id, k.day, k.records_path, k.ignored, k.shown = 'whole' and k.walk_id in (select p.walk_id from proven p where p.whole) as is_proof
      from daywalk.walks k
     where k.pruning is null
       and (k.walk_id in (select p.walk_id from proven p)
            or (k.window_id = any (array(select daywalk.subtree(top))) and k.shown <> 'no'))
  ), page as (
    select k.is_proof, p.walk_id, p.page_no,
           daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under) as hashes
      from walk k cross join lateral daywalk.pages_of(array[k.walk_id]) as p
     where not k.is_proof or exists (select from daywalk.marks mark where mark.walk_id = p.walk_id and mark.page_no = p.page_no)
  )
  select array_agg(distinct record.hash)
    from (select h.hash from page cross join lateral unnest(page.hashes) as h (hash) where not page.is_proof
           union all
          select page.hashes[mark.position]
            from page join daywalk.marks mark on mark.walk_id = page.walk_id and mark.page_no = page.page_no where page.is_proof) as record);
end $$;

-- How often each record, or each of some, stands in a window by its newest proof: in its parts, and by the corrections of the
-- cuts between them (or, of a cut, by its own): what the walk across shows, less what those before and behind it show.
create function daywalk.proven_counts(top bigint, under text[], among bigint[] default null) returns table (hash bigint, copies bigint, correction bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select hash, (coalesce(sum(copies) filter (where kind <> 'cut'), 0))::bigint,
         (coalesce(sum(case role when 'across' then copies else -copies end) filter (where kind = 'cut'), 0))::bigint
    from (select window_id, kind, role, hash, max(copies) as copies
            from (select k.window_id, k.kind, k.role, h.hash, count(*) as copies
                    from daywalk.proven_walks(top) as k
                   cross join lateral daywalk.pages_of(array[k.walk_id]) as p
                   cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under)) as h (hash)
                   where among is null or h.hash in (select unnest(among))
                   group by k.window_id, k.kind, k.role, h.hash, k.walk_id, case when k.united then p.page_no end) as by_place
           group by window_id, kind, role, hash) as by_window
   group by hash
$$;

-- Every copy of some records that a window holds: what is shown of it, what is hidden, and what is an older version.
create function daywalk.held(top bigint, of_hashes bigint[], under text[])
returns table (walk_id bigint, window_id bigint, page_no integer, "position" integer, day date, fetched_at timestamptz,
               hash bigint, id_hash bigint, state text, since timestamptz, first_seen timestamptz, revision integer, hidden_by bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select copy.walk_id, copy.window_id, copy.page_no, copy.position, copy.day, copy.fetched_at, copy.hash, copy.id_hash,
         coalesce(mark.state, 'shown'), mark.since, mark.first_seen, coalesce(mark.revision, 1), mark.hidden_by
    -- Without the fence a planner looks the hashes up for each page.
    from (select k.walk_id, k.window_id, k.shown, p.page_no, h.position::integer as position, p.day, p.fetched_at, h.hash, h.id_hash
            from daywalk.windows w
            join daywalk.streams s on s.stream_id = w.stream_id
            join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
           cross join lateral daywalk.pages_of(array[k.walk_id]) as p
           cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under),
                                     daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) with ordinality as h (hash, id_hash, position)
           where w.window_id = any (array(select daywalk.subtree(top)))
          offset 0) as copy
    left join daywalk.marks mark on mark.walk_id = copy.walk_id and mark.page_no = copy.page_no and mark.position = copy.position
   where copy.hash in (select unnest(of_hashes)) and (mark.state is not null or copy.shown = 'whole')
$$;

-- How often some records are held by a window, the copies that are hidden in it apart; whether one of them is in doubt; and
-- reread: copies more than any one of its walks brought, or its parts did together, each as a whole or in parts of its own. What is not the
-- record was learned since they came: a later walk of the same records brought them as others.
create function daywalk.held_counts(top bigint, under text[], among bigint[])
returns table (hash bigint, copies bigint, hidden bigint, doubt boolean, reread bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with recursive tree as (
    select top as window_id, null::bigint as split_from, 0 as depth
     union all
    select w.window_id, w.split_from, tree.depth + 1
      from tree join daywalk.windows w on w.split_from = tree.window_id
  ), by_window as (
    select window_id, hash, sum(copies) as copies, sum(hidden) as hidden, bool_or(doubt) as doubt, bool_or(otherwise) as otherwise,
           max(brought) as brought
      from (select k.window_id, k.walk_id, h.hash, k.ignored <> under as otherwise, count(*) as brought,
                   count(*) filter (where held.now and not held.hidden) as copies,
                   count(*) filter (where held.now and held.hidden) as hidden,
                   bool_or(mark.state in ('missing', 'gone')) as doubt
              from daywalk.walks k
             cross join lateral daywalk.pages_of(array[k.walk_id]) as p
             cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under)) with ordinality as h (hash, position)
              left join daywalk.marks mark on mark.walk_id = p.walk_id and mark.page_no = p.page_no and mark.position = h.position
             cross join lateral (select case when mark.state is null then k.shown = 'whole' else mark.state <> 'old' end as now,
                                        coalesce(mark.state = 'hidden', false) as hidden) as held
             where k.window_id = any (array(select tree.window_id from tree)) and k.shown <> 'no' and k.pruning is null
               and h.hash in (select unnest(among))
             group by k.window_id, k.walk_id, k.ignored, h.hash) as by_walk
     group by window_id, hash
  ), reread as materialized (
    -- Of what is held no more often than one window brought it there is nothing to sum.
    select b.hash, b.window_id, b.brought, tree.depth
      from by_window b join tree using (window_id)
     where b.hash in (select o.hash from by_window o group by o.hash having bool_or(o.otherwise) and sum(o.copies) > max(o.brought))
  ), upwards as (
    -- Of the windows at one depth, what their parts brought.
    select max(tree.depth) as depth, '{}'::bigint[] as windows, '{}'::bigint[] as hashes, '{}'::bigint[] as brought from tree
     union all
    select below.depth - 1, above.windows, above.hashes, above.brought
      from upwards as below
     cross join lateral (
       select array_agg(split_from), array_agg(hash), array_agg(brought)
         from (select tree.split_from, hash, sum(brought)::bigint as brought
                 from (select window_id, hash, max(brought) as brought
                         from (select window_id, hash, brought from reread where depth = below.depth
                                union all
                               select * from unnest(below.windows, below.hashes, below.brought)) as either (window_id, hash, brought)
                        group by window_id, hash) as most
                 join tree using (window_id)
                group by tree.split_from, hash) as sums) as above (windows, hashes, brought)
     where below.depth >= 0
  )
  select hash, sum(by_window.copies)::bigint, sum(by_window.hidden)::bigint, bool_or(by_window.doubt),
         greatest(sum(by_window.copies) - max(most.brought), 0)::bigint
    from by_window
    left join (select once.hash, once.brought from upwards cross join lateral unnest(upwards.hashes, upwards.brought) as once (hash, brought)
                where upwards.depth < 0) as most using (hash)
   group by hash
  having sum(by_window.copies) + sum(by_window.hidden) > 0
$$;

-- Those among some records of which a window does not hold as many copies as its newest proof says, or that are missing or gone:
-- how many there should be, and how many of those held should not be seen twice. A cut takes away what both sides show,
-- so never the last copy.
create function daywalk.differing(top bigint, under text[], among bigint[]) returns table (hash bigint, wanted bigint, twins bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select hash, wanted, greatest(copies - wanted - hidden, reread, 0)
    from (select coalesce(proven.hash, held.hash) as hash, coalesce(proven.copies, 0) as copies,
                 case when coalesce(proven.copies, 0) = 0 then greatest(coalesce(proven.correction, 0), 0)
                      else greatest(proven.copies + proven.correction, 1) end as wanted,
                 coalesce(held.copies, 0) as held_copies, coalesce(held.hidden, 0) as hidden, coalesce(held.doubt, false) as doubt,
                 coalesce(held.reread, 0) as reread
            from daywalk.proven_counts(top, under, among) as proven
            full join daywalk.held_counts(top, under, among) as held on held.hash = proven.hash) as both_sides
   where wanted <> held_copies or doubt
$$;

-- Those among these identities that the newest proof of a window shows; what a side of a cut shows, a neighbour has, or will have.
create function daywalk.proven_ids(top bigint, of_ids bigint[]) returns setof bigint
language sql stable set search_path = pg_catalog, pg_temp as $$
  select by_role.id_hash
    from (select shown.id_hash, shown.role, max(shown.copies) as copies
            from (select i.id_hash, k.window_id, k.role, count(*) as copies
                    from daywalk.proven_walks(top) as k
                    join daywalk.windows w on w.window_id = k.window_id
                    join daywalk.streams s on s.stream_id = w.stream_id
                   cross join lateral daywalk.pages_of(array[k.walk_id]) as p
                   cross join lateral unnest(daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) as i (id_hash)
                   group by i.id_hash, k.window_id, k.role, k.walk_id, case when k.united then p.page_no end
                  offset 0) as shown
           where shown.id_hash in (select unnest(of_ids))
           group by shown.id_hash, shown.window_id, shown.role) as by_role
   group by by_role.id_hash having sum(case when by_role.role in ('before', 'after') then -by_role.copies else by_role.copies end) > 0
$$;

-- How often a midnight cut finds each record now, and found it at most: across, before it and behind it; and since when it finds it.
create function daywalk.found_at(cut bigint, under text[])
returns table (hash bigint, across bigint, before bigint, behind bigint, most_across bigint, most_before bigint, most_behind bigint, first_found timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with newest as materialized (
    select k.walk_id, k.role, k.ignored, k.records_path, k.finished_at, k.united from daywalk.proven_walks(cut) as k
  ), walk as materialized (
    select n.*, true as is_newest from newest n
     union all
    select k.walk_id, k.role, k.ignored, k.records_path, k.finished_at, k.proof ? 'unites', false
      from daywalk.walks k
     where k.window_id = cut and k.outcome = 'proven' and k.pruning is null and k.walk_id not in (select n.walk_id from newest n)
  )
  select hash, coalesce(max(copies) filter (where role = 'across' and is_newest), 0), coalesce(max(copies) filter (where role = 'before' and is_newest), 0),
         coalesce(max(copies) filter (where role = 'after' and is_newest), 0), coalesce(max(copies) filter (where role = 'across'), 0),
         coalesce(max(copies) filter (where role = 'before'), 0), coalesce(max(copies) filter (where role = 'after'), 0), min(finished_at)
    from (select h.hash, k.role, k.is_newest, k.finished_at, count(*) as copies
            from walk k
           cross join lateral daywalk.pages_of(array[k.walk_id]) as p
           cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under)) as h (hash)
           group by h.hash, k.walk_id, k.role, k.is_newest, k.finished_at, case when k.united then p.page_no end) as by_place
   group by hash
$$;

-- The identities that stand more than once in one of these walks: of such records none is an older version of another.
create function daywalk.doubled_ids(among bigint[]) returns table (walk_id bigint, id_hash bigint)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  return query
  select k.walk_id, i.id_hash
    from daywalk.walks k
    join daywalk.windows w on w.window_id = k.window_id
    join daywalk.streams s on s.stream_id = w.stream_id
    join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
   cross join lateral unnest(daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) as i (id_hash)
   where k.walk_id = any (among) and i.id_hash is not null
   group by k.walk_id, i.id_hash having count(*) > 1;
end $$;

-- What is to be done with single records so that a window shows what its newest proof says, and nothing that it ever
-- showed goes: verdict is show (a copy that is not shown yet), back, missing, gone, old or hide. A copy that is lacked is missing;
-- gone, when a proof an hour or more later lacks it too; old, where the proof has another record with its identity, and no list held
-- both; hidden, where it has an identity and is shown once more with it: then it was one record that a list showed twice, as it
-- moved from one tier to another. What a midnight hides is judged like any other copy.
create function daywalk.verdicts(top bigint, at timestamptz)
returns table (verdict text, walk_id bigint, page_no integer, "position" integer, day date, since timestamptz,
               first_seen timestamptz, revision integer)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  under constant text[] := daywalk.ignored_now(top);
  touched constant bigint[] := daywalk.touched(top, under);
  hashes bigint[];
  wanteds bigint[];
  twins bigint[];
begin
  if touched is null then return; end if;
  select array_agg(d.hash), array_agg(d.wanted), array_agg(d.twins) into hashes, wanteds, twins from daywalk.differing(top, under, touched) as d;
  if hashes is null then return; end if;
  return query
  with want as materialized (
    select w.hash, w.wanted, w.twins from unnest(hashes, wanteds, twins) as w (hash, wanted, twins)
  ), held as materialized (
    select h.*, row_number() over (partition by h.hash order by array_position(array['gone', 'missing', 'shown'], h.state),
                                                                h.walk_id desc, h.page_no desc, h.position desc) as rank,
           count(*) over (partition by h.hash) as copies
      from daywalk.held(top, hashes, under) as h where h.state in ('shown', 'missing', 'gone')
  ), lacked as materialized (
    select h.*, row_number() over (partition by h.hash order by h.rank) <= want.twins or (h.id_hash is not null and want.wanted > 0) as twin
      from held h join want on want.hash = h.hash where h.rank <= h.copies - want.wanted
  ), leaf as materialized (
    select l.window_id, l.kind, l.proven_at from daywalk.leaves(top) as l
  ), known as materialized (
    select i as id_hash from daywalk.proven_ids(top, array(select distinct l.id_hash from lacked l where l.id_hash is not null)) as i
  ), doubled as materialized (
    select d.* from daywalk.doubled_ids(array(select distinct l.walk_id from lacked l where l.id_hash in (select known.id_hash from known))) as d
  ), judged as materialized (
    select l.*,
           case when l.twin then 'hide'
                when known.id_hash is not null then 'old'
                -- One missed in the future is missed from now on: the clock of the database was ahead.
                when l.state = 'shown' or (l.state = 'missing' and l.since > at) then 'missing'
                when l.state = 'missing' and l.since + interval '1 hour' <= coalesce(leaf.proven_at, since_all.proven_at) then 'gone' end as verdict
      from lacked l
      left join known on known.id_hash = l.id_hash
       and (l.walk_id, l.id_hash) not in (select d.walk_id, d.id_hash from doubled d)
      left join leaf on leaf.window_id = l.window_id
     cross join (select coalesce(min(proven_at) filter (where kind <> 'cut'), min(proven_at)) as proven_at from leaf) as since_all
  ), added as materialized (
    select a.*, row_number() over (partition by a.hash order by a.is_cut, a.walk_id desc, a.page_no desc, a.position desc) as rank
      from (select k.kind = 'cut' as is_cut, k.walk_id, p.page_no, h.position::integer as position, p.day, h.hash, h.id_hash
              from daywalk.proven_walks(top) as k
              join daywalk.windows w on w.window_id = k.window_id
              join daywalk.streams s on s.stream_id = w.stream_id
              join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
             cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under),
                                       daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) with ordinality as h (hash, id_hash, position)
             where k.role in ('whole', 'across')
            offset 0) as a
     where a.hash in (select w.hash from want w)
       and not exists (select from held where held.walk_id = a.walk_id and held.page_no = a.page_no and held.position = a.position)
  ), former as (
    select j.id_hash, min(coalesce(j.first_seen, j.fetched_at)) as first_seen, max(j.revision) as revision
      from judged j where j.verdict = 'old' group by j.id_hash
  )
  select j.verdict, j.walk_id, j.page_no, j.position, j.day, case j.verdict when 'gone' then j.since else at end, j.first_seen, j.revision
    from judged j where j.verdict is not null
   union all
  select 'back', h.walk_id, h.page_no, h.position, h.day, at, h.first_seen, h.revision
    from held h join want on want.hash = h.hash
   where h.rank > h.copies - want.wanted and h.state in ('missing', 'gone')
   union all
  select 'show', a.walk_id, a.page_no, a.position, a.day, at, f.first_seen, coalesce(f.revision + 1, 1)
    from added a join want on want.hash = a.hash
    left join (select distinct h.hash, h.copies from held h) as had on had.hash = a.hash
    left join former f on f.id_hash = a.id_hash
   where a.rank <= want.wanted - coalesce(had.copies, 0);
end $$;

-- Notes what is shown of a day now, if it changed, as a publication; and that the ledger is to be looked at.
create function daywalk.note_day(of_stream integer, on_day date, at timestamptz, appeared bigint, gone bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  lost_before bigint := coalesce((select d.lost from daywalk.days d where d.stream_id = of_stream and d.day = on_day), 0);
  noted daywalk.days;
begin
  insert into daywalk.days as d (stream_id, day, records, gone, lost, pages, bytes, proof, revision)
  select of_stream, on_day, c.records, c.gone, c.lost, c.pages, c.bytes, c.proof, 1
    from daywalk.contents_of(of_stream, on_day) as c
  on conflict (stream_id, day) do update
     set records = excluded.records, gone = excluded.gone, lost = excluded.lost, pages = excluded.pages, bytes = excluded.bytes,
         proof = excluded.proof, revision = d.revision + 1, publication = excluded.publication, unsealed = true
  returning * into noted;
  insert into daywalk.publications (stream_id, seq, key, day, revision, records, appeared, gone, lost, published_at)
  select of_stream, 1 + coalesce((select max(p.seq) from daywalk.publications p where p.stream_id = of_stream), 0), noted.publication, on_day,
         noted.revision, noted.records, note_day.appeared, note_day.gone, greatest(noted.lost - lost_before, 0), at;
  perform daywalk.share_day(s.resource, on_day) from daywalk.streams s where s.stream_id = of_stream;
end $$;

-- The windows of a day, of all streams of a resource, with the midnight at its end: that before all days of a stream is kept by the day
-- behind it, and shows what other streams show of the day before. Part of the query that calls it.
create function daywalk.windows_of_day(of_resource text, on_day date) returns setof daywalk.windows
language sql stable begin atomic
  select w.* from daywalk.streams s
    join daywalk.windows w on w.stream_id = s.stream_id and w.day in (on_day, on_day + 1) and coalesce(w.midnight, w.day) = on_day
   where s.resource = of_resource;
end;

-- What several streams of one resource show of a day, but for the copies that its views have: of each record, by the identity that the
-- leading stream gives it or by content, that of the first stream that shows it still. The leading one is that without filters, of several the
-- one that was walked last: the settings gave it another name, or its first one again, and the others are not looked at any more, so that what
-- they show says nothing of now. Whether filters only take away is never assumed: a source may show more with one. What a stream hides of a
-- day at a midnight it shows elsewhere, so it counts.
create function daywalk.shared_copies(of_resource text, on_day date) returns table (walk_id bigint, page_no integer, place integer)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  shown_by integer[];
  without_filters integer;
  by_path text[];
  under text[];
begin
  select array_agg(shows.stream_id order by shows.filters <> '{}', case shows.filters when '{}' then -shows.newest else shows.stream_id end),
         count(*) filter (where shows.filters = '{}')
    into shown_by, without_filters
    from (select s.stream_id, s.filters, max(k.walk_id) as newest
            from daywalk.windows_of_day(of_resource, on_day) as w
            join daywalk.streams s on s.stream_id = w.stream_id
            join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
           group by s.stream_id) as shows;
  if coalesce(cardinality(shown_by), 0) < 2 then return; end if;
  by_path := (select s.id_path from daywalk.streams s where s.stream_id = shown_by[1]);
  under := array(select distinct pointer
                   from daywalk.windows_of_day(of_resource, on_day) as w join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no'
                  cross join lateral unnest(k.ignored) as pointer);
  return query
  with shown as not materialized (
    select k.walk_id, p.page_no, h.place::integer as place, its.number, its.number between 2 and without_filters as former, coalesce(mark.seen and mark.state = 'gone', false) as gone,
           h.id_hash is not null as identified, coalesce(h.id_hash, h.hash) as key
      from daywalk.windows_of_day(of_resource, on_day) as w
     cross join lateral (select array_position(shown_by, w.stream_id) as number) as its
      join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
      join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.day in (on_day, on_day + 1) and p.records > 0
     cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under),
                               daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, by_path)) with ordinality as h (hash, id_hash, place)
      left join daywalk.marks mark on mark.walk_id = k.walk_id and mark.page_no = p.page_no and mark.position = h.place and mark.day = p.day
     where case when mark.state is null then k.shown = 'whole' else mark.seen or (coalesce(mark.hidden_by <> w.window_id, false) and mark.state <> 'old') end
  ), later as materialized (
    select * from shown where number > 1
  ), concerned as (
    -- As a case the keys are looked up in a hash; a planner that expects few would compare each with each.
    select * from later union all select * from shown where number = 1 and case when (identified, key) in (select l.identified, l.key from later l) then true else false end
  ), counted as (
    select c.*, row_number() over (partition by c.identified, c.key, c.number order by c.gone, c.walk_id, c.page_no, c.place) as copy from concerned c
  ), ranked as (
    select c.*, row_number() over (partition by c.identified, c.key, c.copy order by c.former or c.gone, c.number) as rank from counted c
  )
  select r.walk_id, r.page_no, r.place from ranked r where r.rank > 1;
end $$;

-- Notes what several streams of one resource show of a day, so that its views show it once.
create function daywalk.share_day(of_resource text, on_day date) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  shared_day date;
  walks bigint[];
begin
  update daywalk.days d set unshared = false from daywalk.streams s
   where s.resource = of_resource and d.stream_id = s.stream_id and d.day = on_day and d.unshared;
  if (select count(*) from daywalk.streams where resource = of_resource) < 2 then return; end if;
  perform pg_advisory_xact_lock(hashtext('daywalk.share_day'), hashtext(of_resource));
  foreach shared_day in array array(select distinct coalesce(w.midnight, w.day) from daywalk.streams s
                                      join daywalk.windows w on w.stream_id = s.stream_id and w.day = on_day where s.resource = of_resource) loop
    walks := array(select k.walk_id
                     from daywalk.windows_of_day(of_resource, shared_day) as w
                     join daywalk.walks k on k.window_id = w.window_id and (k.shown <> 'no' or k.shared));
    delete from daywalk.shared_records where walk_id = any (walks);
    insert into daywalk.shared_records (walk_id, page_no, place) select c.walk_id, c.page_no, c.place from daywalk.shared_copies(of_resource, shared_day) as c;
    update daywalk.walks k set shared = not k.shared
     where k.walk_id = any (walks) and k.shared <> exists (select from daywalk.shared_records x where x.walk_id = k.walk_id);
  end loop;
end $$;

-- What is shown of a day, added up anew.
create function daywalk.contents_of(of_stream integer, on_day date)
returns table (records bigint, gone bigint, lost bigint, pages bigint, bytes bigint, proof text)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select coalesce(sum(case k.shown when 'whole' then k.records - m.unseen else m.seen end), 0)::bigint, coalesce(sum(m.gone), 0)::bigint,
         (select coalesce(sum(greatest(g.gone - coalesce(g.appeared, 0), 0)), 0)::bigint
            from (select count(*) as gone,
                         (select sum(p.appeared) from daywalk.publications p
                           where p.stream_id = of_stream and p.day = on_day and p.published_at = mark.since) as appeared
                    from daywalk.marks mark
                    join daywalk.walks k on k.walk_id = mark.walk_id and k.pruning is null
                    join daywalk.windows w on w.window_id = k.window_id and w.stream_id = of_stream
                    join daywalk.streams s on s.stream_id = w.stream_id
                   where mark.day = on_day and mark.state = 'gone' and mark.seen and mark.since > coalesce(s.accepted_at, '-infinity')
                     and not exists (select from daywalk.windows d
                                      where d.stream_id = of_stream and d.day = on_day and d.kind = 'day' and (d.proof ->> 'oldest')::boolean)
                   group by mark.since) as g),
         coalesce(sum(k.pages), 0)::bigint, coalesce(sum(k.bytes), 0)::bigint,
         (select d.proof ->> 'kind' from daywalk.windows d where d.stream_id = of_stream and d.day = on_day and d.kind = 'day')
    from daywalk.windows w
    join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
    left join lateral (select count(*) filter (where not mark.seen) as unseen, count(*) filter (where mark.seen) as seen,
                              count(*) filter (where mark.seen and mark.state = 'gone') as gone
                         from daywalk.marks mark where mark.walk_id = k.walk_id) as m on true
   -- The midnight before may be a window of the day before by now.
   where w.stream_id = of_stream and (w.day = on_day or w.midnight = on_day - 1) and k.day = on_day;
end $$;

-- Whether a day is shown, and here.
create function daywalk.is_shown(of_stream integer, on_day date) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return exists (select from daywalk.windows w
                   join daywalk.walks k on k.window_id in (select daywalk.subtree(w.window_id)) and k.shown <> 'no' and k.pruning is null
                  where w.stream_id = of_stream and w.day = on_day and w.kind = 'day');
end $$;

-- What is seen of a record at a midnight: as many copies as were ever found across it at one time, whether the day before it, the day
-- behind it or the cut holds them. The surplus is hidden by the cut. A hidden copy keeps its state, and each time it is found out anew
-- which are hidden, so nothing is hidden for good. Returns the days that look different now.
create function daywalk.hide_twins(cut bigint, at timestamptz) returns setof date
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  under text[];
  me daywalk.windows;
begin
  select * into strict me from daywalk.windows where window_id = cut;
  if coalesce((me.proof ->> 'removed')::bigint, 0) = 0 and not exists (select from daywalk.marks where hidden_by = cut)
     and not exists (select from daywalk.windows w
                       join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
                       join daywalk.marks mark on mark.walk_id = k.walk_id and mark.state in ('missing', 'gone')
                      where w.stream_id = me.stream_id and w.day in (me.midnight, me.midnight + 1)) then return; end if;
  -- A day that moved still shows its records, elsewhere: what is hidden beside it stays so.
  if exists (select from daywalk.tiered_days t where t.stream_id = me.stream_id and t.day in (me.midnight, me.midnight + 1)) then return; end if;
  under := daywalk.ignored_now(cut);
  return query
  with found as materialized (
    select f.* from daywalk.found_at(cut, under) as f
  ), held as materialized (
    select held.*, k.finished_at, held.state = 'shown' as current, case when w.window_id = cut then 'cut' when w.day = me.midnight then 'before' else 'behind' end as side
      from daywalk.windows w
     cross join lateral daywalk.held(w.window_id, array(select found.hash from found), under) as held
      join daywalk.walks k on k.walk_id = held.walk_id
     where (w.window_id = cut or (w.stream_id = me.stream_id and w.kind = 'day' and w.day in (me.midnight, me.midnight + 1)))
       and held.state <> 'hidden'
  ), numbered as (
    select held.*, found.most, found.first_found, found.across, found.before + found.behind - found.across as twice,
           greatest(found.across - found.before - found.behind, found.most_across - found.most_before - found.most_behind, 0) as added,
           case held.side when 'before' then found.before else found.behind end as found_here,
           case held.side when 'before' then found.most_before else found.most_behind end as most_here,
           row_number() over (partition by held.hash, held.side, held.current order by held.walk_id desc, held.page_no desc, held.position desc) as number,
           min(held.finished_at) filter (where held.side = 'cut' and held.state in ('missing', 'gone')) over (partition by held.hash) as shown_by_cut
      from held
      -- What a side shows lies across, too.
      join (select f.*, greatest(f.most_across, f.most_before, f.most_behind) as most from found f) as found on found.hash = held.hash
  ), placed as (
    -- As many copies of a day stand at the midnight as its side of the cut ever found: first what the day shows and is found there now, or
    -- has gone from the midnight since the day was walked; then what the day lacks. The others stand elsewhere in the day. What it lacked
    -- before the cut, which reached less far, found it first is what only the cut shows now, or showed.
    select n.*, n.side = 'cut' or (n.eligible and row_number() over (partition by n.hash, n.side order by n.eligible desc, n.current desc, n.number)
                                                  <= n.most_here + case when n.state in ('missing', 'gone') and n.first_found >= n.since
                                                                        then n.added else 0 end) as near
      from (select numbered.*, not current or number <= found_here + most - across as eligible from numbered) as n
  ), ranked as (
    -- Seen is first what the source shows, then older versions, then what it shows no more; last what it shows on both sides.
    select p.*, row_number() over (partition by p.hash
                                   order by p.current and p.side = 'behind' and p.number <= p.twice, array_position(array['shown', 'old'], p.state), not p.near,
                                            array_position(array['before', 'behind', 'cut'], p.side), p.walk_id, p.page_no, p.position) as rank
      from placed p
     -- What a cut lacks, and a day came to show later, for the first time or again, may be asked across no more.
     where p.near or (p.current and p.since > p.shown_by_cut)
  ), surplus as materialized (
    select r.* from ranked r where r.near and r.rank > r.most
  ), freed as (
    update daywalk.marks mark
       set hidden_by = null,
           stood_on = coalesce((select g.day from daywalk.prunings g
                                 where g.stream_id = me.stream_id and g.what = 'day' and g.day in (me.midnight, me.midnight + 1) and g.day <> mark.day), mark.stood_on)
      from daywalk.walks k
     where mark.hidden_by = cut and k.walk_id = mark.walk_id and k.pruning is null
       and not exists (select from surplus s where s.walk_id = mark.walk_id and s.page_no = mark.page_no and s.position = mark.position)
    returning mark.day
  ), hidden as (
    insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision, hidden_by)
    select s.walk_id, s.page_no, s.position, s.day, s.state, at, s.first_seen, s.revision, cut from surplus s where s.hidden_by is null
    on conflict (walk_id, page_no, position) do update set hidden_by = excluded.hidden_by
    returning mark.day
  )
  select day from freed union select day from hidden;
end $$;

-- Hides of a day what the file of a day beside it shows, which moved before this one was planned: what their midnight takes away, for
-- as long as that one is away. Returns the day, if it looks different now.
create function daywalk.hide_moved_twins(of_stream integer, on_day date, at timestamptz) returns setof date
language sql set search_path = pg_catalog, pg_temp as $$
  with moved as materialized (
    select cut.window_id as cut, twins.hashes
      from daywalk.tiered_days t
     cross join lateral (values (t.day - 1, t.day - 1, t.twins_before), (t.day, t.day + 1, t.twins_behind)) as twins (midnight, beside, hashes)
      join daywalk.windows cut on cut.stream_id = of_stream and cut.midnight = twins.midnight
     where t.stream_id = of_stream and t.day in (on_day - 1, on_day + 1) and twins.beside = on_day and twins.hashes is not null
  ), twin as (
    -- What is equal at both midnights of the day is in both files: these are other copies.
    select moved.cut, h.hash, row_number() over (partition by h.hash order by moved.cut) as rank from moved cross join lateral unnest(moved.hashes) as h (hash)
  ), copy as (
    select moved.cut, held.*, row_number() over (partition by moved.cut, held.hash order by coalesce(held.hidden_by not in (select m.cut from moved m), true),
                                                 held.walk_id desc, held.page_no desc, held.position desc) as rank
      from moved
      join daywalk.windows w on w.stream_id = of_stream and w.kind = 'day' and w.day = on_day
     cross join lateral daywalk.held(w.window_id, moved.hashes, daywalk.ignored_now(moved.cut)) as held
     where held.state in ('shown', 'missing') or (held.state = 'gone' and held.hidden_by in (select m.cut from moved m))
  ), hidden as (
    insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision, hidden_by)
    select distinct on (walk_id, page_no, position) walk_id, page_no, position, day, state, at, first_seen, revision, cut
      from copy join twin using (cut, hash, rank) where hidden_by is null
    on conflict (walk_id, page_no, position) do update set hidden_by = excluded.hidden_by
    returning mark.day
  )
  select distinct day from hidden
$$;

-- Notes which records of a day stood under the day beside it, which was pruned before this one was shown: those that their midnight took
-- away. Of a day that is shown again they are the same copies.
create function daywalk.note_pruned_twins(of_stream integer, on_day date, at timestamptz) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  with pruned as materialized (
    select g.day, cut.window_id as cut, twins.hashes
      from daywalk.prunings g
     cross join lateral (values (g.day - 1, g.day - 1, g.twins_before), (g.day, g.day + 1, g.twins_behind)) as twins (midnight, beside, hashes)
      join daywalk.windows cut on cut.stream_id = of_stream and cut.midnight = twins.midnight
     where g.stream_id = of_stream and g.what = 'day' and g.day in (on_day - 1, on_day + 1) and twins.beside = on_day and twins.hashes is not null
  ), twin as (
    -- What is equal at both midnights of the day stood under each of the two days: these are other copies.
    select pruned.day as stood_on, pruned.cut, h.hash, row_number() over (partition by h.hash order by pruned.day) as rank
      from pruned cross join lateral unnest(pruned.hashes) as h (hash)
  ), copy as (
    select pruned.cut, held.*, row_number() over (partition by pruned.cut, held.hash order by held.walk_id, held.page_no, held.position) as rank
      from pruned
      join daywalk.windows w on w.stream_id = of_stream and w.kind = 'day' and w.day = on_day
     cross join lateral daywalk.held(w.window_id, pruned.hashes, daywalk.ignored_now(pruned.cut)) as held
  )
  insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision, stood_on)
  select distinct on (walk_id, page_no, position) walk_id, page_no, position, day, state, at, first_seen, revision, stood_on
    from copy join twin using (cut, hash, rank)
  on conflict (walk_id, page_no, position) do update set stood_on = excluded.stood_on where mark.stood_on is null
$$;

-- Whether the days beside a midnight cut hold what its sides show of them, and lack what it adds, where both are shown. They need not:
-- a day that was walked only then may have a hole there, and a record may have come, or been edited, between their walks.
create function daywalk.is_upheld(cut bigint) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  with rule as materialized (
    select daywalk.ignored_now(cut) as ignored
  ), found as materialized (
    select f.* from rule cross join lateral daywalk.found_at(cut, rule.ignored) as f where greatest(f.across, f.before, f.behind) > 0
  ), beside as materialized (
    select w.window_id, w.day = me.midnight as is_before
      from daywalk.windows me join daywalk.windows w on w.stream_id = me.stream_id and w.kind = 'day' and w.day in (me.midnight, me.midnight + 1)
     where me.window_id = cut and daywalk.is_shown(w.stream_id, w.day)
  ), held as materialized (
    select copy.hash, count(*) filter (where beside.is_before) as before, count(*) filter (where not beside.is_before) as behind,
           count(*) filter (where copy.state = 'shown') as current
      from beside cross join rule
     cross join lateral daywalk.held(beside.window_id, array(select found.hash from found), rule.ignored) as copy
     where copy.state <> 'old'
     group by copy.hash
  )
  select (select count(*) from beside) < 2
      or not exists (select from found f left join held h on h.hash = f.hash
                      where f.before > coalesce(h.before, 0) or f.behind > coalesce(h.behind, 0)
                         or (f.across > f.before + f.behind and h.current >= f.across))
$$;

-- What a stream shows by identity, and when that was fetched: of some days, by some windows, some identities, from walks that ended
-- after a time (null: all); with what is gone, or without.
create function daywalk.shows(of_stream integer, on_days date[], by_windows bigint[], among bigint[], after timestamptz, with_gone boolean)
returns table (day date, id_hash bigint, fetched_at timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  return query
  select page.day, i.id_hash, max(page.fetched_at)
    from (select p.day, p.fetched_at, k.shown, here.marked, here.seen,
                 daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path) as ids
            from daywalk.windows w
            join daywalk.streams s on s.stream_id = w.stream_id
            join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
             and (shows.after is null or k.finished_at > shows.after) and (on_days is null or k.day = any (on_days))
            join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
           cross join lateral (
             select coalesce(array_agg(mark.position), '{}') as marked,
                    coalesce(array_agg(mark.position) filter (where mark.seen and (with_gone or mark.state <> 'gone')), '{}') as seen
               from daywalk.marks mark where mark.walk_id = p.walk_id and mark.page_no = p.page_no) as here
           where w.stream_id = of_stream and (by_windows is null or w.window_id = any (by_windows))
          offset 0) as page
   cross join lateral unnest(page.ids) with ordinality as i (id_hash, position)
   -- As a case the identities are looked up in a hash; a planner that expects few would compare each with each.
   where i.id_hash is not null and case when among is null or i.id_hash in (select unnest(among)) then true else false end
     and (i.position = any (page.seen) or (page.shown = 'whole' and i.position <> all (page.marked)))
   group by page.day, i.id_hash;
end $$;

-- The records of a stream in a state that is gone or old, of which a version with their identity is shown: by what identifies
-- them now; it may have been another field, or nothing, when they were marked. One that is gone is an older version only of what
-- was fetched later; one that is old may be one of what is gone. An identity that stands on two days at once says nothing across
-- days: of a day on which identities begin anew, nothing on another one is a newer version. A day that shows nothing any more stood
-- beside what was fetched before it was last seen. Of two in one list neither is a version of the other. null: any window.
-- fetched_at is its own; shown_on: the day that shows the newest version.
create function daywalk.superseded(of_stream integer, of_state text, marked_in bigint[], shown_by bigint[])
returns table (walk_id bigint, page_no integer, "position" integer, id_hash bigint, fetched_at timestamptz, shown_on date)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  return query
  with marked as materialized (
    select page.walk_id, page.page_no, mark.position, page.day, page.ids[mark.position] as id_hash, page.fetched_at as came_at,
           case of_state when 'gone' then page.fetched_at else '-infinity' end as after
      from (select p.walk_id, p.page_no, p.day, p.fetched_at, here.positions,
                   -- A copy in memory: what is stored would be read anew for each place in it.
                   daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path) || '{}'::bigint[] as ids
              from (select mark.walk_id, mark.page_no, mark.day, array_agg(mark.position) as positions
                      from daywalk.marks mark where mark.state = of_state group by mark.walk_id, mark.page_no, mark.day) as here
              join daywalk.walks k on k.walk_id = here.walk_id and k.pruning is null
              join daywalk.windows w on w.window_id = k.window_id and w.stream_id = of_stream
              join daywalk.streams s on s.stream_id = w.stream_id
              join daywalk.pages p on p.walk_id = here.walk_id and p.page_no = here.page_no and p.day = here.day
             where marked_in is null or k.window_id = any (marked_in)
            offset 0) as page
     cross join lateral unnest(page.positions) as mark (position)
     where page.ids[mark.position] is not null
  ), later as materialized (
    select marked.*, found.day as found_on, found.fetched_at
      from daywalk.shows(of_stream, null, shown_by, array(select m.id_hash from marked m), coalesce((select min(m.after) from marked m), 'infinity'), of_state = 'old') as found
      join marked on marked.id_hash = found.id_hash and found.fetched_at > marked.after
  ), newer as materialized (
    -- Of the few for which something was found: other walks are not read for it.
    select l.* from later l
     where (l.walk_id, l.id_hash) not in (select d.walk_id, d.id_hash from daywalk.doubled_ids(array(select distinct f.walk_id from later f where of_state = 'gone')) as d)
  ), moved as materialized (
    select n.* from newer n where of_state = 'gone' and n.found_on <> n.day
  ), standing as materialized (
    select one.day, array_agg(one.id_hash) as ids
      from daywalk.shows(of_stream, array(select distinct m.day from moved m), null, null, null, false) as one
     group by one.day
  ), apart as materialized (
    select pair.day, pair.found_on
      from (select m.day, m.found_on, min(m.fetched_at) as fetched_at from moved m group by m.day, m.found_on) as pair
      left join standing on standing.day = pair.day
     where case when standing.day is null
                then pair.fetched_at > (select max(w.shown_at) from daywalk.windows w where w.stream_id = of_stream and w.day = pair.day and w.kind <> 'cut')
                else not exists (select from daywalk.shows(of_stream, array[pair.found_on], null, standing.ids, null, false)) end
  ), single as materialized (
    select found.id_hash
      from daywalk.shows(of_stream, null, null, array(select m.id_hash from moved m join apart using (day, found_on)), null, false) as found
     where exists (select from apart)
     group by found.id_hash having count(*) = 1
  )
  select n.walk_id, n.page_no, n.position, n.id_hash, n.came_at, (array_agg(n.found_on order by n.fetched_at desc))[1]
    from newer n
   where of_state = 'old' or n.found_on = n.day
      or ((n.day, n.found_on) in (select a.day, a.found_on from apart a) and n.id_hash in (select o.id_hash from single o))
   group by n.walk_id, n.page_no, n.position, n.id_hash, n.came_at;
end $$;

-- Where records are identified: one that is gone from one window and that another one shows, fetched later, is not shown
-- twice: it is an earlier version of that one, which counts it. Returns the days that look different now. null: any window.
create function daywalk.replace_gone(of_stream integer, gone_from bigint[], shown_by bigint[], at timestamptz) returns setof date
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  walks bigint[];
  pages integer[];
  places integer[];
  ids bigint[];
  times timestamptz[];
  days date[];
begin
  if not exists (select from daywalk.streams s where s.stream_id = of_stream and s.id_path is not null)
     or not exists (select from daywalk.marks where state = 'gone') then return; end if;
  select array_agg(s.walk_id), array_agg(s.page_no), array_agg(s.position), array_agg(s.id_hash), array_agg(s.fetched_at), array_agg(s.shown_on)
    into walks, pages, places, ids, times, days from daywalk.superseded(of_stream, 'gone', gone_from, shown_by) as s;
  if walks is null then return; end if;
  return query
  with replaced as (
    update daywalk.marks mark set state = 'old', since = at
      from unnest(walks, pages, places, ids, times, days) as s (walk_id, page_no, place, id_hash, fetched_at, shown_on)
     where mark.walk_id = s.walk_id and mark.page_no = s.page_no and mark.position = s.place
    returning mark.day, s.id_hash, s.shown_on, coalesce(mark.first_seen, s.fetched_at) as first_seen, mark.revision
  ), former as materialized (
    select r.id_hash, r.shown_on, min(r.first_seen) as first_seen, max(r.revision) as revision from replaced r group by r.id_hash, r.shown_on
  ), newer as materialized (
    select copy.* from (
      select k.walk_id, p.page_no, h.position::integer as position, p.day, h.id_hash, k.shown
        from daywalk.windows w
        join daywalk.streams s on s.stream_id = w.stream_id
        join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
        join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
       cross join lateral unnest(daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) with ordinality as h (id_hash, position)
       where w.stream_id = of_stream and w.day = any (days)
      offset 0) as copy
     where case when copy.id_hash in (select unnest(ids)) then true else false end
  ), counted as (
    insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision)
    select n.walk_id, n.page_no, n.position, n.day, 'shown', at, f.first_seen, f.revision + 1
      from newer n
      join former f on f.id_hash = n.id_hash and f.shown_on = n.day
      left join daywalk.marks own on own.walk_id = n.walk_id and own.page_no = n.page_no and own.position = n.position
     where case when own.state is null then n.shown = 'whole' else own.seen and own.state <> 'gone' end
    on conflict (walk_id, page_no, position) do update
       -- What it counted before its records were identified otherwise for a while it does not count again.
       set revision = mark.revision + case when mark.first_seen <= excluded.first_seen then 0 else excluded.revision - 1 end,
           first_seen = least(mark.first_seen, excluded.first_seen)
    returning mark.day
  )
  select r.day from replaced r union all select c.day from counted c;
end $$;

-- Shows again, as gone, older versions of what nobody shows any more: among some, or of all. Of a day's several versions of one record
-- the newest, as long as they have an identity now. pruned: the day that showed the newer ones. Returns their days, each as often as a
-- record of it is shown again.
create function daywalk.show_again(of_stream integer, among daywalk.marks[], at timestamptz, pruned date default null) returns setof date
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  return query
  with asked as materialized (
    select mark.walk_id, mark.page_no, mark.position, k.window_id
      from daywalk.marks mark
      join daywalk.walks k on k.walk_id = mark.walk_id and k.pruning is null
      join daywalk.windows w on w.window_id = k.window_id and w.stream_id = of_stream
     where mark.state = 'old' and (among is null or (mark.walk_id, mark.page_no, mark.position) in (select m.walk_id, m.page_no, m.position from unnest(among) as m))
  ), lone as materialized (
    select asked.walk_id, asked.page_no, asked.position from asked
    except
    select s.walk_id, s.page_no, s.position
      from daywalk.superseded(of_stream, 'old', case when among is not null then array(select distinct asked.window_id from asked) end, null) as s
  ), ranked as materialized (
    select lone.*, i.id_hash, rank() over (partition by p.day, i.id_hash order by lone.walk_id desc) as rank
      from lone
      join daywalk.walks k on k.walk_id = lone.walk_id
      join daywalk.pages p on p.walk_id = lone.walk_id and p.page_no = lone.page_no and p.day = k.day
      join daywalk.streams s on s.stream_id = of_stream
     cross join lateral (select (daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path))[lone.position] as id_hash) as i
  )
  update daywalk.marks mark set state = 'gone', since = at, stood_on = coalesce(pruned, mark.stood_on)
    from ranked r
   where (r.rank = 1 or r.id_hash is null) and mark.walk_id = r.walk_id and mark.page_no = r.page_no and mark.position = r.position
  returning mark.day;
end $$;

-- Notes the days of which records are shown again, as gone, and those of which some are hidden, once for each record. That its source
-- has it no more is no news, and no loss.
create function daywalk.note_identified(of_stream integer, shown date[], hidden date[], at timestamptz) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform daywalk.note_day(of_stream, d.day, at, d.shown, d.shown)
     from (select c.day, count(*) filter (where c.shown) as shown
             from (select unnest(note_identified.shown), true union all select unnest(note_identified.hidden), false) as c (day, shown)
            group by c.day order by c.day) as d;
  -- What appeared is known with the publication only.
  with told as (
    update daywalk.days d set lost = c.lost
      from (select distinct day from unnest(note_identified.shown) as c (day)) as again cross join lateral daywalk.contents_of(of_stream, again.day) as c
     where d.stream_id = of_stream and d.day = again.day
    returning d.publication
  )
  update daywalk.publications p set lost = 0 from told where p.key = told.publication;
end $$;

-- What is an older version of a record by what identified it before, and of none by what identifies it now, is shown again, as
-- gone; what is one now is hidden.
create function daywalk.identify_anew(of_stream integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  at constant timestamptz := clock_timestamp();
  shown date[];
  hidden date[];
begin
  perform daywalk.lock_stream(of_stream);
  if exists (select from daywalk.marks where state = 'old') then shown := array(select daywalk.show_again(of_stream, null, at)); end if;
  hidden := array(select daywalk.replace_gone(of_stream, null, null, at));
  perform daywalk.note_identified(of_stream, shown, hidden, at);
end $$;

-- Shows what the newest proof of a window says, a day or a midnight cut; nothing that it showed before goes.
create function daywalk.show(top bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off as $$
declare
  at constant timestamptz := clock_timestamp();
  family constant bigint[] := array(select daywalk.subtree(top));
  me daywalk.windows;
  is_first boolean;
  marked boolean;
  differs boolean;
  appeared bigint;
  gone bigint;
  changed date[] := '{}';
begin
  select * into strict me from daywalk.windows where window_id = top;
  perform daywalk.lock_stream(me.stream_id);
  is_first := not exists (select from daywalk.walks where window_id = any (family) and shown <> 'no');
  if is_first then
    update daywalk.walks k set shown = 'whole' from daywalk.proven_walks(top) as proven
     where k.walk_id = proven.walk_id and proven.role = 'whole' and not proven.united;
  end if;
  select v.marked, v.differs, v.appeared, v.gone into marked, differs, appeared, gone from daywalk.apply_verdicts(top, at) as v;
  if differs or (is_first and me.kind = 'day') then
    -- What a cut showed before the day before it was planned stands under the day behind.
    changed := me.day || array(select k.day from daywalk.walks k where k.window_id = top and k.day <> me.day and k.shown <> 'no' and k.pruning is null);
  end if;
  if me.kind = 'day'
     and ((marked and not is_first)
          or exists (select from daywalk.windows cut
                      where cut.stream_id = me.stream_id and cut.midnight in (me.day - 1, me.day)
                        and case when is_first then cut.proof ->> 'before' is not null else (cut.proof ->> 'removed')::bigint > 0 end
                        and not daywalk.is_upheld(cut.window_id))) then
    perform daywalk.ask_cuts_again(me.stream_id, me.day);
  end if;
  -- A day that was proven since its cut was asked, by another worker, was not held against that.
  if me.kind = 'cut' and me.proof ->> 'before' is not null
     and exists (select from daywalk.windows w
                  where w.stream_id = me.stream_id and w.kind = 'day' and w.day in (me.midnight, me.midnight + 1)
                    and w.proven_at > (select max(k.finished_at) from daywalk.walks k where k.walk_id = any (daywalk.walks_of(me.proof))))
     and not daywalk.is_upheld(top) then
    update daywalk.windows set rewalk = true, due_at = clock_timestamp() where window_id = top;
  end if;
  changed := changed
    || array(select daywalk.hide_twins(cut.window_id, at) from daywalk.windows cut
              where cut.stream_id = me.stream_id and cut.proof is not null
                and cut.midnight in (me.day - 1, me.day) and (me.kind = 'day' or cut.window_id = top))
    || array(select daywalk.hide_moved_twins(me.stream_id, me.day, at))
    || array(select daywalk.replace_gone(me.stream_id, null, family, at));
  if me.kind = 'day' then perform daywalk.note_pruned_twins(me.stream_id, me.day, at); end if;
  if gone > 0 then changed := changed || array(select daywalk.replace_gone(me.stream_id, family, null, at)); end if;
  perform daywalk.note_day(me.stream_id, d.day, at, case when d.day = me.day and not is_first then appeared else 0 end,
                           case when d.day = me.day then gone else 0 end)
     from (select distinct c.day from unnest(changed) as c (day) order by 1) as d;
end $$;

-- Does what the verdicts say. marked: there were any; differs: readers see something else now; appeared: records
-- that are new and no newer versions; gone: that are gone from now on. What is missing is walked again an hour later.
create function daywalk.apply_verdicts(top bigint, at timestamptz, out marked boolean, out differs boolean, out appeared bigint, out gone bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with verdict as materialized (
    select * from daywalk.verdicts(top, at)
  ), noted as (
    insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision)
    select v.walk_id, v.page_no, v.position, v.day,
           case v.verdict when 'show' then 'shown' when 'back' then 'shown' when 'hide' then 'hidden' else v.verdict end,
           v.since, v.first_seen, v.revision
      from verdict v
    on conflict (walk_id, page_no, position) do update
       set state = excluded.state, since = excluded.since, first_seen = excluded.first_seen, revision = excluded.revision
  ), shown as (
    update daywalk.walks k set shown = 'part'
     where k.shown = 'no' and k.walk_id in (select v.walk_id from verdict v where v.verdict = 'show')
  )
  select count(*) > 0, coalesce(bool_or(was.hidden_by is null and v.verdict <> 'missing' and not (v.verdict = 'back' and was.state = 'missing')), false),
         count(*) filter (where v.verdict = 'show' and v.revision = 1), count(*) filter (where v.verdict = 'gone' and was.hidden_by is null)
    into marked, differs, appeared, gone
    from verdict v
    left join daywalk.marks was on was.walk_id = v.walk_id and was.page_no = v.page_no and was.position = v.position;
  if marked or exists (select from daywalk.walks k join daywalk.marks mark on mark.walk_id = k.walk_id
                        where k.window_id = any (array(select daywalk.subtree(top))) and mark.state = 'missing'
                          and mark.since + interval '1 hour' > apply_verdicts.at) then
    perform daywalk.ask_missing_again(top);
  end if;
end $$;

-- What a walk lacked is confirmed by another one, an hour later: of the part that holds it, else of all parts. Those that
-- are to be walked anyway are not put off for it.
create function daywalk.ask_missing_again(top bigint) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  with missing as materialized (
    select k.window_id, min(mark.since) as since
      from daywalk.walks k join daywalk.marks mark on mark.walk_id = k.walk_id and mark.state = 'missing'
     where k.window_id = any (array(select daywalk.subtree(top)))
     group by k.window_id
  ), leaf as materialized (
    select window_id, kind from daywalk.leaves(top)
  ), again as (
    select l.window_id, min(m.since) as since
      from leaf l join missing m on m.window_id = l.window_id
        or (l.kind <> 'cut' and m.window_id not in (select window_id from leaf))
     group by l.window_id
  )
  update daywalk.windows w set rewalk = true, due_at = greatest(again.since + interval '1 hour', clock_timestamp())
    from again
   where w.window_id = again.window_id and w.state = 'complete'
$$;

-- What a day shows has changed: the cuts at its ends are asked anew, but for those of pruned days.
create function daywalk.ask_cuts_again(of_stream integer, on_day date) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  update daywalk.windows w set due_at = least(w.due_at, clock_timestamp()), rewalk = true
   where w.stream_id = of_stream and w.midnight in (on_day - 1, on_day)
     and not exists (select from daywalk.prunings g where g.stream_id = of_stream and g.what = 'day' and g.day = w.day)
$$;

-- Whether the stored pages of a walk are a whole chain, as long as its checkpoint says.
create function daywalk.is_whole(walk bigint) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return (
  select k.pages = chain.pages and k.next_start = chain.records and chain.unbroken
    from daywalk.walks k
   cross join lateral (
     select count(*) as pages, coalesce(sum(p.records), 0) as records,
            coalesce(bool_and(p.start + p.skip = p.expected and p.page_no = p.ordinal), true) as unbroken
       from (select page_no, start, skip, records,
                    coalesce(sum(records) over (order by page_no rows between unbounded preceding and 1 preceding), 0) as expected,
                    row_number() over (order by page_no) - 1 as ordinal
               from daywalk.pages_of(array[k.walk_id])) as p) as chain
   where k.walk_id = walk);
end $$;

-- The window, if this lease holds it; locked, behind the lock of its stream, so that two that are proven at once wait
-- for each other in one order. One of a day that is not over (I8), as the clock of the database was set back since it was claimed, is
-- held no more, and due when its day has closed.
create function daywalk.hold(target bigint, lease uuid) returns daywalk.windows
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  me daywalk.windows;
begin
  perform daywalk.lock_stream(w.stream_id) from daywalk.windows w where w.window_id = target;
  update daywalk.windows w set due_at = daywalk.closed_at(w.day, s.time_zone, s.settle), lease_id = null, lease_owner = null, lease_expires = null,
                               judged = (select coalesce(max(k.number), 0) from daywalk.walks k where k.window_id = target)
    from daywalk.streams s
   where w.window_id = target and w.lease_id = lease and w.kind <> 'cut' and s.stream_id = w.stream_id
     and clock_timestamp() < daywalk.closed_at(w.day, s.time_zone, interval '0');
  select * into me from daywalk.windows where window_id = target and lease_id = lease for update;
  return me;
end $$;

-- Ends a walk of a window that was begun for something that is not needed any more.
create function daywalk.end_open_walk(walk bigint, why text) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  update daywalk.walks set outcome = 'failed', reason = why, finished_at = clock_timestamp() where walk_id = walk and outcome is null
$$;

-- Takes parts and inner cuts out of the count: something else stands for them. Their rows and walks stay.
create function daywalk.replace_parts(of_windows bigint[]) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select daywalk.end_open_walk(w.current_walk, 'its window was replaced') from daywalk.windows w where w.window_id = any (of_windows);
  update daywalk.windows
     set state = 'replaced', split_by = null, split_reason = null, split_total = null, split_calibrated = false,
         due_at = null, rewalk = false, current_walk = null, last_error = null, last_failed_at = null,
         lease_id = null, lease_owner = null, lease_expires = null
   where window_id = any (of_windows);
$$;

-- Has a window stand for itself again, and not what it was split into, or its parts were. The caller says what it is then.
create function daywalk.undo_split(target bigint) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select daywalk.replace_parts(array(select part from daywalk.subtree(target) as part where part <> target));
  update daywalk.windows set state = 'pending', split_by = null, split_reason = null, split_total = null, split_calibrated = false
   where window_id = target and split_by is not null;
$$;

-- Completes a window on this evidence, and shows it, or lets the window that it is a part of be closed. The first look is
-- due after an hour; none of a part of a calibrated total, which is looked at as a whole.
create function daywalk.complete_window(me daywalk.windows, evidence jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  proven timestamptz := clock_timestamp();
begin
  perform daywalk.end_open_walk(me.current_walk, 'the window was proven without it');
  update daywalk.windows w
     set state = 'complete', proof = evidence, proven_at = proven, looked_at = proven, looks = 0,
         shown_at = greatest(w.shown_at, (select max(p.fetched_at) from daywalk.pages p
                                           where p.walk_id = (evidence ->> 'walk')::bigint and p.day = me.day and p.records > 0),
                             (select max(part.shown_at) from daywalk.windows part
                               where part.split_from = me.window_id and part.state = 'complete')),
         judged = (select coalesce(max(k.number), 0) from daywalk.walks k where k.window_id = me.window_id),
         due_at = case when not coalesce((select p.split_calibrated from daywalk.windows p where p.window_id = me.split_from), false)
                       then proven + interval '1 hour' end,
         purpose = 'look', current_walk = null, rewalk = false, attempts = 0, failures = 0, last_error = null, last_failed_at = null,
         lease_id = null, lease_owner = null, lease_expires = null
   where w.window_id = me.window_id;
  -- What shows records was not forgotten by its source.
  if me.kind <> 'cut' and (evidence ->> 'records')::bigint > 0 then
    update daywalk.days d set retired_since = null where d.stream_id = me.stream_id and d.day = me.day and d.retired_since is not null;
  end if;
  if me.split_from is null then
    -- The cuts at the ends of a day are asked as soon as it is proven. That behind one that was planned later was before all days, and asked
    -- as far as belonged to those: now it is one of this day, and asked anew. What it shows stays where it is; so does that of a day that moved.
    if me.kind = 'day' then
      with former as (
        select cut.window_id, daywalk.end_open_walk(cut.current_walk, 'its window is one of the day before now')
          from daywalk.windows cut
         where cut.stream_id = me.stream_id and cut.midnight = me.day and cut.day > me.day
           and not exists (select from daywalk.tiered_days t where t.stream_id = cut.stream_id and t.day = cut.day)
      )
      update daywalk.windows cut set day = me.day, state = 'pending', proof = null, due_at = null, current_walk = null,
                                     lease_id = null, lease_owner = null, lease_expires = null
        from former where cut.window_id = former.window_id;
      update daywalk.windows cut set due_at = clock_timestamp(), purpose = me.purpose
       where cut.stream_id = me.stream_id and cut.midnight in (me.day - 1, me.day)
         and cut.state = 'pending' and cut.due_at is null;
    end if;
    -- As long as a stream shows nothing nobody looks for what dates hide at its midnights: where one stands beside a day with records it is asked anew.
    update daywalk.windows cut set due_at = clock_timestamp(), rewalk = true
      from daywalk.windows beside
     where cut.stream_id = me.stream_id and cut.midnight in (me.day - 1, me.day) and cut.state = 'complete' and cut.proof ? 'datesUnasked'
       and beside.stream_id = cut.stream_id and beside.kind = 'day' and beside.day in (cut.midnight, cut.midnight + 1)
       and beside.state = 'complete' and (beside.proof ->> 'records')::bigint > 0
       and not exists (select from daywalk.prunings g where g.stream_id = cut.stream_id and g.what = 'day' and g.day = cut.day);
    perform daywalk.show(me.window_id);
    return;
  end if;
  -- A part that is proven anew may have changed: the cuts beside it are asked anew.
  if me.kind = 'part' and me.proven_at is not null then
    update daywalk.windows cut set state = 'pending', due_at = clock_timestamp()
     where cut.split_from = me.split_from and cut.kind = 'cut' and cut.state = 'complete'
       and (cut.from_time = me.to_time or cut.to_time = me.from_time);
  end if;
  perform daywalk.wait_for_parts(me.split_from);
end $$;

-- A split window is due to be closed as soon as all its parts and inner cuts are complete.
create function daywalk.wait_for_parts(target bigint) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  update daywalk.windows w
     set state = 'split',
         due_at = case when not exists (select from daywalk.windows part
                                         where part.split_from = w.window_id and part.state not in ('complete', 'replaced'))
                       then clock_timestamp() end
   where w.window_id = target and w.split_by is not null and w.state <> 'replaced'
$$;

-- Proves a window by a walk and those that the evidence names, if the lease, the checkpoint of that walk and the chains of stored pages
-- agree with what was proven. Returns proven, lost (another worker holds the window) or broken (the pages do not add up). May be repeated.
create function daywalk.prove_window(target bigint, lease uuid, walk bigint, at_start bigint, at_page integer, evidence jsonb) returns text
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  me daywalk.windows := daywalk.hold(target, lease);
  shown constant jsonb := evidence || jsonb_strip_nulls(jsonb_build_object('walk', walk));
  named constant bigint[] := daywalk.walks_of(shown);
begin
  if me.window_id is null then
    return case when exists (select from daywalk.windows where window_id = target and proof = shown) then 'proven' else 'lost' end;
  end if;
  -- A failover may take pages away between the proof and this; the checkpoint goes back with them, the proof does not.
  if (select count(*) from daywalk.walks k
       where k.walk_id = any (named) and k.window_id = target and coalesce(k.outcome, 'ended') in ('ended', 'proven') and daywalk.is_whole(k.walk_id)
         and (k.walk_id is distinct from walk
              or (k.next_start = at_start and k.pages = at_page
                  and (evidence ->> 'kind' = 'union' or (evidence ->> 'records')::bigint = at_start)))) < cardinality(named) then
    return 'broken';
  end if;
  update daywalk.walks k
     set outcome = 'proven', proof = evidence, reason = null, finished_at = coalesce(k.finished_at, clock_timestamp())
   where k.walk_id = any (named) and coalesce(k.outcome, 'ended') = 'ended';
  me.current_walk := nullif(me.current_walk, walk);
  perform daywalk.undo_split(target);
  perform daywalk.complete_window(me, shown);
  return 'proven';
end $$;

-- Proves a cut by the walks that the evidence names: across, and before and after where there was anything across.
create function daywalk.prove_cut(target bigint, lease uuid, evidence jsonb) returns text
language sql set search_path = pg_catalog, pg_temp as $$
  select daywalk.prove_window(target, lease, null, null, null, evidence)
$$;

-- Completes a split window whose parts and inner cuts are complete. Returns proven, lost, or
-- open: a part is not complete, so that the window is given back and waits for it.
create function daywalk.close_split(target bigint, lease uuid, evidence jsonb) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  me daywalk.windows := daywalk.hold(target, lease);
begin
  if me.window_id is null then
    return case when exists (select from daywalk.windows where window_id = target and state = 'complete' and proof = evidence) then 'proven' else 'lost' end;
  end if;
  if me.split_by is null or exists (select from daywalk.windows where split_from = target and state not in ('complete', 'replaced')) then
    update daywalk.windows set lease_id = null, lease_owner = null, lease_expires = null where window_id = target;
    perform daywalk.wait_for_parts(target);
    return 'open';
  end if;
  -- With a calibrated total a look asks for that; without one every part has looks of its own.
  update daywalk.windows
     set split_calibrated = coalesce((evidence ->> 'calibrated')::boolean, false), split_total = coalesce((evidence ->> 'total')::bigint, split_total)
   where window_id = target;
  update daywalk.windows
     set due_at = case when rewalk then due_at
                       when not coalesce((evidence ->> 'calibrated')::boolean, false) then coalesce(due_at, clock_timestamp() + interval '1 hour') end
   where split_from = target and state = 'complete';
  perform daywalk.complete_window(me, evidence);
  return 'proven';
end $$;

-- Puts parts, and the cuts between them, in the place of a window, which stays as a row so that planning cannot bring it
-- back. Parts that are there from an earlier split at the same points are proven anew; those of other points are
-- replaced. What the window shows stays until it is closed. Returns split or lost. May be repeated.
create function daywalk.split_window(target bigint, lease uuid, by_what text, why text, total bigint,
                                     parts_from timestamp[], parts_to timestamp[], levels_from integer[], levels_to integer[],
                                     cuts timestamp[]) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  me daywalk.windows := daywalk.hold(target, lease);
begin
  if me.window_id is null then
    return case when exists (select from daywalk.windows where window_id = target and split_reason = why) then 'split' else 'lost' end;
  end if;
  perform daywalk.end_open_walk(me.current_walk, 'the window was split');
  perform daywalk.undo_split(target);
  insert into daywalk.windows as w (stream_id, kind, day, from_time, to_time, level_from, level_to, split_from, purpose)
  select me.stream_id, given.kind, me.day, given.from_time, given.to_time, given.level_from, given.level_to, target, me.purpose
    from (select 'part' as kind, part.* from unnest(parts_from, parts_to, levels_from, levels_to) as part (from_time, to_time, level_from, level_to)
           union all
          select 'cut', s, s + interval '1 second', me.level_from, me.level_to from unnest(cuts) as s) as given
  on conflict (kind, stream_id, from_time, to_time, coalesce(level_from, -1), coalesce(level_to, -1)) do update
     set state = 'pending', due_at = clock_timestamp(), split_from = excluded.split_from, purpose = excluded.purpose,
         failures = 0, attempts = 0;
  update daywalk.windows w
     set state = 'split', split_by = by_what, split_reason = why, split_total = total,
         judged = (select coalesce(max(k.number), 0) from daywalk.walks k where k.window_id = target),
         due_at = null, rewalk = false, current_walk = null, attempts = 0, last_error = null, last_failed_at = null,
         lease_id = null, lease_owner = null, lease_expires = null
   where w.window_id = target;
  return 'split';
end $$;

-- Of a split window that does not add up: has these parts walked again, and these inner cuts asked, then waits for them.
-- Returns split or lost. May be repeated.
create function daywalk.walk_parts_again(target bigint, lease uuid, parts bigint[], cuts timestamp[]) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  me daywalk.windows := daywalk.hold(target, lease);
begin
  if me.window_id is null then
    return case when exists (select from daywalk.windows where window_id = target and state = 'split' and due_at is null) then 'split' else 'lost' end;
  end if;
  update daywalk.windows
     set state = case when split_by is null then 'pending' else 'split' end, rewalk = split_by is not null, due_at = clock_timestamp(), purpose = me.purpose
   where split_from = target and state <> 'replaced' and window_id = any (parts);
  insert into daywalk.windows (stream_id, kind, day, from_time, to_time, level_from, level_to, split_from, purpose)
  select me.stream_id, 'cut', me.day, s, s + interval '1 second', me.level_from, me.level_to, target, me.purpose
    from unnest(cuts) as s
  on conflict (kind, stream_id, from_time, to_time, coalesce(level_from, -1), coalesce(level_to, -1)) do update
     set state = 'pending', due_at = clock_timestamp(), split_from = excluded.split_from, purpose = excluded.purpose;
  update daywalk.windows
     set state = 'split', due_at = null, rewalk = false, lease_id = null, lease_owner = null, lease_expires = null
   where window_id = target;
  return 'split';
end $$;

-- Lets go of the days before `since` that an earlier one had planned, that failed, and of which no page is stored: the source may not give them
-- any more, and who sets `since` later does not want them. They are no gaps then; an earlier `since` or a backfill has them planned anew. The
-- midnight beside a day that stays is one of that. It runs with the rights of its owner: a worker may not remove windows. Returns those days.
create function daywalk.drop_unwanted_days(of_stream integer) returns date[]
language plpgsql strict security definer set search_path = pg_catalog, pg_temp as $$
declare
  going bigint[];
  cuts bigint[];
  dropped date[];
begin
  perform daywalk.lock_stream(of_stream);
  going := array(
    select d.window_id
      from daywalk.windows d join daywalk.streams s on s.stream_id = d.stream_id
     where d.stream_id = of_stream and d.kind = 'day' and d.day < s.since and d.purpose = 'scheduled' and d.state = 'failed' and d.proof is null
       and d.lease_id is null
       and not exists (select from daywalk.windows part where part.split_from = d.window_id)
       and not exists (select from daywalk.walks k where k.window_id = d.window_id and k.pages > 0)
       and not exists (select from daywalk.days shown where shown.stream_id = of_stream and shown.day = d.day)
       for update of d);
  -- What is walked of that midnight just now is stored under the day that goes: it is begun anew.
  cuts := array(
    select cut.window_id from daywalk.windows cut
     where cut.stream_id = of_stream and cut.midnight is not null
       and cut.day in (select gone.day from daywalk.windows gone where gone.window_id = any (going))
     order by cut.window_id for update);
  perform daywalk.end_open_walk(cut.current_walk, 'its day is before since now') from daywalk.windows cut where cut.window_id = any (cuts);
  update daywalk.windows cut set day = beside.day, current_walk = null, lease_id = null, lease_owner = null, lease_expires = null
    from daywalk.windows gone
    join daywalk.windows beside on beside.stream_id = gone.stream_id and beside.kind = 'day' and abs(beside.day - gone.day) = 1
   where gone.window_id = any (going) and beside.window_id <> all (going)
     and cut.window_id = any (cuts) and cut.day = gone.day and beside.day in (cut.midnight, cut.midnight + 1);
  update daywalk.windows set current_walk = null where window_id = any (going);
  delete from daywalk.walks where window_id = any (going);
  with deleted as (delete from daywalk.windows where window_id = any (going) returning day)
  select coalesce(array_agg(day order by day), '{}') into dropped from deleted;
  return dropped;
end $$;

-- Notes that the source has forgotten a day, of which the window is one, and gives the window back. What is shown of the day stays, and it
-- stays complete, with the cuts at its ends. It is looked at for as long as other days are: what was away for a while comes back.
-- Returns retired or lost.
create function daywalk.retire_day(target bigint, lease uuid, recheck_days integer) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  me daywalk.windows := daywalk.hold(target, lease);
  doubted boolean;
begin
  if me.window_id is null then return 'lost'; end if;
  doubted := not exists (select from daywalk.days d where d.stream_id = me.stream_id and d.day = me.day and d.retired_since is not null)
         and exists (select from daywalk.windows w
                      where w.stream_id = me.stream_id and w.day = me.day and w.kind <> 'cut' and w.proof is not null and w.state <> 'replaced'
                        and (w.state <> 'complete' or w.rewalk));
  update daywalk.days set retired_since = coalesce(retired_since, clock_timestamp()) where stream_id = me.stream_id and day = me.day;
  -- What a window was split into since it was proven says nothing of that; nor do parts and cuts that were never proven.
  perform daywalk.undo_split(w.window_id) from daywalk.windows w
    where w.stream_id = me.stream_id and w.day = me.day and w.split_by is not null and w.proof ->> 'kind' <> 'parts';
  perform daywalk.replace_parts(array(select w.window_id from daywalk.windows w
                                       where w.stream_id = me.stream_id and w.day = me.day and w.split_from is not null and w.proof is null
                                         and w.state <> 'replaced'));
  update daywalk.windows w
     set state = 'complete', rewalk = false, attempts = 0, failures = 0, last_error = null, last_failed_at = null,
         due_at = case w.kind when 'day' then coalesce(daywalk.next_look(daywalk.closed_at(w.day, s.time_zone, s.settle), recheck_days),
                                                       case when doubted then clock_timestamp() + interval '1 day' end) end,
         -- What another worker finds out about its midnights or parts now is nothing any more.
         lease_id = null, lease_owner = null, lease_expires = null
    from daywalk.streams s
   where s.stream_id = me.stream_id and w.stream_id = me.stream_id and w.proof is not null and w.state <> 'replaced'
     and (w.day = me.day or w.midnight in (me.day - 1, me.day));
  return 'retired';
end $$;
