/** The streams: those that the file defines, or the two that need no definition, and which of them are exported. */
import { RESOURCES, type Stream } from '../../model.ts';
import type { Origin } from '../origin.ts';
import { type Problems, shownWord, Wrong } from '../problems.ts';
import type { Reading } from '../reading.ts';
import { didYouMean } from '../values/spelling.ts';
import { writtenFields } from './fields.ts';
import { definedStream, STREAM_FIELDS } from './stream-definition.ts';
import { joined, type Mapping } from './yaml-tree.ts';

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export interface StreamDefinitions {
  readonly streams: readonly Stream[];
  /** Every name that the file gives, also of streams that are wrong otherwise. */
  readonly names: readonly string[];
  /** By name: `streams.audit.filters.rule_level`. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** The streams where the file defines none. */
const DEFAULT_STREAMS: StreamDefinitions = {
  streams: RESOURCES.map((resource) => ({ name: resource, resource, filters: {} })),
  names: RESOURCES,
  origins: new Map(),
};

/** Reads the `streams:` part of the file. */
export function definedStreams(
  mapping: Mapping | undefined,
  problems: Problems,
): StreamDefinitions {
  if (mapping === undefined) return DEFAULT_STREAMS;
  const origins = new Map<string, Origin>();
  const streams = mapping.entries.flatMap(({ key, spot, value }) => {
    const path = joined('streams', key);
    const place = `${spot} (${path})`;
    if (!NAME.test(key)) {
      problems.add(
        place,
        'a name has small letters, digits, - and _, begins with a letter or digit, and is no longer than 63 characters',
      );
      return [];
    }
    if (value.is === 'text' || value.is === 'other') {
      problems.add(
        place,
        `expected a mapping of ${Object.keys(STREAM_FIELDS).join(', ')}, filters`,
      );
      return [];
    }
    const entries = value.is === 'mapping' ? value.entries : [];
    return definedStream(key, place, entries, { path, problems, origins });
  });
  checkViews(mapping, problems);
  if (mapping.entries.length === 0)
    problems.add(`${mapping.spot} (streams)`, 'defines no stream; name one, or leave it out');
  return { streams, names: mapping.entries.map((entry) => entry.key), origins };
}

/** The name of a stream's view, as `daywalk.show_stream` makes it. */
const viewOf = (name: string): string => `stream_${name.replaceAll('-', '_')}`.slice(0, 63);

/** Tells which streams would share a view, which can show only one of them. */
function checkViews({ entries }: Mapping, problems: Problems): void {
  for (const [index, { key, spot }] of entries.entries()) {
    const other = entries.slice(0, index).find((before) => viewOf(before.key) === viewOf(key));
    if (other !== undefined && other.key !== key)
      problems.add(
        `${spot} (${joined('streams', key)})`,
        `its view in the database would be that of ${shownWord(other.key)}, daywalk.${viewOf(key)}; name it otherwise`,
      );
  }
}

/** What is wrong with a name that is no stream's. */
export const noStream = (name: string, known: readonly string[]): Wrong =>
  new Wrong(
    `is not a stream that is defined (${known.map(shownWord).join(', ')})${didYouMean(name, known)}`,
  );

/** Tells which of the streams that are to be exported are not defined. */
export function checkSelection(
  { raws, values, problems }: Reading,
  known: readonly string[],
): void {
  const place = raws.get('streams')?.place;
  const names = (values.get('streams') ?? []) as readonly string[];
  for (const name of names)
    if (place !== undefined && !known.includes(name))
      problems.addWrong(place, name, noStream(name, known));
}

/** The streams called `names`, in that order; all of them, if there are no names. */
export function selectedStreams(
  streams: readonly Stream[],
  names: readonly string[] | undefined,
): readonly Stream[] {
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
