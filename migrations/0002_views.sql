-- The views: the only read contract. They show published walks only.

create view daywalk.events as
select s.name as stream, p.day, r.record, p.walk_id, p.page_no, (p.start + r.position - 1) as position, p.fetched_at
  from daywalk.pages p
  join daywalk.windows w on w.published_walk = p.walk_id
  join daywalk.walks k on k.walk_id = p.walk_id
  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'events'
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position);

create view daywalk.smart_events as
select s.name as stream, p.day, r.record, p.walk_id, p.page_no, (p.start + r.position - 1) as position, p.fetched_at
  from daywalk.pages p
  join daywalk.windows w on w.published_walk = p.walk_id
  join daywalk.walks k on k.walk_id = p.walk_id
  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'smart-event'
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position);

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
         sum(k.records)::bigint as records,
         sum(k.pages)::bigint as pages,
         sum(k.bytes)::bigint as bytes,
         string_agg(distinct k.proof ->> 'kind', ', ') as proof,
         max(w.completed_at) as completed_at,
         min(w.due_at) as due_at,
         (array_agg(w.last_error order by w.last_failed_at desc) filter (where w.last_error is not null))[1] as last_error
    from daywalk.windows w
    left join daywalk.walks k on k.walk_id = w.published_walk
   where w.state <> 'split'
   group by w.stream_id, w.day
)
select s.name as stream, s.resource, d.day,
       case when p.complete then 'complete'
            when p.running then 'running'
            when p.failed then 'failed'
            when p.windows is not null then 'pending'
            else 'missing' end as state,
       coalesce(p.windows, 0) as windows,
       coalesce(p.complete_windows, 0) as complete_windows,
       coalesce(p.records, 0) as records,
       coalesce(p.pages, 0) as pages,
       coalesce(p.bytes, 0) as bytes,
       p.proof,
       case when p.complete then p.completed_at end as completed_at,
       p.due_at,
       p.last_error
  from days d
  join daywalk.streams s on s.stream_id = d.stream_id
  left join parts p on p.stream_id = d.stream_id and p.day = d.day;

create view daywalk.gaps as
select stream, resource, day, state, due_at, last_error
  from daywalk.coverage
 where state <> 'complete';
