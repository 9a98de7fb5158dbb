/** Leases: acquire, renew, give back. The protocol and its failure points are in ARCHITECTURE.md (I2). */
import type { Day, DayRange, Purpose, Span, WindowKind, WindowState } from '../model.ts';
import type { Database } from './database.ts';
import { FURTHEST, IS_AWAY, isPruned, onceClosed, spanColumns } from './shown.ts';

/** Which windows a worker may lease. */
export interface LeaseScope {
  readonly streamIds: readonly number[];
  /** Only days in this range; null: all. */
  readonly range: DayRange | null;
  readonly newestFirst: boolean;
  /** Only a day that is complete and due for a look, the newest. */
  readonly looksOnly?: boolean;
}

/** A worker's hold on a window. */
export interface Lease {
  readonly windowId: number;
  /** Random and fresh each time: the fence. */
  readonly leaseId: string;
}

/** A window that a worker holds. */
export interface LeasedWindow extends Lease, Span {
  readonly streamId: number;
  readonly kind: WindowKind;
  readonly day: Day;
  readonly purpose: Purpose;
  readonly state: WindowState;
  /** How it is split; null: it is not. */
  readonly splitBy: 'time' | 'level' | null;
  /** It is to be walked again: looking is not enough. */
  readonly rewalk: boolean;
  /** A walk of it was begun before. */
  readonly walked: boolean;
  /** Its day was proven once, with records. */
  readonly proven: boolean;
  /** Records that its newest proof had; null: there is none. */
  readonly held: number | null;
  /** How often it was looked at since it was proven. */
  readonly looks: number;
  /** Leases since the last page was stored, this one included. */
  readonly attempts: number;
  readonly failures: number;
}

/**
 * Leases the first due window, or finds the one that a lost answer already gave to this `leaseId`.
 * @returns null when nothing is due.
 */
export async function acquireLease(
  database: Database,
  leaseId: string,
  owner: string,
  ttlMs: number,
  scope: LeaseScope,
  signal?: AbortSignal,
): Promise<LeasedWindow | null> {
  const ordered = scope.newestFirst ? NEWEST_FIRST : OLDEST_FIRST;
  const row = await database.first<Omit<LeasedWindow, 'leaseId'>>(
    scope.looksOnly ? NEWEST_LOOK : ordered,
    [leaseId, owner, ttlMs, scope.streamIds, scope.range?.from ?? null, scope.range?.to ?? null],
    signal,
  );
  return row && { ...row, leaseId };
}

/** A condition: the window `w` is of a day in the range, or a cut at one of its ends. Both arguments are SQL. */
const inRange = (from: string, to: string): string =>
  `(${from}::date is null or w.day between ${from}::date and ${to}::date
    or w.midnight in (${from}::date - 1, ${to}::date))`;

/**
 * Three statements that differ in the order of days, and in a condition: SQL stays static, so each is written out. The cuts of a day
 * come after its windows, which learn what a cut needs to know of the source.
 */
const acquire = (order: 'asc' | 'desc', condition = '') => `
  with mine as materialized (
    select window_id from daywalk.windows where lease_id = $1::uuid
  ), due as materialized (
    select w.window_id
      from daywalk.windows w
     where w.due_at <= clock_timestamp()
       and w.stream_id = any ($4::integer[])
       and (w.lease_expires is null or w.lease_expires not between clock_timestamp() and clock_timestamp() + interval '${FURTHEST}')
       and ${inRange('$5', '$6')}
       and not ${IS_AWAY}
       and not exists (select from mine)${condition}
     order by w.purpose desc, w.day ${order}, w.kind = 'cut', w.from_time ${order}
     limit 1
       for update skip locked
  ), leased as (
    update daywalk.windows w
       set lease_id = $1::uuid,
           lease_owner = $2,
           lease_number = w.lease_number + 1,
           lease_expires = clock_timestamp() + make_interval(secs => $3::double precision / 1000),
           attempts = w.attempts + 1
      from due
     where w.window_id = due.window_id
    returning w.*
  ), held as (
    select * from leased
     union all
    select w.* from mine join daywalk.windows w on w.window_id = mine.window_id
  )
  select window_id as "windowId", stream_id as "streamId", kind, day, ${spanColumns('held')}, purpose, state, split_by as "splitBy", rewalk,
         exists (select from daywalk.days d join daywalk.windows o on o.stream_id = d.stream_id and o.day = d.day and o.kind = 'day'
                  where d.stream_id = held.stream_id and d.day = held.day and d.records > 0 and o.proof is not null) as proven,
         (held.proof ->> 'records')::bigint as held,
         looks, attempts, failures,
         current_walk is not null or exists (select from daywalk.walks k where k.window_id = held.window_id) as walked
    from held`;
const OLDEST_FIRST = acquire('asc');
const NEWEST_FIRST = acquire('desc');
const NEWEST_LOOK = acquire(
  'desc',
  ` and w.purpose = 'look' and w.state = 'complete' and w.kind = 'day' and w.split_by is null and not w.rewalk`,
);

/** Extends the lease from now, by the database's clock. False: it is lost. */
export async function renewLease(
  database: Database,
  lease: Lease,
  ttlMs: number,
): Promise<boolean> {
  const rows = await database.query(
    `update daywalk.windows
        set lease_expires = clock_timestamp() + make_interval(secs => $3::double precision / 1000)
      where window_id = $1 and lease_id = $2::uuid
      returning window_id`,
    [lease.windowId, lease.leaseId, ttlMs],
  );
  return rows.length === 1;
}

/** Gives the window back as it is, so that any worker can go on at once; not counted as an attempt. One try: a lease also ends by itself. */
export async function releaseLease(database: Database, lease: Lease): Promise<void> {
  await database.query(
    `update daywalk.windows
        set lease_id = null, lease_owner = null, lease_expires = null, attempts = greatest(0, attempts - 1)
      where window_id = $1 and lease_id = $2::uuid`,
    [lease.windowId, lease.leaseId],
  );
}

/**
 * Gives the window back as failed, to be walked again after `delayMs`. One that was complete is not any more: its source
 * says something else, and that could not be settled. What is shown of it stays shown.
 * @param judged what was walked so far settles nothing, and is no evidence any more; else it is gone on with.
 */
export async function failWindow(
  database: Database,
  lease: Lease,
  error: string,
  delayMs: number,
  judged = true,
): Promise<void> {
  await database.persist(
    `update daywalk.windows w
        set state = 'failed',
            due_at = clock_timestamp() + make_interval(secs => $4::double precision / 1000),
            judged = case when $5 then (select coalesce(max(k.number), 0) from daywalk.walks k where k.window_id = w.window_id) else w.judged end,
            failures = failures + 1,
            attempts = 0,
            last_error = $3,
            last_failed_at = clock_timestamp(),
            lease_id = null, lease_owner = null, lease_expires = null
      where window_id = $1 and lease_id = $2::uuid`,
    [lease.windowId, lease.leaseId, error, delayMs, judged],
  );
}

/**
 * Makes windows of a stream due that have failed, and were never complete, as if they had not been tried, once their day is closed.
 * @param withinMs those that failed so lately; null: all.
 */
export async function unfail(
  database: Database,
  streamId: number,
  withinMs: number | null,
): Promise<void> {
  await database.persist(
    `update daywalk.windows w
        set state = 'pending', due_at = ${onceClosed('s')},
            failures = 0, attempts = 0, last_error = null, last_failed_at = null
       from daywalk.streams s where s.stream_id = $1 and w.stream_id = $1 and state = 'failed' and proof is null
        and ($2::double precision is null or last_failed_at > clock_timestamp() - make_interval(secs => $2 / 1000))`,
    [streamId, withinMs],
  );
}

/** How many windows of the scope are due now, held ones included; cuts are not counted. */
export function countDue(database: Database, scope: LeaseScope): Promise<number> {
  return database.value(
    `select count(*) as due
       from daywalk.windows w
      where w.due_at <= clock_timestamp() and w.kind <> 'cut' and w.stream_id = any ($1::integer[]) and ${inRange('$2', '$3')} and not ${IS_AWAY}`,
    [scope.streamIds, scope.range?.from ?? null, scope.range?.to ?? null],
  );
}

/** Windows in the scope that are due, but held by another process. */
export interface HeldElsewhere {
  readonly windows: number;
  /** Null: they are locked just now, as while they are claimed, and nobody has them yet. */
  readonly owner: string | null;
  /** Until the first of their leases ends, if nobody renews it; milliseconds, below 0 if it has, or there is none. */
  readonly firstExpiryMs: number;
}

/**
 * What is due in the scope under other leases than these; null when nothing. A lease that has just ended counts, as does none: whoever
 * looked for a window before it did, or while another process was about to change it, has to look again.
 */
export function readHeldElsewhere(
  database: Database,
  leaseIds: readonly string[],
  scope: LeaseScope,
): Promise<HeldElsewhere | null> {
  return database.first<HeldElsewhere>(
    `select count(*) as windows, min(lease_owner) as owner,
            extract(epoch from min(coalesce(lease_expires, 'epoch')) - clock_timestamp())::double precision * 1000 as "firstExpiryMs"
       from daywalk.windows w
      where w.due_at <= clock_timestamp()
        and w.stream_id = any ($1::integer[])
        and ${inRange('$2', '$3')}
        and not ${IS_AWAY}
        and coalesce(w.lease_id <> all ($4::uuid[]), true)
     having count(*) > 0`,
    [scope.streamIds, scope.range?.from ?? null, scope.range?.to ?? null, leaseIds],
  );
}

/**
 * Gives a complete window back after a look that found it as it is stored; the next look comes a day later, for `recheckDays`. A day that shows its
 * records was not forgotten: its midnights and parts that are kept are looked at again. A wish to walk it again stays due, as does a cut beside a new part.
 * @param seen whether it was seen; else it was merely not found otherwise.
 */
export async function noteLooked(
  database: Database,
  lease: Lease,
  recheckDays: number,
  seen = true,
): Promise<void> {
  await database.persist(
    `with here as (
       update daywalk.days d set retired_since = null
         from daywalk.windows w
        where $4 and w.window_id = $1 and w.lease_id = $2::uuid and w.kind = 'day' and d.stream_id = w.stream_id and d.day = w.day
          and d.retired_since is not null and (w.proof ->> 'records')::bigint > 0
       returning d.stream_id, d.day
     ), others as (
       update daywalk.windows other set due_at = clock_timestamp()
         from here
        where other.stream_id = here.stream_id and other.window_id <> $1 and other.state = 'complete' and other.due_at is null and not ${isPruned('other.stream_id', 'other.day')}
          and case when other.split_from is null then other.midnight in (here.day - 1, here.day)
                   else other.day = here.day and other.split_by is null
                        and not (select p.split_calibrated from daywalk.windows p where p.window_id = other.split_from) end
     )
     update daywalk.windows w
        set looks = looks + 1, looked_at = clock_timestamp(), attempts = 0, failures = 0, last_error = null,
            shown_at = case when $4 and (w.proof ->> 'records')::bigint > 0 then clock_timestamp() else w.shown_at end,
            due_at = case when w.rewalk or w.state <> 'complete' then w.due_at
                          when (select p.split_calibrated from daywalk.windows p where p.window_id = w.split_from) then null
                          else daywalk.next_look(daywalk.closed_at(w.day, s.time_zone, s.settle), $3) end,
            lease_id = null, lease_owner = null, lease_expires = null
       from daywalk.streams s
      where s.stream_id = w.stream_id and w.window_id = $1 and w.lease_id = $2::uuid`,
    [lease.windowId, lease.leaseId, recheckDays, seen],
  );
}

/** A look found a window otherwise than it is stored: until it was walked again it is not complete, whatever comes between. */
export async function noteDifferent(database: Database, lease: Lease): Promise<void> {
  await database.persist(
    `update daywalk.windows
        set rewalk = true, state = case when split_by is null then 'pending' else 'split' end
      where window_id = $1 and lease_id = $2::uuid and state = 'complete'`,
    [lease.windowId, lease.leaseId],
  );
}

/** Gives a complete window back that could not be looked at now; it is tried again an hour from now, as long as it is looked at. */
export async function postponeLook(database: Database, lease: Lease, recheckDays: number) {
  await database.persist(
    `update daywalk.windows w
        set due_at = case when w.rewalk or w.state <> 'complete' then w.due_at
                          when w.looks = 0 or daywalk.next_look(daywalk.closed_at(w.day, s.time_zone, s.settle), $3) is not null
                          then clock_timestamp() + interval '1 hour'
                          -- An empty one has a look that counts once its stream has shown a record: daily for as long after that.
                          when w.proof ->> 'records' = '0' then (select daywalk.next_look(c.learned_at, greatest($3, 1)) from daywalk.contracts c
                                                                  where c.stream_id = w.stream_id and w.looked_at < c.learned_at) end,
            attempts = 0, lease_id = null, lease_owner = null, lease_expires = null
       from daywalk.streams s
      where s.stream_id = w.stream_id and w.window_id = $1 and w.lease_id = $2::uuid`,
    [lease.windowId, lease.leaseId, recheckDays],
  );
}
