-- The tables. Words: src/model.ts. Wall-clock times are those of the source, without a zone.

create table daywalk.streams (
  stream_id   integer generated always as identity primary key,
  name        text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  resource    text not null check (resource in ('events', 'smart-event')),
  filters     jsonb not null,
  fingerprint text not null,
  since       date not null,
  time_zone   text not null,
  settle      interval not null check (settle >= interval '0'),
  created_at  timestamptz not null default clock_timestamp()
);

-- What was learned about the API, with its evidence.
create table daywalk.learned (
  stream_id  integer not null references daywalk.streams,
  fact       text not null check (fact in ('page_length', 'offset_cap', 'proven_size', 'totals')),
  value      bigint not null,
  evidence   text not null,
  learned_at timestamptz not null default clock_timestamp(),
  primary key (stream_id, fact)
);

create table daywalk.windows (
  window_id      bigint generated always as identity primary key,
  stream_id      integer not null references daywalk.streams,
  kind           text not null check (kind in ('day', 'seam', 'part')),
  day            date not null,
  from_time      timestamp not null,
  to_time        timestamp not null,
  level_from     integer,
  level_to       integer,
  split_from     bigint references daywalk.windows,
  split_by       text check (split_by in ('time', 'level')),
  split_reason   text,
  split_total    bigint,
  sums_checked   boolean not null default false,
  purpose        text not null check (purpose in ('scheduled', 'recheck', 'backfill')),
  state          text not null default 'pending' check (state in ('pending', 'complete', 'failed', 'split')),
  due_at         timestamptz default clock_timestamp(),
  current_walk   bigint,
  rewalk         boolean not null default false,
  lease_id       uuid,
  lease_owner    text,
  lease_number   integer not null default 0,
  lease_expires  timestamptz,
  attempts       integer not null default 0,
  failures       integer not null default 0,
  last_error     text,
  last_failed_at timestamptz,
  created_at     timestamptz not null default clock_timestamp(),
  completed_at   timestamptz,
  checked_at     timestamptz,
  check (from_time <= to_time),
  check (from_time::date = day),
  check ((lease_id is null) = (lease_expires is null)),
  check (state <> 'split' or (due_at is null and lease_id is null and split_by is not null)),
  check ((kind = 'part') = (split_from is not null))
);
-- One window for each span; a window that was split stays, so that planning cannot bring it back.
create unique index windows_span
  on daywalk.windows (stream_id, from_time, to_time, coalesce(level_from, -1), coalesce(level_to, -1));
-- A claim reads this in order: the names of the purposes fall in the order of their urgency.
create index windows_due on daywalk.windows (purpose desc, (kind = 'seam'), day, from_time) where due_at is not null;
create index windows_day on daywalk.windows (stream_id, day);
-- What tells which days are there without reading one of them: a stream with as many of these as the calendar has days
-- lacks none.
create unique index windows_whole_day on daywalk.windows (stream_id, day) where kind = 'day';
create index windows_split on daywalk.windows (stream_id, day) where state = 'split';
create index windows_error on daywalk.windows (stream_id, day) where last_error is not null;
create index windows_lease on daywalk.windows (lease_id) where lease_id is not null;
create index windows_unfinished on daywalk.windows (stream_id, day) where state in ('pending', 'failed');
create index windows_parts on daywalk.windows (split_from) where split_from is not null;

-- What was pruned: a day, or the superseded walks of a day (docs/decisions/0015-what-pruning-leaves.md).
create table daywalk.prunings (
  pruning_id bigint generated always as identity primary key,
  stream_id  integer not null references daywalk.streams,
  day        date not null,
  what       text not null check (what in ('day', 'superseded')),
  walks      bigint[] not null,
  pages      bigint not null,
  records    bigint not null,
  bytes      bigint not null,
  pruned_by  text not null default current_user,
  pruned_at  timestamptz not null default clock_timestamp(),
  removed_at timestamptz
);
create unique index prunings_day on daywalk.prunings (stream_id, day) where what = 'day';
create index prunings_open on daywalk.prunings (pruning_id) where removed_at is null;

create table daywalk.walks (
  walk_id       bigint generated always as identity primary key,
  window_id     bigint not null references daywalk.windows,
  number        integer not null,
  span          text not null default 'whole' check (span in ('whole', 'first half', 'second half', 'next day')),
  day           date not null,
  page_length   integer not null check (page_length > 0),
  records_path  text[],
  total_path    text[],
  relation_path text[],
  next_start    bigint not null default 0,
  pages         integer not null default 0,
  records       bigint not null generated always as (next_start) stored,
  bytes         bigint not null default 0,
  requests      integer not null default 0,
  first_total   bigint,
  last_total    bigint,
  outcome       text check (outcome in ('proven', 'ended', 'shifted', 'failed')),
  reason        text,
  proof         jsonb,
  published     boolean not null default false,
  started_at    timestamptz not null default clock_timestamp(),
  finished_at   timestamptz,
  pruning       bigint references daywalk.prunings,
  unique (window_id, number),
  check ((outcome is null) = (finished_at is null)),
  check (outcome <> 'proven' or proof is not null),
  check (not published or outcome = 'proven')
);
alter table daywalk.windows add foreign key (current_walk) references daywalk.walks (walk_id);
create index walks_published on daywalk.walks (window_id) where published;

create table daywalk.pages (
  walk_id       bigint not null references daywalk.walks,
  page_no       integer not null,
  day           date not null,
  start         bigint not null,
  length        integer not null,
  skip          integer not null default 0 check (skip in (0, 1)),
  records       integer not null check (records >= 0),
  total         bigint,
  relation      text,
  body          jsonb not null,
  bytes         bytea,
  changes       jsonb,
  record_hashes bigint[] not null,
  sha256        bytea not null check (octet_length(sha256) = 32),
  byte_count    integer not null,
  fetched_at    timestamptz not null,
  duration_ms   integer not null,
  primary key (walk_id, page_no, day),
  check (cardinality(record_hashes) = records)
) partition by range (day);

-- Records that another published walk shows already: found once, when a walk is published.
create table daywalk.overlaps (
  walk_id   bigint not null references daywalk.walks,
  page_no   integer not null,
  positions integer[] not null,
  primary key (walk_id, page_no)
);

-- What a later walk of a window found to be different from the walk that was published before it.
create table daywalk.differences (
  window_id bigint not null references daywalk.windows,
  walk_id   bigint not null references daywalk.walks,
  found_at  timestamptz not null default clock_timestamp(),
  after     interval not null,
  appeared  bigint not null,
  vanished  bigint not null,
  primary key (walk_id)
);
create table daywalk.vanished (
  found_by bigint not null references daywalk.walks,
  walk_id  bigint not null references daywalk.walks,
  page_no  integer not null,
  position integer not null,
  primary key (found_by, walk_id, page_no, position)
);

-- What the published walks of a day hold, added up when they are published, so that what is asked of many days (the
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

create table daywalk.runs (
  run_id           bigint generated always as identity primary key,
  key              uuid not null unique,
  trigger          text not null check (trigger in ('schedule', 'hand', 'backfill')),
  owner            text not null,
  from_day         date,
  to_day           date,
  windows_due      integer not null default 0,
  windows_complete integer not null default 0,
  windows_failed   integer not null default 0,
  windows_split    integer not null default 0,
  windows_unchanged integer not null default 0,
  pages            bigint not null default 0,
  records          bigint not null default 0,
  bytes            bigint not null default 0,
  started_at       timestamptz not null default clock_timestamp(),
  finished_at      timestamptz,
  outcome          text check (outcome in ('done', 'gaps', 'refused', 'unavailable', 'interrupted', 'settings', 'unexpected')),
  error            text,
  check ((outcome is null) = (finished_at is null))
);
create index runs_started on daywalk.runs (started_at);

-- The budget of requests that the workers of this database share (setting rate): one row for each API, by the clock of
-- the database. A worker moves next_slot on by as many slots as it takes, in one statement.
create table daywalk.rates (
  origin    text primary key,
  next_slot timestamptz not null
) with (fillfactor = 50);

-- What was last told to people about the export, so that a restart or another worker does not tell it again.
create table daywalk.alarms (
  streams       text[] primary key,
  failing       boolean not null,
  problem       text,
  failing_since timestamptz,
  told_failing  boolean not null default false,
  told_at       timestamptz,
  telling_until timestamptz
);

-- lz4 compresses pages faster than pglz; a server built without it (see pg_settings) keeps the default.
do $$
begin
  if exists (select from pg_settings where name = 'default_toast_compression' and 'lz4' = any (enumvals)) then
    alter table daywalk.pages alter column body set compression lz4;
    alter table daywalk.pages alter column bytes set compression lz4;
  end if;
end $$;

-- One partition a month of the day, made on demand. It is a function so that one plain statement makes it,
-- under a lock that ends with the statement, and so that a worker needs no right to create tables.
create function daywalk.ensure_partition(day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  first_day date := date_trunc('month', day)::date;
  partition text := 'pages_' || to_char(day, 'YYYY_MM');
begin
  if to_regclass('daywalk.' || partition) is null then
    perform pg_advisory_xact_lock(hashtext('daywalk.ensure_partition'));
    execute format('create table if not exists daywalk.%I partition of daywalk.pages for values from (%L) to (%L)',
                   partition, first_day, (first_day + interval '1 month')::date);
  end if;
end $$;
