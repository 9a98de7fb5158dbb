/** How a source pages, and what in a record is not the record: learned by asking, where a page does not continue the one before. */
import type { PageRequest, Span } from '../../model.ts';
import { readFirstRecords } from '../../store/evidence/evidence.ts';
import type { AskingContext } from '../questions/context.ts';
import type { Knowledge } from '../questions/knowledge.ts';
import { learnOneForm } from '../questions/one-form.ts';
import { askRecords, inOtherWords } from '../questions/questions.ts';
import { targetOf, textOf } from '../questions/span.ts';
import type { Records } from '../rules/places.ts';
import {
  pairsOf,
  rowNumberPlace,
  sharesRecords,
  tellsItself,
  volatilePaths,
  volatilePlace,
} from '../rules/volatile.ts';
import { volatileInSome } from '../rules/volatile-in-some.ts';

/**
 * Asks for the first page at offsets 0, 1 and 2, and at 0 again.
 * @param first the request for the first page.
 * @param walkId the walk whose pages are to be understood.
 * @returns what was learned, as a sentence; null: nothing, so the list has moved.
 */
export async function learnPaging(
  context: AskingContext,
  first: PageRequest,
  walkId: number,
): Promise<string | null> {
  const { knowledge } = context;
  const at = (start: number) => askRecords(context, { ...first, start }, walkId);
  const [zero, one] = [await at(0), await at(1)];
  const { hashes, came } = zero.facts;
  // A list of nothing but one record's copies looks the same from everywhere.
  if (new Set(hashes).size < 2) return came === 1 ? learnIgnoredAnyOrder(context, first) : null;
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
    learnIgnored(context, first, [zero.list, one.list])
  );
}

/** Whether two lists show the same records, as far as the shorter goes; equal ones among them make no difference. */
function beginAlike(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  return length > 0 && one.slice(0, length).every((hash, index) => hash === other[index]);
}

/** Records that differ from one offset to another, and alike in a window of their own, differ in what is not the record. */
async function learnIgnored(
  context: AskingContext,
  first: PageRequest,
  [zero, one]: readonly [Records, Records],
): Promise<string | null> {
  const paths = volatilePaths(pairsOf(zero.slice(1), one));
  if (paths === null || paths.length === 0) return learnIgnoredAnyOrder(context, first);
  const two = (await askRecords(context, { ...first, start: 2 }, 0)).list;
  const same = volatilePaths(pairsOf(zero.slice(2), two));
  if (zero.length > 2 && JSON.stringify(same) !== JSON.stringify(paths)) return null;
  const evidence = `records differ from one offset to another in ${paths.join(', ')} only`;
  return context.knowledge.ignore(paths, evidence);
}

/**
 * The same where the order does not hold, or some records alone differ: one question, asked three times, shows the same but for one
 * place in them. A second apart, as a time may be told by the second.
 */
export async function learnIgnoredAnyOrder(
  context: AskingContext,
  first: PageRequest,
): Promise<string | null> {
  const { list: one, page } = await askRecords(context, first, 0);
  if (one.length >= first.length) return null;
  const ask = async (time: number) => {
    await context.clock.sleep(1_000, context.signal);
    return askRecords(context, inOtherWords(first, one, time), 0);
  };
  const [again, last] = [await ask(1), await ask(2)];
  const learned =
    (await learnOneForm(context, page, again.page)) ??
    (await learnOneForm(context, page, last.page));
  if (learned !== null) return learned;
  const paths = placesThatRun([one, again.list, last.list], context.stream.idPath);
  const evidence = `asked again, the records are the same but for ${paths.join(', ')}`;
  return context.knowledge.ignore(paths, evidence);
}

/** The places in which three answers to one question differ, in some records or in all. */
function placesThatRun(
  answers: readonly [Records, Records, Records],
  idPath: readonly string[] | undefined,
): readonly string[] {
  const some = volatileInSome(answers, idPath);
  if (some.length > 0) return some;
  const [one, other, third] = answers;
  const path = volatilePlace(one, other);
  if (path === null) return [];
  // What comes back as it was may be an edit that one of two replicas does not know.
  const apart = [one, other].every((list) => volatilePlace(list, third) === path);
  return apart || tellsItself(path, answers) ? [path] : [];
}

/**
 * A list of records held against others, which are another list from several places of it on: where they are the same, the
 * fewest places in the records differ. None: nothing differs, or nothing alike.
 */
function fewestPlaces(
  part: Records,
  others: readonly Records[],
  ignored: readonly string[],
): readonly string[] {
  const shared = others.findIndex((other) => sharesRecords(part, other, ignored));
  const found = others
    .slice(Math.max(0, shared))
    .map((other) => volatilePaths(pairsOf(part, other), shared !== -1) ?? [])
    .filter((places) => places.length > 0);
  return found.sort((one, other) => one.length - other.length)[0] ?? [];
}

/**
 * Records that come otherwise in a part of a span than in the whole of it, alike in every one of them, differ in what is not
 * the record: a number of the row, say.
 * @param whole the span that is asked for now.
 * @param parts walks of its parts.
 * @returns whether something was learned; then walks before do not compare.
 */
export async function learnIgnoredInParts(
  context: AskingContext,
  whole: Span,
  parts: readonly (Span & { readonly walkId: number; readonly stored: number })[],
): Promise<boolean> {
  for (const part of parts) {
    const stored = await readFirstRecords(context.database, part.walkId);
    if (stored.length < 2) continue;
    const lists: Records[] = [];
    // Where the part begins in the whole, whichever part comes first.
    for (const start of new Set([0, ...parts.map((other) => other.stored)])) {
      // A page by number begins nowhere but at a multiple of its length.
      const before = context.knowledge.paging === 'number' ? start : 0;
      const length = before + stored.length;
      const first = { ...targetOf(context.stream, whole), start: start - before, length };
      const { list, page } = await askRecords(context, first, 0);
      if ((await learnOneForm(context, part.walkId, page)) !== null) return true;
      lists.push(list.slice(before));
    }
    const places = fewestPlaces(stored, lists, context.knowledge.ignored);
    const evidence = `records of ${textOf(part)} differ from those of ${textOf(whole)} in ${places.join(', ')} only`;
    if ((await context.knowledge.ignore(places, evidence)) !== null) return true;
  }
  return false;
}

/**
 * The same for what lies across a cut and its sides, by the walks of them.
 * @param steady it was so twice: then numbers of the rows will do.
 */
export async function learnIgnoredAcross(
  context: AskingContext,
  across: number,
  sides: readonly number[],
  steady: boolean,
): Promise<void> {
  const { database, knowledge } = context;
  const whole = await readFirstRecords(database, across);
  const parts: Records[] = [];
  for (const walkId of sides) {
    if ((await learnOneForm(context, walkId, across)) !== null) return;
    const part = await readFirstRecords(database, walkId);
    parts.push(part);
    // Records that no side shows may lie between.
    const starts = Math.max(0, whole.length - part.length + 1);
    const lists = Array.from({ length: starts }, (_, at) => whole.slice(at));
    const places = fewestPlaces(part, lists, knowledge.ignored);
    const evidence = `on one side of a cut, records differ from those across it in ${places.join(', ')} only`;
    if ((await knowledge.ignore(places, evidence)) !== null) return;
  }
  if (steady) await ignoreRowNumber(knowledge, parts, whole);
}

/** The same for a span that fits into a page, and its halves: all are asked for now, the span before and after them. */
export async function learnIgnoredInHalves(
  context: AskingContext,
  first: PageRequest,
  halves: readonly Span[],
): Promise<void> {
  const before = await askRecords(context, first, 0);
  if (before.list.length < 2 || before.list.length >= first.length) return;
  const parts: Records[] = [];
  for (const half of halves) {
    const request = { ...first, ...targetOf(context.stream, half) };
    parts.push((await askRecords(context, request, 0)).list);
  }
  const after = await askRecords(context, first, 0);
  if (JSON.stringify(after.list) === JSON.stringify(before.list))
    await ignoreRowNumber(context.knowledge, parts, after.list);
}

async function ignoreRowNumber(
  knowledge: Knowledge,
  parts: readonly Records[],
  whole: Records,
): Promise<void> {
  const place = rowNumberPlace(parts, whole);
  if (place === null) return;
  const evidence = `asked for in parts of a span, records are the same as in the whole but for ${place}`;
  await knowledge.ignore([place], evidence);
}
