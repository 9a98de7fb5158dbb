/** Whether lists are cut, and by what: a cap on their number, or something else, as a share of each shard (docs/completeness.md C6). */
import type { EndedWalk } from '../../store/evidence/evidence.ts';
import { walkAnewBySize } from '../../store/evidence/learned.ts';
import { findLonger } from '../../store/evidence/proven.ts';
import { orNull } from '../failures.ts';
import type { WindowContext } from '../questions/context.ts';
import { askForLook, lookAtEnd } from '../questions/end.ts';
import { question } from '../questions/questions.ts';
import { rangesWith, textOf } from '../questions/span.ts';
import { isRound } from '../rules/verdict.ts';

/**
 * Whether the newest longer list of the stream shows the last of its records where it was, or a range of some days a record behind
 * so many: then a cap on results is no lower. It says nothing where lists are cut otherwise than by their number.
 */
export async function showsLonger(context: WindowContext, records: number): Promise<boolean> {
  const { database, knowledge, window } = context;
  if (knowledge.learned.cutOtherwise) return false;
  const longer = await findLonger(database, window, records);
  if (longer === null) return isMoreShownBeside(context, records);
  const length = knowledge.paging === 'number' ? 1 : 2;
  const answer = await orNull(askForLook(context, longer, longer.records - 1, length));
  return answer !== null && typeof answer !== 'string' && answer.beginsWithLast;
}

/**
 * Whether a range of some days shows another record behind so many of them; a source may begin anew there, or show the last one
 * again. A round number may be a cap for each day.
 */
async function isMoreShownBeside(context: WindowContext, records: number): Promise<boolean> {
  if (isRound(records)) return false;
  for (const span of rangesWith(context.window.day)) {
    const shownAt = async (start: number) =>
      (await orNull(question(context, span, start, 1)))?.hashes[0];
    const more = await shownAt(records);
    if (more === undefined) continue;
    if (more !== (await shownAt(0)) && more !== (await shownAt(records - 1))) return true;
  }
  return false;
}

/** So often a list must end in the same place: what is late, or left out by chance, would show by then. */
const TIMES = 10;

/**
 * Called where the halves of a window show records that the whole does not. Where longer lists were shown and it ends in the
 * same place again and again, no size and no total shows from then on that a list is whole: days that were believed by them
 * are walked again.
 */
export async function learnCutOtherwise(
  context: WindowContext,
  { walkId, stored }: Pick<EndedWalk, 'walkId' | 'stored'>,
): Promise<void> {
  const { database, knowledge, window } = context;
  const { cutOtherwise, provenSize } = knowledge.learned;
  if (cutOtherwise)
    return knowledge.learn('cut_otherwise', true, `${textOf(window)} shows it again`);
  if (stored >= Math.max(knowledge.longestList, provenSize)) return;
  const walk = { ...window, walkId, records: stored };
  const isAsStored = async (length: number) => (await lookAtEnd(context, walk, length)) === null;
  for (let time = 0; time < TIMES; time += 1)
    if ((await orNull(isAsStored(2 + time))) !== true) return;
  const evidence = `${textOf(window)} shows ${stored} records, its halves more, and other lists are longer`;
  await knowledge.learn('cut_otherwise', true, evidence);
  await walkAnewBySize(database, knowledge.streamId);
}
