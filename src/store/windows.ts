/** Windows in the database: planned, asked for again, and listed for the planner. */
import type { Day, DayRange, Purpose, Window, WindowKind } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease, LeasedWindow } from './leases.ts';
import { FURTHEST, isPruned, isRetired, onceClosed } from './shown.ts';

/** Days of a stream, one after the other, that have a window each. */
export interface KnownSpan extends DayRange {
  readonly streamId: number;
}

/** A day of a stream as a backfill needs to know it. */
export interface DayStanding extends Pick<LeasedWindow, 'streamId' | 'day' | 'state'> {
  /** It was complete, and is not kept here any more. */
  readonly pruned: boolean;
  /** It moved to a folder or bucket. */
  readonly tiered: boolean;
}

/** Now, by the clock of the database; milliseconds since the epoch. */
export function databaseNow(database: Database): Promise<number> {
  return database.value(
    `select extract(epoch from clock_timestamp())::double precision * 1000 as now`,
  );
}

/** The days of the streams that have a window, whatever its state, as spans without a hole: those of ten years are one row. */
export function listKnownSpans(database: Database, streamIds: readonly number[]) {
  return database.persist<KnownSpan>(
    `select stream_id as "streamId", lower(span) as "from", upper(span) - 1 as "to"
       from (select stream_id, unnest(range_agg(daterange(day, day + 1))) as span
               from daywalk.windows where kind = 'day' and stream_id = any ($1::integer[])
              group by stream_id) as known`,
    [streamIds],
  );
}

/** The days of the range that have a window; a day stands as the worst of its windows and of the cuts at its ends. */
export async function listDays(
  database: Database,
  streamIds: readonly number[],
  range: DayRange,
): Promise<DayStanding[]> {
  const rows = await database.persist<Omit<DayStanding, 'day'> & { readonly days: Day[] }>(
    // Days that stand alike share a row: ten years of twenty streams are some dozen rows and not 73,000.
    `select w.stream_id as "streamId", array_agg(w.day::text) as days, stands.state, g.day is not null as pruned, t.day is not null as tiered
       from daywalk.windows w
       left join daywalk.unfinished_days u on u.stream_id = w.stream_id and u.day = w.day
       left join daywalk.prunings g on g.stream_id = w.stream_id and g.day = w.day and g.what = 'day'
       left join daywalk.tiered_days t on t.stream_id = w.stream_id and t.day = w.day
      cross join lateral (select case when u.failed then 'failed' when u.day is not null then 'pending' else 'complete' end as state) as stands
      where w.kind = 'day' and w.stream_id = any ($1::integer[]) and w.day between $2::date and $3::date
      group by w.stream_id, stands.state, g.day is not null, t.day is not null`,
    [streamIds, range.from, range.to],
  );
  return rows.flatMap(({ days, ...row }) => days.map((day) => ({ ...row, day })));
}

/**
 * Makes windows for these days, the cuts at their ends, and the partitions that they need; what exists stays as it is.
 * @returns how many days are new.
 */
export async function planWindows(
  database: Database,
  streamId: number,
  purpose: Purpose,
  windows: readonly Window[],
): Promise<number> {
  if (windows.length === 0) return 0;
  const days = windows.map((window) => window.day);
  await database.persist(
    `select daywalk.ensure_partition(month)
       from (select distinct date_trunc('month', day)::date as month from unnest($1::date[]) as day) as months`,
    [days],
  );
  const rows = await database.persist<{ kind: WindowKind }>(
    // Cuts are due as soon as a day beside them is proven: what is learned of the source there is needed for them. The one before a day
    // is a window of that day where nobody had planned the day before.
    `insert into daywalk.windows (stream_id, purpose, kind, day, from_time, to_time, due_at)
     select $1, $2, kind, day, from_time, to_time, case kind when 'day' then clock_timestamp() end
       from (select planned.*
               from unnest($3::date[], $4::timestamp[], $5::timestamp[]) as w (day, from_time, to_time)
              cross join lateral (values (1, 'day', w.day, w.from_time, w.to_time),
                                         (2, 'cut', w.day, w.to_time, w.to_time + interval '1 second'),
                                         (3, 'cut', w.day, w.from_time - interval '1 second', w.from_time))
                      as planned (turn, kind, day, from_time, to_time)
              order by turn) as w
     on conflict do nothing
     returning kind`,
    [
      streamId,
      purpose,
      days,
      windows.map((window) => window.from),
      windows.map((window) => window.to),
    ],
  );
  return rows.filter(({ kind }) => kind === 'day').length;
}

/**
 * Drops the days before `since` that the schedule had planned, that failed, and of which nothing is stored, as `daywalk.drop_unwanted_days`
 * decides; a stream without an error before its `since`, as most are, is not locked for it.
 * @returns them, by stream.
 */
export function dropUnwantedDays(database: Database, streamIds: readonly number[]) {
  return database.persist<{ readonly stream: string; readonly days: readonly Day[] }>(
    `select name as stream, to_jsonb(days) as days
       from daywalk.streams s
      cross join lateral daywalk.drop_unwanted_days(case when exists (
              select from daywalk.windows w where w.stream_id = s.stream_id and w.day < s.since and w.last_error is not null) then s.stream_id end) as days
      where s.stream_id = any ($1::integer[]) and days <> '{}'`,
    [streamIds],
  );
}

/** What a backfill planned and is not complete is scheduled work, where it is of the days that are walked by themselves. */
export async function takeOver(database: Database, streamId: number, since: Day): Promise<void> {
  await database.persist(
    `update daywalk.windows set purpose = 'scheduled'
      where stream_id = $1 and day >= $2 and state in ('pending', 'failed', 'split') and purpose = 'backfill'`,
    [streamId, since],
  );
}

/**
 * Makes the windows of these days and the cuts at their ends due now; those of pruned days never.
 * @param rewalk complete ones too; what is shown of them stays.
 * @param asked when they were asked for before, milliseconds by the database's clock: only those that are complete, not due
 * and not walked since, because a failover took away the wish or the proof, or another process had begun to walk them before.
 * @returns how many.
 */
export async function askAgain(
  database: Database,
  streamId: number,
  days: readonly Day[],
  rewalk: boolean,
  asked: number | null = null,
): Promise<number> {
  if (days.length === 0) return 0;
  const rows = await database.persist(
    `with kept as materialized (
       select d.day from unnest($2::date[]) as d (day) where not ${isPruned('$1', 'd.day')}
     )
     update daywalk.windows w
        set due_at = least(w.due_at, clock_timestamp()), attempts = 0, rewalk = w.rewalk or $3, purpose = case when $3 and w.state = 'complete' then 'backfill' else w.purpose end
      where w.stream_id = $1
        and (w.day in (select day from kept)
             or w.midnight in (select day - 1 from kept))
        -- Of a split window its parts are walked; it is closed when they are done.
        and (w.state in ('pending', 'failed') or ($3 and w.state = 'complete' and w.split_by is null))
        and not ${isPruned('$1', 'w.day')}
        and ($4::timestamptz is null
             or (w.state = 'complete' and not w.rewalk and w.lease_id is null
                 and coalesce((select min(k.started_at) from daywalk.walks k where k.walk_id = any (daywalk.walks_of(w.proof))), w.proven_at) < $4
                 -- What the source has forgotten is not walked any more.
                 and not exists (select from daywalk.days d
                                  where d.stream_id = w.stream_id and d.day in (w.day, w.midnight, w.midnight + 1)
                                    and d.retired_since is not null)))
      returning w.window_id`,
    [streamId, days, rewalk, asked === null ? null : new Date(asked).toISOString()],
  );
  return rows.length;
}

/**
 * Makes due what the settings and the clock of today call for: complete windows whose looks were over, where `recheckDays` was
 * raised, and what is due later than anything is put off, as the clock of the database was ahead, when its day has closed.
 */
export async function planLooks(
  database: Database,
  streamIds: readonly number[],
  recheckDays: number,
): Promise<void> {
  await database.persist(
    `with candidates as (
       select window_id from daywalk.windows where due_at > clock_timestamp() + interval '${FURTHEST}'
       union
       select w.window_id from daywalk.windows w join daywalk.streams s using (stream_id)
        where w.stream_id = any ($1::integer[]) and w.day > current_date - $2::integer - 3 - s.settle
     )
     update daywalk.windows w
        set due_at = ${onceClosed('s')},
            -- What was proven in the future was not over.
            rewalk = w.rewalk or coalesce(w.proven_at > clock_timestamp(), false),
            state = case when w.state <> 'complete' or w.proven_at <= clock_timestamp() then w.state
                         when w.split_by is null then 'pending' else 'split' end
       from daywalk.streams s
      where w.window_id in (select window_id from candidates)
        and s.stream_id = w.stream_id and w.stream_id = any ($1::integer[])
        and (w.due_at > clock_timestamp() + interval '${FURTHEST}'
             or (w.state = 'complete' and w.proven_at > clock_timestamp() and not ${isPruned('w.stream_id', 'w.day')})
             or (w.due_at is null and w.state = 'complete'
                 and daywalk.next_look(daywalk.closed_at(w.day, s.time_zone, s.settle), $2) is not null
                 -- Parts of a calibrated total are looked at with it.
                 and not coalesce((select p.split_calibrated from daywalk.windows p where p.window_id = w.split_from), false)
                 and not ${isPruned('w.stream_id', 'w.day')}
                 and not ${isRetired('w.stream_id', 'w.day')}))`,
    [streamIds, recheckDays],
  );
}

/** A condition: the complete window `w` ends or begins at the cut `cut`. */
export const IS_NEIGHBOUR = `w.stream_id = cut.stream_id and w.day in (cut.from_time::date, cut.to_time::date) and w.kind <> 'cut'
        and w.state = 'complete' and w.split_by is null and (w.to_time = cut.from_time or w.from_time = cut.to_time)`;

/** Lets the complete windows on both sides of a cut be walked again: the source shows something else there than they hold. */
export async function askNeighboursAgain(
  database: Database,
  { windowId }: Pick<Lease, 'windowId'>,
): Promise<void> {
  await database.persist(
    `update daywalk.windows w set rewalk = true, due_at = clock_timestamp()
       from daywalk.windows cut
      where cut.window_id = $1 and ${IS_NEIGHBOUR} and not ${isPruned('w.stream_id', 'w.day')}`,
    [windowId],
  );
}

/**
 * A person says that the source is right as it is: what was proven before is no known answer any more, and what failed is due, with
 * what waits for it, once its day is closed.
 * @returns whether anything failed, or is gone.
 */
export function acceptSource(database: Database, streamId: number): Promise<boolean> {
  return database.value(
    `with accepted as (
       update daywalk.streams set accepted_at = clock_timestamp(), distrusted_since = null where stream_id = $1
     ), tried as (
       update daywalk.windows w set due_at = ${onceClosed('s')}
         from daywalk.streams s
        where s.stream_id = $1 and w.stream_id = $1 and w.state in ('pending', 'failed') and w.due_at > clock_timestamp()
     ), gone_then as (
       -- Gone while the clock of the database was ahead, and before this all the same: else it is lost once more when its day changes.
       update daywalk.marks mark set since = now()
         from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id and w.stream_id = $1
        where mark.walk_id = k.walk_id and mark.state = 'gone' and mark.since > clock_timestamp()
       returning mark.day
     ), forgiven as (
       update daywalk.days set lost = 0, unsealed = unsealed or day in (select day from gone_then)
        where stream_id = $1 and (lost <> 0 or day in (select day from gone_then)) returning 1
     )
     select exists (select from forgiven)
         or exists (select from daywalk.windows where stream_id = $1 and state = 'failed') as something`,
    [streamId],
  );
}
