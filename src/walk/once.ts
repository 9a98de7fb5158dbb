/** Opens a walk, or takes up the one that a worker before left open, walks it once and notes how it ended. */

import { leaseLost, WalkError } from '../errors.ts';
import type { Span } from '../model.ts';
import type { EndedWalk } from '../store/evidence/evidence.ts';
import {
  discardWalk,
  endWalk,
  type OpenWalk,
  openWalk,
  readOpenWalk,
  type WalkEnding,
  type WalkRole,
} from '../store/walks.ts';
import type { Walks, WindowContext } from './questions/context.ts';
import { sameSpan } from './questions/span.ts';
import type { WalkManner } from './rules/steps.ts';
import { Walk } from './walk.ts';

/** What is to be walked, and how. */
export interface ToWalk {
  readonly role: WalkRole;
  readonly span: Span;
  /** Walks of the same span: the next one has other page boundaries. */
  readonly earlier: Walks;
  readonly manner: WalkManner;
}

/**
 * Walks once; the walk ends in its row, as ended, moved or failed.
 * @throws {WalkError} where it did not come to the end of the list; what fetching and storing throw.
 */
export async function walkOnce(context: WindowContext, asked: ToWalk): Promise<void> {
  const { database, log, window } = context;
  const open = await openOrResume(context, asked);
  const walk = new Walk(context, open, asked.manner);
  const note = (ending: WalkEnding) =>
    endWalk(database, window, open.walkId, { ...ending, ...walk.unnoted });
  try {
    const end = await walk.toEnd();
    await note({ outcome: 'ended', reason: null, end: { end } });
  } catch (error) {
    if (!(error instanceof WalkError)) throw error;
    const { message: reason, fault } = error;
    await note({ outcome: fault === 'shifted' ? 'shifted' : 'failed', reason, end: null });
    log.info({ window: window.from, walk: open.number }, reason);
    throw error;
  }
}

/**
 * Other page boundaries for every further walk: never longer than what the source gave, and the full length where the
 * window fits into one page, because in one page no order can hide a record.
 */
export function nextPageLength(
  pageLength: number,
  earlier: readonly Pick<EndedWalk, 'largestPage' | 'stored'>[],
): number {
  const largest = Math.max(0, ...earlier.map((walk) => walk.largestPage));
  const records = Math.max(0, ...earlier.map((walk) => walk.stored));
  const onePage = records <= largest && largest < pageLength;
  if (earlier.length === 0 || onePage) return pageLength;
  const most = largest === 0 ? pageLength : Math.min(pageLength, largest);
  return Math.max(1, Math.floor(most * (1 - 0.13 * (1 + ((earlier.length - 1) % 5)))));
}

/** @throws {LeaseLostError} where another worker holds the window now. */
async function openOrResume(
  { database, knowledge, pageLength, signal, window }: WindowContext,
  { role, span, earlier }: ToWalk,
): Promise<OpenWalk> {
  const length = nextPageLength(knowledge.pageLength(pageLength), earlier);
  const asked = { ...span, role, pageLength: length, ignored: knowledge.ignored };
  for (;;) {
    const opened = await openWalk(database, window, asked, signal);
    if (opened !== null) return opened;
    // One is open: of a worker before, or of a statement whose answer was lost.
    const open = await readOpenWalk(database, window, signal);
    if (open === undefined) throw leaseLost(window.windowId);
    if (open === null) continue;
    if (open.role === role && sameSpan(open, span)) return open;
    await discardWalk(database, window, open.walkId, 'another walk was needed first');
  }
}
