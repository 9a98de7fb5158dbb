/** Walks as evidence: what those of a window have shown since it was last proven or given up. */
import type { Claim, ListEnd, Span } from '../../model.ts';
import { type ClaimRow, claimOfRow } from '../bodies/page-facts.ts';
import type { Database } from '../database.ts';
import type { Lease } from '../leases.ts';
import { spanColumns } from '../shown.ts';
import type { OpenWalk, WalkEnding } from '../walks.ts';

/** A walk that has ended. */
export interface EndedWalk
  extends Span,
    Pick<OpenWalk, 'walkId' | 'role' | 'pages' | 'pageLength'>,
    Pick<WalkEnding, 'outcome' | 'reason'> {
  readonly stored: number;
  readonly largestPage: number;
  readonly end: ListEnd | null;
  /** Of its pages, and of the other answers since it began. */
  readonly claims: readonly Claim[];
  /** Other walks of the same span, with which it holds all of its records; absent: it holds them alone. */
  readonly unites?: readonly number[];
}

/** The list of a span, as a walk holds it, or several together, of which none shows all. */
export type HeldList = Pick<EndedWalk, 'walkId' | 'unites'>;

/** The walks that hold a list. */
export const walksOf = ({ walkId, unites = [] }: HeldList): number[] => [walkId, ...unites];

/** The walks of a window since it was last proven or given up, oldest first. */
export async function readWalks(database: Database, lease: Lease): Promise<EndedWalk[]> {
  const walks = await database.persist<EndedWalk & { pageClaims: ClaimRow[] }>(
    `select walk.walk_id as "walkId", walk.role, walk.outcome, walk.reason,
            walk.next_start as stored, walk.pages, walk.page_length as "pageLength",
            ${spanColumns('walk')},
            coalesce(seen.largest_page, 0) as "largestPage",
            walk.proof ->> 'end' as "end", coalesce(seen.claims, '[]') as "pageClaims", walk.claims
       from daywalk.walks as walk
       join daywalk.windows as owner using (window_id)
      cross join lateral (
        select max(page.records + page.skip) as largest_page,
               jsonb_agg(jsonb_build_object(
                 'start', page.start, 'length', page.length, 'came', page.records + page.skip, 'total', page.total,
                 'relation', page.relation, 'totalMissing', page.total_missing, 'more', page.more) order by page.page_no) as claims
          from daywalk.pages_of(array[walk.walk_id]) as page) as seen
      where walk.window_id = $1 and walk.outcome in ('ended', 'shifted', 'failed')
        and walk.number > owner.judged
      order by walk.number`,
    [lease.windowId],
  );
  return walks.map(({ pageClaims, claims, ...walk }) => ({
    ...walk,
    claims: [...pageClaims.map(claimOfRow), ...claims],
  }));
}

/**
 * Whether a window is a part of one whose list moved under a walk: its pages may fit each other, and be of two orders all the same,
 * and a record that came twice need not show it, where its text has changed with its row.
 */
export function isOfMoved(database: Database, windowId: number): Promise<boolean> {
  return database.value(
    `with recursive above (window_id) as (
       select split_from from daywalk.windows where window_id = $1
       union all
       select w.split_from from above join daywalk.windows w using (window_id)
     )
     select exists (select from above join daywalk.walks using (window_id) where outcome = 'shifted')`,
    [windowId],
  );
}

/** The walks of the halves that a window was compared with for its newest proof, without halves that were halved in turn. */
export function readHalves(database: Database, windowId: number) {
  return database.persist<Span & { readonly walkId: number; readonly records: number }>(
    `select k.walk_id as "walkId", k.next_start as records, ${spanColumns('k')}
       from daywalk.windows w
       join daywalk.walks k on k.window_id = w.window_id and k.role = 'half' and w.proof -> 'halves' @> to_jsonb(k.walk_id)
      where w.window_id = $1 and k.pruning is null`,
    [windowId],
  );
}

/** The walk that a window was proven by before the given one; null: there is none whose pages are here. */
export function readProofBefore(database: Database, walkId: number): Promise<number | null> {
  return database.value(
    `select max(former.walk_id)
       from daywalk.walks k
       join daywalk.walks former on former.window_id = k.window_id and former.role = k.role
      where k.walk_id = $1 and former.walk_id < k.walk_id and former.outcome = 'proven' and former.pruning is null`,
    [walkId],
  );
}

/** The hashes of the records of a walk, in order. */
export async function readHashes(database: Database, walkId: number): Promise<string[]> {
  const rows = await database.persist<{ hash: string }>(
    `select record.hash::text as hash
       from daywalk.pages_of(array[$1::bigint]) as page
      cross join lateral unnest(page.record_hashes) with ordinality as record (hash, position)
      order by page.page_no, record.position`,
    [walkId],
  );
  return rows.map((row) => row.hash);
}

/** The first page of a walk, if it has records. */
const FIRST_PAGE = `daywalk.walks as walk
      cross join lateral daywalk.pages_of(array[walk.walk_id], 0) as page
      where walk.walk_id = $1 and page.records > 0`;

/** Hashes of the records of the first page of a walk, in order, without what is ignored. */
export function readFirstHashes(database: Database, walkId: number, ignored: readonly string[]) {
  return database.value<readonly string[]>(
    `select coalesce((select daywalk.hashes_of(page.body #> walk.records_path, $2) from ${FIRST_PAGE}), '{}')::text[]`,
    [walkId, ignored],
  );
}

/** The records of the first page of a walk, parsed: for a look at their fields. */
export function readFirstRecords(database: Database, walkId: number): Promise<unknown[]> {
  return database.value(
    `select coalesce((select page.body #> walk.records_path from ${FIRST_PAGE}), '[]')`,
    [walkId],
  );
}
