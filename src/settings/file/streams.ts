/** The streams: those that the file defines, or the two that need no definition, and which of them are exported. */
import { FILTER_NAMES, type FilterName, onlySet, RESOURCES, type Stream } from '../../model.ts';
import { shownWord, Wrong } from '../problems.ts';
import type { Reading } from '../reading.ts';
import { choice } from '../table/kinds.ts';
import { SETTINGS } from '../table/table.ts';
import { didYouMean } from '../values/spelling.ts';
import { type Fields, partsByKey, readFields, readPart, writtenFields } from './fields.ts';
import type { Part } from './yaml-tree.ts';

/** The settings that a stream may have of its own. */
export const PER_STREAM = ['recordsPath', 'totalPath', 'idPath', 'timePath', 'retention'] as const;

/** What a stream says besides its filters. */
export const STREAM_FIELDS: Fields<Stream> = {
  resource: ['resource', choice(...RESOURCES)],
  ...Object.fromEntries(
    PER_STREAM.map((key) => [SETTINGS[key].name, [key, SETTINGS[key].kind] as const]),
  ),
  time_format: ['timeFormat', { kind: 'timeFormat' }],
  until: ['until', { kind: 'date' }],
};
const STREAM_KEYS = [...Object.keys(STREAM_FIELDS), 'filters'];
const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** Reads the `streams:` part of the file; what cannot be read is told and left out. Undefined: there is none. */
export function definedStreams(part: Part | undefined, reading: Reading): readonly Stream[] {
  if (part === undefined)
    return RESOURCES.map((resource) => ({ name: resource, resource, filters: {} }));
  const { problems } = reading;
  const parts = part.parts ?? [];
  const streams = parts.flatMap((stream) => {
    if (!NAME.test(stream.key))
      problems.add(
        stream.place,
        'a name has small letters, digits, - and _, begins with a letter or digit, and is no longer than 63 characters',
      );
    else if (stream.what === '' || stream.parts !== undefined)
      return definedStream(stream, reading);
    else problems.add(stream.place, `expected a mapping of ${STREAM_KEYS.join(', ')}`);
    return [];
  });
  checkViews(parts, reading);
  if (parts.length === 0) problems.add(part.place, 'defines no stream; name one, or leave it out');
  return streams;
}

/** A stream called like a resource is one of it. */
function definedStream({ key, place, parts = [] }: Part, reading: Reading): Stream {
  const found = partsByKey(parts, STREAM_KEYS, reading, hint);
  const own = RESOURCES.find((known) => known === key);
  if (own === undefined && !found.has('resource'))
    reading.problems.add(
      place,
      `has no resource; write resource: ${RESOURCES.join(' or resource: ')}`,
    );
  const format = found.get('time_format');
  if (format !== undefined && !found.has('time_path') && !reading.raws.has('timePath'))
    reading.problems.add(format.place, 'goes with time_path, which is not set');
  return {
    name: key,
    resource: own ?? 'events',
    filters: filtersOf(found.get('filters'), reading),
    ...readFields(found, STREAM_FIELDS, reading),
  };
}

function hint(key: string): string {
  const filter = FILTER_NAMES.find((name) => name === key);
  return filter ? `; did you mean filters.${filter}?` : didYouMean(key, STREAM_KEYS);
}

/** In the order of the API. */
function filtersOf(part: Part | undefined, reading: Reading) {
  if (part === undefined || part.what === '') return {};
  if (part.parts === undefined)
    reading.problems.add(part.place, 'expected a mapping of filters, such as rule_level: 12');
  const found = new Map<string, string>();
  for (const filter of part.parts ?? []) {
    const name = FILTER_NAMES.find((known) => known === filter.key);
    if (name === undefined) reading.problems.add(filter.place, () => notAFilter(filter.key));
    else if (filter.what !== '')
      found.set(name, readPart(filter, (text) => parseFilter(name, text), reading) ?? '');
  }
  return onlySet(Object.fromEntries(FILTER_NAMES.map((name) => [name, found.get(name) ?? ''])));
}

function parseFilter(name: FilterName, text: string): string | Wrong {
  // What the API makes of `true` or `no` is not known, and nobody meant the word.
  if (name === 'hideread' && /^(true|false|yes|no|on|off)$/i.test(text))
    return new Wrong('is not a number; the API knows 0 as "off"');
  if (text.includes('\0')) return new Wrong('holds a character that Postgres cannot hold');
  // Half of a surrogate pair cannot be written into a URL.
  return /\p{Surrogate}/u.test(text) ? new Wrong('holds half a character') : text;
}

function notAFilter(key: string): string {
  return /^(start|length|fromDate|toDate)$/.test(key)
    ? 'cannot be fixed: daywalk sets it for every page, as it walks each day'
    : `the API has no such filter${didYouMean(key, FILTER_NAMES)}`;
}

/** The name of a stream's view, as `daywalk.show_stream` makes it. */
const viewOf = (name: string): string => `stream_${name.replaceAll('-', '_')}`.slice(0, 63);

/** Tells which of the streams would share a view, which can show only one of them. */
function checkViews(parts: readonly Part[], { problems }: Reading): void {
  for (const [index, { key, place }] of parts.entries()) {
    const other = parts.slice(0, index).find((before) => viewOf(before.key) === viewOf(key));
    if (other !== undefined && other.key !== key)
      problems.add(
        place,
        `its view in the database would be that of ${shownWord(other.key)}, daywalk.${viewOf(key)}; name it otherwise`,
      );
  }
}

/** What is wrong with a name that is no stream's. */
export const noStream = (name: string, known: readonly string[]): Wrong =>
  new Wrong(
    `is not a stream that is defined (${known.map(shownWord).join(', ')})${didYouMean(name, known)}`,
  );

/** Tells which of the streams that are to be exported are not defined; one that is wrong otherwise is. */
export function checkSelection({ raws, values, problems }: Reading, part: Part | undefined): void {
  const known = part?.parts?.map(({ key }) => key) ?? RESOURCES;
  const place = raws.get('streams')?.place;
  const names = (values.get('streams') ?? []) as readonly string[];
  for (const name of names)
    if (place !== undefined && !known.some((one) => one === name))
      problems.addWrong(place, name, noStream(name, known));
}

/** The streams called `names`, in that order; all of them, if there are no names. */
export function selectedStreams(streams: readonly Stream[], names?: readonly string[]) {
  if (names === undefined) return streams;
  return [...new Set(names)].flatMap((name) => streams.find((one) => one.name === name) ?? []);
}

/** What `daywalk config` prints about one stream: names, as `streams.audit.resource`, and values. */
export function streamLines(stream: Stream): [name: string, value: string][] {
  const path = `streams.${stream.name}.`;
  return [
    ...writtenFields(stream, STREAM_FIELDS, path),
    ...Object.entries(stream.filters).map(([name, text]): [string, string] => [
      `${path}filters.${name}`,
      text,
    ]),
  ];
}
