/** Small questions about a source, whose answers are looked at and not stored: totals, order, and records by their hashes. */
import { FaultError, RequestError, UnstorableError } from '../../errors.ts';
import type { PageRequest, Span } from '../../model.ts';
import { recordsIn } from '../../source/find-contract.ts';
import { type ComparedWith, compareProbe, type ProbeFacts } from '../../store/evidence/probes.ts';
import { askPage, type PageAnswer } from '../answers.ts';
import type { Facts } from '../contract.ts';
import {
  isRangeRefused,
  mayBeOfRecord,
  mayRefuseDepth,
  orAgain,
  orError,
  orNull,
  refusesLength,
} from '../failures.ts';
import { isRound, LEAST_CAP } from '../rules/verdict.ts';
import type { AskingContext, WindowContext } from './context.ts';
import { elsewhere } from './elsewhere.ts';
import { learnOneForm } from './one-form.ts';
import {
  dayOf,
  firstPageOf,
  MOST_HALVINGS,
  rangesWith,
  splitSpan,
  targetOf,
  textOf,
  type WalkTarget,
} from './span.ts';

/**
 * Asks for some records of a span.
 * @param walkId the walk that the records are compared with; 0: none.
 */
export async function question(
  context: AskingContext,
  span: Span,
  start: number,
  length: number,
  walkId = 0,
): Promise<Facts<ProbeFacts>> {
  const request = { ...targetOf(context.stream, span), start, length };
  const { facts } = await askShorter(context, request, { walkId });
  if (facts.came > 0) context.knowledge.spansShown.add(textOf(span));
  return facts;
}

/** The first records of a span, by their hashes; none where it cannot be had. @param walkId as of {@link question}. */
export const hashesShown = async (
  context: AskingContext,
  span: Span,
  length: number,
  walkId = 0,
): Promise<readonly string[]> =>
  (await orNull(question(context, span, 0, length, walkId)))?.hashes ?? [];

/** Whether a span shows a record now, or the error by which it cannot be had. */
export async function shows(context: AskingContext, span: Span, length: number) {
  const answer = await orError(question(context, span, 0, length));
  return answer instanceof Error ? answer : answer.came > 0;
}

/** The walk that an answer is compared with (0: none), also by what identifies records; asItCame: all of a page that was made longer. */
export type Compared = Partial<Pick<ComparedWith, 'walkId' | 'identities'>> & {
  asItCame?: boolean;
};

/** Asks, never for one record instead of several: one alone does not show whether there is another one behind it. */
export const askShorter = (context: AskingContext, request: PageRequest, to?: Compared) =>
  orShorter(context, request, 2, (length) => askAndCompare(context, { ...request, length }, to));

/** Asks for just this length, and compares the answer. */
async function askAndCompare(
  context: AskingContext,
  request: PageRequest,
  { walkId = 0, identities = false, asItCame = false }: Compared = {},
): Promise<PageAnswer<ProbeFacts>> {
  const { database, knowledge } = context;
  const leftOut = walkId === 0 ? { ignored: knowledge.ignored } : {};
  const compared = { streamId: knowledge.streamId, walkId, identities, ...leftOut };
  const answer = await askPage(context, request, (page, contract) => {
    // One that was made longer, as its source takes none so short, begins elsewhere by number.
    const isLonger = !asItCame && knowledge.paging === 'number' && page.length > request.length;
    const before = isLonger ? page.start % page.length : 0;
    return compareProbe(database, { ...compared, before }, page, contract);
  });
  knowledge.shown(request, answer.facts.came);
  return answer;
}

/** Asks, and gives the records of the answer, all of them. */
export async function askRecords(context: AskingContext, request: PageRequest) {
  const { facts, page } = await askShorter(context, request, { asItCame: true });
  return { facts, page, list: recordsIn(page.body, context.contract.known?.recordsPath ?? []) };
}

/**
 * Asks with ever shorter lengths where the source fails on the length; what works at the beginning of a list is remembered for
 * a day.
 * @param request as it is asked for at first.
 * @param least no shorter than this.
 * @throws the last error.
 */
export async function orShorter<T>(
  context: AskingContext,
  request: PageRequest,
  least: number,
  ask: (length: number) => Promise<T>,
): Promise<T> {
  let refused: { readonly length: number; readonly error: Error } | null = null;
  for (let { length } = request; ; length = Math.max(least, Math.floor(length / 2))) {
    try {
      const answer = await ask(length);
      if (refused !== null && request.start === 0)
        await learnLength(context, { ...request, length: refused.length }, refused.error, length);
      return answer;
    } catch (error) {
      if (length <= least || !refusesLength(error)) throw error;
      // It may say anything: where the shortest one is answered so, too, it is not for its length.
      const isOther = refused === null && error instanceof FaultError;
      if (isOther && (await pageOrNull(context, { ...request, length: least })) === null)
        throw error;
      refused = { length, error: error as Error };
    }
  }
}

/** Asks for just this; null: the answer is no page. */
export const pageOrNull = (context: AskingContext, request: PageRequest) =>
  orNull(askAndCompare(context, request));

/**
 * Remembers for a day that pages longer than `length` fail. What was answered at once is asked for again first: a refusal, or a
 * failure that a page tells of, may be of the moment.
 */
async function learnLength(
  context: AskingContext,
  refused: PageRequest,
  error: Error,
  length: number,
): Promise<void> {
  if (await isOfRecord(context, refused, error, length)) return;
  const again = () => orAgain(() => pageOrNull(context, refused));
  if (isRangeRefused(error) && (await again()) !== null) return;
  await context.knowledge.learn(
    'page_length',
    length,
    `${refused.length} was too long: ${error.message}`,
  );
}

/**
 * Whether a page fails by what it would show and not by its length, as one record can break all that would show it: another day
 * shows more than `length` records at once, or what comes behind the page can be had with the length that failed.
 */
export async function isOfRecord(
  context: AskingContext,
  refused: PageRequest,
  error: unknown,
  length: number,
): Promise<boolean> {
  if (!mayBeOfRecord(error) && !(error instanceof UnstorableError)) return false;
  const other = await elsewhere(context, refused);
  const answer = await pageOrNull(context, { ...other, start: 0, length: refused.length });
  if (answer !== null && answer.facts.came > length) return true;
  const start = refused.start + refused.length;
  return (await pageOrNull(context, { ...refused, start })) !== null;
}

/** Whether a page by number is refused as it lies too deep, and not by its length: the first page has it, and of this one the last record alone is refused, too. */
export async function isOfDepth(
  context: AskingContext,
  refused: PageRequest,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof RequestError)) return false;
  if ((await pageOrNull(context, { ...refused, start: 0 })) === null) return false;
  const start = refused.start + refused.length - 1;
  return (await pageOrNull(context, { ...refused, start, length: 1 })) === null;
}

/**
 * Whether a page by number is refused as the list ended before it, and not by its depth: nothing is behind it either, and a range of some
 * days shows records as deep.
 * @param behind what comes behind the record before it; null: nothing does.
 */
export async function isBehindEnd(
  context: AskingContext,
  refused: PageRequest,
  error: unknown,
  behind: () => Promise<unknown>,
): Promise<boolean> {
  if (!(error instanceof RequestError)) return false;
  const start = refused.start + refused.length;
  if ((await pageOrNull(context, { ...refused, start })) !== null) return false;
  // One record may break what shows it.
  const single = { ...refused, start: refused.start + 1, length: 1 };
  if ((await pageOrNull(context, single)) !== null) return false;
  if ((await orError(behind(), mayRefuseDepth)) !== null) return false;
  for (const { from, to } of rangesWith(refused.from.slice(0, 10)))
    if (((await pageOrNull(context, { ...refused, from, to }))?.facts.came ?? 0) > 0) return true;
  return false;
}

/** Whether two records from the first on are others than two from the second on: here, in the whole day, or on another one. */
export async function heedsStart(context: AskingContext, here: WalkTarget): Promise<boolean> {
  const day = targetOf(context.stream, dayOf(here.from.slice(0, 10)));
  const other = await elsewhere(context, { ...here, start: 1, length: 1 });
  for (const target of [here, day, other]) {
    const shown = (start: number) => orNull(askShorter(context, { ...target, start, length: 2 }));
    const [first, second] = await Promise.all([shown(0), shown(1)]);
    if (first === null || second === null || first.facts.came < 2) continue;
    if (first.facts.hashes.join() !== second.facts.hashes.join()) return true;
  }
  return false;
}

/** Whether one question gets different records at once: an order that moves, or replicas that differ. */
export async function answersDiffer(context: WindowContext): Promise<boolean> {
  const { knowledge, window } = context;
  const request = firstPageOf(context, window);
  const { length } = request;
  const { facts: one, page } = await askShorter(context, request);
  const { facts: other, page: again } = await askShorter(context, request);
  // Nothing where something is comes by chance, whatever the order.
  if ((one.came === 0) !== (other.came === 0)) {
    await knowledge.caughtEmpty(`${textOf(window)} was empty once, and once it was not`);
    return false;
  }
  // A full page shows a part of the list: which one may depend on the order alone.
  if (one.came >= length || other.came >= length || one.came >= knowledge.largestAnswer)
    return false;
  const same =
    JSON.stringify([...one.hashes].sort()) === JSON.stringify([...other.hashes].sort()) ||
    (await learnOneForm(context, page, again)) !== null;
  if (same) return false;
  const evidence = `${textOf(window)}: asked twice, ${one.came} and ${other.came} records came, and not the same`;
  await knowledge.learn('restless', true, evidence);
  return true;
}

/**
 * Whether totals count the records of what is asked for: in ever smaller parts of the window they must become less, until one page shows
 * as many as they tell. Others would have the window split down to its seconds. Asked once in a stream while the process lives.
 */
export async function totalsCount(context: WindowContext, total: number | null): Promise<boolean> {
  const { knowledge } = context;
  knowledge.totalsCount ??= await countRecords(context, total);
  return knowledge.totalsCount;
}

async function countRecords(context: WindowContext, total: number | null): Promise<boolean> {
  let span: Span = context.window;
  let told = total ?? (await question(context, span, 0, 2)).total;
  let areLess = true;
  for (let halving = 0; halving < MOST_HALVINGS && told !== null; halving += 1) {
    const halves = splitSpan(context, span, 2);
    if (halves?.by !== 'time') return areLess;
    const parts = [];
    for (const half of halves.parts) {
      const asked = await orNull(question(context, half, 0, 2), isRangeRefused);
      if (asked === null) return areLess;
      parts.push({ half, told: asked.total ?? 0, lowerBound: asked.lowerBound });
    }
    const [less, more] = parts.sort((one, other) => one.told - other.told);
    if (less === undefined || more === undefined) return false;
    areLess = less.told < told;
    // Where totals stop, both halves may hold more than that.
    if (!areLess && !less.lowerBound && !isRound(less.told)) return false;
    const part = less.told > 0 ? less : more;
    const fits = part.told < Math.max(2, context.knowledge.largestAnswer);
    if (fits && (await showsAsMany(context, part.half, part.told))) return true;
    // Lists may have come to be cut below what a page has shown before.
    if (fits && (!areLess || part.told < LEAST_CAP)) return false;
    ({ half: span, told } = part);
  }
  return areLess;
}

/** Whether a part that fits into one answer, or fills it, shows what its total tells; one that comes empty by chance is asked again. */
async function showsAsMany(context: WindowContext, part: Span, told: number): Promise<boolean> {
  const { knowledge, pageLength } = context;
  for (let time = 0; time < knowledge.repeats; time += 1) {
    const { came, total } = await question(context, part, 0, knowledge.pageLength(pageLength));
    if (came >= told || total !== told) return true;
    if (came > 0 && (await question(context, part, came, 1)).came > 0) return true;
  }
  return false;
}
