/** Streams in the database: registered by name, and never continued with other filters. */
import { createHash } from 'node:crypto';
import { SettingsError } from '../errors.ts';
import { type Day, type Filters, onlySet, type Stream } from '../model.ts';
import { StatementError } from './connection/sqlstate.ts';
import type { Database } from './database.ts';
import { isPruned, onceClosed } from './shown.ts';

/** When the days of a source begin and end, and from when on they are exported. */
export interface StreamCalendar {
  /** First day of the schedule; null: keep the remembered one, or `firstSince` for a new stream. */
  readonly since: Day | null;
  /** The first day for a stream that has none yet. */
  readonly firstSince: Day;
  readonly timeZone: string;
  readonly settleMs: number;
}

/** A stream as the database knows it. */
export interface RegisteredStream {
  readonly streamId: number;
  readonly name: string;
  readonly since: Day;
  /** The last day of the schedule; null: it goes on. */
  readonly until: Day | null;
}

/** Filters without the unset ones, in the order of their names: equal filters give equal text. */
export function canonicalFilters(filters: Filters): Filters {
  const entries = Object.entries(onlySet(filters));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** SHA-256, hexadecimal, of what a stream asks for. */
export function fingerprint(stream: Stream): string {
  const asked = JSON.stringify([stream.resource, canonicalFilters(stream.filters)]);
  return createHash('sha256').update(asked).digest('hex');
}

interface KnownContent extends Pick<Stream, 'name' | 'resource' | 'filters'> {
  readonly fingerprint: string;
}

/**
 * Makes the streams known, or checks that they are still those that are known (I9). Returns them in the order given.
 * @throws {SettingsError} when resource or filters of one differ from those stored under its name; as {@link requireZone}.
 */
export async function registerStreams(
  database: Database,
  streams: readonly Stream[],
  calendar: StreamCalendar,
): Promise<RegisteredStream[]> {
  await requireZone(database, calendar.timeZone);
  const rows = await putStreams(database, streams, calendar);
  if (rows.length < streams.length) await requireUnchanged(database, streams);
  await bringBackSightings(database, rows);
  await showFiltered(database, streams);
  await identifyAnew(database);
  return streams.map((stream) => {
    const row = rows.find(({ name }) => name === stream.name);
    if (row === undefined) throw new Error('an upsert returned no row');
    return row;
  });
}

/** Writes the streams, and what follows from another calendar. @returns those whose resource and filters are as they were, or new. */
function putStreams(
  database: Database,
  streams: readonly Stream[],
  { since, firstSince, timeZone, settleMs }: StreamCalendar,
): Promise<RegisteredStream[]> {
  return database.persist<RegisteredStream>(
    // By name, so that two processes never wait for each other's rows. The statement sees streams as they were before it.
    `with registered as (
     insert into daywalk.streams as s (name, resource, filters, fingerprint, since, until, time_zone, settle, id_path, time_path, time_format)
     select name, resource, filters, fingerprint, coalesce($2::date, $3::date), until, $4,
            make_interval(secs => $5::double precision / 1000), id_path, time_path, time_format
       from jsonb_to_recordset($1::jsonb) as given (name text, resource text, filters jsonb, fingerprint text, until date,
                                                    id_path text[], time_path text[], time_format text[])
      order by name
     on conflict (name) do update
       set since = coalesce($2::date, s.since), until = excluded.until, time_zone = excluded.time_zone, settle = excluded.settle,
           id_path = excluded.id_path, time_path = excluded.time_path, time_format = excluded.time_format,
           -- An instant that is still to come was written while the clock of the database was ahead.
           accepted_at = case when s.accepted_at > clock_timestamp() then clock_timestamp() else s.accepted_at end,
           distrusted_since = case when s.distrusted_since > clock_timestamp() then clock_timestamp() else s.distrusted_since end,
           known_at = case when s.known_at > clock_timestamp() then clock_timestamp() else s.known_at end
     where s.fingerprint = excluded.fingerprint
     returning stream_id, name, resource, since, until, id_path, time_zone, settle
     ), learned_then as (
       update daywalk.learned l set learned_at = clock_timestamp()
         from registered r where l.stream_id = r.stream_id and l.learned_at > clock_timestamp()
     ), not_over_then as (
       -- By the zone of now their day was not over when they were proven; or, by the calendar of now, it is not closed yet, or is already.
       -- A worker that holds one goes by the calendar before, so its lease ends.
       update daywalk.windows w
          set rewalk = w.rewalk or w.state = 'complete', due_at = ${onceClosed('r')},
              state = case when w.state <> 'complete' then w.state when w.split_by is null then 'pending' else 'split' end,
              lease_id = null, lease_owner = null, lease_expires = null
         from registered r join daywalk.streams before on before.stream_id = r.stream_id
        where (before.time_zone, before.settle) <> (r.time_zone, r.settle) and w.stream_id = r.stream_id
          and case when w.state = 'complete'
                   then before.time_zone <> r.time_zone and w.proven_at < daywalk.closed_at(w.day, r.time_zone, interval '0') and not ${isPruned('w.stream_id', 'w.day')}
                   else w.due_at is not null
                    and clock_timestamp() < greatest(daywalk.closed_at(w.day, before.time_zone, before.settle), daywalk.closed_at(w.day, r.time_zone, r.settle)) end
     ), otherwise_identified as (
       update daywalk.days d set unshared = true
         from registered r join daywalk.streams before on before.stream_id = r.stream_id join daywalk.streams s on s.resource = r.resource
        where before.id_path is distinct from r.id_path and d.stream_id = s.stream_id
     )
     select r.stream_id as "streamId", r.name, r.since, r.until
       from registered r left join daywalk.streams before on before.stream_id = r.stream_id
      cross join lateral daywalk.retime_tables(case when before.time_zone <> r.time_zone then r.stream_id end)`,
    [JSON.stringify(streams.map(givenOf)), since, firstSince, timeZone, settleMs],
  );
}

/** An instant that is still to come would say for good that the source keeps its days for longer than it does. */
async function bringBackSightings(
  database: Database,
  streams: readonly RegisteredStream[],
): Promise<void> {
  await database.persist(
    `update daywalk.windows set shown_at = clock_timestamp()
      where stream_id = any ($1::integer[]) and shown_at > clock_timestamp()`,
    [streams.map(({ streamId }) => streamId)],
  );
}

/** Streams with filters have a view of their own. */
async function showFiltered(database: Database, streams: readonly Stream[]): Promise<void> {
  const filtered = streams.filter(
    ({ filters }) => Object.keys(canonicalFilters(filters)).length > 0,
  );
  if (filtered.length === 0) return;
  await database.persist(
    'select daywalk.show_stream(name) from unnest($1::text[]) as given (name)',
    [filtered.map(({ name }) => name)],
  );
}

/** Finds out anew what several streams show of a day, where they identify its records otherwise now. */
async function identifyAnew(database: Database): Promise<void> {
  const changed = await database.persist<{ streamId: number }>(
    'select distinct stream_id as "streamId" from daywalk.days where unshared order by 1',
  );
  // Under no deadline, as all that is stored of a stream may be read for it; and in no transaction of ours, so that what a stopped process
  // leaves behind is committed all the same.
  for (const { streamId } of changed)
    await database.retry(() =>
      database.withClient((client) => client.query('select daywalk.identify_anew($1)', [streamId])),
    );
  while (changed.length > 0 && (await shareNext(database)));
}

/** @returns whether there was a day left. */
async function shareNext(database: Database): Promise<boolean> {
  const rows = await database.persist(
    `select daywalk.share_day(s.resource, d.day)
       from (select stream_id, day from daywalk.days where unshared order by day limit 1) as d
       join daywalk.streams s on s.stream_id = d.stream_id`,
  );
  return rows.length > 0;
}

/** SQLSTATE of a parameter that has no such value. */
const INVALID_VALUE = '22023';

/**
 * Checks that Postgres, whose list may be older than that of Node.js, knows a time zone: a stream of another one could not be asked for
 * its days, nor be given another one.
 * @throws {SettingsError} where it does not.
 */
export async function requireZone(database: Database, timeZone: string): Promise<void> {
  await database.persist('select clock_timestamp() at time zone $1', [timeZone]).catch((error) => {
    if (!(error instanceof StatementError) || error.sqlstate !== INVALID_VALUE) throw error;
    throw new SettingsError(`Postgres does not know the time zone ${timeZone}`, {
      hint: 'Set timezone to another name of it, such as an older one, or bring the time zones of the database server up to date.',
    });
  });
}

/** A stream as the columns of its row. */
const givenOf = (stream: Stream) => ({
  name: stream.name,
  resource: stream.resource,
  filters: canonicalFilters(stream.filters),
  fingerprint: fingerprint(stream),
  until: stream.until,
  id_path: stream.idPath,
  time_path: stream.timePath,
  time_format: stream.timeFormat && [stream.timeFormat.pattern, stream.timeFormat.replacement],
});

/**
 * Checks that the streams are still those that are known by their names (I9); changes nothing.
 * @throws {SettingsError} as {@link registerStreams}.
 */
export async function requireUnchanged(database: Database, streams: readonly Stream[]) {
  const known = await database.persist<KnownContent>(
    `select name, fingerprint, resource, filters from daywalk.streams where name = any ($1::text[])`,
    [streams.map(({ name }) => name)],
  );
  for (const stream of streams) {
    const row = known.find(({ name }) => name === stream.name);
    if (row !== undefined && row.fingerprint !== fingerprint(stream))
      throw changedStream(stream, row);
  }
}

function changedStream({ name, resource, filters }: Stream, known: KnownContent): SettingsError {
  return new SettingsError(
    `stream ${name} asks for ${describe(resource, canonicalFilters(filters))}, but what is stored under this name was asked for with ${describe(known.resource, known.filters)}`,
    {
      hint: `Give the changed stream a new name in daywalk.yaml (streams: ${name}-2: …), or put its resource and filters back.`,
    },
  );
}

function describe(resource: string, filters: Filters): string {
  const text = Object.entries(filters).map(([name, value]) => `${name}=${value}`);
  return `${resource}, ${text.length === 0 ? 'no filters' : `filters ${text.join(', ')}`}`;
}

/** A stream as it was registered, with the calendar that it has. */
export type KnownStream = RegisteredStream & Pick<StreamCalendar, 'timeZone' | 'settleMs'>;

/** The names of all streams that this database ever knew, whatever the settings define now. */
export function readStreamNames(database: Database): Promise<string[]> {
  return database.value(
    `select coalesce(jsonb_agg(name order by name), '[]') from daywalk.streams`,
  );
}

/** The streams of these names that are registered. */
export function readStreams(database: Database, names: readonly string[]): Promise<KnownStream[]> {
  return database.persist(
    `select stream_id as "streamId", name, since, until, time_zone as "timeZone",
            extract(epoch from settle)::double precision * 1000 as "settleMs"
       from daywalk.streams where name = any ($1::text[])`,
    [names],
  );
}
