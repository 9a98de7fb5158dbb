/** Lists that are cut by something else than their number: a share of each shard, the last hours of a range (docs/completeness.md C6). */

import type { EndedWalk } from '../../store/evidence/evidence.ts';
import { walkAnewBySize } from '../../store/evidence/learned.ts';
import { orNull } from '../failures.ts';
import type { WindowContext } from '../questions/context.ts';
import { lookAtEnd } from '../questions/end.ts';
import { textOf } from '../questions/span.ts';

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
  if (knowledge.reach === 'day') return;
  if (stored >= Math.max(knowledge.longestList, provenSize)) return;
  const walk = { ...window, walkId, records: stored };
  const isAsStored = async (length: number) => (await lookAtEnd(context, walk, length)) === null;
  for (let time = 0; time < TIMES; time += 1)
    if ((await orNull(isAsStored(2 + time))) !== true) return;
  const evidence = `${textOf(window)} shows ${stored} records, its halves more, and other lists are longer`;
  await knowledge.learn('cut_otherwise', true, evidence);
  await walkAnewBySize(database, knowledge.streamId);
}
