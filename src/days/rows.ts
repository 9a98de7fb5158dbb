/** Days in the database: what their windows and what is shown of them add up to, day by day and in all. */
import type { Day, DayRange } from '../model.ts';
import type { Database } from '../store/database.ts';
import { hasBegun } from '../store/shown.ts';
import type { Standing } from './day-states.ts';

/** A day that has a window; the cuts in it and at its end count as windows of it. */
export interface KnownDay {
  readonly stream: string;
  readonly day: Day;
  readonly windows: number;
  readonly completeWindows: number;
  readonly standing: Standing;
  /** Records, pages and bytes that readers see. */
  readonly records: number;
  /** Records among them that the source does not show any more. */
  readonly gone: number;
  readonly pages: number;
  readonly bytes: number;
  /** The kind of its proof; null: nothing is shown of it. */
  readonly proof: string | null;
  /** When the day is walked or looked at next; null: nothing is planned. */
  readonly dueAt: Date | null;
  /** The newest error of its windows. */
  readonly lastError: string | null;
}

/** How a row of `daywalk.coverage` or `daywalk.gaps` stands: of what is pending, how far it is. */
export const standingOf = (row: string): string =>
  `case when ${row}.state = 'tiered' then 'complete' when ${row}.state <> 'pending' then ${row}.state
        else (select case when bool_and(w.state = 'complete') then 'walked' when ${hasBegun('s.stream_id', `${row}.day`)} then 'begun' else 'pending' end
                from daywalk.streams s join daywalk.windows w on w.stream_id = s.stream_id and w.day = ${row}.day and w.kind = 'day' and w.state <> 'replaced'
               where s.name = ${row}.stream group by s.stream_id) end`;

/** The days of the range that have a window, by stream and day. */
export function readKnownDays(database: Database, streams: readonly string[], range: DayRange) {
  return database.persist<KnownDay>(
    `select c.stream, c.day, c.windows, c.complete_windows as "completeWindows", ${standingOf('c')} as standing,
            c.due_at as "dueAt", c.last_error as "lastError", c.records, c.gone, c.pages, c.bytes, c.proof
       from daywalk.coverage c
      where c.stream = any ($1::text[]) and c.day between $2::date and $3::date and c.state <> 'missing'
      order by c.stream, c.day`,
    [streams, range.from, range.to],
  );
}

/** What all days of a stream add up to: the rows of `daywalk.coverage`. */
export interface StreamTotals {
  readonly stream: string;
  /** The oldest day that has windows. */
  readonly firstDay: Day | null;
  /** Closed days that are wanted or have windows; without those that were pruned. */
  readonly closed: number;
  readonly complete: number;
  /** Days that were complete and are not kept any more. */
  readonly pruned: number;
  /** Days among the complete ones that moved to a folder or bucket. */
  readonly tiered: number;
  /** Days that have windows and are not closed, as their time zone or settle delay was another one; in no count before. */
  readonly open: number;
  /** When the last of these closes; null: there is none. */
  readonly openUntil: Date | null;
  readonly records: number;
  readonly pages: number;
  readonly bytes: number;
}

/** The totals of these streams; zeros where one was never planned. */
export function readTotals(database: Database, streams: readonly string[]) {
  return database.persist<StreamTotals>(
    `select asked.name as stream, min(c.day) filter (where c.windows > 0) as "firstDay",
            count(*) filter (where c.state <> 'pruned' and not o.open) as closed,
            count(*) filter (where c.state in ('complete', 'tiered') and not o.open) as complete,
            count(*) filter (where c.state = 'pruned') as pruned,
            count(*) filter (where c.state = 'tiered') as tiered,
            count(*) filter (where o.open) as open,
            max(d.closes) filter (where o.open) as "openUntil",
            coalesce(sum(c.records), 0)::bigint as records,
            coalesce(sum(c.pages), 0)::bigint as pages,
            coalesce(sum(c.bytes), 0)::bigint as bytes
       from unnest($1::text[]) as asked (name)
       left join daywalk.streams s on s.name = asked.name
       left join daywalk.coverage c on c.stream = asked.name
      cross join lateral (select daywalk.closed_at(c.day, s.time_zone, s.settle) as closes) as d
      cross join lateral (select c.state not in ('pruned', 'tiered') and d.closes > clock_timestamp() as open) as o
      group by asked.name`,
    [streams],
  );
}

/** The oldest day that any of these streams wants or has; null: none of them was ever planned. */
export function readFirstDay(database: Database, streams: readonly string[]) {
  return database.value<Day | null>(
    `select min(least(s.since, (select min(w.day) from daywalk.windows w where w.stream_id = s.stream_id))) as day
       from daywalk.streams s where s.name = any ($1::text[])`,
    [streams],
  );
}
