/** One stream of the settings file: its resource, its filters, where its pages keep records and total, what identifies a record, and how long it is kept. */
import {
  FILTER_NAMES,
  type FilterName,
  type Filters,
  RESOURCES,
  type Stream,
} from '../../model.ts';
import { Wrong } from '../problems.ts';
import { choice } from '../table/kinds.ts';
import { SETTINGS } from '../table/table.ts';
import { didYouMean } from '../values/spelling.ts';
import {
  type Context,
  entriesByKey,
  type Fields,
  field,
  placeOf,
  readEntry,
  readFields,
} from './fields.ts';
import type { Entry } from './yaml-tree.ts';

/** What such a field takes, for editors. */
export const TIME_FORMAT = 'How the time is written: YYYY MM Mon DD HH MI SS F TZ.';
/** The settings that a stream may have of its own. */
export const PER_STREAM = ['recordsPath', 'totalPath', 'idPath', 'timePath', 'retention'] as const;

/** What a stream says besides its filters. */
export const STREAM_FIELDS: Fields<Stream> = {
  resource: field('resource', choice(...RESOURCES), 'The operation of the API.'),
  ...Object.fromEntries(
    PER_STREAM.map((key) => {
      const { name, kind, description } = SETTINGS[key];
      return [name, field<Stream>(key, kind, description)];
    }),
  ),
  time_format: field('timeFormat', { kind: 'timeFormat' }, TIME_FORMAT),
};
const STREAM_KEYS = [...Object.keys(STREAM_FIELDS), 'filters'];
/** The other four parameters of the API. */
const WALKED = new Set(['start', 'length', 'fromDate', 'toDate']);

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
  return {
    name,
    resource: own ?? 'events',
    filters: filtersOf(found.get('filters'), context),
    ...readFields(found, STREAM_FIELDS, context),
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
      const text = readEntry(filter, (text) => parseFilter(name, text), inner);
      if (text !== undefined) found.set(name, text);
    }
  }
  return Object.fromEntries(
    FILTER_NAMES.map((name) => [name, found.get(name) ?? ''] as const).filter(
      ([name, text]) => text !== '' && !(name === 'hideread' && text === '0'),
    ),
  );
}

function parseFilter(name: FilterName, text: string): string | Wrong {
  // What the API makes of `true` is not known, and nobody meant the word.
  if (name === 'hideread' && /^(true|false)$/i.test(text))
    return new Wrong('is not a number; the API knows 0 as "off"');
  // Half of a surrogate pair cannot be written into a URL.
  return /\p{Surrogate}/u.test(text) ? new Wrong('holds half a character') : text;
}

function notAFilter(key: string): string {
  return WALKED.has(key)
    ? 'cannot be fixed: daywalk sets it for every page, as it walks each day'
    : `the API has no such filter${didYouMean(key, FILTER_NAMES)}`;
}

function hint(key: string): string {
  const filter = FILTER_NAMES.find((name) => name === key);
  return filter ? `; did you mean filters.${filter}?` : didYouMean(key, STREAM_KEYS);
}
