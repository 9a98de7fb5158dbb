/** Places in JSON values, as JSON pointers (RFC 6901), and what stands there; pure. */
import { isObject } from '../../source/json.ts';

/** Records, as a list of them came. */
export type Records = readonly unknown[];

/** Among the places: the order within lists is not the record, nor members that are null, nor zeros behind numbers, which JavaScript never sees. */
export const IN_ONE_FORM = '[]';

/** A key as a step of a JSON pointer (RFC 6901). */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** A path as a JSON pointer. */
export const pointerTo = (path: readonly string[]): string =>
  path.map((key) => `/${escaped(key)}`).join('');

/** Levels of a record that are compared; what lies deeper counts as one value, the same for all. A repaired copy keeps more of them. */
const LEVELS = 200;

/**
 * The values in a record, by place.
 * @param leftOut places that are not looked at.
 * @param whole lists are one value, as text; otherwise each of their elements has a place.
 */
export function leavesIn(
  value: unknown,
  leftOut: ReadonlySet<string>,
  whole: boolean,
  place = '',
  found = new Map<string, unknown>(),
  levels = LEVELS,
): ReadonlyMap<string, unknown> {
  if (leftOut.has(place)) return found;
  const isOpen = levels > 0 && (isObject(value) || (Array.isArray(value) && !whole));
  const inside = isOpen ? membersOf(value as object, leftOut) : [];
  for (const [key, inner] of inside)
    leavesIn(inner, leftOut, whole, `${place}/${escaped(key)}`, found, levels - 1);
  const isText = levels === 0 || typeof value === 'object';
  if (inside.length === 0)
    found.set(place, isText ? spelled(value, leftOut, place, levels) : value);
  return found;
}

/** A value as text that is equal for equal values, whatever the order of their keys. */
export function spelled(
  value: unknown,
  leftOut: ReadonlySet<string> = new Set(),
  place = '',
  levels = LEVELS,
): string {
  if (leftOut.has(place)) return '';
  if (levels === 0) return '…';
  const inner = (each: unknown, key: string | number) =>
    spelled(each, leftOut, `${place}/${key}`, levels - 1);
  if (Array.isArray(value)) {
    const texts = value.map(inner);
    return `[${(leftOut.has(IN_ONE_FORM) ? texts.sort() : texts).join()}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const inside = membersOf(value, leftOut).map(([key, each]) => {
    const text = inner(each, escaped(key));
    return text === '' ? '' : `${JSON.stringify(key)}:${text}`;
  });
  const texts = inside.filter((text) => text !== '').sort();
  return `{${texts.join()}}`;
}

const membersOf = (value: object, leftOut: ReadonlySet<string>): [string, unknown][] =>
  Object.entries(value).filter(
    ([, inner]) => inner !== null || Array.isArray(value) || !leftOut.has(IN_ONE_FORM),
  );

/**
 * Each of a list beside one of another list that is told the same, whatever their order, and none of these twice.
 * @param told what makes two the same.
 * @returns the pairs, and what is left of both lists.
 */
export function pairAlike<T>(few: readonly T[], many: readonly T[], told: (one: T) => unknown) {
  const alike = new Map<unknown, T[]>();
  for (const one of [...many].reverse()) {
    const found = alike.get(told(one));
    if (found === undefined) alike.set(told(one), [one]);
    else found.push(one);
  }
  const pairs: (readonly [T, T])[] = [];
  const lacking: T[] = [];
  for (const one of few) {
    const found = alike.get(told(one)) ?? [];
    if (found.length === 0) lacking.push(one);
    else pairs.push([found.pop() as T, one]);
  }
  return { pairs, lacking, left: [...alike.values()].flat().reverse() };
}

/** Whether all of a list are in another one, as often. */
export const isPart = <T>(few: readonly T[], many: readonly T[], told: (one: T) => unknown) =>
  pairAlike(few, many, told).lacking.length === 0;
