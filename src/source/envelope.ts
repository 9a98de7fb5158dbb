/** Finds the record list and the total in a first page, or says why it cannot: never a guess, never an empty day; pure. */

import { EnvelopeError } from '../errors.ts';
import type { Envelope } from '../model.ts';
import { utf16Of } from './body.ts';
import { excerpt } from './excerpt.ts';
import { describe, follow, isObject, spell } from './json.ts';
import { chooseList, listsIn, tellLists } from './lists.ts';
import { parseTotal, relationBeside, totalCandidates } from './total.ts';

export { parseTotal } from './total.ts';

/** What the settings say about the envelope; a stream fits. */
export interface EnvelopeHints {
  /** Absent: found. */
  readonly recordsPath?: readonly string[] | undefined;
  /** Absent: found; null: there is none to be trusted. */
  readonly totalPath?: readonly string[] | null | undefined;
  /** Texts that no message may hold. */
  readonly secrets?: readonly string[] | undefined;
}

/** Makes the refusal, with everything that came from outside cleaned. */
type Refuse = (message: string, hint: string) => EnvelopeError;

/** Longest message; several lists with their paths fit. */
const LONGEST = 900;
const SAY_WHICH = 'set records_path to the list that holds the records';
const NO_LIST =
  'there is nothing in it that records_path could name: does api.url lead to the API, and is that an error message?';

/**
 * Looks at the first page of a stream.
 * @param body the page after content decoding; a byte order mark and invalid UTF-8 do not matter here.
 * @throws EnvelopeError for anything in which the list, and the total if there is one, is not beyond doubt.
 */
export function findEnvelope(body: Buffer, hints: EnvelopeHints = {}): Envelope {
  const secrets = hints.secrets ?? [];
  const refuse: Refuse = (message, hint) =>
    new EnvelopeError(excerpt(message, secrets, LONGEST), { hint });
  const document = parse(body, secrets, refuse);
  refuseErrors(document, hints.recordsPath, body, secrets, refuse);
  refusePartial(document, refuse);
  const recordsPath =
    hints.recordsPath === undefined
      ? findList(document, refuse)
      : checkList(document, hints.recordsPath, refuse);
  if (hints.totalPath === null) return { recordsPath, totalPath: null, relationPath: null };
  if (hints.totalPath !== undefined) {
    checkTotal(document, hints.totalPath, refuse);
    const relationPath = relationBeside(document, hints.totalPath);
    return { recordsPath, totalPath: hints.totalPath, relationPath };
  }
  return { recordsPath, ...findTotal(document, recordsPath, refuse) };
}

function parse(body: Buffer, secrets: readonly string[], refuse: Refuse): unknown {
  try {
    const text = new TextDecoder(utf16Of(body) ?? 'utf-8', { ignoreBOM: true }).decode(body);
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (error) {
    // V8's message quotes the body, so only the position is taken from it, if it has one.
    const at = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    const where = at === undefined ? '' : `, wrong at position ${at}`;
    const begins = body.length === 0 ? '' : `; it begins "${excerpt(body, secrets)}"`;
    throw refuse(
      `not complete JSON: ${body.length} bytes${where}${begins}`,
      'the connection was cut on the way, or something other than the API answers',
    );
  }
}

/** A marked error is one even when a list stands beside it. */
function refuseErrors(
  document: unknown,
  recordsPath: readonly string[] | undefined,
  body: Buffer,
  secrets: readonly string[],
  refuse: Refuse,
): void {
  if (!isObject(document)) return;
  for (const [name, value] of Object.entries(document)) {
    if (recordsPath?.[0] === name || !marksError(name.toLowerCase(), value)) continue;
    throw refuse(
      `a 200 that tells of an error in "${name}": "${excerpt(body, secrets)}"`,
      'this is what the API says; it is not counted as an empty page',
    );
  }
}

function marksError(name: string, value: unknown): boolean {
  if (name === 'error' || name === 'errors') return !isNothing(value);
  if (name === 'success' || name === 'ok') return value === false;
  return name === 'status' && typeof value === 'string' && /^(error|fail|failed)$/i.test(value);
}

/** `null`, `false`, 0 (Wazuh: no error), `""`, `[]` and `{}`. */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) ? Object.keys(value).length === 0 : !value;
}

/** Elasticsearch answers 200 when some shards did not; what they hold is missing from list and total. */
function refusePartial(document: unknown, refuse: Refuse): void {
  if (!isObject(document)) return;
  const shards = document._shards;
  const failed = isObject(shards) ? parseTotal(shards.failed) : null;
  const why =
    document.timed_out === true
      ? 'timed_out is true'
      : failed !== null && failed > 0
        ? `_shards.failed is ${failed}`
        : undefined;
  if (why === undefined) return;
  throw refuse(`a partial result: ${why}`, 'the search behind the API did not finish; try later');
}

/** The two shapes that say themselves where the list is, then the only list there is. */
function findList(document: unknown, refuse: Refuse): readonly string[] {
  if (Array.isArray(document)) return checkList(document, [], refuse);
  if (!isObject(document))
    throw refuse(`the body is ${describe(document)}, not an object or a list`, SAY_WHICH);
  for (const path of shapePaths(document)) {
    const { whole, value } = follow(document, path);
    if (whole && Array.isArray(value) && value.every(isObject)) return path;
  }
  const lists = listsIn(document);
  const choice = chooseList(lists, (path) => totalBeside(document, path));
  if ('path' in choice) return choice.path;
  throw refuse(
    `found ${choice.why}. The body is ${describe(document)}. Lists: ${tellLists(lists)}`,
    lists.length === 0 ? NO_LIST : SAY_WHICH,
  );
}

/** Elasticsearch's `hits.hits`, and DataTables' `data` beside its counts. */
function shapePaths(document: Readonly<Record<string, unknown>>): (readonly string[])[] {
  const has = (name: string): boolean => Object.hasOwn(document, name);
  const paths: (readonly string[])[] = [['hits', 'hits']];
  if (has('recordsFiltered') || has('recordsTotal')) paths.push(['data']);
  if (has('iTotalDisplayRecords') || has('iTotalRecords')) paths.push(['aaData']);
  return paths;
}

/** The total that goes with a list, if all that could be it agree. */
function totalBeside(document: unknown, path: readonly string[]): number | null {
  const [first, ...rest] = totalCandidates(document, path);
  return first !== undefined && rest.every(({ total }) => total === first.total)
    ? first.total
    : null;
}

function checkList(document: unknown, path: readonly string[], refuse: Refuse): readonly string[] {
  const { reached, whole, value } = follow(document, path);
  if (whole && Array.isArray(value) && value.every(isObject)) return path;
  const what = whole
    ? `${spell(path)} is ${describe(value)}, not a list of objects`
    : `there is no ${spell(path)}: ${spell(reached)} is ${describe(value)}`;
  throw refuse(
    `${what}. Lists: ${tellLists(listsIn(document))}`,
    'records_path has to name a list of objects; without it, daywalk looks for the list',
  );
}

function checkTotal(document: unknown, path: readonly string[], refuse: Refuse): void {
  const { reached, whole, value } = follow(document, path);
  if (whole && parseTotal(value) !== null) return;
  const what = whole
    ? `${spell(path)} is ${describe(value)}, not a whole number`
    : `there is no ${spell(path)}: ${spell(reached)} is ${describe(value)}`;
  throw refuse(
    what,
    'total_path has to name a number; "none" says that there is no total to be trusted',
  );
}

function findTotal(
  document: unknown,
  recordsPath: readonly string[],
  refuse: Refuse,
): Pick<Envelope, 'totalPath' | 'relationPath'> {
  const candidates = totalCandidates(document, recordsPath);
  const [nearest] = candidates;
  if (nearest === undefined) return { totalPath: null, relationPath: null };
  if (candidates.every(({ total }) => total === nearest.total))
    return { totalPath: nearest.path, relationPath: nearest.relationPath };
  const told = candidates.slice(0, 8).map(({ path, total }) => `${spell(path)} is ${total}`);
  throw refuse(
    `several totals that differ: ${told.join('; ')}`,
    'set total_path to the one that counts the records of a request without paging, or to "none"',
  );
}
