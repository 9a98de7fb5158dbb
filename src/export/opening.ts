/** Opening walks: the first one of a window, the one that a worker before left open, or another one with other page boundaries. */
import { LeaseLostError } from '../errors.ts';
import type { Database } from '../store/database.ts';
import { readWalkSizes, type WalkSizes } from '../store/evidence.ts';
import type { Lease } from '../store/leases.ts';
import { type OpenWalk, openWalk, readOpenWalk, type WalkSpan } from '../store/walks.ts';
import type { StreamMemory } from './memory.ts';

/** What opening needs. */
export interface OpeningContext {
  readonly database: Database;
  readonly memory: StreamMemory;
  readonly pageLength: number;
  readonly signal: AbortSignal;
}

/**
 * Other page boundaries for every further walk: never longer than what the source gave, and the full length where the
 * window fits into one page, because in one page no order can hide a record.
 */
export function nextPageLength(pageLength: number, earlier: WalkSizes): number {
  const onePage = earlier.records <= earlier.largestPage && earlier.largestPage < pageLength;
  if (earlier.walks === 0 || onePage) return pageLength;
  const most = earlier.largestPage === 0 ? pageLength : Math.min(pageLength, earlier.largestPage);
  return Math.max(1, Math.floor(most * (1 - 0.13 * (1 + ((earlier.walks - 1) % 5)))));
}

/**
 * Opens the first walk of a window.
 * @throws {LeaseLostError} where another worker holds it now.
 */
export async function openFirst(context: OpeningContext, lease: Lease): Promise<OpenWalk> {
  const { database, memory, pageLength, signal } = context;
  const length = memory.pageLength(pageLength);
  const opened = await openWalk(database, lease, 'whole', length, signal);
  // The answer that told of it may have been lost.
  return opened ?? openOrResume(context, lease, 'whole');
}

/**
 * The walk that is open, or a new one.
 * @throws {LeaseLostError} where another worker holds the window now.
 */
export async function openOrResume(
  context: OpeningContext,
  lease: Lease,
  span: WalkSpan,
): Promise<OpenWalk> {
  const { database, memory, pageLength, signal } = context;
  const lost = () => new LeaseLostError(`another worker holds window ${lease.windowId} now`);
  const open = await readOpenWalk(database, lease, signal);
  if (open === undefined) throw lost();
  if (open !== null) return open;
  const earlier = await readWalkSizes(database, lease);
  const length = nextPageLength(memory.pageLength(pageLength), earlier);
  const opened =
    (await openWalk(database, lease, span, length, signal)) ??
    (await readOpenWalk(database, lease, signal));
  if (opened === undefined || opened === null) throw lost();
  return opened;
}
