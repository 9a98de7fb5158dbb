/** Where a body says how many records there are in all; pure. */
import { anyOf, isObject, type JsonObject, type Path, valueAt } from './json.ts';

/**
 * Whether such a name means the records in all, beyond this page, wherever it is in use. Pages are no records: `pages`,
 * `total_pages`. `totalResults` is of SCIM, `totalElements` of Spring Data, `total_affected_items` of Wazuh, `recordsFiltered`
 * and `iTotalDisplayRecords` of DataTables, after the filters, `recordsTotal` and `iTotalRecords` before them, `numFound` of
 * Solr, `@odata.count` of OData 4, `filter_count` of Directus, after the filters.
 */
const TOTAL_NAMES = [
  'total total_count totalcount total_records totalrecords total_results totalresults total_items',
  'totalitems total_elements totalelements total_hits totalhits total_affected_items recordsfiltered',
  'recordstotal itotaldisplayrecords itotalrecords numfound @odata.count filter_count hydra:totalitems',
];
const isTotalName = anyOf(...TOTAL_NAMES);
/** A number, or the object that may have one, under such a name anywhere. */
const TOTAL_ANYWHERE = new RegExp(
  `"(?:${TOTAL_NAMES.join(' ').replaceAll('.', '\\.').replaceAll(' ', '|')})"\\s*:\\s*(?:"?\\d|\\{)`,
  'i',
);
/**
 * Whether such a name may as well mean this page, an estimate or something else: never taken, but worth a question, and
 * `total_path` may name it. `total_rows` counts in CouchDB the whole view.
 */
export const mayBeTotalName = anyOf(
  'count size length n num hits results records found matches rowcount num_results numresults result_count',
  'resultcount record_count recordcount total_rows totalrows estimatedtotalhits nbhits',
);
/** Whether an object of such a name carries what is said about a list; `result_info` is Cloudflare's. */
const isAboutName = anyOf(
  'meta _meta metadata page pagination paging pageinfo page_info result_info',
);
/** The first is not looked at where the second stands beside it: we filter by time, so the filtered one counts. */
const OVERRULED: ReadonlyMap<string, string> = new Map([
  ['recordstotal', 'recordsfiltered'],
  ['itotalrecords', 'itotaldisplayrecords'],
  ['total_count', 'filter_count'],
]);

/** A place that may hold the total. */
export interface TotalCandidate {
  readonly path: Path;
  readonly relationPath: Path | null;
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

/** Whether a body has to be looked through for a total: in records, too, something may have such a name. */
export function mayTellTotal(body: Buffer): boolean {
  return TOTAL_ANYWHERE.test(body.toString('latin1'));
}

/**
 * Everything that may be the total of the list at `recordsPath`, nearest to the list first: beside it, then in
 * `meta`, `pagination` … beside it, then the same one level up, to the top. What is no number is no candidate.
 */
export function totalCandidates(
  document: unknown,
  recordsPath: Path,
  isName = isTotalName,
): readonly TotalCandidate[] {
  const seen = new Set<JsonObject>();
  const found: TotalCandidate[] = [];
  for (let depth = Math.max(0, recordsPath.length - 1); depth >= 0; depth--) {
    const path = recordsPath.slice(0, depth);
    for (const place of withWhatIsAbout(valueAt(document, path), path)) {
      if (seen.has(place.object)) continue;
      seen.add(place.object);
      found.push(...candidatesIn(place, isName));
    }
  }
  return found;
}

interface Place {
  readonly object: JsonObject;
  readonly path: Path;
}

/** An object, its `meta`, `pagination` …, and theirs (`meta.pagination`). */
function withWhatIsAbout(value: unknown, path: Path): Place[] {
  if (!isObject(value)) return [];
  const inside = ({ object, path: above }: Place): Place[] =>
    Object.entries(object).flatMap(([name, inner]) =>
      isAboutName(name) && isObject(inner) ? [{ object: inner, path: [...above, name] }] : [],
    );
  const near = inside({ object: value, path });
  return [{ object: value, path }, ...near, ...near.flatMap(inside)];
}

function candidatesIn(
  { object, path }: Place,
  isName: (name: string) => boolean,
): TotalCandidate[] {
  const names = Object.keys(object).filter(isName);
  const known = new Set(names.map((name) => name.toLowerCase()));
  const counts = names.filter((name) => !known.has(OVERRULED.get(name.toLowerCase()) ?? ''));
  return counts.flatMap((name) => totalAt(object[name], [...path, name]) ?? []);
}

/** A number, or Elasticsearch's `{ value, relation }`; the latter may be told only where there are more. */
function totalAt(value: unknown, path: Path): TotalCandidate | null {
  const plain = parseTotal(value);
  if (plain !== null) return { path, relationPath: null, total: plain };
  const total = isObject(value) ? parseTotal(value.value) : null;
  if (total === null) return null;
  return { path: [...path, 'value'], relationPath: [...path, 'relation'], total };
}

/** The relation beside a total that the settings name, so that `hits.total.value` is qualified in this case too. */
export const relationBeside = (totalPath: Path): Path | null =>
  totalPath.at(-1) === 'value' ? [...totalPath.slice(0, -1), 'relation'] : null;
