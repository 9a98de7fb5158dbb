/** How a source pages, and what in a record is not the record: learned by asking, where a page does not continue the one before. */
import type { Page, PageRequest } from '../model.ts';
import { utf16Of } from '../source/body-scan.ts';
import type { Database } from '../store/database.ts';
import { readFirstRecords } from '../store/evidence.ts';
import type { ProbeFacts } from '../store/probes.ts';
import type { AnswerContext } from './answers.ts';
import type { Knowledge } from './knowledge.ts';
import { askShorter } from './questions.ts';
import { volatilePaths, volatilePlace } from './volatile.ts';

/** What learning needs. */
export interface LearningContext extends AnswerContext {
  readonly database: Database;
  readonly knowledge: Knowledge;
}

/** A walk whose pages are to be understood. */
export interface WalkSoFar {
  readonly walkId: number;
  readonly ignored: readonly string[];
  /** Of its records, in order. */
  readonly hashes: readonly string[];
}

/**
 * Asks for the first page at offsets 0, 1 and 2.
 * @param first the request for the first page.
 * @returns what was learned, as a sentence; null: nothing, so the list has moved.
 */
export async function learnPaging(
  context: LearningContext,
  first: PageRequest,
  walk: WalkSoFar,
): Promise<string | null> {
  const { knowledge } = context;
  const at = (start: number) => lookAt(context, { ...first, start }, walk.walkId);
  const [zero, one] = [await at(0), await at(1)];
  const [head, second] = zero.facts.hashes;
  if (head === undefined || second === undefined || head === second) return null;
  const [shown] = one.facts.hashes;
  if (knowledge.paging === null && shown === head) {
    const two = await at(zero.facts.came > 2 ? 2 : 1);
    if (two.facts.hashes[0] !== head) return null;
    // A list to which one record came with each question shows the same.
    if ((await at(0)).facts.hashes[0] !== head) return null;
    const evidence = 'starts 1 and 2 show the page that start 0 shows: pages are counted by number';
    await knowledge.learn('paging', 'number', evidence);
    return evidence;
  }
  if (shown === second) {
    await knowledge.learn('paging', 'offset', 'start 1 shows the second record first');
    return null;
  }
  return learnIgnored(context, first, [zero.list, one.list]);
}

/** Records that differ from one offset to another, and alike in a window of their own, differ in what is not the record. */
async function learnIgnored(
  context: LearningContext,
  first: PageRequest,
  [zero, one]: readonly [readonly unknown[], readonly unknown[]],
): Promise<string | null> {
  const shifted = zero.slice(1).map((record, index) => [record, one[index]] as const);
  const paths = volatilePaths(shifted.filter(([, other]) => other !== undefined));
  if (paths === null || paths.length === 0) return learnIgnoredAnyOrder(context, first);
  const two = (await lookAt(context, { ...first, start: 2 }, 0)).list;
  const again = zero.slice(2).map((record, index) => [record, two[index]] as const);
  const same = volatilePaths(again.filter(([, other]) => other !== undefined));
  if (again.length > 0 && JSON.stringify(same) !== JSON.stringify(paths)) return null;
  const evidence = `records differ from one offset to another in ${paths.join(', ')} only`;
  const all = [...new Set([...context.knowledge.ignored, ...paths])].sort();
  if (all.length === context.knowledge.ignored.length) return null;
  await context.knowledge.learn('ignored', all, evidence);
  return evidence;
}

/** The same where the order does not hold: one question, asked three times, shows the same records but for one place in them. */
async function learnIgnoredAnyOrder(
  context: LearningContext,
  first: PageRequest,
): Promise<string | null> {
  const lists = [];
  for (let time = 0; time < 3; time += 1) lists.push((await lookAt(context, first, 0)).list);
  const [one = [], other = [], third = []] = lists;
  if (one.length >= first.length) return null;
  const path = volatilePlace(one, other);
  if (path === null || (volatilePlace(one, third) ?? path) !== path) return null;
  const { knowledge } = context;
  if (knowledge.ignored.includes(path)) return null;
  const evidence = `asked again, the records are the same but for ${path}`;
  await knowledge.learn('ignored', [...knowledge.ignored, path].sort(), evidence);
  return evidence;
}

async function lookAt(
  context: LearningContext,
  request: PageRequest,
  walkId: number,
): Promise<{ facts: ProbeFacts; list: readonly unknown[] }> {
  const { facts, page } = await askShorter(context, request, walkId);
  return { facts, list: listIn(page, context) };
}

/**
 * The records of an answer, for a look at their fields; numbers that JavaScript cannot hold are equal enough for that. Of a
 * body that only `jsonb` reads, after its repair, there are none.
 */
function listIn({ body }: Page, { contract }: AnswerContext): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder(utf16Of(body) ?? 'utf-8').decode(body));
  } catch {
    return [];
  }
  for (const key of contract.known?.recordsPath ?? [])
    value = (value as Record<string, unknown> | null)?.[key];
  return Array.isArray(value) ? value : [];
}

/** Records that have come to differ from those stored, alike in every one of them, differ in what is not the record (an age, a score). */
export async function learnIgnoredSince(
  context: LearningContext,
  first: PageRequest,
  walkId: number,
): Promise<void> {
  const now = await lookAt(context, first, walkId);
  const stored = await readFirstRecords(context.database, walkId);
  if (stored.length < 2 || now.list.length < stored.length) return;
  const pairs = stored.map((record, index) => [record, now.list[index]] as const);
  const paths = volatilePaths(pairs);
  if (paths === null || paths.length === 0) return;
  const { knowledge } = context;
  const all = [...new Set([...knowledge.ignored, ...paths])].sort();
  await knowledge.learn(
    'ignored',
    all,
    `records differ from what they were in ${paths.join(', ')} only`,
  );
}
