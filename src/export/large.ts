/** Large windows: split by time before they are walked, so that no page lies deep in a list (docs/decisions/0012). */
import type { Stream } from '../model.ts';
import type { Split } from '../plan/split.ts';
import type { Database } from '../store/database.ts';
import type { Claim } from '../store/leases.ts';
import { compareProbe } from '../store/probes.ts';
import type { OpenWalk } from '../store/walks.ts';
import { type ReadingContext, readPage } from './reading.ts';
import { targetOf, walkedSpan } from './span.ts';

/** What judging a large window needs. */
export interface LargeContext extends ReadingContext {
  readonly database: Database;
  readonly stream: Stream;
  /** A window whose total is larger is split before it is walked; absent: none is. */
  readonly windowRecords?: number;
}

/** How many records a window may have to be walked whole; null: as many as it has, because nothing speaks for parts. */
export function mostRecords(
  { windowRecords, memory }: Pick<LargeContext, 'windowRecords' | 'memory'>,
  halves: Split | null,
): number | null {
  return halves?.by === 'time' && memory.totalsNarrow !== false ? (windowRecords ?? null) : null;
}

/**
 * Whether the total is less for at least one half of the window: one that is the same for each part counts something
 * else, and would have the window split down to its seconds: then the walk that is open goes on. Asked once in a stream
 * while the process lives.
 */
export async function totalNarrows(
  context: LargeContext,
  claim: Claim,
  halves: Split | null,
  walk: OpenWalk,
  total: number | null,
): Promise<boolean> {
  const { database, memory, stream } = context;
  if (memory.totalsNarrow !== null) return memory.totalsNarrow;
  for (const half of ['first half', 'second half'] as const) {
    const target = targetOf(stream, walkedSpan(claim, halves, half));
    const { facts } = await readPage(
      context,
      { ...target, start: 0, length: 2 },
      (page, envelope) => compareProbe(database, walk.walkId, page, envelope),
    );
    memory.totalsNarrow = facts.total !== null && total !== null && facts.total < total;
    if (memory.totalsNarrow) break;
  }
  return memory.totalsNarrow === true;
}
