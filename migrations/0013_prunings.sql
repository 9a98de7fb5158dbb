-- Pruning: what is older than a person wants to keep goes, and what is said about it stays. Windows, walks, seals,
-- overlaps and the ledger keep their rows, so that the chain of the ledger can be recomputed; the pages go, with kept
-- bytes and all. docs/decisions/0015-what-pruning-leaves.md tells why.

create table daywalk.prunings (
  pruning_id bigint generated always as identity primary key,
  stream_id  integer not null references daywalk.streams,
  day        date not null,
  what       text not null check (what in ('day', 'superseded')),
  walks      bigint[] not null,
  pages      bigint not null,
  records    bigint not null,
  bytes      bigint not null,
  pruned_by  text not null default current_user,
  pruned_at  timestamptz not null default clock_timestamp(),
  removed_at timestamptz
);
create unique index prunings_day on daywalk.prunings (stream_id, day) where what = 'day';
create index prunings_open on daywalk.prunings (pruning_id) where removed_at is null;
alter table daywalk.walks add column pruning bigint references daywalk.prunings;

comment on table daywalk.prunings is 'What was pruned: a day of a stream, or the superseded walks of a day.';
comment on column daywalk.prunings.pruning_id is 'Key.';
comment on column daywalk.prunings.stream_id is 'The stream.';
comment on column daywalk.prunings.day is 'The day of the source''s calendar.';
comment on column daywalk.prunings.what is 'day: everything of it; superseded: walks that are not shown, the day stays.';
comment on column daywalk.prunings.walks is 'The walks whose pages went.';
comment on column daywalk.prunings.pages is 'Pages of these walks.';
comment on column daywalk.prunings.records is 'Records of these walks, those counted twice that two of them hold.';
comment on column daywalk.prunings.bytes is 'Bytes that were received for them.';
comment on column daywalk.prunings.pruned_by is 'The role of the database that did it.';
comment on column daywalk.prunings.pruned_at is 'From then on the views do not show it.';
comment on column daywalk.prunings.removed_at is 'When the last of its pages was removed; null: it was interrupted, the next pruning goes on.';
comment on column daywalk.walks.pruning is 'Its pages were pruned, or are just being removed; null: they are there.';

-- Marks a day, or its superseded walks, as pruned; the pages are removed afterwards, some at a time. It is what readers
-- see that is decided here, so all of it is looked at again under the locks: shown_walks and shown_overlaps are what the
-- person, or the export, saw. Returns pruned, held (a worker has to do with the day, or it is not complete), changed
-- (published anew since) or unsealed (not in the ledger yet).
create function daywalk.mark_pruned(of_stream integer, on_day date, which text, shown_walks bigint[], shown_overlaps bytea)
returns text
language plpgsql as $$
declare
  windows bigint;
  free bigint;
  gone bigint[];
  made bigint;
begin
  select count(*) into windows from daywalk.windows where stream_id = of_stream and day = on_day;
  -- Without waiting: a worker that publishes holds its window and waits for the lock below.
  perform from daywalk.windows where stream_id = of_stream and day = on_day for update skip locked;
  get diagnostics free = row_count;
  if free < windows then return 'held'; end if;
  perform pg_advisory_xact_lock(hashtext('daywalk.show_window'), of_stream);
  if exists (select from daywalk.prunings where stream_id = of_stream and day = on_day and what = 'day') then
    return 'pruned';
  end if;
  if windows = 0 or exists (select from daywalk.windows
                             where stream_id = of_stream and day = on_day
                               and (state not in ('complete', 'split') or lease_id is not null or current_walk is not null or rewalk)) then
    return 'held';
  end if;
  if shown_overlaps <> daywalk.overlaps_digest(shown_walks)
     or shown_walks <> (select d.walks from daywalk.published_days d where d.stream_id = of_stream and d.day = on_day) then
    return 'changed';
  end if;
  if exists (select from daywalk.ledger_due where stream_id = of_stream and day = on_day) then return 'unsealed'; end if;
  select array_agg(walk_id order by walk_id) into gone from daywalk.prunable_walks(of_stream, on_day, which);
  if gone is null then return 'pruned'; end if;
  insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
  select of_stream, on_day, which, gone, sum(pages), sum(records), sum(bytes) from daywalk.walks where walk_id = any (gone)
  returning pruning_id into made;
  update daywalk.walks set pruning = made where walk_id = any (gone);
  if which = 'day' then
    update daywalk.windows set due_at = null where stream_id = of_stream and day = on_day and due_at is not null;
    update daywalk.days set records = 0, pages = 0, bytes = 0, proof = null where stream_id = of_stream and day = on_day;
  end if;
  return 'pruned';
end $$;

-- The walks that go with a day; or those of a day that are not shown, and that nothing shown refers to.
create function daywalk.prunable_walks(of_stream integer, on_day date, which text) returns setof daywalk.walks
language sql stable as $$
  select k.*
    from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id
   where w.stream_id = of_stream and w.day = on_day and k.pruning is null
     and (which = 'day'
          or (not k.published and k.outcome is not null and k.pages > 0
              and not exists (select from daywalk.walks x
                               where x.window_id = k.window_id and x.published
                                 and (x.proof ->> 'nextDay' = k.walk_id::text or x.proof -> 'unites' @> to_jsonb(k.walk_id)))))
$$;

-- Empties the partition of a month at once, if nothing that is kept has pages in it, and gives its space back. False:
-- something has, or somebody reads it for longer than the wait; its rows are deleted then. It is not dropped, because
-- that would lock all of daywalk.pages, and a worker may be about to store a page of the month.
create function daywalk.empty_month(month date) returns boolean
language plpgsql as $$
declare
  partition text := 'pages_' || to_char(month, 'YYYY_MM');
begin
  if to_regclass('daywalk.' || partition) is null then return false; end if;
  if exists (select from daywalk.walks where day >= month and day < month + interval '1 month' and pages > 0 and pruning is null) then
    return false;
  end if;
  perform set_config('lock_timeout', '2s', true);
  execute format('lock table daywalk.%I in access exclusive mode', partition);
  -- Again: a page may have come before the lock.
  if exists (select from daywalk.walks where day >= month and day < month + interval '1 month' and pages > 0 and pruning is null) then
    return false;
  end if;
  execute format('truncate table daywalk.%I', partition);
  return true;
exception when lock_not_available then
  return false;
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

-- As before, but for what is pruned: its pages are not there to be compared, and what was found of it is in the ledger.
create or replace function daywalk.show_window(target bigint) returns void
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

create or replace function daywalk.contents_of(of_stream integer, on_day date)
returns table (records bigint, pages bigint, bytes bigint, proof text)
language sql stable as $$
  select coalesce(sum(k.records - coalesce(o.hidden, 0)), 0)::bigint, coalesce(sum(k.pages), 0)::bigint, coalesce(sum(k.bytes), 0)::bigint,
         string_agg(distinct k.proof ->> 'kind', ', ')
    from daywalk.windows w
    join daywalk.walks k on k.window_id = w.window_id and k.published and k.pruning is null
    left join lateral (select sum(cardinality(positions)) as hidden from daywalk.overlaps where walk_id = k.walk_id) as o on true
   where w.stream_id = of_stream and w.day = on_day
$$;

-- The views leave out what is pruned, from the moment on at which it is marked.
create or replace view daywalk.events as
select s.name as stream, p.day, r.record, p.walk_id, p.page_no, (p.start + r.position - 1) as position, p.fetched_at
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.published and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'events'
  left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position)
 where r.position > p.skip and (o.positions is null or r.position - p.skip <> all (o.positions));

create or replace view daywalk.smart_events as
select s.name as stream, p.day, r.record, p.walk_id, p.page_no, (p.start + r.position - 1) as position, p.fetched_at
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.published and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'smart-event'
  left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position)
 where r.position > p.skip and (o.positions is null or r.position - p.skip <> all (o.positions));

create or replace view daywalk.coverage as
select p.stream, p.resource, p.day,
       case when p.complete and exists (select from daywalk.prunings g
                                         where g.stream_id = p.stream_id and g.day = p.day and g.what = 'day') then 'pruned'
            when p.complete then 'complete'
            when p.running then 'running'
            when p.failed then 'failed'
            else 'pending' end as state,
       p.windows, p.complete_windows,
       coalesce(c.records, 0) as records,
       coalesce(c.pages, 0) as pages,
       coalesce(c.bytes, 0) as bytes,
       c.proof,
       case when p.complete then p.completed_at end as completed_at,
       p.checked_at, p.due_at, p.last_error
  from (select s.stream_id, s.name as stream, s.resource, w.day,
               count(*)::integer as windows,
               (count(*) filter (where w.state = 'complete'))::integer as complete_windows,
               bool_and(w.state = 'complete') as complete,
               bool_or(w.state = 'failed') as failed,
               bool_or(w.lease_expires > clock_timestamp()) as running,
               max(w.completed_at) as completed_at,
               max(w.checked_at) as checked_at,
               min(w.due_at) as due_at,
               (array_agg(w.last_error order by w.last_failed_at desc) filter (where w.last_error is not null))[1] as last_error
          from daywalk.streams s
          join daywalk.windows w on w.stream_id = s.stream_id and w.state <> 'split'
         group by s.stream_id, s.name, s.resource, w.day) as p
  left join daywalk.days c on c.stream_id = p.stream_id and c.day = p.day
 union all
select s.name, s.resource, d.day::date, 'missing', 0, 0, 0, 0, 0, null, null, null, null, null
  from daywalk.streams s
 cross join lateral generate_series(
   s.since::timestamp,
   (((clock_timestamp() - s.settle) at time zone s.time_zone)::date - 1)::timestamp,
   interval '1 day') as d (day)
 where not exists (select from daywalk.windows w where w.stream_id = s.stream_id and w.day = d.day::date);

create or replace view daywalk.quarantine as
select s.name as stream, p.day, p.walk_id, p.page_no, k.published, c.change ->> 'what' as what, c.change ->> 'path' as path,
       (c.change ->> 'offset')::bigint as "offset", c.change ->> 'found' as found, p.sha256, p.byte_count, p.bytes
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id
 cross join lateral jsonb_array_elements(p.changes) as c (change)
 where p.changes is not null;

-- A worker does not prune, and cannot say that something was pruned.
create or replace function daywalk.let_work(role name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  own record;
begin
  -- Functions that came after this one, too.
  revoke execute on all functions in schema daywalk from public;
  execute format('grant usage on schema daywalk to %I', role);
  for own in
    select c.relname, c.relkind from pg_class c
     where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
  loop
    execute format('grant select on daywalk.%I to %I', own.relname, role);
    if own.relkind <> 'v' and own.relname <> 'migrations' then
      execute format('grant insert, update on daywalk.%I to %I', own.relname, role);
    end if;
  end loop;
  execute format('grant delete on daywalk.overlaps to %I', role);
  execute format('revoke update on daywalk.pages, daywalk.seals, daywalk.ledger from %I', role);
  execute format('revoke insert, update on daywalk.prunings from %I', role);
  for own in
    select p.oid::regprocedure as signature from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace
       and (not p.prosecdef or p.provolatile <> 'v' or p.proname = 'ensure_partition')
       and p.proname not in ('let_work', 'let_read')
  loop
    execute format('grant execute on function %s to %I', own.signature, role);
  end loop;
end $$;

revoke execute on all functions in schema daywalk from public;
comment on function daywalk.mark_pruned is 'Marks a day, or its superseded walks, as pruned.';
comment on function daywalk.prunable_walks is 'The walks of a day that a pruning takes.';
comment on function daywalk.mark_overlaps_again is 'Marks the records of a window that others show; what a pruned neighbour hid stays hidden.';
comment on function daywalk.empty_month is 'Empties the partition of a month of which nothing is kept.';
comment on column daywalk.coverage.state is 'complete: every window of the day is proven; running, failed, pending: see there; missing: not planned yet; pruned: it was complete, and is not kept any more.';
