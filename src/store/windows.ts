/** Windows in the database: planned, asked for again, and listed for the planner. */
import type { Day, Purpose, Window, WindowState } from '../model.ts';
import type { Database } from './database.ts';

/** A window as the planner needs to know it. */
export interface KnownWindow {
  readonly streamId: number;
  readonly day: Day;
  readonly state: WindowState;
  readonly purpose: Purpose;
  /** When it is to be walked next; milliseconds since the epoch. */
  readonly dueAt: number | null;
  /** A worker holds it now. */
  readonly leased: boolean;
}

/** Now, by the clock of the database; milliseconds since the epoch. */
export async function databaseNow(database: Database): Promise<number> {
  const [row] = await database.persist<{ now: number }>(
    `select extract(epoch from clock_timestamp())::double precision * 1000 as now`,
  );
  if (row === undefined) throw new Error('a select without a table returned no row');
  return row.now;
}

/** The day windows of the streams, between two days where given; parts of a split day are told as their day. */
export async function listDayWindows(
  database: Database,
  streamIds: readonly number[],
  range: { readonly from: Day; readonly to: Day } | null = null,
): Promise<KnownWindow[]> {
  const rows = await database.persist<{
    stream_id: number;
    day: string;
    state: WindowState;
    purpose: Purpose;
    due: number | null;
    leased: boolean;
  }>(
    `select w.stream_id, w.day, w.state, w.purpose,
            extract(epoch from w.due_at)::double precision * 1000 as due,
            coalesce(w.lease_expires > clock_timestamp(), false) as leased
       from daywalk.windows w
      where w.stream_id = any ($1::integer[])
        and w.split_from is null
        and ($2::date is null or w.day between $2::date and $3::date)`,
    [streamIds, range?.from ?? null, range?.to ?? null],
  );
  return rows.map((row) => ({
    streamId: row.stream_id,
    day: row.day,
    state: row.state,
    purpose: row.purpose,
    dueAt: row.due,
    leased: row.leased,
  }));
}

/** Makes rows for planned windows, and the partitions that they need; windows that exist stay as they are. Returns how many were new. */
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
  const rows = await database.persist(
    `insert into daywalk.windows (stream_id, purpose, day, from_time, to_time)
     select $1, $2, w.day, w.from_time, w.to_time
       from unnest($3::date[], $4::timestamp[], $5::timestamp[]) as w (day, from_time, to_time)
     on conflict (stream_id, from_time, to_time) do nothing
     returning window_id`,
    [streamId, purpose, days, windows.map((w) => w.from), windows.map((w) => w.to)],
  );
  return rows.length;
}

/** Makes existing windows due now, whatever their state; a complete one stays published until its new walk is. */
export async function askAgain(
  database: Database,
  streamId: number,
  days: readonly Day[],
): Promise<void> {
  if (days.length === 0) return;
  await database.persist(
    `update daywalk.windows
        set due_at = least(due_at, clock_timestamp()), attempts = 0
      where stream_id = $1 and day = any ($2::date[]) and state <> 'split'`,
    [streamId, days],
  );
}
