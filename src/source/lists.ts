/** Which list of a body holds the records; pure. */
import { anyOf, describe, isObject, type Path, spell } from './json.ts';

/**
 * Whether a list of records is known under such a name. An empty list or null under one counts as a list of records, so that
 * no other list is taken for it. `aaData` is of DataTables 1.9, `affected_items` of Wazuh, `content` of Spring Data, `value` of
 * OData, `result` of ServiceNow, Cloudflare and Zabbix, `resources` of SCIM and CrowdStrike, `member` of API Platform.
 */
const isListName = anyOf(
  'data aadata hits items affected_items results records events rows alerts docs documents entries list',
  'content value result resources member hydra:member',
);
/**
 * Whether a list under such a name is about the records or the answer, and never taken unless the settings say so. `included` is
 * of JSON:API, `links` of Laravel, and `mapping` tells in Hydra what may be searched for.
 */
const isSideName = anyOf(
  'aggregations columns errors facets failed_items failures fields filters included links mapping',
  'hydra:mapping _links messages notices sort warnings',
);
/** Where such a list is empty nothing went wrong: on another day it has no records either. */
const tellsFaults = anyOf('errors failures failed_items warnings');
/** A list is looked for within so many keys. */
const DEEPEST = 4;
/** Deeper lists are still seen, so that a lesser one is not taken for the only one. */
const DEEPEST_SEEN = 8;

/** A list, or null where a list is known to stand. */
export interface ListFound {
  readonly path: Path;
  readonly kind: 'objects' | 'empty' | 'others' | 'null';
  /** Whether it has the name of a list of records, or of one beside them. */
  readonly named: boolean;
  readonly side: boolean;
  /** Kind and size, for messages. */
  readonly told: string;
}

/** Every list in objects within objects, and null under the name of one. Lists are not entered. */
export function listsIn(document: unknown): readonly ListFound[] {
  const found: ListFound[] = [];
  // Grows while it is read, so that no recursion depends on the body.
  const open: { value: unknown; path: Path }[] = [{ value: document, path: [] }];
  for (const { value, path } of open) {
    const [named, side] = [isListName(path.at(-1)), isSideName(path.at(-1))];
    const kind = kindOf(value, named);
    if (kind !== undefined) found.push({ path, kind, named, side, told: describe(value) });
    else if (isObject(value) && path.length < DEEPEST_SEEN)
      for (const [name, inner] of Object.entries(value))
        if (typeof inner === 'object' && (inner !== null || isListName(name)))
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
export const holdsRecords = ({ kind, named, side }: ListFound): boolean =>
  kind === 'others' ? named : kind === 'objects' && !side;

/**
 * Takes the only list of objects, if no other could be meant on this day or another; or the only empty list under a
 * known name; or the only list at all, empty, beside a total of 0.
 * @param totalBeside the total that goes with a list; null for none.
 * @returns null: which list holds the records is not beyond doubt.
 */
export function chooseList(
  lists: readonly ListFound[],
  totalBeside: (path: Path) => number | null,
): Path | null {
  const named = lists.filter((list) => list.named);
  // Beside a list under the name of one, another that says that it is something else is not meant.
  const objects = lists.filter(
    ({ kind, side }) => kind === 'objects' && !(side && named.length > 0),
  );
  const candidates = [objects, named, lists].find(({ length }) => length > 0) ?? [];
  const [only, ...others] = candidates;
  if (only === undefined || others.length > 0 || only.side || only.path.length > DEEPEST)
    return null;
  // Where it stands beside an empty one, on another day that one may hold the records.
  const isOpen = lists.some(({ kind, path }) => kind === 'empty' && !tellsFaults(path.at(-1)));
  const isMeant =
    only.kind === 'objects'
      ? named.every((list) => list === only) && (only.named || !isOpen)
      : only.kind === 'empty' && (only.named || totalBeside(only.path) === 0);
  return isMeant ? only.path : null;
}

/** The lists for a message: path, kind and size of each. */
export function tellLists(lists: readonly ListFound[]): string {
  if (lists.length === 0) return 'none';
  const shown = lists.slice(0, 8).map(({ path, told }) => `${spell(path)} is ${told}`);
  return shown.join('; ') + (lists.length > shown.length ? '; …' : '');
}
