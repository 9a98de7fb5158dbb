-- The views: the only read contract. They show published walks only.

create view daywalk.events as
select s.name as stream, p.day, r.record, p.walk_id, p.page_no, (p.start + r.position - 1) as position, p.fetched_at
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.published
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'events'
  left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position)
 where r.position > p.skip and (o.positions is null or r.position - p.skip <> all (o.positions));

create view daywalk.smart_events as
select s.name as stream, p.day, r.record, p.walk_id, p.page_no, (p.start + r.position - 1) as position, p.fetched_at
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.published
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'smart-event'
  left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position)
 where r.position > p.skip and (o.positions is null or r.position - p.skip <> all (o.positions));

-- A day D is closed when the source's clock, less the settle delay, shows a later day.
create view daywalk.coverage as
with days as (
  select s.stream_id, d.day::date as day
    from daywalk.streams s
   cross join lateral generate_series(
     s.since::timestamp,
     (((clock_timestamp() - s.settle) at time zone s.time_zone)::date - 1)::timestamp,
     interval '1 day') as d (day)
  union
  select stream_id, day from daywalk.windows
), parts as (
  select w.stream_id, w.day,
         count(*)::integer as windows,
         (count(*) filter (where w.state = 'complete'))::integer as complete_windows,
         bool_and(w.state = 'complete') as complete,
         bool_or(w.state = 'failed') as failed,
         bool_or(w.lease_expires > clock_timestamp()) as running,
         max(w.completed_at) as completed_at,
         max(w.checked_at) as checked_at,
         min(w.due_at) as due_at,
         (array_agg(w.last_error order by w.last_failed_at desc) filter (where w.last_error is not null))[1] as last_error
    from daywalk.windows w
   where w.state <> 'split'
   group by w.stream_id, w.day
), shown as (
  select w.stream_id, k.day,
         sum(k.records - coalesce(o.hidden, 0))::bigint as records,
         sum(k.pages)::bigint as pages,
         sum(k.bytes)::bigint as bytes,
         string_agg(distinct k.proof ->> 'kind', ', ') as proof
    from daywalk.walks k
    join daywalk.windows w on w.window_id = k.window_id
    left join (select walk_id, sum(cardinality(positions)) as hidden from daywalk.overlaps group by walk_id) as o
      on o.walk_id = k.walk_id
   where k.published
   group by w.stream_id, k.day
)
select s.name as stream, s.resource, d.day,
       case when p.complete then 'complete'
            when p.running then 'running'
            when p.failed then 'failed'
            when p.windows is not null then 'pending'
            else 'missing' end as state,
       coalesce(p.windows, 0) as windows,
       coalesce(p.complete_windows, 0) as complete_windows,
       coalesce(r.records, 0) as records,
       coalesce(r.pages, 0) as pages,
       coalesce(r.bytes, 0) as bytes,
       r.proof,
       case when p.complete then p.completed_at end as completed_at,
       p.checked_at,
       p.due_at,
       p.last_error
  from days d
  join daywalk.streams s on s.stream_id = d.stream_id
  left join parts p on p.stream_id = d.stream_id and p.day = d.day
  left join shown r on r.stream_id = d.stream_id and r.day = d.day;

create view daywalk.gaps as
select stream, resource, day, state, due_at, last_error
  from daywalk.coverage
 where state <> 'complete';

create view daywalk.quarantine as
select s.name as stream, p.day, p.walk_id, p.page_no, k.published, c.change ->> 'what' as what, c.change ->> 'path' as path,
       (c.change ->> 'offset')::bigint as "offset", c.change ->> 'found' as found, p.sha256, p.byte_count, p.bytes
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id
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
