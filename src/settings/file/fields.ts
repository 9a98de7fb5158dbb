/** What the parts of the settings file say that are no rows of the table: of a stream, of a record table, of a column. */
import { Wrong } from '../problems.ts';
import type { Reading } from '../reading.ts';
import type { Kind } from '../table/setting.ts';
import { didYouMean } from '../values/spelling.ts';
import { formatValue, parseValue, type Value } from '../values/value.ts';
import type { Part } from './yaml-tree.ts';

/** Fields by their keys in the file: what each is called in code, and what it may be. */
export type Fields<Target> = Readonly<
  Record<string, readonly [name: keyof Target & string, kind: Kind]>
>;

/** What `parts` say of these fields; what cannot be read is told and left out. */
export function readFields<Target>(
  parts: ReadonlyMap<string, Part>,
  fields: Fields<Target>,
  reading: Reading,
): Partial<Target> {
  const found = Object.entries(fields).flatMap(([key, [name, kind]]) => {
    const part = parts.get(key);
    const value = part && readPart(part, (text) => parseValue(kind, text, ''), reading);
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
  return Object.entries(fields).flatMap(([key, [name, kind]]): [string, string][] => {
    const value = target[name] as Value | undefined | false;
    return value === undefined || value === false ? [] : [[before + key, formatValue(kind, value)]];
  });
}

/** The parts by key; a key that is none of `keys` is told, with a hint at the one that may be meant. */
export function partsByKey(
  parts: readonly Part[],
  keys: readonly string[],
  { problems }: Reading,
  hintAt = (key: string) => didYouMean(key, keys),
): Map<string, Part> {
  for (const { key, place } of parts)
    if (!keys.includes(key)) problems.add(place, () => `there is no such setting${hintAt(key)}`);
  return new Map(parts.map((part) => [part.key, part]));
}

/** The value of `part`; undefined if it has none or a wrong one. */
export function readPart<T>(
  { key, spot, path, place, what, text }: Part,
  parse: (text: string) => T | Wrong,
  { problems, origins }: Reading,
): T | undefined {
  if (text === undefined) {
    // In `total_path` somebody may mean that there is no total.
    const none = key === 'total_path' ? '; write none if there is no total' : '';
    const empty = `is empty; give it a value or leave the line out${none}`;
    problems.add(place, what === '' ? empty : `is ${what}, not one value`);
    return undefined;
  }
  const found = parse(text);
  if (!(found instanceof Wrong)) {
    origins.set(path, { source: 'file', place: spot });
    return found;
  }
  problems.addWrong(place, text, found);
  return undefined;
}

/** What is wrong with a name: the first of the rules whose pattern it fits. */
export const wrongName = (name: string, rules: readonly (readonly [RegExp, string])[]) =>
  rules.find(([pattern]) => pattern.test(name))?.[1];
