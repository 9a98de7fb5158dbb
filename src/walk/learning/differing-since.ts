/** What in a record is not the record: learned where stored records come otherwise later. */
import type { PageRequest } from '../../model.ts';
import { readFirstRecords, readProofBefore } from '../../store/evidence/evidence.ts';
import { readCanaries } from '../../store/evidence/proven.ts';
import type { AskingContext } from '../questions/context.ts';
import { learnOneForm } from '../questions/one-form.ts';
import { askRecords, inOtherWords } from '../questions/questions.ts';
import { targetOf } from '../questions/span.ts';
import { differsInEach, type Records } from '../rules/places.ts';
import { tellsItself, volatileSince, volatileTwice } from '../rules/volatile.ts';
import { volatileInSome } from '../rules/volatile-in-some.ts';
import { learnIgnoredAnyOrder } from './paging.ts';

/**
 * Records that have come to differ from those stored, alike in every one of them, differ in what is not the record (an age, a
 * score), unless somebody edited them all. So they must differ each time that they are asked for; or those of another day have
 * come to differ in the same places, by other values; or, where nothing else would show them once, they differed there before.
 */
export async function learnIgnoredSince(
  context: AskingContext,
  first: PageRequest,
  walkId: number,
): Promise<void> {
  const { database, knowledge, stream } = context;
  const stored = await readFirstRecords(database, walkId);
  const { list: now, page } = await askRecords(context, first, walkId);
  if ((await learnOneForm(context, walkId, page)) !== null) return;
  const paths = volatileSince(stored, now, knowledge.ignored);
  if (paths.length > 0 && !(await areEdited(context, first, [stored, now], paths))) {
    await knowledge.ignore(paths, `records differ from what they were in ${paths.join(', ')} only`);
    return;
  }
  const former = stream.idPath ? null : await readProofBefore(database, walkId);
  if (former !== null) {
    const places = volatileTwice([await readFirstRecords(database, former), stored, now]);
    const evidence = `records differ from what they were in ${places.join(', ')} only, and did before`;
    if ((await knowledge.ignore(places, evidence)) !== null) return;
  }
  // Some of them may have such a value, as a link that is signed anew; one that is edited has another one once.
  if (volatileInSome([stored, now], stream.idPath).length > 0)
    await learnIgnoredAnyOrder(context, first);
}

/** Whether somebody may have edited all of these records, which differ in these places. */
async function areEdited(
  context: AskingContext,
  first: PageRequest,
  versions: readonly [Records, Records],
  places: readonly string[],
): Promise<boolean> {
  const doubtful = places.filter((place) => !tellsItself(place, versions));
  return (
    doubtful.length > 0 &&
    !(await differsEachTime(context, first, versions[1], doubtful)) &&
    !(await differsElsewhere(context, first, versions, doubtful))
  );
}

/** Whether three answers to one question differ from each other in these places; asked a second apart, as a time may be told by the second. */
async function differsEachTime(
  context: AskingContext,
  first: PageRequest,
  now: Records,
  places: readonly string[],
): Promise<boolean> {
  const lists = [now];
  while (lists.length < 3) {
    await context.clock.sleep(1_000, context.signal);
    const { list } = await askRecords(context, inOtherWords(first, now, lists.length), 0);
    for (const before of lists) {
      const differ = volatileSince(before, list, context.knowledge.ignored);
      if (!places.every((place) => differ.includes(place))) return false;
    }
    lists.push(list);
  }
  return true;
}

/**
 * Whether also a known answer of another day has come to differ in these places, and no value stands there twice: a state, which
 * somebody sets in all records, comes again.
 */
async function differsElsewhere(
  context: AskingContext,
  first: PageRequest,
  [stored, now]: readonly [Records, Records],
  places: readonly string[],
): Promise<boolean> {
  const { database, knowledge, stream } = context;
  const except = [first.from.slice(0, 10)];
  const [other] = await readCanaries(database, knowledge.streamId, { except });
  if (other === undefined) return false;
  const before = await readFirstRecords(database, other.walkId);
  const request = { ...first, ...targetOf(stream, other) };
  const { list } = await askRecords(context, request, 0);
  const differ = volatileSince(before, list, knowledge.ignored);
  const all = [stored, now, before, list].flat();
  return places.every((place) => differ.includes(place) && differsInEach(place, all));
}
