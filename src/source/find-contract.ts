/** Finds the record list and the total in a first page, or says why it cannot: never a guess, never an empty day; pure. */

import { EnvelopeError, NoRecordsError } from '../errors.ts';
import type { Contract } from '../model.ts';
import { excerpt } from '../redactor.ts';
import { documentOf } from '../text.ts';
import { describe, follow, isObject, type Path, spell, valueAt } from './json.ts';
import { chooseList, holdsRecords, type ListFound, listsIn, tellLists } from './lists.ts';
import { mayBeTotalName, parseTotal, relationBeside, totalCandidates } from './total.ts';

/** What the settings say about the contract; a stream fits. */
export interface ContractHints {
  /** Absent: found. */
  readonly recordsPath?: Path | undefined;
  /** Absent: found; null: there is none to be trusted. */
  readonly totalPath?: Path | null | undefined;
  /** Texts that no message may hold. */
  readonly secrets?: readonly string[] | undefined;
}

/** Makes the refusal, with everything that came from outside cleaned. */
type Refuse = (message: string, hint: string, Refusal?: typeof EnvelopeError) => EnvelopeError;

/** Longest message; several lists with their paths fit. */
const LONGEST = 900;
const SAY_WHICH = 'set records_path to the list that holds the records';
const NO_LIST =
  'there is nothing in it that records_path could name: does api.url lead to the API, and is that an error message?';

/**
 * Looks at the first page of a stream. Whether it tells of a failure is judged elsewhere, as for every answer.
 * @param body the page after content decoding; a byte order mark and invalid UTF-8 do not matter here.
 * @throws NoRecordsError where it shows no record, and leaves open where list or total would be.
 * @throws EnvelopeError for anything else in which the list, and the total if there is one, is not beyond doubt.
 */
export function findContract(body: Buffer, hints: ContractHints = {}) {
  const secrets = hints.secrets ?? [];
  const refuse: Refuse = (message, hint, Refusal = EnvelopeError) =>
    new Refusal(excerpt(message, secrets, LONGEST), { hint });
  const document = parse(body, secrets, refuse);
  const recordsPath =
    hints.recordsPath === undefined
      ? findList(document, refuse)
      : checkList(document, hints.recordsPath, refuse);
  const list = follow(document, recordsPath).value as readonly unknown[];
  const total = totalOf(document, recordsPath, hints.totalPath, (message, hint) =>
    refuse(message, hint, list.length === 0 ? NoRecordsError : EnvelopeError),
  );
  return { recordsPath, ...total, records: list.length };
}

/** A contract, and how many records the body has that shows it; without any it is no evidence. */
export type FoundContract = Readonly<ReturnType<typeof findContract>>;

/** The records of a page, for a look at their fields. */
export function recordsIn(body: Buffer, recordsPath: Path): readonly unknown[] {
  const list = valueAt(documentOf(body), recordsPath);
  return Array.isArray(list) ? list : [];
}

/**
 * The number beside the list, under a name that is never taken for a total, that behaves like one: the same on a page and on a
 * shorter one, and not less than the records of the page; null where there is none, or more than one.
 */
export function looksLikeTotal(
  body: Buffer,
  shorter: Buffer,
  recordsPath: Path,
): { readonly path: Path; readonly total: number } | null {
  const [page, short] = [documentOf(body), documentOf(shorter)];
  const found = totalCandidates(page, recordsPath, mayBeTotalName).filter(({ path, total }) => {
    return parseTotal(valueAt(short, path)) === total && total >= 2;
  });
  const [only, ...others] = found;
  const count = recordsIn(body, recordsPath).length;
  return only !== undefined && others.length === 0 && only.total >= count ? only : null;
}

function parse(body: Buffer, secrets: readonly string[], refuse: Refuse): unknown {
  const document = documentOf(body);
  if (document !== undefined) return document;
  const begins = body.length === 0 ? '' : `; it begins "${excerpt(body, secrets)}"`;
  throw refuse(
    `not complete JSON: ${body.length} bytes${begins}`,
    'the connection was cut on the way, or something other than the API answers',
  );
}

/** The two shapes that say themselves where the list is, then the only list there is. */
function findList(document: unknown, refuse: Refuse): Path {
  if (Array.isArray(document)) return checkList(document, [], refuse);
  if (!isObject(document))
    throw refuse(
      `the body is ${describe(document)}, not an object or a list`,
      SAY_WHICH,
      document === null ? NoRecordsError : EnvelopeError,
    );
  for (const path of shapePaths(document)) {
    const value = valueAt(document, path);
    if (Array.isArray(value) && value.every(isObject)) return path;
  }
  const lists = listsIn(document);
  const possible = lists.filter((list) => mayBeRecords(document, list));
  const choice = chooseList(possible, (path) => totalBeside(document, path));
  if (choice !== null) return choice;
  throw refuse(
    `found no list${lists.length === 0 ? '' : ' that holds the records beyond doubt'}. The body is ${describe(document)}. Lists: ${tellLists(lists)}`,
    lists.length === 0 ? NO_LIST : SAY_WHICH,
    possible.some(holdsRecords) ? EnvelopeError : NoRecordsError,
  );
}

/** A total of 0 counts no list that has objects, so that one is of something else; under a known name the total is wrong. */
const mayBeRecords = (document: unknown, { kind, named, path }: ListFound): boolean =>
  kind !== 'objects' || named || totalBeside(document, path) !== 0;

/** Elasticsearch's `hits.hits`, and DataTables' `data` beside its counts. */
function shapePaths(document: Readonly<Record<string, unknown>>): Path[] {
  const has = (name: string): boolean => Object.hasOwn(document, name);
  const paths: Path[] = [['hits', 'hits']];
  if (has('recordsFiltered') || has('recordsTotal')) paths.push(['data']);
  if (has('iTotalDisplayRecords') || has('iTotalRecords')) paths.push(['aaData']);
  return paths;
}

/** The total that goes with a list, if all that could be it agree. */
function totalBeside(document: unknown, path: Path): number | null {
  const [first, ...rest] = totalCandidates(document, path);
  return first !== undefined && rest.every(({ total }) => total === first.total)
    ? first.total
    : null;
}

function checkList(document: unknown, path: Path, refuse: Refuse): Path {
  const { whole, value } = follow(document, path);
  if (whole && Array.isArray(value) && value.every(isObject)) return path;
  const lists = listsIn(document);
  const possible = lists.filter((list) => mayBeRecords(document, list));
  throw refuse(
    `${notThere(document, path, 'a list of objects')}. Lists: ${tellLists(lists)}`,
    'records_path has to name a list of objects; without it, daywalk looks for the list',
    (whole && value !== null) || possible.some(holdsRecords) ? EnvelopeError : NoRecordsError,
  );
}

/** That something else stands at a path that the settings name, or nothing. */
function notThere(document: unknown, path: Path, wanted: string): string {
  const { reached, whole, value } = follow(document, path);
  return whole
    ? `${spell(path)} is ${describe(value)}, not ${wanted}`
    : `there is no ${spell(path)}: ${spell(reached)} is ${describe(value)}`;
}

function totalOf(
  document: unknown,
  recordsPath: Path,
  given: Path | null | undefined,
  refuse: (message: string, hint: string) => EnvelopeError,
): Pick<Contract, 'totalPath' | 'relationPath'> {
  if (given) {
    if (parseTotal(valueAt(document, given)) !== null)
      return { totalPath: given, relationPath: relationBeside(given) };
    throw refuse(
      notThere(document, given, 'a whole number'),
      'total_path has to name a number; "none" says that there is no total to be trusted',
    );
  }
  const candidates = given === null ? [] : totalCandidates(document, recordsPath);
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
