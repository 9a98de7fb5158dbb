/** What is not the record, and differs in some records alone: the time that is left for an open alert, a link that is signed anew; pure. */
import { identityPaths } from '../../source/identity.ts';
import { valueAt } from '../../source/json.ts';
import { type Records, spelledWhole } from './places.ts';
import { differing, isToldApart, pairsOf, volatilePaths } from './volatile.ts';

/**
 * The places in which the records differ that answers to one question, two or more, do not all show as they are, each time anew, all of
 * them in the very same ones; without these, records are still told apart. One record alone must differ in one value, unless what
 * identifies it stands, or a field that is named so: otherwise it may be another one.
 * @returns JSON pointers; none where nothing differs, or not alike.
 */
export function volatileInSome(
  answers: readonly Records[],
  idPath?: readonly string[],
): readonly string[] {
  const seen = answers.map((list) => new Set(list.map(spelledWhole)));
  const moved = answers.map((list) =>
    list.filter((record) => !seen.every((texts) => texts.has(spelledWhole(record)))),
  );
  const [one = []] = moved;
  if (moved.some(({ length }) => length !== one.length)) return [];
  const pairings = moved.flatMap((list, at) =>
    moved.slice(at + 1).map((other) => pairsOf(list, other)),
  );
  const found = pairings.flat().map(([a, b]) => [...differing(a, b).keys()].sort());
  const [places = []] = found;
  if (places.includes('') || found.some((others) => others.join() !== places.join())) return [];
  const identity = idPath ?? identityPaths(one)[0];
  const isKnown =
    identity !== undefined &&
    pairings.flat().every(([a, b]) => isSame(valueAt(a, identity), valueAt(b, identity)));
  const isAlike =
    one.length === 1
      ? places.length === 1
      : pairings.every((pairs) => volatilePaths(pairs)?.length === places.length);
  if (!isKnown && !isAlike) return [];
  return answers.every((list) => isToldApart(list, places)) ? places : [];
}

const isSame = (one: unknown, other: unknown): boolean =>
  (typeof one === 'string' || typeof one === 'number') && one !== '' && one === other;
