/**
 * Looks: later, independent questions whether a complete window is still what is stored. One that differs is walked again,
 * unless its source forgets its oldest day first: then the day stays shown, and is not walked for nothing.
 */
import { RequestError } from '../../errors.ts';
import type { Span, TimeSpan } from '../../model.ts';
import { addDays, dayAt } from '../../plan/days.ts';
import { around, secondsOf } from '../../plan/split.ts';
import { confirmFrame } from '../../store/evidence/contracts.ts';
import { readHalves, readHashes } from '../../store/evidence/evidence.ts';
import { type ProvenWalk, readProvenWalk } from '../../store/evidence/proven.ts';
import { noteDifferent, noteLooked, postponeLook } from '../../store/leases.ts';
import { readSplit, type SplitParts } from '../../store/splits.ts';
import { isRefused, orNull } from '../failures.ts';
import { withUntoldHours } from '../learning/dates.ts';
import { learnFromHalves, learnSince } from '../learning/not-the-record.ts';
import type { WindowContext, WindowEnd } from '../questions/context.ts';
import { askForLook, lookAtEnd, lookAtUnion, SAYS_MORE } from '../questions/end.ts';
import { question } from '../questions/questions.ts';
import {
  firstPageOf,
  isTooShort,
  sameSpan,
  spansAround,
  splitSpan,
  textOf,
} from '../questions/span.ts';
import { isForgotten } from './forgotten.ts';

/** A look at a day of so many days ago at most is as good as a known answer. */
const KNOWN_DAYS = 7;
const PARTS_MOVED = 'its parts tell other totals than they hold';
const LEARNED_SINCE = 'something was learned since that it is to be walked with';

/** @returns what became of the window, which was noted and given back; null: it is to be walked again. */
export async function lookAgain(context: WindowContext): Promise<WindowEnd | null> {
  const { database, log, recheckDays, window } = context;
  let difference: Awaited<ReturnType<typeof lookForDifference>>;
  try {
    difference = await lookForDifference(context);
    // That says nothing against it either, as long as there is nobody to ask.
    if (difference === LEARNED_SINCE) await question(context, window, 0, 1);
    else if (difference) {
      await noteDifferent(database, window);
      if (await isForgotten(context)) return { kind: 'released' };
    }
  } catch (error) {
    // Nothing was said against the window: it is looked at later.
    if (!isRefused(error)) throw error;
    if (error instanceof RequestError && (await isForgotten(context))) return { kind: 'released' };
    log.warn(
      { window: window.from, to: window.to },
      `this window stays complete, and the look at it failed: ${(error as Error).message}`,
    );
    await postponeLook(database, window, recheckDays);
    return { kind: 'released' };
  }
  if (difference) {
    await orNull(learnWhatDiffers(context));
    log.info({ window: window.from, to: window.to }, `walked again: ${difference}`);
    return null;
  }
  await noteLooked(database, window, recheckDays, difference === null);
  return { kind: 'unchanged' };
}

/** How a complete window differs from what is stored of it; null: it does not; undefined: nothing of it can be seen. */
export async function lookForDifference(
  context: WindowContext,
): Promise<string | null | undefined> {
  const { database, knowledge, window } = context;
  if (window.splitBy !== null) return lookAtTotals(context);
  if (window.kind === 'cut' && knowledge.reach === 'day') return null;
  const walk = await readProvenWalk(database, window.windowId);
  if (walk === null) return 'its walk is not there';
  // Records that one walk lacked may be those of another walk, but for what was learned since.
  if (walk.doubted && knowledge.ignored.some((place) => !walk.ignored.includes(place)))
    return LEARNED_SINCE;
  return window.kind === 'cut' ? lookAtCut(context, walk) : lookAtList(context, walk);
}

/** All records may differ in the same places, which then are not the record; a number of the row differs in a half, too. */
export async function learnWhatDiffers(context: WindowContext): Promise<void> {
  const { database, knowledge, window } = context;
  const walk = window.splitBy === null ? await readProvenWalk(database, window.windowId) : null;
  if (walk === null || walk.records === 0) return;
  const first = firstPageOf(context, walk);
  const known = knowledge.ignored.length;
  const asWalked = { ...first, length: knowledge.pageLength(walk.pageLength) };
  await learnSince(context, asWalked, walk.walkId);
  const halves = knowledge.ignored.length > known ? null : splitSpan(context, walk, 2);
  if (halves?.by === 'time') await learnFromHalves(context, first, halves.parts);
}

async function lookAtList(context: WindowContext, walk: ProvenWalk): Promise<string | null> {
  const { clock, database, timeZone, window } = context;
  const length = otherLength(context);
  const difference = await lookAtEnd(context, walk, length, (signature) =>
    confirmFrame(database, window.windowId, signature),
  );
  // It serves as a known answer, where it is new: an old day may stand where nothing breaks.
  const isNew = window.day >= addDays(dayAt(clock.now(), timeZone), -KNOWN_DAYS);
  if (difference === null && walk.records > 0 && !walk.doubted && isNew)
    await context.known.seen(window.windowId);
  return difference ?? lookAtHalves(context, length);
}

/** Where lists are cut otherwise than by their number, what a window does not show itself may come to be shown by its halves. */
async function lookAtHalves(context: WindowContext, length: number): Promise<string | null> {
  const { database, knowledge, window } = context;
  if (!knowledge.learned.cutOtherwise) return null;
  for (const half of await readHalves(database, window.windowId)) {
    const difference = await lookAtEnd(context, half, length);
    if (difference !== null) return `${textOf(half)}: ${difference}`;
  }
  return null;
}

/**
 * The total must be the one that was calibrated. Those of two parts, cut at a second that was not used before, may add up to
 * less, where fractions of a second are compared, and to more only by what padded windows both show. Without a calibrated total
 * the parts have looks of their own.
 */
async function lookAtTotals(context: WindowContext): Promise<string | null | undefined> {
  const { database, knowledge, clock, window } = context;
  const split = await readSplit(database, window);
  if (split === null) return 'its parts are not there';
  const answer = await orNull(question(context, window, 0, 2 + (window.looks % 3)));
  // What cannot be had whole tells nothing: it is too much, or too old. Parts without looks of their own are asked for their totals.
  if (answer === null)
    return split.calibrated && (await movedParts(context, split)).length > 0
      ? PARTS_MOVED
      : undefined;
  if (!split.calibrated) {
    const holds = split.parts.some(({ records }) => records > 0);
    return answer.came === 0 && holds ? 'it shows nothing any more' : null;
  }
  const { total } = answer;
  if (total === null || total !== split.total)
    return `its total is ${total ?? 'missing'}, and was ${split.total}`;
  const totalOf = async (span: TimeSpan) =>
    (await question(context, { ...window, ...span }, 0, 1)).total ?? 0;
  const second = Math.floor(secondsOf(window) * (0.25 + 0.5 * clock.random()));
  const { to } = around(window.from, 0, second);
  const { from } = around(to, 1, 1);
  const sum = (await totalOf({ from: window.from, to })) + (await totalOf({ from, to: window.to }));
  if (sum <= total) return null;
  if (knowledge.reach !== 1) {
    // Where windows are padded, both parts show what lies across their cut.
    const { across, before, after } = spansAround(to, context);
    const both = (await totalOf(before)) + (await totalOf(after)) - (await totalOf(across));
    if (sum - both <= total) return null;
  }
  await knowledge.learnLowerBound(textOf(window), total, `its parts ${sum} together`);
  return `the totals of its parts are ${sum} together, and that of the whole is ${total}`;
}

/**
 * Parts that tell another total than they hold.
 * @param whole the total of the whole; a part that tells the same, and holds more, is no sign that it moved.
 */
export async function movedParts(
  context: WindowContext,
  { parts }: SplitParts,
  whole: number | null = null,
): Promise<number[]> {
  const moved: number[] = [];
  for (const part of parts) {
    const { total } = await question(context, part, 0, 1);
    if (total !== part.records && total !== whole) moved.push(part.windowId);
  }
  return moved;
}

/** What lies across the cut, page by page. */
async function lookAtCut(context: WindowContext, walk: ProvenWalk): Promise<string | null> {
  const { database, knowledge } = context;
  if (isTooShort(context, walk)) return LEARNED_SINCE;
  if (walk.united) {
    const difference = await lookAtUnion(context, walk, otherLength(context));
    const behind = difference ?? (await askForLook(context, walk, walk.records, 1));
    if (typeof behind === 'string') return behind;
    if (behind.came === 0 && behind.more) return SAYS_MORE;
    if (behind.came === 0 && (behind.total ?? 0) <= walk.records) return null;
    return `more than ${walk.records} records lie across it`;
  }
  const stored = await readHashes(database, walk.walkId);
  const length = otherLength(context);
  let span: Span = stored.length > 0 ? walk : await withUntoldHours(context, walk);
  const shown: string[] = [];
  for (let start = 0; shown.length <= stored.length; ) {
    const isBehind = start > 0 && shown.length === stored.length;
    const ask = () => askForLook(context, { ...walk, ...span }, start, length);
    let answer = await ask().catch((error: unknown) => {
      if (!isRefused(error) || sameSpan(span, walk)) throw error;
      // Such a range may be too long for its source, or hold too much.
      knowledge.tries.spend('untoldHours');
      span = walk;
      return ask();
    });
    // Many refuse to begin behind the last record, or answer with the last page again; by turns it is not refused again.
    if (isBehind && typeof answer === 'string') answer = await ask();
    if (isBehind && (typeof answer === 'string' || answer.total === stored.length)) break;
    if (typeof answer === 'string') return answer;
    shown.push(...answer.hashes);
    // A page that is shorter than asked may be cut short, unless its total says that it is all.
    const isAll = shown.length >= stored.length && answer.total === shown.length;
    if ((answer.came === 0 || isAll) && answer.more && answer.came < length) return SAYS_MORE;
    if (answer.came === 0 || isAll) break;
    start += knowledge.paging === 'number' ? length : answer.came;
  }
  const same = JSON.stringify(shown.sort()) === JSON.stringify(stored.sort());
  return same ? null : `${shown.length} records lie across it, and ${stored.length} are stored`;
}

function otherLength({ knowledge, pageLength, window }: WindowContext): number {
  return Math.max(2, knowledge.pageLength(pageLength) - 1 - (window.looks % 3));
}
