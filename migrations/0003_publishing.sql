-- Publishing: what readers see changes here and nowhere else, in one transaction each time.

-- When a day of a stream closed: it ended in the source's time zone, and the settle delay has passed.
create function daywalk.closed_at(day date, time_zone text, settle interval) returns timestamptz
language sql stable as $$
  select ((day + 1)::timestamp at time zone time_zone) + settle
$$;

-- When a complete window is looked at again: a day from now, as long as it closed less than recheck_days ago; half a
-- day more is granted, so that the last day gets its check too.
create function daywalk.next_check(closed timestamptz, recheck_days integer) returns timestamptz
language sql stable as $$
  select case when clock_timestamp() + interval '1 day' <= closed + make_interval(days => recheck_days, hours => 12)
               and recheck_days > 0
              then clock_timestamp() + interval '1 day' end
$$;

-- The windows at the ends of all splits below a window; the window itself where it was not split.
create function daywalk.leaves(top bigint) returns setof daywalk.windows
language sql stable as $$
  with recursive tree as (
    select * from daywalk.windows where window_id = top
     union all
    select w.* from daywalk.windows w join tree on w.split_from = tree.window_id where tree.state = 'split'
  )
  select * from tree where state <> 'split'
$$;

-- A window and all that was ever split from it.
create function daywalk.subtree(top bigint) returns setof bigint
language sql stable as $$
  with recursive tree as (
    select top as window_id
     union all
    select w.window_id from daywalk.windows w join tree on w.split_from = tree.window_id
  )
  select window_id from tree
$$;

-- Marks the records of a window that another published walk shows: one of a neighbour that shares a second with it, or
-- an earlier page of a union. A record that occurs twice in one walk stays twice; in a union, whose order did not hold
-- from page to page, only what occurs twice on one page does. Hashes find the candidates, equality of the whole record
-- decides. Arrays and not joins, because a planner that guesses wrong here takes seconds.
create function daywalk.mark_overlaps(target bigint) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  me daywalk.windows;
  my_walks bigint[];
  their_walks bigint[];
  my_hashes bigint[];
  shared bigint[];
begin
  select * into strict me from daywalk.windows where window_id = target;
  delete from daywalk.overlaps o using daywalk.walks k
   where k.walk_id = o.walk_id and k.window_id = target and k.published;
  select array_agg(walk_id) into my_walks from daywalk.walks where window_id = target and published;
  select array_agg(walk_id) into their_walks
    from (select k.walk_id
            from daywalk.windows w
            join daywalk.walks k on k.window_id = w.window_id and k.published
           where w.stream_id = me.stream_id and w.window_id <> target
             and w.day between me.day - 1 and me.day + 1
             and w.from_time <= me.to_time and w.to_time >= me.from_time
             and (w.kind = 'seam', w.from_time, w.to_time, w.window_id)
               < (me.kind = 'seam', me.from_time, me.to_time, me.window_id)
           union all
          -- Of a seam: what it asked for separately, because it belongs to the next day, which may not be there yet.
          select (proof ->> 'nextDay')::bigint from daywalk.walks
           where walk_id = any (my_walks) and proof ? 'nextDay') as theirs;
  if my_walks is null or (their_walks is null and cardinality(my_walks) = 1) then return; end if;
  select array_agg(distinct h.hash) into my_hashes
    from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
   where p.walk_id = any (my_walks) and p.day = me.day;
  if my_hashes is null then return; end if;
  select array_agg(hash) into shared
    from (select distinct h.hash
            from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
           where p.walk_id = any (their_walks) and p.day between me.day - 1 and me.day + 1 and h.hash = any (my_hashes)
           union
          select h.hash
            from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
           where p.walk_id = any (my_walks) and p.day = me.day and cardinality(my_walks) > 1
           group by h.hash having count(distinct (p.walk_id, p.page_no)) > 1) as candidates;
  if shared is null then return; end if;
  insert into daywalk.overlaps (walk_id, page_no, positions)
  with candidates as materialized (
    select k.walk_id = any (my_walks) as mine, k.window_id, k.walk_id, k.number, p.page_no,
           -- What a record may occur twice in: a page of a union, else the walk.
           case when k.published and (select count(*) from daywalk.walks x where x.window_id = k.window_id and x.published) > 1
                then p.page_no else 0 end as unit,
           (r.position - p.skip)::integer as position, r.record
      from daywalk.walks k
      join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
     cross join lateral (select array_agg(h.position) as positions
                           from unnest(p.record_hashes) with ordinality as h (hash, position)
                          where h.hash = any (shared)) as found
     cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position)
     where k.walk_id = any (my_walks || their_walks) and p.day between me.day - 1 and me.day + 1
       and found.positions is not null and r.position - p.skip = any (found.positions)
  ), theirs as materialized (
    select record, sum(copies) as copies
      from (select window_id, record, max(copies) as copies
              from (select window_id, walk_id, unit, record, count(*) as copies from candidates
                     where not mine group by window_id, walk_id, unit, record) as by_unit
             group by window_id, record) as by_window
     group by record
  ), copies as materialized (
    select walk_id, number, page_no, unit, position, record,
           row_number() over (partition by walk_id, unit, record order by page_no, position) as copy
      from candidates where mine
  ), earlier as materialized (
    select record, number, unit, max(copy) as copies from copies group by record, number, unit
  )
  select c.walk_id, c.page_no, array_agg(c.position order by c.position)
    from copies c
    left join theirs t on t.record = c.record
   where c.copy <= greatest(
           coalesce(t.copies, 0),
           case when cardinality(my_walks) > 1
                then coalesce((select max(e.copies) from earlier e
                                where e.record = c.record and (e.number, e.unit) < (c.number, c.unit)), 0)
                else 0 end)
   group by c.walk_id, c.page_no;
end $$;

-- Marks the records of a window anew. A neighbour that is pruned can not be compared with any more: what it hid stays
-- hidden, so that a record of a pruned day does not come back under the day before it.
create function daywalk.mark_overlaps_again(target bigint) returns void
language plpgsql as $$
declare
  known daywalk.overlaps[];
begin
  select array_agg(o) into known
    from daywalk.walks k join daywalk.overlaps o on o.walk_id = k.walk_id
   where k.window_id = target and k.published
     and exists (select from daywalk.windows me
                   join daywalk.windows w on w.stream_id = me.stream_id and w.window_id <> me.window_id
                    and w.day between me.day - 1 and me.day + 1
                    and w.from_time <= me.to_time and w.to_time >= me.from_time
                   join daywalk.walks x on x.window_id = w.window_id and x.published and x.pruning is not null
                  where me.window_id = target);
  perform daywalk.mark_overlaps(target);
  insert into daywalk.overlaps as o (walk_id, page_no, positions)
  select walk_id, page_no, positions from unnest(known)
      on conflict (walk_id, page_no) do update
     set positions = (select array_agg(distinct p order by p) from unnest(o.positions || excluded.positions) as p);
end $$;

-- Notes what the new walks hold that the old ones did not, and the other way round; overlaps are marked before.
create function daywalk.note_differences(top bigint, old_walks bigint[], new_walks bigint[]) returns void
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  finder constant bigint := new_walks[cardinality(new_walks)];
  come bigint;
  gone bigint;
  gone_hashes bigint[];
begin
  select coalesce(sum(greatest(counted.now - counted.before, 0)), 0),
         coalesce(sum(greatest(counted.before - counted.now, 0)), 0),
         array_agg(counted.hash) filter (where counted.before > counted.now)
    into come, gone, gone_hashes
    from (select h.hash,
                 count(*) filter (where p.walk_id = any (new_walks)) as now,
                 count(*) filter (where p.walk_id = any (old_walks)) as before
            from daywalk.walks k
            join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
            left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
           cross join lateral unnest(p.record_hashes) with ordinality as h (hash, position)
           where k.walk_id = any (old_walks || new_walks)
             and (o.positions is null or h.position <> all (o.positions))
           group by h.hash) as counted
   where counted.now <> counted.before;
  if come = 0 and gone = 0 then return; end if;
  insert into daywalk.differences (window_id, walk_id, after, appeared, vanished)
  select top, finder, clock_timestamp() - daywalk.closed_at(w.day, s.time_zone, s.settle), come, gone
    from daywalk.windows w join daywalk.streams s using (stream_id)
   where w.window_id = top;
  if gone = 0 then return; end if;
  insert into daywalk.vanished (found_by, walk_id, page_no, position)
  select finder, copies.walk_id, copies.page_no, copies.position
    from (select p.walk_id = any (new_walks) as is_new, p.walk_id, p.page_no, h.position::integer as position,
                 row_number() over (partition by h.hash, p.walk_id = any (new_walks) order by p.walk_id, p.page_no, h.position) as copy,
                 count(*) filter (where p.walk_id = any (new_walks)) over (partition by h.hash) as now
            from daywalk.walks k
            join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
            left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
           cross join lateral unnest(p.record_hashes) with ordinality as h (hash, position)
           where k.walk_id = any (old_walks || new_walks) and h.hash = any (gone_hashes)
             and (o.positions is null or h.position <> all (o.positions))) as copies
   where not copies.is_new and copies.copy > copies.now;
end $$;

-- What the published walks of a day hold.
create function daywalk.contents_of(of_stream integer, on_day date)
returns table (records bigint, pages bigint, bytes bigint, proof text)
language sql stable as $$
  select coalesce(sum(k.records - coalesce(o.hidden, 0)), 0)::bigint, coalesce(sum(k.pages), 0)::bigint, coalesce(sum(k.bytes), 0)::bigint,
         string_agg(distinct k.proof ->> 'kind', ', ')
    from daywalk.windows w
    join daywalk.walks k on k.window_id = w.window_id and k.published and k.pruning is null
    left join lateral (select sum(cardinality(positions)) as hidden from daywalk.overlaps where walk_id = k.walk_id) as o on true
   where w.stream_id = of_stream and w.day = on_day
$$;

-- Notes what a day holds now, and that the ledger is to be looked at.
create function daywalk.note_day(of_stream integer, on_day date) returns void
language sql as $$
  insert into daywalk.days (stream_id, day, records, pages, bytes, proof)
  select of_stream, on_day, c.records, c.pages, c.bytes, c.proof from daywalk.contents_of(of_stream, on_day) as c
  on conflict (stream_id, day) do update
     set records = excluded.records, pages = excluded.pages, bytes = excluded.bytes, proof = excluded.proof, unsealed = true
$$;

-- Shows the proven walks of a window that has become complete. Where a window above it is still shown, because it was
-- split while its day was already complete, all its parts are shown together once the last of them is complete.
-- Of what is pruned, the pages are not there to be compared, and what was found of it is in the ledger.
create function daywalk.show_window(target bigint) returns void
language plpgsql as $$
declare
  top bigint;
  stream integer;
  old_walks bigint[];
  new_walks bigint[];
  shown bigint[];
  one bigint;
  its_day date;
  changed date[];
begin
  select stream_id into strict stream from daywalk.windows where window_id = target;
  -- Two neighbours that are published at once must see each other.
  perform pg_advisory_xact_lock(hashtext('daywalk.show_window'), stream);
  with recursive up as (
    select window_id, split_from, 0 as height from daywalk.windows where window_id = target
     union all
    select w.window_id, w.split_from, up.height + 1 from daywalk.windows w join up on w.window_id = up.split_from
  )
  select coalesce((select up.window_id from up
                     join daywalk.walks k on k.window_id = up.window_id and k.published
                    where up.height > 0 order by up.height desc limit 1), target)
    into top;
  if exists (select from daywalk.leaves(top) where state <> 'complete') then return; end if;
  select array_agg(window_id) into shown from daywalk.leaves(top);
  select coalesce(array_agg(k.walk_id), '{}') into old_walks
    from daywalk.walks k where k.published and k.window_id in (select daywalk.subtree(top));
  -- The walks that were proven together: the newest one, and those that its proof unites with it.
  select array_agg(k.walk_id order by k.walk_id) into new_walks
    from (select distinct on (window_id) window_id, walk_id, proof from daywalk.walks
           where window_id = any (shown) and outcome = 'proven' order by window_id, number desc) as newest
    join daywalk.walks k on k.walk_id = newest.walk_id
      or k.walk_id in (select value::bigint from jsonb_array_elements_text(coalesce(newest.proof -> 'unites', '[]')));
  update daywalk.walks set published = walk_id = any (new_walks)
   where walk_id = any (old_walks || new_walks) and published <> (walk_id = any (new_walks));
  for one, its_day in
    select w.window_id, w.day from daywalk.windows w
     where w.stream_id = stream
       and exists (select from daywalk.walks k where k.window_id = w.window_id and k.published and k.pruning is null)
       and (w.window_id = any (shown)
            -- A window is marked by those before it: what is shown now changes nothing about those before that.
            or exists (select from daywalk.windows x
                        where x.window_id = any (shown) and w.day between x.day - 1 and x.day + 1
                          and w.from_time <= x.to_time and w.to_time >= x.from_time
                          and (x.kind = 'seam', x.from_time, x.to_time, x.window_id)
                            < (w.kind = 'seam', w.from_time, w.to_time, w.window_id)))
     order by w.kind = 'seam', w.from_time, w.to_time, w.window_id
  loop
    perform daywalk.mark_overlaps_again(one);
    changed := changed || its_day;
  end loop;
  perform daywalk.note_day(stream, d.day) from (select distinct unnest(changed) as day) as d;
  if cardinality(old_walks) > 0
     and not exists (select from daywalk.walks where walk_id = any (old_walks) and pruning is not null) then
    perform daywalk.note_differences(top, old_walks, new_walks);
  end if;
end $$;

-- Checks, for every window above a complete one whose parts are all complete, that they hold what the total said when
-- it was split: parts by time at least as much (more may have come since), parts by level exactly as much.
create function daywalk.check_sums(target bigint) returns void
language plpgsql as $$
declare
  above daywalk.windows;
  stored_records bigint;
begin
  select p.* into above from daywalk.windows w join daywalk.windows p on p.window_id = w.split_from
   where w.window_id = target;
  while above.state = 'split' loop
    if exists (select from daywalk.leaves(above.window_id) where state <> 'complete') then return; end if;
    if above.split_total is not null and not above.sums_checked then
      -- A part that begins where the window begins may be hidden by neighbours outside: the total counts it all the same.
      select coalesce(sum((newest.proof ->> 'records')::bigint
                          - case when w.from_time > above.from_time then coalesce(h.hidden, 0) else 0 end), 0)
        into stored_records
        from daywalk.leaves(above.window_id) w
       cross join lateral (select k.walk_id, k.proof from daywalk.walks k
                            where k.window_id = w.window_id and k.outcome = 'proven' order by k.number desc limit 1) newest
        left join lateral (select sum(cardinality(o.positions)) as hidden
                             from daywalk.overlaps o where o.walk_id = newest.walk_id) h on true;
      if stored_records < above.split_total or (above.split_by = 'level' and stored_records <> above.split_total) then
        update daywalk.windows
           set state = 'failed', failures = failures + 1, last_failed_at = clock_timestamp(),
               due_at = clock_timestamp() + interval '1 hour',
               last_error = format('split by %s, its parts hold %s records where the total said %s', above.split_by, stored_records, above.split_total)
         where window_id = above.window_id;
        return;
      end if;
      update daywalk.windows set sums_checked = true where window_id = above.window_id;
    end if;
    select p.* into above from daywalk.windows p where p.window_id = above.split_from;
  end loop;
end $$;

-- Publishes a proven walk and completes its window, if the lease, the checkpoint and the chain of stored pages agree
-- with what was proven. Returns published, lost (another worker holds the window) or broken (the pages do not add up).
create function daywalk.publish_walk(
  target bigint, lease uuid, walk bigint, at_start bigint, at_page integer, evidence jsonb, more_requests integer,
  recheck_days integer
) returns text
language plpgsql as $$
declare
  me daywalk.windows;
  closed timestamptz;
  sound boolean;
begin
  select * into me from daywalk.windows where window_id = target and lease_id = lease for update;
  if me.window_id is null then
    return case when exists (select from daywalk.walks where walk_id = walk and outcome = 'proven')
                then 'published' else 'lost' end;
  end if;
  select k.next_start = at_start and k.pages = at_page and coalesce(k.outcome, 'ended') = 'ended'
         and chain.pages = at_page and chain.records = at_start and chain.unbroken
         -- A failover may take pages away between the proof and this; the checkpoint goes back with them, the proof does not.
         and (evidence ->> 'kind' = 'union' or (evidence ->> 'records')::bigint = at_start)
    into sound
    from daywalk.walks k
   cross join lateral (
     select count(*) as pages, coalesce(sum(p.records), 0) as records,
            coalesce(bool_and(p.start + p.skip = p.expected and p.page_no = p.ordinal), true) as unbroken
       from (select page_no, start, skip, records,
                    coalesce(sum(records) over (order by page_no rows between unbounded preceding and 1 preceding), 0) as expected,
                    row_number() over (order by page_no) - 1 as ordinal
               from daywalk.pages where walk_id = k.walk_id and day = k.day) as p) as chain
   where k.walk_id = walk and k.window_id = target;
  if sound is not true then return 'broken'; end if;
  update daywalk.walks
     set outcome = 'proven', proof = evidence, requests = requests + more_requests,
         finished_at = coalesce(finished_at, clock_timestamp())
   where walk_id = walk;
  update daywalk.walks set outcome = 'proven', proof = coalesce(proof, evidence)
   where walk_id in (select value::bigint from jsonb_array_elements_text(coalesce(evidence -> 'unites', '[]')))
     and window_id = target;
  -- Another walk may be open still, for a comparison that is not needed any more.
  update daywalk.walks
     set outcome = 'failed', reason = 'the window was published without it', finished_at = clock_timestamp()
   where walk_id = me.current_walk and walk_id <> walk and outcome is null;
  select daywalk.closed_at(me.day, s.time_zone, s.settle) into closed
    from daywalk.streams s where s.stream_id = me.stream_id;
  update daywalk.windows
     set state = 'complete', current_walk = null, rewalk = false, completed_at = clock_timestamp(),
         checked_at = clock_timestamp(), due_at = daywalk.next_check(closed, recheck_days), purpose = 'recheck',
         attempts = 0, failures = 0, last_error = null, last_failed_at = null,
         lease_id = null, lease_owner = null, lease_expires = null
   where window_id = target;
  -- Parts of an earlier split: the whole stands for them now. They stay as rows, and come back if it is split again.
  update daywalk.windows
     set state = 'split', split_by = coalesce(split_by, 'time'), due_at = null, rewalk = false,
         split_reason = 'the window that it is a part of was walked whole',
         last_error = null, last_failed_at = null, lease_id = null, lease_owner = null, lease_expires = null
   where window_id in (select daywalk.subtree(target)) and window_id <> target;
  perform daywalk.show_window(target);
  perform daywalk.check_sums(target);
  return 'published';
end $$;
