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

create table daywalk.contracts (
  stream_id integer not null,
  hints text not null,
  records_path text[] not null,
  total_path text[],
  relation_path text[],
  total_first boolean default true not null,
  total_later boolean,
  learned_at timestamp with time zone default clock_timestamp() not null,
  constraint contracts_pkey PRIMARY KEY (stream_id),
  constraint contracts_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.days (
  stream_id integer not null,
  day date not null,
  records bigint not null,
  gone bigint not null,
  lost bigint not null,
  pages bigint not null,
  bytes bigint not null,
  proof text,
  revision integer not null,
  unsealed boolean default true not null,
  unshared boolean default false not null,
  publication uuid default gen_random_uuid() not null,
  retired_since timestamp with time zone,
  restored_at timestamp with time zone,
  constraint days_pkey PRIMARY KEY (stream_id, day),
  constraint days_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.filter_places (
  stream_id integer not null,
  seq bigint not null,
  constraint filter_places_pkey PRIMARY KEY (stream_id),
  constraint filter_places_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.frames (
  stream_id integer not null,
  signature text not null,
  example text not null,
  first_seen timestamp with time zone default clock_timestamp() not null,
  confirmed_at timestamp with time zone,
  constraint frames_pkey PRIMARY KEY (stream_id, signature),
  constraint frames_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.learned (
  stream_id integer not null,
  fact text not null,
  value jsonb not null,
  evidence text not null,
  learned_at timestamp with time zone default clock_timestamp() not null,
  kept boolean default false not null,
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
  marks_sha256 bytea not null,
  appended_at timestamp with time zone not null,
  previous bytea not null,
  digest bytea not null,
  constraint ledger_entry_check CHECK ((entry > 0)),
  constraint ledger_pkey PRIMARY KEY (stream_id, entry),
  constraint ledger_revision_check CHECK ((revision > 0)),
  constraint ledger_stream_id_day_revision_key UNIQUE (stream_id, day, revision),
  constraint ledger_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.marks (
  walk_id bigint not null,
  page_no integer not null,
  "position" integer not null,
  day date not null,
  state text not null,
  since timestamp with time zone not null,
  first_seen timestamp with time zone,
  revision integer default 1 not null,
  hidden_by bigint,
  stood_on date,
  seen boolean generated always as (((state = ANY (ARRAY['shown'::text, 'missing'::text, 'gone'::text])) AND (hidden_by IS NULL))) stored not null,
  constraint marks_hidden_by_fkey FOREIGN KEY (hidden_by) REFERENCES daywalk.windows(window_id),
  constraint marks_pkey PRIMARY KEY (walk_id, page_no, "position"),
  constraint marks_position_check CHECK (("position" > 0)),
  constraint marks_revision_check CHECK ((revision > 0)),
  constraint marks_state_check CHECK ((state = ANY (ARRAY['shown'::text, 'missing'::text, 'gone'::text, 'hidden'::text, 'old'::text]))),
  constraint marks_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id)
);

create table daywalk.misfits (
  table_id integer not null,
  day date not null,
  "column" text not null,
  walk_id bigint not null,
  page_no integer not null,
  place integer not null,
  found text not null,
  reason text not null,
  constraint misfits_table_id_fkey FOREIGN KEY (table_id) REFERENCES daywalk.record_tables(table_id) ON DELETE CASCADE
);

create table daywalk.page_filters (
  walk_id bigint not null,
  page_no integer not null,
  filter bytea not null,
  constraint page_filters_filter_check CHECK ((octet_length(filter) >= 32)),
  constraint page_filters_pkey PRIMARY KEY (walk_id, page_no),
  constraint page_filters_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id)
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
  total_missing boolean default false not null,
  more boolean default false not null,
  body jsonb not null,
  bytes bytea,
  changes jsonb,
  record_hashes bigint[] not null,
  id_hashes bigint[],
  sha256 bytea not null,
  byte_count integer not null,
  fetched_at timestamp with time zone not null,
  duration_ms integer not null,
  constraint pages_check CHECK ((cardinality(record_hashes) = records)),
  constraint pages_check1 CHECK ((cardinality(id_hashes) = records)),
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
  twins_before bigint[],
  twins_behind bigint[],
  constraint prunings_pkey PRIMARY KEY (pruning_id),
  constraint prunings_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id),
  constraint prunings_what_check CHECK ((what = ANY (ARRAY['day'::text, 'superseded'::text])))
);

create table daywalk.publications (
  stream_id integer not null,
  seq bigint not null,
  key uuid default gen_random_uuid() not null,
  day date not null,
  revision integer not null,
  records bigint not null,
  appeared bigint not null,
  gone bigint not null,
  lost bigint not null,
  published_at timestamp with time zone not null,
  constraint publications_key_key UNIQUE (key),
  constraint publications_pkey PRIMARY KEY (stream_id, seq),
  constraint publications_seq_check CHECK ((seq > 0)),
  constraint publications_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.rates (
  origin text not null,
  next_slot timestamp with time zone not null,
  constraint rates_pkey PRIMARY KEY (origin)
);

create table daywalk.record_tables (
  table_id integer generated always as identity not null,
  name text not null,
  stream text not null,
  columns jsonb not null,
  keep_record boolean not null,
  outlives boolean not null,
  retention interval,
  state text not null,
  trouble text,
  constraint record_tables_name_check CHECK ((name ~ '^[a-z_][a-z0-9_]{0,39}$'::text)),
  constraint record_tables_name_state_key UNIQUE (name, state),
  constraint record_tables_pkey PRIMARY KEY (table_id),
  constraint record_tables_state_check CHECK ((state = ANY (ARRAY['building'::text, 'live'::text])))
);

create table daywalk.refused_keys (
  base_url text not null,
  salt uuid not null,
  digest bytea not null,
  said text not null,
  since timestamp with time zone default clock_timestamp() not null,
  refused_at timestamp with time zone default clock_timestamp() not null,
  constraint refused_keys_pkey PRIMARY KEY (base_url, digest)
);

create table daywalk.runs (
  run_id bigint generated always as identity not null,
  key uuid not null,
  trigger text not null,
  owner text not null,
  from_day date,
  to_day date,
  windows_complete integer default 0 not null,
  windows_failed integer default 0 not null,
  windows_unchanged integer default 0 not null,
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

create table daywalk.shared_records (
  walk_id bigint not null,
  page_no integer not null,
  place integer not null,
  constraint shared_records_pkey PRIMARY KEY (walk_id, page_no, place),
  constraint shared_records_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id)
);

create table daywalk.streams (
  stream_id integer generated always as identity not null,
  name text not null,
  resource text not null,
  filters jsonb not null,
  fingerprint text not null,
  since date not null,
  until date,
  time_zone text not null,
  settle interval not null,
  id_path text[],
  time_path text[],
  time_format text[],
  accepted_at timestamp with time zone,
  distrusted_since timestamp with time zone,
  known_at timestamp with time zone,
  constraint streams_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'::text)),
  constraint streams_name_key UNIQUE (name),
  constraint streams_pkey PRIMARY KEY (stream_id),
  constraint streams_resource_check CHECK ((resource = ANY (ARRAY['events'::text, 'smart-event'::text]))),
  constraint streams_settle_check CHECK ((settle >= '00:00:00'::interval))
);

create table daywalk.table_days (
  table_id integer not null,
  day date not null,
  publication uuid not null,
  records bigint not null,
  faults bigint not null,
  synced_at timestamp with time zone not null,
  constraint table_days_pkey PRIMARY KEY (table_id, day),
  constraint table_days_table_id_fkey FOREIGN KEY (table_id) REFERENCES daywalk.record_tables(table_id) ON DELETE CASCADE
);

create table daywalk.tiered_days (
  stream_id integer not null,
  day date not null,
  publication uuid not null,
  place text not null,
  pages_key text not null,
  pages_bytes bigint not null,
  pages_sha256 bytea not null,
  events_key text not null,
  events_bytes bigint not null,
  events_sha256 bytea not null,
  records bigint not null,
  records_sha256 bytea not null,
  twins_before bigint[],
  twins_behind bigint[],
  constraint tiered_days_events_sha256_check CHECK ((octet_length(events_sha256) = 32)),
  constraint tiered_days_pages_sha256_check CHECK ((octet_length(pages_sha256) = 32)),
  constraint tiered_days_pkey PRIMARY KEY (stream_id, day),
  constraint tiered_days_records_sha256_check CHECK ((octet_length(records_sha256) = 32)),
  constraint tiered_days_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.told_days (
  stream_id integer not null,
  entry bigint not null,
  seq bigint not null,
  telling_until timestamp with time zone,
  constraint told_days_pkey PRIMARY KEY (stream_id),
  constraint told_days_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

create table daywalk.walks (
  walk_id bigint generated always as identity not null,
  window_id bigint not null,
  number integer not null,
  role text default 'whole'::text not null,
  day date not null,
  from_time timestamp without time zone not null,
  to_time timestamp without time zone not null,
  level_from integer,
  level_to integer,
  page_length integer not null,
  records_path text[],
  total_path text[],
  relation_path text[],
  ignored text[] default '{}'::text[] not null,
  id_path text[],
  next_start bigint default 0 not null,
  pages integer default 0 not null,
  records bigint generated always as (next_start) stored not null,
  bytes bigint default 0 not null,
  requests integer default 0 not null,
  first_total bigint,
  last_total bigint,
  claims jsonb default '[]'::jsonb not null,
  outcome text,
  reason text,
  proof jsonb,
  shown text default 'no'::text not null,
  shared boolean default false not null,
  started_at timestamp with time zone default clock_timestamp() not null,
  finished_at timestamp with time zone,
  pruning bigint,
  constraint walks_check CHECK ((from_time <= to_time)),
  constraint walks_check1 CHECK (((outcome IS NULL) = (finished_at IS NULL))),
  constraint walks_check2 CHECK (((outcome <> 'proven'::text) OR (proof IS NOT NULL))),
  constraint walks_check3 CHECK (((shown = 'no'::text) OR (outcome = 'proven'::text))),
  constraint walks_outcome_check CHECK ((outcome = ANY (ARRAY['proven'::text, 'ended'::text, 'shifted'::text, 'failed'::text]))),
  constraint walks_page_length_check CHECK ((page_length > 0)),
  constraint walks_pkey PRIMARY KEY (walk_id),
  constraint walks_pruning_fkey FOREIGN KEY (pruning) REFERENCES daywalk.prunings(pruning_id),
  constraint walks_role_check CHECK ((role = ANY (ARRAY['whole'::text, 'half'::text, 'across'::text, 'before'::text, 'after'::text]))),
  constraint walks_shown_check CHECK ((shown = ANY (ARRAY['no'::text, 'whole'::text, 'part'::text]))),
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
  midnight date generated always as (
CASE
    WHEN ((kind = 'cut'::text) AND (split_from IS NULL)) THEN (from_time)::date
    ELSE NULL::date
END) stored,
  split_by text,
  split_reason text,
  split_total bigint,
  split_calibrated boolean default false not null,
  purpose text not null,
  state text default 'pending'::text not null,
  due_at timestamp with time zone default clock_timestamp(),
  current_walk bigint,
  rewalk boolean default false not null,
  proof jsonb,
  looks integer default 0 not null,
  judged integer default 0 not null,
  lease_id uuid,
  lease_owner text,
  lease_number integer default 0 not null,
  lease_expires timestamp with time zone,
  attempts integer default 0 not null,
  failures integer default 0 not null,
  last_error text,
  last_failed_at timestamp with time zone,
  created_at timestamp with time zone default clock_timestamp() not null,
  proven_at timestamp with time zone,
  looked_at timestamp with time zone,
  shown_at timestamp with time zone,
  constraint windows_check CHECK ((from_time <= to_time)),
  constraint windows_check1 CHECK (((day = (from_time)::date) OR (day = (to_time)::date))),
  constraint windows_check2 CHECK (((lease_id IS NULL) = (lease_expires IS NULL))),
  constraint windows_check3 CHECK (((state <> 'split'::text) OR (split_by IS NOT NULL))),
  constraint windows_check4 CHECK (((state <> 'complete'::text) OR ((proof IS NOT NULL) AND (proven_at IS NOT NULL)))),
  constraint windows_check5 CHECK (((state <> 'replaced'::text) OR ((split_from IS NOT NULL) AND (due_at IS NULL) AND (lease_id IS NULL)))),
  constraint windows_check6 CHECK (
CASE kind
    WHEN 'day'::text THEN (split_from IS NULL)
    WHEN 'part'::text THEN (split_from IS NOT NULL)
    ELSE true
END),
  constraint windows_current_walk_fkey FOREIGN KEY (current_walk) REFERENCES daywalk.walks(walk_id),
  constraint windows_kind_check CHECK ((kind = ANY (ARRAY['day'::text, 'part'::text, 'cut'::text]))),
  constraint windows_pkey PRIMARY KEY (window_id),
  constraint windows_purpose_check CHECK ((purpose = ANY (ARRAY['scheduled'::text, 'look'::text, 'backfill'::text]))),
  constraint windows_split_by_check CHECK ((split_by = ANY (ARRAY['time'::text, 'level'::text]))),
  constraint windows_split_from_fkey FOREIGN KEY (split_from) REFERENCES daywalk.windows(window_id),
  constraint windows_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'complete'::text, 'failed'::text, 'split'::text, 'replaced'::text]))),
  constraint windows_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id)
);

CREATE INDEX days_gone ON daywalk.days USING btree (stream_id, day) WHERE (gone > 0);

CREATE INDEX days_unsealed ON daywalk.days USING btree (stream_id, day) WHERE unsealed;

CREATE INDEX days_unshared ON daywalk.days USING btree (day) WHERE unshared;

CREATE INDEX marks_day ON daywalk.marks USING btree (day);

CREATE INDEX marks_gone ON daywalk.marks USING btree (walk_id) WHERE (state = 'gone'::text);

CREATE INDEX marks_hidden ON daywalk.marks USING btree (hidden_by) WHERE (hidden_by IS NOT NULL);

CREATE INDEX marks_stood_on ON daywalk.marks USING btree (day) WHERE (stood_on IS NOT NULL);

CREATE INDEX misfits_day ON daywalk.misfits USING btree (table_id, day);

CREATE UNIQUE INDEX prunings_day ON daywalk.prunings USING btree (stream_id, day) WHERE (what = 'day'::text);

CREATE INDEX prunings_open ON daywalk.prunings USING btree (pruning_id) WHERE (removed_at IS NULL);

CREATE INDEX publications_day ON daywalk.publications USING btree (stream_id, day, published_at);

CREATE INDEX runs_started ON daywalk.runs USING btree (started_at);

CREATE INDEX walks_shown ON daywalk.walks USING btree (window_id) WHERE (shown <> 'no'::text);

CREATE INDEX windows_day ON daywalk.windows USING btree (stream_id, day);

CREATE INDEX windows_due ON daywalk.windows USING btree (purpose DESC, day, ((kind = 'cut'::text)), from_time) WHERE (due_at IS NOT NULL);

CREATE INDEX windows_error ON daywalk.windows USING btree (stream_id, day) WHERE (last_error IS NOT NULL);

CREATE INDEX windows_lease ON daywalk.windows USING btree (lease_id) WHERE (lease_id IS NOT NULL);

CREATE UNIQUE INDEX windows_midnight ON daywalk.windows USING btree (stream_id, midnight) WHERE (midnight IS NOT NULL);

CREATE INDEX windows_parts ON daywalk.windows USING btree (split_from) WHERE (split_from IS NOT NULL);

CREATE UNIQUE INDEX windows_span ON daywalk.windows USING btree (kind, stream_id, from_time, to_time, COALESCE(level_from, '-1'::integer), COALESCE(level_to, '-1'::integer));

CREATE INDEX windows_split ON daywalk.windows USING btree (stream_id, day) WHERE (split_by IS NOT NULL);

CREATE INDEX windows_unfinished ON daywalk.windows USING btree (stream_id, day) WHERE (state = ANY (ARRAY['pending'::text, 'failed'::text, 'split'::text]));

CREATE UNIQUE INDEX windows_whole_day ON daywalk.windows USING btree (stream_id, day) WHERE (kind = 'day'::text);

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON daywalk.ledger FOR EACH STATEMENT EXECUTE FUNCTION daywalk.refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON daywalk.seals FOR EACH STATEMENT EXECUTE FUNCTION daywalk.refuse_change();

CREATE OR REPLACE FUNCTION daywalk.append_to_ledger(of_stream integer, on_day date)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  due daywalk.ledger_due;
  line daywalk.ledger;
  marked boolean;
begin
  perform daywalk.need_read_committed();
  perform pg_advisory_xact_lock(hashtext('daywalk.ledger'), of_stream);
  -- The long work first: who shows something of this day meanwhile waits for the update below.
  perform daywalk.seal_pages(k.walk_id, 0, k.pages)
     from daywalk.ledger_due d join daywalk.walks k on k.walk_id = any (d.walks)
    where d.stream_id = of_stream and d.day = on_day;
  -- Before the day is read, so that what is shown from now on marks it again.
  update daywalk.days set unsealed = false where stream_id = of_stream and day = on_day and unsealed;
  marked := found;
  select * into due from daywalk.ledger_due where stream_id = of_stream and day = on_day;
  if due.walks is null or due.walks = '{}' then
    -- It was complete when it was chosen: a failover took that away, or it is walked again. What completes it may show nothing new.
    update daywalk.days n set unsealed = true
     where marked and n.stream_id = of_stream and n.day = on_day
       and not exists (select from daywalk.shown_days d where d.stream_id = of_stream and d.day = on_day);
    return null;
  end if;
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
  line.marks_sha256 := daywalk.marks_digest(due.walks);
  line.appended_at := clock_timestamp();
  line.digest := daywalk.ledger_digest(line);
  insert into daywalk.ledger select line.*;
  return line.entry;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.apply_verdicts(top bigint, at timestamp with time zone, OUT marked boolean, OUT differs boolean, OUT appeared bigint, OUT gone bigint)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  with verdict as materialized (
    select * from daywalk.verdicts(top, at)
  ), noted as (
    insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision)
    select v.walk_id, v.page_no, v.position, v.day,
           case v.verdict when 'show' then 'shown' when 'back' then 'shown' when 'hide' then 'hidden' else v.verdict end,
           v.since, v.first_seen, v.revision
      from verdict v
    on conflict (walk_id, page_no, position) do update
       set state = excluded.state, since = excluded.since, first_seen = excluded.first_seen, revision = excluded.revision
  ), shown as (
    update daywalk.walks k set shown = 'part'
     where k.shown = 'no' and k.walk_id in (select v.walk_id from verdict v where v.verdict = 'show')
  )
  select count(*) > 0, coalesce(bool_or(was.hidden_by is null and v.verdict <> 'missing' and not (v.verdict = 'back' and was.state = 'missing')), false),
         count(*) filter (where v.verdict = 'show' and v.revision = 1), count(*) filter (where v.verdict = 'gone' and was.hidden_by is null)
    into marked, differs, appeared, gone
    from verdict v
    left join daywalk.marks was on was.walk_id = v.walk_id and was.page_no = v.page_no and was.position = v.position;
  if marked or exists (select from daywalk.walks k join daywalk.marks mark on mark.walk_id = k.walk_id
                        where k.window_id = any (array(select daywalk.subtree(top))) and mark.state = 'missing'
                          and mark.since + interval '1 hour' > apply_verdicts.at) then
    perform daywalk.ask_missing_again(top);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.ask_cuts_again(of_stream integer, on_day date)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update daywalk.windows w set due_at = least(w.due_at, clock_timestamp()), rewalk = true
   where w.stream_id = of_stream and w.midnight in (on_day - 1, on_day)
     and not exists (select from daywalk.prunings g where g.stream_id = of_stream and g.what = 'day' and g.day = w.day)
$function$;

CREATE OR REPLACE FUNCTION daywalk.ask_missing_again(top bigint)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with missing as materialized (
    select k.window_id, min(mark.since) as since
      from daywalk.walks k join daywalk.marks mark on mark.walk_id = k.walk_id and mark.state = 'missing'
     where k.window_id = any (array(select daywalk.subtree(top)))
     group by k.window_id
  ), leaf as materialized (
    select window_id, kind from daywalk.leaves(top)
  ), again as (
    select l.window_id, min(m.since) as since
      from leaf l join missing m on m.window_id = l.window_id
        or (l.kind <> 'cut' and m.window_id not in (select window_id from leaf))
     group by l.window_id
  )
  update daywalk.windows w set rewalk = true, due_at = greatest(again.since + interval '1 hour', clock_timestamp())
    from again
   where w.window_id = again.window_id and w.state = 'complete'
$function$;

CREATE OR REPLACE FUNCTION daywalk.begin_rights(role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if pg_has_role(role, (select n.nspowner from pg_namespace n where n.nspname = 'daywalk'), 'member') then
    raise invalid_parameter_value using message = format('%I has the rights of the owner of daywalk and needs no others', role),
      hint = 'Give a role that is not the owner: docs/roles.md tells how to make one.';
  end if;
  -- Functions that came after this one, too.
  execute format('revoke execute on all routines in schema daywalk from public, %I', role);
  execute format('revoke all on all tables in schema daywalk from %I', role);
  execute format('grant usage on schema daywalk to %I', role);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.begin_table_day(id integer, on_day date)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.beside_says(name text, place jsonb, status integer, with_records boolean, OUT fault text, OUT more boolean)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  of_answer boolean;
  -- An echo of what was asked for may ask for what is done or cancelled; what ran is none.
  of_run constant boolean := name ~ '^(job|execution)(info|meta|metadata)?$';
  key text;
  plain text;
  said text;
begin
  more := false;
  if name ~ '^(shards|meta|metadata|header|response(header|status)|status|page|pagination|paging|info|stats|(page|results?|resultset|response|query|search)(info|meta|metadata))$' then
    select s.fault, s.more into fault, more
      from daywalk.object_says(place, null, status, with_records and name <> 'shards', coalesce(substring(name from '^(?:query|search)'), '')) as s;
    if name in ('info', 'stats') then fault := null; end if;
    return;
  end if;
  for key in select jsonb_object_keys(place) loop
    plain := translate(daywalk.in_small_letters(key), '_- ', '');
    continue when plain !~ 'partial|incomplete|truncated|^hasmore|^((is)?(completed?|done|finished|timedout|cancell?ed)|completedexceptionally|status|state)$' or jsonb_typeof(place -> key) not in ('boolean', 'string');
    of_answer := name ~ '^(query|search|job|execution|response|results?|summary|statistics)(info|meta|metadata|stats|statistics)?$';
    if name ~ 'request|param|option|setting|config|filter|criteria|argument|input|feature|capabilit|permission|default|facet|agg|schema'
       or place ?| '{name,title,from,to,fromDate,toDate,start,end,since,until,limit,offset,page,per_page,length,size,filter,filters,q,sort,order}'
       or (not of_answer or name ~ '^(job|exec)') and place ?| '{id,_id,uuid,key}' then return; end if;
    said := daywalk.in_small_letters(place ->> key);
    more := more or (of_answer or plain ~ 'result|record|event|hits|rows|response')
        and plain ~ '^(is|has)?(results?|records|events|hits|rows|data|response|search)?(partial|incomplete|truncated)(results?|data|response)?$|^hasmore(results|records|events|hits|rows)$' and said in ('true', 'yes')
      or of_answer and (plain in ('complete', 'iscomplete') and said in ('false', 'no') or plain in ('status', 'state') and said ~ '^(partial|incomplete|truncated)')
      or of_run and (plain ~ '^(is)?(completed|done|finished)$' and said in ('false', 'no') or plain in ('status', 'state') and daywalk.goes_on(said));
    if of_run and plain ~ 'cancel|exception' and said in ('true', 'yes')
       or of_answer and (plain in ('timedout', 'istimedout') and said in ('true', 'yes') or plain in ('status', 'state') and said ~ '^timed?[ _-]?out') then
      fault := coalesce(fault, format('%s: %s', key, place -> key));
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.body_digest(body jsonb)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sha256(convert_to(body::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION daywalk.check_pages(walk bigint, first_page integer, last_page integer)
 RETURNS TABLE(page_no integer, byte_count integer, sealed boolean, problems text[])
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with stored as materialized (
    -- All that needs the body, once for each page; joined with the seals afterwards.
    select p.page_no, p.byte_count, body.digest as body_sha256, daywalk.page_digest(p, body.digest) as digest,
           p.record_hashes = (daywalk.hashes_of(body.list, k.ignored))[p.skip + 1 :]
             and p.id_hashes is not distinct from case when k.id_path is not null then (daywalk.ids_of(body.list, k.id_path))[p.skip + 1 :] end as hashes_ok,
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
       and not exists (select from daywalk.walks k where k.walk_id = walk and daywalk.was_pruned(k))
  )
  select coalesce(p.page_no, s.page_no), coalesce(p.byte_count, 0), s.page_no is not null,
         case when p.page_no is null then array['the row is gone']
              else array_remove(array[
                case when p.body_sha256 <> s.body_sha256
                     then coalesce((select format('its body is that of page %s', min(other.page_no)) from daywalk.seals other
                                     where other.walk_id = walk and other.body_sha256 = p.body_sha256 having count(*) > 0),
                                   'its body is not what was stored')
                     when p.digest <> s.digest then 'the row beside the body is not what was stored' end,
                case when not p.hashes_ok then 'its hashes are not those of its records' end,
                p.kept
              ], null) end
    from stored p
    full join seals s on s.page_no = p.page_no
   order by 1
$function$;

CREATE OR REPLACE FUNCTION daywalk.check_range(from_day date, to_day date)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if from_day > to_day then
    raise invalid_parameter_value using message = format('the range of days is reversed: from %s to %s', from_day, to_day);
  elsif not isfinite(from_day) or not isfinite(to_day) or to_day - from_day > 36525 then
    raise invalid_parameter_value using message = format('the range from %s to %s is longer than a hundred years', from_day, to_day);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.check_shared(of_resource text, on_day date)
 RETURNS TABLE(stream text, walk_id bigint, page_no integer, records bigint)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with walk as materialized (
    select s.name as stream, k.walk_id, k.shared
      from daywalk.windows_of_day(of_resource, on_day) as w
      join daywalk.streams s on s.stream_id = w.stream_id
      join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
  ), said as materialized (
    select x.walk_id, x.page_no, x.place from daywalk.shared_records x where x.walk_id in (select walk.walk_id from walk where walk.shared)
  ), found as materialized (
    select c.walk_id, c.page_no, c.place from daywalk.shared_copies(of_resource, on_day) as c
  )
  select walk.stream, walk.walk_id, wrong.page_no, count(*)
    from ((table said except table found) union all (table found except table said)) as wrong join walk on walk.walk_id = wrong.walk_id
   group by walk.stream, walk.walk_id, wrong.page_no order by walk.walk_id, wrong.page_no
$function$;

CREATE OR REPLACE FUNCTION daywalk.check_walk(walk bigint)
 RETURNS text[]
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select array_remove(array[
           case when k.pruning is not null then 'it is said to be pruned, and no pruning of its day took it' end,
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
   where k.walk_id = walk and not daywalk.was_pruned(k)
$function$;

CREATE OR REPLACE FUNCTION daywalk.close_split(target bigint, lease uuid, evidence jsonb)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  me daywalk.windows := daywalk.hold(target, lease);
begin
  if me.window_id is null then
    return case when exists (select from daywalk.windows where window_id = target and state = 'complete' and proof = evidence) then 'proven' else 'lost' end;
  end if;
  if me.split_by is null or exists (select from daywalk.windows where split_from = target and state not in ('complete', 'replaced')) then
    update daywalk.windows set lease_id = null, lease_owner = null, lease_expires = null where window_id = target;
    perform daywalk.wait_for_parts(target);
    return 'open';
  end if;
  -- With a calibrated total a look asks for that; without one every part has looks of its own.
  update daywalk.windows
     set split_calibrated = coalesce((evidence ->> 'calibrated')::boolean, false), split_total = coalesce((evidence ->> 'total')::bigint, split_total)
   where window_id = target;
  update daywalk.windows
     set due_at = case when rewalk then due_at
                       when not coalesce((evidence ->> 'calibrated')::boolean, false) then coalesce(due_at, clock_timestamp() + interval '1 hour') end
   where split_from = target and state = 'complete';
  perform daywalk.complete_window(me, evidence);
  return 'proven';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.closed_at(day date, time_zone text, settle interval)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ((((day + 1))::timestamp without time zone AT TIME ZONE time_zone) + settle);

CREATE OR REPLACE FUNCTION daywalk.column_value(col jsonb, said text, value text, zone text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE PROCEDURE daywalk.compare_answer(IN of_stream integer, IN walk bigint, IN at_start bigint, IN list_at text[], IN total_at text[], IN relation_at text[], IN http_status integer, IN without text[], IN by_identity boolean, IN before integer, IN content jsonb, OUT came integer, OUT list_type text, OUT total bigint, OUT relation text, OUT total_missing boolean, OUT fault text, OUT more boolean, OUT signature text, OUT wordless boolean, OUT frame_known boolean, OUT digest text, OUT hashes text[], OUT begins_with_last boolean, OUT strangers boolean)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $procedure$
declare
  its_day date;
  its_ignored text[];
  its_list_at text[];
  its_id_path text[];
  id_path_now text[];
  shown bigint[];
  identities bigint[];
  known bigint[];
begin
  select k.day, k.ignored, k.records_path, k.id_path, case when by_identity then s.id_path end
    into its_day, its_ignored, its_list_at, its_id_path, id_path_now
    from daywalk.walks k join daywalk.streams s on s.stream_id = of_stream
   where k.walk_id = walk;
  select f.came, f.list_type, f.total, f.relation, f.fault, f.more, f.signature, f.wordless, f.frame_known, f.hashes, f.id_hashes
    into came, list_type, total, relation, fault, more, signature, wordless, frame_known, shown, identities
    from daywalk.read_page(of_stream, content, http_status, list_at, total_at, relation_at, coalesce(without, its_ignored, '{}'), id_path_now) as f;
  came := greatest(0, came - before);
  shown := shown[before + 1 :];
  total_missing := came > 0 and total is null and daywalk.tells_total(of_stream, total_at, at_start);
  digest := hash_array_extended(shown, 0);
  hashes := shown;
  begins_with_last := coalesce(
    (select p.record_hashes[cardinality(p.record_hashes)]
       from daywalk.pages p
      where p.walk_id = walk and p.day = its_day and p.records > 0
      order by p.page_no desc limit 1) = shown[1], false);
  strangers := false;
  if by_identity and came > 0 then
    -- What had no identity then tells nothing: its source may have come to give one.
    known := array(select i.id_hash
                     from daywalk.pages p
                    cross join lateral unnest(daywalk.ids_in(p.id_hashes, its_id_path, p.body, its_list_at, p.skip, id_path_now)) as i (id_hash)
                    where p.walk_id = walk and p.day = its_day and i.id_hash is not null);
    strangers := cardinality(known) > 0 and array_position(identities, null) is null
      and not exists (select unnest(identities) intersect select unnest(known));
  end if;
end $procedure$;

CREATE OR REPLACE FUNCTION daywalk.complete_window(me daywalk.windows, evidence jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  proven timestamptz := clock_timestamp();
begin
  perform daywalk.end_open_walk(me.current_walk, 'the window was proven without it');
  update daywalk.windows w
     set state = 'complete', proof = evidence, proven_at = proven, looked_at = proven, looks = 0,
         shown_at = greatest(w.shown_at, (select max(p.fetched_at) from daywalk.pages p
                                           where p.walk_id = (evidence ->> 'walk')::bigint and p.day = me.day and p.records > 0),
                             (select max(part.shown_at) from daywalk.windows part
                               where part.split_from = me.window_id and part.state = 'complete')),
         judged = (select coalesce(max(k.number), 0) from daywalk.walks k where k.window_id = me.window_id),
         due_at = case when not coalesce((select p.split_calibrated from daywalk.windows p where p.window_id = me.split_from), false)
                       then proven + interval '1 hour' end,
         purpose = 'look', current_walk = null, rewalk = false, attempts = 0, failures = 0, last_error = null, last_failed_at = null,
         lease_id = null, lease_owner = null, lease_expires = null
   where w.window_id = me.window_id;
  -- What shows records was not forgotten by its source.
  if me.kind <> 'cut' and (evidence ->> 'records')::bigint > 0 then
    update daywalk.days d set retired_since = null where d.stream_id = me.stream_id and d.day = me.day and d.retired_since is not null;
  end if;
  if me.split_from is null then
    -- The cuts at the ends of a day are asked as soon as it is proven. That behind one that was planned later was before all days, and asked
    -- as far as belonged to those: now it is one of this day, and asked anew. What it shows stays where it is; so does that of a day that moved.
    if me.kind = 'day' then
      with former as (
        select cut.window_id, daywalk.end_open_walk(cut.current_walk, 'its window is one of the day before now')
          from daywalk.windows cut
         where cut.stream_id = me.stream_id and cut.midnight = me.day and cut.day > me.day
           and not exists (select from daywalk.tiered_days t where t.stream_id = cut.stream_id and t.day = cut.day)
      )
      update daywalk.windows cut set day = me.day, state = 'pending', proof = null, due_at = null, current_walk = null,
                                     lease_id = null, lease_owner = null, lease_expires = null
        from former where cut.window_id = former.window_id;
      update daywalk.windows cut set due_at = clock_timestamp(), purpose = me.purpose
       where cut.stream_id = me.stream_id and cut.midnight in (me.day - 1, me.day)
         and cut.state = 'pending' and cut.due_at is null;
    end if;
    -- As long as a stream shows nothing nobody looks for what dates hide at its midnights: where one stands beside a day with records it is asked anew.
    update daywalk.windows cut set due_at = clock_timestamp(), rewalk = true
      from daywalk.windows beside
     where cut.stream_id = me.stream_id and cut.midnight in (me.day - 1, me.day) and cut.state = 'complete' and cut.proof ? 'datesUnasked'
       and beside.stream_id = cut.stream_id and beside.kind = 'day' and beside.day in (cut.midnight, cut.midnight + 1)
       and beside.state = 'complete' and (beside.proof ->> 'records')::bigint > 0
       and not exists (select from daywalk.prunings g where g.stream_id = cut.stream_id and g.what = 'day' and g.day = cut.day);
    perform daywalk.show(me.window_id);
    return;
  end if;
  -- A part that is proven anew may have changed: the cuts beside it are asked anew.
  if me.kind = 'part' and me.proven_at is not null then
    update daywalk.windows cut set state = 'pending', due_at = clock_timestamp()
     where cut.split_from = me.split_from and cut.kind = 'cut' and cut.state = 'complete'
       and (cut.from_time = me.to_time or cut.to_time = me.from_time);
  end if;
  perform daywalk.wait_for_parts(me.split_from);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.contents_of(of_stream integer, on_day date)
 RETURNS TABLE(records bigint, gone bigint, lost bigint, pages bigint, bytes bigint, proof text)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query
  select coalesce(sum(case k.shown when 'whole' then k.records - m.unseen else m.seen end), 0)::bigint, coalesce(sum(m.gone), 0)::bigint,
         (select coalesce(sum(greatest(g.gone - coalesce(g.appeared, 0), 0)), 0)::bigint
            from (select count(*) as gone,
                         (select sum(p.appeared) from daywalk.publications p
                           where p.stream_id = of_stream and p.day = on_day and p.published_at = mark.since) as appeared
                    from daywalk.marks mark
                    join daywalk.walks k on k.walk_id = mark.walk_id and k.pruning is null
                    join daywalk.windows w on w.window_id = k.window_id and w.stream_id = of_stream
                    join daywalk.streams s on s.stream_id = w.stream_id
                   where mark.day = on_day and mark.state = 'gone' and mark.seen and mark.since > coalesce(s.accepted_at, '-infinity')
                     and not exists (select from daywalk.windows d
                                      where d.stream_id = of_stream and d.day = on_day and d.kind = 'day' and (d.proof ->> 'oldest')::boolean)
                   group by mark.since) as g),
         coalesce(sum(k.pages), 0)::bigint, coalesce(sum(k.bytes), 0)::bigint,
         (select d.proof ->> 'kind' from daywalk.windows d where d.stream_id = of_stream and d.day = on_day and d.kind = 'day')
    from daywalk.windows w
    join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
    left join lateral (select count(*) filter (where not mark.seen) as unseen, count(*) filter (where mark.seen) as seen,
                              count(*) filter (where mark.seen and mark.state = 'gone') as gone
                         from daywalk.marks mark where mark.walk_id = k.walk_id) as m on true
   -- The midnight before may be a window of the day before by now.
   where w.stream_id = of_stream and (w.day = on_day or w.midnight = on_day - 1) and k.day = on_day;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.day_states(of_stream integer, from_day date, to_day date)
 RETURNS TABLE(day date, state text)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
  select d::date, coalesce(c.state, case when daywalk.closed_at(d::date, s.time_zone, s.settle) > clock_timestamp() then 'open' else 'unplanned' end)
    from daywalk.streams s
   cross join generate_series(from_day::timestamp, to_day::timestamp, interval '1 day') as d
    left join (select c.stream, c.day, c.state from daywalk.coverage c where c.day between from_day and to_day) as c
      on c.stream = s.name and c.day = d::date
   where s.stream_id = of_stream
$function$;

CREATE OR REPLACE FUNCTION daywalk.days_left_in(of_table daywalk.record_tables)
 RETURNS SETOF daywalk.table_days
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select y.* from daywalk.table_days y
   where of_table.outlives and y.table_id = of_table.table_id and y.records > 0
     and exists (select from daywalk.prunings g join daywalk.streams s using (stream_id) where s.name = of_table.stream and g.day = y.day and g.what = 'day')
$function$;

CREATE OR REPLACE FUNCTION daywalk.days_to_keep(old_one daywalk.record_tables, new_one daywalk.record_tables)
 RETURNS SETOF daywalk.table_days
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select y.* from daywalk.days_left_in(old_one) as y
   where new_one.outlives and old_one.stream = new_one.stream
     and not exists (select from daywalk.table_days n where n.table_id = new_one.table_id and n.day = y.day)
   order by y.day desc
$function$;

CREATE OR REPLACE FUNCTION daywalk.define_table(called text, of_stream text, with_columns jsonb, with_record boolean, outliving boolean, for_age interval)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.differing(top bigint, under text[], among bigint[])
 RETURNS TABLE(hash bigint, wanted bigint, twins bigint)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select hash, wanted, greatest(copies - wanted - hidden, reread, 0)
    from (select coalesce(proven.hash, held.hash) as hash, coalesce(proven.copies, 0) as copies,
                 case when coalesce(proven.copies, 0) = 0 then greatest(coalesce(proven.correction, 0), 0)
                      else greatest(proven.copies + proven.correction, 1) end as wanted,
                 coalesce(held.copies, 0) as held_copies, coalesce(held.hidden, 0) as hidden, coalesce(held.doubt, false) as doubt,
                 coalesce(held.reread, 0) as reread
            from daywalk.proven_counts(top, under, among) as proven
            full join daywalk.held_counts(top, under, among) as held on held.hash = proven.hash) as both_sides
   where wanted <> held_copies or doubt
$function$;

CREATE OR REPLACE FUNCTION daywalk.doubled_ids(among bigint[])
 RETURNS TABLE(walk_id bigint, id_hash bigint)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  return query
  select k.walk_id, i.id_hash
    from daywalk.walks k
    join daywalk.windows w on w.window_id = k.window_id
    join daywalk.streams s on s.stream_id = w.stream_id
    join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
   cross join lateral unnest(daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) as i (id_hash)
   where k.walk_id = any (among) and i.id_hash is not null
   group by k.walk_id, i.id_hash having count(*) > 1;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.drop_table(id integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  t daywalk.record_tables;
begin
  select * into strict t from daywalk.record_tables where table_id = id for update;
  execute format('drop table if exists daywalk.%I', daywalk.relation_of(t));
  delete from daywalk.record_tables where table_id = id;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.drop_table_day(id integer, on_day date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.drop_unwanted_days(of_stream integer)
 RETURNS date[]
 LANGUAGE plpgsql
 STRICT SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  going bigint[];
  cuts bigint[];
  dropped date[];
begin
  perform daywalk.lock_stream(of_stream);
  going := array(
    select d.window_id
      from daywalk.windows d join daywalk.streams s on s.stream_id = d.stream_id
     where d.stream_id = of_stream and d.kind = 'day' and d.day < s.since and d.purpose = 'scheduled' and d.state = 'failed' and d.proof is null
       and d.lease_id is null
       and not exists (select from daywalk.windows part where part.split_from = d.window_id)
       and not exists (select from daywalk.walks k where k.window_id = d.window_id and k.pages > 0)
       and not exists (select from daywalk.days shown where shown.stream_id = of_stream and shown.day = d.day)
       for update of d);
  -- What is walked of that midnight just now is stored under the day that goes: it is begun anew.
  cuts := array(
    select cut.window_id from daywalk.windows cut
     where cut.stream_id = of_stream and cut.midnight is not null
       and cut.day in (select gone.day from daywalk.windows gone where gone.window_id = any (going))
     order by cut.window_id for update);
  perform daywalk.end_open_walk(cut.current_walk, 'its day is before since now') from daywalk.windows cut where cut.window_id = any (cuts);
  update daywalk.windows cut set day = beside.day, current_walk = null, lease_id = null, lease_owner = null, lease_expires = null
    from daywalk.windows gone
    join daywalk.windows beside on beside.stream_id = gone.stream_id and beside.kind = 'day' and abs(beside.day - gone.day) = 1
   where gone.window_id = any (going) and beside.window_id <> all (going)
     and cut.window_id = any (cuts) and cut.day = gone.day and beside.day in (cut.midnight, cut.midnight + 1);
  update daywalk.windows set current_walk = null where window_id = any (going);
  delete from daywalk.walks where window_id = any (going);
  with deleted as (delete from daywalk.windows where window_id = any (going) returning day)
  select coalesce(array_agg(day order by day), '{}') into dropped from deleted;
  return dropped;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.empty_month(month date)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  partition text := 'pages_' || to_char(month, 'YYYY_MM');
begin
  for time in 1..2 loop
    -- Somebody may have detached it to keep it, or begun to; a page may have come before the lock.
    if not exists (select from pg_inherits where inhrelid = to_regclass('daywalk.' || partition) and inhparent = 'daywalk.pages'::regclass
                                                  and not inhdetachpending)
       or exists (select from daywalk.walks where day >= month and day < month + interval '1 month' and pages > 0 and pruning is null) then
      return false;
    end if;
    if time = 1 then
      perform set_config('lock_timeout', '2s', true);
      execute format('lock table daywalk.%I in access exclusive mode', partition);
    end if;
  end loop;
  execute format('truncate table daywalk.%I', partition);
  return true;
exception when lock_not_available then
  return false;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.end_open_walk(walk bigint, why text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update daywalk.walks set outcome = 'failed', reason = why, finished_at = clock_timestamp() where walk_id = walk and outcome is null
$function$;

CREATE OR REPLACE FUNCTION daywalk.end_table_day(id integer, on_day date, with_records bigint, with_faults bigint)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update daywalk.table_days y set publication = d.publication, records = with_records, faults = with_faults, synced_at = clock_timestamp()
    from daywalk.record_tables t join daywalk.streams s on s.name = t.stream join daywalk.days d on d.stream_id = s.stream_id
   where t.table_id = id and d.day = on_day and y.table_id = id and y.day = on_day
$function$;

CREATE OR REPLACE FUNCTION daywalk.ensure_partition(day date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  -- It runs with the rights of its owner: whoever may call it could make any number of tables otherwise.
  if day < '1970-01-01' or day >= date_trunc('month', now()) + interval '2 months' then
    raise invalid_parameter_value using message = 'no page is stored of ' || day || ', which is no day from 1970 to the next month from now';
  end if;
  perform daywalk.make_month('pages', 'pages_' || to_char(day, 'YYYY_MM'), date_trunc('month', day)::date);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.ensure_table_partition(id integer, on_day date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  t daywalk.record_tables;
begin
  select * into t from daywalk.record_tables r where r.table_id = id;
  -- Another one has taken its place meanwhile.
  if not found then return; end if;
  if not exists (select from daywalk.days d join daywalk.streams s using (stream_id) where s.name = t.stream and d.day = on_day) then return; end if;
  perform daywalk.make_month(daywalk.relation_of(t), t.name || '_' || id || '_' || to_char(on_day, 'YYYY_MM'), date_trunc('month', on_day)::date);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.explain_columns(relation text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  execute (
    select coalesce(string_agg(format('comment on column daywalk.%I.%I is %L', relation, a.attname, common.says), ';'), '')
      from pg_attribute a
      join (values ('stream_id', 'The stream, by its key in daywalk.streams.'), ('stream', 'The name of the stream.'), ('resource', 'Its resource.'),
                   ('day', 'The day of the source''s calendar.'), ('looked_at', 'When the source was last seen to be as stored.'),
                   ('last_error', 'The newest error of its windows.'), ('walks', 'Its walks that are shown.'),
                   ('walk_id', 'The walk; with page_no the page in daywalk.pages.'), ('page_no', 'The page within the walk.'),
                   ('records_path', 'Keys from the top of a body to its record list; {} is the body itself.'),
                   ('total_path', 'Keys to the total; null where the source gives none.'),
                   ('relation_path', 'Keys to the word that qualifies the total (eq, gte).'),
                   -- Of a record.
                   ('record', 'The record as sent.'), ('place', 'Position among the records of the page, from 1.'),
                   ('position', 'Offset of the record within its window, as the source listed it.'),
                   ('at', 'When the event happened, from the time_path of the settings; null: there is none that is understood (daywalk.time_faults).'),
                   ('fetched_at', 'When the page arrived.'), ('first_seen', 'When the first version of the record arrived.'),
                   ('gone_since', 'Since when the source does not show it any more; null: it does.'),
                   ('revision', '1, and one more for each newer version; older ones are in daywalk.record_versions.'),
                   -- Of a publication, of what does not fit into a record table, of runs and messages.
                   ('appeared', 'Records that came with a later walk, and that the ones before it had not.'), ('published_at', 'When it was published.'),
                   ('table_id', 'The record table.'), ('column', 'The column that is null instead.'),
                   ('found', 'The beginning of the value, as jsonb writes it.'), ('reason', 'What does not fit.'),
                   ('started_at', 'When it began.'), ('origin', 'Scheme, host and port of the API.'),
                   ('telling_until', 'A process is telling it now; after this another one may.')) as common (name, says) on common.name = a.attname
     where a.attrelid = to_regclass('daywalk.' || quote_ident(relation)) and a.attnum > 0 and col_description(a.attrelid, a.attnum) is null);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.explain_table(id integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.fill_table_day(id integer, on_day date, of_walk bigint, first_page integer, last_page integer)
 RETURNS TABLE(records bigint, faults bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.filter_keys(terms text[])
 RETURNS TABLE(start bigint, step bigint)
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return query
  select key & 4294967295, (key >> 32) & 4294967295 | 1
    -- Fenced, so that the digest is made once.
    from (select ('x' || left(encode(sha256(convert_to(term, 'UTF8')), 'hex'), 16))::bit(64)::bigint as key
            from unnest(terms) as term offset 0) as k;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.filter_of(list jsonb)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.first_ten(days text[])
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select array_to_string(days[:10], ', ') || case when cardinality(days) > 10 then format(' and %s more', cardinality(days) - 10) else '' end
$function$;

CREATE OR REPLACE FUNCTION daywalk.found_at(cut bigint, under text[])
 RETURNS TABLE(hash bigint, across bigint, before bigint, behind bigint, most_across bigint, most_before bigint, most_behind bigint, first_found timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with newest as materialized (
    select k.walk_id, k.role, k.ignored, k.records_path, k.finished_at, k.united from daywalk.proven_walks(cut) as k
  ), walk as materialized (
    select n.*, true as is_newest from newest n
     union all
    select k.walk_id, k.role, k.ignored, k.records_path, k.finished_at, k.proof ? 'unites', false
      from daywalk.walks k
     where k.window_id = cut and k.outcome = 'proven' and k.pruning is null and k.walk_id not in (select n.walk_id from newest n)
  )
  select hash, coalesce(max(copies) filter (where role = 'across' and is_newest), 0), coalesce(max(copies) filter (where role = 'before' and is_newest), 0),
         coalesce(max(copies) filter (where role = 'after' and is_newest), 0), coalesce(max(copies) filter (where role = 'across'), 0),
         coalesce(max(copies) filter (where role = 'before'), 0), coalesce(max(copies) filter (where role = 'after'), 0), min(finished_at)
    from (select h.hash, k.role, k.is_newest, k.finished_at, count(*) as copies
            from walk k
           cross join lateral daywalk.pages_of(array[k.walk_id]) as p
           cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under)) as h (hash)
           group by h.hash, k.walk_id, k.role, k.is_newest, k.finished_at, case when k.united then p.page_no end) as by_place
   group by hash
$function$;

CREATE OR REPLACE FUNCTION daywalk.frame_of(body jsonb, records_path text[], total_path text[], relation_path text[], status integer, OUT signature text, OUT wordless boolean)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  select encode(sha256(convert_to(status || ' ' || coalesce(jsonb_typeof(body #> records_path), 'absent') || ' '
                                  || string_agg(line, E'\n' order by line collate "C"), 'UTF8')), 'hex'),
         not bool_or(is_text)
    into signature, wordless
    from (select distinct w.path::text || ' ' || w.word as line, w.is_text
            from daywalk.words_of(body, records_path, total_path, relation_path) as w) as told;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.frame_says(body jsonb, records_path text[], status integer, known boolean DEFAULT false, OUT fault text, OUT more boolean)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  with_records constant boolean := known or body #> (records_path || '0'::text) is not null
    -- Where the list is is not known yet.
    or records_path = '{}' and jsonb_typeof(body) = 'object';
  said record;
begin
  said := daywalk.object_says(body, records_path[1], status, with_records);
  fault := said.fault;
  more := said.more;
  for depth in 2 .. coalesce(cardinality(records_path), 0) loop
    said := daywalk.object_says(body #> records_path[: depth - 1], records_path[depth], status, with_records);
    fault := coalesce(fault, said.fault);
    more := more or said.more;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.gives_no_answer(name text, value jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  said text := daywalk.in_small_letters(btrim(case when jsonb_typeof(value) in ('string', 'boolean') then value #>> '{}' end));
  kept constant text := '(data|events|logs|records|results|documents|ind(ex|ices|exes)|range|dates?|days?|period|partitions?|shards?|buckets?|segments?|snapshots?|tier|storage)';
  none constant text := '\m(no|0|zero)( (archived|frozen|offline|cold|closed|matching|such))* (data|events|logs|records|results|documents|alerts)( (is|are|was|were|has been|have been))?( (archived|frozen|stored|kept|available))?\M';
begin
  if name ~ '^(is)?(archived|frozen|offline)$' and said in ('true', 'yes')
     or name in ('status', 'state', 'statustext', 'result', 'outcome', 'message', 'msg', 'detail', 'reason')
        and (daywalk.goes_on(said) or said ~ '^(archived|frozen|offline|dehydrated)\W*$')
     or name ~ '^((query|search)?job|task|execution)$' and (daywalk.goes_on(daywalk.in_small_letters(value ->> 'status')) or daywalk.goes_on(daywalk.in_small_letters(value ->> 'state')))
  then return true; end if;
  return exists (
    select from jsonb_path_query(value, 'strict $.** ? (@.type() == "string")') as leaf
     cross join lateral regexp_replace(translate(daywalk.in_small_letters(leaf #>> '{}'), '_-', '  '), none, '', 'g') as text
     where text ~ concat(
       -- Data for this date has been archived; index is closed; moved to cold storage.
       '\m', kept, '\M( [^ .:;,]+){0,3} (is|are|was|were|been|already)( [a-z]+)? (archived|frozen|offline|dehydrated|unloaded|unmounted|offloaded)\M',
       '|\m(ind(ex|ices|exes)|shards?|buckets?|partitions?)( [^ .:;,]+){0,3} closed\M|\mclosed ind(ex|ices|exes)\M',
       '|\m((moved|migrated|transferred|transitioned|offloaded|tiered|rolled)( [^ .:;,]+){0,2} (in)?to|(only|stored|kept|held|resides?|is|are|now)( available)? (in|on|from)) (the |an? )?(archiv(e|al)|cold|frozen|glacier|deep|tape|offline)\M',
       -- Submit a restore request; must be restored; frozen tier: not searched; no longer available online.
       '|\mrestor(e|al|ation) (request|job|it\M|them\M|to (view|search|see|query|access))|\m(submit|request|start|initiate|trigger|requires?|needs?) (an? )?restor(e|al|ation)\M|\mrehydrat(e|ing|ion)\M|\munarchiv|\munfreez',
       '|\m(be|being)( first)? (restored|rehydrated|thawed|recalled|unarchived|mounted)\M',
       '|\m(not|never|cannot|no longer|(is|are|was|were)n.t)( (yet|currently|be|been|immediately|directly|being))* (searched|searchable|queried|queryable|loaded|mounted|restored|rehydrated|thawed|(available |stored |kept )?online)\M',
       -- The search is still running; results are not ready yet.
       '|\mstill (running|processing|searching|executing|loading|indexing|in progress|being)\M|(?<!no )\m(search|query|job|task|request|indexing|retrieval)( (is|was|has been))?( (still|currently|now))? (running|queued|pending|in progress|in queue|scheduled|being)\M',
       '|\m(results|data|events|records|logs) (is|are) (not (yet )?ready|not yet (available|complete|indexed|loaded)|being (prepared|loaded|indexed|retrieved|gathered|collected))\M'));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.goes_on(state text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return translate(state, '_-', '  ') ~ concat(
    '^((still|now|query|search|job|request|task|is) +)*((en)?queued|in queue|pending|running|in ?progress|(pre)?processing|accepted|submitted|scheduled|dispatched|start(ed|ing)',
    '|wait(ing)?|executing|searching|retrieving|loading|restoring|rehydrating|thawing|preparing|initiali[sz]ing|parsing|sorting|finali[sz]ing|paused|suspended|deferred|delayed',
    '|not (yet )?(started|ready|complete|finished|done))( +(for|on|in|at|behind)\M.*|\W*[:(0-9].*)?\W*$');
end $function$;

CREATE OR REPLACE FUNCTION daywalk.hash_of(record jsonb)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(((record)::text COLLATE "C"), (0)::bigint);

CREATE OR REPLACE FUNCTION daywalk.hashes_in(stored bigint[], without text[], body jsonb, records_path text[], skip integer, ignored text[])
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (without = ignored) THEN stored ELSE (daywalk.hashes_of((body #> records_path), ignored))[(skip + 1):] END;

CREATE OR REPLACE FUNCTION daywalk.hashes_of(list jsonb, ignored text[])
 RETURNS bigint[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  records jsonb[] := array(select record from jsonb_array_elements(case jsonb_typeof(list) when 'array' then list else '[]' end)
                                          with ordinality as r (record, position) order by position);
  pointer text;
  path text[];
begin
  foreach pointer in array array_remove(ignored, '[]') loop
    path := array(select replace(replace(step, '~1', '/'), '~0', '~')
                    from unnest((string_to_array(pointer, '/'))[2 :]) with ordinality as steps (step, number) order by number);
    records := array(select case when record #> path is null then record
                                 -- What is left out of a list leaves its place behind, so that others keep theirs.
                                 when jsonb_typeof(record #> path[: cardinality(path) - 1]) = 'array' then jsonb_set(record, path, 'null')
                                 else record #- path end
                       from unnest(records) with ordinality as r (record, position) order by position);
  end loop;
  if '[]' = any (ignored) then
    records := array(select daywalk.in_one_form(record) from unnest(records) with ordinality as r (record, position) order by position);
  end if;
  return array(select daywalk.hash_of(record) from unnest(records) with ordinality as r (record, position) order by position);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.held(top bigint, of_hashes bigint[], under text[])
 RETURNS TABLE(walk_id bigint, window_id bigint, page_no integer, "position" integer, day date, fetched_at timestamp with time zone, hash bigint, id_hash bigint, state text, since timestamp with time zone, first_seen timestamp with time zone, revision integer, hidden_by bigint)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select copy.walk_id, copy.window_id, copy.page_no, copy.position, copy.day, copy.fetched_at, copy.hash, copy.id_hash,
         coalesce(mark.state, 'shown'), mark.since, mark.first_seen, coalesce(mark.revision, 1), mark.hidden_by
    -- Without the fence a planner looks the hashes up for each page.
    from (select k.walk_id, k.window_id, k.shown, p.page_no, h.position::integer as position, p.day, p.fetched_at, h.hash, h.id_hash
            from daywalk.windows w
            join daywalk.streams s on s.stream_id = w.stream_id
            join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
           cross join lateral daywalk.pages_of(array[k.walk_id]) as p
           cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under),
                                     daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) with ordinality as h (hash, id_hash, position)
           where w.window_id = any (array(select daywalk.subtree(top)))
          offset 0) as copy
    left join daywalk.marks mark on mark.walk_id = copy.walk_id and mark.page_no = copy.page_no and mark.position = copy.position
   where copy.hash in (select unnest(of_hashes)) and (mark.state is not null or copy.shown = 'whole')
$function$;

CREATE OR REPLACE FUNCTION daywalk.held_counts(top bigint, under text[], among bigint[])
 RETURNS TABLE(hash bigint, copies bigint, hidden bigint, doubt boolean, reread bigint)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with recursive tree as (
    select top as window_id, null::bigint as split_from, 0 as depth
     union all
    select w.window_id, w.split_from, tree.depth + 1
      from tree join daywalk.windows w on w.split_from = tree.window_id
  ), by_window as (
    select window_id, hash, sum(copies) as copies, sum(hidden) as hidden, bool_or(doubt) as doubt, bool_or(otherwise) as otherwise,
           max(brought) as brought
      from (select k.window_id, k.walk_id, h.hash, k.ignored <> under as otherwise, count(*) as brought,
                   count(*) filter (where held.now and not held.hidden) as copies,
                   count(*) filter (where held.now and held.hidden) as hidden,
                   bool_or(mark.state in ('missing', 'gone')) as doubt
              from daywalk.walks k
             cross join lateral daywalk.pages_of(array[k.walk_id]) as p
             cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under)) with ordinality as h (hash, position)
              left join daywalk.marks mark on mark.walk_id = p.walk_id and mark.page_no = p.page_no and mark.position = h.position
             cross join lateral (select case when mark.state is null then k.shown = 'whole' else mark.state <> 'old' end as now,
                                        coalesce(mark.state = 'hidden', false) as hidden) as held
             where k.window_id = any (array(select tree.window_id from tree)) and k.shown <> 'no' and k.pruning is null
               and h.hash in (select unnest(among))
             group by k.window_id, k.walk_id, k.ignored, h.hash) as by_walk
     group by window_id, hash
  ), reread as materialized (
    -- Of what is held no more often than one window brought it there is nothing to sum.
    select b.hash, b.window_id, b.brought, tree.depth
      from by_window b join tree using (window_id)
     where b.hash in (select o.hash from by_window o group by o.hash having bool_or(o.otherwise) and sum(o.copies) > max(o.brought))
  ), upwards as (
    -- Of the windows at one depth, what their parts brought.
    select max(tree.depth) as depth, '{}'::bigint[] as windows, '{}'::bigint[] as hashes, '{}'::bigint[] as brought from tree
     union all
    select below.depth - 1, above.windows, above.hashes, above.brought
      from upwards as below
     cross join lateral (
       select array_agg(split_from), array_agg(hash), array_agg(brought)
         from (select tree.split_from, hash, sum(brought)::bigint as brought
                 from (select window_id, hash, max(brought) as brought
                         from (select window_id, hash, brought from reread where depth = below.depth
                                union all
                               select * from unnest(below.windows, below.hashes, below.brought)) as either (window_id, hash, brought)
                        group by window_id, hash) as most
                 join tree using (window_id)
                group by tree.split_from, hash) as sums) as above (windows, hashes, brought)
     where below.depth >= 0
  )
  select hash, sum(by_window.copies)::bigint, sum(by_window.hidden)::bigint, bool_or(by_window.doubt),
         greatest(sum(by_window.copies) - max(most.brought), 0)::bigint
    from by_window
    left join (select once.hash, once.brought from upwards cross join lateral unnest(upwards.hashes, upwards.brought) as once (hash, brought)
                where upwards.depth < 0) as most using (hash)
   group by hash
  having sum(by_window.copies) + sum(by_window.hidden) > 0
$function$;

CREATE OR REPLACE FUNCTION daywalk.hide_moved_twins(of_stream integer, on_day date, at timestamp with time zone)
 RETURNS SETOF date
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with moved as materialized (
    select cut.window_id as cut, twins.hashes
      from daywalk.tiered_days t
     cross join lateral (values (t.day - 1, t.day - 1, t.twins_before), (t.day, t.day + 1, t.twins_behind)) as twins (midnight, beside, hashes)
      join daywalk.windows cut on cut.stream_id = of_stream and cut.midnight = twins.midnight
     where t.stream_id = of_stream and t.day in (on_day - 1, on_day + 1) and twins.beside = on_day and twins.hashes is not null
  ), twin as (
    -- What is equal at both midnights of the day is in both files: these are other copies.
    select moved.cut, h.hash, row_number() over (partition by h.hash order by moved.cut) as rank from moved cross join lateral unnest(moved.hashes) as h (hash)
  ), copy as (
    select moved.cut, held.*, row_number() over (partition by moved.cut, held.hash order by coalesce(held.hidden_by not in (select m.cut from moved m), true),
                                                 held.walk_id desc, held.page_no desc, held.position desc) as rank
      from moved
      join daywalk.windows w on w.stream_id = of_stream and w.kind = 'day' and w.day = on_day
     cross join lateral daywalk.held(w.window_id, moved.hashes, daywalk.ignored_now(moved.cut)) as held
     where held.state in ('shown', 'missing') or (held.state = 'gone' and held.hidden_by in (select m.cut from moved m))
  ), hidden as (
    insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision, hidden_by)
    select distinct on (walk_id, page_no, position) walk_id, page_no, position, day, state, at, first_seen, revision, cut
      from copy join twin using (cut, hash, rank) where hidden_by is null
    on conflict (walk_id, page_no, position) do update set hidden_by = excluded.hidden_by
    returning mark.day
  )
  select distinct day from hidden
$function$;

CREATE OR REPLACE FUNCTION daywalk.hide_twins(cut bigint, at timestamp with time zone)
 RETURNS SETOF date
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  under text[];
  me daywalk.windows;
begin
  select * into strict me from daywalk.windows where window_id = cut;
  if coalesce((me.proof ->> 'removed')::bigint, 0) = 0 and not exists (select from daywalk.marks where hidden_by = cut)
     and not exists (select from daywalk.windows w
                       join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
                       join daywalk.marks mark on mark.walk_id = k.walk_id and mark.state in ('missing', 'gone')
                      where w.stream_id = me.stream_id and w.day in (me.midnight, me.midnight + 1)) then return; end if;
  -- A day that moved still shows its records, elsewhere: what is hidden beside it stays so.
  if exists (select from daywalk.tiered_days t where t.stream_id = me.stream_id and t.day in (me.midnight, me.midnight + 1)) then return; end if;
  under := daywalk.ignored_now(cut);
  return query
  with found as materialized (
    select f.* from daywalk.found_at(cut, under) as f
  ), held as materialized (
    select held.*, k.finished_at, held.state = 'shown' as current, case when w.window_id = cut then 'cut' when w.day = me.midnight then 'before' else 'behind' end as side
      from daywalk.windows w
     cross join lateral daywalk.held(w.window_id, array(select found.hash from found), under) as held
      join daywalk.walks k on k.walk_id = held.walk_id
     where (w.window_id = cut or (w.stream_id = me.stream_id and w.kind = 'day' and w.day in (me.midnight, me.midnight + 1)))
       and held.state <> 'hidden'
  ), numbered as (
    select held.*, found.most, found.first_found, found.across, found.before + found.behind - found.across as twice,
           greatest(found.across - found.before - found.behind, found.most_across - found.most_before - found.most_behind, 0) as added,
           case held.side when 'before' then found.before else found.behind end as found_here,
           case held.side when 'before' then found.most_before else found.most_behind end as most_here,
           row_number() over (partition by held.hash, held.side, held.current order by held.walk_id desc, held.page_no desc, held.position desc) as number,
           min(held.finished_at) filter (where held.side = 'cut' and held.state in ('missing', 'gone')) over (partition by held.hash) as shown_by_cut
      from held
      -- What a side shows lies across, too.
      join (select f.*, greatest(f.most_across, f.most_before, f.most_behind) as most from found f) as found on found.hash = held.hash
  ), placed as (
    -- As many copies of a day stand at the midnight as its side of the cut ever found: first what the day shows and is found there now, or
    -- has gone from the midnight since the day was walked; then what the day lacks. The others stand elsewhere in the day. What it lacked
    -- before the cut, which reached less far, found it first is what only the cut shows now, or showed.
    select n.*, n.side = 'cut' or (n.eligible and row_number() over (partition by n.hash, n.side order by n.eligible desc, n.current desc, n.number)
                                                  <= n.most_here + case when n.state in ('missing', 'gone') and n.first_found >= n.since
                                                                        then n.added else 0 end) as near
      from (select numbered.*, not current or number <= found_here + most - across as eligible from numbered) as n
  ), ranked as (
    -- Seen is first what the source shows, then older versions, then what it shows no more; last what it shows on both sides.
    select p.*, row_number() over (partition by p.hash
                                   order by p.current and p.side = 'behind' and p.number <= p.twice, array_position(array['shown', 'old'], p.state), not p.near,
                                            array_position(array['before', 'behind', 'cut'], p.side), p.walk_id, p.page_no, p.position) as rank
      from placed p
     -- What a cut lacks, and a day came to show later, for the first time or again, may be asked across no more.
     where p.near or (p.current and p.since > p.shown_by_cut)
  ), surplus as materialized (
    select r.* from ranked r where r.near and r.rank > r.most
  ), freed as (
    update daywalk.marks mark
       set hidden_by = null,
           stood_on = coalesce((select g.day from daywalk.prunings g
                                 where g.stream_id = me.stream_id and g.what = 'day' and g.day in (me.midnight, me.midnight + 1) and g.day <> mark.day), mark.stood_on)
      from daywalk.walks k
     where mark.hidden_by = cut and k.walk_id = mark.walk_id and k.pruning is null
       and not exists (select from surplus s where s.walk_id = mark.walk_id and s.page_no = mark.page_no and s.position = mark.position)
    returning mark.day
  ), hidden as (
    insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision, hidden_by)
    select s.walk_id, s.page_no, s.position, s.day, s.state, at, s.first_seen, s.revision, cut from surplus s where s.hidden_by is null
    on conflict (walk_id, page_no, position) do update set hidden_by = excluded.hidden_by
    returning mark.day
  )
  select day from freed union select day from hidden;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.hits_on(sought jsonb, on_day date, of_walk bigint, of_page integer)
 RETURNS TABLE(paths text[], record jsonb, "position" bigint, fetched_at timestamp with time zone, first_seen timestamp with time zone, gone_since timestamp with time zone, revision integer)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
  select daywalk.paths_of(s.record, sought), s.record, s.position, s.fetched_at, s.first_seen, s.gone_since, s.revision
    from daywalk.shown_records s
   where s.day = on_day and s.walk_id = of_walk and s.page_no = of_page
     and jsonb_path_exists(s.record, 'strict $.** ? (@ == $text || @ == $other)', sought)
   order by s.position
$function$;

CREATE OR REPLACE FUNCTION daywalk.hold(target bigint, lease uuid)
 RETURNS daywalk.windows
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  me daywalk.windows;
begin
  perform daywalk.lock_stream(w.stream_id) from daywalk.windows w where w.window_id = target;
  update daywalk.windows w set due_at = daywalk.closed_at(w.day, s.time_zone, s.settle), lease_id = null, lease_owner = null, lease_expires = null,
                               judged = (select coalesce(max(k.number), 0) from daywalk.walks k where k.window_id = target)
    from daywalk.streams s
   where w.window_id = target and w.lease_id = lease and w.kind <> 'cut' and s.stream_id = w.stream_id
     and clock_timestamp() < daywalk.closed_at(w.day, s.time_zone, interval '0');
  select * into me from daywalk.windows where window_id = target and lease_id = lease for update;
  return me;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.identify_anew(of_stream integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
declare
  at constant timestamptz := clock_timestamp();
  shown date[];
  hidden date[];
begin
  perform daywalk.lock_stream(of_stream);
  if exists (select from daywalk.marks where state = 'old') then shown := array(select daywalk.show_again(of_stream, null, at)); end if;
  hidden := array(select daywalk.replace_gone(of_stream, null, null, at));
  perform daywalk.note_identified(of_stream, shown, hidden, at);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.identity_of(record jsonb, id_path text[])
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (((record #>> id_path) <> ALL (ARRAY[''::text, '0'::text, '{}'::text, '[]'::text])) AND (strpos((record #>> id_path), chr(65533)) = 0)) THEN (record #> id_path) ELSE NULL::jsonb END;

CREATE OR REPLACE FUNCTION daywalk.ids_in(stored bigint[], stored_by text[], body jsonb, records_path text[], skip integer, id_path text[])
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (id_path IS NULL) THEN NULL::bigint[] WHEN (stored_by = id_path) THEN stored ELSE (daywalk.ids_of((body #> records_path), id_path))[(skip + 1):] END;

CREATE OR REPLACE FUNCTION daywalk.ids_of(list jsonb, id_path text[])
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select array(select jsonb_hash_extended(daywalk.identity_of(record, id_path), 0)
                 from jsonb_array_elements(case jsonb_typeof(list) when 'array' then list else '[]' end) with ordinality as r (record, position)
                order by position)
$function$;

CREATE OR REPLACE FUNCTION daywalk.ignored_now(top bigint)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return coalesce((select k.ignored from daywalk.walks k
                    where k.walk_id = (select max(proven.walk_id) from daywalk.proven_walks(top) as proven)), '{}');
end $function$;

CREATE OR REPLACE FUNCTION daywalk.in_one_form(value jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return case jsonb_typeof(value)
    when 'array' then coalesce((select jsonb_agg(inside.form order by inside.form::text collate "C")
                                  from (select case jsonb_typeof(element) when 'string' then element else daywalk.in_one_form(element) end as form from jsonb_array_elements(value) as element offset 0) as inside), '[]')
    when 'object' then coalesce((select jsonb_object_agg(member.key, case jsonb_typeof(member.value) when 'string' then member.value else daywalk.in_one_form(member.value) end) from jsonb_each(value) as member where jsonb_typeof(member.value) <> 'null'), '{}')
    when 'number' then to_jsonb(trim_scale(value::numeric))
    else value end;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.in_small_letters(said text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN lower(translate(said, 'I'::text, 'i'::text));

CREATE OR REPLACE FUNCTION daywalk.is_shown(of_stream integer, on_day date)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return exists (select from daywalk.windows w
                   join daywalk.walks k on k.window_id in (select daywalk.subtree(w.window_id)) and k.shown <> 'no' and k.pruning is null
                  where w.stream_id = of_stream and w.day = on_day and w.kind = 'day');
end $function$;

CREATE OR REPLACE FUNCTION daywalk.is_upheld(cut bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with rule as materialized (
    select daywalk.ignored_now(cut) as ignored
  ), found as materialized (
    select f.* from rule cross join lateral daywalk.found_at(cut, rule.ignored) as f where greatest(f.across, f.before, f.behind) > 0
  ), beside as materialized (
    select w.window_id, w.day = me.midnight as is_before
      from daywalk.windows me join daywalk.windows w on w.stream_id = me.stream_id and w.kind = 'day' and w.day in (me.midnight, me.midnight + 1)
     where me.window_id = cut and daywalk.is_shown(w.stream_id, w.day)
  ), held as materialized (
    select copy.hash, count(*) filter (where beside.is_before) as before, count(*) filter (where not beside.is_before) as behind,
           count(*) filter (where copy.state = 'shown') as current
      from beside cross join rule
     cross join lateral daywalk.held(beside.window_id, array(select found.hash from found), rule.ignored) as copy
     where copy.state <> 'old'
     group by copy.hash
  )
  select (select count(*) from beside) < 2
      or not exists (select from found f left join held h on h.hash = f.hash
                      where f.before > coalesce(h.before, 0) or f.behind > coalesce(h.behind, 0)
                         or (f.across > f.before + f.behind and h.current >= f.across))
$function$;

CREATE OR REPLACE FUNCTION daywalk.is_whole(walk bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return (
  select k.pages = chain.pages and k.next_start = chain.records and chain.unbroken
    from daywalk.walks k
   cross join lateral (
     select count(*) as pages, coalesce(sum(p.records), 0) as records,
            coalesce(bool_and(p.start + p.skip = p.expected and p.page_no = p.ordinal), true) as unbroken
       from (select page_no, start, skip, records,
                    coalesce(sum(records) over (order by page_no rows between unbounded preceding and 1 preceding), 0) as expected,
                    row_number() over (order by page_no) - 1 as ordinal
               from daywalk.pages_of(array[k.walk_id])) as p) as chain
   where k.walk_id = walk);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.keep_pruned_day(id integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.key_says(name text, value jsonb, status integer, with_records boolean, OUT fault boolean, OUT more boolean)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  kind text := jsonb_typeof(value);
  -- Objects, lists and null say nothing by themselves.
  said text := case when kind in ('object', 'array', 'null') then '' else daywalk.in_small_letters(btrim(value #>> '{}')) end;
  is_true boolean := said in ('true', '1', 'yes');
  is_false boolean := said in ('false', '0', 'no');
  is_of_query boolean := name ~ '^(job|query|search|dispatch|task|response|progress)(status|state)$';
begin
  fault := case
    when name in ('iserror', 'haserror', 'haserrors', 'isfailed') or name ~ '^(is|has)?(query|search|request|results?|server|backend)?timedout$' then is_true
    when name in ('timeout', 'hastimeout', 'reachedtimeout', 'aborted', 'isaborted', 'cancelled', 'iscancelled', 'canceled', 'iscanceled',
                  'interrupted', 'isinterrupted', 'throttled', 'isthrottled', 'ratelimited', 'isratelimited') then said in ('true', 'yes')
    when name in ('code', 'status', 'statuscode', 'httpcode', 'httpstatus', 'httpstatuscode', 'responsecode', 'resultcode')
         and said ~ case when with_records then '^[45][0-9]{2,}\M' else '^([4-9][0-9]{2}|[13-9][0-9]{3,})\M' end then status <> 404 or said !~ '^404'
    when name in ('shards', 'partitions', 'splits', 'indices', 'indexes', 'indexers', 'replicas', 'nodes', 'searchnodes', 'clusters', 'remoteclusters',
                  'peers', 'searchpeers', 'managers', 'tenants', 'sources', 'datasources', 'servers', 'backends', 'regions') then kind = 'object' and daywalk.lacks_parts(name, value)
    when status = 404 then false
    when with_records and name in ('errors', 'exceptions', 'fail', 'failed', 'failures', 'succeeded') and said ~ '^[0-9]+$' then false
    when name ~ '^(err(or)?(s|no|code|msg|message|description|details?|info|list|reason)?|pendingerrors|exceptions?|fault|fail(ed|ures?|urereason)?)$' then case kind when 'number' then value <> '0' else not daywalk.says_nothing(value) end
    when name in ('success', 'ok', 'issuccess', 'issuccessful', 'succeeded') then is_false
    when name = 'successful' then said = 'false'
    when is_of_query or name in ('status', 'state', 'result', 'outcome', 'statustext', 'code', 'statuscode', 'resultcode', 'responsecode')
      then said = 'false'
           or regexp_replace(said, '\m(no|0|zero|without)[ _-]+(any )?(errors?|fail(ed|ures?)?|faults?|exceptions?)\M', '', 'g') ~ 'error|fail(?!ed over|[ _-]?(over|back|safe))|exception|unavailable|timed?[ _-]*out|denied|forbidden|unauthori[sz]ed|abort|reject|overload|not[ _-]?ok|\m(err|ko|nok)\M'
              and said !~ '^(no|0|without)\M' and not daywalk.says_nothing(value)
           or is_of_query and said ~ '^(cancel|throttl|kill|interrupt)' or name = 'status' and said ~ '^cancell?ed$'
    -- Beside records a message may be of anything; alone it says why there are none.
    when name in ('message', 'msg', 'detail', 'reason') then not with_records
      and said ~ '\mthrottl|\m(rate|request)s?[ -]?limit(s|ing|ed)?( (is|was|has been|have been))? ?(exceed|reach|hit\M)|\mtoo many (concurrent )?(requests|queries|searches|connections)|\mslow down|\m(server|service|system|search|backend|cluster)( (is|are))?( too| currently)? busy\M|\m(retry|try again) (later|in [0-9a])|\mtimed[ -]?out|\m(temporarily|service|currently) unavailable|overload|\mquota( (is|was|has been))? (exceeded|exhausted|used up)|\minternal( server)? error'
    -- Parts of the source that are away, one of them maybe number 0. A mere number of errors may be anybody's.
    when name ~ '^(failed|missing|timedout|un(available|reachable|responsive|answered)|offline|disconnected)?(shards|partitions|splits|indices|indexes|indexers|replicas|(search)?(nodes|peers)|(remote)?clusters|managers|tenants|(data)?sources|servers|backends|regions)(failed|missing|timedout|un(available|reachable|responsive|answered)|offline|disconnected|not(responding|answering|reach(ed|able)|available|searched|queried))?$'
      -- What is offline, and how many are, is told of what is watched, too.
      then (not daywalk.says_nothing(value) or kind = 'array' and value @> '[0]')
           and (name !~ 'offline|disconnected' or kind <> 'number' and name !~ 'clusters|managers|tenants|sources|servers|regions')
    when name ~ '^unreachable$|^(shard|partition|split|index|indexer|replica|node|cluster|peer|manager|remote|(data)?source|server|region)(errors|failures)$'
      then not daywalk.says_nothing(value) and (kind in ('array', 'object') or name ~ '^(shard|partition|datasource)')
    else false
  end;
  more := case
    -- Vespa.
    when name = 'coverage' then value @> '{"full": false}'
    when name in ('partialfailure', 'partialfailures', 'partialerror', 'partialerrors') then not daywalk.says_nothing(value)
    -- Of a hundred, or of one; progressRate is of Trend Vision One, a number in progressStatus of SentinelOne.
    when name ~ '^percent(age)?(completed?|done|finished)$|^(completed?|completion|done)percent(age)?$|^(job|query|search|done)progress$|^progressrate$'
      or name = 'progressstatus' and kind = 'number'
      then said ~ '^[0-9]{1,2}(\.[0-9]+)? *%?$' and said !~ '^1(\.0+)?$'
    -- What is cut within a record.
    when name ~ 'field|column|attribut|payload|descript' then false
    -- Why it is not whole, or by what it was cut, in place of a flag; Scalyr: omittedEvents.
    when name ~ '(partial|incomplete|trunca(ted|tion))reason$' and kind not in ('boolean', 'number')
      or name ~ '^(is)?(partial|incomplete|truncated)$' and (kind = 'string' or name !~ 'truncated' and jsonb_typeof(value -> 0) = 'string')
      then not daywalk.says_nothing(value)
           and said !~ '^(n|f|na|off|full|whole|complete|never|(not|never|un)[ _-]?(truncated|partial|incomplete|applicable))$|_unspecified$'
    when name ~ '^(has|is)?(missing|omitted|dropped)(data|results|records|events|hits|rows)$|^(data|results|records|events|hits|rows)(missing|omitted|dropped)$'
      then said in ('true', 'yes') or kind = 'number' and value <> '0' and name ~ 'omitted'
    when said = '' or kind = 'number' and said not in ('1', '206') then false
    -- Solr: partialResults, also "omitted"; GitHub: incomplete_results; SharePoint, Exchange: MoreDataAvailable; Splunk: preview.
    when name ~ '^((is|has)?(partial|incomplete|truncated|more)|hasnext|terminatedearly|exceededtransferlimit)' and name !~ '(allow|enabl|accept|support)(ed)?$|^(is)?partialmatch$|more(info|information|details)$' then is_true or said = 'omitted'
    -- Within other names a number counts something, and some name an option.
    when name ~ 'allow|includ|enabl|accept|support|match|^(api|rate|quota|usage|sla)' then false
    when name ~ '^(is)?(preview|degraded|running|inprogress)$|partial|incomplete|truncated|(limit|timeout|deadline|max(results|events|records|rows|hits|size|count)?)(reached|exceeded|hit)$|^(reached|exceeded|hit)(limit|max)$|^toomany(events|results|records|rows|hits)$|^(is)?((results?|records|events|hits|rows|response|output)?(capped|clipped|overflow(ed)?)|(results?|records|events|hits|rows)limited)$'
              -- Typesense, Solr, Algolia, Chronicle, Google Analytics.
              '|^searchcutoff$|terminatedearly$|^timeouthits$|^toolargeresponse$|^containssampleddata$'
      then said in ('true', 'yes')
    -- BigQuery: jobComplete; Salesforce: done; Spring Data: last; Jira: isLast.
    when name ~ '^((is)?(job|query|search|results?|data)?(complete|completed|done|finished)|all(results|records|events|data)(returned|included|shown)|(is)?final|(is)?last(page)?|searche?d?completely)$' then said in ('false', 'no')
    when name in ('code', 'status', 'statuscode', 'httpcode', 'httpstatus', 'httpstatuscode', 'responsecode') and said ~ '^(206\M|partial)' then true
    -- A service runs, waits and processes, too; only what was asked is executed, or has its results gathered (QRadar, Sumo Logic).
    when name ~ '^((results?|response)?(status|state)|result|completeness|progress)$' then said ~ '^(partial|incomplete|truncated|gathering results|execut(e|ing)\M)'
    when is_of_query
      then said ~ '\mmax(imum)? (results|events|records|rows|hits)|^(partial|incomplete|truncated|execut(e|ing)\M|gathering|wait|degraded)' or daywalk.goes_on(said)
    else false
  end;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.knows_frame(of_stream integer, of_frame text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return of_frame is not null and exists (
    select from daywalk.frames f where f.stream_id = of_stream and f.signature = of_frame and f.confirmed_at is not null);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.lacks_parts(name text, parts jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  key text;
  plain text;
  amount numeric;
  total numeric;
  asked numeric;
  answered numeric;
  skipped numeric := 0;
  away boolean := false;
begin
  for key in select jsonb_object_keys(parts) loop
    amount := case jsonb_typeof(parts -> key) when 'number' then (parts -> key)::numeric when 'array' then jsonb_array_length(parts -> key) end;
    continue when amount is null;
    plain := translate(daywalk.in_small_letters(key), '_- ', '');
    if plain = 'total' then total := amount;
    elsif plain in ('successful', 'succeeded', 'answered', 'responded', 'replied') then answered := amount;
    elsif plain in ('queried', 'asked', 'requested', 'contacted') then asked := amount;
    elsif amount > 0 and plain in ('failed', 'failures', 'missing', 'timedout', 'unavailable', 'unreachable', 'unresponsive', 'unanswered', 'notresponding') then away := true;
    elsif plain in ('skipped', 'pruned', 'excluded', 'filtered', 'disabled') and name not in ('shards', 'clusters') then skipped := skipped + amount;
    end if;
  end loop;
  return coalesce(answered + skipped < coalesce(asked, total), false)
      or away and (coalesce(asked, answered) is not null or name in ('shards', 'partitions', 'indices', 'indexes', 'indexers', 'replicas', 'splits'));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.leaves(top bigint)
 RETURNS SETOF daywalk.windows
 LANGUAGE plpgsql
 STABLE ROWS 10
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query
  with recursive tree as (
    select * from daywalk.windows where window_id = top
     union all
    select part.* from tree join daywalk.windows part on part.split_from = tree.window_id
     where tree.split_by is not null and part.state <> 'replaced'
  )
  select * from tree where split_by is null;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.ledger_digest(l daywalk.ledger)
 RETURNS bytea
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.text_digest(jsonb_build_array(
    (l).stream_id, (l).entry, (l).day, (l).revision, (l).walks, (l).pages, (l).records, (l).bytes,
    encode((l).pages_sha256, 'hex'), encode((l).walks_sha256, 'hex'), encode((l).marks_sha256, 'hex'),
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

CREATE OR REPLACE FUNCTION daywalk.let_audit(role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform daywalk.begin_rights(role);
  execute (
    select format('grant select on %s to %I', string_agg(c.oid::regclass::text, ', '), role)
      from pg_class c where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition);
  -- What writes does so with the rights of whoever calls it, but for a few functions of the owner's.
  execute (
    select format('grant execute on routine %s to %I', string_agg(p.oid::regprocedure::text, ', '), role)
      from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace and (not p.prosecdef or p.provolatile <> 'v')
       and p.proname not in ('begin_rights', 'let_audit', 'let_work', 'let_move', 'let_read'));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.let_move(role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform daywalk.let_work(role);
  execute format('grant insert, update, delete on daywalk.prunings, daywalk.tiered_days to %I', role);
  execute format('grant delete on daywalk.pages, daywalk.page_filters to %I', role);
  execute format('grant execute on function daywalk.empty_month(date) to %I', role);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.let_read(role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform daywalk.begin_rights(role);
  execute (
    select format('grant select on %s to %I', string_agg(c.oid::regclass::text, ', '), role)
      from pg_class c
     where c.relnamespace = 'daywalk'::regnamespace
       and (c.relkind = 'v' or c.relname in (select daywalk.relation_of(t) from daywalk.record_tables t)));
  -- A view calls its functions with the rights of whoever reads it.
  execute (
    select format('grant execute on routine %s to %I', string_agg(p.oid::regprocedure::text, ', '), role)
      from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace
       and (p.proname in ('require_complete', 'search')
            or p.provolatile <> 'v'
           and exists (select from pg_class c
                         join pg_rewrite r on r.ev_class = c.oid
                         join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_proc'::regclass
                        where c.relnamespace = 'daywalk'::regnamespace and c.relkind = 'v' and d.refobjid = p.oid)));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.let_read_too(relation text, of_relation text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  readers constant text := (
    select string_agg(distinct case a.grantee when 0 then 'public' else quote_ident(r.rolname) end, ', ')
      from pg_class c cross join lateral aclexplode(c.relacl) as a left join pg_roles r on r.oid = a.grantee
     where c.oid = to_regclass('daywalk.' || quote_ident(of_relation)) and a.privilege_type = 'SELECT' and a.grantee <> c.relowner);
begin
  if readers is not null then execute format('grant select on daywalk.%I to %s', relation, readers); end if;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.let_work(role name)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform daywalk.let_audit(role);
  execute format('grant insert on daywalk.pages, daywalk.seals, daywalk.ledger to %I', role);
  execute (
    select format('grant insert, update on %s to %I', string_agg(c.oid::regclass::text, ', '), role)
      from pg_class c
     where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       -- What is believed of record tables is changed by their functions only.
       and c.relname not in ('pages', 'seals', 'ledger', 'migrations', 'prunings', 'tiered_days', 'record_tables', 'table_days', 'misfits')
       and c.relname not in (select daywalk.relation_of(t) from daywalk.record_tables t));
  execute format('grant delete on daywalk.shared_records, daywalk.learned, daywalk.contracts, daywalk.frames, daywalk.refused_keys to %I', role);
  execute (
    select format('grant execute on routine %s to %I', string_agg(p.oid::regprocedure::text, ', '), role)
      from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace
       and p.proname = any (array['ensure_partition', 'show_stream', 'ensure_table_partition', 'begin_table_day', 'fill_table_day', 'end_table_day',
                                  'drop_table_day', 'retime_tables', 'keep_pruned_day', 'swap_table', 'drop_unwanted_days']));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.lock_stream(of_stream integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform daywalk.need_read_committed();
  perform pg_advisory_xact_lock(hashtext('daywalk.show'), of_stream);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.make_filters(of_stream integer, on_day date, most_bytes bigint)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.make_month(of_table text, partition text, first_day date)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  bounds constant text := format('for values from (%L) to (%L)', first_day, (first_day + interval '1 month')::date);
  there constant regclass := to_regclass('daywalk.' || quote_ident(partition));
  parent constant regclass := to_regclass('daywalk.' || quote_ident(of_table));
  pending boolean;
begin
  if there is null then
    perform pg_advisory_xact_lock(hashtext('daywalk.make_month ' || of_table));
    execute format('create table daywalk.%I (like daywalk.%I including all excluding comments)', partition, of_table);
    execute format('alter table daywalk.%I attach partition daywalk.%I %s', of_table, partition, bounds);
    return;
  end if;
  select inhdetachpending into pending from pg_inherits where inhrelid = there and inhparent = parent;
  -- A table that was built beside another one may have taken its place, and name, meanwhile.
  if pending is distinct from false and parent is not null then
    raise wrong_object_type using message = format('daywalk.%I was detached: %salter table daywalk.%I attach partition daywalk.%I %s', partition,
      case when pending then format('alter table daywalk.%I detach partition daywalk.%I finalize; ', of_table, partition) else '' end, of_table, partition, bounds);
  end if;
exception when duplicate_table then
  null; -- Another process has made it meanwhile.
end $function$;

CREATE OR REPLACE FUNCTION daywalk.mark_pruned(of_stream integer, on_day date, which text, shown_walks bigint[], shown_marks bytea)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  at constant timestamptz := clock_timestamp();
  gone bigint[];
  made bigint;
  replaced daywalk.marks[];
begin
  perform daywalk.lock_stream(of_stream);
  -- A worker that stores a page holds its window for a moment only.
  perform from daywalk.windows where stream_id = of_stream and day = on_day order by window_id for update;
  if exists (select from daywalk.prunings where stream_id = of_stream and day = on_day and what = 'day') then
    return 'pruned';
  end if;
  if not exists (select from daywalk.shown_days where stream_id = of_stream and day = on_day)
     or exists (select from daywalk.windows where stream_id = of_stream and day = on_day and lease_expires > clock_timestamp()) then
    return 'held';
  end if;
  if shown_marks <> daywalk.marks_digest(shown_walks)
     or shown_walks <> (select d.walks from daywalk.shown_days d where d.stream_id = of_stream and d.day = on_day) then
    return 'changed';
  end if;
  if exists (select from daywalk.ledger_due where stream_id = of_stream and day = on_day) then return 'unsealed'; end if;
  -- As daywalk.table_work says it, of this day only: that looks at all days of the stream.
  if which = 'day'
     and exists (select from daywalk.days d
                   join daywalk.streams s on s.stream_id = d.stream_id
                   join daywalk.record_tables t on t.stream = s.name and t.outlives
                   left join daywalk.table_days y on y.table_id = t.table_id and y.day = d.day
                  where d.stream_id = of_stream and d.day = on_day and y.publication is distinct from d.publication
                    and coalesce(daywalk.closed_at(d.day, s.time_zone, s.settle) + t.retention > at, true)) then
    return 'wanted';
  end if;
  -- What a killed worker left is not gone on with.
  perform daywalk.end_open_walk(w.current_walk, 'its window was pruned') from daywalk.windows w where w.stream_id = of_stream and w.day = on_day;
  update daywalk.windows set current_walk = null, lease_id = null, lease_owner = null, lease_expires = null
   where stream_id = of_stream and day = on_day and (current_walk is not null or lease_id is not null);
  select array_agg(walk_id order by walk_id) into gone from daywalk.prunable_walks(of_stream, on_day, which);
  if gone is null then return 'pruned'; end if;
  insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
  -- Of a day what was shown: walks that were evidence only hold the same records.
  select of_stream, on_day, which, gone, coalesce(max(d.pages), sum(k.pages)), coalesce(max(d.records), sum(k.records)), coalesce(max(d.bytes), sum(k.bytes))
    from daywalk.walks k
    left join (select pages, records, bytes from daywalk.days where which = 'day' and stream_id = of_stream and day = on_day) as d on true
   where k.walk_id = any (gone)
  returning pruning_id into made;
  if which = 'day' then
    replaced := array(select daywalk.replaced_by(of_stream, on_day));
    update daywalk.prunings set twins_before = daywalk.twins_for(of_stream, on_day - 1, on_day - 1), twins_behind = daywalk.twins_for(of_stream, on_day, on_day + 1)
     where pruning_id = made and not exists (select from daywalk.tiered_days t where t.stream_id = of_stream and t.day = on_day);
  end if;
  update daywalk.walks set pruning = made where walk_id = any (gone);
  if which = 'day' then
    update daywalk.windows set due_at = null, rewalk = false where stream_id = of_stream and day = on_day;
    -- What a neighbour hid because this day showed it comes back there.
    perform daywalk.note_with_neighbours(of_stream, on_day, at);
    -- So does what other days hid because this one showed a newer version of it.
    if replaced <> '{}' then perform daywalk.note_identified(of_stream, array(select daywalk.show_again(of_stream, replaced, at, on_day)), '{}', at); end if;
    update daywalk.days set proof = null, unsealed = false where stream_id = of_stream and day = on_day;
  end if;
  return 'pruned';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.mark_tiered(described jsonb, shown_walks bigint[], shown_marks bytea, going bigint[], going_pages bigint)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  moved daywalk.tiered_days := jsonb_populate_record(null::daywalk.tiered_days, described);
  before daywalk.days;
  said text;
begin
  perform daywalk.lock_stream(moved.stream_id);
  perform from daywalk.windows w where w.stream_id = moved.stream_id and w.day = moved.day order by w.window_id for update;
  if exists (select from daywalk.tiered_days t where t.stream_id = moved.stream_id and t.day = moved.day) then return 'tiered'; end if;
  if exists (select from daywalk.prunings g where g.stream_id = moved.stream_id and g.day = moved.day and g.what = 'day') then return 'pruned'; end if;
  -- A look, or a wish to walk it again, would be lost.
  if exists (select from daywalk.windows w where w.stream_id = moved.stream_id and w.day = moved.day and (w.rewalk or w.due_at is not null)) then
    return 'held';
  end if;
  if daywalk.waits_for_neighbour(moved.stream_id, moved.day) then return 'held'; end if;
  if moved.publication is distinct from (select d.publication from daywalk.days d where d.stream_id = moved.stream_id and d.day = moved.day)
     or not exists (select from (select array_agg(k.walk_id order by k.walk_id) as walks, sum(k.pages) as pages
                                   from daywalk.prunable_walks(moved.stream_id, moved.day, 'day') as k) as now
                     where now.walks = going and now.pages = going_pages) then
    return 'changed';
  end if;
  select * into before from daywalk.days d where d.stream_id = moved.stream_id and d.day = moved.day;
  moved.twins_before := daywalk.twins_for(moved.stream_id, moved.day - 1, moved.day - 1);
  moved.twins_behind := daywalk.twins_for(moved.stream_id, moved.day, moved.day + 1);
  insert into daywalk.tiered_days select moved.*;
  said := daywalk.mark_pruned(moved.stream_id, moved.day, 'day', shown_walks, shown_marks);
  if said = 'pruned' then
    -- What it shows it shows still, though not here.
    update daywalk.days d set records = before.records, gone = before.gone, lost = before.lost, proof = before.proof
     where d.stream_id = moved.stream_id and d.day = moved.day;
    return 'tiered';
  end if;
  delete from daywalk.tiered_days t where t.stream_id = moved.stream_id and t.day = moved.day;
  return said;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.marks_digest(of_walks bigint[])
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return (
  select daywalk.text_digest(coalesce((select string_agg(k.walk_id || ':' || k.shown, ',' order by k.walk_id) from daywalk.walks k where k.walk_id = any (of_walks)), '')
           || ';' || coalesce(string_agg(jsonb_build_array(mark.walk_id, mark.page_no, mark.position, seen.state, mark.revision,
           case when seen.state = 'gone' then extract(epoch from mark.since) end, extract(epoch from mark.first_seen))::text, ','
           order by mark.walk_id, mark.page_no, mark.position), ''))
    from daywalk.marks mark
    join daywalk.walks k on k.walk_id = mark.walk_id
   cross join lateral (select case when mark.hidden_by is not null then 'hidden' when mark.state = 'missing' then 'shown' else mark.state end as state) as seen
   where mark.walk_id = any (of_walks)
     and (seen.state <> 'shown' or k.shown = 'part' or mark.revision > 1 or mark.first_seen is not null));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.matches_seal(p daywalk.pages)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select s.digest = daywalk.page_digest(p, daywalk.body_digest((p).body))
    from daywalk.seals s where s.walk_id = (p).walk_id and s.page_no = (p).page_no
$function$;

CREATE OR REPLACE FUNCTION daywalk.messages_say(name text, messages jsonb, OUT fault text, OUT more boolean)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  message jsonb;
  level text;
begin
  more := false;
  for message in select jsonb_array_elements(case jsonb_typeof(messages) when 'array' then messages else jsonb_build_array(messages) end) loop
    -- Notes that are more than words are what a person wrote.
    continue when name = 'notes' and jsonb_typeof(message) = 'object';
    level := daywalk.in_small_letters(case jsonb_typeof(message) when 'object' then
      (select string_agg(value, E'\n') from jsonb_each_text(message) where daywalk.in_small_letters(key) in ('type', 'level', 'severity')) end);
    if name !~ '^not' and level ~ '(?n)^(error|fatal)\M' or level is null and name = 'errormessages' and not daywalk.says_nothing(message) then fault := coalesce(fault, left(message::text, 300)); end if;
    if level ~ '(?n)^warn' or name ~ '(warnings?|warningmessages?|^message|^msg|^notices?|^notes?)$' and coalesce(level !~ '(?n)^(info|notice|hint|debug)', true) then
      more := more or daywalk.warns_of_more(daywalk.in_small_letters(case jsonb_typeof(message)
        when 'object' then (select string_agg(case when daywalk.in_small_letters(key) ~ '(code|type|kind|reason|warning|message)$' and value !~* '\s|allow|enabl|disabl|support|param|option' then translate(value, '_', ' ') else value end, '; ') from jsonb_each_text(message))
        -- What a note says of every answer: how long events are kept, and whose are shown.
        when 'string' then case when name ~ '^not' then regexp_replace(message #>> '{}', '\m(limited|restricted) to (your\M|those\M|(the )?(last|past|previous) ([0-9]+ )?(day|week|month|year)s?\M)', '', 'gi') else message #>> '{}' end
        else message #>> '{}' end)) is true;
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.misfit()
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  raise data_exception using message = 'a value does not fit its type';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.need_read_committed()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'daywalk needs the isolation level READ COMMITTED, and this session has %', upper(current_setting('transaction_isolation'))
      using errcode = 'inappropriate_isolation_level_for_branch_transaction',
            hint = 'Reset default_transaction_isolation for the database and for the role of daywalk.';
  end if;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.next_look(closed timestamp with time zone, recheck_days integer)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case when clock_timestamp() + interval '1 day' <= closed + make_interval(days => recheck_days, hours => 12)
              then clock_timestamp() + interval '1 day' end
$function$;

CREATE OR REPLACE FUNCTION daywalk.note_day(of_stream integer, on_day date, at timestamp with time zone, appeared bigint, gone bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  lost_before bigint := coalesce((select d.lost from daywalk.days d where d.stream_id = of_stream and d.day = on_day), 0);
  noted daywalk.days;
begin
  insert into daywalk.days as d (stream_id, day, records, gone, lost, pages, bytes, proof, revision)
  select of_stream, on_day, c.records, c.gone, c.lost, c.pages, c.bytes, c.proof, 1
    from daywalk.contents_of(of_stream, on_day) as c
  on conflict (stream_id, day) do update
     set records = excluded.records, gone = excluded.gone, lost = excluded.lost, pages = excluded.pages, bytes = excluded.bytes,
         proof = excluded.proof, revision = d.revision + 1, publication = excluded.publication, unsealed = true
  returning * into noted;
  insert into daywalk.publications (stream_id, seq, key, day, revision, records, appeared, gone, lost, published_at)
  select of_stream, 1 + coalesce((select max(p.seq) from daywalk.publications p where p.stream_id = of_stream), 0), noted.publication, on_day,
         noted.revision, noted.records, note_day.appeared, note_day.gone, greatest(noted.lost - lost_before, 0), at;
  perform daywalk.share_day(s.resource, on_day) from daywalk.streams s where s.stream_id = of_stream;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.note_identified(of_stream integer, shown date[], hidden date[], at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform daywalk.note_day(of_stream, d.day, at, d.shown, d.shown)
     from (select c.day, count(*) filter (where c.shown) as shown
             from (select unnest(note_identified.shown), true union all select unnest(note_identified.hidden), false) as c (day, shown)
            group by c.day order by c.day) as d;
  -- What appeared is known with the publication only.
  with told as (
    update daywalk.days d set lost = c.lost
      from (select distinct day from unnest(note_identified.shown) as c (day)) as again cross join lateral daywalk.contents_of(of_stream, again.day) as c
     where d.stream_id = of_stream and d.day = again.day
    returning d.publication
  )
  update daywalk.publications p set lost = 0 from told where p.key = told.publication;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.note_pruned_twins(of_stream integer, on_day date, at timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with pruned as materialized (
    select g.day, cut.window_id as cut, twins.hashes
      from daywalk.prunings g
     cross join lateral (values (g.day - 1, g.day - 1, g.twins_before), (g.day, g.day + 1, g.twins_behind)) as twins (midnight, beside, hashes)
      join daywalk.windows cut on cut.stream_id = of_stream and cut.midnight = twins.midnight
     where g.stream_id = of_stream and g.what = 'day' and g.day in (on_day - 1, on_day + 1) and twins.beside = on_day and twins.hashes is not null
  ), twin as (
    -- What is equal at both midnights of the day stood under each of the two days: these are other copies.
    select pruned.day as stood_on, pruned.cut, h.hash, row_number() over (partition by h.hash order by pruned.day) as rank
      from pruned cross join lateral unnest(pruned.hashes) as h (hash)
  ), copy as (
    select pruned.cut, held.*, row_number() over (partition by pruned.cut, held.hash order by held.walk_id, held.page_no, held.position) as rank
      from pruned
      join daywalk.windows w on w.stream_id = of_stream and w.kind = 'day' and w.day = on_day
     cross join lateral daywalk.held(w.window_id, pruned.hashes, daywalk.ignored_now(pruned.cut)) as held
  )
  insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision, stood_on)
  select distinct on (walk_id, page_no, position) walk_id, page_no, position, day, state, at, first_seen, revision, stood_on
    from copy join twin using (cut, hash, rank)
  on conflict (walk_id, page_no, position) do update set stood_on = excluded.stood_on where mark.stood_on is null
$function$;

CREATE OR REPLACE FUNCTION daywalk.note_with_neighbours(of_stream integer, on_day date, at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform daywalk.note_day(of_stream, d.day, at, 0, 0)
     from (select on_day as day
            union
           select daywalk.hide_twins(cut.window_id, at) from daywalk.windows cut
            where cut.stream_id = of_stream and cut.proof is not null and cut.midnight in (on_day - 1, on_day)) as d;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.object_says(place jsonb, onward text, status integer, with_records boolean, about text DEFAULT ''::text, OUT fault text, OUT more boolean)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  ids constant text[] := '{jobId,job_id,taskId,task_id,searchId,search_id,queryId,query_id}';
  its_about constant text := case when about = '' and (place ?| ids or jsonb_typeof(place -> 'progress') = 'number' and place -> 'progress' <> '100') then 'query' else about end;
  name text;
  plain text;
  counts jsonb;
  counted boolean := false;
  said record;
begin
  more := false;
  if jsonb_typeof(place) is distinct from 'object' then return; end if;
  for name in select jsonb_object_keys(place) loop
    continue when name = onward;
    plain := translate(daywalk.in_small_letters(name), '_- ', '');
    if not with_records and daywalk.gives_no_answer(plain, place -> name) then
      fault := coalesce(fault, format('%s: %s', name, left((place -> name)::text, 300)));
    end if;
    -- A thing with a version, or one that tells how long it is up, runs or is tried out itself.
    continue when plain in ('preview', 'ispreview', 'degraded', 'isdegraded', 'running', 'isrunning')
      and place ?| case when onward is null then '{name,version,service,uptime,pid}' else '{service,uptime,pid}' end::text[];
    if plain ~ '^((is|has)?(err|fail|success)|message|msg|detail|reason|pendingerr|fault|exception|succeeded|ok$|stat|result|outcome|code|http|response|(is)?(abort|cancel|interrupt|throttl|ratelimited)|(is|has)?(more|next)|(is)?(preview|degraded|running|complete|done|finished|final|last)|is(job|query|search|results?|data)|(has|is)?(missing|omitted|dropped)|coverage$|(job|query|search|dispatch|task|progress|results?|data|all)|terminated|exceeded|reached|hit(limit|max)|toomany)|partial|incomplete|truncated|percent|progress$|shards|partitions|splits|indices|indexe|replicas|nodes|clusters|peers|managers|sources|servers|backends|regions|tenants|unreachable|(reached|exceeded|hit|capped|clipped|limited|missing|omitted|dropped|truncationreason|overflow(ed)?|errors|failures|cutoff|early|timed?out|timeouthits|toolargeresponse|sampleddata)$' then
      counted := counted or plain ~ '.(shards|partitions|indices|indexers|nodes|clusters|peers|servers|backends|regions)|s(total|queried|successful|responded)$';
      said := daywalk.key_says(
        case when plain in ('status', 'state') and place ->> name !~ '^[0-9]' then its_about || plain
             -- FortiAnalyzer: beside what identifies a search stands how far it is.
             when plain in ('percent', 'percentage') and place ?| (ids || '{tid,sid}') then 'percentcomplete'
             else plain end, place -> name, status, with_records);
      more := more or said.more;
      if said.fault then fault := coalesce(fault, format('%s: %s', name, left((place -> name)::text, 300))); end if;
    end if;
    -- Carbon Black tells of how many servers the answer is.
    if plain = 'contacted' and jsonb_typeof(place -> name) = 'number' and jsonb_typeof(place -> 'completed') = 'number' then
      more := more or place -> 'completed' < place -> name;
    end if;
    if plain in ('messages', 'warning', 'warnings', 'warningmessage', 'warningmessages', 'errormessages', 'pendingwarnings', 'notices', 'notes') or plain in ('message', 'msg', 'notice', 'note') and jsonb_typeof(place -> name) = 'string' then
      said := daywalk.messages_say(plain, place -> name);
      more := more or said.more;
      if status <> 404 then fault := coalesce(fault, name || ': ' || said.fault); end if;
    elsif jsonb_typeof(place -> name) = 'object' then
      said := daywalk.beside_says(plain, place -> name, status, with_records);
      more := more or said.more;
      fault := coalesce(fault, name || '.' || said.fault);
    end if;
  end loop;
  -- What is counted of the parts of a source side by side: totalShards, successfulShards.
  if not counted then return; end if;
  for plain, counts in
    select told[2], jsonb_object_agg(coalesce(told[1], told[3]), place -> key)
      from jsonb_object_keys(place) as key
     cross join lateral regexp_match(translate(daywalk.in_small_letters(key), '_- ', ''),
       '^(?:num(?:ber)?(?:of)?)?(total|queried|successful|responded|skipped|pruned|excluded|filtered|disabled)?(shards|partitions|indices|indexers|nodes|clusters|peers|servers|backends|regions)(total|queried|successful|responded|skipped|pruned|excluded|filtered|disabled)?$') as told
     where coalesce(told[1], told[3]) is not null
     group by told[2]
  loop
    if daywalk.lacks_parts(plain, counts) then fault := coalesce(fault, format('%s: %s', plain, counts)); end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.page_digest(p daywalk.pages, body_sha256 bytea)
 RETURNS bytea
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.text_digest(jsonb_build_array(
    (p).walk_id, (p).page_no, (p).day, (p).start, (p).length, (p).skip, (p).records, (p).total, (p).relation,
    (p).total_missing, (p).more, encode(body_sha256, 'hex'), encode(sha256((p).bytes), 'hex'), (p).changes,
    encode(daywalk.text_digest(array_to_string((p).record_hashes, ',')), 'hex'), encode(daywalk.text_digest((p).id_hashes::text), 'hex'),
    encode((p).sha256, 'hex'), (p).byte_count, extract(epoch from (p).fetched_at), (p).duration_ms)::text)
$function$;

CREATE OR REPLACE FUNCTION daywalk.pages_of(walks bigint[], last_page integer DEFAULT 2147483647)
 RETURNS SETOF daywalk.pages
 LANGUAGE plpgsql
 STABLE ROWS 10
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  its_id bigint;
  its_day date;
begin
  for its_id, its_day in select k.walk_id, k.day from daywalk.walks k where k.walk_id = any (walks) loop
    return query select * from daywalk.pages p where p.walk_id = its_id and p.day = its_day and p.page_no <= last_page;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.pages_to_open(sought jsonb, of_stream integer, from_day date, to_day date)
 RETURNS TABLE(day date, state text, walk_ids bigint[], page_nos integer[])
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.paths_of(record jsonb, sought jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION daywalk.pieces_of_day(id integer, on_day date, piece_bytes bigint)
 RETURNS TABLE(walk_id bigint, first_page integer, last_page integer)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select p.walk_id, min(p.page_no), max(p.page_no)
    from (select g.walk_id, g.page_no, sum(g.byte_count) over (partition by g.walk_id order by g.page_no) / piece_bytes as piece
            from daywalk.record_tables t
            join daywalk.streams s on s.name = t.stream
            join daywalk.windows w on w.stream_id = s.stream_id and (w.day = on_day or w.midnight = on_day - 1)
            join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
            join daywalk.pages g on g.walk_id = k.walk_id and g.day = on_day and g.records > 0
           where t.table_id = id) as p
   group by p.walk_id, p.piece order by p.walk_id, p.piece
$function$;

CREATE OR REPLACE FUNCTION daywalk.prove_cut(target bigint, lease uuid, evidence jsonb)
 RETURNS text
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.prove_window(target, lease, null, null, null, evidence)
$function$;

CREATE OR REPLACE FUNCTION daywalk.prove_window(target bigint, lease uuid, walk bigint, at_start bigint, at_page integer, evidence jsonb)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  me daywalk.windows := daywalk.hold(target, lease);
  shown constant jsonb := evidence || jsonb_strip_nulls(jsonb_build_object('walk', walk));
  named constant bigint[] := daywalk.walks_of(shown);
begin
  if me.window_id is null then
    return case when exists (select from daywalk.windows where window_id = target and proof = shown) then 'proven' else 'lost' end;
  end if;
  -- A failover may take pages away between the proof and this; the checkpoint goes back with them, the proof does not.
  if (select count(*) from daywalk.walks k
       where k.walk_id = any (named) and k.window_id = target and coalesce(k.outcome, 'ended') in ('ended', 'proven') and daywalk.is_whole(k.walk_id)
         and (k.walk_id is distinct from walk
              or (k.next_start = at_start and k.pages = at_page
                  and (evidence ->> 'kind' = 'union' or (evidence ->> 'records')::bigint = at_start)))) < cardinality(named) then
    return 'broken';
  end if;
  update daywalk.walks k
     set outcome = 'proven', proof = evidence, reason = null, finished_at = coalesce(k.finished_at, clock_timestamp())
   where k.walk_id = any (named) and coalesce(k.outcome, 'ended') = 'ended';
  me.current_walk := nullif(me.current_walk, walk);
  perform daywalk.undo_split(target);
  perform daywalk.complete_window(me, shown);
  return 'proven';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.proven_counts(top bigint, under text[], among bigint[] DEFAULT NULL::bigint[])
 RETURNS TABLE(hash bigint, copies bigint, correction bigint)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select hash, (coalesce(sum(copies) filter (where kind <> 'cut'), 0))::bigint,
         (coalesce(sum(case role when 'across' then copies else -copies end) filter (where kind = 'cut'), 0))::bigint
    from (select window_id, kind, role, hash, max(copies) as copies
            from (select k.window_id, k.kind, k.role, h.hash, count(*) as copies
                    from daywalk.proven_walks(top) as k
                   cross join lateral daywalk.pages_of(array[k.walk_id]) as p
                   cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under)) as h (hash)
                   where among is null or h.hash in (select unnest(among))
                   group by k.window_id, k.kind, k.role, h.hash, k.walk_id, case when k.united then p.page_no end) as by_place
           group by window_id, kind, role, hash) as by_window
   group by hash
$function$;

CREATE OR REPLACE FUNCTION daywalk.proven_ids(top bigint, of_ids bigint[])
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select by_role.id_hash
    from (select shown.id_hash, shown.role, max(shown.copies) as copies
            from (select i.id_hash, k.window_id, k.role, count(*) as copies
                    from daywalk.proven_walks(top) as k
                    join daywalk.windows w on w.window_id = k.window_id
                    join daywalk.streams s on s.stream_id = w.stream_id
                   cross join lateral daywalk.pages_of(array[k.walk_id]) as p
                   cross join lateral unnest(daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) as i (id_hash)
                   group by i.id_hash, k.window_id, k.role, k.walk_id, case when k.united then p.page_no end
                  offset 0) as shown
           where shown.id_hash in (select unnest(of_ids))
           group by shown.id_hash, shown.window_id, shown.role) as by_role
   group by by_role.id_hash having sum(case when by_role.role in ('before', 'after') then -by_role.copies else by_role.copies end) > 0
$function$;

CREATE OR REPLACE FUNCTION daywalk.proven_walks(top bigint)
 RETURNS TABLE(window_id bigint, kind text, role text, walk_id bigint, day date, records_path text[], ignored text[], id_path text[], finished_at timestamp with time zone, united boolean)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query
  select leaf.window_id, leaf.kind, k.role, k.walk_id, k.day, k.records_path, k.ignored, k.id_path, k.finished_at,
         leaf.kind <> 'cut' and leaf.proof ? 'unites' or count(*) over (partition by leaf.window_id, k.role) > 1
    from daywalk.leaves(top) as leaf
    join daywalk.walks k on k.walk_id = any (daywalk.walks_of(leaf.proof));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.prunable_walks(of_stream integer, on_day date, which text)
 RETURNS SETOF daywalk.walks
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select k.*
    from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id
   where w.stream_id = of_stream and (w.day = on_day or w.midnight = on_day - 1) and k.day = on_day and k.pruning is null
     and (which = 'day'
          or (k.outcome is not null and k.pages > 0
              and k.shown = 'no'
              and (w.state = 'replaced' or k.number <= w.judged)
              and not (w.midnight is not null and k.outcome = 'proven' and k.records > 0)
              and (w.state = 'replaced'
                   or coalesce(w.proof ->> 'walk' <> k.walk_id::text, true) and coalesce(w.proof ->> 'across' <> k.walk_id::text, true)
                  and coalesce(w.proof ->> 'before' <> k.walk_id::text, true) and coalesce(w.proof ->> 'after' <> k.walk_id::text, true)
                  and not coalesce(w.proof -> 'unites' @> to_jsonb(k.walk_id), false)
                  and not coalesce(w.proof -> 'halves' @> to_jsonb(k.walk_id), false))))
$function$;

CREATE OR REPLACE FUNCTION daywalk.put_back(p daywalk.pages)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if daywalk.matches_seal(p) is false then return false; end if;
  -- Somebody may have dropped the partition of a month that was empty.
  perform daywalk.ensure_partition(p.day);
  -- An attempt that read a changed object may have left another one, where there is no seal that tells.
  delete from daywalk.pages q where q.day = p.day and q.walk_id = p.walk_id and q.page_no = p.page_no and q is distinct from p;
  insert into daywalk.pages select p.* on conflict do nothing;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.read_page(of_stream integer, body jsonb, status integer, records_path text[], total_path text[], relation_path text[], ignored text[], id_path text[], OUT list_type text, OUT came integer, OUT total bigint, OUT relation text, OUT fault text, OUT more boolean, OUT signature text, OUT wordless boolean, OUT frame_known boolean, OUT hashes bigint[], OUT id_hashes bigint[])
 RETURNS record
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  list jsonb := body #> records_path;
  told text := body #>> total_path;
begin
  -- An empty list is {} in Lua's JSON, and "" where a template leaves it out.
  list_type := case when records_path <> '{}' and list in ('{}', '""') then 'null'
                    when jsonb_path_exists(list, 'strict $[*] ? (@.type() != "object")', silent => true) then 'what is no record'
                    else jsonb_typeof(list) end;
  came := case when list_type = 'array' then jsonb_array_length(list) when coalesce(list_type, 'null') = 'null' then 0 end;
  total := case when told ~ '^[0-9]{1,15}(\.0+)?$' then told::numeric::bigint end;
  relation := body #>> relation_path;
  if came = 0 then
    select frame.signature, frame.wordless into signature, wordless
      from daywalk.frame_of(body, records_path, total_path, relation_path, status) as frame;
  end if;
  frame_known := daywalk.knows_frame(of_stream, signature);
  select said.fault, said.more into fault, more from daywalk.frame_says(body, records_path, status, frame_known) as said;
  hashes := case when ignored = '{}' or coalesce(came, 0) = 0
                 then array(select daywalk.hash_of(list -> i) from generate_series(0, came - 1) as i order by i)
                 else daywalk.hashes_of(list, ignored) end;
  if id_path is not null then
    id_hashes := daywalk.ids_of(list, id_path);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.reason_of(value jsonb, kind text, indexed boolean, zone text, format text[])
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  raise exception 'daywalk.% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.relation_of(t daywalk.record_tables)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case t.state when 'live' then t.name else t.name || '_' || t.table_id end
$function$;

CREATE OR REPLACE FUNCTION daywalk.replace_gone(of_stream integer, gone_from bigint[], shown_by bigint[], at timestamp with time zone)
 RETURNS SETOF date
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  walks bigint[];
  pages integer[];
  places integer[];
  ids bigint[];
  times timestamptz[];
  days date[];
begin
  if not exists (select from daywalk.streams s where s.stream_id = of_stream and s.id_path is not null)
     or not exists (select from daywalk.marks where state = 'gone') then return; end if;
  select array_agg(s.walk_id), array_agg(s.page_no), array_agg(s.position), array_agg(s.id_hash), array_agg(s.fetched_at), array_agg(s.shown_on)
    into walks, pages, places, ids, times, days from daywalk.superseded(of_stream, 'gone', gone_from, shown_by) as s;
  if walks is null then return; end if;
  return query
  with replaced as (
    update daywalk.marks mark set state = 'old', since = at
      from unnest(walks, pages, places, ids, times, days) as s (walk_id, page_no, place, id_hash, fetched_at, shown_on)
     where mark.walk_id = s.walk_id and mark.page_no = s.page_no and mark.position = s.place
    returning mark.day, s.id_hash, s.shown_on, coalesce(mark.first_seen, s.fetched_at) as first_seen, mark.revision
  ), former as materialized (
    select r.id_hash, r.shown_on, min(r.first_seen) as first_seen, max(r.revision) as revision from replaced r group by r.id_hash, r.shown_on
  ), newer as materialized (
    select copy.* from (
      select k.walk_id, p.page_no, h.position::integer as position, p.day, h.id_hash, k.shown
        from daywalk.windows w
        join daywalk.streams s on s.stream_id = w.stream_id
        join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
        join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
       cross join lateral unnest(daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) with ordinality as h (id_hash, position)
       where w.stream_id = of_stream and w.day = any (days)
      offset 0) as copy
     where case when copy.id_hash in (select unnest(ids)) then true else false end
  ), counted as (
    insert into daywalk.marks as mark (walk_id, page_no, position, day, state, since, first_seen, revision)
    select n.walk_id, n.page_no, n.position, n.day, 'shown', at, f.first_seen, f.revision + 1
      from newer n
      join former f on f.id_hash = n.id_hash and f.shown_on = n.day
      left join daywalk.marks own on own.walk_id = n.walk_id and own.page_no = n.page_no and own.position = n.position
     where case when own.state is null then n.shown = 'whole' else own.seen and own.state <> 'gone' end
    on conflict (walk_id, page_no, position) do update
       -- What it counted before its records were identified otherwise for a while it does not count again.
       set revision = mark.revision + case when mark.first_seen <= excluded.first_seen then 0 else excluded.revision - 1 end,
           first_seen = least(mark.first_seen, excluded.first_seen)
    returning mark.day
  )
  select r.day from replaced r union all select c.day from counted c;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.replace_parts(of_windows bigint[])
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.end_open_walk(w.current_walk, 'its window was replaced') from daywalk.windows w where w.window_id = any (of_windows);
  update daywalk.windows
     set state = 'replaced', split_by = null, split_reason = null, split_total = null, split_calibrated = false,
         due_at = null, rewalk = false, current_walk = null, last_error = null, last_failed_at = null,
         lease_id = null, lease_owner = null, lease_expires = null
   where window_id = any (of_windows);
$function$;

CREATE OR REPLACE FUNCTION daywalk.replaced_by(of_stream integer, on_day date)
 RETURNS SETOF daywalk.marks
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select mark.*
    from daywalk.superseded(of_stream, 'old', null, array(select w.window_id from daywalk.windows w where w.stream_id = of_stream and w.day = on_day)) as s
    join daywalk.marks mark on mark.walk_id = s.walk_id and mark.page_no = s.page_no and mark.position = s.position
   where mark.day <> on_day
     and not exists (select from daywalk.tiered_days t where t.stream_id = of_stream and t.day = on_day)
$function$;

CREATE OR REPLACE FUNCTION daywalk.require_complete(stream text, from_day date, to_day date, tiered boolean DEFAULT false)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.restore_day(of_stream integer, on_day date, recheck_days integer)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  at constant timestamptz := clock_timestamp();
  pruned daywalk.prunings;
  here bigint[];
  replaced daywalk.marks[];
  shown date[];
  hidden date[];
begin
  perform daywalk.lock_stream(of_stream);
  perform from daywalk.windows where stream_id = of_stream and day = on_day order by window_id for update;
  if not exists (select from daywalk.tiered_days t where t.stream_id = of_stream and t.day = on_day) then return 'restored'; end if;
  -- Whoever removes its pages just now is waited for, and removes none any more.
  select * into strict pruned from daywalk.prunings g where g.stream_id = of_stream and g.day = on_day and g.what = 'day' for update;
  if exists (select from daywalk.walks k
              cross join lateral (select count(*) as pages, coalesce(sum(p.records), 0)::bigint as records, coalesce(sum(p.byte_count), 0)::bigint as bytes
                                    from daywalk.pages p where p.walk_id = k.walk_id and p.day = k.day) as p
              where k.walk_id = any (pruned.walks) and (p.pages, p.records, p.bytes) <> (k.pages, k.records, k.bytes)) then
    return 'lacking';
  end if;
  replaced := array(select mark
                      from daywalk.marks mark
                      join daywalk.walks k on k.walk_id = mark.walk_id
                      join daywalk.streams s on s.stream_id = of_stream
                     where mark.walk_id = any (pruned.walks) and mark.state = 'old'
                       and (k.id_path is distinct from s.id_path
                            or exists (select from daywalk.prunings g
                                        where g.stream_id = of_stream and g.what = 'day' and g.pruning_id > pruned.pruning_id
                                          and not exists (select from daywalk.tiered_days t where t.stream_id = of_stream and t.day = g.day))));
  update daywalk.walks set pruning = null where pruning = pruned.pruning_id;
  delete from daywalk.tiered_days where stream_id = of_stream and day = on_day;
  delete from daywalk.prunings where pruning_id = pruned.pruning_id;
  update daywalk.windows w set due_at = daywalk.next_look(daywalk.closed_at(on_day, s.time_zone, s.settle), recheck_days)
    from daywalk.streams s
   where s.stream_id = of_stream and w.stream_id = of_stream and w.day = on_day and w.state = 'complete'
     and not coalesce((select p.split_calibrated from daywalk.windows p where p.window_id = w.split_from), false)
     and not exists (select from daywalk.days d where d.stream_id = of_stream and d.day = on_day and d.retired_since is not null);
  here := array(select window_id from daywalk.windows where stream_id = of_stream and day = on_day);
  -- What was gone when it moved may stand on another day by now, and what is gone elsewhere on this one.
  hidden := array(select daywalk.replace_gone(of_stream, here, null, at)) || array(select daywalk.replace_gone(of_stream, null, here, at));
  hidden := array_remove(hidden, on_day);
  -- What a neighbour hides, or does not, may have changed where that was pruned meanwhile.
  perform daywalk.note_with_neighbours(of_stream, on_day, at);
  -- What it hides as an older version may be none by what identifies its records now, or one of what was pruned meanwhile.
  if replaced <> '{}' then shown := array(select daywalk.show_again(of_stream, replaced, at)); end if;
  perform daywalk.note_identified(of_stream, shown, hidden, at);
  -- What was noted above stays so also where a midnight of the day is to be proven before it is due.
  update daywalk.days set restored_at = at,
                          unsealed = exists (select from daywalk.ledger_due l where l.stream_id = of_stream and l.day = on_day)
                                     or unsealed and not exists (select from daywalk.shown_days d where d.stream_id = of_stream and d.day = on_day)
   where stream_id = of_stream and day = on_day;
  return 'restored';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.retime_tables(of_stream integer)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update daywalk.table_days y set publication = gen_random_uuid()
    from daywalk.record_tables t join daywalk.streams s on s.name = t.stream
   where s.stream_id = of_stream and y.table_id = t.table_id and y.records > 0 and t.columns @> '[{"type": "timestamptz"}]'
     and not exists (select from daywalk.prunings g where g.stream_id = of_stream and g.day = y.day and g.what = 'day')
$function$;

CREATE OR REPLACE FUNCTION daywalk.retire_day(target bigint, lease uuid, recheck_days integer)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  me daywalk.windows := daywalk.hold(target, lease);
  doubted boolean;
begin
  if me.window_id is null then return 'lost'; end if;
  doubted := not exists (select from daywalk.days d where d.stream_id = me.stream_id and d.day = me.day and d.retired_since is not null)
         and exists (select from daywalk.windows w
                      where w.stream_id = me.stream_id and w.day = me.day and w.kind <> 'cut' and w.proof is not null and w.state <> 'replaced'
                        and (w.state <> 'complete' or w.rewalk));
  update daywalk.days set retired_since = coalesce(retired_since, clock_timestamp()) where stream_id = me.stream_id and day = me.day;
  -- What a window was split into since it was proven says nothing of that; nor do parts and cuts that were never proven.
  perform daywalk.undo_split(w.window_id) from daywalk.windows w
    where w.stream_id = me.stream_id and w.day = me.day and w.split_by is not null and w.proof ->> 'kind' <> 'parts';
  perform daywalk.replace_parts(array(select w.window_id from daywalk.windows w
                                       where w.stream_id = me.stream_id and w.day = me.day and w.split_from is not null and w.proof is null
                                         and w.state <> 'replaced'));
  update daywalk.windows w
     set state = 'complete', rewalk = false, attempts = 0, failures = 0, last_error = null, last_failed_at = null,
         due_at = case w.kind when 'day' then coalesce(daywalk.next_look(daywalk.closed_at(w.day, s.time_zone, s.settle), recheck_days),
                                                       case when doubted then clock_timestamp() + interval '1 day' end) end,
         -- What another worker finds out about its midnights or parts now is nothing any more.
         lease_id = null, lease_owner = null, lease_expires = null
    from daywalk.streams s
   where s.stream_id = me.stream_id and w.stream_id = me.stream_id and w.proof is not null and w.state <> 'replaced'
     and (w.day = me.day or w.midnight in (me.day - 1, me.day));
  return 'retired';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.says_nothing(value jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return not exists (
    select from jsonb_path_query(value, 'strict $.** ? (@.type() != "object" && @.type() != "array")') as leaf
     where coalesce(daywalk.in_small_letters(btrim(translate(leaf #>> '{}', '_:-', '   '), E' \t\n.!')), '') !~ concat(
       '^(|0+(x0+|\.0+)?|false|null|nil|n/a|[^不未没無无]*成功|no|(no *|without )(errors?|faults?|failures?|exceptions?)\M.*',
       '|((err(or)?|[es]|status|rc) +)?(ok|success|none)',
       '|(kein|aucune|sans|sin|ning[uú]n|sem|nenhum|nessun|geen|inget) (fehler|erreur|error|erro|errore|fout|fel)(e?s)?',
       '|((the|this|your|all|operation|request|query|search|command|call|action|job|task|was|were|is|has|have|been|complete|completed|processed|executed|finished|performed|with) +)*',
         '(ok|success|successful|successfully|succeeded)( +(completed|processed|executed|finished|performed))?)$'));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.seal_pages(walk bigint, first_page integer, last_page integer)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  its_day date;
  its_last integer;
begin
  select k.day, least(last_page, k.pages - 1) into its_day, its_last from daywalk.walks k where k.walk_id = walk;
  insert into daywalk.seals (walk_id, page_no, day, body_sha256, digest)
  select p.walk_id, p.page_no, p.day, body.digest, daywalk.page_digest(p, body.digest)
    from daywalk.pages p
   cross join lateral (select daywalk.body_digest(p.body) as digest offset 0) as body
   where p.walk_id = walk and p.day = its_day
     -- An array and not a join, because a planner may join after it has read all the bodies.
     and p.page_no = any (array(select generate_series(first_page, its_last)
                                except select s.page_no from daywalk.seals s where s.walk_id = walk))
  on conflict do nothing;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.seals_digest(of_walks bigint[])
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return (
  select daywalk.text_digest(coalesce(string_agg(s.walk_id || ':' || s.page_no || ':' || encode(s.digest, 'hex'), ',' order by s.walk_id, s.page_no), ''))
    from daywalk.seals s where s.walk_id = any (of_walks));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.search(value text, from_day date DEFAULT NULL::date, to_day date DEFAULT NULL::date, in_stream text DEFAULT NULL::text)
 RETURNS TABLE(stream text, day date, paths text[], record jsonb, walk_id bigint, page_no integer, "position" bigint, fetched_at timestamp with time zone, first_seen timestamp with time zone, gone_since timestamp with time zone, revision integer)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.share_day(of_resource text, on_day date)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  shared_day date;
  walks bigint[];
begin
  update daywalk.days d set unshared = false from daywalk.streams s
   where s.resource = of_resource and d.stream_id = s.stream_id and d.day = on_day and d.unshared;
  if (select count(*) from daywalk.streams where resource = of_resource) < 2 then return; end if;
  perform pg_advisory_xact_lock(hashtext('daywalk.share_day'), hashtext(of_resource));
  foreach shared_day in array array(select distinct coalesce(w.midnight, w.day) from daywalk.streams s
                                      join daywalk.windows w on w.stream_id = s.stream_id and w.day = on_day where s.resource = of_resource) loop
    walks := array(select k.walk_id
                     from daywalk.windows_of_day(of_resource, shared_day) as w
                     join daywalk.walks k on k.window_id = w.window_id and (k.shown <> 'no' or k.shared));
    delete from daywalk.shared_records where walk_id = any (walks);
    insert into daywalk.shared_records (walk_id, page_no, place) select c.walk_id, c.page_no, c.place from daywalk.shared_copies(of_resource, shared_day) as c;
    update daywalk.walks k set shared = not k.shared
     where k.walk_id = any (walks) and k.shared <> exists (select from daywalk.shared_records x where x.walk_id = k.walk_id);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.shared_copies(of_resource text, on_day date)
 RETURNS TABLE(walk_id bigint, page_no integer, place integer)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  shown_by integer[];
  without_filters integer;
  by_path text[];
  under text[];
begin
  select array_agg(shows.stream_id order by shows.filters <> '{}', case shows.filters when '{}' then -shows.newest else shows.stream_id end),
         count(*) filter (where shows.filters = '{}')
    into shown_by, without_filters
    from (select s.stream_id, s.filters, max(k.walk_id) as newest
            from daywalk.windows_of_day(of_resource, on_day) as w
            join daywalk.streams s on s.stream_id = w.stream_id
            join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
           group by s.stream_id) as shows;
  if coalesce(cardinality(shown_by), 0) < 2 then return; end if;
  by_path := (select s.id_path from daywalk.streams s where s.stream_id = shown_by[1]);
  under := array(select distinct pointer
                   from daywalk.windows_of_day(of_resource, on_day) as w join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no'
                  cross join lateral unnest(k.ignored) as pointer);
  return query
  with shown as not materialized (
    select k.walk_id, p.page_no, h.place::integer as place, its.number, its.number between 2 and without_filters as former, coalesce(mark.seen and mark.state = 'gone', false) as gone,
           h.id_hash is not null as identified, coalesce(h.id_hash, h.hash) as key
      from daywalk.windows_of_day(of_resource, on_day) as w
     cross join lateral (select array_position(shown_by, w.stream_id) as number) as its
      join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
      join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.day in (on_day, on_day + 1) and p.records > 0
     cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under),
                               daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, by_path)) with ordinality as h (hash, id_hash, place)
      left join daywalk.marks mark on mark.walk_id = k.walk_id and mark.page_no = p.page_no and mark.position = h.place and mark.day = p.day
     where case when mark.state is null then k.shown = 'whole' else mark.seen or (coalesce(mark.hidden_by <> w.window_id, false) and mark.state <> 'old') end
  ), later as materialized (
    select * from shown where number > 1
  ), concerned as (
    -- As a case the keys are looked up in a hash; a planner that expects few would compare each with each.
    select * from later union all select * from shown where number = 1 and case when (identified, key) in (select l.identified, l.key from later l) then true else false end
  ), counted as (
    select c.*, row_number() over (partition by c.identified, c.key, c.number order by c.gone, c.walk_id, c.page_no, c.place) as copy from concerned c
  ), ranked as (
    select c.*, row_number() over (partition by c.identified, c.key, c.copy order by c.former or c.gone, c.number) as rank from counted c
  )
  select r.walk_id, r.page_no, r.place from ranked r where r.rank > 1;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.show(top bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
declare
  at constant timestamptz := clock_timestamp();
  family constant bigint[] := array(select daywalk.subtree(top));
  me daywalk.windows;
  is_first boolean;
  marked boolean;
  differs boolean;
  appeared bigint;
  gone bigint;
  changed date[] := '{}';
begin
  select * into strict me from daywalk.windows where window_id = top;
  perform daywalk.lock_stream(me.stream_id);
  is_first := not exists (select from daywalk.walks where window_id = any (family) and shown <> 'no');
  if is_first then
    update daywalk.walks k set shown = 'whole' from daywalk.proven_walks(top) as proven
     where k.walk_id = proven.walk_id and proven.role = 'whole' and not proven.united;
  end if;
  select v.marked, v.differs, v.appeared, v.gone into marked, differs, appeared, gone from daywalk.apply_verdicts(top, at) as v;
  if differs or (is_first and me.kind = 'day') then
    -- What a cut showed before the day before it was planned stands under the day behind.
    changed := me.day || array(select k.day from daywalk.walks k where k.window_id = top and k.day <> me.day and k.shown <> 'no' and k.pruning is null);
  end if;
  if me.kind = 'day'
     and ((marked and not is_first)
          or exists (select from daywalk.windows cut
                      where cut.stream_id = me.stream_id and cut.midnight in (me.day - 1, me.day)
                        and case when is_first then cut.proof ->> 'before' is not null else (cut.proof ->> 'removed')::bigint > 0 end
                        and not daywalk.is_upheld(cut.window_id))) then
    perform daywalk.ask_cuts_again(me.stream_id, me.day);
  end if;
  -- A day that was proven since its cut was asked, by another worker, was not held against that.
  if me.kind = 'cut' and me.proof ->> 'before' is not null
     and exists (select from daywalk.windows w
                  where w.stream_id = me.stream_id and w.kind = 'day' and w.day in (me.midnight, me.midnight + 1)
                    and w.proven_at > (select max(k.finished_at) from daywalk.walks k where k.walk_id = any (daywalk.walks_of(me.proof))))
     and not daywalk.is_upheld(top) then
    update daywalk.windows set rewalk = true, due_at = clock_timestamp() where window_id = top;
  end if;
  changed := changed
    || array(select daywalk.hide_twins(cut.window_id, at) from daywalk.windows cut
              where cut.stream_id = me.stream_id and cut.proof is not null
                and cut.midnight in (me.day - 1, me.day) and (me.kind = 'day' or cut.window_id = top))
    || array(select daywalk.hide_moved_twins(me.stream_id, me.day, at))
    || array(select daywalk.replace_gone(me.stream_id, null, family, at));
  if me.kind = 'day' then perform daywalk.note_pruned_twins(me.stream_id, me.day, at); end if;
  if gone > 0 then changed := changed || array(select daywalk.replace_gone(me.stream_id, family, null, at)); end if;
  perform daywalk.note_day(me.stream_id, d.day, at, case when d.day = me.day and not is_first then appeared else 0 end,
                           case when d.day = me.day then gone else 0 end)
     from (select distinct c.day from unnest(changed) as c (day) order by 1) as d;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.show_again(of_stream integer, among daywalk.marks[], at timestamp with time zone, pruned date DEFAULT NULL::date)
 RETURNS SETOF date
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  return query
  with asked as materialized (
    select mark.walk_id, mark.page_no, mark.position, k.window_id
      from daywalk.marks mark
      join daywalk.walks k on k.walk_id = mark.walk_id and k.pruning is null
      join daywalk.windows w on w.window_id = k.window_id and w.stream_id = of_stream
     where mark.state = 'old' and (among is null or (mark.walk_id, mark.page_no, mark.position) in (select m.walk_id, m.page_no, m.position from unnest(among) as m))
  ), lone as materialized (
    select asked.walk_id, asked.page_no, asked.position from asked
    except
    select s.walk_id, s.page_no, s.position
      from daywalk.superseded(of_stream, 'old', case when among is not null then array(select distinct asked.window_id from asked) end, null) as s
  ), ranked as materialized (
    select lone.*, i.id_hash, rank() over (partition by p.day, i.id_hash order by lone.walk_id desc) as rank
      from lone
      join daywalk.walks k on k.walk_id = lone.walk_id
      join daywalk.pages p on p.walk_id = lone.walk_id and p.page_no = lone.page_no and p.day = k.day
      join daywalk.streams s on s.stream_id = of_stream
     cross join lateral (select (daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path))[lone.position] as id_hash) as i
  )
  update daywalk.marks mark set state = 'gone', since = at, stood_on = coalesce(pruned, mark.stood_on)
    from ranked r
   where (r.rank = 1 or r.id_hash is null) and mark.walk_id = r.walk_id and mark.page_no = r.page_no and mark.position = r.position
  returning mark.day;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.show_stream(called text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  relation text := left('stream_' || replace(called, '-', '_'), 63);
begin
  if not exists (select from daywalk.streams where name = called) or to_regclass('daywalk.' || quote_ident(relation)) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtext('daywalk.show_stream'));
  execute format('create or replace view daywalk.%I as select day, at, record, walk_id, page_no, position, fetched_at, first_seen, gone_since, revision
                    from daywalk.shown_records where stream = %L', relation, called);
  execute format('comment on view daywalk.%I is %L', relation, 'The records of the stream ' || called || '; columns as in daywalk.events.');
  perform daywalk.let_read_too(relation, 'events');
end $function$;

CREATE OR REPLACE FUNCTION daywalk.shown_of(p daywalk.pages)
 RETURNS text[]
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select array(select r.record::text
                 from daywalk.walks k
                cross join lateral jsonb_array_elements(case jsonb_typeof(p.body #> k.records_path) when 'array' then p.body #> k.records_path else '[]' end)
                           with ordinality as r (record, position)
                 left join daywalk.marks mark on mark.walk_id = p.walk_id and mark.page_no = p.page_no and mark.position = r.position - p.skip
                where k.walk_id = p.walk_id and k.shown <> 'no' and r.position > p.skip and coalesce(mark.seen, k.shown = 'whole')
                order by r.position)
$function$;

CREATE OR REPLACE FUNCTION daywalk.shows(of_stream integer, on_days date[], by_windows bigint[], among bigint[], after timestamp with time zone, with_gone boolean)
 RETURNS TABLE(day date, id_hash bigint, fetched_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  return query
  select page.day, i.id_hash, max(page.fetched_at)
    from (select p.day, p.fetched_at, k.shown, here.marked, here.seen,
                 daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path) as ids
            from daywalk.windows w
            join daywalk.streams s on s.stream_id = w.stream_id
            join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
             and (shows.after is null or k.finished_at > shows.after) and (on_days is null or k.day = any (on_days))
            join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
           cross join lateral (
             select coalesce(array_agg(mark.position), '{}') as marked,
                    coalesce(array_agg(mark.position) filter (where mark.seen and (with_gone or mark.state <> 'gone')), '{}') as seen
               from daywalk.marks mark where mark.walk_id = p.walk_id and mark.page_no = p.page_no) as here
           where w.stream_id = of_stream and (by_windows is null or w.window_id = any (by_windows))
          offset 0) as page
   cross join lateral unnest(page.ids) with ordinality as i (id_hash, position)
   -- As a case the identities are looked up in a hash; a planner that expects few would compare each with each.
   where i.id_hash is not null and case when among is null or i.id_hash in (select unnest(among)) then true else false end
     and (i.position = any (page.seen) or (page.shown = 'whole' and i.position <> all (page.marked)))
   group by page.day, i.id_hash;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.sought(value text)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.split_window(target bigint, lease uuid, by_what text, why text, total bigint, parts_from timestamp without time zone[], parts_to timestamp without time zone[], levels_from integer[], levels_to integer[], cuts timestamp without time zone[])
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  me daywalk.windows := daywalk.hold(target, lease);
begin
  if me.window_id is null then
    return case when exists (select from daywalk.windows where window_id = target and split_reason = why) then 'split' else 'lost' end;
  end if;
  perform daywalk.end_open_walk(me.current_walk, 'the window was split');
  perform daywalk.undo_split(target);
  insert into daywalk.windows as w (stream_id, kind, day, from_time, to_time, level_from, level_to, split_from, purpose)
  select me.stream_id, given.kind, me.day, given.from_time, given.to_time, given.level_from, given.level_to, target, me.purpose
    from (select 'part' as kind, part.* from unnest(parts_from, parts_to, levels_from, levels_to) as part (from_time, to_time, level_from, level_to)
           union all
          select 'cut', s, s + interval '1 second', me.level_from, me.level_to from unnest(cuts) as s) as given
  on conflict (kind, stream_id, from_time, to_time, coalesce(level_from, -1), coalesce(level_to, -1)) do update
     set state = 'pending', due_at = clock_timestamp(), split_from = excluded.split_from, purpose = excluded.purpose,
         failures = 0, attempts = 0;
  update daywalk.windows w
     set state = 'split', split_by = by_what, split_reason = why, split_total = total,
         judged = (select coalesce(max(k.number), 0) from daywalk.walks k where k.window_id = target),
         due_at = null, rewalk = false, current_walk = null, attempts = 0, last_error = null, last_failed_at = null,
         lease_id = null, lease_owner = null, lease_expires = null
   where w.window_id = target;
  return 'split';
end $function$;

CREATE OR REPLACE PROCEDURE daywalk.store_page(IN target bigint, IN lease uuid, IN ttl_ms double precision, IN walk bigint, IN at_start bigint, IN at_page integer, IN skip_first integer, IN list_at text[], IN total_at text[], IN relation_at text[], IN believes text, IN http_status integer, IN asked_length integer, IN took_ms integer, IN took_requests integer, IN received_bytes integer, IN received_sha256 bytea, IN kept_bytes bytea, IN changed jsonb, IN content jsonb, OUT came integer, OUT list_type text, OUT total bigint, OUT relation text, OUT total_missing boolean, OUT fault text, OUT more boolean, OUT signature text, OUT wordless boolean, OUT frame_known boolean, OUT continues boolean, OUT fits boolean, OUT digest text, OUT tried boolean, OUT stored boolean)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $procedure$
declare
  hashes bigint[];
  identities bigint[];
  of_stream integer;
  its_day date;
  its_ignored text[];
  its_id_path text[];
begin
  select w.stream_id, k.day, k.ignored, k.id_path,
         k.records_path is null or (k.records_path = list_at and k.total_path is not distinct from total_at)
    into of_stream, its_day, its_ignored, its_id_path, fits
    from daywalk.walks k
    join daywalk.windows w on w.window_id = k.window_id
   where k.walk_id = walk;
  -- After a failover to a standby that never had it the walk is gone, and the lease with it.
  fits := coalesce(fits, true);
  select f.came, f.list_type, f.total, f.relation, f.fault, f.more, f.signature, f.wordless, f.frame_known, f.hashes, f.id_hashes
    into came, list_type, total, relation, fault, more, signature, wordless, frame_known, hashes, identities
    from daywalk.read_page(of_stream, content, http_status, list_at, total_at, relation_at, coalesce(its_ignored, '{}'), its_id_path) as f;
  digest := hash_array_extended(hashes, 0);
  continues := its_day is null or skip_first = 0 or hashes[1] is not distinct from
    (select p.record_hashes[cardinality(p.record_hashes)]
       from daywalk.pages p
      where p.walk_id = walk and p.day = its_day and p.records > 0 and p.page_no < at_page
      order by p.page_no desc limit 1);
  total_missing := came > 0 and total is null and daywalk.tells_total(of_stream, total_at, at_start - skip_first);
  stored := false;
  tried := fault is null and fits and continues
           and ((came > skip_first and http_status = 200) or (came = 0 and skip_first = 0 and (frame_known or signature = believes)));
  tried := coalesce(tried, false);
  if not tried or its_day is null then return; end if;

  update daywalk.windows w
     set lease_expires = clock_timestamp() + make_interval(secs => ttl_ms / 1000), attempts = 0
   where w.window_id = target and w.lease_id = lease and w.current_walk = walk
     and exists (select from daywalk.walks k where k.walk_id = walk and k.next_start = at_start and k.pages = at_page);
  if not found then return; end if;
  update daywalk.walks k
     set next_start = k.next_start + came - skip_first,
         pages = k.pages + 1,
         bytes = k.bytes + received_bytes,
         requests = k.requests + took_requests,
         first_total = case when k.pages = 0 then store_page.total else k.first_total end,
         last_total = store_page.total,
         records_path = list_at, total_path = total_at, relation_path = relation_at
   where k.walk_id = walk and k.window_id = target and k.outcome is null
     and k.next_start = at_start and k.pages = at_page
     and (k.records_path is null or k.records_path = list_at);
  if not found then return; end if;
  insert into daywalk.pages (walk_id, page_no, day, start, length, skip, records, total, relation, total_missing, more, body,
                             bytes, changes, record_hashes, id_hashes, sha256, byte_count, fetched_at, duration_ms)
  values (walk, at_page, its_day, at_start - skip_first, asked_length, skip_first, came - skip_first, store_page.total,
          store_page.relation, store_page.total_missing, store_page.more, content, kept_bytes, changed, hashes[skip_first + 1 :],
          identities[skip_first + 1 :], received_sha256, received_bytes, clock_timestamp(), took_ms);
  stored := true;
end $procedure$;

CREATE OR REPLACE FUNCTION daywalk.subtree(top bigint)
 RETURNS SETOF bigint
 LANGUAGE plpgsql
 STABLE ROWS 10
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query
  with recursive tree as (
    select top as window_id
     union all
    select part.window_id from tree join daywalk.windows part on part.split_from = tree.window_id
  )
  select window_id from tree;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.superseded(of_stream integer, of_state text, marked_in bigint[], shown_by bigint[])
 RETURNS TABLE(walk_id bigint, page_no integer, "position" integer, id_hash bigint, fetched_at timestamp with time zone, shown_on date)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  return query
  with marked as materialized (
    select page.walk_id, page.page_no, mark.position, page.day, page.ids[mark.position] as id_hash, page.fetched_at as came_at,
           case of_state when 'gone' then page.fetched_at else '-infinity' end as after
      from (select p.walk_id, p.page_no, p.day, p.fetched_at, here.positions,
                   -- A copy in memory: what is stored would be read anew for each place in it.
                   daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path) || '{}'::bigint[] as ids
              from (select mark.walk_id, mark.page_no, mark.day, array_agg(mark.position) as positions
                      from daywalk.marks mark where mark.state = of_state group by mark.walk_id, mark.page_no, mark.day) as here
              join daywalk.walks k on k.walk_id = here.walk_id and k.pruning is null
              join daywalk.windows w on w.window_id = k.window_id and w.stream_id = of_stream
              join daywalk.streams s on s.stream_id = w.stream_id
              join daywalk.pages p on p.walk_id = here.walk_id and p.page_no = here.page_no and p.day = here.day
             where marked_in is null or k.window_id = any (marked_in)
            offset 0) as page
     cross join lateral unnest(page.positions) as mark (position)
     where page.ids[mark.position] is not null
  ), later as materialized (
    select marked.*, found.day as found_on, found.fetched_at
      from daywalk.shows(of_stream, null, shown_by, array(select m.id_hash from marked m), coalesce((select min(m.after) from marked m), 'infinity'), of_state = 'old') as found
      join marked on marked.id_hash = found.id_hash and found.fetched_at > marked.after
  ), newer as materialized (
    -- Of the few for which something was found: other walks are not read for it.
    select l.* from later l
     where (l.walk_id, l.id_hash) not in (select d.walk_id, d.id_hash from daywalk.doubled_ids(array(select distinct f.walk_id from later f where of_state = 'gone')) as d)
  ), moved as materialized (
    select n.* from newer n where of_state = 'gone' and n.found_on <> n.day
  ), standing as materialized (
    select one.day, array_agg(one.id_hash) as ids
      from daywalk.shows(of_stream, array(select distinct m.day from moved m), null, null, null, false) as one
     group by one.day
  ), apart as materialized (
    select pair.day, pair.found_on
      from (select m.day, m.found_on, min(m.fetched_at) as fetched_at from moved m group by m.day, m.found_on) as pair
      left join standing on standing.day = pair.day
     where case when standing.day is null
                then pair.fetched_at > (select max(w.shown_at) from daywalk.windows w where w.stream_id = of_stream and w.day = pair.day and w.kind <> 'cut')
                else not exists (select from daywalk.shows(of_stream, array[pair.found_on], null, standing.ids, null, false)) end
  ), single as materialized (
    select found.id_hash
      from daywalk.shows(of_stream, null, null, array(select m.id_hash from moved m join apart using (day, found_on)), null, false) as found
     where exists (select from apart)
     group by found.id_hash having count(*) = 1
  )
  select n.walk_id, n.page_no, n.position, n.id_hash, n.came_at, (array_agg(n.found_on order by n.fetched_at desc))[1]
    from newer n
   where of_state = 'old' or n.found_on = n.day
      or ((n.day, n.found_on) in (select a.day, a.found_on from apart a) and n.id_hash in (select o.id_hash from single o))
   group by n.walk_id, n.page_no, n.position, n.id_hash, n.came_at;
end $function$;

CREATE OR REPLACE FUNCTION daywalk.swap_table(id integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '1s'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.table_work(of_streams text[])
 RETURNS TABLE(table_id integer, name text, stream text, day date, work text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION daywalk.tells_total(of_stream integer, at_path text[], start bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return exists (
    select from daywalk.contracts c
     where c.stream_id = of_stream and c.total_path = at_path and (c.total_later or start = 0 and c.total_first));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.text_digest(content text)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sha256(convert_to(content, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION daywalk.time_of(value jsonb, zone text, format text[])
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION daywalk.touched(top bigint, under text[])
 RETURNS bigint[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return (
  with proven as materialized (
    select walk_id, role = 'whole' and not united as whole from daywalk.proven_walks(top)
  ), walk as materialized (
    select k.walk_id, k.day, k.records_path, k.ignored, k.shown = 'whole' and k.walk_id in (select p.walk_id from proven p where p.whole) as is_proof
      from daywalk.walks k
     where k.pruning is null
       and (k.walk_id in (select p.walk_id from proven p)
            or (k.window_id = any (array(select daywalk.subtree(top))) and k.shown <> 'no'))
  ), page as (
    select k.is_proof, p.walk_id, p.page_no,
           daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under) as hashes
      from walk k cross join lateral daywalk.pages_of(array[k.walk_id]) as p
     where not k.is_proof or exists (select from daywalk.marks mark where mark.walk_id = p.walk_id and mark.page_no = p.page_no)
  )
  select array_agg(distinct record.hash)
    from (select h.hash from page cross join lateral unnest(page.hashes) as h (hash) where not page.is_proof
           union all
          select page.hashes[mark.position]
            from page join daywalk.marks mark on mark.walk_id = page.walk_id and mark.page_no = page.page_no where page.is_proof) as record);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.twins_for(of_stream integer, at_midnight date, beside date)
 RETURNS bigint[]
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select array_agg(taken.hash)
    from daywalk.windows cut
   cross join lateral daywalk.proven_counts(cut.window_id, daywalk.ignored_now(cut.window_id)) as taken
   cross join lateral generate_series(1, -taken.correction) as copy
   where cut.stream_id = of_stream and cut.midnight = at_midnight and (cut.proof ->> 'removed')::bigint > 0
     and not exists (select from daywalk.windows w join daywalk.walks k on k.window_id in (select daywalk.subtree(w.window_id))
                      where w.stream_id = of_stream and w.day = beside and w.kind = 'day' and k.shown <> 'no')
$function$;

CREATE OR REPLACE FUNCTION daywalk.undo_split(target bigint)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select daywalk.replace_parts(array(select part from daywalk.subtree(target) as part where part <> target));
  update daywalk.windows set state = 'pending', split_by = null, split_reason = null, split_total = null, split_calibrated = false
   where window_id = target and split_by is not null;
$function$;

CREATE OR REPLACE FUNCTION daywalk.verdicts(top bigint, at timestamp with time zone)
 RETURNS TABLE(verdict text, walk_id bigint, page_no integer, "position" integer, day date, since timestamp with time zone, first_seen timestamp with time zone, revision integer)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  under constant text[] := daywalk.ignored_now(top);
  touched constant bigint[] := daywalk.touched(top, under);
  hashes bigint[];
  wanteds bigint[];
  twins bigint[];
begin
  if touched is null then return; end if;
  select array_agg(d.hash), array_agg(d.wanted), array_agg(d.twins) into hashes, wanteds, twins from daywalk.differing(top, under, touched) as d;
  if hashes is null then return; end if;
  return query
  with want as materialized (
    select w.hash, w.wanted, w.twins from unnest(hashes, wanteds, twins) as w (hash, wanted, twins)
  ), held as materialized (
    select h.*, row_number() over (partition by h.hash order by array_position(array['gone', 'missing', 'shown'], h.state),
                                                                h.walk_id desc, h.page_no desc, h.position desc) as rank,
           count(*) over (partition by h.hash) as copies
      from daywalk.held(top, hashes, under) as h where h.state in ('shown', 'missing', 'gone')
  ), lacked as materialized (
    select h.*, row_number() over (partition by h.hash order by h.rank) <= want.twins or (h.id_hash is not null and want.wanted > 0) as twin
      from held h join want on want.hash = h.hash where h.rank <= h.copies - want.wanted
  ), leaf as materialized (
    select l.window_id, l.kind, l.proven_at from daywalk.leaves(top) as l
  ), known as materialized (
    select i as id_hash from daywalk.proven_ids(top, array(select distinct l.id_hash from lacked l where l.id_hash is not null)) as i
  ), doubled as materialized (
    select d.* from daywalk.doubled_ids(array(select distinct l.walk_id from lacked l where l.id_hash in (select known.id_hash from known))) as d
  ), judged as materialized (
    select l.*,
           case when l.twin then 'hide'
                when known.id_hash is not null then 'old'
                -- One missed in the future is missed from now on: the clock of the database was ahead.
                when l.state = 'shown' or (l.state = 'missing' and l.since > at) then 'missing'
                when l.state = 'missing' and l.since + interval '1 hour' <= coalesce(leaf.proven_at, since_all.proven_at) then 'gone' end as verdict
      from lacked l
      left join known on known.id_hash = l.id_hash
       and (l.walk_id, l.id_hash) not in (select d.walk_id, d.id_hash from doubled d)
      left join leaf on leaf.window_id = l.window_id
     cross join (select coalesce(min(proven_at) filter (where kind <> 'cut'), min(proven_at)) as proven_at from leaf) as since_all
  ), added as materialized (
    select a.*, row_number() over (partition by a.hash order by a.is_cut, a.walk_id desc, a.page_no desc, a.position desc) as rank
      from (select k.kind = 'cut' as is_cut, k.walk_id, p.page_no, h.position::integer as position, p.day, h.hash, h.id_hash
              from daywalk.proven_walks(top) as k
              join daywalk.windows w on w.window_id = k.window_id
              join daywalk.streams s on s.stream_id = w.stream_id
              join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
             cross join lateral unnest(daywalk.hashes_in(p.record_hashes, k.ignored, p.body, k.records_path, p.skip, under),
                                       daywalk.ids_in(p.id_hashes, k.id_path, p.body, k.records_path, p.skip, s.id_path)) with ordinality as h (hash, id_hash, position)
             where k.role in ('whole', 'across')
            offset 0) as a
     where a.hash in (select w.hash from want w)
       and not exists (select from held where held.walk_id = a.walk_id and held.page_no = a.page_no and held.position = a.position)
  ), former as (
    select j.id_hash, min(coalesce(j.first_seen, j.fetched_at)) as first_seen, max(j.revision) as revision
      from judged j where j.verdict = 'old' group by j.id_hash
  )
  select j.verdict, j.walk_id, j.page_no, j.position, j.day, case j.verdict when 'gone' then j.since else at end, j.first_seen, j.revision
    from judged j where j.verdict is not null
   union all
  select 'back', h.walk_id, h.page_no, h.position, h.day, at, h.first_seen, h.revision
    from held h join want on want.hash = h.hash
   where h.rank > h.copies - want.wanted and h.state in ('missing', 'gone')
   union all
  select 'show', a.walk_id, a.page_no, a.position, a.day, at, f.first_seen, coalesce(f.revision + 1, 1)
    from added a join want on want.hash = a.hash
    left join (select distinct h.hash, h.copies from held h) as had on had.hash = a.hash
    left join former f on f.id_hash = a.id_hash
   where a.rank <= want.wanted - coalesce(had.copies, 0);
end $function$;

CREATE OR REPLACE FUNCTION daywalk.wait_for_parts(target bigint)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  update daywalk.windows w
     set state = 'split',
         due_at = case when not exists (select from daywalk.windows part
                                         where part.split_from = w.window_id and part.state not in ('complete', 'replaced'))
                       then clock_timestamp() end
   where w.window_id = target and w.split_by is not null and w.state <> 'replaced'
$function$;

CREATE OR REPLACE FUNCTION daywalk.waits_for_neighbour(of_stream integer, on_day date)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select exists (select from daywalk.windows cut
                   join daywalk.windows beside on beside.stream_id = of_stream and beside.kind = 'day'
                    and beside.day = case when cut.midnight = on_day then on_day + 1 else on_day - 1 end
                  where cut.stream_id = of_stream and cut.midnight in (on_day - 1, on_day)
                    and (cut.proof ->> 'removed')::bigint > 0
                    and not (beside.due_at is null
                             and exists (select from daywalk.walks k where k.window_id in (select daywalk.subtree(beside.window_id)) and k.shown <> 'no')))
$function$;

CREATE OR REPLACE FUNCTION daywalk.walk_parts_again(target bigint, lease uuid, parts bigint[], cuts timestamp without time zone[])
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  me daywalk.windows := daywalk.hold(target, lease);
begin
  if me.window_id is null then
    return case when exists (select from daywalk.windows where window_id = target and state = 'split' and due_at is null) then 'split' else 'lost' end;
  end if;
  update daywalk.windows
     set state = case when split_by is null then 'pending' else 'split' end, rewalk = split_by is not null, due_at = clock_timestamp(), purpose = me.purpose
   where split_from = target and state <> 'replaced' and window_id = any (parts);
  insert into daywalk.windows (stream_id, kind, day, from_time, to_time, level_from, level_to, split_from, purpose)
  select me.stream_id, 'cut', me.day, s, s + interval '1 second', me.level_from, me.level_to, target, me.purpose
    from unnest(cuts) as s
  on conflict (kind, stream_id, from_time, to_time, coalesce(level_from, -1), coalesce(level_to, -1)) do update
     set state = 'pending', due_at = clock_timestamp(), split_from = excluded.split_from, purpose = excluded.purpose;
  update daywalk.windows
     set state = 'split', due_at = null, rewalk = false, lease_id = null, lease_owner = null, lease_expires = null
   where window_id = target;
  return 'split';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.walks_digest(of_walks bigint[])
 RETURNS bytea
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return (
  select daywalk.text_digest(coalesce(string_agg(jsonb_build_array(
           k.walk_id, w.stream_id, w.window_id, w.kind, k.day, k.from_time, k.to_time, k.level_from, k.level_to, k.number, k.role, k.ignored, k.id_path,
           k.page_length, k.records_path, k.total_path, k.relation_path, k.pages, k.records, k.bytes, k.first_total,
           k.last_total, k.proof)::text, ',' order by k.walk_id), ''))
    from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
   where k.walk_id = any (of_walks));
end $function$;

CREATE OR REPLACE FUNCTION daywalk.walks_of(proof jsonb)
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select array_remove(array[(proof ->> 'walk')::bigint, (proof ->> 'across')::bigint, (proof ->> 'before')::bigint, (proof ->> 'after')::bigint], null)
         || array(select value::bigint from jsonb_array_elements_text(coalesce(proof -> 'unites', '[]')))
$function$;

CREATE OR REPLACE FUNCTION daywalk.warns_of_more(warning text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if warning ~ 'deprecat|\mper (request|page|call)\M|\m(no|not|never|without)( be| been)? (partial|incomplete|truncated)\M|\m(fields?|values?|columns?|attributes?|characters?|strings?)\M' then return false; end if;
  return warning ~ '\m(partial|incomplete|truncated)( search| query)? (results?|records|events|hits|rows|data|responses?|answers?)\M'
      or warning ~ '\m(results?|records|events|hits|rows|responses?|answers?|output)\M[^.;]*;? (partial|incomplete|truncated) *($|[^a-z ]|(at|after|to|by|for|from|as|because|since|due|and)\M)'
      -- What is asked itself, and no service beside it: the subject begins the sentence, or has an article or a number before it.
      or warning ~ '(^|[.;:,([] *|\m(the|this|some|an?|one|more|of|[0-9]+)( search| data| remote| index)? )(search|query|shards?|nodes?|peers?|indexers?|clusters?|partitions?|replicas?)( [^ .;]+){0,3}( has| have)? (timed[ -]?out|(did not|didn.t|does not|do not) (answer|respond)|(is |are )?not responding|ended prematurely|auto-?finali[sz]ed)\M'
      or warning ~ '(^|[.;:,([] *|\m(the|this|your) )(search(ing)?|query)( job| process| request)? (was|has been|got) (cancell?ed|aborted|killed|interrupted|terminated)\M|\munable to distribute to (the )?(search )?peer\M'
      or warning ~ '\m(some|one|several|[0-9]+|search)( or (more|several))?( of the)? (ind(ices|exes)|shards|nodes|peers|indexers|partitions|replicas) (is|are) (missing|unavailable|unreachable|offline|down)\M|\mbecause (the )?(search )?peer has status\M|\mpartial_data_available\M'
      or warning ~ '\m(results|records|events|hits|rows)( (is|are|was|were|has been|have been))? (limited|capped|restricted|clipped) to\M|\monly (the )?first [0-9,.]+ (of [0-9,.]+ )?(results|records|events|hits|rows)\M|\msome( of the)? (data|results|records|events|hits|rows)( (is|are|was|were|has been|have been|(may|might|could) (be|have been)))? (dropped|omitted|discarded|skipped|missing)\M'
      or warning ~ '\mnot all( of the| the)? (results|records|events|hits|rows|shards|nodes|peers|indexers|clusters|partitions)( [^ .;]+)? (were|was|are|is|could be|can be|have been) ([a-z]+ )?(searched|returned|shown|listed|included|available|reached|read|queried)\M'
      or warning ~ '(\mnot all (of the )?(shards|nodes|peers|indexers|partitions|replicas) (answered|responded|replied)|(?<!\m0 of |[0-9,.])[1-9][0-9,.]* (shards|partitions) failed)\M';
end $function$;

CREATE OR REPLACE FUNCTION daywalk.was_pruned(k daywalk.walks)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select exists (select from daywalk.prunings g join daywalk.windows w on w.window_id = (k).window_id and w.stream_id = g.stream_id
                  where g.pruning_id = (k).pruning and (k).walk_id = any (g.walks) and g.day = (k).day and (g.what = 'day' or (k).shown = 'no'))
$function$;

CREATE OR REPLACE FUNCTION daywalk.windows_of_day(of_resource text, on_day date)
 RETURNS SETOF daywalk.windows
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT w.window_id,
     w.stream_id,
     w.kind,
     w.day,
     w.from_time,
     w.to_time,
     w.level_from,
     w.level_to,
     w.split_from,
     w.midnight,
     w.split_by,
     w.split_reason,
     w.split_total,
     w.split_calibrated,
     w.purpose,
     w.state,
     w.due_at,
     w.current_walk,
     w.rewalk,
     w.proof,
     w.looks,
     w.judged,
     w.lease_id,
     w.lease_owner,
     w.lease_number,
     w.lease_expires,
     w.attempts,
     w.failures,
     w.last_error,
     w.last_failed_at,
     w.created_at,
     w.proven_at,
     w.looked_at,
     w.shown_at
    FROM (daywalk.streams s
      JOIN daywalk.windows w ON (((w.stream_id = s.stream_id) AND (w.day = ANY (ARRAY[windows_of_day.on_day, (windows_of_day.on_day + 1)])) AND (COALESCE(w.midnight, w.day) = windows_of_day.on_day))))
   WHERE (s.resource = windows_of_day.of_resource);
END;

CREATE OR REPLACE FUNCTION daywalk.words_of(body jsonb, records_path text[], total_path text[], relation_path text[])
 RETURNS TABLE(path text[], word text, said text, is_text boolean)
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return query with recursive leaf (path, value) as (
    select '{}'::text[], case when records_path = '{}' then '[]' when body #> records_path is null then body else body #- records_path end
    union all
    select leaf.path || inside.step, inside.value
      from leaf
     cross join lateral (
       select key, value from jsonb_each(case jsonb_typeof(leaf.value) when 'object' then leaf.value else '{}' end)
       union all
       select '[]', value from jsonb_array_elements(case jsonb_typeof(leaf.value) when 'array' then leaf.value else '[]' end)
     ) as inside (step, value)
     where leaf.path || inside.step is distinct from relation_path
  )
  select leaf.path, case
           when leaf.path = total_path and kind in ('number', 'string') then 'total'
           when kind = 'string' then regexp_replace(regexp_replace(daywalk.in_small_letters(value #>> '{}'),
             '\S*[0-9]\S*|\m(mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\M,?', '#', 'g'),
             '#(\s+#)+', '#', 'g')
           when kind = 'boolean' or kind = 'number' and daywalk.in_small_letters(leaf.path[cardinality(leaf.path)]) ~ '((?<!en|de)code|status|errno|^[_ -]*(errors|failed|failures|succeeded))$' then value::text
           else kind
         end,
         value #>> '{}',
         kind = 'string' and leaf.path is distinct from total_path
    from leaf cross join lateral (select jsonb_typeof(value) as kind) as typed;
end $function$;

create view daywalk.coverage as
 SELECT p.stream,
    p.resource,
    p.day,
        CASE
            WHEN u.running THEN 'running'::text
            WHEN u.failed THEN 'failed'::text
            WHEN u.day IS NOT NULL THEN 'pending'::text
            WHEN t.day IS NOT NULL THEN 'tiered'::text
            WHEN g.day IS NOT NULL THEN 'pruned'::text
            ELSE 'complete'::text
        END AS state,
    p.windows,
    p.complete_windows,
    COALESCE(c.records, 0::bigint) AS records,
    COALESCE(c.gone, 0::bigint) AS gone,
    COALESCE(c.pages, 0::bigint) AS pages,
    COALESCE(c.bytes, 0::bigint) AS bytes,
    c.proof,
        CASE
            WHEN u.day IS NULL THEN p.looks
            ELSE NULL::integer
        END AS looks,
        CASE
            WHEN u.day IS NULL THEN p.proven_at
            ELSE NULL::timestamp with time zone
        END AS completed_at,
    p.looked_at,
    COALESCE(u.due_at, p.due_at) AS due_at,
    c.retired_since,
    e.last_error
   FROM ( SELECT s.stream_id,
            s.name AS stream,
            s.resource,
            w.day,
            count(*)::integer AS windows,
            count(*) FILTER (WHERE w.state = 'complete'::text)::integer AS complete_windows,
            GREATEST(min(w.looks) FILTER (WHERE w.kind = 'day'::text), min(w.looks) FILTER (WHERE w.kind = 'part'::text AND w.split_by IS NULL)) AS looks,
            max(w.proven_at) AS proven_at,
            max(w.looked_at) AS looked_at,
            min(w.due_at) AS due_at,
            bool_or(w.kind = 'day'::text) AS planned
           FROM daywalk.streams s
             JOIN daywalk.windows w ON w.stream_id = s.stream_id AND w.state <> 'replaced'::text
          GROUP BY s.stream_id, w.day) p
     LEFT JOIN daywalk.unfinished_days u ON u.stream_id = p.stream_id AND u.day = p.day
     LEFT JOIN daywalk.days c ON c.stream_id = p.stream_id AND c.day = p.day
     LEFT JOIN daywalk.prunings g ON g.stream_id = p.stream_id AND g.day = p.day AND g.what = 'day'::text
     LEFT JOIN daywalk.tiered_days t ON t.stream_id = p.stream_id AND t.day = p.day
     LEFT JOIN daywalk.day_errors e ON e.stream_id = p.stream_id AND e.day = p.day
  WHERE p.planned
UNION ALL
 SELECT m.stream,
    m.resource,
    m.day,
    'missing'::text AS state,
    0 AS windows,
    0 AS complete_windows,
    0 AS records,
    0 AS gone,
    0 AS pages,
    0 AS bytes,
    NULL::text AS proof,
    NULL::integer AS looks,
    NULL::timestamp with time zone AS completed_at,
    NULL::timestamp with time zone AS looked_at,
    NULL::timestamp with time zone AS due_at,
    NULL::timestamp with time zone AS retired_since,
    NULL::text AS last_error
   FROM daywalk.missing_days m;

create view daywalk.day_errors as
 SELECT DISTINCT ON (stream_id, day) stream_id,
    day,
    last_error
   FROM ( SELECT windows.stream_id,
            windows.day,
            windows.last_error,
            windows.last_failed_at
           FROM daywalk.windows
          WHERE windows.last_error IS NOT NULL
        UNION ALL
         SELECT w.stream_id,
            side.day,
            w.last_error,
            w.last_failed_at
           FROM daywalk.windows w
             CROSS JOIN LATERAL unnest(ARRAY[w.midnight, w.midnight + 1]) side(day)
          WHERE w.last_error IS NOT NULL AND w.midnight IS NOT NULL AND side.day <> w.day AND NOT (EXISTS ( SELECT
                   FROM daywalk.prunings g
                  WHERE g.stream_id = w.stream_id AND g.day = side.day AND g.what = 'day'::text))) errors
  ORDER BY stream_id, day, last_failed_at DESC;

create view daywalk.events as
 SELECT stream,
    day,
    at,
    record,
    walk_id,
    page_no,
    "position",
    fetched_at,
    first_seen,
    gone_since,
    revision
   FROM daywalk.shown_records
  WHERE resource = 'events'::text AND leads;

create view daywalk.events_now as
 SELECT stream,
    resource,
    day,
    at,
    record,
    walk_id,
    page_no,
    "position",
    fetched_at,
    first_seen,
    revision
   FROM daywalk.shown_records r
  WHERE gone_since IS NULL AND leads AND NOT (EXISTS ( SELECT
           FROM daywalk.days d
          WHERE d.stream_id = r.stream_id AND d.day = r.day AND d.retired_since IS NOT NULL));

create view daywalk.feed as
 SELECT s.name AS stream,
    p.seq,
    p.key,
    p.day,
    p.revision,
    p.records,
    p.appeared,
    p.gone,
    p.published_at
   FROM daywalk.publications p
     JOIN daywalk.streams s ON s.stream_id = p.stream_id;

create view daywalk.gaps as
 SELECT s.name AS stream,
    s.resource,
    u.day,
        CASE
            WHEN u.running THEN 'running'::text
            WHEN u.failed THEN 'failed'::text
            ELSE 'pending'::text
        END AS state,
    u.due_at,
    e.last_error
   FROM daywalk.unfinished_days u
     JOIN daywalk.streams s ON s.stream_id = u.stream_id
     LEFT JOIN daywalk.day_errors e ON e.stream_id = u.stream_id AND e.day = u.day
  WHERE daywalk.closed_at(u.day, s.time_zone, s.settle) <= clock_timestamp()
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
    p.day,
    p.published_at - daywalk.closed_at(p.day, s.time_zone, s.settle) AS after,
    p.appeared AS records,
    p.published_at AS found_at
   FROM daywalk.publications p
     JOIN daywalk.streams s ON s.stream_id = p.stream_id
  WHERE p.appeared > 0;

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
                        WHEN NOT COALESCE(d.expected, false) THEN d.stream_id IS NULL
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
          WHERE e.walk_id = ANY (d.walks))) AS unsealed_pages,
    COALESCE(( SELECT n.unsealed
           FROM daywalk.days n
          WHERE n.stream_id = d.stream_id AND n.day = d.day), false) AS expected
   FROM daywalk.shown_days d
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
            l_1.marks_sha256,
            l_1.appended_at,
            l_1.previous,
            l_1.digest
           FROM daywalk.ledger l_1
          WHERE l_1.stream_id = d.stream_id AND l_1.day = d.day
          ORDER BY l_1.revision DESC
         LIMIT 1) l ON true
  WHERE l.walks IS DISTINCT FROM d.walks OR l.marks_sha256 IS DISTINCT FROM daywalk.marks_digest(d.walks);

create view daywalk.missing_days as
 SELECT s.stream_id,
    s.name AS stream,
    s.resource,
    d.day::date AS day
   FROM daywalk.streams s
     CROSS JOIN LATERAL ( SELECT LEAST(((clock_timestamp() - s.settle) AT TIME ZONE s.time_zone)::date - 1, s.until) AS last_day) c
     CROSS JOIN LATERAL generate_series(s.since::timestamp without time zone, c.last_day::timestamp without time zone, '1 day'::interval) d(day)
  WHERE (( SELECT count(*) AS count
           FROM daywalk.windows w
          WHERE w.stream_id = s.stream_id AND w.kind = 'day'::text AND w.day >= s.since AND w.day <= c.last_day)) <= (c.last_day - s.since) AND NOT (EXISTS ( SELECT
           FROM daywalk.windows w
          WHERE w.stream_id = s.stream_id AND w.kind = 'day'::text AND w.day = d.day::date));

create view daywalk.quarantine as
 SELECT s.name AS stream,
    p.day,
    p.walk_id,
    p.page_no,
    k.shown <> 'no'::text AS shown,
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

create view daywalk.record_versions as
 SELECT s.name AS stream,
    s.resource,
    p.day,
    r.record #>> s.id_path AS id,
    mark.revision,
    r.record,
    mark.since AS replaced_at,
    p.fetched_at,
    p.walk_id,
    p.page_no,
    p.start + p.skip + mark."position" - 1 AS "position"
   FROM daywalk.marks mark
     JOIN daywalk.walks k ON k.walk_id = mark.walk_id AND k.pruning IS NULL
     JOIN daywalk.windows w ON w.window_id = k.window_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id
     JOIN daywalk.pages p ON p.walk_id = mark.walk_id AND p.page_no = mark.page_no AND p.day = mark.day
     CROSS JOIN LATERAL ( SELECT (p.body #> k.records_path) -> (p.skip + mark."position" - 1) AS record) r
  WHERE mark.state = 'old'::text AND mark.hidden_by IS NULL
  ORDER BY s.name, (r.record #>> s.id_path), mark.revision DESC, mark.since DESC;

create view daywalk.shown_days as
 SELECT stream_id,
    day,
    COALESCE(( SELECT array_agg(k.walk_id ORDER BY k.walk_id) AS array_agg
           FROM daywalk.windows w
             JOIN daywalk.walks k ON k.window_id = w.window_id
          WHERE w.stream_id = d.stream_id AND (w.day = d.day OR w.midnight = (d.day - 1)) AND k.day = d.day AND k.shown <> 'no'::text), '{}'::bigint[]) AS walks
   FROM daywalk.windows d
  WHERE kind = 'day'::text AND NOT (EXISTS ( SELECT
           FROM daywalk.unfinished_days u
          WHERE u.stream_id = d.stream_id AND u.day = d.day));

create view daywalk.shown_records as
 SELECT s.stream_id,
    s.name AS stream,
    s.resource,
    p.day,
    daywalk.time_of(r.record #> s.time_path, s.time_zone, s.time_format) AS at,
    r.record,
    p.walk_id,
    p.page_no,
    (r."position" - p.skip)::integer AS place,
    p.start + r."position" - 1 AS "position",
    p.fetched_at,
    COALESCE(mark.first_seen, p.fetched_at) AS first_seen,
        CASE
            WHEN mark.state = 'gone'::text THEN mark.since
            ELSE NULL::timestamp with time zone
        END AS gone_since,
    COALESCE(mark.revision, 1) AS revision,
        CASE
            WHEN k.shared THEN NOT (EXISTS ( SELECT
               FROM daywalk.shared_records x
              WHERE x.walk_id = p.walk_id AND x.page_no = p.page_no AND x.place = (r."position" - p.skip)))
            ELSE true
        END AS leads,
    mark.stood_on
   FROM daywalk.pages p
     JOIN daywalk.walks k ON k.walk_id = p.walk_id AND k.shown <> 'no'::text AND k.pruning IS NULL
     JOIN daywalk.windows w ON w.window_id = k.window_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id
     CROSS JOIN LATERAL jsonb_array_elements(p.body #> k.records_path) WITH ORDINALITY r(record, "position")
     LEFT JOIN daywalk.marks mark ON mark.walk_id = p.walk_id AND mark.page_no = p.page_no AND mark."position" = (r."position" - p.skip) AND mark.day = p.day
  WHERE p.records > 0 AND
        CASE
            WHEN p.skip = 0 THEN true
            ELSE r."position" > p.skip
        END AND COALESCE(mark.seen, k.shown = 'whole'::text);

create view daywalk.smart_events as
 SELECT stream,
    day,
    at,
    record,
    walk_id,
    page_no,
    "position",
    fetched_at,
    first_seen,
    gone_since,
    revision
   FROM daywalk.shown_records
  WHERE resource = 'smart-event'::text AND leads;

create view daywalk.table_faults as
 SELECT t.name AS "table",
    m."column",
    m.day,
    m.found,
    m.reason,
    m.walk_id,
    m.page_no,
    m.place
   FROM daywalk.misfits m
     JOIN daywalk.record_tables t ON t.table_id = m.table_id AND t.state = 'live'::text;

create view daywalk.tables as
 SELECT t.name AS "table",
    t.stream,
    t.state,
    COALESCE(d.days, 0::bigint) AS days,
    COALESCE(d.records, 0::bigint) AS records,
    COALESCE(d.faults, 0::bigint) AS faults,
    COALESCE(w.days, 0::bigint) AS behind,
    d.first_day,
    d.last_day,
    d.synced_at,
    t.trouble
   FROM daywalk.record_tables t
     LEFT JOIN ( SELECT table_days.table_id,
            count(*) FILTER (WHERE table_days.records > 0) AS days,
            sum(table_days.records)::bigint AS records,
            sum(table_days.faults)::bigint AS faults,
            min(table_days.day) FILTER (WHERE table_days.records > 0) AS first_day,
            max(table_days.day) FILTER (WHERE table_days.records > 0) AS last_day,
            max(table_days.synced_at) AS synced_at
           FROM daywalk.table_days
          GROUP BY table_days.table_id) d ON d.table_id = t.table_id
     LEFT JOIN ( SELECT table_work.table_id,
            count(*) AS days
           FROM daywalk.table_work(ARRAY( SELECT record_tables.stream
                   FROM daywalk.record_tables)) table_work(table_id, name, stream, day, work)
          GROUP BY table_work.table_id) w ON w.table_id = t.table_id;

create view daywalk.time_faults as
 SELECT r.stream,
    r.day,
    r.record #> s.time_path AS found,
    r.walk_id,
    r.page_no,
    r."position"
   FROM daywalk.shown_records r
     JOIN daywalk.streams s ON s.stream_id = r.stream_id AND s.time_path IS NOT NULL
  WHERE r.at IS NULL;

create view daywalk.unfinished_days as
 SELECT stream_id,
    day,
    bool_or(state = 'failed'::text) AS failed,
    COALESCE(bool_or(lease_expires > clock_timestamp()), false) AS running,
    min(due_at) AS due_at
   FROM ( SELECT w.stream_id,
            w.day,
            w.state,
            w.lease_expires,
            w.due_at
           FROM daywalk.windows w
          WHERE w.state = ANY (ARRAY['pending'::text, 'failed'::text, 'split'::text])
        UNION ALL
         SELECT w.stream_id,
            side.day,
            w.state,
            w.lease_expires,
            w.due_at
           FROM daywalk.windows w
             CROSS JOIN LATERAL unnest(ARRAY[w.midnight, w.midnight + 1]) side(day)
          WHERE (w.state = ANY (ARRAY['pending'::text, 'failed'::text])) AND w.midnight IS NOT NULL AND side.day <> w.day AND NOT (EXISTS ( SELECT
                   FROM daywalk.prunings g
                  WHERE g.stream_id = w.stream_id AND g.day = side.day AND g.what = 'day'::text))) u
  WHERE (EXISTS ( SELECT
           FROM daywalk.windows d
          WHERE d.stream_id = u.stream_id AND d.day = u.day AND d.kind = 'day'::text))
  GROUP BY stream_id, day;

comment on schema daywalk is 'Pages of an Event Query API, one day window at a time. Query the views events, smart_events, coverage and gaps; the tables may change.';

comment on table daywalk.alarms is 'Whether the export of a set of streams fails, and what the webhook was last told about it.';
comment on column daywalk.alarms.streams is 'The streams of the settings, sorted.';
comment on column daywalk.alarms.failing is 'How the newest run found it.';
comment on column daywalk.alarms.problem is 'What was wrong then.';
comment on column daywalk.alarms.failing_since is 'When it began to fail the last time.';
comment on column daywalk.alarms.told_failing is 'What was last told: failing, or not.';
comment on column daywalk.alarms.told_at is 'When.';
comment on column daywalk.alarms.telling_until is 'A process is telling it now; after this another one may.';

comment on table daywalk.contracts is 'How the answers of a stream look: where list and total are. It changes by a setting or by daywalk accept; answers only add a total where those before told none.';
comment on column daywalk.contracts.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.contracts.hints is 'The settings that it was learned under; under others it is learned anew.';
comment on column daywalk.contracts.records_path is 'Keys from the top of a body to its record list; {} is the body itself.';
comment on column daywalk.contracts.total_path is 'Keys to the total; null where the source gives none.';
comment on column daywalk.contracts.relation_path is 'Keys to the word that qualifies the total (eq, gte).';
comment on column daywalk.contracts.total_first is 'First pages with records tell the total; false: those that it was learned from did not.';
comment on column daywalk.contracts.total_later is 'Pages after the first tell the total, too; null: none with records has come yet.';
comment on column daywalk.contracts.learned_at is 'When it was learned.';

comment on view daywalk.coverage is 'One row per stream and closed day from the stream''s first day (since) to its last one (until), and per backfilled day.';
comment on column daywalk.coverage.stream is 'The name of the stream.';
comment on column daywalk.coverage.resource is 'Its resource.';
comment on column daywalk.coverage.day is 'The day of the source''s calendar.';
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
comment on column daywalk.coverage.looked_at is 'When the source was last seen to be as stored.';
comment on column daywalk.coverage.due_at is 'When a window of the day is to be walked or looked at next.';
comment on column daywalk.coverage.retired_since is 'When it was found that the source does not keep the day any more.';
comment on column daywalk.coverage.last_error is 'The newest error of its windows.';

comment on view daywalk.day_errors is 'The newest error of each day whose windows have any; the coverage is made of it.';
comment on column daywalk.day_errors.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.day_errors.day is 'The day of the source''s calendar.';
comment on column daywalk.day_errors.last_error is 'The newest error of its windows.';

comment on table daywalk.days is 'What is shown of a day, added up whenever it changes.';
comment on column daywalk.days.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.days.day is 'The day of the source''s calendar.';
comment on column daywalk.days.records is 'Records that are shown; of a day that moved those that are shown there.';
comment on column daywalk.days.gone is 'Those among them that the source does not show any more.';
comment on column daywalk.days.lost is 'Those on balance: less the records that appeared in the same walks, which may be newer versions of them.';
comment on column daywalk.days.pages is 'Pages of the walks that are shown.';
comment on column daywalk.days.bytes is 'Bytes received for them.';
comment on column daywalk.days.proof is 'Kinds of proof of its windows.';
comment on column daywalk.days.revision is 'How often what is shown of it has changed.';
comment on column daywalk.days.unsealed is 'Something changed since the ledger was last compared with the day.';
comment on column daywalk.days.unshared is 'The id_path of a stream changed since it was found out what several streams of its resource show of the day.';
comment on column daywalk.days.publication is 'The key of its newest publication.';
comment on column daywalk.days.retired_since is 'When it was found that the source does not keep the day any more; it stays as it is, and is not walked again for nothing.';
comment on column daywalk.days.restored_at is 'When the day was brought back from a folder or bucket; null: never.';

comment on view daywalk.events is 'One row per event: every one that was ever proven, once, whatever streams there are. Filter on day, it prunes partitions.';
comment on column daywalk.events.stream is 'The name of the stream.';
comment on column daywalk.events.day is 'The day of the source''s calendar.';
comment on column daywalk.events.at is 'When the event happened, from the time_path of the settings; null: there is none that is understood (daywalk.time_faults).';
comment on column daywalk.events.record is 'The record as sent.';
comment on column daywalk.events.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.events.page_no is 'The page within the walk.';
comment on column daywalk.events."position" is 'Offset of the record within its window, as the source listed it.';
comment on column daywalk.events.fetched_at is 'When the page arrived.';
comment on column daywalk.events.first_seen is 'When the first version of the record arrived.';
comment on column daywalk.events.gone_since is 'Since when the source does not show it any more; null: it does.';
comment on column daywalk.events.revision is '1, and one more for each newer version; older ones are in daywalk.record_versions.';

comment on view daywalk.events_now is 'The records of all streams that the source shows today, as far as it was asked; none of days that it was found not to keep any more. Filter on day, it prunes partitions.';
comment on column daywalk.events_now.stream is 'The name of the stream.';
comment on column daywalk.events_now.resource is 'Its resource.';
comment on column daywalk.events_now.day is 'The day of the source''s calendar.';
comment on column daywalk.events_now.at is 'When the event happened, from the time_path of the settings; null: there is none that is understood (daywalk.time_faults).';
comment on column daywalk.events_now.record is 'The record as sent.';
comment on column daywalk.events_now.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.events_now.page_no is 'The page within the walk.';
comment on column daywalk.events_now."position" is 'Offset of the record within its window, as the source listed it.';
comment on column daywalk.events_now.fetched_at is 'When the page arrived.';
comment on column daywalk.events_now.first_seen is 'When the first version of the record arrived.';
comment on column daywalk.events_now.revision is '1, and one more for each newer version; older ones are in daywalk.record_versions.';

comment on view daywalk.feed is 'One row whenever what is shown of a day changes, numbered without a gap in each stream.';
comment on column daywalk.feed.stream is 'The name of the stream.';
comment on column daywalk.feed.seq is '1, 2, 3 … within the stream; a row that is seen has all lower ones before it.';
comment on column daywalk.feed.key is 'Random: the same number with another key is another history, that of a database that was put back.';
comment on column daywalk.feed.day is 'The day of the source''s calendar; read it again, whole.';
comment on column daywalk.feed.revision is '1, 2, 3 … within the day.';
comment on column daywalk.feed.records is 'Records that are shown from then on; 0 of a day that was pruned or moved.';
comment on column daywalk.feed.appeared is 'Records that came with a later walk, and that the ones before it had not.';
comment on column daywalk.feed.gone is 'Records that are gone since this publication.';
comment on column daywalk.feed.published_at is 'When it was published.';

comment on table daywalk.filter_places is 'Up to which publication of a stream filters were made.';
comment on column daywalk.filter_places.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.filter_places.seq is 'The number of the publication.';

comment on table daywalk.frames is 'Frames of answers without records: what an empty answer of the source looks like.';
comment on column daywalk.frames.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.frames.signature is 'Paths, types and texts of the frame, without what varies.';
comment on column daywalk.frames.example is 'The beginning of one, for people.';
comment on column daywalk.frames.first_seen is 'When it first came.';
comment on column daywalk.frames.confirmed_at is 'When a later look at its window confirmed it; null: it is not known to mean an empty window.';

comment on view daywalk.gaps is 'The closed days that are not complete.';
comment on column daywalk.gaps.stream is 'The name of the stream.';
comment on column daywalk.gaps.resource is 'Its resource.';
comment on column daywalk.gaps.day is 'The day of the source''s calendar.';
comment on column daywalk.gaps.state is 'running, failed, pending or missing.';
comment on column daywalk.gaps.due_at is 'When a window of the day is to be walked next.';
comment on column daywalk.gaps.last_error is 'The newest error of its windows.';

comment on view daywalk.lateness is 'How late records came: how many appeared how long after their day had closed.';
comment on column daywalk.lateness.stream is 'The name of the stream.';
comment on column daywalk.lateness.day is 'The day of the source''s calendar.';
comment on column daywalk.lateness.after is 'How long after the day had closed they were found.';
comment on column daywalk.lateness.records is 'How many.';
comment on column daywalk.lateness.found_at is 'When they were found.';

comment on table daywalk.learned is 'What was learned about the API in a stream, with its evidence; it expires, but for what only has more asked for.';
comment on column daywalk.learned.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.learned.fact is 'What: src/store/evidence/learned.ts lists them.';
comment on column daywalk.learned.value is 'Its value.';
comment on column daywalk.learned.evidence is 'What showed it.';
comment on column daywalk.learned.learned_at is 'When; old facts are learned again.';
comment on column daywalk.learned.kept is 'It does not expire: where it is wrong by now, more is asked for than need be.';

comment on table daywalk.ledger is 'A chain of digests for each stream: a row for each day when it is complete, and another one when what is shown of it has changed. Append-only.';
comment on column daywalk.ledger.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.ledger.entry is '1, 2, 3 … within the stream, in the order of appending, which need not be that of the days.';
comment on column daywalk.ledger.day is 'The day of the source''s calendar.';
comment on column daywalk.ledger.revision is '1, 2, 3 … within the day: what is shown of it changed.';
comment on column daywalk.ledger.walks is 'The walks that are shown of the day.';
comment on column daywalk.ledger.pages is 'Their pages.';
comment on column daywalk.ledger.records is 'Their records, those counted twice that two of them hold.';
comment on column daywalk.ledger.bytes is 'Bytes received for them.';
comment on column daywalk.ledger.pages_sha256 is 'daywalk.seals_digest of the walks: over the seals of their pages, in order.';
comment on column daywalk.ledger.walks_sha256 is 'daywalk.walks_digest of the walks: over their windows, numbers and proofs.';
comment on column daywalk.ledger.marks_sha256 is 'daywalk.marks_digest of the walks: which of their records are shown, and since when some are gone.';
comment on column daywalk.ledger.appended_at is 'When the row was appended.';
comment on column daywalk.ledger.previous is 'The digest of the entry before; of the first one: daywalk.ledger_origin.';
comment on column daywalk.ledger.digest is 'daywalk.ledger_digest of the row: SHA-256 over all its other columns, previous among them.';

comment on view daywalk.ledger_check is 'Every row of the ledger, recomputed from what it speaks about; docs/ledger.md tells how to read it.';
comment on column daywalk.ledger_check.stream is 'The name of the stream.';
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
comment on column daywalk.ledger_check.state_ok is 'Of a newest revision: what is shown is what it says; null where that changed just now, and is about to be appended.';
comment on column daywalk.ledger_check.ok is 'All of it.';

comment on view daywalk.ledger_due is 'The complete days that are not in the ledger as they are now; the next run appends them.';
comment on column daywalk.ledger_due.stream is 'The name of the stream.';
comment on column daywalk.ledger_due.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.ledger_due.day is 'The day of the source''s calendar.';
comment on column daywalk.ledger_due.walks is 'Its walks that are shown.';
comment on column daywalk.ledger_due.entry is 'The newest entry about the day, which says something else; null: there is none.';
comment on column daywalk.ledger_due.unsealed_pages is 'Pages without a seal. None: the day was in the ledger before, and the row is gone, or single records were just marked.';
comment on column daywalk.ledger_due.expected is 'Something was shown, or hidden, since: the next run puts it into the ledger.';

comment on table daywalk.marks is 'What is to be said of single records of walks that are shown. Most records have none.';
comment on column daywalk.marks.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.marks.page_no is 'The page within the walk.';
comment on column daywalk.marks."position" is 'Position among the records of the page, from 1.';
comment on column daywalk.marks.day is 'The day of the source''s calendar.';
comment on column daywalk.marks.state is 'shown; missing: shown, one later walk lacked it; gone: shown, a second walk an hour or more later lacked it too; hidden: its window shows it more often than there are such; old: a newer version of it is shown.';
comment on column daywalk.marks.since is 'Since when that is so; of a gone record since when it is missing.';
comment on column daywalk.marks.first_seen is 'When the first version of it was fetched; null: it is the first.';
comment on column daywalk.marks.revision is '1, and one more for each newer version.';
comment on column daywalk.marks.hidden_by is 'The cut that hides it, whatever its state, as long as the windows beside it hold the record more often than there are such.';
comment on column daywalk.marks.stood_on is 'The day under which the record was shown until that was pruned: what keeps that day has it there. null: none.';
comment on column daywalk.marks.seen is 'Readers see it.';

comment on table daywalk.misfits is 'Values that do not fit the type of their column; daywalk.table_faults shows them.';
comment on column daywalk.misfits.table_id is 'The record table.';
comment on column daywalk.misfits.day is 'The day of the source''s calendar.';
comment on column daywalk.misfits."column" is 'The column that is null instead.';
comment on column daywalk.misfits.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.misfits.page_no is 'The page within the walk.';
comment on column daywalk.misfits.place is 'Position among the records of the page, from 1.';
comment on column daywalk.misfits.found is 'The beginning of the value, as jsonb writes it.';
comment on column daywalk.misfits.reason is 'What does not fit.';

comment on view daywalk.missing_days is 'The closed days that a stream wants and that have no window; the coverage and the gaps are made of it.';
comment on column daywalk.missing_days.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.missing_days.stream is 'The name of the stream.';
comment on column daywalk.missing_days.resource is 'Its resource.';
comment on column daywalk.missing_days.day is 'The day of the source''s calendar.';

comment on table daywalk.page_filters is 'A Bloom filter of the values of each page of the walks that are shown, so that a search opens few pages. It may be emptied at any time: what has none is opened.';
comment on column daywalk.page_filters.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.page_filters.page_no is 'The page within the walk.';
comment on column daywalk.page_filters.filter is 'Twenty bits for each value that the page holds, at least 256; eight of them are set for each (daywalk.filter_keys).';

comment on table daywalk.pages is 'A page is one response body, stored as it came; one partition a month.';
comment on column daywalk.pages.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.pages.page_no is '0, 1, 2 … within the walk.';
comment on column daywalk.pages.day is 'The day of the window; the partition key.';
comment on column daywalk.pages.start is 'Offset of its first record.';
comment on column daywalk.pages.length is 'How many records were asked for.';
comment on column daywalk.pages.skip is '1: its first record is the last one of the page before, asked for again to see that the list did not move.';
comment on column daywalk.pages.records is 'How many came, without that one.';
comment on column daywalk.pages.total is 'The total that it told.';
comment on column daywalk.pages.relation is 'The word that came with the total: gte says that it is a lower bound.';
comment on column daywalk.pages.total_missing is 'It told no total beside its records, though such pages of the stream do.';
comment on column daywalk.pages.more is 'It said that there is more (truncated, has_more).';
comment on column daywalk.pages.body is 'The body, parsed by Postgres from the bytes received; where changes is not null, from a repaired copy.';
comment on column daywalk.pages.bytes is 'The exact bytes received, where jsonb cannot hold them, or always if keep_bytes says so.';
comment on column daywalk.pages.changes is 'What was changed in the repaired copy, and where; null: nothing.';
comment on column daywalk.pages.record_hashes is 'A hash of each of these records without what is ignored, in order; equal records have equal hashes within this database.';
comment on column daywalk.pages.id_hashes is 'A hash of what identifies each of these records; null where the stream had no id_path.';
comment on column daywalk.pages.sha256 is 'SHA-256 of the bytes received, after content decoding.';
comment on column daywalk.pages.byte_count is 'How many bytes were received, after content decoding.';
comment on column daywalk.pages.fetched_at is 'When the last byte arrived.';
comment on column daywalk.pages.duration_ms is 'Milliseconds from the request to the last byte.';

comment on table daywalk.prunings is 'What was pruned: a day of a stream, or the superseded walks of a day.';
comment on column daywalk.prunings.pruning_id is 'Key.';
comment on column daywalk.prunings.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.prunings.day is 'The day of the source''s calendar.';
comment on column daywalk.prunings.what is 'day: everything of it; superseded: walks none of whose records are shown, the day stays.';
comment on column daywalk.prunings.walks is 'The walks whose pages went.';
comment on column daywalk.prunings.pages is 'Pages that were shown of the day; of superseded walks all of theirs.';
comment on column daywalk.prunings.records is 'Records that were shown of the day; of superseded walks all of theirs.';
comment on column daywalk.prunings.bytes is 'Bytes that were received for these pages.';
comment on column daywalk.prunings.pruned_by is 'The role of the database that did it.';
comment on column daywalk.prunings.pruned_at is 'From then on the views do not show it.';
comment on column daywalk.prunings.removed_at is 'When the last of its pages was removed; null: it was interrupted, the next pruning goes on.';
comment on column daywalk.prunings.twins_before is 'Hashes of records that the midnight before it takes away, each as often, where the day before was not shown yet: what keeps this day has them there.';
comment on column daywalk.prunings.twins_behind is 'The same of the midnight at its end, for the day behind it.';

comment on table daywalk.publications is 'One row whenever what is shown of a day changes, numbered without a gap in each stream, so that whatever follows the records can keep its place.';
comment on column daywalk.publications.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.publications.seq is '1, 2, 3 … within the stream.';
comment on column daywalk.publications.key is 'Random: tells this history from that of a database that was put back from a backup.';
comment on column daywalk.publications.day is 'The day of the source''s calendar.';
comment on column daywalk.publications.revision is '1, 2, 3 … within the day.';
comment on column daywalk.publications.records is 'Records that are shown from then on; 0 of a day that was pruned or moved.';
comment on column daywalk.publications.appeared is 'Records that came with a later walk, and that the ones before it had not.';
comment on column daywalk.publications.gone is 'Records that are gone since this publication.';
comment on column daywalk.publications.lost is 'Those on balance: less the records that appeared in the walk that first lacked them.';
comment on column daywalk.publications.published_at is 'When it was published.';

comment on view daywalk.quarantine is 'What was changed in the repaired copies of pages that jsonb cannot hold.';
comment on column daywalk.quarantine.stream is 'The name of the stream.';
comment on column daywalk.quarantine.day is 'The day of the source''s calendar.';
comment on column daywalk.quarantine.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.quarantine.page_no is 'The page within the walk.';
comment on column daywalk.quarantine.shown is 'The views show records of the walk.';
comment on column daywalk.quarantine.what is 'Kind of change: nul, surrogate, utf8, utf16, bom, number, depth, more.';
comment on column daywalk.quarantine.path is 'Where in the body.';
comment on column daywalk.quarantine."offset" is 'Byte offset of the changed value in the bytes received.';
comment on column daywalk.quarantine.found is 'The beginning of what stood there.';
comment on column daywalk.quarantine.sha256 is 'SHA-256 of the bytes received.';
comment on column daywalk.quarantine.byte_count is 'How many bytes were received.';
comment on column daywalk.quarantine.bytes is 'The exact bytes received.';

comment on table daywalk.rates is 'When the next request to an API may go, where the setting rate is set; the workers take slots from here.';
comment on column daywalk.rates.origin is 'Scheme, host and port of the API.';
comment on column daywalk.rates.next_slot is 'The first instant that no worker has taken yet; it may be past.';

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

comment on view daywalk.record_versions is 'Older versions of records that are shown in a newer one, newest first; for streams with an id_path.';
comment on column daywalk.record_versions.stream is 'The name of the stream.';
comment on column daywalk.record_versions.resource is 'Its resource.';
comment on column daywalk.record_versions.day is 'The day of the source''s calendar.';
comment on column daywalk.record_versions.id is 'What identifies the record.';
comment on column daywalk.record_versions.revision is '1 of the first version, and one more for each newer one.';
comment on column daywalk.record_versions.record is 'The record as it was.';
comment on column daywalk.record_versions.replaced_at is 'Since when a newer version is shown.';
comment on column daywalk.record_versions.fetched_at is 'When its page arrived.';
comment on column daywalk.record_versions.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.record_versions.page_no is 'The page within the walk.';
comment on column daywalk.record_versions."position" is 'Offset of the record within its window, as the source listed it.';

comment on table daywalk.refused_keys is 'Keys that an API refused, so that no worker sends them again within the hour; the row of a key goes when it is taken.';
comment on column daywalk.refused_keys.base_url is 'The base URL of the API, as the settings say it: what stands behind another prefix of its path is asked.';
comment on column daywalk.refused_keys.salt is 'Random.';
comment on column daywalk.refused_keys.digest is 'scrypt of the key with the salt, by which the same key is known again; the key is nowhere.';
comment on column daywalk.refused_keys.said is 'What the API answered.';
comment on column daywalk.refused_keys.since is 'When this key was refused first.';
comment on column daywalk.refused_keys.refused_at is 'When it was refused last.';

comment on table daywalk.runs is 'A run is one planning-and-draining pass: scheduled, by hand, or a backfill.';
comment on column daywalk.runs.run_id is 'Key.';
comment on column daywalk.runs.key is 'Made by the program, so that a repeated statement notes one run.';
comment on column daywalk.runs.trigger is 'schedule, hand or backfill.';
comment on column daywalk.runs.owner is 'Host and process.';
comment on column daywalk.runs.from_day is 'First day of a backfill.';
comment on column daywalk.runs.to_day is 'Last day of a backfill.';
comment on column daywalk.runs.windows_complete is 'Windows that it completed.';
comment on column daywalk.runs.windows_failed is 'Windows that failed in it.';
comment on column daywalk.runs.windows_unchanged is 'Complete windows that it looked at and found as they are stored.';
comment on column daywalk.runs.records is 'Records that it stored.';
comment on column daywalk.runs.bytes is 'Bytes that it stored.';
comment on column daywalk.runs.started_at is 'When it began.';
comment on column daywalk.runs.finished_at is 'When it ended; null: in progress, or killed.';
comment on column daywalk.runs.outcome is 'done, gaps, refused, unavailable, interrupted, settings or unexpected.';
comment on column daywalk.runs.error is 'The error that ended it.';

comment on table daywalk.seals is 'A seal is a digest of everything that is stored of a page, made when its day is complete. Append-only.';
comment on column daywalk.seals.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.seals.page_no is 'The page within the walk.';
comment on column daywalk.seals.day is 'The day of the source''s calendar.';
comment on column daywalk.seals.body_sha256 is 'daywalk.body_digest of the body: SHA-256 of body::text in UTF-8.';
comment on column daywalk.seals.digest is 'daywalk.page_digest of the row: SHA-256 over all its columns, the body as body_sha256.';
comment on column daywalk.seals.sealed_at is 'When it was made.';

comment on table daywalk.shared_records is 'Records that another stream of the same resource shows, too: the views of the resource leave them out here.';
comment on column daywalk.shared_records.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.shared_records.page_no is 'The page within the walk.';
comment on column daywalk.shared_records.place is 'Position among the records of the page, from 1.';

comment on view daywalk.shown_days is 'The walks of every complete day that are shown.';
comment on column daywalk.shown_days.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.shown_days.day is 'The day of the source''s calendar.';
comment on column daywalk.shown_days.walks is 'Its walks that are shown.';

comment on view daywalk.shown_records is 'Every record that is shown, of every stream: one that several streams show stands here once for each. Filter on day, it prunes partitions.';
comment on column daywalk.shown_records.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.shown_records.stream is 'The name of the stream.';
comment on column daywalk.shown_records.resource is 'Its resource.';
comment on column daywalk.shown_records.day is 'The day of the source''s calendar.';
comment on column daywalk.shown_records.at is 'When the event happened, from the time_path of the settings; null: there is none that is understood (daywalk.time_faults).';
comment on column daywalk.shown_records.record is 'The record as sent.';
comment on column daywalk.shown_records.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.shown_records.page_no is 'The page within the walk.';
comment on column daywalk.shown_records.place is 'Position among the records of the page, from 1.';
comment on column daywalk.shown_records."position" is 'Offset of the record within its window, as the source listed it.';
comment on column daywalk.shown_records.fetched_at is 'When the page arrived.';
comment on column daywalk.shown_records.first_seen is 'When the first version of the record arrived.';
comment on column daywalk.shown_records.gone_since is 'Since when the source does not show it any more; null: it does.';
comment on column daywalk.shown_records.revision is '1, and one more for each newer version; older ones are in daywalk.record_versions.';
comment on column daywalk.shown_records.leads is 'The views of the resource show it; false: there it is another stream''s.';
comment on column daywalk.shown_records.stood_on is 'The day under which it was shown until that was pruned; null: none.';

comment on view daywalk.smart_events is 'One row per smart event: every one that was ever proven, once, whatever streams there are. Filter on day, it prunes partitions.';
comment on column daywalk.smart_events.stream is 'The name of the stream.';
comment on column daywalk.smart_events.day is 'The day of the source''s calendar.';
comment on column daywalk.smart_events.at is 'When the event happened, from the time_path of the settings; null: there is none that is understood (daywalk.time_faults).';
comment on column daywalk.smart_events.record is 'The record as sent.';
comment on column daywalk.smart_events.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.smart_events.page_no is 'The page within the walk.';
comment on column daywalk.smart_events."position" is 'Offset of the record within its window, as the source listed it.';
comment on column daywalk.smart_events.fetched_at is 'When the page arrived.';
comment on column daywalk.smart_events.first_seen is 'When the first version of the record arrived.';
comment on column daywalk.smart_events.gone_since is 'Since when the source does not show it any more; null: it does.';
comment on column daywalk.smart_events.revision is '1, and one more for each newer version; older ones are in daywalk.record_versions.';

comment on table daywalk.streams is 'A stream is a resource of the API with a fixed set of filters, exported under a name.';
comment on column daywalk.streams.stream_id is 'Key.';
comment on column daywalk.streams.name is 'The name in the settings.';
comment on column daywalk.streams.resource is 'The API operation: events or smart-event.';
comment on column daywalk.streams.filters is 'The fixed query parameters, unset ones left out.';
comment on column daywalk.streams.fingerprint is 'SHA-256, hexadecimal, of resource and filters; a stream never continues with another one.';
comment on column daywalk.streams.since is 'The first day that the schedule exports.';
comment on column daywalk.streams.until is 'The last day that the schedule exports, as the settings say; null: it goes on.';
comment on column daywalk.streams.time_zone is 'IANA time zone of the source, in which its days begin and end.';
comment on column daywalk.streams.settle is 'How long after its end a day counts as closed.';
comment on column daywalk.streams.id_path is 'Keys from the top of a record to what identifies it, as the settings say; null: a record is its content.';
comment on column daywalk.streams.time_path is 'Keys from the top of a record to the time of the event, as the settings say; null: the views have none.';
comment on column daywalk.streams.time_format is 'A pattern of that time, and what makes ISO 8601 of it; null: it is ISO 8601, or counts from 1970 on.';
comment on column daywalk.streams.accepted_at is 'When a person last accepted the source as it is (daywalk accept); what was proven before is no known answer any more.';
comment on column daywalk.streams.distrusted_since is 'Since when known answers are not what they were, so that nothing new is believed; null: they are.';
comment on column daywalk.streams.known_at is 'When a known answer was last as ever: the source was then what it was when that was proven. null: never.';

comment on table daywalk.table_days is 'Which publication of a day a record table holds: where it is not the newest one, the day is replaced.';
comment on column daywalk.table_days.table_id is 'The record table.';
comment on column daywalk.table_days.day is 'The day of the source''s calendar.';
comment on column daywalk.table_days.publication is 'The key of the publication, as in daywalk.publications.';
comment on column daywalk.table_days.records is 'Rows of the day.';
comment on column daywalk.table_days.faults is 'Values of the day that do not fit their types; they are null, and listed in daywalk.table_faults.';
comment on column daywalk.table_days.synced_at is 'When the day was replaced last.';

comment on view daywalk.table_faults is 'Values that do not fit the type of their column in a record table: there they are null.';
comment on column daywalk.table_faults."table" is 'The record table.';
comment on column daywalk.table_faults."column" is 'The column that is null instead.';
comment on column daywalk.table_faults.day is 'The day of the source''s calendar.';
comment on column daywalk.table_faults.found is 'The beginning of the value, as jsonb writes it.';
comment on column daywalk.table_faults.reason is 'What does not fit.';
comment on column daywalk.table_faults.walk_id is 'The walk; with page_no and place the row of the table.';
comment on column daywalk.table_faults.page_no is 'The page within the walk.';
comment on column daywalk.table_faults.place is 'Position among the records of the page, from 1.';

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

comment on table daywalk.tiered_days is 'The days that moved to a folder or bucket: their pages are in an object there, and their records in a table that other engines read (docs/tier.md).';
comment on column daywalk.tiered_days.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.tiered_days.day is 'The day of the source''s calendar.';
comment on column daywalk.tiered_days.publication is 'The publication that the objects hold, as in daywalk.publications.';
comment on column daywalk.tiered_days.place is 'The folder or bucket.';
comment on column daywalk.tiered_days.pages_key is 'The object that holds the pages, every column of them.';
comment on column daywalk.tiered_days.pages_bytes is 'Its size.';
comment on column daywalk.tiered_days.pages_sha256 is 'SHA-256 of it.';
comment on column daywalk.tiered_days.events_key is 'The object that holds the records that were shown; a file of the Delta Lake table.';
comment on column daywalk.tiered_days.events_bytes is 'Its size.';
comment on column daywalk.tiered_days.events_sha256 is 'SHA-256 of it.';
comment on column daywalk.tiered_days.records is 'Records in it.';
comment on column daywalk.tiered_days.records_sha256 is 'SHA-256 of the records as lines of NDJSON, as the manifest of an export has it.';
comment on column daywalk.tiered_days.twins_before is 'Hashes of records that the midnight before it takes away, each as often, where nobody had planned the day before: it hides them once it is walked.';
comment on column daywalk.tiered_days.twins_behind is 'The same of the midnight at its end, for the day behind it.';

comment on view daywalk.time_faults is 'Records whose time is not understood, so that at is null; filter on day.';
comment on column daywalk.time_faults.stream is 'The name of the stream.';
comment on column daywalk.time_faults.day is 'The day of the source''s calendar.';
comment on column daywalk.time_faults.found is 'What stands at the time_path; null: nothing.';
comment on column daywalk.time_faults.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.time_faults.page_no is 'The page within the walk.';
comment on column daywalk.time_faults."position" is 'Offset of the record within its window, as the source listed it.';

comment on table daywalk.told_days is 'How far the webhook was told of days that became complete (webhook.day_proven), and of those that came to lack records.';
comment on column daywalk.told_days.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.told_days.entry is 'Up to which entry of the ledger of days that became complete; 0: of none.';
comment on column daywalk.told_days.seq is 'Up to which publication of days that came to lack records; 0: of none.';
comment on column daywalk.told_days.telling_until is 'A process is telling it now; after this another one may.';

comment on view daywalk.unfinished_days is 'The days with a window that are not complete; the coverage and the gaps are made of it.';
comment on column daywalk.unfinished_days.stream_id is 'The stream, by its key in daywalk.streams.';
comment on column daywalk.unfinished_days.day is 'The day of the source''s calendar.';
comment on column daywalk.unfinished_days.failed is 'One of its windows failed.';
comment on column daywalk.unfinished_days.running is 'A worker holds one of them.';
comment on column daywalk.unfinished_days.due_at is 'When the first of them is due.';

comment on table daywalk.walks is 'A walk is one pass over a window, or over a span near a cut, from its first page to its end.';
comment on column daywalk.walks.walk_id is 'Key.';
comment on column daywalk.walks.window_id is 'The window.';
comment on column daywalk.walks.number is '1, 2, 3 … within the window.';
comment on column daywalk.walks.role is 'whole; half: of the window, walked to compare it with the whole; of a cut: across it, before it, after it.';
comment on column daywalk.walks.day is 'The day of the source''s calendar.';
comment on column daywalk.walks.from_time is 'First second that was asked for.';
comment on column daywalk.walks.to_time is 'Last second that was asked for.';
comment on column daywalk.walks.level_from is 'Lowest rule level that was asked for.';
comment on column daywalk.walks.level_to is 'Highest rule level that was asked for.';
comment on column daywalk.walks.page_length is 'How many records each page asks for.';
comment on column daywalk.walks.records_path is 'Keys from the top of a body to its record list; {} is the body itself.';
comment on column daywalk.walks.total_path is 'Keys to the total; null where the source gives none.';
comment on column daywalk.walks.relation_path is 'Keys to the word that qualifies the total (eq, gte).';
comment on column daywalk.walks.ignored is 'JSON pointers into a record to what is not part of it: row numbers, scores, ages; ''[]'': the order within its lists, zeros behind its numbers, and members that are null.';
comment on column daywalk.walks.id_path is 'The id_path of the stream when it began, by which its pages have id_hashes.';
comment on column daywalk.walks.next_start is 'The checkpoint: the offset of the next page, equal to the records stored.';
comment on column daywalk.walks.pages is 'Pages stored.';
comment on column daywalk.walks.records is 'Records stored.';
comment on column daywalk.walks.bytes is 'Bytes of the bodies stored, as received.';
comment on column daywalk.walks.requests is 'Requests made, refused ones and probes included.';
comment on column daywalk.walks.first_total is 'The total on the first page.';
comment on column daywalk.walks.last_total is 'The total on the last page.';
comment on column daywalk.walks.claims is 'What answers that are no pages of it said while it was judged: how many there are, and what is or is not at an offset.';
comment on column daywalk.walks.outcome is 'proven; ended: at its end, not believed alone, evidence for another; shifted: the list moved under it; failed; null: in progress.';
comment on column daywalk.walks.reason is 'Why it is not proven.';
comment on column daywalk.walks.proof is 'What shows that it saw the whole window, with the numbers; before it is proven, how it ended.';
comment on column daywalk.walks.shown is 'Whether the views show its records: no; whole: all but those marked as not seen; part: those marked as seen.';
comment on column daywalk.walks.shared is 'Some of its records are in daywalk.shared_records.';
comment on column daywalk.walks.started_at is 'When it began.';
comment on column daywalk.walks.finished_at is 'When it ended.';
comment on column daywalk.walks.pruning is 'Its pages were pruned, or are just being removed; null: they are there.';

comment on table daywalk.windows is 'A window is a span of the source''s wall-clock time, normally one day, that is proven as a unit; or the cut between two of them.';
comment on column daywalk.windows.window_id is 'Key.';
comment on column daywalk.windows.stream_id is 'The stream.';
comment on column daywalk.windows.kind is 'day; part: of a window that was split; cut: the place between two neighbouring windows, from the last second of one to the first of the other.';
comment on column daywalk.windows.day is 'The day of the source''s calendar that the window begins in.';
comment on column daywalk.windows.from_time is 'First second, inclusive, wall-clock time of the source.';
comment on column daywalk.windows.to_time is 'Last second, inclusive, wall-clock time of the source.';
comment on column daywalk.windows.level_from is 'Lowest rule level, where it was split by level.';
comment on column daywalk.windows.level_to is 'Highest rule level, where it was split by level.';
comment on column daywalk.windows.split_from is 'The window that this one is a part of, or a cut inside; null: it stands for itself.';
comment on column daywalk.windows.midnight is 'Of a cut between two days the first of them. It is a window of that day; of the one behind it where nobody had planned that day.';
comment on column daywalk.windows.split_by is 'How it is split: time or level; null: it is not.';
comment on column daywalk.windows.split_reason is 'Why it is split, with the numbers.';
comment on column daywalk.windows.split_total is 'The total when it was closed, else when it was split.';
comment on column daywalk.windows.split_calibrated is 'That total is exact, so that its parts need no cuts and no looks of their own.';
comment on column daywalk.windows.purpose is 'Why it is walked: scheduled goes before look before backfill.';
comment on column daywalk.windows.state is 'pending: to be walked; complete: proven whole; failed: see last_error, walked again at due_at; split: its parts are not all proven, or do not add up yet; replaced: a part of an earlier split, something else stands for it.';
comment on column daywalk.windows.due_at is 'When it is to be walked or looked at next; null: not until asked.';
comment on column daywalk.windows.current_walk is 'The walk in progress.';
comment on column daywalk.windows.rewalk is 'It is to be walked again though it is complete: a person asked, or a second walk is to confirm what one lacked.';
comment on column daywalk.windows.proof is 'What showed that it is whole, when it was last proven.';
comment on column daywalk.windows.looks is 'How often it was looked at since, and found as it is stored.';
comment on column daywalk.windows.judged is 'The number of its newest walk when it was last proven, split or given up: earlier walks are no evidence any more.';
comment on column daywalk.windows.lease_id is 'Random id of the current claim; every write of a worker must name it.';
comment on column daywalk.windows.lease_owner is 'Host and process of the worker, for people.';
comment on column daywalk.windows.lease_number is 'How often the window was claimed, for people; the fence is lease_id.';
comment on column daywalk.windows.lease_expires is 'From then on, by the database''s clock, another worker may claim the window.';
comment on column daywalk.windows.attempts is 'Claims since the last page was stored.';
comment on column daywalk.windows.failures is 'Failures since the window was last complete.';
comment on column daywalk.windows.last_error is 'Why it last failed.';
comment on column daywalk.windows.last_failed_at is 'When it last failed.';
comment on column daywalk.windows.created_at is 'When it was planned.';
comment on column daywalk.windows.proven_at is 'When it was last proven.';
comment on column daywalk.windows.looked_at is 'When the source was last seen to be as stored.';
comment on column daywalk.windows.shown_at is 'When the source was last seen to show records of it, as stored; its pages may be older than its proof.';
