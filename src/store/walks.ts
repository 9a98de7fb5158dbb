/** Walks in the database: opened, looked up after a doubt, and ended with an outcome. Every write is fenced by the lease (I2). */
import { DaywalkError, LeaseLostError } from '../errors.ts';
import type { Envelope, Proof } from '../model.ts';
import type { Database } from './database.ts';
import { ENVELOPE_COLUMNS } from './envelopes.ts';
import type { Lease } from './leases.ts';

/** The stored pages are not what was walked: the walk proves nothing. */
export class BrokenChainError extends DaywalkError {}

/** What of its window a walk covers. */
export type WalkSpan = 'whole' | 'first half' | 'second half' | 'next day';

/** A walk in progress, as its row tells: the checkpoint and what was seen so far. */
export interface OpenWalk {
  readonly walkId: number;
  readonly number: number;
  /** A half is walked to be compared with the whole. */
  readonly span: WalkSpan;
  readonly pageLength: number;
  /** The checkpoint: records stored, and the offset of the next page. */
  readonly nextStart: number;
  readonly pages: number;
  readonly firstTotal: number | null;
  readonly lastTotal: number | null;
  /** Where its pages have list and total; null before the first one. */
  readonly envelope: Envelope | null;
}

/** The columns of a walk `k` as {@link OpenWalkRow}. */
const OPEN_WALK_COLUMNS = `k.walk_id as "walkId", k.number, k.span, k.page_length as "pageLength", k.next_start as "nextStart", k.pages,
            k.first_total as "firstTotal", k.last_total as "lastTotal", ${ENVELOPE_COLUMNS}`;

/** Without a walk in progress all is null; before its first page the envelope is. */
type OpenWalkRow = Omit<OpenWalk, 'walkId' | 'envelope'> &
  Omit<Envelope, 'recordsPath'> & {
    readonly walkId: number | null;
    readonly recordsPath: readonly string[] | null;
  };

/** The walk in progress of a window that this lease holds; null where there is none. Undefined: the lease is lost. */
export async function readOpenWalk(
  database: Database,
  lease: Lease,
  signal?: AbortSignal,
): Promise<OpenWalk | null | undefined> {
  const [row] = await database.persist<OpenWalkRow>(
    `select ${OPEN_WALK_COLUMNS}
       from daywalk.windows w
       left join daywalk.walks k on k.walk_id = w.current_walk
      where w.window_id = $1 and w.lease_id = $2::uuid`,
    [lease.windowId, lease.leaseId],
    signal,
  );
  return row === undefined ? undefined : openWalkOf(row);
}

function openWalkOf({
  walkId,
  recordsPath,
  totalPath,
  relationPath,
  ...walk
}: OpenWalkRow): OpenWalk | null {
  if (walkId === null) return null;
  const envelope = recordsPath === null ? null : { recordsPath, totalPath, relationPath };
  return { ...walk, walkId, envelope };
}

/**
 * Opens a new walk where none is in progress. Does nothing where one is, so it may be repeated.
 * @returns the walk; null: nothing was opened by this copy of the statement, so read what is there.
 */
export async function openWalk(
  database: Database,
  lease: Lease,
  span: WalkSpan,
  pageLength: number,
  signal?: AbortSignal,
): Promise<OpenWalk | null> {
  const [row] = await database.persist<OpenWalkRow>(
    `with held as materialized (
       select window_id, day from daywalk.windows
        where window_id = $1 and lease_id = $2::uuid and current_walk is null
          for no key update
     ), opened as (
       insert into daywalk.walks (window_id, number, span, day, page_length)
       select held.window_id,
              1 + coalesce((select max(k.number) from daywalk.walks k where k.window_id = held.window_id), 0),
              $4, held.day, $3
         from held
       returning *
     ), noted as (
       update daywalk.windows w set current_walk = opened.walk_id
         from opened where w.window_id = opened.window_id
     )
     select ${OPEN_WALK_COLUMNS} from opened k`,
    [lease.windowId, lease.leaseId, pageLength, span],
    signal,
  );
  return row === undefined ? null : openWalkOf(row);
}

/** Ends a walk without publishing it, or takes back that it ended well; its pages stay (I7). Repeating it does nothing. */
export async function endWalk(
  database: Database,
  lease: Lease,
  walkId: number,
  end: {
    readonly outcome: 'ended' | 'shifted' | 'failed';
    readonly reason: string | null;
    readonly proof: Proof | null;
    readonly requests: number;
  },
): Promise<void> {
  await database.persist(
    `with held as (
       update daywalk.windows set current_walk = nullif(current_walk, $3)
        where window_id = $1 and lease_id = $2::uuid
       returning window_id
     )
     update daywalk.walks k
        set outcome = $4, reason = $5, requests = k.requests + $6, proof = $7::jsonb, finished_at = clock_timestamp()
       from held where k.walk_id = $3 and k.window_id = held.window_id and (k.outcome is null or k.outcome = 'ended')`,
    [
      lease.windowId,
      lease.leaseId,
      walkId,
      end.outcome,
      end.reason,
      end.requests,
      end.proof === null ? null : JSON.stringify(end.proof),
    ],
  );
}

/** A walk as it stands at its proven end. */
export interface EndedWalk {
  readonly walkId: number;
  readonly nextStart: number;
  readonly pages: number;
}

/**
 * Publishes a proven walk and completes its window (I4, I6): only if the lease, the checkpoint and the chain of stored
 * pages (I3) agree with what was proven. Repeating it gives the same answer, so a lost one is settled by repeating.
 * @param requests requests that are not noted with the walk yet.
 * @throws {LeaseLostError} where another worker holds the window.
 * @throws {BrokenChainError} where the stored pages are not those that were walked.
 */
export async function publishWalk(
  database: Database,
  lease: Lease,
  walk: EndedWalk,
  proof: Proof,
  requests: number,
  recheckDays: number,
): Promise<void> {
  const [row] = await database.persist<{ outcome: 'published' | 'lost' | 'broken' }>(
    `select daywalk.publish_walk($1, $2::uuid, $3, $4, $5, $6::jsonb, $7, $8) as outcome`,
    [
      lease.windowId,
      lease.leaseId,
      walk.walkId,
      walk.nextStart,
      walk.pages,
      JSON.stringify(proof),
      requests,
      recheckDays,
    ],
  );
  if (row?.outcome === 'published') return;
  if (row?.outcome === 'lost')
    throw new LeaseLostError(`another worker holds window ${lease.windowId} now`);
  throw new BrokenChainError(
    `the stored pages of walk ${walk.walkId} are not the ${walk.pages} pages with ${walk.nextStart} records that were walked`,
    { hint: 'Something else than daywalk changed the table daywalk.pages.' },
  );
}
