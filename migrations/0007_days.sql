-- Days: what the published walks of a day hold, added up when they are published, so that what is asked of many days (the
-- coverage, and which of them the ledger lacks) need not read every walk.

create table daywalk.days (
  stream_id integer not null references daywalk.streams,
  day       date not null,
  records   bigint not null,
  pages     bigint not null,
  bytes     bigint not null,
  proof     text,
  unsealed  boolean not null default true,
  primary key (stream_id, day)
);
create index days_unsealed on daywalk.days (stream_id, day) where unsealed;
create index windows_unfinished on daywalk.windows (stream_id, day) where state in ('pending', 'failed');

-- What the published walks of a day hold.
create function daywalk.contents_of(of_stream integer, on_day date)
returns table (records bigint, pages bigint, bytes bigint, proof text)
language sql stable as $$
  select coalesce(sum(k.records - coalesce(o.hidden, 0)), 0)::bigint, coalesce(sum(k.pages), 0)::bigint, coalesce(sum(k.bytes), 0)::bigint,
         string_agg(distinct k.proof ->> 'kind', ', ')
    from daywalk.windows w
    join daywalk.walks k on k.window_id = w.window_id and k.published
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
       and exists (select from daywalk.walks k where k.window_id = w.window_id and k.published)
       and (w.window_id = any (shown)
            -- A window is marked by those before it: what is shown now changes nothing about those before that.
            or exists (select from daywalk.windows x
                        where x.window_id = any (shown) and w.day between x.day - 1 and x.day + 1
                          and w.from_time <= x.to_time and w.to_time >= x.from_time
                          and (x.kind = 'seam', x.from_time, x.to_time, x.window_id)
                            < (w.kind = 'seam', w.from_time, w.to_time, w.window_id)))
     order by w.kind = 'seam', w.from_time, w.to_time, w.window_id
  loop
    perform daywalk.mark_overlaps(one);
    changed := changed || its_day;
  end loop;
  perform daywalk.note_day(stream, d.day) from (select distinct unnest(changed) as day) as d;
  if cardinality(old_walks) > 0 then
    perform daywalk.note_differences(top, old_walks, new_walks);
  end if;
end $$;

-- Appends a complete day to the ledger, if it is not there as it is now; the pages left are sealed with it. Returns the
-- entry; null: nothing to append.
create or replace function daywalk.append_to_ledger(of_stream integer, on_day date) returns bigint
language plpgsql as $$
declare
  due daywalk.ledger_due;
  line daywalk.ledger;
begin
  perform pg_advisory_xact_lock(hashtext('daywalk.ledger'), of_stream);
  -- The long work first: who publishes this day meanwhile waits for the update below.
  perform daywalk.seal_pages(k.walk_id, 0, k.pages)
     from daywalk.ledger_due d join daywalk.walks k on k.walk_id = any (d.walks)
    where d.stream_id = of_stream and d.day = on_day;
  -- Before the day is read, so that what is published from now on marks it again.
  update daywalk.days set unsealed = false where stream_id = of_stream and day = on_day and unsealed;
  select * into due from daywalk.ledger_due where stream_id = of_stream and day = on_day;
  if due.walks is null or due.walks = '{}' then return null; end if;
  perform daywalk.seal_pages(k.walk_id, 0, k.pages) from daywalk.walks k where k.walk_id = any (due.walks) order by k.walk_id;
  select l.entry + 1, l.digest into line.entry, line.previous
    from daywalk.ledger l where l.stream_id = of_stream order by l.entry desc limit 1;
  line.stream_id := of_stream;
  line.entry := coalesce(line.entry, 1);
  line.previous := coalesce(line.previous, daywalk.ledger_origin(of_stream));
  line.day := on_day;
  line.revision := 1 + coalesce((select max(l.revision) from daywalk.ledger l where l.stream_id = of_stream and l.day = on_day), 0);
  line.walks := due.walks;
  select sum(k.pages), sum(k.records), sum(k.bytes) into line.pages, line.records, line.bytes
    from daywalk.walks k where k.walk_id = any (due.walks);
  line.pages_sha256 := daywalk.seals_digest(due.walks);
  line.walks_sha256 := daywalk.walks_digest(due.walks);
  line.overlaps_sha256 := daywalk.overlaps_digest(due.walks);
  line.appended_at := clock_timestamp();
  line.digest := daywalk.ledger_digest(line);
  insert into daywalk.ledger select line.*;
  return line.entry;
end $$;

-- Days of databases that are older than this table.
select daywalk.note_day(d.stream_id, d.day)
  from (select distinct w.stream_id, w.day from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id and k.published) as d;

-- A day D is closed when the source's clock, less the settle delay, shows a later day. Grouped by what it is asked for by,
-- so that a question about few days reads few windows.
create or replace view daywalk.coverage as
select p.stream, p.resource, p.day,
       case when p.complete then 'complete'
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

-- The rows of coverage that are not complete, found from the unfinished windows.
create or replace view daywalk.gaps as
select s.name as stream, s.resource, u.day,
       case when p.running then 'running' when p.failed then 'failed' else 'pending' end as state,
       p.due_at, p.last_error
  from (select distinct w.stream_id, w.day from daywalk.windows w where w.state in ('pending', 'failed')) as u
  join daywalk.streams s on s.stream_id = u.stream_id
 cross join lateral (
   select bool_or(w.state = 'failed') as failed,
          bool_or(w.lease_expires > clock_timestamp()) as running,
          min(w.due_at) as due_at,
          (array_agg(w.last_error order by w.last_failed_at desc) filter (where w.last_error is not null))[1] as last_error
     from daywalk.windows w
    where w.stream_id = u.stream_id and w.day = u.day and w.state <> 'split') as p
 union all
select s.name, s.resource, d.day::date, 'missing', null, null
  from daywalk.streams s
 cross join lateral generate_series(
   s.since::timestamp,
   (((clock_timestamp() - s.settle) at time zone s.time_zone)::date - 1)::timestamp,
   interval '1 day') as d (day)
 where not exists (select from daywalk.windows w where w.stream_id = s.stream_id and w.day = d.day::date);

comment on table daywalk.days is 'What the published walks of a day hold, added up whenever one of them is published.';
comment on column daywalk.days.stream_id is 'The stream.';
comment on column daywalk.days.day is 'The day of the source''s calendar.';
comment on column daywalk.days.records is 'Records in published walks; one that two of them hold counts once.';
comment on column daywalk.days.pages is 'Their pages.';
comment on column daywalk.days.bytes is 'Bytes received for them.';
comment on column daywalk.days.proof is 'Kinds of proof: total, probe, union.';
comment on column daywalk.days.unsealed is 'Something was published since the ledger was last compared with the day.';
comment on function daywalk.contents_of is 'What the published walks of a day hold, added up anew.';
comment on function daywalk.note_day is 'Notes what a day holds now, and that the ledger is to be compared with it.';
