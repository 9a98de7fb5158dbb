-- The views: the only read contract. They leave out what is pruned from the moment on at which it is marked.

-- A time in a record as an instant; null where it is none that is understood, never a guess and never an error: ISO 8601
-- (RFC 3339), seconds, milliseconds, microseconds or nanoseconds since 1970 by their number of digits, or what a format says
-- (a pattern, and what it is to be replaced by so that it is ISO 8601). Without an offset it is of the time zone. What is
-- finer than a microsecond is cut off, and not rounded up into the next day.
create function daywalk.time_of(value jsonb, zone text, format text[]) returns timestamptz
language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  said text := value #>> '{}';
  number bigint;
  month integer;
begin
  if said is null then return null; end if;
  if format is not null then
    if said !~ format[1] then return null; end if;
    said := regexp_replace(said, format[1], format[2]);
    month := array_position('{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}', lower(substring(said from '^[0-9]{4}-([A-Za-z]{3})-')));
    if month is not null then said := overlay(said placing lpad(month::text, 2, '0') from 6 for 3); end if;
  end if;
  if said ~ '^(?!0000)[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-9]))([Tt ](([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?|:60([.,]0+)?)?|24:00(:00([.,]0+)?)?)( ?([Zz]|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?))?)?$' then
    if substr(said, 6, 5) = '02-29' and extract(day from make_date(substr(said, 1, 4)::integer, 3, 1) - 1) <> 29 then return null; end if;
    said := regexp_replace(said, '[.,]([0-9]{1,6})[0-9]*', '.\1');
    if said ~ '[Zz]$|[0-9:] ?[+-][0-9:]{2,5}$' and length(said) > 16 then return said::timestamptz; end if;
    return said::timestamp at time zone zone;
  end if;
  if format is null and said ~ '^([0-9]{9,10}|[0-9]{12,13}|[0-9]{15,16}|[0-9]{18,19})([.][0-9]+)?$' then
    number := case length(split_part(said, '.', 1)) / 3 * 3
                when 9 then trunc(said::numeric * 1000000) when 12 then trunc(said::numeric * 1000)
                when 15 then trunc(said::numeric) else trunc(said::numeric / 1000) end;
    return timestamptz 'epoch' + number / 1000000 * interval '1 second' + number % 1000000 * interval '1 microsecond';
  end if;
  return null;
end $$;
comment on function daywalk.time_of is 'A time in a record as an instant; null where it is none that is understood.';

-- What is shown: a record of a walk that is shown whole, unless a mark hides it or a newer version of it is shown; of a
-- walk that is shown in part only what is marked. Whatever reads records reads them from here.
--
-- The condition on skip is written as a case: where it is a comparison, Postgres expects to expand the same page again, and
-- keeps a copy of its records for that (Memoize), which takes two to three times as long.
create view daywalk.shown_records as
select s.stream_id, s.name as stream, s.resource, p.day, daywalk.time_of(r.record #> s.time_path, s.time_zone, s.time_format) as at, r.record, p.walk_id, p.page_no, (r.position - p.skip)::integer as place,
       (p.start + r.position - 1) as position, p.fetched_at, coalesce(mark.first_seen, p.fetched_at) as first_seen,
       case when mark.state = 'gone' then mark.since end as gone_since, coalesce(mark.revision, 1) as revision,
       case when k.shared then not exists (select from daywalk.shared_records x
                                            where x.walk_id = p.walk_id and x.page_no = p.page_no and x.place = r.position - p.skip)
            else true end as leads, mark.stood_on
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.shown <> 'no' and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id
 cross join lateral jsonb_array_elements(p.body #> k.records_path) with ordinality as r (record, position)
  left join daywalk.marks mark on mark.walk_id = p.walk_id and mark.page_no = p.page_no and mark.position = r.position - p.skip
   and mark.day = p.day
 where p.records > 0
   and case when p.skip = 0 then true else r.position > p.skip end
   and coalesce(mark.seen, k.shown = 'whole');
comment on view daywalk.shown_records is 'Every record that is shown, of every stream: one that several streams show stands here once for each. Filter on day, it prunes partitions.';
comment on column daywalk.shown_records.leads is 'The views of the resource show it; false: there it is another stream''s.';
comment on column daywalk.shown_records.stood_on is 'The day under which it was shown until that was pruned; null: none.';

create view daywalk.events as
select stream, day, at, record, walk_id, page_no, position, fetched_at, first_seen, gone_since, revision
  from daywalk.shown_records where resource = 'events' and leads;
comment on view daywalk.events is 'One row per event: every one that was ever proven, once, whatever streams there are. Filter on day, it prunes partitions.';

create view daywalk.smart_events as
select stream, day, at, record, walk_id, page_no, position, fetched_at, first_seen, gone_since, revision
  from daywalk.shown_records where resource = 'smart-event' and leads;
comment on view daywalk.smart_events is 'One row per smart event: every one that was ever proven, once, whatever streams there are. Filter on day, it prunes partitions.';

create view daywalk.events_now as
select stream, resource, day, at, record, walk_id, page_no, position, fetched_at, first_seen, revision
  from daywalk.shown_records r where gone_since is null and leads
   and not exists (select from daywalk.days d where d.stream_id = r.stream_id and d.day = r.day and d.retired_since is not null);
comment on view daywalk.events_now is 'The records of all streams that the source shows today, as far as it was asked; none of days that it was found not to keep any more. Filter on day, it prunes partitions.';

create view daywalk.time_faults as
select r.stream, r.day, r.record #> s.time_path as found, r.walk_id, r.page_no, r.position
  from daywalk.shown_records r join daywalk.streams s on s.stream_id = r.stream_id and s.time_path is not null
 where r.at is null;
comment on view daywalk.time_faults is 'Records whose time is not understood, so that at is null; filter on day.';
comment on column daywalk.time_faults.found is 'What stands at the time_path; null: nothing.';

-- A stream with filters has a view of its own, named after it; made when the stream is planned first, by any worker.
create function daywalk.show_stream(called text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  relation text := left('stream_' || replace(called, '-', '_'), 63);
begin
  if not exists (select from daywalk.streams where name = called) or to_regclass('daywalk.' || quote_ident(relation)) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('daywalk.show_stream'));
  execute format('create or replace view daywalk.%I as select day, at, record, walk_id, page_no, position, fetched_at, first_seen, gone_since, revision
                    from daywalk.shown_records where stream = %L', relation, called);
  execute format('comment on view daywalk.%I is %L', relation, 'The records of the stream ' || called || '; columns as in daywalk.events.');
  perform daywalk.let_read_too(relation, 'events');
end $$;

create view daywalk.record_versions as
select s.name as stream, s.resource, p.day, r.record #>> s.id_path as id, mark.revision, r.record, mark.since as replaced_at,
       p.fetched_at, p.walk_id, p.page_no, (p.start + p.skip + mark.position - 1) as position
  from daywalk.marks mark
  join daywalk.walks k on k.walk_id = mark.walk_id and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id
  join daywalk.pages p on p.walk_id = mark.walk_id and p.page_no = mark.page_no and p.day = mark.day
 cross join lateral (select p.body #> k.records_path -> (p.skip + mark.position - 1) as record) as r
 where mark.state = 'old' and mark.hidden_by is null
 order by s.name, id, mark.revision desc, mark.since desc;
comment on view daywalk.record_versions is 'Older versions of records that are shown in a newer one, newest first; for streams with an id_path.';
comment on column daywalk.record_versions.id is 'What identifies the record.';
comment on column daywalk.record_versions.revision is '1 of the first version, and one more for each newer one.';
comment on column daywalk.record_versions.record is 'The record as it was.';
comment on column daywalk.record_versions.replaced_at is 'Since when a newer version is shown.';
comment on column daywalk.record_versions.fetched_at is 'When its page arrived.';

-- The closed days from a stream's first one to its last one, if it has one, that have no window. A day D is closed when the
-- source's clock, less the settle delay, shows a later day. Most streams lack none: that is counted, and only else they are
-- looked at day by day.
create view daywalk.missing_days as
select s.stream_id, s.name as stream, s.resource, d.day::date as day
  from daywalk.streams s
 cross join lateral (select least(((clock_timestamp() - s.settle) at time zone s.time_zone)::date - 1, s.until) as last_day) as c
 cross join lateral generate_series(s.since::timestamp, c.last_day::timestamp, interval '1 day') as d (day)
 where (select count(*) from daywalk.windows w
         where w.stream_id = s.stream_id and w.kind = 'day' and w.day between s.since and c.last_day) <= c.last_day - s.since
   and not exists (select from daywalk.windows w where w.stream_id = s.stream_id and w.kind = 'day' and w.day = d.day::date);
comment on view daywalk.missing_days is 'The closed days that a stream wants and that have no window; the coverage and the gaps are made of it.';

-- The days that are not complete, of those that have a window: a window of the day is not, or a cut at one of its ends. One that is
-- pruned, or moved, was complete: a cut that is a window of the day beside it says nothing of it any more.
create view daywalk.unfinished_days as
select u.stream_id, u.day, bool_or(u.state = 'failed') as failed, coalesce(bool_or(u.lease_expires > clock_timestamp()), false) as running,
       min(u.due_at) as due_at
  from (select w.stream_id, w.day, w.state, w.lease_expires, w.due_at
          from daywalk.windows w where w.state in ('pending', 'failed', 'split')
         union all
        select w.stream_id, side.day, w.state, w.lease_expires, w.due_at
          from daywalk.windows w
         cross join lateral unnest(array[w.midnight, w.midnight + 1]) as side (day)
         where w.state in ('pending', 'failed') and w.midnight is not null and side.day <> w.day
           and not exists (select from daywalk.prunings g where g.stream_id = w.stream_id and g.day = side.day and g.what = 'day')) as u
 where exists (select from daywalk.windows d where d.stream_id = u.stream_id and d.day = u.day and d.kind = 'day')
 group by u.stream_id, u.day;
comment on view daywalk.unfinished_days is 'The days with a window that are not complete; the coverage and the gaps are made of it.';
comment on column daywalk.unfinished_days.failed is 'One of its windows failed.';
comment on column daywalk.unfinished_days.running is 'A worker holds one of them.';
comment on column daywalk.unfinished_days.due_at is 'When the first of them is due.';

-- The newest error of each day that has any; few days do, so they are joined and not looked for in every window.
create view daywalk.day_errors as
select distinct on (stream_id, day) stream_id, day, last_error
  from (select stream_id, day, last_error, last_failed_at from daywalk.windows where last_error is not null
         union all
        -- A day is not complete without the cuts at its ends.
        select w.stream_id, side.day, w.last_error, w.last_failed_at
          from daywalk.windows w
         cross join lateral unnest(array[w.midnight, w.midnight + 1]) as side (day)
         where w.last_error is not null and w.midnight is not null and side.day <> w.day
           and not exists (select from daywalk.prunings g where g.stream_id = w.stream_id and g.day = side.day and g.what = 'day')) as errors
 order by stream_id, day, last_failed_at desc;
comment on view daywalk.day_errors is 'The newest error of each day whose windows have any; the coverage is made of it.';

-- Grouped by stream and day, in the order of an index, with the name inside: a question about few days reads few windows.
create view daywalk.coverage as
select p.stream, p.resource, p.day,
       case when u.running then 'running'
            when u.failed then 'failed'
            when u.day is not null then 'pending'
            when t.day is not null then 'tiered'
            when g.day is not null then 'pruned'
            else 'complete' end as state,
       p.windows, p.complete_windows,
       coalesce(c.records, 0) as records,
       coalesce(c.gone, 0) as gone,
       coalesce(c.pages, 0) as pages,
       coalesce(c.bytes, 0) as bytes,
       c.proof,
       case when u.day is null then p.looks end as looks,
       case when u.day is null then p.proven_at end as completed_at,
       p.looked_at, coalesce(u.due_at, p.due_at) as due_at, c.retired_since, e.last_error
  from (select s.stream_id, s.name as stream, s.resource, w.day,
               count(*)::integer as windows,
               (count(*) filter (where w.state = 'complete'))::integer as complete_windows,
               greatest(min(w.looks) filter (where w.kind = 'day'), min(w.looks) filter (where w.kind = 'part' and w.split_by is null)) as looks,
               max(w.proven_at) as proven_at,
               max(w.looked_at) as looked_at,
               min(w.due_at) as due_at,
               bool_or(w.kind = 'day') as planned
          from daywalk.streams s
          join daywalk.windows w on w.stream_id = s.stream_id and w.state <> 'replaced'
         group by s.stream_id, w.day) as p
  left join daywalk.unfinished_days u on u.stream_id = p.stream_id and u.day = p.day
  left join daywalk.days c on c.stream_id = p.stream_id and c.day = p.day
  left join daywalk.prunings g on g.stream_id = p.stream_id and g.day = p.day and g.what = 'day'
  left join daywalk.tiered_days t on t.stream_id = p.stream_id and t.day = p.day
  left join daywalk.day_errors e on e.stream_id = p.stream_id and e.day = p.day
 where p.planned
 union all
select m.stream, m.resource, m.day, 'missing', 0, 0, 0, 0, 0, 0, null, null, null, null, null, null, null
  from daywalk.missing_days m;
comment on view daywalk.coverage is 'One row per stream and closed day from the stream''s first day (since) to its last one (until), and per backfilled day.';
comment on column daywalk.coverage.state is 'complete: every window of the day and the cuts at both its ends are proven; running, failed, pending: see there; missing: not planned yet; tiered: it is complete, and its records moved to a folder or bucket (daywalk.tiered_days); pruned: it was complete, and is not kept any more.';
comment on column daywalk.coverage.windows is 'Windows of the day, and the cuts in it and at its end.';
comment on column daywalk.coverage.complete_windows is 'How many of them are complete.';
comment on column daywalk.coverage.records is 'Records that are shown; of a tiered day those that moved.';
comment on column daywalk.coverage.gone is 'Those among them that the source does not show any more.';
comment on column daywalk.coverage.pages is 'Pages of the walks that are shown.';
comment on column daywalk.coverage.bytes is 'Bytes received for them.';
comment on column daywalk.coverage.proof is 'Kind of proof: empty, total, probe, halves, union or parts; docs/completeness.md says what each is worth.';
comment on column daywalk.coverage.looks is 'How often the day was looked at since, and found as it is stored.';
comment on column daywalk.coverage.completed_at is 'When the newest of its proofs was made.';
comment on column daywalk.coverage.due_at is 'When a window of the day is to be walked or looked at next.';
comment on column daywalk.coverage.retired_since is 'When it was found that the source does not keep the day any more.';

-- The rows of coverage that are not complete, found from the unfinished windows. What was planned or proven by another time zone or
-- settle delay, and by those of now is not closed, waits until it is, and is no gap: nobody could fill it.
create view daywalk.gaps as
select s.name as stream, s.resource, u.day,
       case when u.running then 'running' when u.failed then 'failed' else 'pending' end as state,
       u.due_at, e.last_error
  from daywalk.unfinished_days u
  join daywalk.streams s on s.stream_id = u.stream_id
  left join daywalk.day_errors e on e.stream_id = u.stream_id and e.day = u.day
 where daywalk.closed_at(u.day, s.time_zone, s.settle) <= clock_timestamp()
 union all
select m.stream, m.resource, m.day, 'missing', null, null
  from daywalk.missing_days m;
comment on view daywalk.gaps is 'The closed days that are not complete.';
comment on column daywalk.gaps.state is 'running, failed, pending or missing.';
comment on column daywalk.gaps.due_at is 'When a window of the day is to be walked next.';

create view daywalk.quarantine as
select s.name as stream, p.day, p.walk_id, p.page_no, k.shown <> 'no' as shown, c.change ->> 'what' as what, c.change ->> 'path' as path,
       (c.change ->> 'offset')::bigint as "offset", c.change ->> 'found' as found, p.sha256, p.byte_count, p.bytes
  from daywalk.pages p
  join daywalk.walks k on k.walk_id = p.walk_id and k.pruning is null
  join daywalk.windows w on w.window_id = k.window_id
  join daywalk.streams s on s.stream_id = w.stream_id
 cross join lateral jsonb_array_elements(p.changes) as c (change)
 where p.changes is not null;
comment on view daywalk.quarantine is 'What was changed in the repaired copies of pages that jsonb cannot hold.';
comment on column daywalk.quarantine.shown is 'The views show records of the walk.';
comment on column daywalk.quarantine.what is 'Kind of change: nul, surrogate, utf8, utf16, bom, number, depth, more.';
comment on column daywalk.quarantine.path is 'Where in the body.';
comment on column daywalk.quarantine."offset" is 'Byte offset of the changed value in the bytes received.';
comment on column daywalk.quarantine.found is 'The beginning of what stood there.';
comment on column daywalk.quarantine.sha256 is 'SHA-256 of the bytes received.';
comment on column daywalk.quarantine.byte_count is 'How many bytes were received.';
comment on column daywalk.quarantine.bytes is 'The exact bytes received.';

create view daywalk.lateness as
select s.name as stream, p.day, p.published_at - daywalk.closed_at(p.day, s.time_zone, s.settle) as after, p.appeared as records,
       p.published_at as found_at
  from daywalk.publications p
  join daywalk.streams s on s.stream_id = p.stream_id
 where p.appeared > 0;
comment on view daywalk.lateness is 'How late records came: how many appeared how long after their day had closed.';
comment on column daywalk.lateness.after is 'How long after the day had closed they were found.';
comment on column daywalk.lateness.records is 'How many.';
comment on column daywalk.lateness.found_at is 'When they were found.';
