/** What a source may have forgotten: days that were shown before, and days that were retired because it shows nothing of them any more. */
import type { Day, Span } from '../../model.ts';
import type { Database } from '../database.ts';
import type { Lease, LeasedWindow } from '../leases.ts';
import { callFenced } from '../walks.ts';

/** A day with records before another one, or behind it. */
export interface ShownBefore extends Span {
  readonly day: Day;
  /** Its source was found to have forgotten it. */
  readonly retired: boolean;
  /** The other one is as old now as this one was then. */
  readonly sinceThatAge: boolean;
  /** This one was seen when it was as old as the other one is. */
  readonly seenAsOld: boolean;
  /** This one was seen when it was a day older than the other one is: by the hour, its source keeps days for that long. */
  readonly seenOlder: boolean;
  /** This one was seen when it was as old as the other one was when it showed nothing. */
  readonly keptThatLong: boolean;
  /** A person has accepted the source since the other one was asked for. */
  readonly accepted: boolean;
}

/**
 * The newest proven day before another one that holds records, or that one itself where its source has forgotten it; null: none.
 * @param orBehind where there is none, the oldest one behind it.
 */
export function readShownBefore(
  database: Database,
  streamId: number,
  day: string,
  orBehind = false,
) {
  return database.first<ShownBefore>(
    `with shown as not materialized (
       select w.day, w.from_time, w.to_time, w.shown_at, d.retired_since, d.gone
         from daywalk.days d
         join daywalk.windows w on w.stream_id = d.stream_id and w.day = d.day and w.kind = 'day' and w.proof is not null
        -- A day of which a cut alone has shown something is no evidence: its window never did.
        where d.stream_id = $1 and w.shown_at is not null and greatest(d.records, (w.proof ->> 'records')::bigint) > 0
     ), before as (
       (select * from shown where day < $2::date or (day = $2::date and retired_since is not null) order by day desc limit 1)
       union all
       (select * from shown where $3 and day > $2::date order by day limit 1)
       order by day limit 1
     )
     select w.day, w.from_time as "from", w.to_time as "to", null::integer as "levelFrom", null::integer as "levelTo",
            w.retired_since is not null as retired,
            (w.retired_since is not null or w.gone > 0) and clock_timestamp() - $2::date > w.shown_at - w.day as "sinceThatAge",
            clock_timestamp() - $2::date <= w.shown_at - w.day as "seenAsOld",
            clock_timestamp() - $2::date + interval '1 day' <= w.shown_at - w.day as "seenOlder",
            coalesce(later.empty_at - $2::date <= w.shown_at - w.day, false) as "keptThatLong",
            coalesce(later.asked_at <= s.accepted_at, false) as accepted
       from before w
       join daywalk.streams s on s.stream_id = $1
      -- What showed nothing while it was young is not empty because it was forgotten; unless nothing was to be believed then, as
      -- known answers of less than a week ago were not what they were.
      cross join lateral (select coalesce(min(p.fetched_at) filter (where k.next_start = 0 and p.fetched_at > w.shown_at + interval '7 days'),
                                          case when clock_timestamp() > w.shown_at + interval '7 days' then clock_timestamp() end) as empty_at,
                                 min(p.fetched_at) as asked_at
                            from daywalk.windows asked
                           cross join lateral daywalk.subtree(asked.window_id) as part (window_id)
                            join daywalk.walks k on k.window_id = part.window_id
                            join daywalk.pages p on p.walk_id = k.walk_id and p.day = $2::date and p.page_no = 0
                           where asked.stream_id = $1 and asked.day = $2::date and asked.kind = 'day' and k.role = 'whole') as later`,
    [streamId, day, orBehind],
  );
}

/**
 * The most records that a walk of a window, or of a part of it, has brought since the source was last accepted; 0 where its day
 * was proven: what is shown of that stays.
 */
export function countHeldBefore(
  database: Database,
  { windowId, day }: Pick<LeasedWindow, 'windowId' | 'day'>,
  streamId: number,
): Promise<number> {
  return database.value(
    `select coalesce(max(k.next_start), 0) as held
       from daywalk.walks k join daywalk.streams s on s.stream_id = $2
      where k.window_id = any (array(select daywalk.subtree($1))) and k.role = 'whole'
        and k.started_at > coalesce(s.accepted_at, '-infinity')
        and not exists (select from daywalk.windows w
                         where w.stream_id = $2 and w.day = $3 and w.kind = 'day' and w.proof is not null)`,
    [windowId, streamId, day],
  );
}

/** How many records are shown of a day; 0: it is not shown. */
export function countShown(database: Database, streamId: number, day: Day): Promise<number> {
  return database.value(
    'select coalesce(sum(records), 0)::bigint from daywalk.days where stream_id = $1 and day = $2',
    [streamId, day],
  );
}

/**
 * Notes that the source has forgotten a day, of which the window is one, and gives the window back: what is shown of the day stays, and
 * the day stays complete.
 * @throws {LeaseLostError} where another worker holds the window.
 */
export async function retireDay(
  database: Database,
  lease: Lease,
  recheckDays: number,
): Promise<void> {
  const sql = 'select daywalk.retire_day($1, $2::uuid, $3) as outcome';
  await callFenced(database, lease, sql, [recheckDays]);
}
