-- The schema after all migrations, as PostgreSQL 18 tells it; written by `npm run schema`.

create table daywalk.alarms (
  streams text[] not null,
  failing boolean not null,
  problem text,
  failing_since timestamp with time zone,
  told_failing boolean default false not null,
  told_at timestamp with time zone,
  telling_until timestamp with time zone,
  constraint alarms_pkey PRIMARY KEY (streams)
);

create table daywalk.days (
  stream_id integer not null,
  day date not null,
  records bigint not null,
  pages bigint not null,
  bytes bigint not null,
  proof text,
  unsealed boolean default true not null,
  constraint days_pkey PRIMARY KEY (stream_id, day),
  constraint days_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.differences (
  window_id bigint not null,
  walk_id bigint not null,
  found_at timestamp with time zone default clock_timestamp() not null,
  after interval not null,
  appeared bigint not null,
  vanished bigint not null,
  constraint differences_pkey PRIMARY KEY (walk_id),
  constraint differences_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id),
  constraint differences_window_id_fkey FOREIGN KEY (window_id) REFERENCES daywalk.windows(window_id)
);

create table daywalk.learned (
  stream_id integer not null,
  fact text not null,
  value bigint not null,
  evidence text not null,
  learned_at timestamp with time zone default clock_timestamp() not null,
  constraint learned_fact_check CHECK ((fact = ANY (ARRAY['page_length'::text, 'offset_cap'::text, 'proven_size'::text, 'totals'::text]))),
  constraint learned_pkey PRIMARY KEY (stream_id, fact),
  constraint learned_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.ledger (
  stream_id integer not null,
  entry bigint not null,
  day date not null,
  revision integer not null,
  walks bigint[] not null,
  pages bigint not null,
  records bigint not null,
  bytes bigint not null,
  pages_sha256 bytea not null,
  walks_sha256 bytea not null,
  overlaps_sha256 bytea not null,
  appended_at timestamp with time zone not null,
  previous bytea not null,
  digest bytea not null,
  constraint ledger_entry_check CHECK ((entry > 0)),
  constraint ledger_pkey PRIMARY KEY (stream_id, entry),
  constraint ledger_revision_check CHECK ((revision > 0)),
  constraint ledger_stream_id_day_revision_key UNIQUE (stream_id, day, revision),
  constraint ledger_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk."overlaps" (
  walk_id bigint not null,
  page_no integer not null,
  positions integer[] not null,
  constraint overlaps_pkey PRIMARY KEY (walk_id, page_no),
  constraint overlaps_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id)
);

create table daywalk.pages (
  walk_id bigint not null,
  page_no integer not null,
  day date not null,
  start bigint not null,
  length integer not null,
  skip integer default 0 not null,
  records integer not null,
  total bigint,
  relation text,
  body jsonb not null,
  bytes bytea,
  changes jsonb,
  record_hashes bigint[] not null,
  sha256 bytea not null,
  byte_count integer not null,
  fetched_at timestamp with time zone not null,
  duration_ms integer not null,
  constraint pages_check CHECK ((cardinality(record_hashes) = records)),
  constraint pages_pkey PRIMARY KEY (walk_id, page_no, day),
  constraint pages_records_check CHECK ((records >= 0)),
  constraint pages_sha256_check CHECK ((octet_length(sha256) = 32)),
  constraint pages_skip_check CHECK ((skip = ANY (ARRAY[0, 1]))),
  constraint pages_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id)
) partition by RANGE (day);

create table daywalk.prunings (
  pruning_id bigint generated always as identity not null,
  stream_id integer not null,
  day date not null,
  what text not null,
  walks bigint[] not null,
  pages bigint not null,
  records bigint not null,
  bytes bigint not null,
  pruned_by text default CURRENT_USER not null,
  pruned_at timestamp with time zone default clock_timestamp() not null,
  removed_at timestamp with time zone,
  constraint prunings_pkey PRIMARY KEY (pruning_id),
  constraint prunings_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id),
  constraint prunings_what_check CHECK ((what = ANY (ARRAY['day'::text, 'superseded'::text])))
);

create table daywalk.rates (
  origin text not null,
  next_slot timestamp with time zone not null,
  constraint rates_pkey PRIMARY KEY (origin)
);

create table daywalk.runs (
  run_id bigint generated always as identity not null,
  key uuid not null,
  trigger text not null,
  owner text not null,
  from_day date,
  to_day date,
  windows_due integer default 0 not null,
  windows_complete integer default 0 not null,
  windows_failed integer default 0 not null,
  windows_split integer default 0 not null,
  windows_unchanged integer default 0 not null,
  pages bigint default 0 not null,
  records bigint default 0 not null,
  bytes bigint default 0 not null,
  started_at timestamp with time zone default clock_timestamp() not null,
  finished_at timestamp with time zone,
  outcome text,
  error text,
  constraint runs_check CHECK (((outcome IS NULL) = (finished_at IS NULL))),
  constraint runs_key_key UNIQUE (key),
  constraint runs_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'gaps'::text, 'refused'::text, 'unavailable'::text, 'interrupted'::text, 'settings'::text, 'unexpected'::text]))),
  constraint runs_pkey PRIMARY KEY (run_id),
  constraint runs_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'hand'::text, 'backfill'::text])))
);

create table daywalk.seals (
  walk_id bigint not null,
  page_no integer not null,
  day date not null,
  body_sha256 bytea not null,
  digest bytea not null,
  sealed_at timestamp with time zone default clock_timestamp() not null,
  constraint seals_body_sha256_check CHECK ((octet_length(body_sha256) = 32)),
  constraint seals_digest_check CHECK ((octet_length(digest) = 32)),
  constraint seals_pkey PRIMARY KEY (walk_id, page_no),
  constraint seals_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id)
);

create table daywalk.streams (
  stream_id integer generated always as identity not null,
  name text not null,
  resource text not null,
  filters jsonb not null,
  fingerprint text not null,
  since date not null,
  time_zone text not null,
  settle interval not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint streams_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)),
  constraint streams_name_key UNIQUE (name),
  constraint streams_pkey PRIMARY KEY (stream_id),
  constraint streams_resource_check CHECK ((resource = ANY (ARRAY['events'::text, 'smart-event'::text]))),
  constraint streams_settle_check CHECK ((settle >= '00:00:00'::interval))
);

create table daywalk.vanished (
  found_by bigint not null,
  walk_id bigint not null,
  page_no integer not null,
  "position" integer not null,
  constraint vanished_found_by_fkey FOREIGN KEY (found_by) REFERENCES daywalk.walks(walk_id),
  constraint vanished_pkey PRIMARY KEY (found_by, walk_id, page_no, "position"),
  constraint vanished_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id)
);

create table daywalk.walks (
  walk_id bigint generated always as identity not null,
  window_id bigint not null,
  number integer not null,
  span text default 'whole'::text not null,
  day date not null,
  page_length integer not null,
  records_path text[],
  total_path text[],
  relation_path text[],
  next_start bigint default 0 not null,
  pages integer default 0 not null,
  records bigint generated always as (next_start) stored not null,
  bytes bigint default 0 not null,
  requests integer default 0 not null,
  first_total bigint,
  last_total bigint,
  outcome text,
  reason text,
  proof jsonb,
  published boolean default false not null,
  started_at timestamp with time zone default clock_timestamp() not null,
  finished_at timestamp with time zone,
  pruning bigint,
  constraint walks_check CHECK (((outcome IS NULL) = (finished_at IS NULL))),
  constraint walks_check1 CHECK (((outcome <> 'proven'::text) OR (proof IS NOT NULL))),
  constraint walks_check2 CHECK (((NOT published) OR (outcome = 'proven'::text))),
  constraint walks_outcome_check CHECK ((outcome = ANY (ARRAY['proven'::text, 'ended'::text, 'shifted'::text, 'failed'::text]))),
  constraint walks_page_length_check CHECK ((page_length > 0)),
  constraint walks_pkey PRIMARY KEY (walk_id),
  constraint walks_pruning_fkey FOREIGN KEY (pruning) REFERENCES daywalk.prunings(pruning_id),
  constraint walks_span_check CHECK ((span = ANY (ARRAY['whole'::text, 'first half'::text, 'second half'::text, 'next day'::text]))),
  constraint walks_window_id_fkey FOREIGN KEY (window_id) REFERENCES daywalk.windows(window_id),
  constraint walks_window_id_number_key UNIQUE (window_id, number)
);

create table daywalk.windows (
  window_id bigint generated always as identity not null,
  stream_id integer not null,
  kind text not null,
  day date not null,
  from_time timestamp without time zone not null,
  to_time timestamp without time zone not null,
  level_from integer,
  level_to integer,
  split_from bigint,
  split_by text,
  split_reason text,
  split_total bigint,
  sums_checked boolean default false not null,
  purpose text not null,
  state text default 'pending'::text not null,
  due_at timestamp with time zone default clock_timestamp(),
  current_walk bigint,
  rewalk boolean default false not null,
  lease_id uuid,
  lease_owner text,
  lease_number integer default 0 not null,
  lease_expires timestamp with time zone,
  attempts integer default 0 not null,
  failures integer default 0 not null,
  last_error text,
  last_failed_at timestamp with time zone,
  created_at timestamp with time zone default clock_timestamp() not null,
  completed_at timestamp with time zone,
  checked_at timestamp with time zone,
  constraint windows_check CHECK ((from_time <= to_time)),
  constraint windows_check1 CHECK (((from_time)::date = day)),
  constraint windows_check2 CHECK (((lease_id IS NULL) = (lease_expires IS NULL))),
  constraint windows_check3 CHECK (((state <> 'split'::text) OR ((due_at IS NULL) AND (lease_id IS NULL) AND (split_by IS NOT NULL)))),
  constraint windows_check4 CHECK (((kind = 'part'::text) = (split_from IS NOT NULL))),
  constraint windows_current_walk_fkey FOREIGN KEY (current_walk) REFERENCES daywalk.walks(walk_id),
  constraint windows_kind_check CHECK ((kind = ANY (ARRAY['day'::text, 'seam'::text, 'part'::text]))),
  constraint windows_pkey PRIMARY KEY (window_id),
  constraint windows_purpose_check CHECK ((purpose = ANY (ARRAY['scheduled'::text, 'recheck'::text, 'backfill'::text]))),
  constraint windows_split_by_check CHECK ((split_by = ANY (ARRAY['time'::text, 'level'::text]))),
  constraint windows_split_from_fkey FOREIGN KEY (split_from) REFERENCES daywalk.windows(window_id),
  constraint windows_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'complete'::text, 'failed'::text, 'split'::text]))),
  constraint windows_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

CREATE INDEX days_unsealed ON daywalk.days USING btree (stream_id, day) WHERE unsealed;

CREATE UNIQUE INDEX prunings_day ON daywalk.prunings USING btree (stream_id, day) WHERE (what = 'day'::text);

CREATE INDEX prunings_open ON daywalk.prunings USING btree (pruning_id) WHERE (removed_at IS NULL);

CREATE INDEX runs_started ON daywalk.runs USING btree (started_at);

CREATE INDEX walks_published ON daywalk.walks USING btree (window_id) WHERE published;

CREATE INDEX windows_day ON daywalk.windows USING btree (stream_id, day);

CREATE INDEX windows_due ON daywalk.windows USING btree (purpose DESC, ((kind = 'seam'::text)), day, from_time) WHERE (due_at IS NOT NULL);

CREATE INDEX windows_error ON daywalk.windows USING btree (stream_id, day) WHERE (last_error IS NOT NULL);

CREATE INDEX windows_lease ON daywalk.windows USING btree (lease_id) WHERE (lease_id IS NOT NULL);

CREATE INDEX windows_parts ON daywalk.windows USING btree (split_from) WHERE (split_from IS NOT NULL);

CREATE UNIQUE INDEX windows_span ON daywalk.windows USING btree (stream_id, from_time, to_time, COALESCE(level_from, '-1'::integer), COALESCE(level_to, '-1'::integer));

CREATE INDEX windows_split ON daywalk.windows USING btree (stream_id, day) WHERE (state = 'split'::text);

CREATE INDEX windows_unfinished ON daywalk.windows USING btree (stream_id, day) WHERE (state = ANY (ARRAY['pending'::text, 'failed'::text]));

CREATE UNIQUE INDEX windows_whole_day ON daywalk.windows USING btree (stream_id, day) WHERE (kind = 'day'::text);

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON daywalk.ledger FOR EACH STATEMENT EXECUTE FUNCTION daywalk.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON daywalk.seals FOR EACH STATEMENT EXECUTE FUNCTION daywalk.refuse_change();

CREATE OR REPLACE FUNCTION daywalk.append_to_ledger(of_stream integer, on_day date)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.body_digest(body jsonb)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select sha256(convert_to(body::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION daywalk.check_pages(walk bigint, first_page integer, last_page integer)
 RETURNS TABLE(page_no integer, byte_count integer, sealed boolean, problems text[])
 LANGUAGE sql
 STABLE
AS $function$
  with stored as materialized (
    -- All that needs the body, once for each page; joined with the seals afterwards.
    select p.page_no, p.byte_count, body.digest as body_sha256, daywalk.page_digest(p, body.digest) as digest,
           p.record_hashes = array(
             select jsonb_hash_extended(r.record, 0)
               from jsonb_array_elements(case jsonb_typeof(body.list) when 'array' then body.list else '[]' end)
                    with ordinality as r (record, position)
              where r.position > p.skip order by r.position) as hashes_ok,
           case when sha256(p.bytes) <> p.sha256 then 'the kept bytes are not what was received'
                when octet_length(p.bytes) <> p.byte_count then 'the byte count is not that of the kept bytes'
                when p.changes is null and body.digest <> daywalk.body_digest(convert_from(p.bytes, 'UTF8')::jsonb)
                then 'its body is not that of the kept bytes' end as kept
      from daywalk.walks k
      join daywalk.pages p on p.walk_id = walk and p.page_no between first_page and last_page and p.day = k.day
     cross join lateral (select daywalk.body_digest(p.body) as digest, p.body #> k.records_path as list offset 0) as body
     where k.walk_id = walk
  ), seals as materialized (
    select s.page_no, s.body_sha256, s.digest from daywalk.seals s
     where s.walk_id = walk and s.page_no between first_page and last_page
  )
  select coalesce(p.page_no, s.page_no), coalesce(p.byte_count, 0), s.page_no is not null,
         case when p.page_no is null then array['the row is gone']
              else array_remove(array[
                case when p.body_sha256 <> s.body_sha256
                     then coalesce((select format('its body is that of page %s', min(other.page_no)) from daywalk.seals other
                                     where other.walk_id = walk and other.body_sha256 = p.body_sha256 having count(*) > 0),
                                   'its body is not what was stored')
                     when p.digest <> s.digest then 'the row beside the body is not what was stored' end,
                case when not p.hashes_ok then 'its record hashes are not those of its records' end,
                p.kept
              ], null) end
    from stored p
    full join seals s on s.page_no = p.page_no
   order by 1
$function$;

CREATE OR REPLACE FUNCTION daywalk.check_sums(target bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.check_walk(walk bigint)
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
  select array_remove(array[
           case when c.pages <> k.pages then format('it says %s pages, %s are there', k.pages, c.pages) end,
           case when c.missing is not null then format('page %s is missing', array_to_string(c.missing, ', ')) end,
           case when c.records <> k.records then format('it says %s records, its pages hold %s', k.records, c.records) end,
           case when c.bytes <> k.bytes then format('it says %s bytes, its pages hold %s', k.bytes, c.bytes) end,
           case when c.broken is not null then format('page %s does not begin where the page before ends', array_to_string(c.broken, ', ')) end
         ], null)
    from daywalk.walks k
   cross join lateral (
     select count(p.page_no) as pages, coalesce(sum(p.records), 0) as records, coalesce(sum(p.byte_count), 0) as bytes,
            array_agg(n order by n) filter (where p.page_no is null) as missing,
            array_agg(n order by n) filter (where p.start + p.skip <> p.expected) as broken
       from (select page_no, start, skip, records, byte_count,
                    coalesce(sum(records) over (order by page_no rows between unbounded preceding and 1 preceding), 0) as expected
               from daywalk.pages where walk_id = k.walk_id and day = k.day) as p
       full join generate_series(0, k.pages - 1) as n on n = p.page_no) as c
   where k.walk_id = walk
$function$;

CREATE OR REPLACE FUNCTION daywalk.closed_at(day date, time_zone text, settle interval)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select ((day + 1)::timestamp at time zone time_zone) + settle
$function$;

CREATE OR REPLACE FUNCTION daywalk.contents_of(of_stream integer, on_day date)
 RETURNS TABLE(records bigint, pages bigint, bytes bigint, proof text)
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(sum(k.records - coalesce(o.hidden, 0)), 0)::bigint, coalesce(sum(k.pages), 0)::bigint, coalesce(sum(k.bytes), 0)::bigint,
         string_agg(distinct k.proof ->> 'kind', ', ')
    from daywalk.windows w
    join daywalk.walks k on k.window_id = w.window_id and k.published and k.pruning is null
    left join lateral (select sum(cardinality(positions)) as hidden from daywalk.overlaps where walk_id = k.walk_id) as o on true
   where w.stream_id = of_stream and w.day = on_day
$function$;

CREATE OR REPLACE FUNCTION daywalk.empty_month(month date)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.ensure_partition(day date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  first_day date := date_trunc('month', day)::date;
  partition text := 'pages_' || to_char(day, 'YYYY_MM');
begin
  if to_regclass('daywalk.' || partition) is null then
    perform pg_advisory_xact_lock(hashtext('daywalk.ensure_partition'));
    execute format('create table if not exists daywalk.%I partition of daywalk.pages for values from (%L) to (%L)',
                   partition, first_day, (first_day + interval '1 month')::date);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.leaves(top bigint)
 RETURNS SETOF daywalk.windows
 LANGUAGE sql
 STABLE
AS $function$
  with recursive tree as (
    select * from daywalk.windows where window_id = top
     union all
    select w.* from daywalk.windows w join tree on w.split_from = tree.window_id where tree.state = 'split'
  )
  select * from tree where state <> 'split'
$function$;

CREATE OR REPLACE FUNCTION daywalk.ledger_digest(l daywalk.ledger)
 RETURNS bytea
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.text_digest(jsonb_build_array(
    (l).stream_id, (l).entry, (l).day, (l).revision, (l).walks, (l).pages, (l).records, (l).bytes,
    encode((l).pages_sha256, 'hex'), encode((l).walks_sha256, 'hex'), encode((l).overlaps_sha256, 'hex'),
    extract(epoch from (l).appended_at), encode((l).previous, 'hex'))::text)
$function$;

CREATE OR REPLACE FUNCTION daywalk.ledger_origin(stream integer)
 RETURNS bytea
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.text_digest(jsonb_build_array(name, resource, filters)::text) from daywalk.streams where stream_id = stream
$function$;

CREATE OR REPLACE FUNCTION daywalk.let_read(role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  own record;
begin
  -- Functions that came after this one, too.
  revoke execute on all routines in schema daywalk from public;
  execute format('grant usage on schema daywalk to %I', role);
  for own in
    select c.relname from pg_class c where c.relnamespace = 'daywalk'::regnamespace and c.relkind = 'v'
  loop
    execute format('grant select on daywalk.%I to %I', own.relname, role);
  end loop;
  -- A view calls its functions with the rights of whoever reads it.
  for own in
    select distinct p.oid::regprocedure as signature
      from pg_class c
      join pg_rewrite r on r.ev_class = c.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_proc'::regclass
      join pg_proc p on p.oid = d.refobjid
     where c.relnamespace = 'daywalk'::regnamespace and c.relkind = 'v'
       and p.pronamespace = 'daywalk'::regnamespace and p.provolatile <> 'v'
  loop
    execute format('grant execute on routine %s to %I', own.signature, role);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.let_work(role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  own record;
begin
  -- Functions that came after this one, too.
  revoke execute on all routines in schema daywalk from public;
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
    execute format('grant execute on routine %s to %I', own.signature, role);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.mark_overlaps(target bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.mark_overlaps_again(target bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.mark_pruned(of_stream integer, on_day date, which text, shown_walks bigint[], shown_overlaps bytea)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.next_check(closed timestamp with time zone, recheck_days integer)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select case when clock_timestamp() + interval '1 day' <= closed + make_interval(days => recheck_days, hours => 12)
               and recheck_days > 0
              then clock_timestamp() + interval '1 day' end
$function$;

CREATE OR REPLACE FUNCTION daywalk.note_day(of_stream integer, on_day date)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into daywalk.days (stream_id, day, records, pages, bytes, proof)
  select of_stream, on_day, c.records, c.pages, c.bytes, c.proof from daywalk.contents_of(of_stream, on_day) as c
  on conflict (stream_id, day) do update
     set records = excluded.records, pages = excluded.pages, bytes = excluded.bytes, proof = excluded.proof, unsealed = true
$function$;

CREATE OR REPLACE FUNCTION daywalk.note_differences(top bigint, old_walks bigint[], new_walks bigint[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.overlaps_digest(of_walks bigint[])
 RETURNS bytea
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.text_digest(coalesce(string_agg(o.walk_id || ':' || o.page_no || ':' || array_to_string(o.positions, ' '), ',' order by o.walk_id, o.page_no), ''))
    from daywalk.overlaps o where o.walk_id = any (of_walks)
$function$;

CREATE OR REPLACE FUNCTION daywalk.page_digest(p daywalk.pages, body_sha256 bytea)
 RETURNS bytea
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select daywalk.text_digest(jsonb_build_array(
    (p).walk_id, (p).page_no, (p).day, (p).start, (p).length, (p).skip, (p).records, (p).total, (p).relation,
    encode(body_sha256, 'hex'), encode(sha256((p).bytes), 'hex'), (p).changes,
    encode(daywalk.text_digest(array_to_string((p).record_hashes, ',')), 'hex'),
    encode((p).sha256, 'hex'), (p).byte_count, extract(epoch from (p).fetched_at), (p).duration_ms)::text)
$function$;

CREATE OR REPLACE FUNCTION daywalk.prunable_walks(of_stream integer, on_day date, which text)
 RETURNS SETOF daywalk.walks
 LANGUAGE sql
 STABLE
AS $function$
  select k.*
    from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id
   where w.stream_id = of_stream and w.day = on_day and k.pruning is null
     and (which = 'day'
          or (not k.published and k.outcome is not null and k.pages > 0
              and not exists (select from daywalk.walks x
                               where x.window_id = k.window_id and x.published
                                 and (x.proof ->> 'nextDay' = k.walk_id::text or x.proof -> 'unites' @> to_jsonb(k.walk_id)))))
$function$;

CREATE OR REPLACE FUNCTION daywalk.publish_walk(target bigint, lease uuid, walk bigint, at_start bigint, at_page integer, evidence jsonb, more_requests integer, recheck_days integer)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.read_page(body jsonb, records_path text[], total_path text[], relation_path text[])
 RETURNS TABLE(list_type text, records integer, total bigint, relation text, complaint text, hashes bigint[])
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select jsonb_typeof(list), case when jsonb_typeof(list) = 'array' then jsonb_array_length(list) end,
         case when total ~ '^[0-9]{1,15}$' then total::bigint end, relation, complaint,
         array(select jsonb_hash_extended(list -> i, 0)
                 from generate_series(0, case when jsonb_typeof(list) = 'array' then jsonb_array_length(list) end - 1) as i
                order by i)
    from (select body #> records_path as list, body #>> total_path as total, body #>> relation_path as relation,
                 case when jsonb_typeof(body) <> 'object' then null
                      when coalesce(body -> 'error', 'null') not in ('null', 'false', '""', '0', '[]', '{}') then left(body ->> 'error', 200)
                      when coalesce(body -> 'errors', 'null') not in ('null', 'false', '""', '0', '[]', '{}') then left(body ->> 'errors', 200)
                      when body -> 'success' = 'false' then 'success is false'
                      when body -> 'timed_out' = 'true' then 'timed_out is true: a partial result'
                 end as complaint
          offset 0) as found
$function$;

CREATE OR REPLACE FUNCTION daywalk.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'daywalk.% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.seal_pages(walk bigint, first_page integer, last_page integer)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into daywalk.seals (walk_id, page_no, day, body_sha256, digest)
  select p.walk_id, p.page_no, p.day, body.digest, daywalk.page_digest(p, body.digest)
    from daywalk.pages p
   cross join lateral (select daywalk.body_digest(p.body) as digest offset 0) as body
   where p.walk_id = walk and p.day = (select k.day from daywalk.walks k where k.walk_id = walk)
     -- An array and not a join, because a planner may join after it has read all the bodies.
     and p.page_no = any (array(select generate_series(first_page, least(last_page, (select k.pages - 1 from daywalk.walks k where k.walk_id = walk)))
                                except select s.page_no from daywalk.seals s where s.walk_id = walk))
  on conflict do nothing
$function$;

CREATE OR REPLACE FUNCTION daywalk.seals_digest(of_walks bigint[])
 RETURNS bytea
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.text_digest(coalesce(string_agg(s.walk_id || ':' || s.page_no || ':' || encode(s.digest, 'hex'), ',' order by s.walk_id, s.page_no), ''))
    from daywalk.seals s where s.walk_id = any (of_walks)
$function$;

CREATE OR REPLACE FUNCTION daywalk.show_window(target bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE PROCEDURE daywalk.store_page(IN target bigint, IN lease uuid, IN ttl_ms double precision, IN walk bigint, IN at_start bigint, IN at_page integer, IN skip_first integer, IN list_at text[], IN total_at text[], IN relation_at text[], IN asked_length integer, IN took_ms integer, IN took_requests integer, IN received_bytes integer, IN received_sha256 bytea, IN kept_bytes bytea, IN changed jsonb, IN content jsonb, OUT records integer, OUT list_type text, OUT total bigint, OUT relation text, OUT complaint text, OUT continues boolean, OUT fits boolean, OUT digest text, OUT stored boolean)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $procedure$
declare
  hashes bigint[];
  its_day date;
begin
  select f.records - skip_first, f.list_type, f.total, f.relation, f.complaint, f.hashes
    into records, list_type, total, relation, complaint, hashes
    from daywalk.read_page(content, list_at, total_at, relation_at) as f;
  digest := hash_array_extended(hashes, 0);
  select coalesce(k.records_path = list_at, true),
         skip_first = 0 or hashes[1] is not distinct from
           (select p.record_hashes[cardinality(p.record_hashes)]
              from daywalk.pages p
             where p.walk_id = walk and p.day = k.day and p.records > 0 and p.page_no < at_page
             order by p.page_no desc limit 1)
    into fits, continues
    from daywalk.walks k where k.walk_id = walk;
  stored := false;
  -- After a failover to a standby that never had it the walk is gone, and the lease with it.
  if not found then fits := true; continues := true; return; end if;
  if records is null or complaint is not null or not continues or not fits then return; end if;

  update daywalk.windows w
     set lease_expires = clock_timestamp() + make_interval(secs => ttl_ms / 1000), attempts = 0
   where w.window_id = target and w.lease_id = lease and w.current_walk = walk
     and exists (select from daywalk.walks k where k.walk_id = walk and k.next_start = at_start and k.pages = at_page);
  if not found then return; end if;
  update daywalk.walks k
     set next_start = k.next_start + store_page.records,
         pages = k.pages + 1,
         bytes = k.bytes + received_bytes,
         requests = k.requests + took_requests,
         first_total = case when k.pages = 0 then store_page.total else k.first_total end,
         last_total = store_page.total,
         records_path = list_at, total_path = total_at, relation_path = relation_at
   where k.walk_id = walk and k.window_id = target and k.outcome is null
     and k.next_start = at_start and k.pages = at_page
     and (k.records_path is null or k.records_path = list_at)
  returning k.day into its_day;
  if not found then return; end if;
  insert into daywalk.pages (walk_id, page_no, day, start, length, skip, records, total, relation, body,
                             bytes, changes, record_hashes, sha256, byte_count, fetched_at, duration_ms)
  values (walk, at_page, its_day, at_start - skip_first, asked_length, skip_first, store_page.records, store_page.total,
          store_page.relation, content, kept_bytes, changed, hashes[skip_first + 1 :], received_sha256, received_bytes,
          clock_timestamp(), took_ms);
  stored := true;
end $procedure$;

CREATE OR REPLACE FUNCTION daywalk.subtree(top bigint)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE
AS $function$
  with recursive tree as (
    select top as window_id
     union all
    select w.window_id from daywalk.windows w join tree on w.split_from = tree.window_id
  )
  select window_id from tree
$function$;

CREATE OR REPLACE FUNCTION daywalk.text_digest(content text)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select sha256(convert_to(content, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION daywalk.walks_digest(of_walks bigint[])
 RETURNS bytea
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.text_digest(coalesce(string_agg(jsonb_build_array(
           k.walk_id, w.stream_id, w.window_id, w.kind, w.day, w.from_time, w.to_time, w.level_from, w.level_to, k.number, k.span,
           k.page_length, k.records_path, k.total_path, k.relation_path, k.pages, k.records, k.bytes, k.first_total,
           k.last_total, k.proof)::text, ',' order by k.walk_id), ''))
    from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
   where k.walk_id = any (of_walks)
$function$;

create view daywalk.coverage as
 SELECT p.stream,
    p.resource,
    p.day,
        CASE
            WHEN p.complete AND g.day IS NOT NULL THEN 'pruned'::text
            WHEN p.complete THEN 'complete'::text
            WHEN p.running THEN 'running'::text
            WHEN p.failed THEN 'failed'::text
            ELSE 'pending'::text
        END AS state,
    p.windows,
    p.complete_windows,
    COALESCE(c.records, 0::bigint) AS records,
    COALESCE(c.pages, 0::bigint) AS pages,
    COALESCE(c.bytes, 0::bigint) AS bytes,
    c.proof,
        CASE
            WHEN p.complete THEN p.completed_at
            ELSE NULL::timestamp with time zone
        END AS completed_at,
    p.checked_at,
    p.due_at,
    e.last_error
   FROM ( SELECT s.stream_id,
            s.name AS stream,
            s.resource,
            w.day,
            count(*)::integer AS windows,
            count(*) FILTER (WHERE w.state = 'complete'::text)::integer AS complete_windows,
            bool_and(w.state = 'complete'::text) AS complete,
            bool_or(w.state = 'failed'::text) AS failed,
            bool_or(w.lease_expires > clock_timestamp()) AS running,
            max(w.completed_at) AS completed_at,
            max(w.checked_at) AS checked_at,
            min(w.due_at) AS due_at
           FROM daywalk.streams s
             JOIN daywalk.windows w ON w.stream_id = s.stream_id AND w.state <> 'split'::text
          GROUP BY s.stream_id, w.day) p
     LEFT JOIN daywalk.days c ON c.stream_id = p.stream_id AND c.day = p.day
     LEFT JOIN daywalk.prunings g ON g.stream_id = p.stream_id AND g.day = p.day AND g.what = 'day'::text
     LEFT JOIN daywalk.day_errors e ON e.stream_id = p.stream_id AND e.day = p.day
UNION ALL
 SELECT m.stream,
    m.resource,
    m.day,
    'missing'::text AS state,
    0 AS windows,
    0 AS complete_windows,
    0 AS records,
    0 AS pages,
    0 AS bytes,
    NULL::text AS proof,
    NULL::timestamp with time zone AS completed_at,
    NULL::timestamp with time zone AS checked_at,
    NULL::timestamp with time zone AS due_at,
    NULL::text AS last_error
   FROM daywalk.missing_days m;

create view daywalk.day_errors as
 SELECT DISTINCT ON (stream_id, day) stream_id,
    day,
    last_error
   FROM daywalk.windows
  WHERE last_error IS NOT NULL AND state <> 'split'::text
  ORDER BY stream_id, day, last_failed_at DESC;

create view daywalk.events as
 SELECT s.name AS stream,
    p.day,
    r.record,
    p.walk_id,
    p.page_no,
    p.start + r."position" - 1 AS "position",
    p.fetched_at
   FROM daywalk.pages p
     JOIN daywalk.walks k ON k.walk_id = p.walk_id AND k.published AND k.pruning IS NULL
     JOIN daywalk.windows w ON w.window_id = k.window_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id AND s.resource = 'events'::text
     LEFT JOIN daywalk."overlaps" o ON o.walk_id = p.walk_id AND o.page_no = p.page_no
     CROSS JOIN LATERAL jsonb_array_elements(p.body #> k.records_path) WITH ORDINALITY r(record, "position")
  WHERE
        CASE
            WHEN p.skip = 0 THEN true
            ELSE r."position" > p.skip
        END AND (o.positions IS NULL OR ((r."position" - p.skip) <> ALL (o.positions)));

create view daywalk.gaps as
 SELECT s.name AS stream,
    s.resource,
    u.day,
        CASE
            WHEN p.running THEN 'running'::text
            WHEN p.failed THEN 'failed'::text
            ELSE 'pending'::text
        END AS state,
    p.due_at,
    p.last_error
   FROM ( SELECT DISTINCT w.stream_id,
            w.day
           FROM daywalk.windows w
          WHERE w.state = ANY (ARRAY['pending'::text, 'failed'::text])) u
     JOIN daywalk.streams s ON s.stream_id = u.stream_id
     CROSS JOIN LATERAL ( SELECT bool_or(w.state = 'failed'::text) AS failed,
            bool_or(w.lease_expires > clock_timestamp()) AS running,
            min(w.due_at) AS due_at,
            (array_agg(w.last_error ORDER BY w.last_failed_at DESC) FILTER (WHERE w.last_error IS NOT NULL))[1] AS last_error
           FROM daywalk.windows w
          WHERE w.stream_id = u.stream_id AND w.day = u.day AND w.state <> 'split'::text) p
UNION ALL
 SELECT m.stream,
    m.resource,
    m.day,
    'missing'::text AS state,
    NULL::timestamp with time zone AS due_at,
    NULL::text AS last_error
   FROM daywalk.missing_days m;

create view daywalk.lateness as
 SELECT s.name AS stream,
    w.day,
    d.after,
    d.appeared AS records,
    d.found_at,
    d.walk_id
   FROM daywalk.differences d
     JOIN daywalk.windows w ON w.window_id = d.window_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id
  WHERE d.appeared > 0;

create view daywalk.ledger_check as
 SELECT stream,
    entry,
    day,
    revision,
    digest,
    missing_before,
    row_ok,
    chain_ok,
    pages_ok,
    walks_ok,
    newest,
    state_ok,
    missing_before = 0 AND row_ok AND chain_ok AND pages_ok AND walks_ok AND state_ok IS NOT FALSE AS ok
   FROM ( SELECT s.name AS stream,
            l.entry,
            l.day,
            l.revision,
            l.digest,
            l.entry - 1 - COALESCE(lag(l.entry) OVER chain, 0::bigint) AS missing_before,
            l.digest = daywalk.ledger_digest(l.*) AS row_ok,
            l.previous = COALESCE(lag(l.digest) OVER chain, daywalk.ledger_origin(l.stream_id)) AS chain_ok,
            l.pages_sha256 = daywalk.seals_digest(l.walks) AS pages_ok,
            l.walks_sha256 = daywalk.walks_digest(l.walks) AS walks_ok,
            lead(l.revision) OVER (PARTITION BY l.stream_id, l.day ORDER BY l.revision) IS NULL AS newest,
                CASE
                    WHEN lead(l.revision) OVER (PARTITION BY l.stream_id, l.day ORDER BY l.revision) IS NULL THEN
                    CASE
                        WHEN NOT COALESCE(d.unsealed_pages > 0, false) THEN d.stream_id IS NULL
                        ELSE NULL::boolean
                    END
                    ELSE NULL::boolean
                END AS state_ok
           FROM daywalk.ledger l
             JOIN daywalk.streams s ON s.stream_id = l.stream_id
             LEFT JOIN daywalk.ledger_due d ON d.stream_id = l.stream_id AND d.day = l.day
          WINDOW chain AS (PARTITION BY l.stream_id ORDER BY l.entry)) c;

create view daywalk.ledger_due as
 SELECT s.name AS stream,
    d.stream_id,
    d.day,
    d.walks,
    l.entry,
    (( SELECT COALESCE(sum(k.pages), 0::bigint) AS "coalesce"
           FROM daywalk.walks k
          WHERE k.walk_id = ANY (d.walks))) - (( SELECT count(*) AS count
           FROM daywalk.seals e
          WHERE e.walk_id = ANY (d.walks))) AS unsealed_pages
   FROM daywalk.published_days d
     JOIN daywalk.streams s ON s.stream_id = d.stream_id
     LEFT JOIN LATERAL ( SELECT l_1.stream_id,
            l_1.entry,
            l_1.day,
            l_1.revision,
            l_1.walks,
            l_1.pages,
            l_1.records,
            l_1.bytes,
            l_1.pages_sha256,
            l_1.walks_sha256,
            l_1.overlaps_sha256,
            l_1.appended_at,
            l_1.previous,
            l_1.digest
           FROM daywalk.ledger l_1
          WHERE l_1.stream_id = d.stream_id AND l_1.day = d.day
          ORDER BY l_1.revision DESC
         LIMIT 1) l ON true
  WHERE l.walks IS DISTINCT FROM d.walks OR l.overlaps_sha256 IS DISTINCT FROM daywalk.overlaps_digest(d.walks);

create view daywalk.missing_days as
 SELECT s.stream_id,
    s.name AS stream,
    s.resource,
    d.day::date AS day
   FROM daywalk.streams s
     CROSS JOIN LATERAL ( SELECT ((clock_timestamp() - s.settle) AT TIME ZONE s.time_zone)::date - 1 AS last_closed) c
     CROSS JOIN LATERAL generate_series(s.since::timestamp without time zone, c.last_closed::timestamp without time zone, '1 day'::interval) d(day)
  WHERE (( SELECT count(*) AS count
           FROM daywalk.windows w
          WHERE w.stream_id = s.stream_id AND w.kind = 'day'::text AND w.day >= s.since AND w.day <= c.last_closed)) <= (c.last_closed - s.since) AND NOT (EXISTS ( SELECT
           FROM daywalk.windows w
          WHERE w.stream_id = s.stream_id AND w.day = d.day::date));

create view daywalk.published_days as
 SELECT stream_id,
    day,
    COALESCE(( SELECT array_agg(k.walk_id ORDER BY k.walk_id) AS array_agg
           FROM daywalk.windows x
             JOIN daywalk.walks k ON k.window_id = x.window_id
          WHERE x.stream_id = w.stream_id AND x.day = w.day AND k.published), '{}'::bigint[]) AS walks
   FROM daywalk.windows w
  WHERE state <> 'split'::text
  GROUP BY stream_id, day
 HAVING bool_and(state = 'complete'::text);

create view daywalk.quarantine as
 SELECT s.name AS stream,
    p.day,
    p.walk_id,
    p.page_no,
    k.published,
    c.change ->> 'what'::text AS what,
    c.change ->> 'path'::text AS path,
    (c.change ->> 'offset'::text)::bigint AS "offset",
    c.change ->> 'found'::text AS found,
    p.sha256,
    p.byte_count,
    p.bytes
   FROM daywalk.pages p
     JOIN daywalk.walks k ON k.walk_id = p.walk_id AND k.pruning IS NULL
     JOIN daywalk.windows w ON w.window_id = k.window_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id
     CROSS JOIN LATERAL jsonb_array_elements(p.changes) c(change)
  WHERE p.changes IS NOT NULL;

create view daywalk.smart_events as
 SELECT s.name AS stream,
    p.day,
    r.record,
    p.walk_id,
    p.page_no,
    p.start + r."position" - 1 AS "position",
    p.fetched_at
   FROM daywalk.pages p
     JOIN daywalk.walks k ON k.walk_id = p.walk_id AND k.published AND k.pruning IS NULL
     JOIN daywalk.windows w ON w.window_id = k.window_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id AND s.resource = 'smart-event'::text
     LEFT JOIN daywalk."overlaps" o ON o.walk_id = p.walk_id AND o.page_no = p.page_no
     CROSS JOIN LATERAL jsonb_array_elements(p.body #> k.records_path) WITH ORDINALITY r(record, "position")
  WHERE
        CASE
            WHEN p.skip = 0 THEN true
            ELSE r."position" > p.skip
        END AND (o.positions IS NULL OR ((r."position" - p.skip) <> ALL (o.positions)));

create view daywalk.source_changes as
 SELECT s.name AS stream,
    w.day,
    d.found_at,
    d.after,
    v.walk_id,
    v.page_no,
    v."position",
    ( SELECT (p.body #> k.records_path) -> (v."position" - 1 + p.skip)
           FROM daywalk.pages p
          WHERE p.walk_id = v.walk_id AND p.page_no = v.page_no AND p.day = k.day) AS record
   FROM daywalk.vanished v
     JOIN daywalk.walks k ON k.walk_id = v.walk_id
     JOIN daywalk.differences d ON d.walk_id = v.found_by
     JOIN daywalk.windows w ON w.window_id = k.window_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id;

comment on schema daywalk is 'Pages of an Event Query API, one day window at a time. Query the views events, smart_events, coverage and gaps; the tables may change.';

comment on table daywalk.alarms is 'Whether the export of a set of streams fails, and what the webhook was last told about it.';
comment on column daywalk.alarms.streams is 'The streams of the settings, sorted.';
comment on column daywalk.alarms.failing is 'How the newest run found it.';
comment on column daywalk.alarms.problem is 'What was wrong then.';
comment on column daywalk.alarms.failing_since is 'When it began to fail the last time.';
comment on column daywalk.alarms.told_failing is 'What was last told: failing, or not.';
comment on column daywalk.alarms.told_at is 'When.';
comment on column daywalk.alarms.telling_until is 'A process is telling it now; after this another one may.';

comment on view daywalk.coverage is 'One row per stream and closed day since the stream''s first day, and per backfilled day.';
comment on column daywalk.coverage.stream is 'The stream.';
comment on column daywalk.coverage.resource is 'Its resource.';
comment on column daywalk.coverage.day is 'The day of the source''s calendar.';
comment on column daywalk.coverage.state is 'complete: every window of the day is proven; running, failed, pending: see there; missing: not planned yet; pruned: it was complete, and is not kept any more.';
comment on column daywalk.coverage.windows is 'Windows of the day, without those that were split.';
comment on column daywalk.coverage.complete_windows is 'How many of them are complete.';
comment on column daywalk.coverage.records is 'Records in published walks.';
comment on column daywalk.coverage.pages is 'Pages in published walks.';
comment on column daywalk.coverage.bytes is 'Bytes received for them.';
comment on column daywalk.coverage.proof is 'Kinds of proof: total, probe, union.';
comment on column daywalk.coverage.completed_at is 'When the day became complete.';
comment on column daywalk.coverage.checked_at is 'When the source was last seen to be as stored.';
comment on column daywalk.coverage.due_at is 'When a window of the day is to be walked next.';
comment on column daywalk.coverage.last_error is 'The newest error of its windows.';

comment on view daywalk.day_errors is 'The newest error of each day whose windows have any; the coverage is made of it.';
comment on column daywalk.day_errors.stream_id is 'The stream.';
comment on column daywalk.day_errors.day is 'The day of the source''s calendar.';
comment on column daywalk.day_errors.last_error is 'The newest error of its windows.';

comment on table daywalk.days is 'What the published walks of a day hold, added up whenever one of them is published.';
comment on column daywalk.days.stream_id is 'The stream.';
comment on column daywalk.days.day is 'The day of the source''s calendar.';
comment on column daywalk.days.records is 'Records in published walks; one that two of them hold counts once.';
comment on column daywalk.days.pages is 'Their pages.';
comment on column daywalk.days.bytes is 'Bytes received for them.';
comment on column daywalk.days.proof is 'Kinds of proof: total, probe, union.';
comment on column daywalk.days.unsealed is 'Something was published since the ledger was last compared with the day.';

comment on table daywalk.differences is 'What a later walk found to be different from the one published before it.';
comment on column daywalk.differences.window_id is 'The window.';
comment on column daywalk.differences.walk_id is 'The later walk.';
comment on column daywalk.differences.found_at is 'When it was published.';
comment on column daywalk.differences.after is 'How long after the day had closed.';
comment on column daywalk.differences.appeared is 'Records that it has and the earlier one had not.';
comment on column daywalk.differences.vanished is 'Records that the earlier one had and it has not.';

comment on view daywalk.events is 'One row per record of the resource events, from published walks.';
comment on column daywalk.events.stream is 'The stream.';
comment on column daywalk.events.day is 'The day of the source''s calendar; filter on it, it prunes partitions.';
comment on column daywalk.events.record is 'The record as sent.';
comment on column daywalk.events.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.events.page_no is 'The page within the walk.';
comment on column daywalk.events."position" is 'Offset of the record within its window, as the source listed it.';
comment on column daywalk.events.fetched_at is 'When the page arrived.';

comment on view daywalk.gaps is 'The rows of coverage that are not complete.';
comment on column daywalk.gaps.stream is 'The stream.';
comment on column daywalk.gaps.resource is 'Its resource.';
comment on column daywalk.gaps.day is 'The day of the source''s calendar.';
comment on column daywalk.gaps.state is 'running, failed, pending or missing.';
comment on column daywalk.gaps.due_at is 'When a window of the day is to be walked next.';
comment on column daywalk.gaps.last_error is 'The newest error of its windows.';

comment on view daywalk.lateness is 'How late records came: how many appeared how long after their day had closed.';
comment on column daywalk.lateness.stream is 'The stream.';
comment on column daywalk.lateness.day is 'The day of the source''s calendar.';
comment on column daywalk.lateness.after is 'How long after the day had closed they were found.';
comment on column daywalk.lateness.records is 'How many.';
comment on column daywalk.lateness.found_at is 'When they were found.';
comment on column daywalk.lateness.walk_id is 'The walk that found them.';

comment on table daywalk.learned is 'What was learned about the API in a stream, with its evidence.';
comment on column daywalk.learned.stream_id is 'The stream.';
comment on column daywalk.learned.fact is 'page_length: the largest that works; offset_cap: how deep paging goes; proven_size: the largest window that was proven beyond a walk from start to end; totals: 1, totals count the window.';
comment on column daywalk.learned.value is 'Its value.';
comment on column daywalk.learned.evidence is 'What showed it.';
comment on column daywalk.learned.learned_at is 'When; old facts are learned again.';

comment on table daywalk.ledger is 'A chain of digests for each stream: a row for each day when it is complete, and another one when it is published anew. Append-only.';
comment on column daywalk.ledger.stream_id is 'The stream.';
comment on column daywalk.ledger.entry is '1, 2, 3 … within the stream, in the order of appending, which need not be that of the days.';
comment on column daywalk.ledger.day is 'The day of the source''s calendar.';
comment on column daywalk.ledger.revision is '1, 2, 3 … within the day: it was walked again, or a neighbour changed which of two equal records is shown.';
comment on column daywalk.ledger.walks is 'The published walks of the day.';
comment on column daywalk.ledger.pages is 'Their pages.';
comment on column daywalk.ledger.records is 'Their records, those counted twice that two of them hold.';
comment on column daywalk.ledger.bytes is 'Bytes received for them.';
comment on column daywalk.ledger.pages_sha256 is 'daywalk.seals_digest of the walks: over the seals of their pages, in order.';
comment on column daywalk.ledger.walks_sha256 is 'daywalk.walks_digest of the walks: over their windows, numbers and proofs.';
comment on column daywalk.ledger.overlaps_sha256 is 'daywalk.overlaps_digest of the walks: over the records that the views leave out.';
comment on column daywalk.ledger.appended_at is 'When the row was appended.';
comment on column daywalk.ledger.previous is 'The digest of the entry before; of the first one: daywalk.ledger_origin.';
comment on column daywalk.ledger.digest is 'daywalk.ledger_digest of the row: SHA-256 over all its other columns, previous among them.';

comment on view daywalk.ledger_check is 'Every row of the ledger, recomputed from what it speaks about; docs/ledger.md tells how to read it.';
comment on column daywalk.ledger_check.stream is 'The stream.';
comment on column daywalk.ledger_check.entry is 'The entry.';
comment on column daywalk.ledger_check.day is 'The day of the source''s calendar.';
comment on column daywalk.ledger_check.revision is 'The revision of the day.';
comment on column daywalk.ledger_check.digest is 'The digest as stored; keep the newest one of each stream elsewhere.';
comment on column daywalk.ledger_check.missing_before is 'How many entries are missing before this one.';
comment on column daywalk.ledger_check.row_ok is 'The row is as it was appended.';
comment on column daywalk.ledger_check.chain_ok is 'It follows the row before.';
comment on column daywalk.ledger_check.pages_ok is 'The seals of its pages are as they were.';
comment on column daywalk.ledger_check.walks_ok is 'Its walks and their windows are as they were.';
comment on column daywalk.ledger_check.newest is 'It is the newest revision of its day.';
comment on column daywalk.ledger_check.state_ok is 'Of a newest revision: what is published is what it says; null where its pages are about to be sealed.';
comment on column daywalk.ledger_check.ok is 'All of it.';

comment on view daywalk.ledger_due is 'The complete days that are not in the ledger as they are now; the next run appends them.';
comment on column daywalk.ledger_due.stream is 'The stream.';
comment on column daywalk.ledger_due.stream_id is 'Its key.';
comment on column daywalk.ledger_due.day is 'The day of the source''s calendar.';
comment on column daywalk.ledger_due.walks is 'Its published walks.';
comment on column daywalk.ledger_due.entry is 'The newest entry about the day, which says something else; null: there is none.';
comment on column daywalk.ledger_due.unsealed_pages is 'Pages without a seal. None: the day was in the ledger before, and the row is gone, or a neighbouring day was just published.';

comment on view daywalk.missing_days is 'The closed days that a stream wants and that have no window; the coverage and the gaps are made of it.';
comment on column daywalk.missing_days.stream_id is 'The stream.';
comment on column daywalk.missing_days.stream is 'Its name.';
comment on column daywalk.missing_days.resource is 'Its resource.';
comment on column daywalk.missing_days.day is 'The day of the source''s calendar.';

comment on table daywalk."overlaps" is 'Records of a published walk that another one shows already; the views leave them out.';
comment on column daywalk."overlaps".walk_id is 'The walk.';
comment on column daywalk."overlaps".page_no is 'The page within the walk.';
comment on column daywalk."overlaps".positions is 'Positions among the records of the page, from 1.';

comment on table daywalk.pages is 'A page is one response body, stored as it came; one partition a month.';
comment on column daywalk.pages.walk_id is 'The walk.';
comment on column daywalk.pages.page_no is '0, 1, 2 … within the walk.';
comment on column daywalk.pages.day is 'The day of the window; the partition key.';
comment on column daywalk.pages.start is 'Offset of its first record.';
comment on column daywalk.pages.length is 'How many records were asked for.';
comment on column daywalk.pages.skip is '1: its first record is the last one of the page before, asked for again to see that the list did not move.';
comment on column daywalk.pages.records is 'How many came, without that one.';
comment on column daywalk.pages.total is 'The total that it told.';
comment on column daywalk.pages.relation is 'The word that came with the total: gte says that it is a lower bound.';
comment on column daywalk.pages.body is 'The body, parsed by Postgres from the bytes received; where changes is not null, from a sanitised copy.';
comment on column daywalk.pages.bytes is 'The exact bytes received, where jsonb cannot hold them, or always if keep_bytes says so.';
comment on column daywalk.pages.changes is 'What was changed in the sanitised copy, and where; null: nothing.';
comment on column daywalk.pages.record_hashes is 'A hash of each of these records, in order; equal records have equal hashes within this database.';
comment on column daywalk.pages.sha256 is 'SHA-256 of the bytes received, after content decoding.';
comment on column daywalk.pages.byte_count is 'How many bytes were received, after content decoding.';
comment on column daywalk.pages.fetched_at is 'When the last byte arrived.';
comment on column daywalk.pages.duration_ms is 'Milliseconds from the request to the last byte.';

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

comment on view daywalk.published_days is 'The published walks of every complete day.';
comment on column daywalk.published_days.stream_id is 'The stream.';
comment on column daywalk.published_days.day is 'The day of the source''s calendar.';
comment on column daywalk.published_days.walks is 'Its published walks.';

comment on view daywalk.quarantine is 'What was changed in the sanitised copies of pages that jsonb cannot hold.';
comment on column daywalk.quarantine.stream is 'The stream.';
comment on column daywalk.quarantine.day is 'The day of the source''s calendar.';
comment on column daywalk.quarantine.walk_id is 'The walk.';
comment on column daywalk.quarantine.page_no is 'The page within the walk.';
comment on column daywalk.quarantine.published is 'The views show the sanitised copy.';
comment on column daywalk.quarantine.what is 'Kind of change: nul, surrogate, utf8, utf16, bom, number, depth, string-size, elements.';
comment on column daywalk.quarantine.path is 'Where in the body.';
comment on column daywalk.quarantine."offset" is 'Byte offset in the bytes received.';
comment on column daywalk.quarantine.found is 'What stood there.';
comment on column daywalk.quarantine.sha256 is 'SHA-256 of the bytes received.';
comment on column daywalk.quarantine.byte_count is 'How many bytes were received.';
comment on column daywalk.quarantine.bytes is 'The exact bytes received.';

comment on table daywalk.rates is 'When the next request to an API may go, where the setting rate is set; the workers take slots from here.';
comment on column daywalk.rates.origin is 'Scheme, host and port of the API.';
comment on column daywalk.rates.next_slot is 'The first instant that no worker has taken yet; it may be past.';

comment on table daywalk.runs is 'A run is one planning-and-draining pass: scheduled, by hand, or a backfill.';
comment on column daywalk.runs.run_id is 'Key.';
comment on column daywalk.runs.key is 'Made by the program, so that a repeated statement notes one run.';
comment on column daywalk.runs.trigger is 'schedule, hand or backfill.';
comment on column daywalk.runs.owner is 'Host and process.';
comment on column daywalk.runs.from_day is 'First day of a backfill.';
comment on column daywalk.runs.to_day is 'Last day of a backfill.';
comment on column daywalk.runs.windows_due is 'Windows that were due when it began.';
comment on column daywalk.runs.windows_complete is 'Windows that it completed.';
comment on column daywalk.runs.windows_failed is 'Windows that failed in it.';
comment on column daywalk.runs.windows_split is 'Windows that it split into parts.';
comment on column daywalk.runs.windows_unchanged is 'Complete windows that it looked at and found as they are stored.';
comment on column daywalk.runs.pages is 'Pages that it stored.';
comment on column daywalk.runs.records is 'Records that it stored.';
comment on column daywalk.runs.bytes is 'Bytes that it stored.';
comment on column daywalk.runs.started_at is 'When it began.';
comment on column daywalk.runs.finished_at is 'When it ended; null: in progress, or killed.';
comment on column daywalk.runs.outcome is 'done, gaps, refused, unavailable, interrupted, settings or unexpected.';
comment on column daywalk.runs.error is 'The error that ended it.';

comment on table daywalk.seals is 'A seal is a digest of everything that is stored of a page, made while its day is walked, and for the last pages when it is complete. Append-only.';
comment on column daywalk.seals.walk_id is 'The walk.';
comment on column daywalk.seals.page_no is 'The page within the walk.';
comment on column daywalk.seals.day is 'The day of the window.';
comment on column daywalk.seals.body_sha256 is 'daywalk.body_digest of the body: SHA-256 of body::text in UTF-8.';
comment on column daywalk.seals.digest is 'daywalk.page_digest of the row: SHA-256 over all its columns, the body as body_sha256.';
comment on column daywalk.seals.sealed_at is 'When it was made.';

comment on view daywalk.smart_events is 'One row per record of the resource smart-event, from published walks.';
comment on column daywalk.smart_events.stream is 'The stream.';
comment on column daywalk.smart_events.day is 'The day of the source''s calendar; filter on it, it prunes partitions.';
comment on column daywalk.smart_events.record is 'The record as sent.';
comment on column daywalk.smart_events.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.smart_events.page_no is 'The page within the walk.';
comment on column daywalk.smart_events."position" is 'Offset of the record within its window, as the source listed it.';
comment on column daywalk.smart_events.fetched_at is 'When the page arrived.';

comment on view daywalk.source_changes is 'Records that the source does not show any more, or shows differently.';
comment on column daywalk.source_changes.stream is 'The stream.';
comment on column daywalk.source_changes.day is 'The day of the source''s calendar.';
comment on column daywalk.source_changes.found_at is 'When it was found.';
comment on column daywalk.source_changes.after is 'How long after the day had closed.';
comment on column daywalk.source_changes.walk_id is 'The earlier walk that holds the record.';
comment on column daywalk.source_changes.page_no is 'Its page.';
comment on column daywalk.source_changes."position" is 'Its position among the records of the page, from 1.';
comment on column daywalk.source_changes.record is 'The record as it was.';

comment on table daywalk.streams is 'A stream is a resource of the API with a fixed set of filters, exported under a name.';
comment on column daywalk.streams.stream_id is 'Key.';
comment on column daywalk.streams.name is 'The name in the settings.';
comment on column daywalk.streams.resource is 'The API operation: events or smart-event.';
comment on column daywalk.streams.filters is 'The fixed query parameters, unset ones left out.';
comment on column daywalk.streams.fingerprint is 'SHA-256, hexadecimal, of resource and filters; a stream never continues with another one.';
comment on column daywalk.streams.since is 'The first day that the schedule exports.';
comment on column daywalk.streams.time_zone is 'IANA time zone of the source, in which its days begin and end.';
comment on column daywalk.streams.settle is 'How long after its end a day counts as closed.';
comment on column daywalk.streams.created_at is 'When the stream was first planned.';

comment on table daywalk.vanished is 'The records that a later walk did not find any more.';
comment on column daywalk.vanished.found_by is 'The later walk.';
comment on column daywalk.vanished.walk_id is 'The earlier walk that holds the record.';
comment on column daywalk.vanished.page_no is 'Its page.';
comment on column daywalk.vanished."position" is 'Its position among the records of the page, from 1.';

comment on table daywalk.walks is 'A walk is one pass over a window from its first page to its proven end.';
comment on column daywalk.walks.walk_id is 'Key.';
comment on column daywalk.walks.window_id is 'The window.';
comment on column daywalk.walks.number is '1, 2, 3 … within the window.';
comment on column daywalk.walks.span is 'whole; or a half of the window, walked to compare it with the whole; or, of a seam, the second that belongs to the next day.';
comment on column daywalk.walks.day is 'The day of the window.';
comment on column daywalk.walks.page_length is 'How many records each page asks for.';
comment on column daywalk.walks.records_path is 'Keys from the top of a body to its record list; {} is the body itself.';
comment on column daywalk.walks.total_path is 'Keys to the total; null where the source gives none.';
comment on column daywalk.walks.relation_path is 'Keys to the word that qualifies the total (eq, gte).';
comment on column daywalk.walks.next_start is 'The checkpoint: the offset of the next page, equal to the records stored.';
comment on column daywalk.walks.pages is 'Pages stored.';
comment on column daywalk.walks.records is 'Records stored.';
comment on column daywalk.walks.bytes is 'Bytes of the bodies stored, as received.';
comment on column daywalk.walks.requests is 'Requests made, refused ones and probes included.';
comment on column daywalk.walks.first_total is 'The total on the first page.';
comment on column daywalk.walks.last_total is 'The total on the last page.';
comment on column daywalk.walks.outcome is 'proven; ended: at its end, not believed alone, evidence for another; shifted: the list moved under it; failed; null: in progress.';
comment on column daywalk.walks.reason is 'Why it is not proven.';
comment on column daywalk.walks.proof is 'What shows that it saw the whole window, with the numbers.';
comment on column daywalk.walks.published is 'The views show it.';
comment on column daywalk.walks.started_at is 'When it began.';
comment on column daywalk.walks.finished_at is 'When it ended.';
comment on column daywalk.walks.pruning is 'Its pages were pruned, or are just being removed; null: they are there.';

comment on table daywalk.windows is 'A window is a span of the source''s wall-clock time, normally one day, that is walked as a unit.';
comment on column daywalk.windows.window_id is 'Key.';
comment on column daywalk.windows.stream_id is 'The stream.';
comment on column daywalk.windows.kind is 'day; seam: the second on either side of a midnight; part: of a window that was split.';
comment on column daywalk.windows.day is 'The day of the source''s calendar that the window belongs to.';
comment on column daywalk.windows.from_time is 'First second, inclusive, wall-clock time of the source.';
comment on column daywalk.windows.to_time is 'Last second, inclusive, wall-clock time of the source.';
comment on column daywalk.windows.level_from is 'Lowest rule level, where it was split by level.';
comment on column daywalk.windows.level_to is 'Highest rule level, where it was split by level.';
comment on column daywalk.windows.split_from is 'The window that this one is a part of, where that one was split.';
comment on column daywalk.windows.split_by is 'How it was split: time or level.';
comment on column daywalk.windows.split_reason is 'Why it was split, with the numbers.';
comment on column daywalk.windows.split_total is 'The total when it was split, where it is exact; its parts must hold as much.';
comment on column daywalk.windows.sums_checked is 'Its parts were complete together once, and held as much; what changes later is a difference, not a fault.';
comment on column daywalk.windows.purpose is 'Why it is walked: scheduled goes before recheck before backfill.';
comment on column daywalk.windows.state is 'pending: to be walked; complete: proven whole; failed: see last_error, walked again at due_at; split: its parts stand for it.';
comment on column daywalk.windows.due_at is 'When it is to be walked next; null: not until asked.';
comment on column daywalk.windows.current_walk is 'The walk in progress.';
comment on column daywalk.windows.rewalk is 'A person asked to walk it again, though it is complete.';
comment on column daywalk.windows.lease_id is 'Random id of the current claim; every write of a worker must name it.';
comment on column daywalk.windows.lease_owner is 'Host and process of the worker, for people.';
comment on column daywalk.windows.lease_number is 'How often the window was claimed, for people; the fence is lease_id.';
comment on column daywalk.windows.lease_expires is 'From then on, by the database''s clock, another worker may claim the window.';
comment on column daywalk.windows.attempts is 'Claims since the last page was stored.';
comment on column daywalk.windows.failures is 'Failures since the window was last complete.';
comment on column daywalk.windows.last_error is 'Why it last failed.';
comment on column daywalk.windows.last_failed_at is 'When it last failed.';
comment on column daywalk.windows.created_at is 'When it was planned.';
comment on column daywalk.windows.completed_at is 'When its newest proven walk was proven.';
comment on column daywalk.windows.checked_at is 'When the source was last seen to be as stored.';
