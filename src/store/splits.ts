/** Windows that are split: parts put in their place, read when they are complete, and closed together. */
import { LeaseLostError } from '../errors.ts';
import type { Proof, Span, WallTime } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease, LeasedWindow } from './leases.ts';
import { spanColumns } from './shown.ts';
import { callFenced } from './walks.ts';

/** What is known of a window that is to be split. */
export interface SplitRequest {
  readonly by: 'time' | 'level';
  /** Why, with the numbers. */
  readonly reason: string;
  /** The total, where there is one. */
  readonly total: number | null;
  readonly parts: readonly Span[];
  /** The seconds before the cuts inside it that are to be asked. */
  readonly cuts: readonly WallTime[];
}

/**
 * Puts parts in the place of a window. The window stays as a row, so that planning cannot bring it back; parts of an
 * earlier split are replaced. What the window shows stays until it is closed. May be repeated.
 * @throws {LeaseLostError} where another worker holds the window.
 */
export async function splitWindow(
  database: Database,
  lease: Lease,
  { by, reason, total, parts, cuts }: SplitRequest,
): Promise<void> {
  await callFenced(
    database,
    lease,
    `select daywalk.split_window($1, $2::uuid, $3, $4, $5, $6::timestamp[], $7::timestamp[], $8::integer[], $9::integer[],
                                 $10::timestamp[]) as outcome`,
    [
      by,
      reason,
      total,
      parts.map((part) => part.from),
      parts.map((part) => part.to),
      parts.map((part) => part.levelFrom),
      parts.map((part) => part.levelTo),
      cuts,
    ],
  );
}

/**
 * Has these parts of a split window walked again, and these inner cuts asked; the window waits for them. May be repeated.
 * @throws {LeaseLostError} where another worker holds the window.
 */
export async function replanParts(
  database: Database,
  lease: Lease,
  { parts, cuts }: { readonly parts: readonly number[]; readonly cuts: readonly WallTime[] },
): Promise<void> {
  await callFenced(
    database,
    lease,
    'select daywalk.walk_parts_again($1, $2::uuid, $3::bigint[], $4::timestamp[]) as outcome',
    [parts, cuts],
  );
}

/** A split window with what its parts hold by their newest proofs. */
export interface SplitParts {
  readonly by: 'time' | 'level';
  /** The total when it was closed, else when it was split. */
  readonly total: number | null;
  /** It was closed because they add up to an exact total. */
  readonly calibrated: boolean;
  /** The direct ones; one that was itself split holds what it was closed with. */
  readonly parts: readonly (Span & { readonly windowId: number; readonly records: number })[];
  readonly cuts: readonly {
    /** That it adds, and takes away. */
    readonly records: number;
    readonly removed: number;
    /** What lies across it could be told. */
    readonly told: boolean;
  }[];
}

/** The parts and inner cuts of a window, by time; null where it is not split. */
export async function readSplit(
  database: Database,
  { windowId }: Pick<Lease, 'windowId'>,
): Promise<SplitParts | null> {
  const rows = await database.persist<
    Omit<SplitParts, 'parts' | 'cuts'> &
      SplitParts['parts'][number] &
      SplitParts['cuts'][number] & { kind: 'part' | 'cut' }
  >(
    `select whole.split_by as by, whole.split_total as total,
            whole.split_calibrated as calibrated, w.kind, w.window_id as "windowId", ${spanColumns('w')},
            coalesce((w.proof ->> 'records')::bigint, 0) as records, coalesce((w.proof ->> 'removed')::bigint, 0) as removed,
            w.proof ? 'across' as told
       from daywalk.windows whole
       join daywalk.windows w on w.split_from = whole.window_id and w.state <> 'replaced'
      where whole.window_id = $1 and whole.split_by is not null
      order by w.from_time, w.level_from nulls first`,
    [windowId],
  );
  const [first] = rows;
  if (first === undefined) return null;
  const { by, total, calibrated } = first;
  const parts = rows.filter(({ kind }) => kind === 'part');
  const cuts = rows.filter(({ kind }) => kind === 'cut');
  return { by, total, calibrated, parts, cuts };
}

/** What a split window was split into, down to the last part and cut, and is to be looked at by now; each with the direct part or cut that it is of. */
export function listOverdue(
  database: Database,
  { windowId }: Pick<Lease, 'windowId'>,
): Promise<
  (Pick<LeasedWindow, 'windowId' | 'kind' | 'splitBy' | 'looks' | keyof Span> & {
    readonly of: number;
  })[]
> {
  return database.persist(
    `with recursive tree as (
       select w.*, w.window_id as "of" from daywalk.windows w where w.split_from = $1
       union all
       select w.*, tree."of" from tree join daywalk.windows w on w.split_from = tree.window_id
     )
     select window_id as "windowId", kind, ${spanColumns('tree')}, split_by as "splitBy", looks, "of"
       from tree where state = 'complete' and due_at <= clock_timestamp()
      order by window_id`,
    [windowId],
  );
}

/** The walks that the complete parts and cuts of a split window rest on, and the newest one of the whole of it; null: there is none. */
export async function readSplitWalks(
  database: Database,
  { windowId }: Pick<Lease, 'windowId'>,
): Promise<{
  readonly whole: number | null;
  readonly parts: readonly (Span & { readonly walkId: number; readonly stored: number })[];
  readonly all: readonly number[];
}> {
  const rows = await database.persist<
    Span & { walkId: number; stored: number; ofWhole: boolean; ofPart: boolean }
  >(
    `select k.walk_id as "walkId", ${spanColumns('k')},
            k.next_start as stored, k.window_id = $1 as "ofWhole", k.role = 'whole' as "ofPart"
       from daywalk.walks k
      where k.pruning is null
        and (k.walk_id in (select proven.walk_id from daywalk.proven_walks($1) as proven)
             or k.walk_id = (select max(w.walk_id) from daywalk.walks w where w.window_id = $1 and w.role = 'whole' and w.outcome in ('ended', 'shifted', 'failed')))
      order by k.from_time, k.walk_id`,
    [windowId],
  );
  const ofParts = rows.filter(({ ofWhole }) => !ofWhole);
  return {
    whole: rows.find(({ ofWhole }) => ofWhole)?.walkId ?? null,
    parts: ofParts.filter(({ ofPart }) => ofPart),
    all: ofParts.map(({ walkId }) => walkId),
  };
}

/**
 * A second that is a part by itself, of which the cut before it and the one behind it both show a record that it does not; null: there is
 * none beside the cuts of this split. A source that leaves out both edges shows nothing of what happened on the full second there.
 */
export function findSecondOfTwoCuts(database: Database, { windowId }: Pick<Lease, 'windowId'>) {
  return database.value<WallTime | null>(
    `select to_char(min(part.from_time), 'YYYY-MM-DD HH24:MI:SS')
       from daywalk.windows cut
       join daywalk.windows part on part.stream_id = cut.stream_id and part.kind = 'part' and part.split_by is null
        and part.state = 'complete' and part.from_time = part.to_time and part.from_time in (cut.from_time, cut.to_time)
       join daywalk.windows other on other.stream_id = cut.stream_id and other.kind = 'cut' and other.state = 'complete'
        and other.window_id <> cut.window_id and other.from_time in (part.from_time, part.from_time - interval '1 second')
      where cut.split_from = $1 and cut.kind = 'cut' and cut.state = 'complete'
        and exists (select from daywalk.ignored_now(cut.window_id) as ignored
                      cross join lateral daywalk.proven_counts(cut.window_id, ignored) as one
                      join daywalk.proven_counts(other.window_id, ignored) as another on another.hash = one.hash
                     where least(one.correction, another.correction) > 0)`,
    [windowId],
  );
}

/**
 * Completes a split window and shows it, if all its parts are complete still; repeating it gives the same answer.
 * @throws {LeaseLostError} where another worker holds it, or a part is being walked again: then it has to wait.
 */
export async function closeSplit(database: Database, lease: Lease, proof: Proof): Promise<void> {
  const outcome = await callFenced(
    database,
    lease,
    'select daywalk.close_split($1, $2::uuid, $3::jsonb) as outcome',
    [JSON.stringify(proof)],
  );
  if (outcome === 'open')
    throw new LeaseLostError(`a part of window ${lease.windowId} is being walked again`);
}

/**
 * Lets the other parts of a day wait for a part that has failed, as something speaks against it: without it they prove nothing. Not while
 * nothing new is believed, when what they show is kept with its proof, as the source may forget it meanwhile.
 */
export async function letPartsWait(database: Database, { windowId }: Pick<Lease, 'windowId'>) {
  await database.persist(
    `update daywalk.windows other set due_at = failed.due_at
       from daywalk.windows failed join daywalk.streams s on s.stream_id = failed.stream_id and s.distrusted_since is null
      where failed.window_id = $1 and failed.state = 'failed'
        and other.window_id in (
          select o.window_id from daywalk.windows o
           where o.stream_id = failed.stream_id and o.day = failed.day and o.split_from is not null and o.state = 'pending'
             and o.lease_id is null and o.due_at < failed.due_at
             for update skip locked)`,
    [windowId],
  );
}
