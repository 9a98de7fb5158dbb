/** Days in the database: what their windows and what is shown of them add up to, day by day and in all. */
import type { Day, DayRange } from '../model.ts';
import type { Standing } from '../plan/day-states.ts';
import type { Database } from '../store/database.ts';
import { hasBegun } from '../store/shown.ts';

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
export function readKnownDays(
  database: Database,
  streamNames: readonly string[],
  range: DayRange,
): Promise<KnownDay[]> {
  return database.persist(
    `select c.stream, c.day, c.windows, c.complete_windows as "completeWindows", ${standingOf('c')} as standing,
            c.due_at as "dueAt", c.last_error as "lastError", c.records, c.gone, c.pages, c.bytes, c.proof
       from daywalk.coverage c
      where c.stream = any ($1::text[]) and c.day between $2::date and $3::date and c.state <> 'missing'
      order by c.stream, c.day`,
    [streamNames, range.from, range.to],
  );
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
  /** Days among the complete ones that moved to a folder or bucket. */
  readonly tiered: number;
  readonly records: number;
  readonly pages: number;
  readonly bytes: number;
}

/** The totals of streams, in one statement that reads each table once and makes no row a day. */
export function readTotals(
  database: Database,
  streamIds: readonly number[],
): Promise<StreamTotals[]> {
  return database.persist(
    `with days as (
       select w.stream_id, min(w.day) as first_day, count(*) as known,
              count(*) filter (where w.day >= s.since and w.day <= c.last_closed) as wanted
         from daywalk.windows w
         join daywalk.streams s on s.stream_id = w.stream_id
        cross join lateral (select ((clock_timestamp() - s.settle) at time zone s.time_zone)::date - 1 as last_closed) as c
        where w.kind = 'day' and w.stream_id = any ($1::integer[])
        group by w.stream_id
     ), pruned as (
       select g.stream_id, count(*) filter (where t.day is null) as days, count(t.day) as tiered
         from daywalk.prunings g
         left join daywalk.tiered_days t on t.stream_id = g.stream_id and t.day = g.day
        where g.what = 'day' and g.stream_id = any ($1::integer[])
        group by g.stream_id
     ), unfinished as (
       select stream_id, count(*) as days
         from daywalk.unfinished_days
        where stream_id = any ($1::integer[])
        group by stream_id
     ), shown as (
       select stream_id, sum(records)::bigint as records, sum(pages)::bigint as pages, sum(bytes)::bigint as bytes
         from daywalk.days where stream_id = any ($1::integer[])
        group by stream_id
     )
     select s.stream_id as "streamId", d.first_day as "firstDay",
            greatest(((clock_timestamp() - s.settle) at time zone s.time_zone)::date - s.since, 0)
              - coalesce(d.wanted, 0) + coalesce(d.known, 0) - coalesce(p.days, 0) as closed,
            coalesce(d.known, 0) - coalesce(u.days, 0) - coalesce(p.days, 0) as complete,
            coalesce(p.days, 0) as pruned, coalesce(p.tiered, 0) as tiered,
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
}

/** The oldest day that any of these streams wants or has; null: none of them was ever planned. */
export function readFirstDay(
  database: Database,
  streamNames: readonly string[],
): Promise<Day | null> {
  return database.value(
    `select min(least(s.since, (select min(w.day) from daywalk.windows w where w.stream_id = s.stream_id))) as day
       from daywalk.streams s where s.name = any ($1::text[])`,
    [streamNames],
  );
}
