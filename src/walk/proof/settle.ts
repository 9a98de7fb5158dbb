/** A span walked until its walk can be compared with others: halves, and what lies around a cut. Walks are rows, so that a worker that takes over goes on. */

import { WalkError } from '../../errors.ts';
import type { Span } from '../../model.ts';
import type { Database } from '../../store/database.ts';
import { countUnion, isRepeated, walksAgree } from '../../store/evidence/agreement.ts';
import { type EndedWalk, isOfMoved, readWalks } from '../../store/evidence/evidence.ts';
import type { WalkRole } from '../../store/walks.ts';
import { orNull, unsettled } from '../failures.ts';
import { walkOnce } from '../once.ts';
import type { Walks, WindowContext } from '../questions/context.ts';
import { sameSpan, textOf } from '../questions/span.ts';
import type { WalkManner } from '../rules/steps.ts';
import { type Evidence, leastOf, verdict } from '../rules/verdict.ts';

const ATTEMPTS = 8;
/** Walks that are united: the last one must add nothing to those before it, of which each lacks some by chance. */
const LEAST_UNITED = 3;
const MOST_UNITED = 24;
/** The list moved, something was learned, or stored pages are lost: the next walk may come to an end. */
export const isPassing = (error: unknown): boolean =>
  error instanceof WalkError && ['shifted', 'learned', 'broken'].includes(error.fault);
const MOVES_BEFORE_ONE_PAGE = 2;

/**
 * Walks a span to an end against which nothing speaks, or finds the walk that did so already. Where the order does not
 * hold, two single pages with the same records are as good: in one answer no order can hide a record. So are walks that hold together
 * what each of them counted.
 * @param after only walks newer than this one count.
 * @throws {WalkError} `unsettled` where it moves, is capped or contradicts itself.
 */
export async function settleSpan(
  context: WindowContext,
  role: Exclude<WalkRole, 'whole'>,
  span: Span,
  after: number,
): Promise<EndedWalk> {
  const { database, knowledge, window } = context;
  for (;;) {
    const walks = (await readWalks(database, window)).filter(
      (walk) => walk.role === role && sameSpan(walk, span) && walk.walkId > after,
    );
    const settled = await findSettled(context, walks);
    if (settled !== null) return settled;
    const moves = walks.filter(({ outcome }) => outcome === 'shifted').length;
    const onePage = knowledge.restless || moves >= MOVES_BEFORE_ONE_PAGE;
    // What lies across a cut cannot be made smaller; a half can.
    const unlinked = role !== 'half' && onePage && walks.some(goesOn);
    if (walks.length >= (unlinked ? MOST_UNITED : ATTEMPTS)) {
      const reason = walks.at(-1)?.reason;
      const last = reason ? `: ${reason}` : '';
      throw unsettled(`${textOf(span)} shows different records each time${last}`);
    }
    const manner: WalkManner = onePage ? { onePage: 'first', unlinked } : {};
    const earlier = onePage ? [] : walks;
    // Neither a walk that came to no end nor what it met stands for the window.
    await orNull(walkOnce(context, { role, span, earlier, manner }), isPassing);
  }
}

/** The newest walk, where it can stand for its span. */
async function findSettled(context: WindowContext, walks: Walks): Promise<EndedWalk | null> {
  const ended = walks.filter(({ outcome }) => outcome === 'ended');
  const newest = ended.at(-1);
  if (newest === undefined) return null;
  if (newest.end === 'open' && newest.pages > 1) {
    const united = await findUnited(context, ended, newest);
    if (united !== null) return united;
  }
  const order = await orderOf(context, ended, newest);
  if (order === 'disagree') return null;
  const evidence = { ...newest, ...order, end: newest.end ?? 'open' };
  const said = verdict(evidence, context.knowledge.learned);
  if (said.kind === 'against') return null;
  const lacks = said.kind === 'lacking' ? said.needs : null;
  // Halves are for the window that it is compared with.
  if (lacks !== 'end' && lacks !== 'another length') return newest;
  if (lacks !== 'end' || !isSinglePage(newest)) return null;
  const agrees = await agreesWithOne(context.database, newest, ended.filter(isSinglePage));
  return agrees ? newest : null;
}

/**
 * The newest walk with others whose pages are not linked, where together they hold as many records as each of them counted, also
 * without the newest: then none is missing, whatever the order of each page was. No walk may have heard of more.
 */
async function findUnited(
  { database, knowledge }: WindowContext,
  ended: Walks,
  newest: EndedWalk,
): Promise<EndedWalk | null> {
  const { stored } = newest;
  const isAgainst = (walk: EndedWalk) =>
    verdict({ stored, end: 'open', claims: walk.claims }, knowledge.learned).kind === 'against';
  if (ended.some((walk) => walk.stored > stored || leastOf(walk.claims) > stored)) return null;
  const alike = ended.filter((walk) => walk.end === 'open' && walk.stored === stored);
  const others = alike.flatMap(({ walkId }) => (walkId === newest.walkId ? [] : [walkId]));
  if (others.length < LEAST_UNITED - 1 || alike.some(isAgainst)) return null;
  for (const ids of [others, [...others, newest.walkId]])
    if ((await countUnion(database, ids)) !== stored) return null;
  return { ...newest, unites: others };
}

/** Whether the pages may not be those of one list, and another walk with other boundaries agrees all the same. */
export async function orderOf(
  { database, knowledge, window }: WindowContext,
  wholes: Walks,
  newest: EndedWalk,
): Promise<Pick<Evidence, 'repeated' | 'unlinked' | 'agreed'> | 'disagree'> {
  // By number no page begins with the last record of the one before it: a list that moved between two is not noticed.
  const unlinked =
    knowledge.paging === 'number' &&
    wholes.some(({ pages, largestPage }) => pages > 1 && largestPage > 1);
  const repeated =
    newest.pages > 1 &&
    ((await isRepeated(database, newest.walkId)) ||
      (window.kind !== 'day' && (await isOfMoved(database, window.windowId))));
  if (!repeated && !unlinked) return { repeated, unlinked, agreed: false };
  // Where it was seen that the order does not hold, two walks may bring the same record twice by chance.
  if (repeated && wholes.some(({ outcome }) => outcome === 'shifted')) return 'disagree';
  const others = wholes.filter(
    (walk) => walk.outcome === 'ended' && boundariesOf(walk) !== boundariesOf(newest),
  );
  if (await agreesWithOne(database, newest, others)) return { repeated, unlinked, agreed: true };
  return repeated && others.length > 0 ? 'disagree' : { repeated, unlinked, agreed: false };
}

/** Whether a walk before heard of more records, which may be gone, unless the newest came from a replica that lags; and no other walk agrees. */
export async function lacksWhatWasHeard(
  { database }: WindowContext,
  wholes: Walks,
  newest: EndedWalk,
): Promise<boolean> {
  const before = wholes.filter(({ walkId }) => walkId < newest.walkId);
  if (before.every(({ claims }) => leastOf(claims) <= newest.stored)) return false;
  return !(await agreesWithOne(database, newest, wholes));
}

/** Where its pages begin. */
const boundariesOf = ({ claims, pages }: EndedWalk): string =>
  claims
    .slice(0, pages)
    .map(({ start }) => start)
    .join();

/** Whether another one of these walks ended with the same records. */
async function agreesWithOne(database: Database, walk: EndedWalk, walks: Walks): Promise<boolean> {
  for (const other of walks)
    if (other.walkId !== walk.walkId && other.outcome === 'ended')
      if (await walksAgree(database, walk, other)) return true;
  return false;
}

/** More records than it stored were shown or told of. */
const goesOn = ({ claims, stored }: EndedWalk): boolean => leastOf(claims) > stored;

/** One answer, and not a full one. */
const isSinglePage = ({ pages, stored, pageLength }: EndedWalk): boolean =>
  pages === 1 && stored < pageLength;
