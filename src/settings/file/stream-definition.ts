/** One stream of the settings file: its resource, its filters, where its pages keep records and total, what identifies a record, and how long it is kept. */
import {
  FILTER_NAMES,
  type FilterName,
  type Filters,
  RESOURCES,
  type Stream,
} from '../../model.ts';
import { defined } from '../defined.ts';
import type { Origin } from '../origin.ts';
import { type Problems, Wrong } from '../problems.ts';
import { DAY, LONGEST_AGE } from '../table/kinds.ts';
import { parseJsonPath, parseTotalPath } from '../values/json-path.ts';
import { parseDuration } from '../values/quantity.ts';
import { didYouMean } from '../values/spelling.ts';
import { parseTimeFormat } from '../values/time-format.ts';
import { parseChoice } from '../values/value.ts';
import { type Entry, joined } from './yaml-tree.ts';

export const STREAM_KEYS = [
  'resource',
  'filters',
  'records_path',
  'total_path',
  'id_path',
  'time_path',
  'time_format',
  'retention',
];
/** The other four parameters of the API. */
const WALKED = new Set(['start', 'length', 'fromDate', 'toDate']);

/** Where the reading is: `path` is `streams.audit`. */
export interface Context {
  readonly path: string;
  readonly problems: Problems;
  readonly origins: Map<string, Origin>;
}

/** Reads one stream; what cannot be read is told and left out. A stream called like a resource is one of it. */
export function definedStream(
  name: string,
  place: string,
  entries: readonly Entry[],
  context: Context,
): Stream {
  const found = entriesByKey(entries, STREAM_KEYS, context, hint);
  const own = RESOURCES.find((known) => known === name);
  if (own === undefined && !found.has('resource'))
    context.problems.add(
      place,
      `has no resource; write resource: ${RESOURCES.join(' or resource: ')}`,
    );
  const read = <T>(key: string, parse: (text: string) => T | Wrong) =>
    readEntry(found.get(key), parse, context);
  return {
    name,
    resource: read('resource', (text) => parseChoice(text, RESOURCES)) ?? own ?? 'events',
    filters: filtersOf(found.get('filters'), context),
    ...defined({
      recordsPath: read('records_path', parseJsonPath),
      totalPath: read('total_path', parseTotalPath),
      idPath: read('id_path', parseJsonPath),
      timePath: read('time_path', parseJsonPath),
      timeFormat: read('time_format', parseTimeFormat),
      retention: read('retention', (text) => parseDuration(text, DAY, LONGEST_AGE)),
    }),
  };
}

/** In the order of the API, without those that are sent anyway: the same request is the same stream. */
function filtersOf(entry: Entry | undefined, context: Context): Filters {
  if (entry === undefined || entry.value.is === 'empty') return {};
  if (entry.value.is !== 'mapping') {
    context.problems.add(
      placeOf(entry, context),
      'expected a mapping of filters, such as rule_level: 12',
    );
    return {};
  }
  const found = new Map<string, string>();
  const inner = { ...context, path: `${context.path}.filters` };
  for (const filter of entry.value.entries) {
    const name = FILTER_NAMES.find((known) => known === filter.key);
    if (name === undefined) {
      context.problems.add(placeOf(filter, inner), () => notAFilter(filter.key));
    } else if (filter.value.is !== 'empty') {
      const text = readEntry(filter, (text) => parseFilter(name, text, filter), inner);
      if (text !== undefined) found.set(name, text);
    }
  }
  return Object.fromEntries(
    FILTER_NAMES.map((name) => [name, found.get(name) ?? ''] as const).filter(
      ([name, text]) => text !== '' && !(name === 'hideread' && text === '0'),
    ),
  );
}

function parseFilter(name: FilterName, text: string, { value }: Entry): string | Wrong {
  // What the API makes of `true` is not known, and nobody meant the word.
  if (name === 'hideread' && value.is === 'text' && value.boolean)
    return new Wrong('is not a number; the API knows 0 as "off"');
  // Half of a surrogate pair cannot be written into a URL.
  return /\p{Surrogate}/u.test(text) ? new Wrong('holds half a character') : text;
}

function notAFilter(key: string): string {
  return WALKED.has(key)
    ? 'cannot be fixed: daywalk sets it for every page, as it walks each day'
    : `the API has no such filter${didYouMean(key, FILTER_NAMES)}`;
}

/** The entries by key; a key that is none of `keys` is told, with a hint at the one that may be meant. */
export function entriesByKey(
  entries: readonly Entry[],
  keys: readonly string[],
  context: Context,
  hintAt = (key: string) => didYouMean(key, keys),
): Map<string, Entry> {
  for (const entry of entries)
    if (!keys.includes(entry.key))
      context.problems.add(
        placeOf(entry, context),
        () => `there is no such setting${hintAt(entry.key)}`,
      );
  return new Map(entries.map((entry) => [entry.key, entry]));
}

/** The value of `entry`; undefined if it has none or a wrong one. */
export function readEntry<T>(
  entry: Entry | undefined,
  parse: (text: string) => T | Wrong,
  context: Context,
): T | undefined {
  if (entry === undefined) return undefined;
  const { problems, origins, path } = context;
  const { value } = entry;
  const place = placeOf(entry, context);
  if (value.is === 'empty') {
    // In `total_path` somebody may mean that there is no total.
    const none = entry.key === 'total_path' ? '; write none if there is no total' : '';
    problems.add(place, `is empty; give it a value or leave the line out${none}`);
    return undefined;
  }
  if (value.is !== 'text') {
    problems.add(place, `is ${value.is === 'other' ? value.what : 'a mapping'}, not one value`);
    return undefined;
  }
  const found = parse(value.text);
  if (found instanceof Wrong) {
    problems.addWrong(place, value.text, found);
    return undefined;
  }
  origins.set(`${path}.${entry.key}`, { source: 'file', place: entry.spot });
  return found;
}

function hint(key: string): string {
  const filter = FILTER_NAMES.find((name) => name === key);
  return filter ? `; did you mean filters.${filter}?` : didYouMean(key, STREAM_KEYS);
}

/** Where an entry stands, for messages. */
export function placeOf(entry: Entry, { path }: Context): string {
  return `${entry.spot} (${joined(path, entry.key)})`;
}
