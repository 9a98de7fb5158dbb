/**
 * Records that a source writes in several forms, with lists in any order, zeros behind numbers or members that are null: found
 * where answers are compared.
 */
import type { Page } from '../../model.ts';
import { readFirstHashes } from '../../store/evidence/evidence.ts';
import { compareProbe } from '../../store/evidence/probes.ts';
import { IN_ONE_FORM, isPart } from '../rules/places.ts';
import type { AskingContext } from './context.ts';

/** An answer that was looked at, or the walk whose first page is meant. */
type Answer = Page | number;

/**
 * Compares two answers, one of which may show a part of the other: where all records of the shorter are among those of the
 * longer in one form of them, and not as they came, what differs is the form. In JavaScript 5 and 5.0 are one, so Postgres compares.
 * @param skip records at the beginning of the first answer that the other need not show.
 * @returns what was learned, as a sentence; null: nothing.
 */
export async function learnOneForm(
  context: AskingContext,
  one: Answer,
  other: Answer,
  skip = 0,
): Promise<string | null> {
  const { ignored } = context.knowledge;
  if (ignored.includes(IN_ONE_FORM)) return null;
  const areAmong = async (leftOut: readonly string[]) => {
    const hashes = (await hashesOf(context, one, leftOut)).slice(skip);
    const others = await hashesOf(context, other, leftOut);
    const [few, many] = hashes.length < others.length ? [hashes, others] : [others, hashes];
    return isPart(few, many, (hash) => hash);
  };
  if ((await areAmong(ignored)) || !(await areAmong([...ignored, IN_ONE_FORM]))) return null;
  const evidence =
    'records are the same but for the order within their lists, the spelling of their numbers, or members that are null';
  return context.knowledge.ignore([IN_ONE_FORM], evidence);
}

async function hashesOf(
  { contract, database, knowledge }: AskingContext,
  answer: Answer,
  ignored: readonly string[],
): Promise<readonly string[]> {
  if (typeof answer === 'number') return readFirstHashes(database, answer, ignored);
  if (contract.known === null) return [];
  const compared = { streamId: knowledge.streamId, walkId: 0, ignored };
  return (await compareProbe(database, compared, answer, contract.known)).hashes;
}
