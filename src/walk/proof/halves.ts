/** Proof by halves: without a calibrated total a hole or a cap is invisible from inside a window (docs/completeness.md C6). */

import { WalkError } from '../../errors.ts';
import type { Span } from '../../model.ts';
import { compareSums, holds, isIdentified, walksAgree } from '../../store/evidence/agreement.ts';
import { type EndedWalk, readHashes, walksOf } from '../../store/evidence/evidence.ts';
import { contradicted, orNull } from '../failures.ts';
import { learnRounding } from '../learning/dates.ts';
import { learnFromParts } from '../learning/not-the-record.ts';
import { divide, learnIgnoresTime, learnOpenEnd } from '../learning/reach.ts';
import type { WindowContext } from '../questions/context.ts';
import { question } from '../questions/questions.ts';
import { MOST_HALVINGS, textOf } from '../questions/span.ts';
import { type HalvesObserved, LEAST_CAP } from '../rules/verdict.ts';
import { askCut, bothShowLess, type CutWalks } from './cuts.ts';
import { settleSpan } from './settle.ts';

/**
 * Compares the records of a walk with those of its halves and the cut between them. A half that shows as many as the whole
 * proves nothing, because a cap would cut both alike: it is halved in turn, down to a second.
 * @throws {WalkError} `contradicted` where the halves overlap; `learned` where the whole is to be walked anew; `unsettled` or `capped` where
 * a part of it cannot be told; `dense` where all of it
 * stands in a span that cannot be halved, so that no split would tell more.
 */
export async function compareHalves(
  context: WindowContext,
  whole: EndedWalk,
): Promise<HalvesObserved> {
  const { database, window } = context;
  let span: Span = window;
  /** Of what was halved in turn, the other half. */
  const beside: number[] = [];
  for (let halving = 0; halving < MOST_HALVINGS; halving += 1) {
    const halves = await divide(context, span, 2);
    const [one, other] = halves?.parts ?? [];
    if (halves === null || one === undefined || other === undefined) throw dense(whole, span);
    const first = await settleSpan(context, 'half', one, whole.walkId);
    const second = await settleSpan(context, 'half', other, whole.walkId);
    const both = [first, second] as const;
    const inOneHalf = Math.max(first.stored, second.stored) >= whole.stored;
    if (halves.by === 'time' && inOneHalf && (await learnNotHeeded(context, whole, span, both)))
      throw dense(whole, span);
    const mayBeCapped = whole.stored >= LEAST_CAP && inOneHalf;
    // What stands in one half is halved in turn, and at last in a span that cannot be.
    const isUntold = (error: unknown) =>
      mayBeCapped && error instanceof WalkError && error.fault === 'capped';
    const asked = halves.by === 'time' ? askCut(context, one.to, whole.walkId) : null;
    const cut = asked && (await orNull(asked, isUntold));
    const sides = cut?.sides ?? [];
    const plus = [...both, ...(cut === null ? [] : [cut.across])];
    const sums = await compareSums(database, [whole], plus, sides);
    const { less } = sums;
    const mayBeTwice = halves.by === 'time' && sums.more > 0 && less === 0;
    const more = mayBeTwice && (await showsTwice(context, whole, both, cut)) ? 0 : sums.more;
    // Records without a level are in no half.
    if (halves.by === 'level' && more === 0 && less > 0) throw dense(whole, span);
    const inCut = cut !== null && cut.across.stored >= whole.stored && !bothShowLess(cut);
    const oneSided = mayBeCapped || (whole.stored >= LEAST_CAP && inCut);
    if (more > 0 && less > 0 && (await learnFromParts(context, span, both)))
      throw new WalkError('learned', 'what is not the record was learned from the halves');
    if (cut !== null && less > 0 && more === 0 && (await learnRounding(context, one.to)))
      throw new WalkError('learned', 'how far requests must reach was learned from the halves');
    const observed = {
      more,
      less,
      oneSided,
      walks: [...[...plus, ...sides].flatMap(walksOf), ...beside],
    };
    if (more > 0 || less > 0 || !oneSided) return observed;
    if (!inOneHalf) throw dense(whole, cut?.across ?? span);
    const inFirst = first.stored >= whole.stored;
    span = inFirst ? one : other;
    beside.push(inFirst ? second.walkId : first.walkId);
  }
  throw dense(whole, span);
}

/**
 * Learns that the source heeds the date alone of one end of a range, or of both: one half shows all of the whole, and the other
 * one some of it.
 */
async function learnNotHeeded(
  context: WindowContext,
  whole: EndedWalk,
  span: Span,
  [first, second]: readonly [EndedWalk, EndedWalk],
): Promise<boolean> {
  const least = Math.min(first.stored, second.stored);
  if (least === 0) return false;
  // A cap would cut each of them otherwise.
  if (least >= whole.stored)
    return (await walksAgree(context.database, first, second)) && learnIgnoresTime(context, span);
  const open = first.stored >= whole.stored ? 'end' : 'beginning';
  return whole.stored >= LEAST_CAP && learnOpenEnd(context, whole, span, open);
}

/**
 * Each half, and what lies across the cut, shows nothing but what the whole shows, and together they show more: then they are not the
 * halves of it. A cap would hide other records, but for a list of equal ones.
 * @returns whether some records are found by either of two of their times, as when they were made and when they were changed: what
 *   identifies them tells that they are the same.
 * @throws {WalkError} where they are not known to be, or one half is the other.
 */
async function showsTwice(
  { database, stream: { idPath } }: WindowContext,
  whole: EndedWalk,
  [first, second]: readonly [EndedWalk, EndedWalk],
  cut: CutWalks | null,
): Promise<boolean> {
  const parts = [first, second, ...(cut === null ? [] : [cut.across])];
  for (const part of parts) if (!(await holds(database, whole, part))) return false;
  const hashes = await readHashes(database, whole.walkId);
  if (2 * new Set(hashes).size <= hashes.length) return false;
  // Of `hh` the second half shows the whole day; what is found twice may all be in the first one.
  const isSame = await holds(database, second, first);
  if (!isSame && idPath && (await isIdentified(database, whole.walkId))) return true;
  throw contradicted(
    `${textOf(first)} and ${textOf(second)} both show records that the whole shows once`,
    isSame
      ? 'The source takes a time of day for another one: is it asked as its API wants it?'
      : 'It may find a record by either of two of its times: set id_path, which tells that it is one.',
  );
}

const dense = ({ stored }: EndedWalk, span: Span): WalkError =>
  new WalkError('dense', `all ${stored} records stand in ${textOf(span)}, which cannot be halved`);

/**
 * The sum of the totals of both halves and of the correction of the cut between them.
 * @returns null where that cannot be told.
 */
export async function sumTotalsOfHalves(
  context: WindowContext,
  whole: EndedWalk,
): Promise<number | null> {
  let span: Span = context.window;
  for (let halving = 0; halving < MOST_HALVINGS; halving += 1) {
    const halves = await divide(context, span, 2);
    const [one, other] = halves?.parts ?? [];
    if (halves?.by !== 'time' || one === undefined || other === undefined) return null;
    const ask = async (half: Span) => (await question(context, half, 0, 1)).total;
    const [first, second] = await Promise.all([ask(one), ask(other)]);
    if (first === null || second === null) return null;
    const larger = Math.max(first, second);
    if (larger >= whole.stored) {
      if (larger > whole.stored || Math.min(first, second) > 0) return null;
      span = first > second ? one : other;
      continue;
    }
    const cut = await askCut(context, one.to, whole.walkId);
    // A cap would cut what lies across it as it cuts the whole.
    if (!bothShowLess(cut) && cut.across.stored >= whole.stored) return null;
    const [before, after] = cut.sides ?? [];
    return first + second + cut.across.stored - (before?.stored ?? 0) - (after?.stored ?? 0);
  }
  return null;
}
