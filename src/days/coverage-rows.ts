/** Reads what is there and what is not: the gaps, what runs now, what came late, and how far the record tables are. */
import type { Day, DayRange, TimeSpan, Window } from '../model.ts';
import type { Database } from '../store/database.ts';
import type { Standing } from './day-states.ts';
import { type KnownDay, standingOf } from './rows.ts';

export type CoverageState = Exclude<Standing, 'walked' | 'begun'> | 'missing' | 'tiered';

/** How a day is not complete. */
export type GapState = Exclude<Standing, 'complete' | 'pruned'> | 'missing';

/** A window that could not be walked whole. */
export interface SplitRow extends Window {
  readonly stream: string;
  readonly by: 'time' | 'level';
  readonly reason: string;
}

/** The windows of these streams that are split now, by day, from a day on. */
export function readSplits(database: Database, streams: readonly string[], from: Day) {
  return database.persist<SplitRow>(
    `select s.name as stream, w.day, w.from_time as "from", w.to_time as "to", w.split_by as by, w.split_reason as reason
       from daywalk.windows w join daywalk.streams s on s.stream_id = w.stream_id
      where w.split_by is not null and s.name = any ($1::text[]) and w.day >= $2::date
      order by w.day, w.from_time, w.window_id`,
    [streams, from],
  );
}

/** A window that a worker holds now. */
export interface RunningWindow extends TimeSpan {
  readonly stream: string;
  readonly owner: string;
  readonly records: number;
  readonly total: number | null;
}

/** What runs now, on all machines. */
export function readRunning(database: Database): Promise<RunningWindow[]> {
  return database.persist(
    `select s.name as stream, w.from_time as "from", w.to_time as "to", w.lease_owner as owner,
            coalesce(k.records, 0) as records, k.last_total as total
       from daywalk.windows w
       join daywalk.streams s on s.stream_id = w.stream_id
       -- A walk that is evidence only begins anew; the fullest one tells how much of the window is stored.
       left join lateral (
         select records, last_total from daywalk.walks
          where window_id = w.window_id and coalesce(outcome not in ('shifted', 'failed'), true)
            and (w.state in ('pending', 'failed') or walk_id = w.current_walk)
          order by records desc limit 1) as k on true
      where w.lease_id is not null and w.lease_expires > clock_timestamp()
      order by w.from_time, s.name`,
  );
}

/** A day that is not there, and why. */
export interface GapRow extends Pick<KnownDay, 'stream' | 'day' | 'dueAt' | 'lastError'> {
  readonly state: GapState;
}

/** What is missing of these streams, oldest first, between two days where given: the rows of `daywalk.gaps`. */
export function readGaps(database: Database, streams: readonly string[], range?: DayRange | null) {
  return database.persist<GapRow>(
    `select g.stream, g.day, ${standingOf('g')} as state, g.due_at as "dueAt", g.last_error as "lastError"
       from daywalk.gaps g
      where g.stream = any ($1::text[]) and ($2::date is null or g.day between $2::date and $3::date)
      order by g.day, array_position($1::text[], g.stream)`,
    [streams, range?.from ?? null, range?.to ?? null],
  );
}

/** Records of one stream that came after their day had closed. */
export interface Lateness {
  readonly stream: string;
  /** Records found after their day had closed. */
  readonly late: number;
  readonly days: number;
  /** Records by the hours after the close within which they were found: up to 24, 72, 168 and later. */
  readonly within: readonly [number, number, number, number];
  /** Hours after the close at which the last one was found. */
  readonly longestHours: number;
}

/** The lateness of these streams; none where nothing came late. */
export function readLateness(database: Database, streams: readonly string[]) {
  return database.persist<Lateness>(
    `select stream, sum(records)::bigint as late, count(distinct day) as days,
            array[coalesce(sum(records) filter (where after <= interval '24 hours'), 0),
                  coalesce(sum(records) filter (where after > interval '24 hours' and after <= interval '72 hours'), 0),
                  coalesce(sum(records) filter (where after > interval '72 hours' and after <= interval '168 hours'), 0),
                  coalesce(sum(records) filter (where after > interval '168 hours'), 0)]::float8[] as within,
            (extract(epoch from max(after)) / 3600)::double precision as "longestHours"
       from daywalk.lateness
      where stream = any ($1::text[])
      group by stream
      order by array_position($1::text[], stream)`,
    [streams],
  );
}

/** How far a record table is in step; daywalk.tables tells what the columns mean. */
export interface TableState {
  readonly table: string;
  readonly stream: string;
  readonly state: 'building' | 'live';
  readonly days: number;
  readonly records: number;
  readonly faults: number;
  readonly behind: number;
  readonly firstDay: Day | null;
  readonly lastDay: Day | null;
  readonly syncedAt: Date | null;
  readonly trouble: string | null;
}

/** Every record table, by name; one that is built beside another one after it. */
export function readTables(database: Database): Promise<TableState[]> {
  return database.persist(
    `select "table", stream, state, days, records, faults, behind, first_day as "firstDay", last_day as "lastDay",
            synced_at as "syncedAt", trouble
       from daywalk.tables order by "table", state desc`,
  );
}
