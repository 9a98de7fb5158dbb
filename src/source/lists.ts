/** Which list of a body holds the records; pure. */
import { describe, isObject, spell } from './json.ts';

/**
 * Names under which a list of records is known. An empty list or null under one of them counts as a list of records,
 * so that no other list is taken for it. Compared without letter case.
 */
const LIST_NAMES = new Set([
  'data',
  'aadata', // DataTables 1.9
  'hits',
  'items',
  'affected_items', // Wazuh
  'results',
  'records',
  'events',
  'rows',
  'alerts',
  'docs',
  'documents',
  'entries',
  'list',
  'content', // Spring Data
  'value', // OData
  'result', // ServiceNow, Cloudflare, Zabbix
  'resources', // SCIM, CrowdStrike
  'member', // Hydra: API Platform
  'hydra:member',
]);
/** Names under which a list is about the records or the answer; never taken unless the settings say so. */
const SIDE_NAMES = new Set([
  'aggregations',
  'columns',
  'errors',
  'facets',
  'failed_items',
  'failures',
  'fields',
  'filters',
  'included', // JSON:API
  'links', // Laravel
  'mapping', // Hydra: what may be searched for
  'hydra:mapping',
  '_links',
  'messages',
  'notices',
  'sort',
  'warnings',
]);
/** A list is looked for within so many keys. */
const DEEPEST = 4;
/** Deeper lists are still seen, so that a lesser one is not taken for the only one. */
const DEEPEST_SEEN = 8;

/** A list, or null where a list is known to stand. */
export interface ListFound {
  readonly path: readonly string[];
  readonly kind: 'objects' | 'empty' | 'others' | 'null';
  readonly named: boolean;
  /** Kind and size, for messages. */
  readonly told: string;
}

/** Every list in objects within objects, and null under the name of one. Lists are not entered. */
export function listsIn(document: unknown): readonly ListFound[] {
  const found: ListFound[] = [];
  // Grows while it is read, so that no recursion depends on the body.
  const open: { value: unknown; path: readonly string[] }[] = [{ value: document, path: [] }];
  for (const { value, path } of open) {
    const named = path.length > 0 && LIST_NAMES.has((path.at(-1) ?? '').toLowerCase());
    const kind = kindOf(value, named);
    if (kind !== undefined) found.push({ path, kind, named, told: describe(value) });
    else if (isObject(value) && path.length < DEEPEST_SEEN)
      for (const [name, inner] of Object.entries(value))
        if (typeof inner === 'object' && (inner !== null || LIST_NAMES.has(name.toLowerCase())))
          open.push({ value: inner, path: [...path, name] });
  }
  return found;
}

function kindOf(value: unknown, named: boolean): ListFound['kind'] | undefined {
  if (value === null) return named ? 'null' : undefined;
  if (!Array.isArray(value)) return undefined;
  if (value.length === 0) return 'empty';
  return value.every(isObject) ? 'objects' : 'others';
}

/** Whether a list may be one of records: it has what is no side matter, or anything under the name of one. */
export function holdsRecords({ kind, named, path }: ListFound): boolean {
  if (kind === 'others') return named;
  return kind === 'objects' && !isSide(path);
}

const isSide = (path: readonly string[]): boolean =>
  SIDE_NAMES.has((path.at(-1) ?? '').toLowerCase());

/** Where it is empty nothing went wrong: on another day it has no records either. */
const tellsFaults = (path: readonly string[]): boolean =>
  /^(errors|failures|failed_items|warnings)$/i.test(path.at(-1) ?? '');

/** The choice, or why there is none, as the beginning of a sentence that the lists found end. */
export type ListChoice = { readonly path: readonly string[] } | { readonly why: string };

/**
 * Takes the only list of objects, if no other could be meant on this day or another; or the only empty list under a
 * known name; or the only list at all, empty, beside a total of 0.
 * @param totalBeside the total that goes with a list; null for none.
 */
export function chooseList(
  lists: readonly ListFound[],
  totalBeside: (path: readonly string[]) => number | null,
): ListChoice {
  const named = lists.filter((list) => list.named);
  const all = lists.filter(({ kind }) => kind === 'objects');
  // Beside a list under the name of one, another that says that it is something else is not meant.
  const objects = named.length > 0 ? all.filter(({ path }) => !isSide(path)) : all;
  if (objects.length > 1) return { why: 'more than one list of objects' };
  const [only] = objects;
  if (only !== undefined) {
    if (isSide(only.path)) return { why: 'only a list whose name says that it is not the records' };
    if (only.path.length > DEEPEST) return { why: `a list, but deeper than ${DEEPEST} keys` };
    if (named.some((list) => list !== only))
      return { why: 'a list of objects, but another one could be meant' };
    if (!only.named && lists.some(({ kind, path }) => kind === 'empty' && !tellsFaults(path)))
      return { why: 'a list of objects and an empty one, and no name says which is meant' };
    return { path: only.path };
  }
  const [known] = named;
  if (known !== undefined) {
    if (named.length > 1) return { why: 'more than one place for the records' };
    if (known.kind === 'null') return { why: 'null where the records are expected' };
    if (known.kind === 'others') return { why: 'a list that does not hold objects only' };
    return known.path.length > DEEPEST
      ? { why: `a list, but deeper than ${DEEPEST} keys` }
      : { path: known.path };
  }
  const [single] = lists;
  if (single === undefined) return { why: 'no list' };
  if (lists.length > 1) return { why: 'no list of objects' };
  if (single.kind !== 'empty') return { why: 'a list that does not hold objects only' };
  if (isSide(single.path) || single.path.length > DEEPEST)
    return { why: 'no list that could hold the records' };
  return totalBeside(single.path) === 0
    ? { path: single.path }
    : { why: 'an empty list under an unknown name, and no total of 0 beside it' };
}

/** The lists for a message: path, kind and size of each. */
export function tellLists(lists: readonly ListFound[]): string {
  if (lists.length === 0) return 'none';
  const shown = lists.slice(0, 8).map(({ path, told }) => `${spell(path)} is ${told}`);
  return shown.join('; ') + (lists.length > shown.length ? '; …' : '');
}
