/** What follows where something speaks against an end: another walk, a split, or the window's failure with the numbers. */
import type { Claim, Day } from '../../model.ts';
import { addDays, dayAt } from '../../plan/days.ts';
import { compareSums, type DayBeside, readDaysBeside } from '../../store/evidence/agreement.ts';
import { type EndedWalk, readFirstHashes } from '../../store/evidence/evidence.ts';
import { readProvenWalk } from '../../store/evidence/proven.ts';
import { contradicted, orNull } from '../failures.ts';
import type { Walks, WalkToPublish, WindowContext, WindowEnd } from '../questions/context.ts';
import { answersDiffer, hashesShown, question, totalsCount } from '../questions/questions.ts';
import { dayOf, isDivisible, NOT_YET, partsOf, textOf } from '../questions/span.ts';
import { type Against, LEAST_CAP, mostShown } from '../rules/verdict.ts';
import { splitUp } from './splitting.ts';

const CONTRADICTIONS_BEFORE_SPLIT = 2;

/** An end that something speaks against is walked again (null); then a cap is split, and anything else has failed. */
export async function settleContradiction(
  context: WindowContext,
  wholes: Walks,
  newest: EndedWalk,
  said: Against,
): Promise<WindowEnd | null> {
  const times = wholes.filter(({ outcome }) => outcome === 'ended').length;
  if ((await answersDiffer(context)) || times < CONTRADICTIONS_BEFORE_SPLIT) return null;
  const isC2 = said.rule === 'C2';
  if (isC2 && (await saysOfPart(context, 2, ({ total }) => total !== null)))
    return splitUp(context, said.reason, null);
  if (said.least <= newest.stored) {
    // No part tells a total either: neither will another walk.
    if (times <= context.walkAttempts && !(isC2 && isDivisible(context))) return null;
    const length = context.knowledge.pageLength(context.pageLength);
    const isWhole = ({ came, more }: Pick<Claim, 'came' | 'more'>) => came < length && !more;
    if (!isC2 && (await saysOfPart(context, length, isWhole)))
      return splitUp(context, said.reason, null);
    const hint = isC2 ? LACKS_TOTAL : undefined;
    throw contradicted(`${said.reason}, in ${times} walks (${said.rule})`, hint);
  }
  await refuseForeignTotal(context, newest, `${said.reason} (${said.rule})`);
  if (mostShown(newest.claims) <= newest.stored) await learnCap(context, newest, said.reason);
  return splitUp(context, said.reason, newest.stored, said.least);
}

/** Whether the source says of a part of the window what it does not of the whole: its total, or that this is all. There may be too much. */
async function saysOfPart(
  context: WindowContext,
  length: number,
  says: (answer: Omit<Claim, 'start' | 'length'>) => boolean,
): Promise<boolean> {
  const { window } = context;
  if (!isDivisible(context)) return false;
  for (const part of partsOf(window, true)) {
    const answer = await question(context, { ...window, ...part }, 0, length);
    if (answer.came > 0 && says(answer)) return true;
  }
  return false;
}

/**
 * A cap cuts every list at the same length: a shorter one, which a total also calls too short, was not cut by it. A second window that
 * ends at just that length, and longer than any list that was shown, was, and what is longer need not be walked to it any more.
 * @throws {WalkError} where no split would help.
 */
async function learnCap(
  { knowledge, window }: WindowContext,
  { stored }: EndedWalk,
  reason: string,
): Promise<void> {
  const { capMet, leastCap } = knowledge;
  const { windowId } = window;
  if (capMet !== null && stored < capMet.records / 2)
    throw contradicted(`${reason}, and that is no depth at which lists end`, COUNTS_ELSE);
  if (capMet === null || stored < capMet.records) knowledge.capMet = { records: stored, windowId };
  else if (stored === capMet.records && windowId !== capMet.windowId && stored >= leastCap)
    await knowledge.learn('offset_cap', stored, `${textOf(window)}: ${reason}, as once before`);
}

/** What to do about a total that disagrees with what is shown. */
export const COUNTS_ELSE =
  'If this total does not count the records of the window, set total_path to the one that does, or to none.';

const LACKS_TOTAL =
  'If its source tells none any more: daywalk accept. If it tells them of some days only: total_path: none.';

/** @throws {WalkError} where small parts of the window show less than they tell: the total counts something else. */
export async function refuseForeignTotal(
  context: WindowContext,
  { claims }: EndedWalk,
  reason: string,
): Promise<void> {
  const totals = claims.flatMap(({ total }) => total ?? []);
  if (totals.length === 0 || (await totalsCount(context, Math.max(...totals)))) return;
  throw contradicted(`${reason}, and so it is in small parts of the window`, COUNTS_ELSE);
}

/** Days from now that have no records: one is not yet, and may show none; the other was long before, where an archive may begin. */
const NO_DAYS = [NOT_YET, -3_650];

/**
 * A source that does not heed which day it is asked for, or answers what is too old for it with another range, shows the records of
 * another day, and shows them of one that cannot have any, too.
 * @throws {WalkError} where it does.
 */
export async function refuseOtherDays(
  context: WindowContext,
  { walkId, stored }: WalkToPublish,
): Promise<void> {
  const { clock, database, knowledge, timeZone } = context;
  const { kind, day } = context.window;
  if (kind !== 'day' || stored === 0) return;
  const today = dayAt(clock.now(), timeZone);
  const length = knowledge.pageLength(context.pageLength);
  const ask = (other: Day, asked: number) => hashesShown(context, dayOf(other), asked, walkId);
  const beside = await readDaysBeside(database, knowledge.streamId, day, walkId);
  const isBeside = [-1, 1].some((days) => beside.some((one) => one.day === addDays(day, days)));
  const isTooNew = day >= addDays(today, -NEWEST_DAYS);
  const same =
    beside.find(({ hashes }) => hashes.length > 0) ??
    // Half a page will do, and is none that is asked for when a day is walked.
    (isBeside || isTooNew ? null : await findSameBehind(day, Math.ceil(length / 2), ask)) ??
    (await findStrangers(context, walkId));
  if (same === null) return;
  // The answer may have been that of another request; of one that was not, some may be of another day.
  const again = await ask(day, Math.max(1, length - 1));
  const first = await readFirstHashes(database, walkId, knowledge.ignored);
  if (!again.some((hash) => first.includes(hash)))
    throw contradicted(
      `${day} showed the records of ${same.day}, and none of them when asked again`,
    );
  for (const other of NO_DAYS.map((days) => addDays(today, days))) {
    const hashes = await ask(other, length);
    const shows = (hash: string) => other > today || same.hashes.includes(hash);
    if (!hashes.some(shows)) continue;
    const known = [...same.hashes, ...hashes];
    const own = again.filter((hash) => !known.includes(hash));
    if (other > today && (await heedsDay(context, walkId, own, { day: other, hashes }))) continue;
    throw contradicted(
      `${day} shows the records of ${same.day}, and ${other}, which cannot have any, shows some, too`,
      'The source does not heed which day it is asked for: is it asked as its API wants it, and does it keep days that old?',
    );
  }
}

/**
 * Whether a day is heeded, though one that is not yet shows some records, too: what lasts for longer, as an incident that is open. Then
 * it shows others, which neither its first second shows, nor that other day, of which all was shown.
 * @param own records that were shown for the day, and not for the other.
 */
async function heedsDay(
  context: WindowContext,
  walkId: number,
  own: readonly string[],
  { day, hashes }: DayBeside,
): Promise<boolean> {
  const { knowledge, window } = context;
  const length = knowledge.pageLength(context.pageLength);
  if (own.length === 0 || hashes.length >= Math.min(length, knowledge.largestAnswer)) return false;
  const behind = await orNull(question(context, dayOf(day), hashes.length, 1));
  const first = { ...window, to: window.from };
  const alone = await orNull(question(context, first, 0, length, walkId));
  if ((behind?.came ?? 0) > 0 || alone === null) return false;
  // Where the list moves on meanwhile, what was shown first is not there any more.
  const still = await hashesShown(context, window, Math.max(1, length - 2), walkId);
  return own.some((hash) => still.includes(hash) && !alone.hashes.includes(hash));
}

/** The newest days are too old for no source. */
const NEWEST_DAYS = 2;

/** The day behind another one, where it shows half of what that does, both asked now. */
async function findSameBehind(
  day: Day,
  length: number,
  ask: (day: Day, length: number) => Promise<readonly string[]>,
): Promise<DayBeside | null> {
  const behind = addDays(day, 1);
  const hashes = await ask(behind, length);
  const own = hashes.length === 0 ? [] : await ask(day, length);
  const shown = new Set(own);
  const shared = hashes.filter((hash) => shown.has(hash)).length;
  const isSame = shared > 0 && shared >= Math.min(hashes.length, own.length) / 2;
  return isSame ? { day: behind, hashes } : null;
}

/** What a proven day shows first, where it shows nothing of what it held: it may have become too old, and be answered with another range. */
async function findStrangers(
  { database, knowledge, window }: WindowContext,
  walkId: number,
): Promise<DayBeside | null> {
  const proven = window.proven ? await readProvenWalk(database, window.windowId) : null;
  if (proven === null || proven.records === 0) return null;
  const { less } = await compareSums(database, [proven], [{ walkId }]);
  if (less < proven.records) return null;
  const hashes = await readFirstHashes(database, walkId, knowledge.ignored);
  return { day: 'another day', hashes };
}

/** An answer that shows more records than its own total tells says that totals from that one on are too low. */
export async function learnLowTotals(
  { knowledge, window }: WindowContext,
  heard: readonly Claim[],
): Promise<void> {
  for (const { start, came, total } of heard) {
    const last = start + came;
    if (total !== null && total >= LEAST_CAP && came > 0 && last > total)
      await knowledge.learnLowerBound(textOf(window), total, `showed record ${last} beside it`);
  }
}
