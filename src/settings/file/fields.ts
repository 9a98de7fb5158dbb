/** What the parts of the settings file say that are no rows of the table: of a stream, of a record table, of a column. */
import type { Origin } from '../origin.ts';
import { type Problems, Wrong } from '../problems.ts';
import type { Kind } from '../table/setting.ts';
import { didYouMean } from '../values/spelling.ts';
import { formatValue, parseValue, type Value } from '../values/value.ts';
import { type Entry, joined } from './yaml-tree.ts';

/** A field: what it is called in code, what it may be, and for editors what it is. */
interface Field<Target> {
  readonly name: keyof Target & string;
  readonly kind: Kind;
  readonly description: string;
}
/** By their keys in the file. */
export type Fields<Target> = Readonly<Record<string, Field<Target>>>;

export const field = <Target>(
  name: keyof Target & string,
  kind: Kind,
  description: string,
): Field<Target> => ({ name, kind, description });

/** Where the reading is: `path` is `streams.audit`. */
export interface Context {
  readonly path: string;
  readonly problems: Problems;
  readonly origins: Map<string, Origin>;
}

/** What `entries` say of these fields; what cannot be read is told and left out. */
export function readFields<Target>(
  entries: ReadonlyMap<string, Entry>,
  fields: Fields<Target>,
  context: Context,
): Partial<Target> {
  const found = Object.entries(fields).flatMap(([key, { name, kind }]) => {
    const value = readEntry(entries.get(key), (text) => parseValue(kind, text, ''), context);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found) as Partial<Target>;
}

/** The fields that are set, as they are written; their keys behind `before`. */
export function writtenFields<Target>(
  target: Partial<Target>,
  fields: Fields<Target>,
  before = '',
): [key: string, text: string][] {
  return Object.entries(fields).flatMap(([key, { name, kind }]): [string, string][] => {
    const value = target[name] as Value | undefined | false;
    return value === undefined || value === false ? [] : [[before + key, formatValue(kind, value)]];
  });
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

/** Where an entry stands, for messages. */
export function placeOf(entry: Entry, { path }: Context): string {
  return `${entry.spot} (${joined(path, entry.key)})`;
}
