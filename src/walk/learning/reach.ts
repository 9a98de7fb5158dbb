/** How far a request must reach beyond a cut, and the division of a span by what is known of that (docs/completeness.md C8). */

import type { Day, Span } from '../../model.ts';
import { addDays } from '../../plan/days.ts';
import { around, DAY_SECONDS, type Split, secondsOf, splitByTime } from '../../plan/split.ts';
import { type EndedWalk, readHashes } from '../../store/evidence/evidence.ts';
import { askCutsAgain } from '../../store/evidence/learned.ts';
import { readKnownAnswers } from '../../store/evidence/proven.ts';
import { contradicted, isRangeRefused, orNull } from '../failures.ts';
import type { WindowContext } from '../questions/context.ts';
import { newestDay } from '../questions/elsewhere.ts';
import { type Reach, UNLEARNED_REACH } from '../questions/knowledge.ts';
import { hashesShown, question, shows } from '../questions/questions.ts';
import { BEYOND_ROUNDED, dayOf, MOST_HALVINGS, splitSpan, textOf } from '../questions/span.ts';

/** Seconds that a window must have to be cut, as long as the reach is not learned. */
const SHORTEST_CUT = 4 * UNLEARNED_REACH;
/** Seconds to whose multiples a source may round; nobody rounds to fewer and loses what a reach of one second would show. */
const ROUNDED_TO = 5;
/** Seconds with records that are tried from either side. */
const SECONDS_TRIED = 5;

/** As {@link splitSpan}; where the parts would be short, it is learned first how short they may be. */
export async function divide(
  context: WindowContext,
  span: Span,
  parts: number,
): Promise<Split | null> {
  await doubtIgnoresTime(context);
  if (context.knowledge.reach === null && secondsOf(span) < parts * SHORTEST_CUT)
    await learnReach(context, span);
  return splitSpan(context, span, parts);
}

/** Called before a window is split, whose parts may be refused if ranges as short as a cut is asked for with are. */
export async function learnShortest(context: WindowContext, { from }: Span): Promise<void> {
  const { knowledge } = context;
  if (knowledge.reach !== null || !knowledge.tries.left('shortRange')) return;
  const short = around(from, 0, 2 * UNLEARNED_REACH + 1);
  if (isRangeRefused(await shows(context, short, 2))) await learnReach(context, short);
  else knowledge.tries.spend('shortRange');
}

/**
 * Called where a range as short as was learned is refused. Where one so short around noon is refused, too, and the day is not, the source has come
 * to refuse such ranges.
 * @returns whether something else is known by now.
 */
export async function doubtReach(context: WindowContext, asked: Reach | null): Promise<boolean> {
  const { knowledge, window } = context;
  if (knowledge.reach !== asked) return true;
  if (typeof asked !== 'number') return false;
  const day = dayOf(window.day);
  const short = around(day.from, DAY_SECONDS / 2 - asked, DAY_SECONDS / 2);
  // The day first: what was refused for a moment is not refused behind it.
  if (isRangeRefused(await shows(context, day, 2))) return false;
  const refused = await shows(context, short, 2);
  if (!isRangeRefused(refused)) return false;
  if (asked <= UNLEARNED_REACH) return knowledge.doubt('reach');
  // With less, what lies across a cut may be hidden.
  await learnAnswered(context, short, refused, 2 * asked);
  return knowledge.reach !== asked;
}

/**
 * Learns how far a request must reach. The first and the last second of a span are found that hold a record. Where it shows in one second
 * around each, and not in two to four seconds beside it, one second is enough. A round time is not taken for that: what happened
 * then shows however a source rounds. One window learns it, and the others wait.
 */
export async function learnReach(context: WindowContext, span: Span): Promise<void> {
  const { knowledge } = context;
  await knowledge.reachLearning.run(async () => {
    if (knowledge.reach === null && knowledge.tries.left('reach')) await tryReach(context, span);
  });
}

async function tryReach(context: WindowContext, span: Span): Promise<void> {
  const { knowledge } = context;
  knowledge.tries.spend('reach');
  try {
    if (await learnIgnoresTime(context, span)) return;
    const first = await exactSecond(context, span, 'first');
    if (first === null) return;
    const behind = { ...span, from: around(first, 1, 1).from };
    const isOnly = first === span.to || (await question(context, behind, 0, 1)).came === 0;
    if (!isOnly && (await exactSecond(context, span, 'last')) === null) return;
  } catch (error) {
    if (!isRangeRefused(error)) throw error;
    return learnAnswered(context, around(span.to, 0, 0), error, UNLEARNED_REACH);
  }
  const evidence = `single seconds of ${textOf(span)} show their records, and the seconds beside them do not`;
  await knowledge.learn('reach', 1, evidence);
}

/** Short ranges are refused: requests reach as far beyond a cut as the range on one side of it must, to be answered. */
async function learnAnswered(
  context: WindowContext,
  short: Span,
  refused: Error,
  least: number,
): Promise<void> {
  // Where ends are rounded, it was twice as far as that takes. Short ranges may be taken again.
  const isRounded = least % BEYOND_ROUNDED === 0;
  for (let reach = least; reach < DAY_SECONDS; reach *= 2) {
    if (isRangeRefused(await shows(context, around(short.to, -reach, 0), 2))) continue;
    // It may have been of a moment, and what is learned of it is kept.
    if (!isRangeRefused(await shows(context, short, 2))) return;
    return context.knowledge.learn('reach', reach, refused.message, isRounded);
  }
  throw refused;
}

/**
 * Learns that the source ignores the time of day, where the day of this span and the newest one with records do: older days may be kept
 * otherwise.
 * @returns whether its own day does.
 */
export async function learnIgnoresTime(context: WindowContext, span: Span): Promise<boolean> {
  const { database, knowledge } = context;
  const day = span.from.slice(0, 10);
  if (!(await ignoresTimeOfDay(context, day))) return false;
  const answers = await readKnownAnswers(database, knowledge.streamId);
  for (const { from } of [await newestDay(context, null), ...answers]) {
    const newer = from.slice(0, 10);
    if (newer <= day || (await shows(context, dayOf(newer), 1)) !== true) continue;
    if (!(await ignoresTimeOfDay(context, newer))) return true;
    break;
  }
  await knowledge.learn('reach', 'day', `parts of ${day} show the same records`);
  return true;
}

/**
 * Called where it matters that the source ignores the time of day, as it may have come to heed it: neither the first nor the last second of
 * a day with records shows any then, nor does a minute show what it was learned by. Once a run is enough.
 */
export async function doubtIgnoresTime(context: WindowContext): Promise<void> {
  const { database, knowledge, window } = context;
  if (knowledge.reach !== 'day') return;
  await knowledge.reachLearning.run(async () => {
    if (knowledge.reach !== 'day' || !knowledge.tries.left('timeOfDay')) return;
    const day = dayOf(window.day);
    for (const second of [day.from, day.to])
      if ((await shows(context, { ...day, from: second, to: second }, 2)) !== false)
        return knowledge.tries.spend('timeOfDay');
    if ((await shows(context, day, 2)) !== true) return;
    knowledge.tries.spend('timeOfDay');
    // Nothing may be shown where a range ends as it begins.
    if (await ignoresTimeOfDay(context, window.day)) return;
    await askCutsAgain(database, knowledge.streamId);
    await knowledge.doubt('reach');
  });
}

/**
 * Learns that the source takes one end of a range for its date alone: a single second at the other end shows the last record of
 * a span of which it is known that not all stands there, and no day beside shows any of it, though the one at that end shows records.
 * @returns whether parts of the span show what does not stand in them.
 * @throws {WalkError} where a day beside shows some, too: the source does not heed that end at all.
 */
export async function learnOpenEnd(
  context: WindowContext,
  { walkId, stored }: EndedWalk,
  span: Span,
  open: 'beginning' | 'end',
): Promise<boolean> {
  const { database, knowledge, pageLength } = context;
  const second = open === 'end' ? span.from : span.to;
  const single = { ...span, from: second, to: second };
  const last = await orNull(question(context, single, stored - 1, 1, walkId), isRangeRefused);
  if (!last?.beginsWithLast) return false;
  const evidence = `${textOf(single)} shows all ${stored} records of ${textOf(span)}`;
  const length = knowledge.pageLength(pageLength);
  const own = new Set(await readHashes(database, walkId));
  let besideShows = false;
  // The day at the open end comes last.
  for (const days of open === 'end' ? [-1, 1] : [1, -1]) {
    const beside = addDays(second.slice(0, 10), days);
    const hashes = await hashesShown(context, dayOf(beside), length);
    if (hashes.some((hash) => own.has(hash)))
      throw contradicted(
        `${evidence}, of which ${beside} shows some, too`,
        `The source does not heed the ${open} of a range: is it asked for it as its API wants it?`,
      );
    besideShows = hashes.length > 0;
  }
  if (besideShows) await knowledge.learn('reach', 'day', evidence);
  return true;
}

/**
 * The first and the last minute show the very records of the whole day, and one of them stands on no day beside it: what lasts for days
 * is in any minute of them.
 */
async function ignoresTimeOfDay(context: WindowContext, day: Day): Promise<boolean> {
  const length = context.knowledge.pageLength(context.pageLength);
  const least = Math.min(length, Math.max(2, length - 2));
  let own: readonly string[] = [];
  const spans = [minuteOf(day, '00:00'), minuteOf(day, '23:59'), dayOf(day)];
  for (const [less, span] of spans.entries()) {
    // Each with a length of its own, so that no cache answers that takes them for one.
    const shown = (await hashesShown(context, span, Math.max(least, length - less))).slice(
      0,
      least,
    );
    if (shown.length === 0 || (less > 0 && own.join() !== shown.join())) return false;
    own = shown;
  }
  const beside = [-1, 1].map((days) => hashesShown(context, dayOf(addDays(day, days)), length));
  const others = new Set((await Promise.all(beside)).flat());
  return own.some((hash) => !others.has(hash));
}

const minuteOf = (day: Day, minute: string): Span => ({
  ...dayOf(day),
  from: `${day} ${minute}:00`,
  to: `${day} ${minute}:59`,
});

/** From which end of a span a second is looked for. */
type Side = 'first' | 'last';

/** The second with records nearest to one end of a span that is shown exactly; null where none is, or that cannot be told soon. */
async function exactSecond(context: WindowContext, span: Span, side: Side): Promise<string | null> {
  let left: Span = span;
  for (let time = 0; time < SECONDS_TRIED && left.from <= left.to; time += 1) {
    const second = await findSecond(context, left, side);
    if (second === null) return null;
    const isExact = pastRound(second) === 0 ? null : await isExactAround(context, second, side);
    if (isExact !== null) return isExact ? second : null;
    const { from } = around(second, 1, 1);
    const { to } = around(second, -1, -1);
    left = side === 'first' ? { ...left, from } : { ...left, to };
  }
  return null;
}

/**
 * The first second up to which a span shows a record, or the last one from which on it does, by halving. The other end stays where it
 * is: a source that leaves out an edge would show a record beside it in neither half.
 */
async function findSecond(context: WindowContext, span: Span, side: Side): Promise<string | null> {
  let left: Span = span;
  for (let halving = 0; halving < MOST_HALVINGS && secondsOf(left) > 1; halving += 1) {
    const [one, other] = splitByTime(left, 2, [], 0)?.parts ?? [];
    if (one === undefined || other === undefined) return null;
    const [tried, rest] = side === 'first' ? [one, other] : [other, one];
    const asked = side === 'first' ? { ...tried, from: span.from } : { ...tried, to: span.to };
    left = (await question(context, asked, 0, 1)).came > 0 ? tried : rest;
  }
  return left.from;
}

/**
 * Whether what shows around a second does not show beside it; null: nothing shows.
 * @param side from which it was found: where both edges are left out, what shows up to it stands a second before.
 */
async function isExactAround(
  context: WindowContext,
  second: string,
  side: Side,
): Promise<boolean | null> {
  const length = context.knowledge.pageLength(context.pageLength);
  const hashesOf = async (before: number, after: number) =>
    (await question(context, around(second, before, after), 0, length)).hashes;
  const past = pastRound(second);
  let [near = [], ...beside] = await Promise.all([
    hashesOf(past === 1 ? 0 : -1, past === ROUNDED_TO - 1 ? 0 : 1),
    hashesOf(-4, -2),
    hashesOf(2, 4),
  ]);
  if (near.length === 0) near = await (side === 'first' ? hashesOf(-2, 0) : hashesOf(0, 2));
  if (near.length === 0) return null;
  const others = new Set(beside.flat());
  return near.every((hash) => !others.has(hash));
}

const pastRound = (second: string): number => Number(second.slice(-2)) % ROUNDED_TO;
