-- Search whose "nothing" counts: a filter for each page says which pages cannot hold a value, so that few are opened; and
-- the answer tells of which days it speaks. docs/search.md tells what a hit is. A page without a filter is opened, so that
-- what is found never depends on filters.

create table daywalk.page_filters (
  walk_id bigint not null references daywalk.walks,
  page_no integer not null,
  filter  bytea not null check (octet_length(filter) >= 32),
  primary key (walk_id, page_no)
);
-- Not compressed, which is in vain: so that single bytes of it can be read.
alter table daywalk.page_filters alter column filter set storage external;
comment on table daywalk.page_filters is 'A Bloom filter of the values of each page of the walks that are shown, so that a search opens few pages. It may be emptied at any time: what has none is opened.';
comment on column daywalk.page_filters.filter is 'Twenty bits for each value that the page holds, at least 256; eight of them are set for each (daywalk.filter_keys).';

create table daywalk.filter_places (
  stream_id integer primary key references daywalk.streams,
  seq       bigint not null
);
comment on table daywalk.filter_places is 'Up to which publication of a stream filters were made.';
comment on column daywalk.filter_places.seq is 'The number of the publication.';

-- The same value has the same keys on every server, so that filters stay good where a database is put onto another one.
-- Of the bits of a filter a value sets those at (start + i * step) mod its length, i from 0 to 7.
create function daywalk.filter_keys(terms text[]) returns table (start bigint, step bigint)
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select key & 4294967295, (key >> 32) & 4294967295 | 1
    -- Fenced, so that the digest is made once.
    from (select ('x' || left(encode(sha256(convert_to(term, 'UTF8')), 'hex'), 16))::bit(64)::bigint as key
            from unnest(terms) as term offset 0) as k;
end $$;

-- A number is filtered by its value, without zeros at its end: 5, 5.0 and 5e0 are one. It is called for each page, and in
-- PL/pgSQL its statements are planned once and an array is changed in place.
create function daywalk.filter_of(list jsonb) returns bytea
language plpgsql immutable set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  terms constant text[] := array(
    select case jsonb_typeof(value) when 'number' then trim_scale((value #>> '{}')::numeric)::text else value #>> '{}' end
      from (select distinct v.value
              from jsonb_array_elements(case jsonb_typeof(list) when 'array' then list else '[]' end) as r (record)
             -- The leaves of a record; a record that is a scalar has none.
             cross join lateral (select jsonb_path_query(r.record, 'strict $.**{last}')
                                  union all
                                 select r.record where jsonb_typeof(r.record) not in ('object', 'array')) as v (value)) as leaf
     where jsonb_typeof(value) in ('string', 'number', 'boolean'));
  bytes integer[] := array_fill(0, array[greatest(32, ceil(cardinality(terms) * 2.5)::integer)]);
  length constant bigint := cardinality(bytes) * 8;
  start bigint;
  step bigint;
  bit integer;
begin
  for start, step in select k.start, k.step from daywalk.filter_keys(terms) as k loop
    for i in 0 .. 7 loop
      bit := (start + i * step) % length;
      bytes[bit / 8 + 1] := bytes[bit / 8 + 1] | (1 << bit % 8);
    end loop;
  end loop;
  return (select string_agg(set_byte('\x00', 0, byte), '' order by n) from unnest(bytes) with ordinality as b (byte, n));
end $$;

-- One walk at a time, so that it waits for one lock and holds one: a pruning that begins meanwhile waits for this, and none
-- leaves a filter behind. Returns how many pages were looked at; 0: none of the day lacks a filter; null: another process
-- makes filters of the stream.
create function daywalk.make_filters(of_stream integer, on_day date, most_bytes bigint) returns integer
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  due daywalk.walks;
  page_nos integer[];
begin
  perform daywalk.need_read_committed();
  if not pg_try_advisory_xact_lock(hashtext('daywalk.filters'), of_stream) then return null; end if;
  select k.* into due
    from daywalk.windows w
    join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
   where w.stream_id = of_stream and w.day = on_day
     and exists (select from daywalk.pages p where p.walk_id = k.walk_id and p.day = k.day
                    and not exists (select from daywalk.page_filters f where f.walk_id = p.walk_id and f.page_no = p.page_no))
   order by k.walk_id limit 1
     for share of k;
  if not found then return 0; end if;
  select array_agg(n.page_no) into page_nos
    from (select p.page_no, sum(p.byte_count) over (order by p.page_no) - p.byte_count as before
            from (select p.page_no, p.byte_count from daywalk.pages p
                   where p.walk_id = due.walk_id and p.day = due.day
                     and not exists (select from daywalk.page_filters f where f.walk_id = p.walk_id and f.page_no = p.page_no)
                   order by p.page_no limit 256) as p) as n
   where n.before < most_bytes;
  insert into daywalk.page_filters (walk_id, page_no, filter)
  select p.walk_id, p.page_no, daywalk.filter_of(p.body #> due.records_path)
    from daywalk.pages p
   where p.walk_id = due.walk_id and p.day = due.day and p.page_no = any (page_nos)
  on conflict do nothing;
  return cardinality(page_nos);
end $$;

-- What a text may stand for in a record: the string, and the number or boolean that it reads as in JSON.
create function daywalk.sought(value text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  other jsonb := to_jsonb(value);
begin
  if value is null or value = '' then
    raise invalid_parameter_value using message = 'there is nothing to search for: the value is ' || case when value is null then 'null' else 'an empty text' end,
      hint = 'Name the whole value of a field, as 203.0.113.7.';
  end if;
  if value ~ '^(-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?|true|false)$' then
    begin
      other := value::jsonb;
    exception when numeric_value_out_of_range then
      -- No page holds such a number: its copy has the string.
      null;
    end;
  end if;
  return jsonb_build_object('text', value, 'other', other);
end $$;

-- Every day between two days, both inclusive: as daywalk.coverage says; open: not closed yet; unplanned: before the first
-- day of the stream, and not backfilled.
create function daywalk.day_states(of_stream integer, from_day date, to_day date) returns table (day date, state text)
language sql stable set search_path = pg_catalog, pg_temp set jit = off as $$
  select d::date, coalesce(c.state, case when daywalk.closed_at(d::date, s.time_zone, s.settle) > clock_timestamp() then 'open' else 'unplanned' end)
    from daywalk.streams s
   cross join generate_series(from_day::timestamp, to_day::timestamp, interval '1 day') as d
    left join (select c.stream, c.day, c.state from daywalk.coverage c where c.day between from_day and to_day) as c
      on c.stream = s.name and c.day = d::date
   where s.stream_id = of_stream
$$;

-- Refuses a range of days that is reversed or has no end.
create function daywalk.check_range(from_day date, to_day date) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if from_day > to_day then
    raise invalid_parameter_value using message = format('the range of days is reversed: from %s to %s', from_day, to_day);
  elsif not isfinite(from_day) or not isfinite(to_day) or to_day - from_day > 36525 then
    raise invalid_parameter_value using message = format('the range from %s to %s is longer than a hundred years', from_day, to_day);
  end if;
end $$;

-- The first ten of some days, and how many more there are.
create function daywalk.first_ten(days text[]) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select array_to_string(days[:10], ', ') || case when cardinality(days) > 10 then format(' and %s more', cardinality(days) - 10) else '' end
$$;

-- It reads with the rights of the owner, as the views do. As a condition of a query it is asked once, and sees what the query sees.
create function daywalk.require_complete(stream text, from_day date, to_day date, tiered boolean default false) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  id constant integer := (select s.stream_id from daywalk.streams s where s.name = stream);
  unproven text[];
  elsewhere text[];
begin
  if stream is null or from_day is null or to_day is null then
    raise invalid_parameter_value using message = 'daywalk.require_complete needs a stream, a first day and a last day, and one of them is null';
  elsif id is null then
    raise invalid_parameter_value using message = format('there is no stream %L', stream),
      hint = 'The streams are those of daywalk.coverage.';
  end if;
  perform daywalk.check_range(from_day, to_day);
  select array_agg(d.day || ' ' || case when d.state in ('complete', 'tiered') then 'damaged' else d.state end order by d.day) into unproven
    from daywalk.day_states(id, from_day, to_day) as d
   where d.state not in ('complete', 'tiered')
      -- A month that was emptied, or detached, has nothing for anybody any more, also in a transaction by whose one state it is kept.
      or d.day in (select k.day from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
                    where w.stream_id = id and (w.day between from_day and to_day or w.midnight = from_day - 1) and k.pages > 0
                      and (select p.walk_id from daywalk.pages p where p.walk_id = k.walk_id and p.day = k.day limit 1) is null);
  if unproven is not null then
    raise exception '% of % days of % are not proven: %', cardinality(unproven), to_day - from_day + 1, stream, daywalk.first_ten(unproven)
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'daywalk gaps lists what is missing, with the command that fills it. pruned: it was proven, and is not kept any more. damaged: its pages are gone, maybe since this transaction began. open: it is not closed yet. unplanned: daywalk backfill walks it.';
  end if;
  if tiered then
    return true;
  end if;
  select array_agg(t.day || ' in ' || t.place order by t.day) into elsewhere
    from daywalk.tiered_days t where t.stream_id = id and t.day between from_day and to_day;
  if elsewhere is not null then
    raise exception '% of % days of % are proven, and not in this database any more: %', cardinality(elsewhere), to_day - from_day + 1, stream,
        daywalk.first_ten(elsewhere)
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'daywalk tier --restore brings them back; docs/tier.md tells how to query them where they are: then say tiered => true.';
  end if;
  return true;
end $$;
comment on function daywalk.require_complete is 'True, where every day of the stream between two days, both inclusive, is proven and can be read here, or with tiered => true in the tier; otherwise it raises, and names the days.';

-- For each day of a range its state, and the pages that may hold what is sought. damaged: the day is complete, and pages of
-- it are gone, so that nothing can be said. Without a first day: from the first one that was not pruned; without a last
-- day: up to the last one of the coverage.
create function daywalk.pages_to_open(sought jsonb, of_stream integer, from_day date, to_day date)
returns table (day date, state text, walk_ids bigint[], page_nos integer[])
language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_custom_plan as $$
declare
  starts bigint[];
  steps bigint[];
begin
  select coalesce(pages_to_open.from_day, min(c.day) filter (where c.state <> 'pruned')), coalesce(pages_to_open.to_day, max(c.day))
    into from_day, to_day
    from daywalk.streams s join daywalk.coverage c on c.stream = s.name
   where s.stream_id = of_stream and (pages_to_open.from_day is null or pages_to_open.to_day is null);
  -- An end that was not named may lie before the one that was: there is no day between them.
  if from_day is null or to_day is null or from_day > to_day then return; end if;
  perform daywalk.check_range(from_day, to_day);
  select array_agg(k.start), array_agg(k.step) into starts, steps
    from daywalk.filter_keys(array[
           sought ->> 'text',
           case jsonb_typeof(sought -> 'other') when 'number' then trim_scale((sought ->> 'other')::numeric)::text else sought ->> 'text' end]) as k;
  return query
  with walk as materialized (
    select k.walk_id, k.day, k.pages
      from daywalk.windows w
      join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
     where w.stream_id = of_stream and (w.day between from_day and to_day or w.midnight = from_day - 1)
  ), page as materialized (
    select p.day, p.walk_id, p.page_no,
           f.filter is null or exists (
             select from unnest(starts, steps) as k (start, step)
             -- A byte at a time: a large filter is not read whole. The first bit rules most out, for less than the query below.
             cross join lateral (select octet_length(f.filter) * 8 as bits offset 0) as size
              where get_byte(substr(f.filter, (k.start % size.bits / 8)::integer + 1, 1), 0) >> (k.start % size.bits % 8)::integer & 1 = 1
                and not exists (
                select from generate_series(1, 7) as i
                 cross join lateral (select (k.start + i * k.step) % size.bits as bit) as place
                 where get_byte(substr(f.filter, (place.bit / 8)::integer + 1, 1), 0) >> (place.bit % 8)::integer & 1 = 0)) as may_hold
      from walk k
      join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.day between from_day and to_day
      left join daywalk.page_filters f on f.walk_id = p.walk_id and f.page_no = p.page_no
  ), stored as (
    select p.day, count(*) as pages, array_agg(p.walk_id order by p.walk_id, p.page_no) filter (where p.may_hold) as walk_ids,
           array_agg(p.page_no order by p.walk_id, p.page_no) filter (where p.may_hold) as page_nos
      from page p group by p.day
  ), due as (
    select k.day, sum(k.pages) as pages from walk k group by k.day
  )
  select d.day, case when d.state = 'complete' and coalesce(due.pages, 0) <> coalesce(stored.pages, 0) then 'damaged' else d.state end,
         coalesce(stored.walk_ids, '{}'), coalesce(stored.page_nos, '{}')
    from daywalk.day_states(of_stream, from_day, to_day) as d
    left join due on due.day = d.day
    left join stored on stored.day = d.day
   order by d.day;
end $$;

-- Where in a record it stands, as SQL/JSON paths: at most ten.
create function daywalk.paths_of(record jsonb, sought jsonb) returns text[]
language sql immutable set search_path = pg_catalog, pg_temp set jit = off as $$
  with recursive node as (
    select '$' as path, record as value
     union all
    select n.path || child.step, child.value
      from node n
     cross join lateral (
       select case when key ~ '^[A-Za-z_][A-Za-z0-9_]*$' then '.' || key else '.' || to_json(key) end as step, value
         from jsonb_each(case jsonb_typeof(n.value) when 'object' then n.value else '{}' end)
        union all
       select '[' || (position - 1) || ']', value
         from jsonb_array_elements(case jsonb_typeof(n.value) when 'array' then n.value else '[]' end) with ordinality as e (value, position)
     ) as child
  )
  select array(select path from node where value in (sought -> 'text', sought -> 'other') order by length(path), path collate "C" limit 10)
$$;

-- The records of a page that are shown and hold what is sought.
create function daywalk.hits_on(sought jsonb, on_day date, of_walk bigint, of_page integer)
returns table (paths text[], record jsonb, "position" bigint, fetched_at timestamptz, first_seen timestamptz, gone_since timestamptz, revision integer)
language sql stable set search_path = pg_catalog, pg_temp set jit = off as $$
  select daywalk.paths_of(s.record, sought), s.record, s.position, s.fetched_at, s.first_seen, s.gone_since, s.revision
    from daywalk.shown_records s
   where s.day = on_day and s.walk_id = of_walk and s.page_no = of_page
     and jsonb_path_exists(s.record, 'strict $.** ? (@ == $text || @ == $other)', sought)
   order by s.position
$$;

-- It reads with the rights of the owner, as the views do. Days of which "nothing" would not count are told by a warning, as is a stream without any;
-- daywalk.require_complete in the same query makes an error of them.
create function daywalk.search(value text, from_day date default null, to_day date default null, in_stream text default null)
returns table (stream text, day date, paths text[], record jsonb, walk_id bigint, page_no integer, "position" bigint,
               fetched_at timestamptz, first_seen timestamptz, gone_since timestamptz, revision integer)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  what constant jsonb := daywalk.sought(value);
  found record;
  days bigint := 0;
  unproven text[] := '{}';
  nowhere text[] := '{}';
begin
  if in_stream is not null and not exists (select from daywalk.streams s where s.name = in_stream) then
    raise invalid_parameter_value using message = format('there is no stream %L', in_stream),
      hint = 'The streams are those of daywalk.coverage.';
  end if;
  perform daywalk.check_range(from_day, to_day);
  for found in
    select s.name, d.day, d.state, d.walk_ids, d.page_nos
      from daywalk.streams s
      left join lateral daywalk.pages_to_open(what, s.stream_id, from_day, to_day) as d on true
     where in_stream is null or s.name = in_stream
     order by s.name, d.day
  loop
    if found.day is null then
      nowhere := nowhere || found.name::text;
      continue;
    end if;
    days := days + 1;
    if found.state <> 'complete' then unproven := unproven || format('%s %s %s', found.name, found.day, found.state); end if;
    if cardinality(found.walk_ids) > 0 then
      return query
      select found.name, found.day, h.paths, h.record, o.walk_id, o.page_no, h.position, h.fetched_at, h.first_seen, h.gone_since, h.revision
        from unnest(found.walk_ids, found.page_nos) as o (walk_id, page_no)
       cross join lateral daywalk.hits_on(what, found.day, o.walk_id, o.page_no) as h;
    end if;
  end loop;
  if cardinality(nowhere) > 0 then
    raise warning 'no day was searched of %: there is none that is closed, exported and kept', daywalk.first_ten(nowhere);
  end if;
  if cardinality(unproven) > 0 then
    raise warning '% of % days are not proven, or are tiered, so that it may be there and was not found: %', cardinality(unproven), days, daywalk.first_ten(unproven);
  end if;
end $$;
comment on function daywalk.search is 'The shown records that hold a value anywhere, in all streams or one, between two days; warnings name the days that are not proven, and the streams of which there was no day.';

-- The feed, for whoever keeps a copy of the records: docs/queries.md tells how to follow it.
create view daywalk.feed as
select s.name as stream, p.seq, p.key, p.day, p.revision, p.records, p.appeared, p.gone, p.published_at
  from daywalk.publications p
  join daywalk.streams s on s.stream_id = p.stream_id;
comment on view daywalk.feed is 'One row whenever what is shown of a day changes, numbered without a gap in each stream.';
comment on column daywalk.feed.seq is '1, 2, 3 … within the stream; a row that is seen has all lower ones before it.';
comment on column daywalk.feed.key is 'Random: the same number with another key is another history, that of a database that was put back.';
comment on column daywalk.feed.day is 'The day of the source''s calendar; read it again, whole.';
comment on column daywalk.feed.revision is '1, 2, 3 … within the day.';
comment on column daywalk.feed.records is 'Records that are shown from then on; 0 of a day that was pruned or moved.';
comment on column daywalk.feed.gone is 'Records that are gone since this publication.';

revoke execute on all routines in schema daywalk from public;
