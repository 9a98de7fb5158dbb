/**
 * Cuts: what two neighbouring windows show in neither or in both (docs/completeness.md C8). Between a window that ends at
 * second s and one that begins at s + 1 the source is asked for the span across, J, and for what each of them shows of it,
 * K1 and K2; the correction is J - K1 - K2, record by record and signed.
 */
import { WalkError } from '../../errors.ts';
import type { Proof, Span } from '../../model.ts';
import { around, secondsOf } from '../../plan/split.ts';
import {
  compareSums,
  holds,
  holdsVersions,
  isCorrectionPlausible,
  walksAgree,
} from '../../store/evidence/agreement.ts';
import { type EndedWalk, readWalks } from '../../store/evidence/evidence.ts';
import { askCutsAgain } from '../../store/evidence/learned.ts';
import { type Neighbour, type Neighbours, readNeighbours } from '../../store/evidence/proven.ts';
import { askNeighboursAgain } from '../../store/windows.ts';
import { isRangeRefused, isRefused, orNull, unsettled } from '../failures.ts';
import { showsLonger } from '../learning/caps.ts';
import {
  hasShownNothing,
  learnHiddenByDate,
  learnRounding,
  refuseUnfinished,
  withUntoldHours,
} from '../learning/dates.ts';
import { learnFromHalves, learnWhatRuns } from '../learning/not-the-record.ts';
import { doubtIgnoresTime, doubtReach, learnReach } from '../learning/reach.ts';
import type { WindowContext, WindowEnd } from '../questions/context.ts';
import { UNLEARNED_REACH } from '../questions/knowledge.ts';
import {
  BEYOND_ROUNDED,
  firstPageOf,
  isTooShort,
  MOST_ROUNDED,
  sameSpan,
  spansAround,
} from '../questions/span.ts';
import { believedTotal, isPowerOfTwo, isRound } from '../rules/verdict.ts';
import { prove } from './publishing.ts';
import { settleSpan } from './settle.ts';

/** What each of the windows beside a cut shows of what lies across it: before it, and after it. */
type Sides = readonly [EndedWalk, EndedWalk];

/** The walks around a cut. */
export interface CutWalks {
  readonly across: EndedWalk;
  /** Null: nothing lies across. */
  readonly sides: Sides | null;
}

const ATTEMPTS = 3;
const NOTHING = { more: 0, less: 0 };
/** Why a cut adds and takes away nothing, though nobody could tell what lies across it. */
const NOTHING_IS_CUT = 'the source ignores the time of day: nothing is cut';
const TOTAL_TELLS =
  'more lies across it than can be told: the total of the window tells whether any is missing';

/**
 * Walks J, and where it holds anything K1 and K2, and J again: all at one state of the source. Where ranges as short as those are refused by
 * now, with longer ones.
 * @param second the last one before the cut.
 * @param newerThan only walks newer than this one count.
 */
export async function askCut(
  context: WindowContext,
  second: string,
  newerThan: number,
): Promise<CutWalks> {
  const { reach } = context.knowledge;
  return askAcross(context, second, newerThan).catch(async (error: unknown) => {
    if (!isRangeRefused(error) || !(await doubtReach(context, reach))) throw error;
    return askAcross(context, second, newerThan);
  });
}

async function askAcross(
  context: WindowContext,
  second: string,
  newerThan: number,
): Promise<CutWalks> {
  const { database } = context;
  let since = newerThan;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await learnReachAt(context, second, since);
    if (context.knowledge.reach === 'day') throw new WalkError('capped', NOTHING_IS_CUT);
    const spans = spansAround(second, context);
    const across = await settleSpan(context, 'across', spans.across, since);
    if (across.stored === 0) return { across, sides: null };
    const before = await settleSpan(context, 'before', spans.before, across.walkId);
    const after = await settleSpan(context, 'after', spans.after, across.walkId);
    const sides = [before, after] as const;
    await refuseCapped(context, { across, sides });
    const again = await settleSpan(context, 'across', spans.across, after.walkId);
    const isSteady = await walksAgree(database, across, again);
    // Whatever is done at an edge, the edges of the span across lie further out.
    const holdsSides =
      (await holds(database, again, before)) && (await holds(database, again, after));
    if (isSteady && holdsSides) return { across: again, sides };
    const first = firstPageOf(context, spans.across);
    if (isSteady) await learnFromHalves(context, first, [spans.before, spans.after]);
    else await learnWhatRuns(context, first);
    since = again.walkId;
  }
  throw unsettled(`what lies across ${second} is something else each time`);
}

/** Learns how far requests must reach, where something lies across a cut that was asked for with the longest. */
async function learnReachAt(context: WindowContext, second: string, after: number): Promise<void> {
  const { knowledge } = context;
  if (knowledge.reach === null) {
    const span = around(second, -UNLEARNED_REACH, 1 + UNLEARNED_REACH);
    const walk = await orNull(settleSpan(context, 'across', span, after), isRangeRefused);
    if (walk?.stored !== 0) await learnReach(context, span);
  }
}

/** Both sides of a cut show records, and fewer than lie across it: a cap would have cut some of one of them. */
export const bothShowLess = ({ across, sides }: CutWalks): boolean =>
  sides?.every(({ stored }) => stored > 0 && stored < across.stored) === true;

/** As many records as the longest list may be a cap, which would cut J and its sides alike, unless longer ones are shown. */
async function refuseCapped(context: WindowContext, walks: CutWalks): Promise<void> {
  const { across } = walks;
  const { stored } = across;
  const { learned, leastCap, restless } = context.knowledge;
  // Within a split, which a cap may have called for, a total may end at a round number, too.
  const mayEnd = isRound(stored) && stored >= learned.calibrated && !isMidnight(context.window);
  const isTold = across.unites === undefined || believedTotal(across, learned) !== null;
  const counted = across.end === 'open' && isTold && !mayEnd;
  if (bothShowLess(walks) || counted || stored < leastCap) return;
  // Where one question is answered in different ways, other lists say nothing of this one.
  const isSteady = !restless && across.unites === undefined;
  if (isSteady && (await showsLonger(context, stored))) return;
  throw new WalkError(
    'capped',
    `${stored} records stand within ${secondsOf(across)} seconds, as many as any list has shown`,
  );
}

/** Asks a cut that is a window of its own, and publishes its correction; anew where its walks are gone by then. */
export async function walkCut(context: WindowContext): Promise<WindowEnd> {
  const { database, knowledge, window } = context;
  await knowledge.heedReach();
  await doubtIgnoresTime(context);
  if (knowledge.reach === 'day') return unasked(context, NOTHING_IS_CUT);
  // What a worker before has walked may be of days ago, and of another state of the source.
  const earlier = window.walked ? await readWalks(database, window) : [];
  let since = earlier.at(-1)?.walkId ?? 0;
  const datesUnasked = isMidnight(window) && hasShownNothing(context);
  const isLookedAt = isMidnight(window) && (await learnHiddenByDate(context, window.from));
  const { reach } = knowledge;
  const proved = async (walks: CutWalks): Promise<WindowEnd> => {
    // What the cut does not show any more, though it is near, tells now.
    if (isLookedAt === 'too few' && knowledge.reach !== reach)
      await learnHiddenByDate(context, window.from, false);
    const isUntold = datesUnasked && !hasShownNothing(context);
    if (isUntold || isTooShort(context, walks.across)) return walkCut(context);
    return proveWalks(context, walks, datesUnasked);
  };
  if (isMidnight(window)) {
    await refuseUnfinished(context, window.from);
    const across = isLookedAt ? null : await walkHours(context, since);
    if (across?.stored === 0) return proved({ across, sides: null });
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const walks = await askCut(context, window.from, since).catch((error: unknown) =>
      whyUnasked(context, error),
    );
    if (walks === null) continue;
    if (typeof walks === 'string') return unasked(context, walks);
    const { across, sides } = walks;
    if (sides === null) return proved(walks);
    const neighbours = await readNeighbours(database, window);
    const lacking = await lackingOf(context, neighbours, sides);
    if (
      lacking.length === 0 &&
      (await isCorrectionPlausible(database, [across, ...sides], neighbours))
    )
      return proved(walks);
    const known = knowledge.ignored.length;
    for (const { whole, parts } of lacking)
      await learnFromHalves(context, firstPageOf(context, whole), parts);
    // The windows are to be walked again, and not the cut.
    if (lacking.length > 0 && knowledge.ignored.length === known) break;
    since = across.walkId;
  }
  // What one of them holds was edited, or came late. At growing distances, since it may differ for ever.
  if (isPowerOfTwo(window.failures + 1)) await askNeighboursAgain(database, window);
  throw unsettled(
    `the cut at ${window.from} shows other records than the windows on both sides hold`,
    'The records there have changed: the windows are walked again by themselves, and then the cut.',
  );
}

/**
 * Walks the hours around a midnight that may be hidden, and the cut with them: those of which it is not known whether dates do that, and the
 * one before it as long as it is not known how far requests must reach. Where they are not empty, it is learned whether any of it is hidden.
 * @returns null: they need not, or could not be walked.
 */
async function walkHours(context: WindowContext, since: number): Promise<EndedWalk | null> {
  const { knowledge, window } = context;
  const { across } = spansAround(window.from, context);
  const { from } = around(window.from, -MOST_ROUNDED, 0);
  const isEnd = window.from.startsWith(window.day);
  const isRounded = knowledge.reach === null && isEnd && from < across.from;
  const span = await withUntoldHours(context, isRounded ? { ...across, from } : across);
  if (sameSpan(span, across)) return null;
  const asked = settleSpan(context, 'across', span, since);
  const walk = await orNull(asked, (error) => error instanceof WalkError || isRefused(error));
  if (walk?.stored === 0) return walk;
  if (isRounded) await learnRounding(context, window.from);
  if (walk === null) knowledge.tries.spend('untoldHours');
  else await learnHiddenByDate(context, window.from, false);
  await refuseUnfinished(context, window.from);
  return walk;
}

/**
 * The windows beside a cut that do not hold what a side of it shows, as far as they reach; in parts, of which the side is one. A record
 * that is identified may have been edited since: a value that moves on, as when its sender was last seen, would keep the cut open for good.
 */
async function lackingOf(
  { database, stream: { idPath } }: WindowContext,
  [one, other]: Neighbours,
  [before, after]: Sides,
): Promise<{ readonly whole: Span; readonly parts: readonly Span[] }[]> {
  const lacks = async (neighbour: Neighbour, side: EndedWalk) =>
    !(await holds(database, neighbour, side)) &&
    !(idPath && (await holdsVersions(database, neighbour, side, idPath)));
  const lacking = [];
  if (one !== null && one.from < before.from && (await lacks(one, before)))
    lacking.push({ whole: one, parts: [{ ...one, to: around(before.from, -1, 0).from }, before] });
  if (other !== null && other.to > after.to && (await lacks(other, after)))
    lacking.push({ whole: other, parts: [after, { ...other, from: around(after.to, 0, 1).to }] });
  return lacking;
}

const isMidnight = ({ from, to }: Span): boolean => from.slice(0, 10) !== to.slice(0, 10);

/** Why a cut that cannot be asked for need not be; null: it is asked for otherwise. @throws the error where it must be. */
function whyUnasked({ knowledge, window }: WindowContext, error: unknown): string | null {
  // Learned just now: there are no cuts in such a source.
  if (knowledge.reach === 'day') return NOTHING_IS_CUT;
  const fault = error instanceof WalkError ? error.fault : null;
  const isTooMuch = fault === 'capped' || fault === 'beyond-known-cap';
  // Within a split, whose parts must add up to a calibrated total.
  if (isTooMuch && !isMidnight(window) && knowledge.learned.calibrated > 0) return TOTAL_TELLS;
  const isFew = knowledge.reach === BEYOND_ROUNDED && knowledge.tries.left('oneSecond');
  if (!isFew || !isRangeRefused(error)) throw error;
  knowledge.tries.spend('oneSecond');
  return null;
}

async function proveWalks(
  context: WindowContext,
  { across, sides }: CutWalks,
  datesUnasked: boolean,
): Promise<WindowEnd> {
  const { more, less } =
    sides === null ? NOTHING : await compareSums(context.database, sides, [across]);
  const why =
    sides === null
      ? 'nothing lies across it'
      : `${more} shown by neither neighbour, ${less} by both`;
  const [before = null, after = null] = sides?.map(({ walkId }) => walkId) ?? [];
  const unites = [across, ...(sides ?? [])].flatMap((walk) => walk.unites ?? []);
  const walks = { across: across.walkId, before, after, ...(unites.length > 0 && { unites }) };
  const found = { records: more, removed: less, why, ...(datesUnasked && { datesUnasked }) };
  const end = await proveCorrection(context, { ...found, ...walks });
  if (isTooShort(context, across)) await askCutsAgain(context.database, context.knowledge.streamId);
  return end;
}

const unasked = (context: WindowContext, why: string): Promise<WindowEnd> =>
  proveCorrection(context, { records: 0, removed: 0, why, before: null, after: null });

async function proveCorrection(
  context: WindowContext,
  found: Omit<Proof, 'kind' | 'rule'>,
): Promise<WindowEnd> {
  const { window } = context;
  const proof: Proof = { kind: 'cut', rule: 'C8', ...found };
  await context.known.check({ except: [window.from, window.to].map((time) => time.slice(0, 10)) });
  return (await prove(context, null, proof)) ?? walkCut(context);
}
