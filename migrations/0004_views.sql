-- The views: the only read contract. They show published walks only, and leave out what is pruned from the moment on at
-- which it is marked.
--
-- The condition on skip is written as a case: where it is a comparison, Postgres expects to expand the same page again, and
-- keeps a copy of its records for that (Memoize), which takes two to three times as long.

create view daywalk.events as
select s.name as stream, p.day, r.record, p.walk_id, p.page_no, (p.start + r.position - 1) as position, p.fetched_at
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.published and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'events'
  left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position)
 where case when p.skip = 0 then true else r.position > p.skip end
   and (o.positions is null or r.position - p.skip <> all (o.positions));

create view daywalk.smart_events as
select s.name as stream, p.day, r.record, p.walk_id, p.page_no, (p.start + r.position - 1) as position, p.fetched_at
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.published and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'smart-event'
  left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position)
 where case when p.skip = 0 then true else r.position > p.skip end
   and (o.positions is null or r.position - p.skip <> all (o.positions));

-- The closed days from a stream's first one on that have no window. A day D is closed when the source's clock, less the
-- settle delay, shows a later day. Most streams lack none: that is counted, and only else they are looked at day by day.
create view daywalk.missing_days as
select s.stream_id, s.name as stream, s.resource, d.day::date as day
  from daywalk.streams s
 cross join lateral (select ((clock_timestamp() - s.settle) at time zone s.time_zone)::date - 1 as last_closed) as c
 cross join lateral generate_series(s.since::timestamp, c.last_closed::timestamp, interval '1 day') as d (day)
 where (select count(*) from daywalk.windows w
         where w.stream_id = s.stream_id and w.kind = 'day' and w.day between s.since and c.last_closed) <= c.last_closed - s.since
   and not exists (select from daywalk.windows w where w.stream_id = s.stream_id and w.day = d.day::date);

-- The newest error of each day that has any; few days do, so they are joined and not looked for in every window.
create view daywalk.day_errors as
select distinct on (stream_id, day) stream_id, day, last_error
  from daywalk.windows
 where last_error is not null and state <> 'split'
 order by stream_id, day, last_failed_at desc;

-- Grouped by stream and day, in the order of an index, with the name inside: a question about few days reads few windows.
create view daywalk.coverage as
select p.stream, p.resource, p.day,
       case when p.complete and g.day is not null then 'pruned'
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
       p.checked_at, p.due_at, e.last_error
  from (select s.stream_id, s.name as stream, s.resource, w.day,
               count(*)::integer as windows,
               (count(*) filter (where w.state = 'complete'))::integer as complete_windows,
               bool_and(w.state = 'complete') as complete,
               bool_or(w.state = 'failed') as failed,
               bool_or(w.lease_expires > clock_timestamp()) as running,
               max(w.completed_at) as completed_at,
               max(w.checked_at) as checked_at,
               min(w.due_at) as due_at
          from daywalk.streams s
          join daywalk.windows w on w.stream_id = s.stream_id and w.state <> 'split'
         group by s.stream_id, w.day) as p
  left join daywalk.days c on c.stream_id = p.stream_id and c.day = p.day
  left join daywalk.prunings g on g.stream_id = p.stream_id and g.day = p.day and g.what = 'day'
  left join daywalk.day_errors e on e.stream_id = p.stream_id and e.day = p.day
 union all
select m.stream, m.resource, m.day, 'missing', 0, 0, 0, 0, 0, null, null, null, null, null
  from daywalk.missing_days m;

-- The rows of coverage that are not complete, found from the unfinished windows.
create view daywalk.gaps as
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
select m.stream, m.resource, m.day, 'missing', null, null
  from daywalk.missing_days m;

create view daywalk.quarantine as
select s.name as stream, p.day, p.walk_id, p.page_no, k.published, c.change ->> 'what' as what, c.change ->> 'path' as path,
       (c.change ->> 'offset')::bigint as "offset", c.change ->> 'found' as found, p.sha256, p.byte_count, p.bytes
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id
 cross join lateral jsonb_array_elements(p.changes) as c (change)
 where p.changes is not null;

create view daywalk.lateness as
select s.name as stream, w.day, d.after, d.appeared as records, d.found_at, d.walk_id
  from daywalk.differences d
  join daywalk.windows w on w.window_id = d.window_id
  join daywalk.streams s on s.stream_id = w.stream_id
 where d.appeared > 0;

create view daywalk.source_changes as
select s.name as stream, w.day, d.found_at, d.after, v.walk_id, v.page_no, v.position,
       (select p.body #> k.records_path -> (v.position - 1 + p.skip)
          from daywalk.pages p where p.walk_id = v.walk_id and p.page_no = v.page_no and p.day = k.day) as record
  from daywalk.vanished v
  join daywalk.walks k on k.walk_id = v.walk_id
  join daywalk.differences d on d.walk_id = v.found_by
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id;
