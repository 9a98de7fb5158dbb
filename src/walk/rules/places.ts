/** Places in JSON values, as JSON pointers (RFC 6901), and what stands there; pure. */
import { isObject } from '../../source/json.ts';

/** Records, as a list of them came. */
export type Records = readonly unknown[];

/** Among the places: the order within lists is not the record, nor are zeros behind numbers, which JavaScript never sees. */
export const IN_ONE_FORM = '[]';

/** A key as a step of a JSON pointer (RFC 6901). */
export const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** The values in objects, by place; lists as their JSON. */
export function leavesIn(value: unknown, place = '', found = new Map<string, unknown>()) {
  if (isObject(value))
    for (const [key, inner] of Object.entries(value))
      leavesIn(inner, `${place}/${escaped(key)}`, found);
  else found.set(place, Array.isArray(value) ? JSON.stringify(value) : value);
  return found;
}

/** A value as text that is equal for equal values, whatever the order of their keys. */
export function spelled(value: unknown, leftOut: ReadonlySet<string>, place = ''): string {
  if (leftOut.has(place)) return '';
  if (Array.isArray(value)) {
    const texts = value.map((inner, index) => spelled(inner, leftOut, `${place}/${index}`));
    return `[${(leftOut.has(IN_ONE_FORM) ? texts.sort() : texts).join()}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const inside = Object.keys(value)
    .sort()
    .map((key) => {
      const text = spelled(value[key], leftOut, `${place}/${escaped(key)}`);
      return text === '' ? '' : `${JSON.stringify(key)}:${text}`;
    });
  return `{${inside.filter((text) => text !== '').join()}}`;
}

/** A value as text, all of it: equal where the values are. */
export const spelledWhole = (value: unknown): string => spelled(value, new Set());

/** A record with the list that stands in a place as one value: its elements are no places of their own, of which some records have more. */
export function asOneValue(value: unknown, place: string, at = ''): unknown {
  if (at === place) return Array.isArray(value) ? JSON.stringify(value) : value;
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(
    ([key, inner]) => [key, asOneValue(inner, place, `${at}/${escaped(key)}`)] as const,
  );
  return Object.fromEntries(members);
}

/** Whether no two records have the same value in a place. */
export function differsInEach(place: string, records: Records): boolean {
  const values = valuesOf(place, records);
  return new Set(values.map((value) => JSON.stringify(value))).size === values.length;
}

/** What stands in a place, record by record. */
export const valuesOf = (place: string, records: Records): readonly unknown[] =>
  records.map((record) => leavesIn(record).get(place));
