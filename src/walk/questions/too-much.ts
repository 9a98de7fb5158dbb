/** What is too much for its source may be answered with nothing (docs/completeness.md C3). */
import { WalkError } from '../../errors.ts';
import type { TimeSpan } from '../../model.ts';
import { around, DAY_SECONDS, secondsOf, splitByTime } from '../../plan/split.ts';
import { LEAST_CAP } from '../rules/verdict.ts';
import type { Asking } from './asking.ts';
import type { Knowledge } from './knowledge.ts';
import { textOf } from './span.ts';

/**
 * Parts of a span that show a record where the whole is too much: its halves, and two in its middle, of a day three hours and
 * three quarters of one; where the source is known to hide so, quarters and eighths besides.
 */
export function partsOf({ from, to }: TimeSpan, closely: boolean): TimeSpan[] {
  const seconds = secondsOf({ from, to });
  const span = { from, to, levelFrom: null, levelTo: null };
  const tiles = (closely ? [2, 4, 8] : [2]).flatMap(
    (count) => splitByTime(span, count, [], 0)?.parts ?? [],
  );
  const middles = [1 / 16, 1 / 64].map((half) =>
    around(from, Math.floor(seconds * (1 / 2 - half)), Math.floor(seconds * (1 / 2 + half)) - 1),
  );
  return [...tiles, ...middles]
    .filter((part) => part.from <= part.to)
    .map((part) => ({ from: part.from, to: part.to }));
}

/** The first minutes of a span, of a day eleven: where the whole is refused and they are not, it is too much or too long, and not too old. */
export const beginningOf = <T extends TimeSpan>(span: T): T => ({
  ...span,
  to: around(span.from, 0, Math.floor(secondsOf(span) / 128)).to,
});

/** So many days of a stream that has shown nothing yet are not believed to be empty at once. */
const DAYS_TRIED = 2;

/**
 * Called before a span is believed to be empty: a day of a source that is known to show lists of some length, or of which nothing is
 * known, and any part of one that was caught so. Parts of it must show nothing, either.
 * @throws {WalkError} `capped` where one shows records again and again, and the whole none.
 */
export async function refuseTooMuch(knowledge: Knowledge, asking: Asking): Promise<void> {
  const { from, to, ...target } = asking.target;
  const seconds = secondsOf({ from, to });
  const isDay =
    seconds === DAY_SECONDS && (knowledge.longestList >= LEAST_CAP || isTriedAsNew(knowledge));
  if (!(isDay || (knowledge.hidesMuch && seconds > 1)) || knowledge.reach === 'day') return;
  for (const part of partsOf({ from, to }, knowledge.hidesMuch)) {
    const cameUpTo = (end: string) => asking.cameOf({ ...target, ...part, to: end });
    // The last part of a day is asked for across its midnight first: some ranges show what none of one date does.
    const isLast = isDay && part.to === to;
    const across = isLast ? await cameUpTo(around(to, 0, 2).to) : null;
    if (across === 0) continue;
    const came = await cameUpTo(part.to);
    // There are records: at the midnight it is looked at what dates hide.
    if (across !== null && came === 0) {
      knowledge.longestList = Math.max(1, knowledge.longestList);
      if (knowledge.hiddenByDate === 'nothing' || knowledge.hiddenByDate === 'not before')
        await knowledge.doubt('hidden_by_date');
    }
    // A part that cannot be had tells nothing.
    if (!(came ?? across)) continue;
    for (let time = 0; time < knowledge.repeats; time += 1)
      await asking.stillNothing(await asking.ask(0, 2 + time));
    const told = `${textOf({ from, to })} shows nothing, and ${textOf(part)} shows records`;
    await knowledge.learn('hides_much', true, told);
    throw new WalkError('capped', told);
  }
}

/** Whether this is one of the first days of a stream that has shown nothing yet: ranges of a day may be too long for its source. */
function isTriedAsNew(knowledge: Knowledge): boolean {
  if (knowledge.longestList > 0) return false;
  knowledge.emptyDays += 1;
  return knowledge.emptyDays <= DAYS_TRIED;
}

/** Where a list shows records to a short page only, and never to longer ones, those are too long. @throws {WalkError} `learned` then. */
export async function refuseLength(
  knowledge: Knowledge,
  asking: Asking,
  refused: number,
  shown: number,
): Promise<void> {
  // Each of another length, as a cache may give the same empty answer again.
  const lengths = Array.from({ length: knowledge.repeats }, (_, less) => refused - less);
  for (let half = refused / 2; half > shown; half /= 2) lengths.push(Math.floor(half));
  const longer = lengths.filter((each) => each > shown);
  if (!knowledge.isNoChance(longer.length)) return;
  const told = `pages of ${refused} records are empty, where shorter ones are not`;
  let length = shown;
  for (const tried of longer) {
    if ((await asking.ask(0, tried)).came === 0) continue;
    if (tried === refused) return;
    // One that is hardly shorter tells of chance, and of no length.
    if (2 * tried > refused) await knowledge.caughtEmpty(told);
    length = tried;
    break;
  }
  await knowledge.learn('page_length', length, told);
  throw new WalkError('learned', told);
}
