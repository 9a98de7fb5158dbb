/** One window: walked until the evidence suffices, until it is split, or until it has failed often enough to say why. */
import { WalkError } from '../errors.ts';
import type { Span } from '../model.ts';
import { type EndedWalk, readWalks } from '../store/evidence/evidence.ts';
import { isAsManyBeside } from '../store/evidence/learned.ts';
import { isRangeRefused, orNull, refusesLength, unsettled } from './failures.ts';
import { learnCutOtherwise, showsLonger } from './learning/caps.ts';
import { walkOnce } from './once.ts';
import { learnLowTotals, refuseForeignTotal, settleContradiction } from './proof/contradictions.ts';
import { compareHalves, sumTotalsOfHalves } from './proof/halves.ts';
import { publish } from './proof/publishing.ts';
import { isPassing, lacksWhatWasHeard, orderOf } from './proof/settle.ts';
import { splitUp } from './proof/splitting.ts';
import { proveByUnion, singlePages, walkOnePage } from './proof/union.ts';
import type { Walks, WindowContext, WindowEnd } from './questions/context.ts';
import { lookAtEnd } from './questions/end.ts';
import { answersDiffer, shows, totalsCount } from './questions/questions.ts';
import { beginningOf, isDivisible, textOf } from './questions/span.ts';
import {
  type Evidence,
  type HalvesObserved,
  isAudited,
  LEAST_CAP,
  mostShown,
  mostTold,
  verdict,
} from './rules/verdict.ts';

const MOVES_BEFORE_SPLIT = 2;
/** Walks that came to an end and lack something all the same: no further one will have it. */
const MOST_WALKS = 8;

/**
 * Walks the window until it is proven, or splits it.
 * @throws {WalkError} with the numbers, when it cannot be proven; what fetching and storing throw.
 */
export async function walkWindow(context: WindowContext): Promise<WindowEnd> {
  const { window } = context;
  // It was proven to be empty, and a look has found it otherwise since, maybe one of another process.
  if (window.held === 0 && window.state !== 'complete')
    context.knowledge.spansShown.add(textOf(window));
  let wholes = window.walked ? await readWholes(context) : [];
  // Of pages that differ each time one more does not show that the others are as they were: a union begins anew.
  const since = singlePages(wholes).length > 1 ? (wholes.at(-1)?.walkId ?? 0) : 0;
  if (since > 0) wholes = [];
  let isOld = await isOutdated(context, wholes);
  for (;;) {
    const end = await (isOld ? again : advance)(context, wholes);
    isOld = false;
    if (end !== null) return end;
    wholes = await readWholes(context, since);
  }
}

/** The walks of the whole window, newer than the one given. */
const readWholes = async ({ database, window }: WindowContext, since = 0): Promise<Walks> =>
  (await readWalks(database, window)).filter(
    ({ role, walkId }) => role === 'whole' && walkId > since,
  );

/** Whether what another worker walked to its end, who was killed then, maybe days ago, is not what the source shows now. */
async function isOutdated(context: WindowContext, wholes: Walks): Promise<boolean> {
  const walk = wholes.findLast(({ outcome }) => outcome === 'ended');
  if (walk === undefined) return false;
  // One answer tells nothing there, and a union asks anew by itself.
  if (context.knowledge.restless) return walk.end === 'nothing';
  const asked = lookAtEnd(context, { ...walk, records: walk.stored }, 2);
  return (await orNull(asked)) !== null;
}

/** What the walks so far call for. @returns null: look at the walks again. */
async function advance(context: WindowContext, wholes: Walks): Promise<WindowEnd | null> {
  const moved = wholes.filter(({ outcome }) => outcome === 'shifted');
  const newest = wholes.findLast(({ outcome }) => outcome === 'ended');
  const isEmpty =
    newest?.end === 'nothing' && wholes.every(({ claims }) => mostShown(claims) === 0);
  if (context.knowledge.restless)
    return isEmpty ? judge(context, wholes, newest) : byUnion(context, wholes);
  if (moved.length >= MOVES_BEFORE_SPLIT) return afterMoves(context, wholes);
  if (wholes.filter(({ outcome }) => outcome === 'failed').length > context.walkAttempts)
    throw unsettled(
      `${wholes.length} walks broke off before the end of the list; the last: ${wholes.at(-1)?.reason}`,
    );
  if (newest === undefined || (moved.at(-1)?.walkId ?? 0) > newest.walkId)
    return again(context, wholes);
  // As long as no total is calibrated, one window goes first, and the others look at what it has shown.
  const { learned, firstProof } = context.knowledge;
  const tells = newest.claims.some(({ total, lowerBound }) => total !== null && !lowerBound);
  const isFree = learned.calibrated > 0 || !tells;
  return firstProof.run(
    () => judge(context, wholes, newest),
    () => isFree || firstProof.done,
  );
}

/** Judges the newest walk, and gets what it lacks. */
async function judge(
  context: WindowContext,
  wholes: Walks,
  newest: EndedWalk,
): Promise<WindowEnd | null> {
  const { database, window } = context;
  const { walkId, stored, pages } = newest;
  const split = (reason: string) => splitUp(context, reason, Math.ceil(stored / pages));
  const order = await orderOf(context, wholes, newest);
  if (order === 'disagree') return split('other page boundaries show another order');
  if (wholes.length < MOST_WALKS && (await lacksWhatWasHeard(context, wholes, newest)))
    return again(context, wholes);
  const heard = wholes.filter((walk) => walk.walkId >= walkId).flatMap(({ claims }) => claims);
  await learnLowTotals(context, heard);
  let evidence: Evidence = {
    ...order,
    stored,
    end: newest.end ?? 'open',
    claims: heard,
    audited: isAudited(window),
    held: window.held,
    asManyBeside:
      window.kind === 'day' &&
      stored >= LEAST_CAP &&
      (await isAsManyBeside(database, window, stored)),
  };
  for (;;) {
    const said = verdict(evidence, context.knowledge.learned);
    if (said.kind === 'complete') return publish(context, { ...newest, heard }, said.proof);
    if (said.kind === 'against')
      return (await settleContradiction(context, wholes, newest, said)) ?? again(context, wholes);
    switch (said.needs) {
      case 'end':
      case 'another length':
        if (wholes.length < MOST_WALKS) return again(context, wholes);
        return split(`${wholes.length} walks with other page boundaries do not settle it`);
      case 'totals of halves': {
        const sum = await sumTotalsOfHalves(context, newest);
        // Where it cannot be told, the halves are walked.
        evidence = { ...evidence, totalOfHalves: sum ?? -1 };
        break;
      }
      case 'halves': {
        const seen = await halvesOf(context, wholes, newest);
        if (seen === null || 'kind' in seen) return seen;
        evidence = { ...evidence, ...seen };
      }
    }
  }
}

/**
 * The halves beside the whole, where they show nothing that it lacks, or what stands in for them where it cannot be halved;
 * otherwise what follows from that.
 */
async function halvesOf(
  context: WindowContext,
  wholes: Walks,
  newest: EndedWalk,
): Promise<Pick<Evidence, 'halves' | 'longerShown'> | WindowEnd | null> {
  const size = newest.stored;
  let halves: HalvesObserved;
  try {
    halves = await compareHalves(context, newest);
  } catch (error) {
    if (!(error instanceof WalkError)) throw error;
    if (error.fault === 'learned') return again(context, wholes);
    if (error.fault === 'dense' && (await showsLonger(context, size))) return { longerShown: true };
    if (!SPLITS.has(error.fault)) throw error;
    await refuseForeignTotal(context, newest, error.message);
    return splitUp(context, error.message, size);
  }
  if (halves.more === 0) return { halves };
  // As many on both sides are edited ones.
  if (halves.more > halves.less) await learnCutOtherwise(context, newest);
  // A list is cut short: neither a size that was proven nor that its source gives larger ones shows that another one is whole.
  await context.knowledge.doubt('proven_size');
  const reason = `the halves of the window show ${halves.more} records that the whole of ${size} does not`;
  return splitUp(context, reason, size);
}

/** A list of several pages that moves is cut into windows of one page, in which nothing can; one page is united with others. */
async function afterMoves(context: WindowContext, wholes: Walks): Promise<WindowEnd | null> {
  const isSteady = !(await answersDiffer(context));
  const last = wholes.at(-1) as EndedWalk;
  const page = Math.max(1, ...wholes.map(({ largestPage }) => largestPage));
  const total = mostTold(wholes.flatMap(({ claims }) => claims));
  const several = last.pages > 1 || total > page || page >= last.pageLength;
  if (isSteady && several && isDivisible(context)) {
    const reason = 'the list moved under two walks; in windows of one page it cannot';
    return splitUp(context, reason, page, total === 0 ? null : total);
  }
  return byUnion(context, wholes);
}

async function byUnion(context: WindowContext, wholes: Walks): Promise<WindowEnd | null> {
  const end = await proveByUnion(context, wholes);
  if (end !== 'again') return end;
  return walkOnePage(context, wholes).catch((error: unknown) => ended(context, error));
}

/** Walks the whole window. */
async function again(context: WindowContext, wholes: Walks): Promise<WindowEnd | null> {
  const { knowledge, window, windowRecords } = context;
  const isWhole = knowledge.totalsCount === false || !isDivisible(context);
  const mostRecords = isWhole ? null : windowRecords;
  const whole = { role: 'whole', span: window, earlier: wholes, manner: { mostRecords } } as const;
  return walkOnce(context, whole).then(
    () => null,
    (error: unknown) => ended(context, error),
  );
}

/** Faults that smaller windows may not meet. */
const SPLITS: ReadonlySet<string> = new Set(['capped', 'beyond-known-cap', 'unsettled', 'large']);

/** A walk that came to no end: walked again, split, or the window's failure. */
async function ended(context: WindowContext, error: unknown): Promise<WindowEnd | null> {
  const isOfSpan = isRangeRefused(error) && refusesLength(error);
  if (isOfSpan && (await isAnsweredInPart(context)))
    return splitUp(context, `it cannot be had whole: ${error.message}`, null);
  if (isPassing(error)) return null;
  if (!(error instanceof WalkError)) throw error;
  const { message: reason, fault } = error;
  const { knowledge, window, windowRecords } = context;
  const halved = fault === 'page-failed' && window.kind === 'day';
  if (!SPLITS.has(fault) && !halved) throw error;
  if (fault === 'large' && !(await totalsCount(context, null))) return null;
  const wholes = await readWholes(context);
  const claim = wholes.at(-1)?.claims.at(-1);
  if (fault === 'large') return splitUp(context, reason, windowRecords, claim?.total ?? null);
  // Where a record breaks its pages, what came before it is no size; nor is nothing, which is no total either.
  const most = Math.max(0, ...wholes.map(({ stored }) => stored));
  const size = halved ? null : (knowledge.offsetCap ?? (most || null));
  const exact = knowledge.learned.calibrated > 0 && claim?.lowerBound === false;
  const total = exact ? claim.total || null : null;
  try {
    return await splitUp(context, reason, size, total);
  } catch (impossible) {
    // A window must not fail because of a limit that may be gone, or never was one.
    if (fault === 'beyond-known-cap' && (await knowledge.doubt('offset_cap'))) return null;
    throw impossible;
  }
}

/** Whether the beginning of a window can be had, which itself cannot, whatever length is asked for. */
async function isAnsweredInPart(context: WindowContext): Promise<boolean> {
  const { window } = context;
  const isRefused = async (span: Span) => (await shows(context, span, 2)) instanceof Error;
  // It may have been of a moment, or of another span.
  if (!isDivisible(context) || !(await isRefused(window))) return false;
  return !(await isRefused(beginningOf(window)));
}
