/** Whether there is nothing: an answer without records is asked for again, as it may be of chance, of its length, or of what is too much (docs/completeness.md C3). */
import { WalkError } from '../../errors.ts';
import { around, DAY_SECONDS, secondsOf } from '../../plan/split.ts';
import type { WalkRole } from '../../store/walks.ts';
import { orNull } from '../failures.ts';
import { downFrom } from '../rules/steps.ts';
import { LEAST_CAP } from '../rules/verdict.ts';
import type { Asking } from './asking.ts';
import type { WindowContext } from './context.ts';
import type { Knowledge } from './knowledge.ts';
import { question } from './questions.ts';
import { partsOf, textOf } from './span.ts';

/**
 * Called behind a first answer without records: asks again until chance cannot explain it, and whether known answers are there.
 * @throws {WalkError} where it is not believed.
 */
export async function confirmNothing(
  context: WindowContext,
  asking: Asking,
  role: WalkRole,
): Promise<void> {
  const { knowledge } = context;
  // Beside a window one empty answer is enough, unless the source is known to give such at random.
  const beside = role !== 'whole' && asking.frame?.known !== false;
  const isSteady = !knowledge.restless && !knowledge.givesEmptiesInVain;
  const wasShown = knowledge.spansShown.has(textOf(asking.target));
  const repeats = beside && isSteady ? 1 : knowledge.repeatsWhere(wasShown);
  const most = knowledge.pageLength(context.pageLength);
  for (let came = 1; came < repeats; came += 1) {
    // What is answered with nothing may be the length, or the first records alone.
    const length = came === 1 ? Math.min(most, 2) : Math.max(1, most - (came % 3));
    const answer = await asking.ask(0, length);
    if (answer.came > 0 && length < most) await refuseLength(knowledge, asking, most, length);
    await asking.stillNothing(answer);
  }
  if (role === 'whole') await refuseTooMuch(context, asking);
  if (asking.frame !== null && !beside)
    await context.known.believeNothing(asking.frame, asking.target);
}

/**
 * Called before a span is believed to be empty: a day of a source that is known to show lists of some length, or of which nothing is
 * known, and any part of one that was caught so. Parts of it must show nothing, either.
 * @throws {WalkError} `capped` where one shows records again and again, and the whole none.
 */
async function refuseTooMuch(context: WindowContext, asking: Asking): Promise<void> {
  const { knowledge, window } = context;
  const seconds = secondsOf(window);
  const isDay =
    seconds === DAY_SECONDS && (knowledge.longestList >= LEAST_CAP || isTriedAsNew(knowledge));
  if (!(isDay || (knowledge.hidesMuch && seconds > 1)) || knowledge.reach === 'day') return;
  for (const part of partsOf(window, knowledge.hidesMuch)) {
    const cameUpTo = async (to: string) =>
      (await orNull(question(context, { ...window, ...part, to }, 0, 2)))?.came ?? null;
    // The last part of a day is asked for across its midnight first: some ranges show what none of one date does.
    const isLast = isDay && part.to === window.to;
    const across = isLast ? await cameUpTo(around(part.to, 0, 2).to) : null;
    if (across === 0) continue;
    const came = await cameUpTo(part.to);
    // There are records: at the midnight it is looked at what dates hide.
    if (across !== null && came === 0) {
      knowledge.listed(0, 1);
      await knowledge.doubtNothingHidden();
    }
    // A part that cannot be had tells nothing.
    if (!(came ?? across)) continue;
    for (let time = 0; time < knowledge.repeats; time += 1)
      await asking.stillNothing(await asking.ask(0, 2 + time));
    const told = `${textOf(window)} shows nothing, and ${textOf(part)} shows records`;
    await knowledge.learn('hides_much', true, told);
    throw new WalkError('capped', told);
  }
}

/** Whether this is one of the first days of a stream that has shown nothing yet: ranges of a day may be too long for its source. */
function isTriedAsNew(knowledge: Knowledge): boolean {
  if (knowledge.longestList > 0) return false;
  const isLeft = knowledge.tries.left('emptyDay');
  knowledge.tries.spend('emptyDay');
  return isLeft;
}

/** Where a list shows records to a short page only, and never to longer ones, those are too long. @throws {WalkError} `learned` then. */
async function refuseLength(
  knowledge: Knowledge,
  asking: Asking,
  refused: number,
  shown: number,
): Promise<void> {
  // Each of another length, as a cache may give the same empty answer again.
  const lengths = downFrom(refused, knowledge.repeats);
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
