/** Windows in the database: planned, asked for again, retired, and listed for the planner. */
import type { Day, DayRange, Purpose, Span, Window, WindowKind, WindowState } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease, LeasedWindow } from './leases.ts';
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
  /** It was complete, and is not kept here any more. */
  readonly pruned: boolean;
  /** It moved to a folder or bucket. */
  readonly tiered: boolean;
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
       from (select distinct date_trunc('month', d)::date as month
               from unnest($1::date[]) as day cross join lateral (values (day), (day - 1)) as needed (d)) as months`,
    [days],
  );
  const rows = await database.persist<{ kind: WindowKind }>(
    // Cuts are due as soon as a day beside them is proven: what is learned of the source there is needed for them.
    `insert into daywalk.windows (stream_id, purpose, kind, day, from_time, to_time, due_at)
     select $1, $2, planned.*, case planned.kind when 'day' then clock_timestamp() end
       from unnest($3::date[], $4::timestamp[], $5::timestamp[]) as w (day, from_time, to_time)
      cross join lateral (values ('day', w.day, w.from_time, w.to_time),
                                 ('cut', w.day, w.to_time, w.to_time + interval '1 second'),
                                 ('cut', w.day - 1, w.from_time - interval '1 second', w.from_time))
              as planned (kind, day, from_time, to_time)
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
 * Makes the windows of these days and the cuts at their ends due now; those of pruned days never.
 * @param rewalk complete ones too; what is shown of them stays.
 * @param asked when they were asked for before, milliseconds by the database's clock: only those that are complete, not due
 * and not proven since, because a failover took away the wish or the proof.
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
        set due_at = least(w.due_at, clock_timestamp()), attempts = 0, rewalk = $3, purpose = case when $3 then 'backfill' else w.purpose end
      where w.stream_id = $1
        and (w.day in (select day from kept)
             or (w.kind = 'cut' and w.split_from is null and w.day in (select day - 1 from kept)))
        -- Of a split window its parts are walked; it is closed when they are done.
        and (w.state in ('pending', 'failed') or ($3 and w.state = 'complete' and w.split_by is null))
        and not ${isPruned('$1', 'w.day')}
        and ($4::timestamptz is null
             or (w.state = 'complete' and not w.rewalk and w.lease_id is null and w.proven_at < $4
                 -- What the source has forgotten is not walked any more.
                 and not exists (select from daywalk.days d
                                  where d.stream_id = w.stream_id and d.day in (w.day, case when w.kind = 'cut' then w.day + 1 end)
                                    and d.retired_since is not null)))
      returning w.window_id`,
    [streamId, days, rewalk, asked === null ? null : new Date(asked).toISOString()],
  );
  return rows.length;
}

/** A condition: the complete window `w` ends or begins at the cut `cut`. */
export const IS_NEIGHBOUR = `w.stream_id = cut.stream_id and w.day between cut.day and cut.day + 1 and w.kind <> 'cut'
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

/** A day with records before another one. */
export interface ShownBefore extends Span {
  readonly day: Day;
  /** Its source was found to have forgotten it. */
  readonly retired: boolean;
  /** The other one is as old now as this one was then. */
  readonly sinceThatAge: boolean;
  /** This one was seen when it was as old as the other one was when it showed nothing, or a person has accepted that. */
  readonly keptThatLong: boolean;
}

/** The newest proven day before another one that holds records, or that one itself where its source has forgotten it; null: none. */
export async function readShownBefore(
  database: Database,
  streamId: number,
  day: string,
): Promise<ShownBefore | null> {
  const [row] = await database.persist<ShownBefore>(
    `select w.day, w.from_time as "from", w.to_time as "to", null::integer as "levelFrom", null::integer as "levelTo",
            d.retired_since is not null as retired,
            (d.retired_since is not null or d.gone > 0) and clock_timestamp() - $2::date > w.shown_at - w.day as "sinceThatAge",
            coalesce(later.empty_at - $2::date <= w.shown_at - w.day, false) or later.first_empty_at <= coalesce(s.accepted_at, '-infinity') as "keptThatLong"
       from daywalk.days d
       join daywalk.streams s on s.stream_id = d.stream_id
       join daywalk.windows w on w.stream_id = d.stream_id and w.day = d.day and w.kind = 'day' and w.proof is not null
      -- What showed nothing while it was young is not empty because it was forgotten; unless nothing was to be believed then, as
      -- known answers of less than a week ago were not what they were.
      cross join lateral (select coalesce(min(p.fetched_at) filter (where p.fetched_at > w.shown_at + interval '7 days'),
                                          case when clock_timestamp() > w.shown_at + interval '7 days' then clock_timestamp() end) as empty_at,
                                 coalesce(min(p.fetched_at), clock_timestamp()) as first_empty_at
                            from daywalk.windows asked
                            join daywalk.walks k on k.window_id = any (array(select daywalk.subtree(asked.window_id)))
                            join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.page_no = 0
                           where asked.stream_id = $1 and asked.day = $2::date and asked.kind = 'day' and k.role = 'whole' and k.next_start = 0) as later
      where d.stream_id = $1 and greatest(d.records, (w.proof ->> 'records')::bigint) > 0 and (d.day < $2::date or (d.day = $2::date and d.retired_since is not null))
      order by d.day desc limit 1`,
    [streamId, day],
  );
  return row ?? null;
}

/**
 * The most records that a walk of a window, or of a part of it, has brought since the source was last accepted; 0 where its day
 * was proven: what is shown of that stays.
 */
export async function countHeldBefore(
  database: Database,
  { windowId, day }: Pick<LeasedWindow, 'windowId' | 'day'>,
  streamId: number,
): Promise<number> {
  const [row] = await database.persist<{ held: number }>(
    `select coalesce(max(k.next_start), 0) as held
       from daywalk.walks k join daywalk.streams s on s.stream_id = $2
      where k.window_id = any (array(select daywalk.subtree($1))) and k.role = 'whole'
        and k.started_at > coalesce(s.accepted_at, '-infinity')
        and not exists (select from daywalk.windows w
                         where w.stream_id = $2 and w.day = $3 and w.kind = 'day' and w.proof is not null)`,
    [windowId, streamId, day],
  );
  return row?.held ?? 0;
}

/**
 * Notes that the source has forgotten a day, of which the window is one, and gives the window back. What is shown of the
 * day stays, and it stays complete, with the cuts at its ends. It is looked at for as long as other days are: what was away
 * for a while comes back.
 */
export async function retireDay(
  database: Database,
  lease: Lease,
  streamId: number,
  recheckDays: number,
): Promise<void> {
  await database.persist(
    `with held as (
       select w.day, d.retired_since is null
                     and exists (select from daywalk.windows o
                                  where o.stream_id = w.stream_id and o.day = w.day and o.kind <> 'cut' and o.proof is not null and o.state <> 'replaced'
                                    and (o.state <> 'complete' or o.rewalk)) as doubted
         from daywalk.windows w left join daywalk.days d on d.stream_id = w.stream_id and d.day = w.day
        where w.window_id = $1 and w.lease_id = $2::uuid
     ), retired as (
       update daywalk.days d set retired_since = coalesce(d.retired_since, clock_timestamp())
         from held where d.stream_id = $3 and d.day = held.day
     ), unproven as materialized (
       -- Parts that it was split into since say nothing of what was proven before.
       select daywalk.replace_parts(array(select part.window_id from daywalk.windows part
                                           where part.stream_id = $3 and part.day = held.day and part.split_from is not null
                                             and part.proof is null and part.state <> 'replaced')) from held
     )
     update daywalk.windows w
        set due_at = case w.kind when 'day' then coalesce(
              daywalk.next_look(daywalk.closed_at(w.day, s.time_zone, s.settle), $4),
              case when held.doubted then clock_timestamp() + interval '1 day' end) end,
            rewalk = false, attempts = 0, failures = 0, last_error = null, last_failed_at = null, doubted_at = null,
            state = 'complete',
            -- What another worker finds out about its midnights or parts now is nothing any more.
            lease_id = null, lease_owner = null, lease_expires = null
       from held join daywalk.streams s on s.stream_id = $3 cross join unproven
      where w.stream_id = $3 and w.proof is not null and w.state <> 'replaced'
        and (w.day = held.day or (w.day = held.day - 1 and w.kind = 'cut' and w.split_from is null))`,
    [lease.windowId, lease.leaseId, streamId, recheckDays],
  );
}

/**
 * A person says that the source is right as it is: what was proven before is no known answer any more, and what failed is due.
 * @returns whether anything failed, or is gone.
 */
export async function acceptSource(database: Database, streamId: number): Promise<boolean> {
  const [row] = await database.persist<{ something: boolean }>(
    `with accepted as (
       update daywalk.streams set accepted_at = clock_timestamp() where stream_id = $1
     ), tried as (
       update daywalk.windows set due_at = clock_timestamp()
        where stream_id = $1 and state = 'failed' and due_at > clock_timestamp()
     ), forgiven as (
       update daywalk.days set lost = 0 where stream_id = $1 and lost <> 0 returning 1
     )
     select exists (select from forgiven)
         or exists (select from daywalk.windows where stream_id = $1 and state = 'failed') as something`,
    [streamId],
  );
  return row?.something === true;
}
