/**
 * Sources that keep their events by the dates of another clock, in an index or a table for each, and look only where the dates of a
 * request point: what lies within hours of a midnight shows in ranges that reach across it alone (docs/completeness.md C8).
 */
import type { Span } from '../model.ts';
import { around } from '../plan/split.ts';
import type { WindowContext } from './context.ts';
import { orNull } from './failures.ts';
import { LONGEST_REACH } from './knowledge.ts';
import { question } from './questions.ts';

const HOUR = 3_600;
/** Hours beside a midnight that are looked at: the nearest one, which shows most, and more of them where it holds nothing. */
const HOURS = [1, 12];
const MOST_TRIES = 3;

/** Learns it at a midnight with records around it. One cut learns it, and the others wait for that. */
export async function learnHiddenByDate(context: WindowContext, midnight: string): Promise<void> {
  const { knowledge } = context;
  await knowledge.reachLearning.run(async () => {
    if (knowledge.hiddenByDate !== null || knowledge.lastGood === null) return;
    if (knowledge.datesTried >= MOST_TRIES) return;
    knowledge.datesTried += 1;
    const before = await orNull(
      hides(context, midnight, (reach, beyond) => around(midnight, -reach, beyond ? 1 : 0)),
    );
    const after = await orNull(
      hides(context, midnight, (reach, beyond) => around(midnight, beyond ? 0 : 1, 1 + reach)),
    );
    if (!before && !after && (before === null || after === null)) return;
    const hidden = before && after ? 'both' : before ? 'before' : after ? 'after' : 'nothing';
    const shows = hidden === 'nothing' ? 'no more' : 'more';
    const evidence = `a range across the midnight behind ${midnight} shows ${shows} than ranges of one date beside it`;
    await knowledge.learn('hidden_by_date', hidden, evidence);
  });
}

/**
 * Whether a range across a midnight shows more records than the same hours of one date, and what any source may show across a
 * cut, do together; before those were asked for, and behind.
 * @param rangeOf the hours of one date, or as far as one second beyond.
 * @returns null: there are none, or one of these ranges cannot be had.
 */
async function hides(
  context: WindowContext,
  midnight: string,
  rangeOf: (reach: number, beyond: boolean) => Span,
): Promise<boolean | null> {
  const length = context.knowledge.pageLength(context.pageLength);
  const countIn = async (span: Span, less = 0) =>
    (await question(context, span, 0, Math.max(2, length - less))).came;
  for (const hours of HOURS) {
    const across = () => countIn(rangeOf(hours * HOUR, true), 1);
    const shown = await across();
    if (shown === 0) continue;
    let alone = await countIn(rangeOf(hours * HOUR, false));
    if (alone >= shown) return false;
    const near = await countIn(around(midnight, -LONGEST_REACH, 1 + LONGEST_REACH));
    for (let time = 1; time < context.knowledge.repeats && alone + near < shown; time += 1)
      alone = Math.max(alone, await countIn(rangeOf(hours * HOUR, false), time));
    return shown > alone + near && (await across()) > alone + near;
  }
  return null;
}
