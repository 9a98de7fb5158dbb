/** The streams: those that the file defines, or the two that need no definition, and which of them are exported. */
import { RESOURCES, type Stream } from '../../model.ts';
import type { Origin } from '../origin.ts';
import { type Problems, shownKey, Wrong } from '../problems.ts';
import { formatJsonPath } from '../values/json-path.ts';
import { writeDuration } from '../values/quantity.ts';
import { didYouMean } from '../values/spelling.ts';
import { definedStream, STREAM_KEYS } from './stream-definition.ts';
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
      problems.add(place, `expected a mapping of ${STREAM_KEYS.join(', ')}`);
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
        `its view in the database would be that of ${shownKey(other.key)}, daywalk.${viewOf(key)}; name it otherwise`,
      );
  }
}

/** What is wrong with a name that is no stream's. */
export const noStream = (name: string, known: readonly string[]): Wrong =>
  new Wrong(
    `is not a stream that is defined (${known.map(shownKey).join(', ')})${didYouMean(name, known)}`,
  );

/** Tells which of `names` cannot be meant. */
export function checkSelection(
  names: readonly string[],
  known: readonly string[],
  place: string,
  problems: Problems,
): void {
  for (const [index, name] of names.entries()) {
    if (name === '') problems.add(place, 'a name is missing before or after a comma');
    else if (names.indexOf(name) < index) problems.add(place, `names ${shownKey(name)} twice`);
    else if (!known.includes(name)) problems.addWrong(place, name, noStream(name, known));
  }
}

/** The streams called `names`, in that order; all of them, if there are no names. */
export function selectedStreams(
  streams: readonly Stream[],
  names: readonly string[] | undefined,
): readonly Stream[] {
  if (names === undefined) return streams;
  return names.flatMap((name) => streams.find((stream) => stream.name === name) ?? []);
}

/** What `daywalk config` prints about one stream: names, as `streams.audit.resource`, and values. */
export function streamLines(stream: Stream): (readonly [name: string, value: string])[] {
  const lines: (readonly [string, string])[] = [
    ['resource', stream.resource],
    ...Object.entries(stream.filters).map(([name, text]) => [`filters.${name}`, text] as const),
  ];
  if (stream.recordsPath) lines.push(['records_path', formatJsonPath(stream.recordsPath)]);
  if (stream.totalPath !== undefined) lines.push(['total_path', formatJsonPath(stream.totalPath)]);
  if (stream.idPath) lines.push(['id_path', formatJsonPath(stream.idPath)]);
  if (stream.timePath) lines.push(['time_path', formatJsonPath(stream.timePath)]);
  if (stream.timeFormat) lines.push(['time_format', stream.timeFormat.text]);
  if (stream.retention !== undefined) lines.push(['retention', writeDuration(stream.retention)]);
  return lines.map(([key, value]) => [`streams.${stream.name}.${key}`, value] as const);
}
