/** Days in the database: what their windows and published walks add up to, day by day and in all. */
import type { Day, Resource } from '../model.ts';
import type { Database } from './database.ts';

/** A stream as it was registered, with the calendar that it has. */
export interface KnownStream {
  readonly streamId: number;
  readonly name: string;
  readonly resource: Resource;
  readonly since: Day;
  readonly timeZone: string;
  readonly settleMs: number;
}

/** The streams of these names that are registered. */
export async function readStreams(
  database: Database,
  names: readonly string[],
): Promise<KnownStream[]> {
  const rows = await database.persist<{
    stream_id: number;
    name: string;
    resource: Resource;
    since: string;
    time_zone: string;
    settle_ms: number;
  }>(
    `select stream_id, name, resource, since, time_zone,
            extract(epoch from settle)::double precision * 1000 as settle_ms
       from daywalk.streams where name = any ($1::text[])`,
    [names],
  );
  return rows.map((row) => ({
    streamId: row.stream_id,
    name: row.name,
    resource: row.resource,
    since: row.since,
    timeZone: row.time_zone,
    settleMs: row.settle_ms,
  }));
}

/** A day that has windows; those that were split do not count, their parts do. */
export interface KnownDay {
  readonly streamId: number;
  readonly day: Day;
  readonly windows: number;
  readonly completeWindows: number;
  /** Whether any window failed. */
  readonly failed: boolean;
  /** Whether a worker holds any window now. */
  readonly running: boolean;
  /** Whether it was complete and is not kept any more. */
  readonly pruned: boolean;
  /** Records, pages and bytes that readers see. */
  readonly records: number;
  readonly pages: number;
  readonly bytes: number;
  /** When the day is walked or looked at next; null: nothing is planned. */
  readonly dueAt: Date | null;
  /** The newest error of its windows. */
  readonly lastError: string | null;
}

/** The days of the inclusive range that have windows, by stream and day. */
export async function readKnownDays(
  database: Database,
  streamIds: readonly number[],
  range: { readonly from: Day; readonly to: Day },
): Promise<KnownDay[]> {
  const rows = await database.persist<{
    stream_id: number;
    day: string;
    windows: number;
    complete_windows: number;
    failed: boolean;
    running: boolean;
    pruned: boolean;
    records: number;
    pages: number;
    bytes: number;
    due_at: Date | null;
    last_error: string | null;
  }>(
    `with parts as (
       select stream_id, day,
              count(*)::integer as windows,
              (count(*) filter (where state = 'complete'))::integer as complete_windows,
              bool_or(state = 'failed') as failed,
              coalesce(bool_or(lease_expires > clock_timestamp()), false) as running,
              min(due_at) as due_at,
              (array_agg(last_error order by last_failed_at desc) filter (where last_error is not null))[1] as last_error
         from daywalk.windows
        where stream_id = any ($1::integer[]) and day between $2::date and $3::date and state <> 'split'
        group by stream_id, day
     )
     select p.stream_id, p.day, p.windows, p.complete_windows, p.failed, p.running, p.due_at, p.last_error,
            exists (select from daywalk.prunings g
                     where g.stream_id = p.stream_id and g.day = p.day and g.what = 'day') as pruned,
            coalesce(s.records, 0) as records, coalesce(s.pages, 0) as pages, coalesce(s.bytes, 0) as bytes
       from parts p left join daywalk.days s on s.stream_id = p.stream_id and s.day = p.day
      order by p.stream_id, p.day`,
    [streamIds, range.from, range.to],
  );
  return rows.map((row) => ({
    streamId: row.stream_id,
    day: row.day,
    windows: row.windows,
    completeWindows: row.complete_windows,
    failed: row.failed,
    running: row.running,
    pruned: row.pruned,
    records: row.records,
    pages: row.pages,
    bytes: row.bytes,
    dueAt: row.due_at,
    lastError: row.last_error,
  }));
}

/** What all days of a stream add up to. */
export interface StreamTotals {
  readonly streamId: number;
  /** The oldest day that has windows. */
  readonly firstDay: Day | null;
  /** Days that are closed and wanted, or have windows; without those that were pruned. */
  readonly closed: number;
  readonly complete: number;
  /** Days that were complete and are not kept any more. */
  readonly pruned: number;
  readonly records: number;
  readonly pages: number;
  readonly bytes: number;
}

/** The totals of streams, in one statement that reads each table once and makes no row a day. */
export async function readTotals(
  database: Database,
  streamIds: readonly number[],
): Promise<StreamTotals[]> {
  const rows = await database.persist<{
    stream_id: number;
    first_day: string | null;
    closed: number;
    complete: number;
    pruned: number;
    records: number;
    pages: number;
    bytes: number;
  }>(
    `with days as (
       select w.stream_id, min(w.day) as first_day, count(*) as known,
              count(*) filter (where w.day >= s.since and w.day <= c.last_closed) as wanted
         from daywalk.windows w
         join daywalk.streams s on s.stream_id = w.stream_id
        cross join lateral (select ((clock_timestamp() - s.settle) at time zone s.time_zone)::date - 1 as last_closed) as c
        where w.kind = 'day' and w.stream_id = any ($1::integer[])
        group by w.stream_id
     ), pruned as (
       select stream_id, count(*) as days from daywalk.prunings
        where what = 'day' and stream_id = any ($1::integer[])
        group by stream_id
     ), unfinished as (
       select stream_id, count(distinct day) as days
         from daywalk.windows
        where state in ('pending', 'failed') and stream_id = any ($1::integer[])
        group by stream_id
     ), shown as (
       select stream_id, sum(records)::bigint as records, sum(pages)::bigint as pages, sum(bytes)::bigint as bytes
         from daywalk.days where stream_id = any ($1::integer[])
        group by stream_id
     )
     select s.stream_id, d.first_day,
            greatest(((clock_timestamp() - s.settle) at time zone s.time_zone)::date - s.since, 0)
              - coalesce(d.wanted, 0) + coalesce(d.known, 0) - coalesce(p.days, 0) as closed,
            coalesce(d.known, 0) - coalesce(u.days, 0) - coalesce(p.days, 0) as complete,
            coalesce(p.days, 0) as pruned,
            coalesce(n.records, 0) as records,
            coalesce(n.pages, 0) as pages, coalesce(n.bytes, 0) as bytes
       from daywalk.streams s
       left join days d on d.stream_id = s.stream_id
       left join pruned p on p.stream_id = s.stream_id
       left join unfinished u on u.stream_id = s.stream_id
       left join shown n on n.stream_id = s.stream_id
      where s.stream_id = any ($1::integer[])`,
    [streamIds],
  );
  return rows.map((row) => ({
    streamId: row.stream_id,
    firstDay: row.first_day,
    closed: row.closed,
    complete: row.complete,
    pruned: row.pruned,
    records: row.records,
    pages: row.pages,
    bytes: row.bytes,
  }));
}
