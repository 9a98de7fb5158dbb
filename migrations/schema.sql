-- The schema after all migrations, as PostgreSQL 18 tells it; written by `npm run schema`.

create table daywalk.pages (
  walk_id bigint not null,
  page_no integer not null,
  day date not null,
  start bigint not null,
  length integer not null,
  records integer not null,
  total bigint,
  relation text,
  body jsonb not null,
  record_hashes bigint[] not null,
  sha256 bytea not null,
  byte_count integer not null,
  fetched_at timestamp with time zone not null,
  duration_ms integer not null,
  constraint pages_check CHECK ((cardinality(record_hashes) = records)),
  constraint pages_pkey PRIMARY KEY (walk_id, page_no, day),
  constraint pages_records_check CHECK ((records >= 0)),
  constraint pages_sha256_check CHECK ((octet_length(sha256) = 32)),
  constraint pages_walk_id_fkey FOREIGN KEY (walk_id) REFERENCES daywalk.walks(walk_id)
) partition by RANGE (day);

create table daywalk.runs (
  run_id bigint generated always as identity not null,
  trigger text not null,
  owner text not null,
  from_day date,
  to_day date,
  windows_due integer default 0 not null,
  windows_complete integer default 0 not null,
  windows_failed integer default 0 not null,
  pages bigint default 0 not null,
  records bigint default 0 not null,
  bytes bigint default 0 not null,
  started_at timestamp with time zone default clock_timestamp() not null,
  finished_at timestamp with time zone,
  outcome text,
  error text,
  constraint runs_check CHECK (((outcome IS NULL) = (finished_at IS NULL))),
  constraint runs_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'gaps'::text, 'refused'::text, 'unavailable'::text, 'interrupted'::text, 'settings'::text, 'unexpected'::text]))),
  constraint runs_pkey PRIMARY KEY (run_id),
  constraint runs_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'hand'::text, 'backfill'::text])))
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

create table daywalk.walks (
  walk_id bigint generated always as identity not null,
  window_id bigint not null,
  number integer not null,
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
  started_at timestamp with time zone default clock_timestamp() not null,
  finished_at timestamp with time zone,
  constraint walks_check CHECK (((outcome IS NULL) = (finished_at IS NULL))),
  constraint walks_check1 CHECK (((outcome <> 'proven'::text) OR (proof IS NOT NULL))),
  constraint walks_outcome_check CHECK ((outcome = ANY (ARRAY['proven'::text, 'unproven'::text, 'shifted'::text, 'failed'::text]))),
  constraint walks_page_length_check CHECK ((page_length > 0)),
  constraint walks_pkey PRIMARY KEY (walk_id),
  constraint walks_window_id_fkey FOREIGN KEY (window_id) REFERENCES daywalk.windows(window_id),
  constraint walks_window_id_number_key UNIQUE (window_id, number)
);

create table daywalk.windows (
  window_id bigint generated always as identity not null,
  stream_id integer not null,
  day date not null,
  from_time timestamp without time zone not null,
  to_time timestamp without time zone not null,
  split_from bigint,
  purpose text not null,
  state text default 'pending'::text not null,
  due_at timestamp with time zone default clock_timestamp(),
  current_walk bigint,
  published_walk bigint,
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
  constraint windows_check CHECK ((from_time <= to_time)),
  constraint windows_check1 CHECK (((from_time)::date = day)),
  constraint windows_check2 CHECK (((lease_id IS NULL) = (lease_expires IS NULL))),
  constraint windows_check3 CHECK (((state <> 'complete'::text) OR (published_walk IS NOT NULL))),
  constraint windows_check4 CHECK (((state <> 'split'::text) OR ((due_at IS NULL) AND (lease_id IS NULL)))),
  constraint windows_current_walk_fkey FOREIGN KEY (current_walk) REFERENCES daywalk.walks(walk_id),
  constraint windows_pkey PRIMARY KEY (window_id),
  constraint windows_published_walk_fkey FOREIGN KEY (published_walk) REFERENCES daywalk.walks(walk_id),
  constraint windows_purpose_check CHECK ((purpose = ANY (ARRAY['scheduled'::text, 'recheck'::text, 'backfill'::text]))),
  constraint windows_split_from_fkey FOREIGN KEY (split_from) REFERENCES daywalk.windows(window_id),
  constraint windows_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'complete'::text, 'failed'::text, 'split'::text]))),
  constraint windows_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES daywalk.streams(stream_id),
  constraint windows_stream_id_from_time_to_time_key UNIQUE (stream_id, from_time, to_time)
);

CREATE INDEX runs_started ON daywalk.runs USING btree (started_at);

CREATE INDEX windows_day ON daywalk.windows USING btree (stream_id, day);

CREATE INDEX windows_due ON daywalk.windows USING btree (purpose DESC, day, from_time) WHERE (due_at IS NOT NULL);

CREATE UNIQUE INDEX windows_published ON daywalk.windows USING btree (published_walk) WHERE (published_walk IS NOT NULL);

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

create view daywalk.coverage as
 WITH days AS (
         SELECT s_1.stream_id,
            d_1.day::date AS day
           FROM daywalk.streams s_1
             CROSS JOIN LATERAL generate_series(s_1.since::timestamp without time zone, (((clock_timestamp() - s_1.settle) AT TIME ZONE s_1.time_zone)::date - 1)::timestamp without time zone, '1 day'::interval) d_1(day)
        UNION
         SELECT windows.stream_id,
            windows.day
           FROM daywalk.windows
        ), parts AS (
         SELECT w.stream_id,
            w.day,
            count(*)::integer AS windows,
            count(*) FILTER (WHERE w.state = 'complete'::text)::integer AS complete_windows,
            bool_and(w.state = 'complete'::text) AS complete,
            bool_or(w.state = 'failed'::text) AS failed,
            bool_or(w.lease_expires > clock_timestamp()) AS running,
            sum(k.records)::bigint AS records,
            sum(k.pages) AS pages,
            sum(k.bytes)::bigint AS bytes,
            string_agg(DISTINCT k.proof ->> 'kind'::text, ', '::text) AS proof,
            max(w.completed_at) AS completed_at,
            min(w.due_at) AS due_at,
            (array_agg(w.last_error ORDER BY w.last_failed_at DESC) FILTER (WHERE w.last_error IS NOT NULL))[1] AS last_error
           FROM daywalk.windows w
             LEFT JOIN daywalk.walks k ON k.walk_id = w.published_walk
          WHERE w.state <> 'split'::text
          GROUP BY w.stream_id, w.day
        )
 SELECT s.name AS stream,
    s.resource,
    d.day,
        CASE
            WHEN p.complete THEN 'complete'::text
            WHEN p.running THEN 'running'::text
            WHEN p.failed THEN 'failed'::text
            WHEN p.windows IS NOT NULL THEN 'pending'::text
            ELSE 'missing'::text
        END AS state,
    COALESCE(p.windows, 0) AS windows,
    COALESCE(p.complete_windows, 0) AS complete_windows,
    COALESCE(p.records, 0::bigint) AS records,
    COALESCE(p.pages, 0::bigint) AS pages,
    COALESCE(p.bytes, 0::bigint) AS bytes,
    p.proof,
        CASE
            WHEN p.complete THEN p.completed_at
            ELSE NULL::timestamp with time zone
        END AS completed_at,
    p.due_at,
    p.last_error
   FROM days d
     JOIN daywalk.streams s ON s.stream_id = d.stream_id
     LEFT JOIN parts p ON p.stream_id = d.stream_id AND p.day = d.day;

create view daywalk.events as
 SELECT s.name AS stream,
    p.day,
    r.record,
    p.walk_id,
    p.page_no,
    p.start + r."position" - 1 AS "position",
    p.fetched_at
   FROM daywalk.pages p
     JOIN daywalk.windows w ON w.published_walk = p.walk_id
     JOIN daywalk.walks k ON k.walk_id = p.walk_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id AND s.resource = 'events'::text
     CROSS JOIN LATERAL jsonb_array_elements(p.body #> k.records_path) WITH ORDINALITY r(record, "position");

create view daywalk.gaps as
 SELECT stream,
    resource,
    day,
    state,
    due_at,
    last_error
   FROM daywalk.coverage
  WHERE state <> 'complete'::text;

create view daywalk.smart_events as
 SELECT s.name AS stream,
    p.day,
    r.record,
    p.walk_id,
    p.page_no,
    p.start + r."position" - 1 AS "position",
    p.fetched_at
   FROM daywalk.pages p
     JOIN daywalk.windows w ON w.published_walk = p.walk_id
     JOIN daywalk.walks k ON k.walk_id = p.walk_id
     JOIN daywalk.streams s ON s.stream_id = w.stream_id AND s.resource = 'smart-event'::text
     CROSS JOIN LATERAL jsonb_array_elements(p.body #> k.records_path) WITH ORDINALITY r(record, "position");

comment on schema daywalk is 'Pages of an Event Query API, one day window at a time. Query the views events, smart_events, coverage and gaps; the tables may change.';

comment on view daywalk.coverage is 'One row per stream and closed day since the stream''s first day, and per backfilled day.';
comment on column daywalk.coverage.stream is 'The stream.';
comment on column daywalk.coverage.resource is 'Its resource.';
comment on column daywalk.coverage.day is 'The day of the source''s calendar.';
comment on column daywalk.coverage.state is 'complete: every window of the day is proven; running, failed, pending: see there; missing: not planned yet.';
comment on column daywalk.coverage.windows is 'Windows of the day, without those that were split.';
comment on column daywalk.coverage.complete_windows is 'How many of them are complete.';
comment on column daywalk.coverage.records is 'Records in published walks.';
comment on column daywalk.coverage.pages is 'Pages in published walks.';
comment on column daywalk.coverage.bytes is 'Bytes received for them.';
comment on column daywalk.coverage.proof is 'Kinds of proof: total, probe.';
comment on column daywalk.coverage.completed_at is 'When the day became complete.';
comment on column daywalk.coverage.due_at is 'When a window of the day is to be walked next.';
comment on column daywalk.coverage.last_error is 'The newest error of its windows.';

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

comment on table daywalk.pages is 'A page is one response body, stored as it came; one partition a month.';
comment on column daywalk.pages.walk_id is 'The walk.';
comment on column daywalk.pages.page_no is '0, 1, 2 … within the walk.';
comment on column daywalk.pages.day is 'The day of the window; the partition key.';
comment on column daywalk.pages.start is 'Offset of its first record.';
comment on column daywalk.pages.length is 'How many records were asked for.';
comment on column daywalk.pages.records is 'How many came.';
comment on column daywalk.pages.total is 'The total that it told.';
comment on column daywalk.pages.relation is 'The word that came with the total: gte says that it is a lower bound.';
comment on column daywalk.pages.body is 'The body, parsed by Postgres from the bytes received.';
comment on column daywalk.pages.record_hashes is 'A hash of each record, in order; equal records have equal hashes within this database.';
comment on column daywalk.pages.sha256 is 'SHA-256 of the bytes received, after content decoding.';
comment on column daywalk.pages.byte_count is 'How many bytes were received, after content decoding.';
comment on column daywalk.pages.fetched_at is 'When the last byte arrived.';
comment on column daywalk.pages.duration_ms is 'Milliseconds from the request to the last byte.';

comment on table daywalk.runs is 'A run is one planning-and-draining pass: scheduled, by hand, or a backfill.';
comment on column daywalk.runs.run_id is 'Key.';
comment on column daywalk.runs.trigger is 'schedule, hand or backfill.';
comment on column daywalk.runs.owner is 'Host and process.';
comment on column daywalk.runs.from_day is 'First day of a backfill.';
comment on column daywalk.runs.to_day is 'Last day of a backfill.';
comment on column daywalk.runs.windows_due is 'Windows that were due when it began.';
comment on column daywalk.runs.windows_complete is 'Windows that it completed.';
comment on column daywalk.runs.windows_failed is 'Windows that failed in it.';
comment on column daywalk.runs.pages is 'Pages that it stored.';
comment on column daywalk.runs.records is 'Records that it stored.';
comment on column daywalk.runs.bytes is 'Bytes that it stored.';
comment on column daywalk.runs.started_at is 'When it began.';
comment on column daywalk.runs.finished_at is 'When it ended; null: in progress, or killed.';
comment on column daywalk.runs.outcome is 'done, gaps, refused, unavailable, interrupted, settings or unexpected.';
comment on column daywalk.runs.error is 'The error that ended it.';

comment on view daywalk.smart_events is 'One row per record of the resource smart-event, from published walks.';
comment on column daywalk.smart_events.stream is 'The stream.';
comment on column daywalk.smart_events.day is 'The day of the source''s calendar; filter on it, it prunes partitions.';
comment on column daywalk.smart_events.record is 'The record as sent.';
comment on column daywalk.smart_events.walk_id is 'The walk; with page_no the page in daywalk.pages.';
comment on column daywalk.smart_events.page_no is 'The page within the walk.';
comment on column daywalk.smart_events."position" is 'Offset of the record within its window, as the source listed it.';
comment on column daywalk.smart_events.fetched_at is 'When the page arrived.';

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

comment on table daywalk.walks is 'A walk is one pass over a window from its first page to its proven end.';
comment on column daywalk.walks.walk_id is 'Key.';
comment on column daywalk.walks.window_id is 'The window.';
comment on column daywalk.walks.number is '1, 2, 3 … within the window.';
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
comment on column daywalk.walks.outcome is 'proven: may be published; unproven: at its end, but the order looked unstable; shifted: the list moved under it; failed; null: in progress.';
comment on column daywalk.walks.reason is 'Why it is not proven.';
comment on column daywalk.walks.proof is 'What shows that it saw the whole window, with the numbers.';
comment on column daywalk.walks.started_at is 'When it began.';
comment on column daywalk.walks.finished_at is 'When it ended.';

comment on table daywalk.windows is 'A window is a span of the source''s wall-clock time, normally one day, that is walked as a unit.';
comment on column daywalk.windows.window_id is 'Key.';
comment on column daywalk.windows.stream_id is 'The stream.';
comment on column daywalk.windows.day is 'The day of the source''s calendar that the window belongs to.';
comment on column daywalk.windows.from_time is 'First second, inclusive, wall-clock time of the source.';
comment on column daywalk.windows.to_time is 'Last second, inclusive, wall-clock time of the source.';
comment on column daywalk.windows.split_from is 'The window that this one is a part of, where that one was split.';
comment on column daywalk.windows.purpose is 'Why it is walked: scheduled goes before recheck before backfill.';
comment on column daywalk.windows.state is 'pending: to be walked; complete: proven whole; failed: see last_error, walked again at due_at; split: its parts stand for it.';
comment on column daywalk.windows.due_at is 'When it is to be walked next; null: not until asked.';
comment on column daywalk.windows.current_walk is 'The walk in progress.';
comment on column daywalk.windows.published_walk is 'The proven walk that the views show.';
comment on column daywalk.windows.lease_id is 'Random id of the current claim; every write of a worker must name it.';
comment on column daywalk.windows.lease_owner is 'Host and process of the worker, for people.';
comment on column daywalk.windows.lease_number is 'How often the window was claimed, for people; the fence is lease_id.';
comment on column daywalk.windows.lease_expires is 'From then on, by the database''s clock, another worker may claim the window.';
comment on column daywalk.windows.attempts is 'Claims since the last page was stored.';
comment on column daywalk.windows.failures is 'Failures since the window was last complete.';
comment on column daywalk.windows.last_error is 'Why it last failed.';
comment on column daywalk.windows.last_failed_at is 'When it last failed.';
comment on column daywalk.windows.created_at is 'When it was planned.';
comment on column daywalk.windows.completed_at is 'When its published walk was published.';
