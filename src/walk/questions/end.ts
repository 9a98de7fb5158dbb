/** The end of a window's list at the source: one answer shows whether it is still what is stored. */

import { RequestError } from '../../errors.ts';
import type { Span } from '../../model.ts';
import { readHashes } from '../../store/evidence/evidence.ts';
import type { ProbeFacts } from '../../store/evidence/probes.ts';
import type { ProvenWalk } from '../../store/evidence/proven.ts';
import type { Facts } from '../contract.ts';
import { isRefused, orAgain, orNull } from '../failures.ts';
import { beginsPage } from '../rules/observed.ts';
import { downFrom } from '../rules/steps.ts';
import type { AskingContext } from './context.ts';
import { question } from './questions.ts';
import { textOf } from './span.ts';

/** The walk that a look is compared with, and what it asked for; without a proof it is no union. */
type LookedAt = Span &
  Pick<ProvenWalk, 'walkId' | 'records'> &
  Partial<Pick<ProvenWalk, 'pages' | 'proof'>>;

/** What differs where an answer to a look tells of more than it shows. */
export const SAYS_MORE = 'its answer says that there is more';

/**
 * Asks from the last record on, with a length that was not asked for lately.
 * @param wasBelieved whether the window was proven to be empty with an answer of this frame; absent: any will do.
 * @returns what differs; null: nothing, as far as one answer can tell.
 */
export async function lookAtEnd(
  context: AskingContext,
  walk: LookedAt,
  length: number,
  wasBelieved: (signature: string) => Promise<boolean> = async () => true,
): Promise<string | null> {
  if (walk.proof?.kind === 'union') return lookAtUnion(context, walk, length);
  const { records } = walk;
  const { knowledge } = context;
  const byNumber = knowledge.paging === 'number' && records > 0;
  const start = Math.max(0, records - 1);
  // What is too long may come empty.
  const longest = records === 0 ? Math.min(length, 2 + (length % 3)) : length;
  const room = Math.min(length, knowledge.largestAnswer);
  const most = byNumber ? lengthFrom(start, room, length) : longest;
  const answer = await askForLook(context, walk, start, most);
  if (typeof answer === 'string') return answer;
  const { came, total } = answer;
  if (answer.more && came < most) return SAYS_MORE;
  if (records === 0) {
    if (came > 0 || (total ?? 0) > 0) return 'the window was empty and is not';
    const { frame } = answer;
    const known = frame === null || frame.known || (await wasBelieved(frame.signature));
    return known ? null : 'an answer without records of no known kind';
  }
  if (came === 0) return `there is no record at ${start}, where the last one was`;
  if (!answer.beginsWithLast) return `the last record, at ${start}, is another one`;
  const more = `there are more than the ${records} records that were there`;
  if (came > 1) return more;
  // It came alone: it was asked for so, or a page may have no room for two.
  const mayHaveNoRoom = (walk.pages ?? 1) > 1 || knowledge.hasLargeRecords;
  if (most === 1 || (total !== records && mayHaveNoRoom)) {
    // Many refuse to begin behind the last record.
    const behind = await orAgain(() => orNull(question(context, walk, records, 1, walk.walkId)));
    if (behind?.came === 0 && behind.more) return SAYS_MORE;
    const isLastAgain = behind?.beginsWithLast === true && behind.total === records;
    if ((behind?.came ?? 0) > 0 && !isLastAgain) return more;
  }
  if (total !== null && total > records)
    return `the total is ${total}, and ${records} records are stored`;
  // The list is as long as it was: a total of fewer, also when it is asked for again, is a lower bound, or counts something else by now.
  if (total !== null && total < records && knowledge.learned.calibrated > 0) {
    const other = byNumber ? 1 : Math.max(2, most - 1);
    const told =
      (await orNull(question(context, walk, start, other, walk.walkId)))?.total ?? records;
    if (told < records)
      await knowledge.learnLowerBound(
        textOf(walk),
        Math.max(total, told),
        `showed record ${records} beside it`,
      );
  }
  return null;
}

/**
 * A length by which a page counted by number begins at `start`, so that there is room behind the record there; 1 where there is none.
 * @param turn tells which of them, so that no cache answers.
 */
function lengthFrom(start: number, longest: number, turn: number): number {
  const lengths = downFrom(longest, longest - 1).filter((length) => beginsPage(start, length));
  return lengths[turn % lengths.length] ?? 1;
}

/** One page of what is proven by a union shows nothing else. */
export async function lookAtUnion(
  context: AskingContext,
  walk: LookedAt,
  length: number,
): Promise<string | null> {
  const known = new Set<string>();
  for (const walkId of [walk.walkId, ...(walk.proof?.unites ?? [])])
    for (const hash of await readHashes(context.database, walkId)) known.add(hash);
  const answer = await askForLook(context, walk, 0, length);
  if (typeof answer === 'string') return answer;
  if (answer.came === 0 && known.size > 0) return 'it shows nothing any more';
  // The proof of a cut speaks of what it adds.
  const records = walk.proof?.kind === 'union' ? walk.proof.records : walk.records;
  const { came, more, total } = answer;
  // Of several pages the first one goes on.
  if (more && came < length && (walk.pages ?? 1) === 1) return SAYS_MORE;
  if (total !== null && total > records)
    return `the total is ${total}, and ${records} records are stored`;
  return answer.hashes.some((hash) => !known.has(hash))
    ? 'a record is shown that is not stored'
    : null;
}

/** An answer for a look; a list that has become shorter, or is not paged as deep any more, may answer with an error. */
export async function askForLook(
  context: AskingContext,
  walk: LookedAt,
  start: number,
  length: number,
): Promise<Facts<ProbeFacts> | string> {
  const { knowledge } = context;
  const times = knowledge.givesEmptiesInVain ? knowledge.repeats : 1;
  try {
    let answer = await question(context, walk, start, length, walk.walkId);
    for (let time = 1; time < times && answer.came === 0; time += 1)
      answer = await question(context, walk, start, length, walk.walkId);
    return answer;
  } catch (error) {
    if (start === 0 || !isRefused(error)) throw error;
    // A failure is of the depth, or of the last record, where the list itself can be had.
    const isOfEnd =
      error instanceof RequestError || (await orNull(question(context, walk, 0, length))) !== null;
    if (!isOfEnd) throw error;
    return `the source refuses start ${start}, where the last record was: ${(error as Error).message}`;
  }
}
