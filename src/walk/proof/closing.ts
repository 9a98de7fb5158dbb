/** Closing a split: its parts and their cuts must add up to its total, asked again at the end (docs/completeness.md C9). */
import type { Proof } from '../../model.ts';
import { findUnheld } from '../../store/evidence/agreement.ts';
import {
  closeSplit,
  findSecondOfTwoCuts,
  listOverdue,
  readSplit,
  readSplitWalks,
  replanParts,
  type SplitParts,
} from '../../store/splits.ts';
import { counted, formatCount } from '../../text.ts';
import { contradicted, orNull } from '../failures.ts';
import { learnRounding } from '../learning/dates.ts';
import { learnFromParts } from '../learning/not-the-record.ts';
import type { WindowContext, WindowEnd } from '../questions/context.ts';
import { question } from '../questions/questions.ts';
import { textOf } from '../questions/span.ts';
import { judgeSum, type WholeTold } from '../rules/sum.ts';
import { COUNTS_ELSE } from './contradictions.ts';
import { asOldest, refuseForgotten, showsNothing } from './forgotten.ts';
import { lookForDifference, movedParts } from './look.ts';

const FOUND_OTHERWISE = 'a look found it otherwise';
const SHOWN_AND_LACKING = 'it shows one that none of them holds';
/** Leases of a split window that did not close it; then it has failed. */
const ATTEMPTS = 4;
/** Ends of parts that are asked for what stands there, each time it does not close: others each time. */
const MOST_ENDS = 16;

/**
 * Closes a split window whose parts are complete, or says which of them are walked again.
 * @throws {WalkError} with the numbers, where they do not add up: then none of it is complete.
 */
export async function closeWindow(context: WindowContext): Promise<WindowEnd> {
  const { database, knowledge, window } = context;
  const split = await readSplit(database, window);
  if (split === null) throw contradicted('it was split, and its parts are not there');
  // What a look found otherwise is in one of the parts, whatever their sum is; in which is not told where no total moved.
  if (window.state === 'complete' || window.rewalk) {
    const moved = await movedParts(context, split);
    return again(context, split, FOUND_OTHERWISE, moved.length > 0 ? moved : allOf(split));
  }
  const held = sumOf(split);
  const told = await whatIsTold(context, split, held);
  const { total } = told;
  // Where the total was to tell, no cut was asked: that nothing was asked for shows nothing.
  const cutsTold =
    split.by === 'level' || (split.cuts.length > 0 && split.cuts.every((cut) => cut.told));
  const evidence = { ...told, by: split.by, held, toldAtSplit: split.total, cutsTold };
  const sum = judgeSum(evidence, knowledge.learned);
  const isShort = sum === 'doubtful' && (await movedParts(context, split)).length > 0;
  if (sum === 'short' || isShort) return notYet(context, split, total, held);
  if (sum === 'above' && total !== null) {
    // Records may have gone from the source since a part was walked.
    const moved = window.attempts <= ATTEMPTS ? await movedParts(context, split, total) : [];
    if (moved.length > 0) return again(context, split, numbersOf(split, total, held), moved);
    // Parts that still hold more than the total: it is a lower bound from there on.
    await knowledge.learnLowerBound(textOf(window), total, `its parts hold ${held}`);
  }
  const isCounted = sum === 'equal';
  if (!isCounted && (await lacksWhatItShows(context, split, held)))
    return again(context, split, SHOWN_AND_LACKING, allOf(split));
  if (!isCounted) await refuseSecondOfTwoCuts(context);
  await context.known.check({ except: [window.day] });
  const differing = isCounted ? [] : await lookAtOverdue(context, told.shows);
  if (differing.length > 0) return again(context, split, FOUND_OTHERWISE, differing);
  const proof: Proof = {
    kind: 'parts',
    rule: 'C9',
    records: held,
    why: `${counted(split.parts.length, 'part')}${split.cuts.length === 0 ? '' : ` and ${counted(split.cuts.length, 'cut')}`} hold ${counted(held, 'record')}${total === null ? '' : `, and the total says ${isCounted ? '' : 'at least '}${formatCount(total)}`}`,
    ...(total === null ? {} : { total }),
    calibrated: isCounted,
  };
  await closeSplit(database, window, await asOldest(context, proof));
  return { kind: 'complete', proof };
}

const NOTHING_TOLD = { came: 0, total: null, totalMissing: false, lowerBound: false };

/**
 * What the window tells of itself now; one that its source has forgotten since, as was accepted, or that is too much to be shown, what it
 * told when it was split.
 * @throws {WalkError} where that is not believed: parts of it may be forgotten, or show nothing of what it shows.
 */
async function whatIsTold(
  context: WindowContext,
  split: SplitParts,
  held: number,
): Promise<WholeTold> {
  const { knowledge, window } = context;
  const whole = await askWhole(context, held);
  const { came, total, totalMissing, lowerBound } = whole ?? NOTHING_TOLD;
  const isEmpty = whole?.came === 0;
  // What shows nothing now may have been forgotten before its last part was walked.
  if (came > 0 || (isEmpty && split.parts.some((part) => part.records === 0)))
    await refuseForgotten(context, came);
  if (knowledge.hidesMuch && came === 0 && held === 0 && !(await showsNothing(context, window)))
    throw contradicted('it was split, and its parts show nothing of what it shows');
  const isUntold =
    isEmpty && held > 0 && (knowledge.hidesMuch || (await showsNothing(context, window)));
  const now = isUntold ? split.total : total;
  return { shows: came > 0, refused: whole === null, total: now, lowerBound, totalMissing };
}

/**
 * What the window answers; null where it is refused again, and so cannot be had whole. A total below what its parts hold may be that of one
 * answer: it is asked for again.
 */
async function askWhole(context: WindowContext, records: number) {
  const ask = (length: number) => orNull(question(context, context.window, 0, length));
  const one = await ask(1);
  if (one !== null && (one.total ?? records) >= records) return one;
  const other = await ask(2);
  return (one?.total ?? 0) > (other?.total ?? 0) ? one : (other ?? one);
}

/**
 * Where no exact total says that the parts are all: whether the whole showed a record, and shows it still, that none of them holds.
 * @throws {WalkError} where they were walked again for that, and lack it still; by level.
 */
async function lacksWhatItShows(
  context: WindowContext,
  { by, parts: direct }: SplitParts,
  records: number,
): Promise<boolean> {
  const { database, window } = context;
  if (by === 'level')
    throw contradicted(
      `split by level, its parts hold ${records} records, and nothing shows that no record lacks a level`,
    );
  const { whole, parts, all } = await readSplitWalks(database, window);
  if (whole === null) return false;
  let unheld = await findUnheld(database, whole, all);
  if (unheld.length > 0 && (await learnFromParts(context, window, parts)))
    unheld = await findUnheld(database, whole, all);
  const [first] = unheld;
  if (first === undefined) return false;
  const shown = await orNull(question(context, window, first.start, first.length, whole));
  if (!unheld.some(({ hash }) => shown?.hashes.includes(hash))) return false;
  if (window.attempts === 1) return true;
  const ends = direct.slice(0, -1);
  const begun = (window.failures * MOST_ENDS) % ends.length;
  for (const { to } of ends.slice(begun, begun + MOST_ENDS))
    if (await learnRounding(context, to)) return true;
  throw contradicted(
    `split by time, its ${direct.length} parts hold ${records} records, and ${SHOWN_AND_LACKING}`,
  );
}

/**
 * The parts and cuts that differ from what is stored of them, among those that are to be looked at by now: they may be of days ago. Called
 * behind known answers, since what they show serves as one.
 */
async function lookAtOverdue(context: WindowContext, isShown: boolean): Promise<number[]> {
  const { database, window } = context;
  const overdue = await listOverdue(database, window);
  // What was accepted as forgotten since is as it was.
  if (overdue.length === 0 || (!isShown && (await showsNothing(context, window)))) return [];
  const differing = new Set<number>();
  for (const { of, ...part } of overdue) {
    if (differing.has(of)) continue;
    const asked = lookForDifference({ ...context, window: { ...window, ...part } });
    if (await orNull(asked)) differing.add(of);
  }
  return [...differing];
}

const allOf = ({ parts }: SplitParts): number[] => parts.map(({ windowId }) => windowId);

/** @throws {WalkError} where both edges of a range are left out: then no range of one second shows what happened on it. */
async function refuseSecondOfTwoCuts({ database, window }: WindowContext): Promise<void> {
  const second = await findSecondOfTwoCuts(database, window);
  if (second !== null)
    throw contradicted(
      `the cuts before and behind ${second} both show a record that a range of this second does not`,
      'The source leaves out both edges of a range. Larger pages may spare windows of one second: page_length.',
    );
}

/** What the parts and the corrections of their cuts hold. */
function sumOf({ parts, cuts }: SplitParts): number {
  const corrections = cuts.reduce((sum, { records, removed }) => sum + records - removed, 0);
  return parts.reduce((sum, { records }) => sum + records, corrections);
}

/** Cuts that were not asked are; parts whose own totals moved are walked again; where neither is left, it has failed. */
async function notYet(
  context: WindowContext,
  split: SplitParts,
  total: number | null,
  records: number,
): Promise<WindowEnd> {
  const numbers = numbersOf(split, total, records);
  if (split.by === 'time' && split.cuts.length === 0) {
    const cuts = split.parts.slice(0, -1).map(({ to }) => to);
    return again(context, split, numbers, [], cuts);
  }
  const moved = context.window.attempts <= ATTEMPTS ? await movedParts(context, split) : [];
  if (moved.length > 0) return again(context, split, numbers, moved);
  // Parts by level may lack what has none: a total is then the only one to tell.
  const hint = split.by === 'time' && total !== null ? COUNTS_ELSE : undefined;
  throw contradicted(`split by ${split.by}, ${numbers}`, hint);
}

const numbersOf = ({ parts }: SplitParts, total: number | null, records: number): string =>
  `its ${parts.length} parts hold ${records} records, and ${total === null ? 'there is no total' : `the total says ${total}`}`;

/** Has parts walked, and cuts asked, before the window is closed. */
async function again(
  { database, window }: WindowContext,
  { by, parts: { length } }: SplitParts,
  reason: string,
  parts: readonly number[],
  cuts: readonly string[] = [],
): Promise<WindowEnd> {
  await replanParts(database, window, { parts, cuts });
  return { kind: 'split', by, parts: length, reason };
}
