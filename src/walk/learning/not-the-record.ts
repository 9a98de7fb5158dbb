/**
 * What in a record is not the record: learned where answers differ that must show the same records, or one a part of them. A span
 * is asked for again, beside its parts, or beside what is stored of it.
 */
import type { Page, PageRequest, Span } from '../../model.ts';
import { readFirstRecords, readProofBefore } from '../../store/evidence/evidence.ts';
import { readKnownAnswers } from '../../store/evidence/proven.ts';
import { orNull } from '../failures.ts';
import type { AskingContext } from '../questions/context.ts';
import { learnOneForm } from '../questions/one-form.ts';
import { askRecords } from '../questions/questions.ts';
import { targetOf, textOf } from '../questions/span.ts';
import { type Records, spelled } from '../rules/places.ts';
import {
  believed,
  type Difference,
  differenceOf,
  differencesOf,
  inAll,
  inAllAnew,
  inAllOfBoth,
  inAllOrOneRow,
  inMost,
  inSome,
} from '../rules/volatile.ts';

/** Records, and the answer in which they came, or the walk whose first page they are. */
interface Shown {
  readonly list: Records;
  readonly page: Page | number;
}

const readShown = async ({ database }: AskingContext, walkId: number): Promise<Shown> => ({
  list: await readFirstRecords(database, walkId),
  page: walkId,
});

/** The same question, asked three times, shows the same but for some places. A second apart, as a time may be told by the second. */
export async function learnWhatRuns(
  context: AskingContext,
  first: PageRequest,
  shown?: Shown,
): Promise<string | null> {
  const { clock, knowledge, signal, stream } = context;
  const one = shown ?? (await askRecords(context, first));
  // Of a full page, the order may show another part.
  if (shown === undefined && one.list.length >= first.length) return null;
  const answers = [one];
  for (const time of [1, 2]) {
    await clock.sleep(1_000, signal);
    // By another length, so that no cache answers: a list that ends before its page shows the same by a shorter one.
    const length = Math.max(first.length - time, Math.min(one.list.length + 1, first.length));
    answers.push(await askRecords(context, { ...first, length }));
  }
  for (const { page } of answers.slice(1)) {
    const learned = await learnOneForm(context, one.page, page);
    if (learned !== null) return learned;
  }
  const lists = answers.map(({ list }) => list);
  const differences = differencesOf(lists, knowledge.ignored);
  const some = believed(differences, inSome(stream.idPath));
  const anew = some.length > 0 ? [] : believed(differences, inAllAnew(stream.idPath));
  // Of a longer list, each answer may show other records.
  const isAll = anew.length > 0 && (await endsBehind(context, first, one.list.length));
  const places = isAll ? anew : some;
  return knowledge.ignore(places, `asked again, records are the same but for ${places.join(', ')}`);
}

async function endsBehind(context: AskingContext, first: PageRequest, records: number) {
  const behind = await orNull(askRecords(context, { ...first, start: records, length: 1 }));
  return behind?.list.length === 0;
}

/**
 * Records that come otherwise in parts of a span than in the whole of it, alike in every one of them, differ in what is not the
 * record: the whole is asked for, and walks of its parts are held against it.
 * @returns whether something was learned; then walks before do not compare.
 */
export async function learnFromParts(
  context: AskingContext,
  whole: Span,
  parts: readonly (Span & { readonly walkId: number; readonly stored: number })[],
): Promise<boolean> {
  const end = parts.reduce((sum, { stored }) => sum + stored, 0);
  for (const part of parts) {
    const shown = await readShown(context, part.walkId);
    if (shown.list.length < 2) continue;
    const length = shown.list.length;
    const wholes: Shown[] = [];
    // Where the part begins in the whole, whichever part comes first.
    for (const start of new Set([0, ...parts.map(({ stored }) => stored)])) {
      const target = targetOf(context.stream, whole);
      // A page by number begins nowhere but at a multiple of its length: two have the same records.
      const within = context.knowledge.paging === 'number' ? start % length : 0;
      for (const from of within === 0 ? [start] : [start - within, start - within + length])
        if (from < end) wholes.push(await askRecords(context, { ...target, start: from, length }));
    }
    const evidence = `records of ${textOf(part)} differ from those of ${textOf(whole)}`;
    if ((await learnBetween(context, [shown], wholes, inAll, evidence)) !== null) return true;
  }
  return false;
}

/**
 * The same for a span that fits into a page and its halves, or what lies across a cut and its sides: all are asked for now, the span before
 * and after them, so that nothing changed.
 */
export async function learnFromHalves(
  context: AskingContext,
  first: PageRequest,
  halves: readonly Span[],
): Promise<void> {
  const before = await askRecords(context, first);
  if (before.list.length < 2 || before.list.length >= first.length) return;
  const parts: Shown[] = [];
  for (const half of halves)
    parts.push(await askRecords(context, { ...first, ...targetOf(context.stream, half) }));
  const after = await askRecords(context, first);
  if (spelled(after.list) !== spelled(before.list)) return;
  const evidence = `records of halves differ from those of ${textOf(first)}`;
  await learnBetween(context, parts, [after], inAllOrOneRow, evidence);
}

async function learnBetween(
  context: AskingContext,
  parts: readonly Shown[],
  wholes: readonly Shown[],
  may: (found: Difference) => boolean,
  evidence: string,
): Promise<string | null> {
  for (const part of parts)
    for (const whole of wholes) {
      const learned = await learnOneForm(context, part.page, whole.page);
      if (learned !== null) return learned;
    }
  const [ones, others] = [parts.map(({ list }) => list), wholes.map(({ list }) => list)];
  const places = believed([differenceOf(ones, others, context.knowledge.ignored)], may);
  return context.knowledge.ignore(places, `${evidence} in ${places.join(', ')} only`);
}

/**
 * Records that have come to differ from those stored, alike in every one of them, differ in what is not the record (an age, a
 * score), unless somebody edited them all. So they must differ each time that they are asked for; or those of another day have
 * come to differ in the same places, by other values; or, where nothing else would show them once, they differed there before.
 */
export async function learnSince(
  context: AskingContext,
  first: PageRequest,
  walkId: number,
): Promise<void> {
  const { database, knowledge, stream } = context;
  const stored = await readShown(context, walkId);
  const now = await askRecords(context, first);
  if ((await learnOneForm(context, walkId, now.page)) !== null) return;
  const found = differenceOf([stored.list], [now.list], knowledge.ignored);
  if (found === null) return;
  // An edit is made once. Some records alone may have a value that runs, as a link that is signed anew.
  const mayRun = found.doubtful.length > 0 && inSome(stream.idPath)(found);
  if (mayRun && (await learnWhatRuns(context, first, now)) !== null) return;
  const evidence = `records differ from what they were in ${found.places.join(', ')} only`;
  const isTold = found.doubtful.length === 0;
  if (isTold || (inAll(found) && inAllOfBoth(found, await differenceElsewhere(context, first)))) {
    await knowledge.ignore(found.places, evidence);
    return;
  }
  const former = stream.idPath ? null : await readProofBefore(database, walkId);
  if (former === null) return;
  const versions = [await readFirstRecords(database, former), stored.list, now.list];
  const places = believed(differencesOf(versions, knowledge.ignored), inMost);
  await knowledge.ignore(places, `${evidence}, and did before`);
}

/** How a known answer of another day has come to differ from what it was. */
async function differenceElsewhere(
  context: AskingContext,
  first: PageRequest,
): Promise<Difference | null> {
  const { database, knowledge, stream } = context;
  const except = [first.from.slice(0, 10)];
  const [other] = await readKnownAnswers(database, knowledge.streamId, { except });
  if (other === undefined) return null;
  const before = await readFirstRecords(database, other.walkId);
  const { list } = await askRecords(context, { ...first, ...targetOf(stream, other) });
  return differenceOf([before], [list], knowledge.ignored);
}
