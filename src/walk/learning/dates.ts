/**
 * Sources that keep their events by the dates of another clock, in an index or a table for each, and look only where the dates of a
 * request point: what lies within hours of a midnight shows in ranges that reach across it alone. So does what stands at the end of a
 * range whose ends a source rounds inwards (docs/completeness.md C8).
 */
import type { Span } from '../../model.ts';
import { lastClosedDay } from '../../plan/days.ts';
import { around, DAY_SECONDS } from '../../plan/split.ts';
import { askCutsAgain } from '../../store/evidence/learned.ts';
import { databaseNow } from '../../store/windows.ts';
import { contradicted, isRangeRefused, orNull, unsettled } from '../failures.ts';
import type { WindowContext } from '../questions/context.ts';
import { type HiddenByDate, UNLEARNED_REACH } from '../questions/knowledge.ts';
import { question, shows } from '../questions/questions.ts';
import { BEYOND_DATES, BEYOND_ROUNDED } from '../questions/span.ts';

const HOUR = 3_600;
/** Hours beside a midnight that are looked at: the nearest one, which shows most, and more of them where it holds nothing, or too little. */
const HOURS = [1, 3, 12];
/** What stands farther from a midnight, and is shown, does not tell that nothing is hidden that stands nearer. */
const MOST_TELLING = 3;
/** So often what shows too little is asked for, and what is near: where answers differ, one may lack something by chance. */
const ASKED_AGAIN = 5;

/**
 * Learns it at a midnight with records around it. One cut learns it, and the others wait for that.
 * @param isTry it is one of the few midnights that are tried in a run, whatever stands there; not one that is known to show something, or asked again.
 * @returns whether the hours beside this midnight were looked at; 'too few': on a side they do not tell.
 * @throws {WalkError} where ranges across a midnight show nothing, whatever stands there.
 */
export async function learnHiddenByDate(
  context: WindowContext,
  midnight: string,
  isTry = true,
): Promise<boolean | 'too few'> {
  const { knowledge } = context;
  let isLookedAt: boolean | 'too few' = false;
  await knowledge.reachLearning.run(async () => {
    const { hiddenByDate: known } = knowledge;
    if (!(known === null || isOfOneSide(known)) || hasShownNothing(context)) return;
    if (isTry && !knowledge.tries.left('dates')) return;
    const [before, after] = await bothSides(context, midnight, HOURS, known);
    isLookedAt = before === 'too few' || after === 'too few' ? 'too few' : true;
    if (![before, after].every((side) => side === 'no records' || side === 'known')) {
      if (isTry) knowledge.tries.spend('dates');
    } else if (known === null) await refuseNothingAcross(context, midnight);
    if (before === 'rounded' || after === 'rounded') await learnRounded(context, midnight);
    const isHidden = before === true || after === true;
    const side = before === true ? await beforeOf(context, midnight) : 'after';
    const hidden = !isHidden ? shownOf(before, after) : before === after ? 'both' : side;
    if (hidden === known) return;
    const evidence = `a range across the midnight behind ${midnight} shows ${isHidden ? 'more' : 'no more'} than ranges of one date beside it`;
    // First: where a process is killed in between, one of those midnights shows it again.
    if (isHidden) await askCutsAgain(context.database, knowledge.streamId);
    await knowledge.learn('hidden_by_date', hidden, evidence, isHidden);
  });
  return isLookedAt;
}

/** Nobody looks for what dates hide then; a cut that was asked so is walked again once a day beside it shows records. */
export const hasShownNothing = ({ knowledge, window }: WindowContext): boolean =>
  knowledge.longestList === 0 && !window.rewalk;

/**
 * Called where halves or parts and the cuts between them lack something: the ends of ranges may be rounded by more than the cut reaches.
 * @returns whether that was learned.
 */
export async function learnRounding(context: WindowContext, second: string): Promise<boolean> {
  const { reach } = context.knowledge;
  if (reach === 'day' || (reach ?? 0) >= BEYOND_ROUNDED) return false;
  const sides = await bothSides(context, second, [1]);
  const isRounded = sides.some((side) => side === 'rounded' || side === true);
  if (isRounded) await learnRounded(context, second);
  return isRounded;
}

/** Cuts may have been asked with less, as long as one second would do. */
async function learnRounded({ database, knowledge }: WindowContext, second: string): Promise<void> {
  await askCutsAgain(database, knowledge.streamId, true);
  const evidence = `a range across ${second} shows more than ranges that end or begin there`;
  await knowledge.learn('reach', BEYOND_ROUNDED, evidence, true);
}

/** On which sides of a midnight dates were seen to hide nothing; null: that is not known of either. */
function shownOf(before: unknown, after: unknown): HiddenByDate | null {
  // Where ends are rounded, the nearest hour of a date shows some, and cuts reach beyond it.
  const isShown = (side: unknown) => side === false || side === 'known' || side === 'rounded';
  if (isShown(before)) return isShown(after) ? 'nothing' : 'not before';
  return isShown(after) ? 'not after' : null;
}

const isOfOneSide = (hidden: HiddenByDate): boolean =>
  hidden === 'not before' || hidden === 'not after';

/** What ranges that end behind a second hide before it, and ranges that begin there behind it. @param known a side of which it is known is not asked. */
function bothSides(
  context: WindowContext,
  second: string,
  within: readonly number[],
  known: HiddenByDate | null = null,
) {
  const ask = async (isKnown: boolean, rangeOf: Parameters<typeof hides>[2]) =>
    isKnown ? 'known' : orNull(hides(context, within, rangeOf));
  return Promise.all([
    ask(known === 'not before', (reach, beyond) => around(second, 1 - reach, beyond ? 2 : 0)),
    ask(known === 'not after', (reach, beyond) => around(second, beyond ? -1 : 1, reach)),
  ]);
}

/** How much of the day before a midnight is hidden: all of it where a range across shows more from its morning on, which alone shows nothing. */
async function beforeOf(context: WindowContext, midnight: string): Promise<'before' | 'day'> {
  const { knowledge, pageLength } = context;
  const countFrom = async (first: number) => {
    const span = around(midnight, first, 2);
    const { total, came } = await question(context, span, 0, knowledge.pageLength(pageLength));
    return total ?? came;
  };
  if ((await countFrom(1 - DAY_SECONDS)) <= (await countFrom(1 - BEYOND_DATES))) return 'before';
  const morning = around(midnight, 1 - DAY_SECONDS, -BEYOND_DATES);
  for (let time = 0; time < ASKED_AGAIN; time += 1)
    if ((await shows(context, morning, 2 + time)) === true) return 'before';
  return 'day';
}

/**
 * Called where a range across a midnight shows nothing: so must a part of it, unless as long a range of one date shows nothing, either.
 * @throws {WalkError} where they do not.
 */
async function refuseNothingAcross(context: WindowContext, midnight: string): Promise<void> {
  const hours = Math.max(...HOURS) * HOUR;
  const showsAny = async (first: number, last: number) =>
    (await shows(context, around(midnight, first, last), 2)) === true;
  if (!((await showsAny(1 - hours, 0)) && (await showsAny(-1 - hours, 0)))) return;
  for (let time = 0; time < context.knowledge.repeats; time += 1)
    if (await showsAny(1 - hours, 2)) return;
  throw contradicted(
    `a range across the midnight behind ${midnight} shows nothing, and a part of it records`,
    'What lies around a midnight cannot be asked for: does its API answer a range of two dates?',
  );
}

/** @throws {WalkError} as long as the hours behind a midnight are not over that only the cut shows, by the clock of the database. */
export async function refuseUnfinished(context: WindowContext, midnight: string): Promise<void> {
  if (!context.knowledge.isHiddenByDate('after')) return;
  if (await isOver(context, midnight, BEYOND_DATES)) return;
  const { to } = around(midnight, 0, 1 + BEYOND_DATES);
  throw unsettled(
    `only a range across midnight shows the hours up to ${to}, and they are not over yet`,
    'The source files events by the dates of another time zone. Set settle to 16h: then a day is exported when those hours are over.',
  );
}

/** Whether so many seconds behind a midnight are over. */
async function isOver(
  { database, timeZone }: WindowContext,
  midnight: string,
  seconds: number,
): Promise<boolean> {
  const closed = lastClosedDay(await databaseNow(database), timeZone, seconds * 1_000);
  return closed >= midnight.slice(0, 10);
}

/**
 * What a cut at a midnight is asked for besides: three hours on a side of which it is not known what dates hide, as far as they are over.
 * Where they hold anything, it tells.
 */
export async function withUntoldHours(context: WindowContext, least: Span): Promise<Span> {
  const { knowledge, window } = context;
  const { hiddenByDate: known } = knowledge;
  const { from: midnight } = window;
  // What holds too much is answered with nothing: that such a range is empty would say nothing.
  if (knowledge.hidesMuch || !midnight.endsWith(' 23:59:59')) return least;
  if (!knowledge.tries.left('untoldHours')) return least;
  const seconds = MOST_TELLING * HOUR;
  // Before the first day of all stands what is none of it.
  const isBefore = (known === null || known === 'not after') && midnight.startsWith(window.day);
  const isAfter =
    (known === null || known === 'not before') && (await isOver(context, midnight, seconds));
  // No farther than is looked at: what stands there would differ with each look, and tell nothing.
  const { from, to } = around(midnight, isBefore ? 1 - seconds : 0, isAfter ? seconds : 0);
  return { ...least, ...(from < least.from && { from }), ...(to > least.to && { to }) };
}

/**
 * Whether a range across a midnight shows more records than the same hours of one date do, and any source may show across a cut;
 * asked before those and behind. Of the nearest hour they show none at all then: where they show some, ends are rounded.
 * @param rangeOf the hours of one date, or as far as two seconds beyond.
 * @returns 'no records': there are none; 'too few': they do not tell.
 */
async function hides(
  context: WindowContext,
  within: readonly number[],
  rangeOf: (reach: number, beyond: boolean) => Span,
): Promise<boolean | 'rounded' | 'no records' | 'too few'> {
  const { knowledge, pageLength } = context;
  const length = knowledge.pageLength(pageLength);
  const shownIn = async (span: Span, less = 0) =>
    (await question(context, span, 0, Math.max(2, length - less))).hashes;
  let reach = Math.min(UNLEARNED_REACH, knowledge.reachSeconds);
  const shownNear = (less = 0): Promise<readonly string[]> =>
    shownIn(rangeOf(reach, true), less).catch((error: unknown) => {
      // Where ranges so short are refused, cuts are asked for with longer ones.
      if (!isRangeRefused(error) || reach > HOUR) throw error;
      reach = Math.max(UNLEARNED_REACH, knowledge.reachSeconds, 2 * reach);
      return shownNear(less);
    });
  let found: 'no records' | 'too few' = 'no records';
  for (const hours of within) {
    const across = () => shownIn(rangeOf(hours * HOUR, true), 1);
    const countAlone = async (less = 0) =>
      (await shownIn(rangeOf(hours * HOUR, false), less)).length;
    const shown = await across();
    if (shown.length === 0) continue;
    let alone = await countAlone();
    if (alone >= shown.length) return hours <= MOST_TELLING ? false : 'too few';
    let near = await shownNear();
    // Where a full page holds no more than what is near, other records than those tell.
    const further = (list: readonly string[]) =>
      near.length < list.length || list.length < length - 1
        ? list.length - near.length
        : list.filter((hash) => !near.includes(hash)).length;
    if (hours === 1 && alone > 0 && further(shown) <= alone) return false;
    found = 'too few';
    const most = Math.max(ASKED_AGAIN, knowledge.repeats);
    for (let time = 1; time < most && further(shown) > alone; time += 1) {
      alone = Math.max(alone, await countAlone(time));
      const again = await shownNear(time);
      if (again.length > near.length) near = again;
    }
    if (further(shown) <= alone) continue;
    return further(await across()) > alone && (hours > 1 || alone === 0 || 'rounded');
  }
  return found;
}
