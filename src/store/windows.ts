/** Windows in the database: planned, asked for again, and listed for the planner. */
import type { Day, DayRange, Purpose, Window, WindowState } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease } from './leases.ts';
import { isPruned } from './shown.ts';

/** Days of a stream, one after the other, that have a window each. */
export interface KnownSpan extends DayRange {
  readonly streamId: number;
}

/** A day of a stream as a backfill needs to know it. */
export interface DayStanding {
  readonly streamId: number;
  readonly day: Day;
  readonly state: WindowState;
  /** It was complete, and is not kept any more. */
  readonly pruned: boolean;
}

/** Now, by the clock of the database; milliseconds since the epoch. */
export async function databaseNow(database: Database): Promise<number> {
  const [row] = await database.persist<{ now: number }>(
    `select extract(epoch from clock_timestamp())::double precision * 1000 as now`,
  );
  if (row === undefined) throw new Error('a select without a table returned no row');
  return row.now;
}

/**
 * The days of the streams that have a window, whatever its state, as spans without a hole. A stream without any hole is
 * told by its ends and counted from an index: ten years of twenty streams are twenty rows, and a few milliseconds.
 */
export function listKnownSpans(
  database: Database,
  streamIds: readonly number[],
): Promise<KnownSpan[]> {
  return database.persist(
    `with ends as (
       select stream_id, min(day) as first_day, max(day) as last_day, count(*) as days
         from daywalk.windows where kind = 'day' and stream_id = any ($1::integer[])
        group by stream_id
     )
     select stream_id as "streamId", first_day as "from", last_day as "to"
       from ends where days > last_day - first_day
      union all
     select w.stream_id, min(w.day), max(w.day)
       from (select stream_id, day, day - (row_number() over (partition by stream_id order by day))::integer as island
               from daywalk.windows
              where kind = 'day' and stream_id = any (array(select stream_id from ends where days <= last_day - first_day))) as w
      group by w.stream_id, w.island`,
    [streamIds],
  );
}

/** The days of the range in which the streams have windows; a day stands as the worst of its windows. */
export async function listDays(
  database: Database,
  streamIds: readonly number[],
  range: DayRange,
): Promise<DayStanding[]> {
  const rows = await database.persist<Omit<DayStanding, 'day'> & { readonly days: Day[] }>(
    // Days that stand alike share a row: ten years of twenty streams are some dozen rows and not 73,000.
    `select d.stream_id as "streamId", array_agg(d.day::text) as days, d.state, g.day is not null as pruned
       from (select stream_id, day,
                    case when bool_or(state = 'failed') then 'failed'
                         when bool_and(state = 'complete') then 'complete'
                         else 'pending' end as state
               from daywalk.windows
              where stream_id = any ($1::integer[]) and state <> 'split' and day between $2::date and $3::date
              group by stream_id, day) as d
       left join daywalk.prunings g on g.stream_id = d.stream_id and g.day = d.day and g.what = 'day'
      group by d.stream_id, d.state, g.day is not null`,
    [streamIds, range.from, range.to],
  );
  return rows.flatMap(({ days, ...row }) => days.map((day) => ({ ...row, day })));
}

/** A window to be planned. */
export interface PlannedRow extends Window {
  readonly kind: 'day' | 'seam';
}

/** Makes rows for planned windows, and the partitions that they need; windows that exist stay as they are. Returns how many were new. */
export async function planWindows(
  database: Database,
  streamId: number,
  purpose: Purpose,
  windows: readonly PlannedRow[],
): Promise<number> {
  if (windows.length === 0) return 0;
  const days = windows.map((window) => window.day);
  await database.persist(
    `select daywalk.ensure_partition(month)
       from (select distinct date_trunc('month', day)::date as month from unnest($1::date[]) as day) as months`,
    [days],
  );
  const rows = await database.persist(
    `insert into daywalk.windows (stream_id, purpose, kind, day, from_time, to_time)
     select $1, $2, w.kind, w.day, w.from_time, w.to_time
       from unnest($3::text[], $4::date[], $5::timestamp[], $6::timestamp[]) as w (kind, day, from_time, to_time)
     on conflict do nothing
     returning window_id`,
    [
      streamId,
      purpose,
      windows.map((window) => window.kind),
      days,
      windows.map((window) => window.from),
      windows.map((window) => window.to),
    ],
  );
  return rows.length;
}

/**
 * Makes the windows of these days due now; those of pruned days never.
 * @param rewalk complete ones too; they stay published until their new walks are.
 */
export async function askAgain(
  database: Database,
  streamId: number,
  days: readonly Day[],
  rewalk: boolean,
): Promise<void> {
  if (days.length === 0) return;
  await database.persist(
    `update daywalk.windows
        set due_at = least(due_at, clock_timestamp()), attempts = 0, rewalk = $3
      where stream_id = $1 and day = any ($2::date[]) and state <> 'split' and ($3 or state <> 'complete')
        and not ${isPruned('$1', 'windows.day')}`,
    [streamId, days, rewalk],
  );
}

/** What is known of a window that is to be split. */
export interface SplitRequest {
  readonly by: 'time' | 'level';
  /** Why, with the numbers. */
  readonly reason: string;
  /** The exact total, where there is one: the parts must hold as much. */
  readonly total: number | null;
  readonly parts: readonly {
    readonly from: string;
    readonly to: string;
    readonly levelFrom: number | null;
    readonly levelTo: number | null;
  }[];
}

/**
 * Puts parts in the place of a window, in one statement. The window stays as a row, so that planning cannot bring it
 * back; parts that are there from an earlier split are walked again. What the window published stays until the last
 * part is complete. Repeating it does nothing: the lease is gone with the first.
 */
export async function splitWindow(
  database: Database,
  lease: Lease,
  request: SplitRequest,
): Promise<void> {
  await database.persist(
    `with split as (
       update daywalk.windows
          set state = 'split', split_by = $3, split_reason = $4, split_total = $5, sums_checked = false, due_at = null, rewalk = false,
              lease_id = null, lease_owner = null, lease_expires = null, last_error = null, last_failed_at = null
        where window_id = $1 and lease_id = $2::uuid and current_walk is null
       returning window_id, stream_id, day, purpose
     )
     insert into daywalk.windows as w (stream_id, kind, day, from_time, to_time, level_from, level_to, split_from, purpose)
     select split.stream_id, 'part', split.day, part.from_time, part.to_time, part.level_from, part.level_to,
            split.window_id, split.purpose
       from split, unnest($6::timestamp[], $7::timestamp[], $8::integer[], $9::integer[])
              as part (from_time, to_time, level_from, level_to)
     on conflict (stream_id, from_time, to_time, coalesce(level_from, -1), coalesce(level_to, -1)) do update
       set due_at = clock_timestamp(), rewalk = true,
           state = case when w.state = 'split' then 'pending' else w.state end`,
    [
      lease.windowId,
      lease.leaseId,
      request.by,
      request.reason,
      request.total,
      request.parts.map((part) => part.from),
      request.parts.map((part) => part.to),
      request.parts.map((part) => part.levelFrom),
      request.parts.map((part) => part.levelTo),
    ],
  );
}

/** Whether the day window that begins with this second is complete, and kept. */
export async function isDayComplete(
  database: Database,
  streamId: number,
  from: string,
): Promise<boolean> {
  const rows = await database.persist(
    `select from daywalk.windows w
      where w.stream_id = $1 and w.kind = 'day' and w.from_time = $2::timestamp and w.state = 'complete'
        and not ${isPruned('$1', 'w.day')}`,
    [streamId, from],
  );
  return rows.length === 1;
}
