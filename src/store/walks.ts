/** Walks in the database: opened, looked up after a doubt, ended with an outcome, and proven. Every write is fenced by the lease (I2). */
import { leaseLost, WalkError } from '../errors.ts';
import type { Claim, ListEnd, Proof, Span } from '../model.ts';
import type { Database, SqlValues } from './database.ts';
import type { Lease } from './leases.ts';
import { spanColumns } from './shown.ts';
import { unhurried } from './unhurried.ts';

/** The stored pages are not what was walked: the walk proves nothing. */
export class BrokenChainError extends WalkError {
  constructor(message: string) {
    super('broken', message, {
      hint: 'A failover took some of it away, or something else than daywalk changed the table daywalk.pages.',
    });
  }
}

/** What a walk is for: the whole window, or a half of it to be compared with the whole; of a cut: across it, before it, after it. */
export type WalkRole = 'whole' | 'half' | 'across' | 'before' | 'after';

/** What a walk is to ask for. */
export interface WalkPlan extends Span {
  readonly role: WalkRole;
  readonly pageLength: number;
  /** JSON pointers into a record, to what is not the record. */
  readonly ignored: readonly string[];
}

/** How far a walk has come: its checkpoint. */
export interface WalkedSoFar {
  readonly walkId: number;
  /** Records stored, and the offset of the next page. */
  readonly nextStart: number;
  readonly pages: number;
}

/** A walk in progress, as its row tells. */
export interface OpenWalk extends WalkPlan, WalkedSoFar {
  readonly number: number;
}

/** The columns of a walk `k` as {@link OpenWalk}. */
const OPEN_WALK_COLUMNS = `k.walk_id as "walkId", k.number, k.role, ${spanColumns('k')},
            k.page_length as "pageLength", k.ignored, k.next_start as "nextStart", k.pages`;

/** The walk in progress of a window that this lease holds; null where there is none. Undefined: the lease is lost. */
export async function readOpenWalk(
  database: Database,
  lease: Lease,
  signal?: AbortSignal,
): Promise<OpenWalk | null | undefined> {
  const [row] = await database.persist<OpenWalk | { readonly walkId: null }>(
    `select ${OPEN_WALK_COLUMNS}
       from daywalk.windows w
       left join daywalk.walks k on k.walk_id = w.current_walk
      where w.window_id = $1 and w.lease_id = $2::uuid`,
    [lease.windowId, lease.leaseId],
    signal,
  );
  return row?.walkId === null ? null : row;
}

/** Each walk of a window asks for pages that are shorter by another number of records than so many walks before it did. */
const LENGTHS = 7;
/** A page is shortened by an eighth at most. */
const SHARE = 8;

/**
 * Opens a new walk where none is in progress. Does nothing where one is, so it may be repeated. No walk asks for the very pages of
 * the one before: what stands between and remembers answers by their address would give that again.
 * @returns the walk; null: nothing was opened by this copy of the statement, so read what is there.
 */
export function openWalk(
  database: Database,
  lease: Lease,
  { role, from, to, levelFrom, levelTo, pageLength, ignored }: WalkPlan,
  signal?: AbortSignal,
): Promise<OpenWalk | null> {
  return database.first<OpenWalk>(
    `with held as materialized (
       select window_id, stream_id, day from daywalk.windows
        where window_id = $1 and lease_id = $2::uuid and current_walk is null
          for no key update
     ), opened as (
       insert into daywalk.walks (window_id, number, day, role, from_time, to_time, level_from, level_to, page_length, ignored, id_path)
       select held.window_id,
              1 + coalesce((select max(k.number) from daywalk.walks k where k.window_id = held.window_id), 0),
              held.day, $3, $4, $5, $6, $7,
              $8::integer - (select count(*) from daywalk.walks k where k.window_id = held.window_id)::integer % greatest(1, least(${LENGTHS}, $8::integer / ${SHARE})),
              $9::text[], s.id_path
         from held join daywalk.streams s on s.stream_id = held.stream_id
       returning *
     ), noted as (
       update daywalk.windows w set current_walk = opened.walk_id
         from opened where w.window_id = opened.window_id
     )
     select ${OPEN_WALK_COLUMNS} from opened k`,
    [lease.windowId, lease.leaseId, role, from, to, levelFrom, levelTo, pageLength, ignored],
    signal,
  );
}

/** How a walk ended that is not proven, or not yet. */
export interface WalkEnding {
  readonly outcome: 'ended' | 'shifted' | 'failed';
  readonly reason: string | null;
  /** How its list ended, and its proof where that is not believed yet. */
  readonly end: { readonly end?: ListEnd; readonly withheld?: Proof } | null;
  /** What answers said that are no stored pages, and the requests that stored none; absent: nothing, or noted. */
  readonly claims?: readonly Claim[];
  readonly requests?: number;
}

/** Ends a walk without proving it, says more of how it ended, or takes back that it ended well; its pages stay (I7). Repeating it does nothing. */
export async function endWalk(
  database: Database,
  lease: Lease,
  walkId: number,
  { outcome, reason, end, claims = [], requests = 0 }: WalkEnding,
): Promise<void> {
  await database.persist(
    `with held as (
       update daywalk.windows set current_walk = nullif(current_walk, $3)
        where window_id = $1 and lease_id = $2::uuid
       returning window_id
     )
     update daywalk.walks k
        set outcome = $4, reason = $5, proof = coalesce(k.proof, '{}') || $6::jsonb, claims = k.claims || $7::jsonb, requests = k.requests + $8,
            finished_at = clock_timestamp()
       from held
      where k.walk_id = $3 and k.window_id = held.window_id
        and (k.outcome is null or (k.outcome = 'ended' and k.proof || $6::jsonb is distinct from k.proof))`,
    [
      lease.windowId,
      lease.leaseId,
      walkId,
      outcome,
      reason,
      end === null ? null : JSON.stringify(end),
      JSON.stringify(claims),
      requests,
    ],
  );
}

/** Ends a walk that proves nothing. */
export const discardWalk = (
  database: Database,
  lease: Lease,
  walkId: number,
  reason: string,
): Promise<void> => endWalk(database, lease, walkId, { outcome: 'failed', reason, end: null });

/**
 * The largest walk of a window that was withheld before its source was accepted, and holds all that another one does and more;
 * null: none does.
 */
export function readWithheld(
  database: Database,
  { windowId }: Pick<Lease, 'windowId'>,
  walkId: number,
): Promise<(WalkedSoFar & { readonly proof: Proof }) | null> {
  return database.first<WalkedSoFar & { proof: Proof }>(
    `select k.walk_id as "walkId", k.next_start as "nextStart", k.pages, k.proof -> 'withheld' as proof
       from daywalk.walks k
       join daywalk.walks newest on newest.walk_id = $2 and newest.next_start < k.next_start
       join daywalk.windows w on w.window_id = k.window_id
       join daywalk.streams s on s.stream_id = w.stream_id and s.accepted_at > k.finished_at
      where k.window_id = $1 and k.outcome = 'ended' and k.proof ? 'withheld' and k.pruning is null
        and not exists (select unnest(p.record_hashes) from daywalk.pages p where p.walk_id = newest.walk_id and p.day = newest.day
                        except all
                        select unnest(p.record_hashes) from daywalk.pages p where p.walk_id = k.walk_id and p.day = k.day)
      order by k.next_start desc, k.walk_id desc limit 1`,
    [windowId, walkId],
  );
}

/**
 * Proves a window by a walk, completes it and shows it (I4, I6): only if the lease, the checkpoint and the chain of stored
 * pages (I3) agree with what was proven. Repeating it gives the same answer, so a lost one is settled by repeating.
 * @throws {LeaseLostError} where another worker holds the window.
 * @throws {BrokenChainError} where the stored pages are not those that were walked.
 */
export async function proveWindow(
  database: Database,
  lease: Lease,
  walk: WalkedSoFar,
  proof: Proof,
): Promise<void> {
  const outcome = await callFenced(
    database,
    lease,
    'select daywalk.prove_window($1, $2::uuid, $3, $4, $5, $6::jsonb) as outcome',
    [walk.walkId, walk.nextStart, walk.pages, JSON.stringify(proof)],
  );
  if (outcome !== 'proven')
    throw new BrokenChainError(
      `the stored pages of walk ${walk.walkId} are not the ${walk.pages} pages with ${walk.nextStart} records that were walked`,
    );
}

/** Proves a cut by the walks that the proof names, and shows what it corrects; else as {@link proveWindow}. */
export async function proveCut(database: Database, lease: Lease, proof: Proof): Promise<void> {
  const sql = 'select daywalk.prove_cut($1, $2::uuid, $3::jsonb) as outcome';
  if ((await callFenced(database, lease, sql, [JSON.stringify(proof)])) !== 'proven')
    throw new BrokenChainError(`the walks of cut ${lease.windowId} are not as they were walked`);
}

/**
 * Calls a function of daywalk that does something to a window for the holder of its lease only (I2); it may be repeated.
 * @param sql its arguments $1 and $2 are the window and the lease, the others `values`; its one value says what came of it.
 * @throws {LeaseLostError} where another worker holds the window.
 */
export async function callFenced(
  database: Database,
  { windowId, leaseId }: Lease,
  sql: string,
  values: SqlValues,
): Promise<string> {
  const outcome = await unhurried<string>(database, sql, [windowId, leaseId, ...values]);
  if (outcome === 'lost') throw leaseLost(windowId);
  return outcome;
}
