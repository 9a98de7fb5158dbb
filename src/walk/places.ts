/** Places in a record, as JSON pointers: what stands there, where two records differ, and a record without some of them; pure. */
import { isObject } from '../source/json.ts';

/** A text that tells how long ago something was: it differs only when it happens to move on. Without "ago" it may be a duration. */
export const AGE =
  /^\s*(about |~)?(an?|one|\d+)\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?|y|years?)\s+ago\s*$|^(just )?now$/i;

/** The place of a list's order ends in a step that is no key: a key of that name is `~0`. */
export const orderAt = (place: string): string => `${place}/~`;
/** Leaves out the order of every list. */
export const EVERY_ORDER: ReadonlySet<string> = new Set();
export const isOrder = (place: string): boolean => place.endsWith(orderAt(''));

/** A key as a step of a JSON pointer (RFC 6901). */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** What stands in a place. */
export const valueAt = (record: unknown, place: string): unknown =>
  place
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null)?.[key], record);

/** The places in which two values differ; by itself: what differs says by itself that it is not the record. */
export type Differences = ReadonlyMap<string, 'by itself' | 'other'>;

/** Where two values differ, and whether that says by itself that it is not the record: both are ages, or one list in two orders. */
export function differing(
  one: unknown,
  other: unknown,
  place: string,
  found = new Map<string, 'by itself' | 'other'>(),
): Differences {
  if (isObject(one) && isObject(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const inside = `${place}/${escaped(key)}`;
      if (Object.hasOwn(one, key) && Object.hasOwn(other, key))
        differing(one[key], other[key], inside, found);
      else found.set(inside, 'other');
    }
  } else if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    if (spelled(one) === spelled(other)) return found;
    const sorted = new Set([orderAt('')]);
    if (place !== '' && spelled(one, sorted) === spelled(other, sorted))
      found.set(orderAt(place), 'by itself');
    else
      for (const [index, value] of one.entries())
        differing(value, other[index], `${place}/${index}`, found);
  } else if (one !== other) {
    const ages = [one, other].every((value) => typeof value === 'string' && AGE.test(value));
    found.set(place, ages ? 'by itself' : 'other');
  }
  return found;
}

/** The values in objects, by place; lists as their JSON. */
export function leavesIn(value: unknown, place: string, found = new Map<string, unknown>()) {
  if (isObject(value))
    for (const [key, inner] of Object.entries(value))
      leavesIn(inner, `${place}/${escaped(key)}`, found);
  else found.set(place, Array.isArray(value) ? JSON.stringify(value) : value);
  return found;
}

/** A value as text that is equal for equal values, whatever the order of their keys. */
export const spelled = (value: unknown, leftOut: ReadonlySet<string> = new Set()): string =>
  JSON.stringify(without(value, leftOut)) ?? '';

/** A value without what is not the record: its keys stand in one order, and so do the elements of lists that have none. */
export function without(value: unknown, leftOut: ReadonlySet<string>, place = ''): unknown {
  const inside = (key: string | number) => `${place}/${escaped(String(key))}`;
  if (Array.isArray(value)) {
    // What is left out of a list leaves its place behind, so that others keep theirs.
    const elements = value.map((inner, index) =>
      leftOut.has(inside(index)) ? null : without(inner, leftOut, inside(index)),
    );
    const byText = (one: unknown, other: unknown) => (spelled(one) < spelled(other) ? -1 : 1);
    const isSorted = leftOut === EVERY_ORDER || leftOut.has(orderAt(place));
    return isSorted ? elements.sort(byText) : elements;
  }
  if (!isObject(value)) return value;
  const keys = Object.keys(value).filter((key) => !leftOut.has(inside(key)));
  return Object.fromEntries(
    keys.sort().map((key) => [key, without(value[key], leftOut, inside(key))]),
  );
}

/** How many records of one list stand in another as they are, but for what is left out. */
export function countShared(
  one: readonly unknown[],
  other: readonly unknown[],
  leftOut: ReadonlySet<string> = new Set(),
): number {
  const all = new Set(other.map((record) => spelled(record, leftOut)));
  return one.filter((record) => all.has(spelled(record, leftOut))).length;
}
