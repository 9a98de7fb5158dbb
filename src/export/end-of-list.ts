/** The end of a window's list at the source: one request shows whether it is still what is stored (DESIGN 4). */
import { EnvelopeError, RequestError } from '../errors.ts';
import type { Page, Priority } from '../model.ts';
import type { Database } from '../store/database.ts';
import { compareProbe } from '../store/probes.ts';
import type { PublishedWalk } from '../store/published.ts';
import type { FetchPage } from './reading.ts';
import type { WalkTarget } from './walk.ts';

/** What looking needs. */
export interface LookParts {
  readonly database: Database;
  readonly fetchPage: FetchPage;
}

/** What one answer shows. */
export interface EndSeen {
  /** Empty: nothing has changed, as far as one request can tell. */
  readonly differences: readonly string[];
  /** The order was not stable when the window was walked: only counts were compared. */
  readonly unstable: boolean;
}

/** Whether the source did not keep its order from one page to the next when the window was walked. */
export function isOrderUnstable({ proof }: PublishedWalk): boolean {
  return proof.kind === 'union' || proof.repeated !== undefined;
}

/**
 * Asks for the last record that is stored, and the one after it.
 * @throws {EnvelopeError} where the answer is no page; whatever fetching throws, but for a refusal behind the first record.
 */
export async function lookAtEnd(
  { database, fetchPage }: LookParts,
  target: WalkTarget,
  walk: PublishedWalk,
  options: { readonly signal: AbortSignal; readonly priority?: Priority },
): Promise<EndSeen> {
  const unstable = isOrderUnstable(walk);
  const start = Math.max(0, walk.records - 1);
  let page: Page;
  try {
    page = await fetchPage({ ...target, start, length: 2 }, options);
  } catch (error) {
    // A list that has become shorter may answer with an error behind its end.
    if (!(error instanceof RequestError) || start === 0) throw error;
    const refused = `the source refuses start ${start}, where the last record was: ${error.message}`;
    return { differences: [refused], unstable };
  }
  const { records, total, complaint, beginsWithLast } = await compareProbe(
    database,
    walk.walkId,
    page,
    walk.envelope,
  );
  if (records === null || complaint !== null)
    throw new EnvelopeError(`the answer at start ${start} is no page, or tells of an error`);
  const differences: string[] = [];
  // Where totals proved nothing, one of no more than the answer may be the answer's own count.
  const ownCount = walk.proof.kind === 'probe' && total !== null && total <= records;
  if (total !== walk.lastTotal && !ownCount)
    differences.push(`the total was ${walk.lastTotal ?? 'not told'} and is ${total ?? 'not told'}`);
  if (walk.records === 0 && records > 0) differences.push('the window was empty and is not');
  if (walk.records > 0 && records === 0)
    differences.push(`there is no record at ${start}, where the last one was`);
  if (walk.records > 0 && records > 1)
    differences.push(`there are more than the ${walk.records} records that were there`);
  if (walk.records > 0 && records > 0 && !beginsWithLast && !unstable)
    differences.push(`the last record, at ${start}, is another one`);
  return { differences, unstable };
}
