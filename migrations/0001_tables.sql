-- The tables, each with what its columns mean, for the people who query. Words: src/model.ts. Wall-clock times are those
-- of the source, without a zone.

comment on schema daywalk is 'Pages of an Event Query API, one day window at a time. Query the views events, smart_events, coverage and gaps; the tables may change.';

create table daywalk.streams (
  stream_id   integer generated always as identity primary key,
  name        text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  resource    text not null check (resource in ('events', 'smart-event')),
  filters     jsonb not null,
  fingerprint text not null,
  since       date not null,
  until       date,
  time_zone   text not null,
  settle      interval not null check (settle >= interval '0'),
  id_path     text[],
  time_path   text[],
  time_format text[],
  accepted_at timestamptz,
  distrusted_since timestamptz,
  known_at timestamptz
);
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

create table daywalk.contracts (
  stream_id     integer primary key references daywalk.streams,
  hints         text not null,
  records_path  text[] not null,
  total_path    text[],
  relation_path text[],
  total_first   boolean not null default true,
  total_later   boolean,
  learned_at    timestamptz not null default clock_timestamp()
);
comment on table daywalk.contracts is 'How the answers of a stream look: where list and total are. It changes by a setting or by daywalk accept; answers only add a total where those before told none.';
comment on column daywalk.contracts.hints is 'The settings that it was learned under; under others it is learned anew.';
comment on column daywalk.contracts.total_first is 'First pages with records tell the total; false: those that it was learned from did not.';
comment on column daywalk.contracts.total_later is 'Pages after the first tell the total, too; null: none with records has come yet.';
comment on column daywalk.contracts.learned_at is 'When it was learned.';

create table daywalk.frames (
  stream_id    integer not null references daywalk.streams,
  signature    text not null,
  example      text not null,
  first_seen   timestamptz not null default clock_timestamp(),
  confirmed_at timestamptz,
  primary key (stream_id, signature)
);
comment on table daywalk.frames is 'Frames of answers without records: what an empty answer of the source looks like.';
comment on column daywalk.frames.signature is 'Paths, types and texts of the frame, without what varies.';
comment on column daywalk.frames.example is 'The beginning of one, for people.';
comment on column daywalk.frames.first_seen is 'When it first came.';
comment on column daywalk.frames.confirmed_at is 'When a later look at its window confirmed it; null: it is not known to mean an empty window.';

create table daywalk.learned (
  stream_id  integer not null references daywalk.streams,
  fact       text not null,
  value      jsonb not null,
  evidence   text not null,
  learned_at timestamptz not null default clock_timestamp(),
  kept       boolean not null default false,
  primary key (stream_id, fact)
);
comment on table daywalk.learned is 'What was learned about the API in a stream, with its evidence; it expires, but for what only has more asked for.';
comment on column daywalk.learned.fact is 'What: src/store/evidence/learned.ts lists them.';
comment on column daywalk.learned.value is 'Its value.';
comment on column daywalk.learned.evidence is 'What showed it.';
comment on column daywalk.learned.learned_at is 'When; old facts are learned again.';
comment on column daywalk.learned.kept is 'It does not expire: where it is wrong by now, more is asked for than need be.';

create table daywalk.windows (
  window_id        bigint generated always as identity primary key,
  stream_id        integer not null references daywalk.streams,
  kind             text not null check (kind in ('day', 'part', 'cut')),
  day              date not null,
  from_time        timestamp not null,
  to_time          timestamp not null,
  level_from       integer,
  level_to         integer,
  split_from       bigint references daywalk.windows,
  midnight         date generated always as (case when kind = 'cut' and split_from is null then from_time::date end) stored,
  split_by         text check (split_by in ('time', 'level')),
  split_reason     text,
  split_total      bigint,
  split_calibrated boolean not null default false,
  purpose          text not null check (purpose in ('scheduled', 'look', 'backfill')),
  state            text not null default 'pending' check (state in ('pending', 'complete', 'failed', 'split', 'replaced')),
  due_at           timestamptz default clock_timestamp(),
  current_walk     bigint,
  rewalk           boolean not null default false,
  proof            jsonb,
  looks            integer not null default 0,
  judged           integer not null default 0,
  lease_id         uuid,
  lease_owner      text,
  lease_number     integer not null default 0,
  lease_expires    timestamptz,
  attempts         integer not null default 0,
  failures         integer not null default 0,
  last_error       text,
  last_failed_at   timestamptz,
  created_at       timestamptz not null default clock_timestamp(),
  proven_at        timestamptz,
  looked_at        timestamptz,
  shown_at         timestamptz,
  check (from_time <= to_time),
  check (day in (from_time::date, to_time::date)),
  check ((lease_id is null) = (lease_expires is null)),
  check (state <> 'split' or split_by is not null),
  check (state <> 'complete' or (proof is not null and proven_at is not null)),
  check (state <> 'replaced' or (split_from is not null and due_at is null and lease_id is null)),
  check (case kind when 'day' then split_from is null when 'part' then split_from is not null else true end)
-- Planning counts days in an index; of rows on blocks that were written since the last vacuum it reads the table as well.
) with (autovacuum_vacuum_scale_factor = 0.02);
-- One window for each span; a window that was split stays, so that planning cannot bring it back.
create unique index windows_span
  on daywalk.windows (kind, stream_id, from_time, to_time, coalesce(level_from, -1), coalesce(level_to, -1));
-- A claim reads this in order: the names of the purposes fall in the order of their urgency.
create index windows_due on daywalk.windows (purpose desc, day, (kind = 'cut'), from_time) where due_at is not null;
create index windows_day on daywalk.windows (stream_id, day);
-- What tells which days are there without reading one of them: a stream with as many of these as the calendar has days
-- lacks none.
create unique index windows_whole_day on daywalk.windows (stream_id, day) where kind = 'day';
create unique index windows_midnight on daywalk.windows (stream_id, midnight) where midnight is not null;
create index windows_split on daywalk.windows (stream_id, day) where split_by is not null;
create index windows_error on daywalk.windows (stream_id, day) where last_error is not null;
create index windows_lease on daywalk.windows (lease_id) where lease_id is not null;
create index windows_unfinished on daywalk.windows (stream_id, day) where state in ('pending', 'failed', 'split');
create index windows_parts on daywalk.windows (split_from) where split_from is not null;
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
comment on column daywalk.windows.shown_at is 'When the source was last seen to show records of it, as stored; its pages may be older than its proof.';

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
  removed_at timestamptz,
  twins_before bigint[],
  twins_behind bigint[]
);
create unique index prunings_day on daywalk.prunings (stream_id, day) where what = 'day';
create index prunings_open on daywalk.prunings (pruning_id) where removed_at is null;
comment on table daywalk.prunings is 'What was pruned: a day of a stream, or the superseded walks of a day.';
comment on column daywalk.prunings.pruning_id is 'Key.';
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

-- The days that moved to a folder or bucket; the days among the prunings that have no row here are gone for good.
create table daywalk.tiered_days (
  stream_id      integer not null references daywalk.streams,
  day            date not null,
  publication    uuid not null,
  place          text not null,
  pages_key      text not null,
  pages_bytes    bigint not null,
  pages_sha256   bytea not null check (octet_length(pages_sha256) = 32),
  events_key     text not null,
  events_bytes   bigint not null,
  events_sha256  bytea not null check (octet_length(events_sha256) = 32),
  records        bigint not null,
  records_sha256 bytea not null check (octet_length(records_sha256) = 32),
  twins_before   bigint[],
  twins_behind   bigint[],
  primary key (stream_id, day)
);
comment on table daywalk.tiered_days is 'The days that moved to a folder or bucket: their pages are in an object there, and their records in a table that other engines read (docs/tier.md).';
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

create table daywalk.walks (
  walk_id       bigint generated always as identity primary key,
  window_id     bigint not null references daywalk.windows,
  number        integer not null,
  role          text not null default 'whole' check (role in ('whole', 'half', 'across', 'before', 'after')),
  day           date not null,
  from_time     timestamp not null,
  to_time       timestamp not null,
  level_from    integer,
  level_to      integer,
  page_length   integer not null check (page_length > 0),
  records_path  text[],
  total_path    text[],
  relation_path text[],
  ignored       text[] not null default '{}',
  id_path       text[],
  next_start    bigint not null default 0,
  pages         integer not null default 0,
  records       bigint not null generated always as (next_start) stored,
  bytes         bigint not null default 0,
  requests      integer not null default 0,
  first_total   bigint,
  last_total    bigint,
  claims        jsonb not null default '[]',
  outcome       text check (outcome in ('proven', 'ended', 'shifted', 'failed')),
  reason        text,
  proof         jsonb,
  shown         text not null default 'no' check (shown in ('no', 'whole', 'part')),
  shared        boolean not null default false,
  started_at    timestamptz not null default clock_timestamp(),
  finished_at   timestamptz,
  pruning       bigint references daywalk.prunings,
  unique (window_id, number),
  check (from_time <= to_time),
  check ((outcome is null) = (finished_at is null)),
  check (outcome <> 'proven' or proof is not null),
  check (shown = 'no' or outcome = 'proven')
);
alter table daywalk.windows add foreign key (current_walk) references daywalk.walks (walk_id);
create index walks_shown on daywalk.walks (window_id) where shown <> 'no';
comment on table daywalk.walks is 'A walk is one pass over a window, or over a span near a cut, from its first page to its end.';
comment on column daywalk.walks.walk_id is 'Key.';
comment on column daywalk.walks.window_id is 'The window.';
comment on column daywalk.walks.number is '1, 2, 3 … within the window.';
comment on column daywalk.walks.role is 'whole; half: of the window, walked to compare it with the whole; of a cut: across it, before it, after it.';
comment on column daywalk.walks.from_time is 'First second that was asked for.';
comment on column daywalk.walks.to_time is 'Last second that was asked for.';
comment on column daywalk.walks.level_from is 'Lowest rule level that was asked for.';
comment on column daywalk.walks.level_to is 'Highest rule level that was asked for.';
comment on column daywalk.walks.page_length is 'How many records each page asks for.';
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
comment on column daywalk.walks.finished_at is 'When it ended.';
comment on column daywalk.walks.pruning is 'Its pages were pruned, or are just being removed; null: they are there.';

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
  total_missing boolean not null default false,
  more          boolean not null default false,
  body          jsonb not null,
  bytes         bytea,
  changes       jsonb,
  record_hashes bigint[] not null,
  id_hashes     bigint[],
  sha256        bytea not null check (octet_length(sha256) = 32),
  byte_count    integer not null,
  fetched_at    timestamptz not null,
  duration_ms   integer not null,
  primary key (walk_id, page_no, day),
  check (cardinality(record_hashes) = records),
  check (cardinality(id_hashes) = records)
) partition by range (day);
comment on table daywalk.pages is 'A page is one response body, stored as it came; one partition a month.';
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

create table daywalk.marks (
  walk_id    bigint not null references daywalk.walks,
  page_no    integer not null,
  position   integer not null check (position > 0),
  day        date not null,
  state      text not null check (state in ('shown', 'missing', 'gone', 'hidden', 'old')),
  since      timestamptz not null,
  first_seen timestamptz,
  revision   integer not null default 1 check (revision > 0),
  hidden_by  bigint references daywalk.windows,
  stood_on   date,
  seen       boolean not null generated always as (state in ('shown', 'missing', 'gone') and hidden_by is null) stored,
  primary key (walk_id, page_no, position)
);
create index marks_day on daywalk.marks (day);
create index marks_gone on daywalk.marks (walk_id) where state = 'gone';
create index marks_hidden on daywalk.marks (hidden_by) where hidden_by is not null;
create index marks_stood_on on daywalk.marks (day) where stood_on is not null;
comment on table daywalk.marks is 'What is to be said of single records of walks that are shown. Most records have none.';
comment on column daywalk.marks.position is 'Position among the records of the page, from 1.';
comment on column daywalk.marks.state is 'shown; missing: shown, one later walk lacked it; gone: shown, a second walk an hour or more later lacked it too; hidden: its window shows it more often than there are such; old: a newer version of it is shown.';
comment on column daywalk.marks.since is 'Since when that is so; of a gone record since when it is missing.';
comment on column daywalk.marks.first_seen is 'When the first version of it was fetched; null: it is the first.';
comment on column daywalk.marks.revision is '1, and one more for each newer version.';
comment on column daywalk.marks.hidden_by is 'The cut that hides it, whatever its state, as long as the windows beside it hold the record more often than there are such.';
comment on column daywalk.marks.stood_on is 'The day under which the record was shown until that was pruned: what keeps that day has it there. null: none.';
comment on column daywalk.marks.seen is 'Readers see it.';

create table daywalk.shared_records (
  walk_id bigint not null references daywalk.walks,
  page_no integer not null,
  place   integer not null,
  primary key (walk_id, page_no, place)
);
comment on table daywalk.shared_records is 'Records that another stream of the same resource shows, too: the views of the resource leave them out here.';

-- What is shown of a day, added up when it changes, so that what is asked of many days need not read every walk.
create table daywalk.days (
  stream_id     integer not null references daywalk.streams,
  day           date not null,
  records       bigint not null,
  gone          bigint not null,
  lost          bigint not null,
  pages         bigint not null,
  bytes         bigint not null,
  proof         text,
  revision      integer not null,
  unsealed      boolean not null default true,
  unshared      boolean not null default false,
  publication   uuid not null default gen_random_uuid(),
  retired_since timestamptz,
  restored_at   timestamptz,
  primary key (stream_id, day)
);
create index days_unsealed on daywalk.days (stream_id, day) where unsealed;
create index days_unshared on daywalk.days (day) where unshared;
create index days_gone on daywalk.days (stream_id, day) where gone > 0;
comment on table daywalk.days is 'What is shown of a day, added up whenever it changes.';
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

create table daywalk.publications (
  stream_id    integer not null references daywalk.streams,
  seq          bigint not null check (seq > 0),
  key          uuid not null unique default gen_random_uuid(),
  day          date not null,
  revision     integer not null,
  records      bigint not null,
  appeared     bigint not null,
  gone         bigint not null,
  lost         bigint not null,
  published_at timestamptz not null,
  primary key (stream_id, seq)
);
create index publications_day on daywalk.publications (stream_id, day, published_at);
comment on table daywalk.publications is 'One row whenever what is shown of a day changes, numbered without a gap in each stream, so that whatever follows the records can keep its place.';
comment on column daywalk.publications.seq is '1, 2, 3 … within the stream.';
comment on column daywalk.publications.key is 'Random: tells this history from that of a database that was put back from a backup.';
comment on column daywalk.publications.revision is '1, 2, 3 … within the day.';
comment on column daywalk.publications.records is 'Records that are shown from then on; 0 of a day that was pruned or moved.';
comment on column daywalk.publications.gone is 'Records that are gone since this publication.';
comment on column daywalk.publications.lost is 'Those on balance: less the records that appeared in the walk that first lacked them.';

create table daywalk.runs (
  run_id            bigint generated always as identity primary key,
  key               uuid not null unique,
  trigger           text not null check (trigger in ('schedule', 'hand', 'backfill')),
  owner             text not null,
  from_day          date,
  to_day            date,
  windows_complete  integer not null default 0,
  windows_failed    integer not null default 0,
  windows_unchanged integer not null default 0,
  records           bigint not null default 0,
  bytes             bigint not null default 0,
  started_at        timestamptz not null default clock_timestamp(),
  finished_at       timestamptz,
  outcome           text check (outcome in ('done', 'gaps', 'refused', 'unavailable', 'interrupted', 'settings', 'unexpected')),
  error             text,
  check ((outcome is null) = (finished_at is null))
);
create index runs_started on daywalk.runs (started_at);
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
comment on column daywalk.runs.finished_at is 'When it ended; null: in progress, or killed.';
comment on column daywalk.runs.outcome is 'done, gaps, refused, unavailable, interrupted, settings or unexpected.';
comment on column daywalk.runs.error is 'The error that ended it.';

-- One row for each API, by the clock of the database. A worker moves next_slot on by as many slots as it takes, in one statement.
create table daywalk.rates (
  origin    text primary key,
  next_slot timestamptz not null
) with (fillfactor = 50);
comment on table daywalk.rates is 'When the next request to an API may go, where the setting rate is set; the workers take slots from here.';
comment on column daywalk.rates.next_slot is 'The first instant that no worker has taken yet; it may be past.';

create table daywalk.refused_keys (
  base_url   text not null,
  salt       uuid not null,
  digest     bytea not null,
  said       text not null,
  since      timestamptz not null default clock_timestamp(),
  refused_at timestamptz not null default clock_timestamp(),
  primary key (base_url, digest)
);
comment on table daywalk.refused_keys is 'Keys that an API refused, so that no worker sends them again within the hour; the row of a key goes when it is taken.';
comment on column daywalk.refused_keys.base_url is 'The base URL of the API, as the settings say it: what stands behind another prefix of its path is asked.';
comment on column daywalk.refused_keys.salt is 'Random.';
comment on column daywalk.refused_keys.digest is 'scrypt of the key with the salt, by which the same key is known again; the key is nowhere.';
comment on column daywalk.refused_keys.said is 'What the API answered.';
comment on column daywalk.refused_keys.since is 'When this key was refused first.';
comment on column daywalk.refused_keys.refused_at is 'When it was refused last.';

create table daywalk.alarms (
  streams       text[] primary key,
  failing       boolean not null,
  problem       text,
  failing_since timestamptz,
  told_failing  boolean not null default false,
  told_at       timestamptz,
  telling_until timestamptz
);
comment on table daywalk.alarms is 'Whether the export of a set of streams fails, and what the webhook was last told about it.';
comment on column daywalk.alarms.streams is 'The streams of the settings, sorted.';
comment on column daywalk.alarms.failing is 'How the newest run found it.';
comment on column daywalk.alarms.problem is 'What was wrong then.';
comment on column daywalk.alarms.failing_since is 'When it began to fail the last time.';
comment on column daywalk.alarms.told_failing is 'What was last told: failing, or not.';
comment on column daywalk.alarms.told_at is 'When.';

create table daywalk.told_days (
  stream_id     integer primary key references daywalk.streams,
  entry         bigint not null,
  seq           bigint not null,
  telling_until timestamptz
);
comment on table daywalk.told_days is 'How far the webhook was told of days that became complete (webhook.day_proven), and of those that came to lack records.';
comment on column daywalk.told_days.entry is 'Up to which entry of the ledger of days that became complete; 0: of none.';
comment on column daywalk.told_days.seq is 'Up to which publication of days that came to lack records; 0: of none.';

-- What a column means that stands in more than one table or view, where no comment of its own says more.
create function daywalk.explain_columns(relation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
end $$;

-- lz4 compresses pages faster than pglz; a server built without it (see pg_settings) keeps the default.
do $$
begin
  if exists (select from pg_catalog.pg_settings where name = 'default_toast_compression' and 'lz4' = any (enumvals)) then
    alter table daywalk.pages alter column body set compression lz4;
    alter table daywalk.pages alter column bytes set compression lz4;
  end if;
end $$;

-- Makes the partition of a table for a month by itself, and attaches it: as one from the beginning it would wait for whoever reads the table,
-- for as long as a dump takes, and everybody else for it.
create function daywalk.make_month(of_table text, partition text, first_day date) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
end $$;

-- One partition a month of the day, made on demand. It is a function so that one plain statement makes it,
-- under a lock that ends with the statement, and so that a worker needs no right to create tables.
create function daywalk.ensure_partition(day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- It runs with the rights of its owner: whoever may call it could make any number of tables otherwise.
  if day < '1970-01-01' or day >= date_trunc('month', now()) + interval '2 months' then
    raise invalid_parameter_value using message = 'no page is stored of ' || day || ', which is no day from 1970 to the next month from now';
  end if;
  perform daywalk.make_month('pages', 'pages_' || to_char(day, 'YYYY_MM'), date_trunc('month', day)::date);
end $$;
