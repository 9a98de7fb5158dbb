/** What the walks of a window so far call for: another walk, a comparison, a publication or a split (DESIGN 5.2, 5.3). */
import { WalkError } from '../errors.ts';
import type { Proof } from '../model.ts';
import type { Split } from '../plan/split.ts';
import { countRepeatedRecords, countUnion, halvesAddUp, walksAgree } from '../store/agreement.ts';
import type { Database } from '../store/database.ts';
import type { EarlierWalk } from '../store/evidence.ts';
import type { Claim } from '../store/leases.ts';
import type { WalkSpan } from '../store/walks.ts';
import { isDayComplete } from '../store/windows.ts';
import type { StreamMemory } from './memory.ts';

/** What deciding needs. */
export interface MoveContext {
  readonly database: Database;
  readonly memory: StreamMemory;
  /** How many walks a window gets before it fails. */
  readonly walkAttempts: number;
}

const SHIFTS_BEFORE_SPLIT = 2;
/** No source caps its results at so few records. */
const LEAST_CAP = 10;

/** What to do with a window next. */
export type Move =
  | { readonly kind: 'walk'; readonly span: WalkSpan }
  | { readonly kind: 'publish'; readonly walk: EarlierWalk; readonly proof: Proof }
  | {
      readonly kind: 'split';
      readonly reason: string;
      /** The exact total, where there is one. */
      readonly total: number | null;
      /** The most records that one part should hold. */
      readonly size: number;
    };

/** What the walks so far call for; they are rows, so that a worker that takes over decides the same. */
export async function nextMove(
  context: MoveContext,
  claim: Claim,
  earlier: readonly EarlierWalk[],
  halves: Split | null,
): Promise<Move> {
  const wholes = earlier.filter((walk) => walk.span === 'whole' && walk.outcome === 'ended');
  const newest = wholes.at(-1);
  const unended = earlier.filter((walk) => walk.outcome !== 'ended').length;
  const restless = restlessSize(earlier);
  if (restless !== null && halves?.by === 'time') return { kind: 'split', ...restless };
  if (unended >= context.walkAttempts) {
    const last = earlier.findLast((walk) => walk.reason !== null)?.reason ?? 'without a reason';
    throw new WalkError(
      'shifted',
      `no walk came to a quiet end in ${unended} attempts; the last: ${last}`,
    );
  }
  if (newest === undefined || newest.proof === null) return { kind: 'walk', span: 'whole' };
  const order = await settleOrder(context, wholes, newest, newest.proof);
  if (order.kind === 'disagree') {
    const { reason, total } = order;
    // In a window that fits into one page the order does not matter.
    const size = Math.ceil(newest.nextStart / newest.pages);
    if (halves?.by === 'time' && wholes.length > 1) return { kind: 'split', reason, total, size };
    if (wholes.length < context.walkAttempts) return { kind: 'walk', span: 'whole' };
    throw new WalkError('unstable-order', `${reason}; ${wholes.length} walks did not agree`, {
      hint: 'The source does not keep its order from one page to the next.',
    });
  }
  const ended = (span: WalkSpan) =>
    earlier.findLast(
      (walk) => walk.span === span && walk.outcome === 'ended' && walk.walkId > newest.walkId,
    );
  let { proof } = order;
  if (await needsNextDay(context, claim, newest)) {
    const nextDays = earlier.filter((walk) => walk.span === 'next day' && walk.outcome === 'ended');
    const nextDay = nextDays.at(-1);
    if (nextDay === undefined) return { kind: 'walk', span: 'next day' };
    // What comes or goes meanwhile must not be told as this day's: the seam is the same before and after.
    if (nextDay.walkId > newest.walkId) return { kind: 'walk', span: 'whole' };
    const before = wholes.findLast((walk) => walk.walkId < nextDay.walkId);
    const still =
      before !== undefined && (await walksAgree(context.database, before.walkId, newest.walkId));
    if (!still && nextDays.length < context.walkAttempts) return { kind: 'walk', span: 'next day' };
    if (!still) throw new WalkError('shifted', `the seam moved under ${wholes.length} walks`);
    proof = { ...proof, nextDay: nextDay.walkId };
  }
  if (halves === null || !needsHalves(context, proof))
    return { kind: 'publish', walk: newest, proof };
  const first = ended('first half');
  if (first === undefined) return { kind: 'walk', span: 'first half' };
  const second = ended('second half');
  if (second === undefined) return { kind: 'walk', span: 'second half' };
  const exclusive = halves.by === 'level';
  const addUp = await halvesAddUp(
    context.database,
    newest.walkId,
    first.walkId,
    second.walkId,
    exclusive,
  );
  const oneSided =
    newest.nextStart > LEAST_CAP && Math.max(first.nextStart, second.nextStart) >= newest.nextStart;
  if (addUp && !oneSided)
    return {
      kind: 'publish',
      walk: newest,
      proof: { ...proof, halves: [first.walkId, second.walkId], halvedBy: halves.by },
    };
  return {
    kind: 'split',
    total: null,
    size: newest.nextStart,
    reason: `the whole gave ${newest.nextStart} records, its halves ${first.nextStart} and ${second.nextStart}: ${addUp ? 'a cap would cut the whole and that half alike' : 'they do not add up'}`,
  };
}

/**
 * A list of several pages that moved under two walks is cut into windows of one page, in which nothing can move.
 * @returns null: it has not, or it is one page already.
 */
function restlessSize(
  earlier: readonly EarlierWalk[],
): { reason: string; total: number | null; size: number } | null {
  const shifted = earlier.filter((walk) => walk.span === 'whole' && walk.outcome === 'shifted');
  const last = shifted.at(-1);
  if (last === undefined || last.pages === 0 || shifted.length < SHIFTS_BEFORE_SPLIT) return null;
  const size = Math.ceil(last.nextStart / last.pages);
  const severalPages = last.pages > 1 || (last.lastTotal ?? 0) > size || size >= last.pageLength;
  if (!severalPages || size === 0) return null;
  const reason = `the list moved under ${shifted.length} walks; in windows of one page it cannot`;
  return { reason, total: last.lastTotal, size };
}

type Order =
  | { readonly kind: 'settled'; readonly proof: Proof }
  | { readonly kind: 'disagree'; readonly reason: string; readonly total: number | null };

/**
 * Whether the newest whole walk saw a stable list. The same record on two of its pages is a sign that another was
 * missed; then only another walk with the very same records is believed, or a union that holds what the total says.
 */
async function settleOrder(
  context: MoveContext,
  wholes: readonly EarlierWalk[],
  newest: EarlierWalk,
  proof: Proof,
): Promise<Order> {
  const repeated =
    newest.pages < 2 ? 0 : await countRepeatedRecords(context.database, newest.walkId);
  if (repeated === 0) return { kind: 'settled', proof };
  const others = wholes.filter((walk) => walk !== newest);
  // Walks with the same page boundaries may miss the same record.
  for (const { walkId } of others.filter((walk) => walk.firstPage !== newest.firstPage))
    if (await walksAgree(context.database, newest.walkId, walkId))
      return { kind: 'settled', proof: { ...proof, repeated, agreesWith: walkId } };
  const total = proof.kind === 'total' ? proof.lastTotal : null;
  if (total !== null && others.length > 0) {
    const unites = others
      .filter((walk) => walk.proof?.kind === 'total' && walk.proof.lastTotal === total)
      .map((walk) => walk.walkId);
    const records = await countUnion(context.database, [newest.walkId, ...unites]);
    if (records === total)
      return { kind: 'settled', proof: { kind: 'union', records, total, unites, repeated } };
  }
  const reason = `${repeated} of ${newest.nextStart} records stand on two pages, which is how others are missed`;
  return { kind: 'disagree', reason, total };
}

/** A seam reaches into the next day; while that day is not there, its second is asked for, so that it is not told as this day's. */
async function needsNextDay(
  { database }: MoveContext,
  claim: Claim,
  whole: EarlierWalk,
): Promise<boolean> {
  if (claim.kind !== 'seam' || whole.nextStart === 0) return false;
  // What a recheck finds may have come to the next day after that was last looked at.
  if (claim.state === 'complete') return true;
  return !(await isDayComplete(database, claim.streamId, claim.to));
}

/** Without a total a hole or a cap is invisible, until a window of this size has been proven by its halves. */
export function needsHalves(context: MoveContext, proof: Proof): boolean {
  const { provenSize } = context.memory.seen;
  // A window of exactly the proven size may end at a cap all the same.
  return proof.kind === 'probe' && proof.records > 0 && proof.records >= provenSize;
}
