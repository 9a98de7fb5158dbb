/** Walks in a test database: stored page by page, and published. */
import type { Proof } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import type { Claim } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { type EndedWalk, publishWalk } from '../../src/store/walks.ts';
import { claimDay, ENVELOPE, openedWalk, pageOf, TTL_MS } from './store.ts';

/** The ids of the records of each page. */
export type PageIds = readonly (readonly number[])[];

/** The proof of so many records by their total. */
export const totalProof = (count: number): Proof => ({
  kind: 'total',
  firstTotal: count,
  lastTotal: count,
  records: count,
});

/** Records with these ids, as texts that `jsonb` gives back letter by letter. */
export const textsOf = (ids: readonly number[]): string[] => ids.map((id) => `{"id": ${id}}`);

/** Walks a claimed window, one page for each list of ids; the walk at its end. */
export async function walkPages(
  database: Database,
  claim: Claim,
  pages: PageIds,
): Promise<EndedWalk> {
  const checkpoint = await openedWalk(database, claim);
  let nextStart = 0;
  for (const [number, ids] of pages.entries()) {
    const at = { ...checkpoint, nextStart, pages: number };
    await storePage(database, claim, TTL_MS, at, pageOf(nextStart, textsOf(ids)), ENVELOPE, false);
    nextStart += ids.length;
  }
  return { walkId: checkpoint.walkId, nextStart, pages: pages.length };
}

/**
 * Walks the next due window of the stream, and publishes it.
 * @param change of its proof, which else is that of its total.
 */
export async function publishNext(
  database: Database,
  streamId: number,
  pages: PageIds,
  change: Partial<Proof> = {},
  recheckDays = 0,
): Promise<Claim> {
  const claim = await claimDay(database, streamId);
  const end = await walkPages(database, claim, pages);
  const proof = { ...totalProof(end.nextStart), ...change } as Proof;
  await publishWalk(database, claim, end, proof, 0, recheckDays);
  return claim;
}
