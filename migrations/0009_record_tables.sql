-- Record tables: typed columns of the records of a stream, in tables that are kept in step with what the views show. Their
-- definitions come from the settings, applied by the owner of the schema (daywalk tables --apply); any worker keeps them in
-- step, a day in one transaction, through the functions below, which run with the owner's rights.
-- docs/decisions/0018-record-tables.md tells why.

create table daywalk.record_tables (
  table_id    integer generated always as identity primary key,
  name        text not null check (name ~ '^[a-z_][a-z0-9_]{0,39}$'),
  stream      text not null,
  columns     jsonb not null,
  keep_record boolean not null,
  outlives    boolean not null,
  retention   interval,
  state       text not null check (state in ('building', 'live')),
  trouble     text,
  unique (name, state)
);
comment on table daywalk.record_tables is 'The record tables: what the settings said when they were applied last. One whose definition changed is built beside the old one.';
comment on column daywalk.record_tables.table_id is 'Key.';
comment on column daywalk.record_tables.name is 'The name of the table in this schema.';
comment on column daywalk.record_tables.stream is 'The stream whose records it has.';
comment on column daywalk.record_tables.columns is 'Its columns in order: name, path, type, index, and how a time is written where that is no ISO 8601.';
comment on column daywalk.record_tables.keep_record is 'It has the records themselves, too.';
comment on column daywalk.record_tables.outlives is 'It has a retention of its own: a day stays in it when its pages are pruned.';
comment on column daywalk.record_tables.retention is 'How long after it closed a day stays; null: as long as its pages, or for ever where it outlives them.';
comment on column daywalk.record_tables.state is 'live: it is what its name says; building: it takes the place of the live one when it is in step.';
comment on column daywalk.record_tables.trouble is 'Why it could not take the place of the live one, in words; null: nothing is in the way.';

create table daywalk.table_days (
  table_id    integer not null references daywalk.record_tables on delete cascade,
  day         date not null,
  publication uuid not null,
  records     bigint not null,
  faults      bigint not null,
  synced_at   timestamptz not null,
  primary key (table_id, day)
);
comment on table daywalk.table_days is 'Which publication of a day a record table holds: where it is not the newest one, the day is replaced.';
comment on column daywalk.table_days.publication is 'The key of the publication, as in daywalk.publications.';
comment on column daywalk.table_days.records is 'Rows of the day.';
comment on column daywalk.table_days.faults is 'Values of the day that do not fit their types; they are null, and listed in daywalk.table_faults.';
comment on column daywalk.table_days.synced_at is 'When the day was replaced last.';

create table daywalk.misfits (
  table_id integer not null references daywalk.record_tables on delete cascade,
  day      date not null,
  "column" text not null,
  walk_id  bigint not null,
  page_no  integer not null,
  place    integer not null,
  found    text not null,
  reason   text not null
);
create index misfits_day on daywalk.misfits (table_id, day);
comment on table daywalk.misfits is 'Values that do not fit the type of their column; daywalk.table_faults shows them.';

create view daywalk.table_faults as
select t.name as "table", m."column", m.day, m.found, m.reason, m.walk_id, m.page_no, m.place
  from daywalk.misfits m join daywalk.record_tables t on t.table_id = m.table_id and t.state = 'live';
comment on view daywalk.table_faults is 'Values that do not fit the type of their column in a record table: there they are null.';
comment on column daywalk.table_faults."table" is 'The record table.';
comment on column daywalk.table_faults.walk_id is 'The walk; with page_no and place the row of the table.';

-- What is to be done so that the record tables of these streams are in step: days to replace, and days to drop because
-- their retention is over. Newest days first: those are asked for most.
create function daywalk.table_work(of_streams text[])
returns table (table_id integer, name text, stream text, day date, work text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select t.table_id, t.name, t.stream, d.day, case when late.over then 'drop' else 'replace' end
    from daywalk.record_tables t
    join daywalk.streams s on s.name = t.stream
    join daywalk.days d on d.stream_id = s.stream_id
    left join daywalk.table_days y on y.table_id = t.table_id and y.day = d.day
   cross join lateral (select coalesce(daywalk.closed_at(d.day, s.time_zone, s.settle) + t.retention <= clock_timestamp(), false) as over) as late
   where t.stream = any (of_streams)
     and case when late.over then y.records > 0
              else y.publication is distinct from d.publication
                   and not (t.outlives and exists (select from daywalk.prunings g
                                                    where g.stream_id = d.stream_id and g.day = d.day and g.what = 'day')) end
   order by d.day desc, t.table_id
$$;

create view daywalk.tables as
select t.name as "table", t.stream, t.state, coalesce(d.days, 0) as days, coalesce(d.records, 0) as records, coalesce(d.faults, 0) as faults,
       coalesce(w.days, 0) as behind,
       d.first_day, d.last_day, d.synced_at, t.trouble
  from daywalk.record_tables t
  left join (select table_id, count(*) filter (where records > 0) as days, sum(records)::bigint as records, sum(faults)::bigint as faults,
                    min(day) filter (where records > 0) as first_day, max(day) filter (where records > 0) as last_day, max(synced_at) as synced_at
               from daywalk.table_days group by table_id) as d on d.table_id = t.table_id
  left join (select table_id, count(*) as days from daywalk.table_work(array(select stream from daywalk.record_tables))
              group by table_id) as w on w.table_id = t.table_id;
comment on view daywalk.tables is 'How far each record table is in step with what is shown.';
comment on column daywalk.tables."table" is 'Its name.';
comment on column daywalk.tables.stream is 'The stream whose records it has.';
comment on column daywalk.tables.state is 'live: queries see it; building: it takes the place of the live one when it is in step.';
comment on column daywalk.tables.days is 'Days that it holds records of.';
comment on column daywalk.tables.records is 'Its rows.';
comment on column daywalk.tables.faults is 'Values that do not fit their types; daywalk.table_faults lists them.';
comment on column daywalk.tables.behind is 'Days that are not in step; 0: it is equal to what is shown of the days that it holds.';
comment on column daywalk.tables.first_day is 'The first day that it holds records of.';
comment on column daywalk.tables.last_day is 'The last one.';
comment on column daywalk.tables.synced_at is 'When it was changed last.';
comment on column daywalk.tables.trouble is 'Why it could not take the place of the live one; null: nothing is in the way.';

-- The table behind a definition: the name itself once it is live.
create function daywalk.relation_of(t daywalk.record_tables) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case t.state when 'live' then t.name else t.name || '_' || t.table_id end
$$;

-- Called where a value does not fit, so that the statement fails and the records are looked at one by one.
create function daywalk.misfit() returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  raise data_exception using message = 'a value does not fit its type';
end $$;

-- The expression that makes the value of a column; it fails where the value does not fit. said is the expression of its text,
-- value that of its jsonb. The commonest spelling of a time is told by its shape, which costs a tenth and means the same; a list
-- or an object by its bracket (91, 123).
-- What is too long for an index is asked here too, because some of it would fit when compressed: what a column has must not
-- depend on the records beside it.
create function daywalk.column_value(col jsonb, said text, value text, zone text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when col ->> 'type' in ('text', 'numeric') and (col ->> 'index')::boolean
              then format('case when octet_length(%s) > 2500 then daywalk.misfit()::%s else %s end', said, col ->> 'type', made.value) else made.value end
    from (select case col ->> 'type'
      when 'jsonb' then format('nullif(%s, ''null'')', value)
      when 'text' then format('case when ascii(%1$s) in (91, 123) and jsonb_typeof(%2$s) <> ''string'' then daywalk.misfit() else %1$s end', said, value)
      when 'timestamptz' then format('case %4$s when %1$s is not null then coalesce(daywalk.time_of(%2$s, %3$L, %5$L::text[]), daywalk.misfit()::timestamptz) end',
                                     said, value, zone,
                                     case when col -> 'format' = '[]' then format('when %1$s like ''____-__-__T__:__:__.%%'' and %1$s ~ ''^[-0-9:T]+[.][0-9]+[-+Z][0-9]*$''
                                       and (%1$s like ''%%Z'' and octet_length(%1$s) <= 27 or %1$s like ''%%+____'' and octet_length(%1$s) <= 31) then %1$s::timestamptz', said) else '' end,
                                     (select array_agg(f) from jsonb_array_elements_text(col -> 'format') as f))
      when 'date' then format('case when %1$s ~ ''^[0-9]{4}-[0-9]{2}-[0-9]{2}$'' then %1$s::date when %1$s is not null then daywalk.misfit()::date end', said)
      else format('%s::%s', said, case when col ->> 'type' in ('boolean', 'smallint', 'integer', 'bigint', 'numeric', 'inet', 'uuid') then col ->> 'type' end)
    end as value) as made
$$;

-- Why a value does not fit; null: it does. The index of a column has room for so much.
create function daywalk.reason_of(value jsonb, kind text, indexed boolean, zone text, format text[]) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  said text := value #>> '{}';
begin
  if said is null then return null; end if;
  if kind in ('text', 'numeric') and indexed and octet_length(said) > 2500 then return 'it is too long for an index: ' || octet_length(said) || ' bytes'; end if;
  case kind
    when 'jsonb' then null;
    when 'text' then if jsonb_typeof(value) in ('object', 'array') then return 'it is an ' || jsonb_typeof(value) || ', not a text'; end if;
    when 'timestamptz' then if daywalk.time_of(value, zone, format) is null then return 'it is no time that is understood'; end if;
    when 'date' then
      if said !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then return 'it is no date such as 2026-03-01'; end if;
      perform said::date;
    when 'boolean' then perform said::boolean;
    when 'smallint' then perform said::smallint;
    when 'integer' then perform said::integer;
    when 'bigint' then perform said::bigint;
    when 'numeric' then perform said::numeric;
    when 'inet' then perform said::inet;
    when 'uuid' then perform said::uuid;
  end case;
  return null;
exception when data_exception then
  -- Without the value, which may be long: what was found stands beside it.
  return regexp_replace(sqlerrm, ':? ".*"', '');
end $$;

-- Who may read the one may read the other, too.
create function daywalk.let_read_too(relation text, of_relation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  readers constant text := (
    select string_agg(distinct case a.grantee when 0 then 'public' else quote_ident(r.rolname) end, ', ')
      from pg_class c cross join lateral aclexplode(c.relacl) as a left join pg_roles r on r.oid = a.grantee
     where c.oid = to_regclass('daywalk.' || quote_ident(of_relation)) and a.privilege_type = 'SELECT' and a.grantee <> c.relowner);
begin
  if readers is not null then execute format('grant select on daywalk.%I to %s', relation, readers); end if;
end $$;

-- Makes the table of a definition, empty; by the owner of the schema. One that is there under this name is not touched: the
-- new one takes its place when it is in step. Returns its id.
create function daywalk.define_table(called text, of_stream text, with_columns jsonb, with_record boolean, outliving boolean, for_age interval)
returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made daywalk.record_tables;
  relation text;
  col jsonb;
begin
  perform pg_advisory_xact_lock(hashtext('daywalk.define_table'));
  -- Somebody may have dropped a table by hand.
  perform daywalk.drop_table(t.table_id) from daywalk.record_tables t
    where t.name = called and (t.state = 'building' or to_regclass('daywalk.' || quote_ident(daywalk.relation_of(t))) is null);
  if not exists (select from daywalk.record_tables t where t.name = called and t.state = 'live') and to_regclass('daywalk.' || quote_ident(called)) is not null then
    raise reserved_name using message = 'daywalk.' || called || ' is there already, and is no record table';
  end if;
  insert into daywalk.record_tables as t (name, stream, columns, keep_record, outlives, retention, state)
  values (called, of_stream, with_columns, with_record, outliving, for_age,
          case when exists (select from daywalk.record_tables t where t.name = called) then 'building' else 'live' end)
  returning * into made;
  relation := daywalk.relation_of(made);
  execute format(
    'create table daywalk.%I (day date not null, %s%swalk_id bigint not null, page_no integer not null, place integer not null,
     first_seen timestamptz not null, gone_since timestamptz, revision integer not null) partition by range (day)',
    relation,
    (select string_agg(format('%I %s, ', c.col ->> 'name', c.col ->> 'type'), '' order by c.place) from jsonb_array_elements(with_columns) with ordinality as c (col, place)),
    case when with_record then 'record jsonb, ' else '' end);
  execute format('create index on daywalk.%I (day)', relation);
  for col in select c from jsonb_array_elements(with_columns) as c where (c ->> 'index')::boolean loop
    execute format('create index on daywalk.%I %s', relation,
                   format(case col ->> 'type' when 'jsonb' then 'using gin (%I jsonb_path_ops)' else '(%I)' end, col ->> 'name'));
  end loop;
  perform daywalk.explain_table(made.table_id);
  perform daywalk.let_read_too(relation, 'events');
  return made.table_id;
end $$;

-- Comments for the people who query it.
create function daywalk.explain_table(id integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  t daywalk.record_tables;
  relation text;
begin
  select * into strict t from daywalk.record_tables where table_id = id;
  relation := daywalk.relation_of(t);
  execute format('comment on table daywalk.%I is %L', relation,
                 'The records of the stream ' || t.stream || ', as daywalk.tables tells how far. Filter on day, it prunes partitions.');
  execute (
    select string_agg(format('comment on column daywalk.%I.%I is %L', relation, col.name, col.says), ';')
      from (select c ->> 'name' as name, 'From ' || array_to_string(array(select jsonb_array_elements_text(c -> 'path')), '.') || ' of the record.' as says
              from jsonb_array_elements(t.columns) as c
             union all
            select 'record', 'The record as sent; null: its page was pruned before the table kept records.' where t.keep_record) as col);
  perform daywalk.explain_columns(relation);
end $$;

-- Takes a record table away with all that it holds; by the owner of the schema.
create function daywalk.drop_table(id integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  t daywalk.record_tables;
begin
  select * into strict t from daywalk.record_tables where table_id = id for update;
  execute format('drop table if exists daywalk.%I', daywalk.relation_of(t));
  delete from daywalk.record_tables where table_id = id;
end $$;

-- Makes the partition of a record table that holds a day.
create function daywalk.ensure_table_partition(id integer, on_day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  t daywalk.record_tables;
begin
  select * into t from daywalk.record_tables r where r.table_id = id;
  -- Another one has taken its place meanwhile.
  if not found then return; end if;
  if not exists (select from daywalk.days d join daywalk.streams s using (stream_id) where s.name = t.stream and d.day = on_day) then return; end if;
  perform daywalk.make_month(daywalk.relation_of(t), t.name || '_' || id || '_' || to_char(on_day, 'YYYY_MM'), date_trunc('month', on_day)::date);
end $$;

-- Begins to replace a day, within a transaction: removes what the table has of it. False: it is in step already, or its pages went
-- since it was listed, and the table is to outlive them.
create function daywalk.begin_table_day(id integer, on_day date) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  t daywalk.record_tables;
  held uuid;
  newest uuid;
begin
  select * into t from daywalk.record_tables r where r.table_id = id;
  -- Another one has taken its place meanwhile.
  if not found then return false; end if;
  select d.publication into newest from daywalk.days d join daywalk.streams s on s.stream_id = d.stream_id
   where s.name = t.stream and d.day = on_day
     and not (t.outlives and exists (select from daywalk.prunings g where g.stream_id = d.stream_id and g.day = d.day and g.what = 'day'));
  if newest is null then return false; end if;
  insert into daywalk.table_days as y (table_id, day, publication, records, faults, synced_at)
  values (id, on_day, gen_random_uuid(), 0, 0, clock_timestamp())
  on conflict (table_id, day) do update set synced_at = excluded.synced_at
  returning y.publication into held;
  if held = newest then return false; end if;
  delete from daywalk.misfits m where m.table_id = id and m.day = on_day;
  execute format('delete from daywalk.%I where day = $1', daywalk.relation_of(t)) using on_day;
  return true;
end $$;

-- The pages of a day that are to be taken in, in pieces of about so many bytes.
create function daywalk.pieces_of_day(id integer, on_day date, piece_bytes bigint) returns table (walk_id bigint, first_page integer, last_page integer)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select p.walk_id, min(p.page_no), max(p.page_no)
    from (select g.walk_id, g.page_no, sum(g.byte_count) over (partition by g.walk_id order by g.page_no) / piece_bytes as piece
            from daywalk.record_tables t
            join daywalk.streams s on s.name = t.stream
            join daywalk.windows w on w.stream_id = s.stream_id and (w.day = on_day or w.midnight = on_day - 1)
            join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
            join daywalk.pages g on g.walk_id = k.walk_id and g.day = on_day and g.records > 0
           where t.table_id = id) as p
   group by p.walk_id, p.piece order by p.walk_id, p.piece
$$;

-- Takes in a piece of a day: all of it in one plain insert; where a value does not fit, record by record, with what does not
-- fit listed and null. Returns how many records, and how many values that do not fit.
create function daywalk.fill_table_day(id integer, on_day date, of_walk bigint, first_page integer, last_page integer)
returns table (records bigint, faults bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  t daywalk.record_tables;
  of_stream daywalk.streams;
  columns_named text;
  columns_made text;
  records_of constant text := 'from daywalk.shown_records s
    cross join lateral (select %s offset 0) as v where s.stream_id = $1 and s.day = $2 and s.walk_id = $3 and s.page_no between $4 and $5
      and coalesce(s.stood_on <> all ($6), true)';
  own constant text := 's.walk_id, s.page_no, s.place, s.first_seen, s.gone_since, s.revision';
  picked text;
  kept date[];
begin
  select * into strict t from daywalk.record_tables r where r.table_id = id;
  select * into strict of_stream from daywalk.streams s where s.name = t.stream;
  select string_agg(format('%I, ', c.col ->> 'name'), '' order by c.place),
         string_agg(daywalk.column_value(c.col, 'v.t' || c.place, format('(s.record #> %L)', array(select jsonb_array_elements_text(c.col -> 'path'))), of_stream.time_zone) || ', ',
                    '' order by c.place),
         -- A key of the record itself is picked in half the time by ->>; only a number may mean a place in a list.
         string_agg(case when cardinality(p.path) = 1 and p.path[1] !~ '^-?[0-9]+$' then format('s.record ->> %L', p.path[1]) else format('s.record #>> %L', p.path) end
                    || ' as t' || c.place, ', ' order by c.place)
    into columns_named, columns_made, picked
    from jsonb_array_elements(t.columns) with ordinality as c (col, place)
   cross join lateral (select array(select jsonb_array_elements_text(c.col -> 'path')) as path) as p;
  -- What stood on a day that was pruned since is under that day still, or will be once this table takes the place of the old one.
  kept := array(select y.day
                  from daywalk.table_days y
                  join daywalk.record_tables r on r.table_id = y.table_id and r.name = t.name and r.stream = t.stream and r.outlives
                 where t.outlives and y.records > 0 and y.day in (select mark.stood_on from daywalk.marks mark where mark.day = on_day and mark.stood_on is not null));
  columns_named := format('(day, %s%swalk_id, page_no, place, first_seen, gone_since, revision)', columns_named, case when t.keep_record then 'record, ' else '' end);
  begin
    execute format('insert into daywalk.%I %s select s.day, %s%s' || own || ' ' || format(records_of, picked), daywalk.relation_of(t), columns_named,
                   columns_made, case when t.keep_record then 's.record, ' else '' end)
      using of_stream.stream_id, on_day, of_walk, first_page, last_page, kept;
    get diagnostics records = row_count;
    faults := 0;
    return next;
    return;
  exception when data_exception or program_limit_exceeded then
    null;
  end;
  select string_agg(format('case when v.m%s is null then %s end, ', c.place,
                           daywalk.column_value(c.col, format('(v.v%s #>> ''{}'')', c.place), 'v.v' || c.place, of_stream.time_zone)), '' order by c.place),
         string_agg(format('s.record #> %L as v%s', array(select jsonb_array_elements_text(c.col -> 'path')), c.place), ', ' order by c.place)
    into columns_made, picked
    from jsonb_array_elements(t.columns) with ordinality as c (col, place);
  return query execute format(
    'with judged as materialized (
       select s.*, v.*, %s %s
     ), filled as (
       insert into daywalk.%I %s select v.day, %s%s' || replace(own, 's.', 'v.') || ' from judged v returning 1
     ), listed as (
       insert into daywalk.misfits (table_id, day, "column", walk_id, page_no, place, found, reason)
       select %s, v.day, f.name, v.walk_id, v.page_no, v.place, left(f.found::text, 200), f.reason
         from judged v cross join lateral (values %s) as f (name, found, reason)
        where f.reason is not null
       returning 1
     )
     select (select count(*) from filled), (select count(*) from listed)',
    (select string_agg(format('daywalk.reason_of(v.v%s, %L, %L, %L, %L::text[]) as m%1$s', c.place, c.col ->> 'type', (c.col ->> 'index')::boolean, of_stream.time_zone,
                              (select array_agg(f) from jsonb_array_elements_text(c.col -> 'format') as f)), ', ' order by c.place)
       from jsonb_array_elements(t.columns) with ordinality as c (col, place)),
    format(records_of, picked), daywalk.relation_of(t), columns_named, columns_made, case when t.keep_record then 'v.record, ' else '' end, id,
    (select string_agg(format('(%L, v.v%s, v.m%s)', c.col ->> 'name', c.place, c.place), ', ' order by c.place)
       from jsonb_array_elements(t.columns) with ordinality as c (col, place)))
    using of_stream.stream_id, on_day, of_walk, first_page, last_page, kept;
end $$;

-- Ends the replacing of a day: from now on it holds the publication that was the newest when the transaction began.
create function daywalk.end_table_day(id integer, on_day date, with_records bigint, with_faults bigint) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update daywalk.table_days y set publication = d.publication, records = with_records, faults = with_faults, synced_at = clock_timestamp()
    from daywalk.record_tables t join daywalk.streams s on s.name = t.stream join daywalk.days d on d.stream_id = s.stream_id
   where t.table_id = id and d.day = on_day and y.table_id = id and y.day = on_day
$$;

-- Drops a day from a record table whose retention is over. It holds no publication then: where the day is not over after all, as settle
-- was raised or a clock put right, it is taken in again.
create function daywalk.drop_table_day(id integer, on_day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  t daywalk.record_tables;
begin
  select * into t from daywalk.record_tables r where r.table_id = id;
  -- Another one has taken its place meanwhile.
  if not found then return; end if;
  if not exists (select from daywalk.table_work(array[t.stream]) w where w.table_id = id and w.day = on_day and w.work = 'drop') then return; end if;
  execute format('delete from daywalk.%I where day = $1', daywalk.relation_of(t)) using on_day;
  delete from daywalk.misfits m where m.table_id = id and m.day = on_day;
  update daywalk.table_days y set publication = gen_random_uuid(), records = 0, faults = 0, synced_at = clock_timestamp() where y.table_id = id and y.day = on_day;
  -- What stood under it, and is shown under another day since it was pruned, is taken in there.
  update daywalk.table_days y set publication = gen_random_uuid()
    from daywalk.streams s
   where y.table_id = id and s.name = t.stream and y.day in (select mark.day from daywalk.marks mark where mark.stood_on = on_day)
     and not exists (select from daywalk.prunings g where g.stream_id = s.stream_id and g.day = y.day and g.what = 'day');
end $$;

-- The clock of a stream is of another zone now: its record tables with times take their days in again, as some are written without theirs.
-- Of a day whose pages are pruned what they have stays.
create function daywalk.retime_tables(of_stream integer) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update daywalk.table_days y set publication = gen_random_uuid()
    from daywalk.record_tables t join daywalk.streams s on s.name = t.stream
   where s.stream_id = of_stream and y.table_id = t.table_id and y.records > 0 and t.columns @> '[{"type": "timestamptz"}]'
     and not exists (select from daywalk.prunings g where g.stream_id = of_stream and g.day = y.day and g.what = 'day')
$$;

-- Puts a table that was built beside the live one in its place, once it is in step and has what only the old one holds. Returns
-- false where it is not or has not yet, something depends on the old one, or a query reads it for long: who waits for the lock
-- keeps all later queries waiting, so it is waited for briefly.
create function daywalk.swap_table(id integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
  what_depends text;
  new_one daywalk.record_tables;
  old_one daywalk.record_tables;
begin
  select * into new_one from daywalk.record_tables where table_id = id and state = 'building' for update;
  if not found then return false; end if;
  select * into strict old_one from daywalk.record_tables where name = new_one.name and state = 'live' for update;
  if exists (select from daywalk.table_work(array[new_one.stream]) w where w.table_id = id) then return false; end if;
  if old_one.stream <> new_one.stream and exists (select from daywalk.days_left_in(old_one)) then
    update daywalk.record_tables
       set trouble = 'the old one has days of the stream ' || old_one.stream || ' whose pages are not here any more, and which would go with it; give the new one another name'
     where table_id = id;
    return false;
  end if;
  begin
    execute format('lock table daywalk.%I in access exclusive mode', old_one.name);
  exception when lock_not_available then
    update daywalk.record_tables set trouble = 'a query or an open transaction reads the old table; the next run tries again' where table_id = id;
    return false;
  end;
  if exists (select from daywalk.days_to_keep(old_one, new_one)) then return false; end if;
  begin
    perform daywalk.let_read_too(daywalk.relation_of(new_one), old_one.name);
    perform daywalk.drop_table(old_one.table_id);
  exception when dependent_objects_still_exist then
    get stacked diagnostics what_depends = pg_exception_detail;
    update daywalk.record_tables set trouble = replace(what_depends, e'\n', ', ') || '; drop that, and make it again afterwards' where table_id = id;
    return false;
  end;
  execute format('alter table daywalk.%I rename to %I', daywalk.relation_of(new_one), new_one.name);
  update daywalk.record_tables set state = 'live', trouble = null where table_id = id;
  perform daywalk.explain_table(id);
  return true;
end $$;

-- Days of which only this table still holds records, because their pages are pruned; none where it does not outlive these.
create function daywalk.days_left_in(of_table daywalk.record_tables) returns setof daywalk.table_days
language sql stable set search_path = pg_catalog, pg_temp as $$
  select y.* from daywalk.table_days y
   where of_table.outlives and y.table_id = of_table.table_id and y.records > 0
     and exists (select from daywalk.prunings g join daywalk.streams s using (stream_id) where s.name = of_table.stream and g.day = y.day and g.what = 'day')
$$;

-- Those of them that are to be kept; none where the new table does not outlive pages, or is one of another stream.
create function daywalk.days_to_keep(old_one daywalk.record_tables, new_one daywalk.record_tables) returns setof daywalk.table_days
language sql stable set search_path = pg_catalog, pg_temp as $$
  select y.* from daywalk.days_left_in(old_one) as y
   where new_one.outlives and old_one.stream = new_one.stream
     and not exists (select from daywalk.table_days n where n.table_id = new_one.table_id and n.day = y.day)
   order by y.day desc
$$;

-- Copies the newest of them into the table that is built: its own columns, and those that are defined the same, with what did not fit
-- there. A column of the same name from another path is another one. A day at a time, so that no statement takes long. Returns
-- false where none is left.
create function daywalk.keep_pruned_day(id integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_one daywalk.record_tables;
  old_one daywalk.record_tables;
  same text[];
  indexed text[];
  long text;
  shared text;
  fitting text;
  lost daywalk.table_days;
  faults bigint;
begin
  select * into new_one from daywalk.record_tables where table_id = id and state = 'building' for update;
  if not found then return false; end if;
  select * into strict old_one from daywalk.record_tables where name = new_one.name and state = 'live';
  select * into lost from daywalk.days_to_keep(old_one, new_one) limit 1;
  if not found then return false; end if;
  same := array(select o ->> 'name' from jsonb_array_elements(old_one.columns) as o join jsonb_array_elements(new_one.columns) as n on o - 'index' = n - 'index');
  -- What was no index's there may be too long for the one here.
  indexed := array(select n ->> 'name' from jsonb_array_elements(new_one.columns) as n
                    where (n ->> 'index')::boolean and n ->> 'type' in ('text', 'numeric') and n ->> 'name' = any (same));
  select string_agg(quote_ident(name), ', '),
         string_agg(case when name = any (indexed) then format('case when octet_length(%1$I::text) <= 2500 then %1$I end', name) else quote_ident(name) end, ', ')
    into shared, fitting
    from unnest(same || '{day,walk_id,page_no,place,first_seen,gone_since,revision}' || case when old_one.keep_record and new_one.keep_record then '{record}'::text[] end) as name;
  perform daywalk.ensure_table_partition(new_one.table_id, lost.day);
  execute format('insert into daywalk.%I (%s) select %s from daywalk.%I where day = $1', daywalk.relation_of(new_one), shared, fitting, old_one.name) using lost.day;
  foreach long in array indexed loop
    execute format('insert into daywalk.misfits (table_id, day, "column", walk_id, page_no, place, found, reason)
      select $2, day, %1$L, walk_id, page_no, place, left(to_jsonb(%1$I)::text, 200), daywalk.reason_of(to_jsonb(%1$I), ''text'', true, null, null)
        from daywalk.%2$I where day = $1 and octet_length(%1$I::text) > 2500', long, old_one.name) using lost.day, new_one.table_id;
  end loop;
  insert into daywalk.misfits (table_id, day, "column", walk_id, page_no, place, found, reason)
  select new_one.table_id, m.day, m."column", m.walk_id, m.page_no, m.place, m.found, m.reason
    from daywalk.misfits m where m.table_id = old_one.table_id and m.day = lost.day and m."column" = any (same);
  select count(*) into faults from daywalk.misfits m where m.table_id = new_one.table_id and m.day = lost.day;
  insert into daywalk.table_days (table_id, day, publication, records, faults, synced_at)
  values (new_one.table_id, lost.day, lost.publication, lost.records, faults, clock_timestamp());
  return true;
end $$;
