/** Walks in the database: opened, looked up after a doubt, and ended with an outcome. Every write is fenced by the lease (I2). */
import { DaywalkError, LeaseLostError } from '../errors.ts';
import type { Proof } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease } from './leases.ts';

/** The stored pages are not what was walked: the walk proves nothing. */
export class BrokenChainError extends DaywalkError {}

/** A walk in progress, as its row tells: the checkpoint and what was seen so far. */
export interface OpenWalk {
  readonly walkId: number;
  readonly number: number;
  readonly pageLength: number;
  /** The checkpoint: records stored, and the offset of the next page. */
  readonly nextStart: number;
  readonly pages: number;
  readonly firstTotal: number | null;
  readonly lastTotal: number | null;
}

interface WalkRow {
  walk_id: number;
  number: number;
  page_length: number;
  next_start: number;
  pages: number;
  first_total: number | null;
  last_total: number | null;
}

const openWalkOf = (row: WalkRow): OpenWalk => ({
  walkId: row.walk_id,
  number: row.number,
  pageLength: row.page_length,
  nextStart: row.next_start,
  pages: row.pages,
  firstTotal: row.first_total,
  lastTotal: row.last_total,
});

/** The walk in progress of a window that this lease holds; null where there is none. Undefined: the lease is lost. */
export async function readOpenWalk(
  database: Database,
  lease: Lease,
  signal?: AbortSignal,
): Promise<OpenWalk | null | undefined> {
  const [row] = await database.persist<Partial<WalkRow>>(
    `select k.walk_id, k.number, k.page_length, k.next_start, k.pages, k.first_total, k.last_total
       from daywalk.windows w
       left join daywalk.walks k on k.walk_id = w.current_walk
      where w.window_id = $1 and w.lease_id = $2::uuid`,
    [lease.windowId, lease.leaseId],
    signal,
  );
  if (row === undefined) return undefined;
  return row.walk_id === null ? null : openWalkOf(row as WalkRow);
}

/** Opens a new walk where none is in progress. Does nothing where one is, so it may be repeated: read it back. */
export async function openWalk(
  database: Database,
  lease: Lease,
  pageLength: number,
  signal?: AbortSignal,
): Promise<void> {
  await database.persist(
    `with held as materialized (
       select window_id, day from daywalk.windows
        where window_id = $1 and lease_id = $2::uuid and current_walk is null
          for no key update
     ), opened as (
       insert into daywalk.walks (window_id, number, day, page_length)
       select held.window_id,
              1 + coalesce((select max(k.number) from daywalk.walks k where k.window_id = held.window_id), 0),
              held.day, $3
         from held
       returning walk_id, window_id
     )
     update daywalk.windows w set current_walk = opened.walk_id
       from opened where w.window_id = opened.window_id`,
    [lease.windowId, lease.leaseId, pageLength],
    signal,
  );
}

/** Ends the walk in progress without a proof; its pages stay (I7). Repeating it does nothing. */
export async function endWalk(
  database: Database,
  lease: Lease,
  walkId: number,
  outcome: 'unproven' | 'shifted' | 'failed',
  reason: string,
  requests: number,
): Promise<void> {
  await database.persist(
    `with held as (
       update daywalk.windows set current_walk = null
        where window_id = $1 and lease_id = $2::uuid and current_walk = $3
       returning window_id
     )
     update daywalk.walks k
        set outcome = $4, reason = $5, requests = k.requests + $6, finished_at = clock_timestamp()
       from held where k.walk_id = $3 and k.window_id = held.window_id and k.outcome is null`,
    [lease.windowId, lease.leaseId, walkId, outcome, reason, requests],
  );
}

/** A walk as it stands at its proven end. */
export interface EndedWalk {
  readonly walkId: number;
  readonly nextStart: number;
  readonly pages: number;
}

/**
 * Publishes a proven walk and completes its window (I4, I6). A lost answer is settled by repeating.
 * @throws {LeaseLostError} where another worker holds the window.
 * @throws {BrokenChainError} where the stored pages are not those that were walked.
 */
export async function publishWalk(
  database: Database,
  lease: Lease,
  walk: EndedWalk,
  proof: Proof,
  requests: number,
): Promise<void> {
  await database.retry(async () => {
    if (await publishOnce(database, lease, walk, proof, requests)) return;
    const published = await database.query(
      `select from daywalk.windows where window_id = $1 and published_walk = $2`,
      [lease.windowId, walk.walkId],
    );
    if (published.length === 1) return;
    if ((await readOpenWalk(database, lease)) === undefined)
      throw new LeaseLostError(`another worker holds window ${lease.windowId} now`);
    throw new BrokenChainError(
      `the stored pages of walk ${walk.walkId} are not the ${walk.pages} pages with ${walk.nextStart} records that were walked`,
      { hint: 'Something else than daywalk changed the table daywalk.pages.' },
    );
  });
}

/** One statement: only if the lease, the checkpoint and the chain of stored pages (I3) agree with what was proven. */
async function publishOnce(
  database: Database,
  lease: Lease,
  walk: EndedWalk,
  proof: Proof,
  requests: number,
): Promise<boolean> {
  const rows = await database.query(
    `with held as materialized (
       select window_id from daywalk.windows
        where window_id = $1 and lease_id = $2::uuid and current_walk = $3
          for update
     ), chain as materialized (
       select count(*) as pages, coalesce(sum(p.records), 0) as records,
              coalesce(bool_and(p.start = p.expected and p.page_no = p.ordinal), true) as unbroken
         from (select page_no, start, records,
                      coalesce(sum(records) over (order by page_no rows between unbounded preceding and 1 preceding), 0) as expected,
                      row_number() over (order by page_no) - 1 as ordinal
                 from daywalk.pages
                where walk_id = $3 and day = (select day from daywalk.walks where walk_id = $3)) as p
     ), proven as (
       update daywalk.walks k
          set outcome = 'proven', proof = $6::jsonb, requests = k.requests + $7, finished_at = clock_timestamp()
         from held, chain
        where k.walk_id = $3 and k.window_id = held.window_id and k.outcome is null
          and k.next_start = $4 and k.pages = $5
          and chain.unbroken and chain.records = $4 and chain.pages = $5
       returning k.walk_id, k.window_id
     )
     update daywalk.windows w
        set state = 'complete', published_walk = proven.walk_id, current_walk = null, completed_at = clock_timestamp(),
            due_at = null, attempts = 0, failures = 0, last_error = null, last_failed_at = null,
            lease_id = null, lease_owner = null, lease_expires = null
       from proven
      where w.window_id = proven.window_id
      returning w.window_id`,
    [
      lease.windowId,
      lease.leaseId,
      walk.walkId,
      walk.nextStart,
      walk.pages,
      JSON.stringify(proof),
      requests,
    ],
  );
  return rows.length === 1;
}

/** Records that stand on more than one page of the walk: a sign that the order is not stable (DESIGN 5.3). */
export async function countRepeatedRecords(database: Database, walkId: number): Promise<number> {
  const [row] = await database.persist<{ repeated: number }>(
    `select count(*) as repeated
       from (select from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
              where p.walk_id = $1
              group by h.hash having count(distinct p.page_no) > 1) as repeated`,
    [walkId],
  );
  return row?.repeated ?? 0;
}

/** The walks of a window since it was last proven: how many, and the largest page that they got. */
export async function readUnprovenWalks(
  database: Database,
  lease: Lease,
): Promise<{ walks: number; largestPage: number }> {
  const [row] = await database.persist<{ walks: number; largest_page: number }>(
    `select count(distinct k.walk_id) as walks, coalesce(max(p.records), 0) as largest_page
       from daywalk.walks k
       left join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.window_id = $1 and k.outcome is not null
        and k.number > coalesce((select max(number) from daywalk.walks where window_id = $1 and outcome = 'proven'), 0)`,
    [lease.windowId],
  );
  return { walks: row?.walks ?? 0, largestPage: row?.largest_page ?? 0 };
}

/** The newest walk of the window that reached its end without being believed, if it holds the same records, each as often, as this one. */
export async function agreesWithEarlierWalk(
  database: Database,
  lease: Lease,
  walkId: number,
): Promise<number | null> {
  const [row] = await database.persist<{ walk_id: number; differing: number }>(
    `with earlier as materialized (
       select walk_id from daywalk.walks
        where window_id = $1 and outcome = 'unproven' and walk_id < $2
        order by walk_id desc limit 1
     ), counted as (
       select h.hash, sum(case when p.walk_id = $2 then 1 else -1 end) as surplus
         from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
        where p.walk_id in ($2, (select walk_id from earlier))
        group by h.hash
     )
     select walk_id, (select count(*) from counted where surplus <> 0) as differing from earlier`,
    [lease.windowId, walkId],
  );
  return row !== undefined && row.differing === 0 ? row.walk_id : null;
}
