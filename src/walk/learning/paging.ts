/** How a source pages, and what differs from one offset to another: learned by asking, where a page does not continue the one before. */
import type { PageRequest } from '../../model.ts';
import type { AskingContext } from '../questions/context.ts';
import { learnOneForm } from '../questions/one-form.ts';
import { askRecords } from '../questions/questions.ts';
import type { Records } from '../rules/places.ts';
import { believed, differenceOf, inAll } from '../rules/volatile.ts';
import { learnWhatRuns } from './not-the-record.ts';

/**
 * Asks for the first page at offsets 0, 1 and 2, and at 0 again.
 * @param first the request for the first page.
 * @returns what was learned, as a sentence; null: nothing, so the list has moved.
 */
export async function learnPaging(
  context: AskingContext,
  first: PageRequest,
): Promise<string | null> {
  const { knowledge } = context;
  const at = (start: number) => askRecords(context, { ...first, start });
  const [zero, one] = [await at(0), await at(1)];
  const { hashes, came } = zero.facts;
  // A list of nothing but one record's copies looks the same from everywhere.
  if (new Set(hashes).size < 2) return came === 1 ? learnWhatRuns(context, first) : null;
  const isFirst = ({ facts }: typeof one) => beginAlike(hashes, facts.hashes);
  if (knowledge.paging !== 'number' && isFirst(one)) {
    if (!isFirst(await at(first.length > 2 ? 2 : 1))) return null;
    // With a record more at each request a list shows the same, too.
    if (!isFirst(await at(0))) return null;
    const evidence = 'starts 1 and 2 show the page that start 0 shows: pages are counted by number';
    await knowledge.learn('paging', 'number', evidence);
    return evidence;
  }
  if (beginAlike(hashes.slice(1), one.facts.hashes)) {
    await knowledge.learn('paging', 'offset', 'start 1 shows the second record first');
    return null;
  }
  return (
    (await learnOneForm(context, zero.page, one.page, 1)) ??
    learnFromOffsets(context, first, [zero.list, one.list])
  );
}

/** Whether two lists show the same records, as far as the shorter goes; equal ones among them make no difference. */
function beginAlike(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  return length > 0 && one.slice(0, length).every((hash, index) => hash === other[index]);
}

/** Records that differ from one offset to another, and in the same places from a third one, differ in what is not the record. */
async function learnFromOffsets(
  context: AskingContext,
  first: PageRequest,
  [zero, one]: readonly [Records, Records],
): Promise<string | null> {
  const { knowledge } = context;
  const placesAt = (start: number, list: Records) =>
    believed([differenceOf([zero.slice(start)], [list], knowledge.ignored)], inAll);
  const places = placesAt(1, one);
  if (places.length === 0) return learnWhatRuns(context, first);
  const two = (await askRecords(context, { ...first, start: 2 })).list;
  if (zero.length > 2 && placesAt(2, two).join() !== places.join()) return null;
  const evidence = `records differ from one offset to another in ${places.join(', ')} only`;
  return knowledge.ignore(places, evidence);
}
