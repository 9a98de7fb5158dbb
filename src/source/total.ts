/** Where a body says how many records there are in all; pure. */
import { isObject, type JsonObject, valueAt } from './json.ts';

/**
 * Names that mean the records in all, beyond this page, wherever they are in use; compared without letter case. Pages
 * are no records: `pages`, `total_pages`.
 */
const TOTAL_NAMES = new Set([
  'total',
  'total_count',
  'totalcount',
  'total_records',
  'totalrecords',
  'total_results',
  'totalresults', // SCIM, OpenSearch description documents
  'total_items',
  'totalitems',
  'total_elements',
  'totalelements', // Spring Data
  'total_hits',
  'totalhits',
  'total_affected_items', // Wazuh
  'recordsfiltered', // DataTables: after the filters
  'recordstotal', // DataTables: before the filters, see below
  'itotaldisplayrecords', // DataTables 1.9: after the filters
  'itotalrecords', // DataTables 1.9: before the filters
  'numfound', // Solr
  '@odata.count', // OData 4: without paging
  'filter_count', // Directus: after the filters
  'hydra:totalitems',
]);
/** Names that may as well mean this page, an estimate or something else: never taken, but worth a question, and `total_path` may name them. */
export const POSSIBLE_NAMES = new Set([
  'count',
  'size',
  'length',
  'n',
  'num',
  'hits',
  'results',
  'records',
  'found',
  'matches',
  'rowcount',
  'num_results',
  'numresults',
  'result_count',
  'resultcount',
  'record_count',
  'recordcount',
  'total_rows', // CouchDB: of the whole view
  'totalrows',
  'estimatedtotalhits',
  'nbhits',
]);
/** The first is not looked at where the second stands beside it: we filter by time, so the filtered one counts. */
const OVERRULED: ReadonlyMap<string, string> = new Map([
  ['recordstotal', 'recordsfiltered'],
  ['itotalrecords', 'itotaldisplayrecords'],
  ['total_count', 'filter_count'],
]);
/** Objects that carry what is said about a list. */
const ABOUT_NAMES = new Set([
  'meta',
  '_meta',
  'metadata',
  'page',
  'pagination',
  'paging',
  'pageinfo',
  'page_info',
  'result_info', // Cloudflare
]);

/** A place that may hold the total. */
export interface TotalCandidate {
  readonly path: readonly string[];
  readonly relationPath: readonly string[] | null;
  readonly total: number;
}

/**
 * A total as a number: a whole number from 0, also as text of digits (`"1234"`, and `"5.0"` as jsonb may print it).
 * @returns null for anything else: `"1,234"`, 1.5, -1 and more than 2^53 are no total that could be compared.
 */
export function parseTotal(value: unknown): number | null {
  const text = typeof value === 'string' ? value : '';
  const number = /^\d{1,16}(\.0+)?$/.test(text) ? Number(text) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number + 0
    : null;
}

/**
 * Everything that may be the total of the list at `recordsPath`, nearest to the list first: beside it, then in
 * `meta`, `pagination` … beside it, then the same one level up, to the top. What is no number is no candidate.
 */
export function totalCandidates(
  document: unknown,
  recordsPath: readonly string[],
  names: ReadonlySet<string> = TOTAL_NAMES,
): readonly TotalCandidate[] {
  const seen = new Set<JsonObject>();
  const found: TotalCandidate[] = [];
  for (let depth = Math.max(0, recordsPath.length - 1); depth >= 0; depth--) {
    const path = recordsPath.slice(0, depth);
    for (const place of withWhatIsAbout(valueAt(document, path), path)) {
      if (seen.has(place.object)) continue;
      seen.add(place.object);
      found.push(...candidatesIn(place.object, place.path, names));
    }
  }
  return found;
}

interface Place {
  readonly object: JsonObject;
  readonly path: readonly string[];
}

/** An object, its `meta`, `pagination` …, and theirs (`meta.pagination`). */
function withWhatIsAbout(value: unknown, path: readonly string[]): Place[] {
  if (!isObject(value)) return [];
  const inside = ({ object, path: above }: Place): Place[] =>
    Object.entries(object).flatMap(([name, inner]) =>
      ABOUT_NAMES.has(name.toLowerCase()) && isObject(inner)
        ? [{ object: inner, path: [...above, name] }]
        : [],
    );
  const near = inside({ object: value, path });
  return [{ object: value, path }, ...near, ...near.flatMap(inside)];
}

function candidatesIn(
  object: JsonObject,
  path: readonly string[],
  wanted: ReadonlySet<string>,
): TotalCandidate[] {
  const names = Object.keys(object).filter((name) => wanted.has(name.toLowerCase()));
  const known = new Set(names.map((name) => name.toLowerCase()));
  return names.flatMap((name) => {
    if (known.has(OVERRULED.get(name.toLowerCase()) ?? '')) return [];
    return totalAt(object[name], [...path, name]) ?? [];
  });
}

/** A number, or Elasticsearch's `{ value, relation }`. */
function totalAt(value: unknown, path: readonly string[]): TotalCandidate | null {
  const plain = parseTotal(value);
  if (plain !== null) return { path, relationPath: null, total: plain };
  const total = isObject(value) ? parseTotal(value.value) : null;
  if (total === null) return null;
  return { path: [...path, 'value'], relationPath: relationIn(value, path), total };
}

function relationIn(value: unknown, path: readonly string[]): readonly string[] | null {
  return isObject(value) && typeof value.relation === 'string' ? [...path, 'relation'] : null;
}

/** The relation beside a total that the settings name, so that `hits.total.value` is qualified in this case too. */
export function relationBeside(
  document: unknown,
  totalPath: readonly string[],
): readonly string[] | null {
  if (totalPath.at(-1) !== 'value') return null;
  const above = totalPath.slice(0, -1);
  return relationIn(valueAt(document, above), above);
}
