/** What in a record is not the record: values that differ each time it is asked for, as row numbers, scores and ages do; pure. */
import { isObject } from '../../source/json.ts';
import {
  asOneValue,
  escaped,
  leavesIn,
  type Records,
  spelled,
  spelledWhole,
  valuesOf,
} from './places.ts';

/** Records, each with another version of it. */
type Pairs = readonly (readonly [unknown, unknown])[];

/** A text that tells how long ago something was: it differs only when it happens to move on. Without "ago" it may be a duration. */
const AGE =
  /^\s*(about |~)?(an?|one|\d+)\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?|y|years?)\s+ago\s*$|^(just )?now$/i;

/** Fewer records that are told apart show nothing but ages: two events of one template are alike but for such values, too. */
const LEAST_DISTINCT = 2;
/** Fewer may have been edited twice by hand. */
const LEAST_OF_THREE = 4;

/**
 * The places, as JSON pointers, in which records differ from their other versions. Each pair is one record, asked for
 * twice. All must differ in the very same places, but for ages, which may stand still; and what is left must tell the
 * records apart as well as the whole does, or two events would be taken for one.
 * @param agesOnly a record stands in both lists as it was: what differs in others is no such value, but for an age.
 * @returns an empty list where nothing differs; null where the differences are no such values.
 */
export function volatilePaths(pairs: Pairs, agesOnly = false): readonly string[] | null {
  const differences = pairs.map(([one, other]) => differing(one, other));
  const all = new Set(differences.flatMap((places) => [...places.keys()]));
  if (all.size === 0) return [];
  if (all.has('')) return null;
  const always = [...all].filter((place) =>
    differences.some((places) => places.get(place) === 'other'),
  );
  if (agesOnly && always.length > 0) return null;
  if (differences.some((places) => !always.every((place) => places.has(place)))) return null;
  // A number of the row tells any records apart, also others than those; where it differs, real twins, too.
  const [ones, others] = [pairs.map(([one]) => one), pairs.map(([, other]) => other)];
  const counters = countersIn(ones);
  const rows = countersIn(others).filter(
    (place) => all.has(place) && counters.includes(place) && beginsAtOne(pairs, place),
  );
  const left = distinct(ones, [...all, ...counters]);
  const apart =
    left >= (always.length === 0 ? 1 : LEAST_DISTINCT) &&
    left === distinct(ones, rows) &&
    left === distinct(others, rows);
  return apart ? [...all].sort() : null;
}

/**
 * Whether a record of one list stands in the other as it is: then the two are no versions of the same records.
 * @param ignored what is known not to be the record.
 */
export function sharesRecords(one: Records, other: Records, ignored: readonly string[]): boolean {
  const leftOut = new Set(ignored);
  const all = new Set(one.map((record) => spelled(record, leftOut)));
  return other.some((record) => all.has(spelled(record, leftOut)));
}

/** Where two values differ, and whether both are ages there. */
export function differing(
  one: unknown,
  other: unknown,
  place = '',
  found = new Map<string, 'age' | 'other'>(),
): ReadonlyMap<string, 'age' | 'other'> {
  if (isObject(one) && isObject(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const inside = `${place}/${escaped(key)}`;
      if (Object.hasOwn(one, key) && Object.hasOwn(other, key))
        differing(one[key], other[key], inside, found);
      else found.set(inside, 'other');
    }
  } else if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    for (const [index, value] of one.entries())
      differing(value, other[index], `${place}/${index}`, found);
  } else if (one !== other) {
    const ages = [one, other].every((value) => typeof value === 'string' && AGE.test(value));
    found.set(place, ages ? 'age' : 'other');
  }
  return found;
}

/** The places in which records count up or down by one. */
function countersIn(records: Records): readonly string[] {
  const leaves = records.map((record) => leavesIn(record));
  const countedIn = (place: string) => countedFrom(leaves.map((found) => found.get(place)));
  return [...(leaves[0]?.keys() ?? [])].filter((place) => !Number.isNaN(countedIn(place)));
}

/** Whether a version counts there from the first row on, as a number of the row does. */
const beginsAtOne = (pairs: Pairs, place: string): boolean =>
  pairs[0]?.some((record) => [0, 1].includes(countOf(leavesIn(record).get(place)))) ?? false;

/** A whole number, or a text of one; NaN: anything else. */
const countOf = (value: unknown): number =>
  /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;

/** How many records differ without what stands in these places. */
function distinct(records: Records, places: readonly string[]): number {
  const leftOut = new Set(places);
  return new Set(records.map((record) => spelled(record, leftOut))).size;
}

/**
 * The one place in which two answers to one question differ, where their records come in another order: without it they are
 * the same, and each record is still told apart from the others.
 * @returns a JSON pointer; null where there is none.
 */
export function volatilePlace(one: Records, other: Records): string | null {
  if (one.length !== other.length) return null;
  for (const { place, pairs } of pairedWithoutOne(one, other))
    if (volatilePaths(movedIn(pairs))?.join() === place) return place;
  return null;
}

/**
 * The one place in which records differ that are asked for in parts of a span and in the whole of it, and that numbers the rows
 * of each of these answers: one record alone will do.
 * @returns a JSON pointer; null where there is none.
 */
export function rowNumberPlace(parts: readonly Records[], whole: Records): string | null {
  const apart = parts.flat();
  if (apart.length !== whole.length) return null;
  const answers = [...parts.filter(({ length }) => length > 0), whole];
  for (const { place, pairs } of pairedWithoutOne(apart, whole))
    if (movedIn(pairs).length > 0 && tellsItself(place, answers)) return place;
  return null;
}

const movedIn = (pairs: Pairs) =>
  pairs.filter(([one, other]) => spelledWhole(one) !== spelledWhole(other));

/**
 * The places in which records have come to differ from what they were; one place alone where they come in another order now,
 * or some of them do not come, or others come besides. All must differ there, unless it is an age: one that was edited is no
 * such value. Where records stand as they were, but for what says itself that it is not the record, nothing else is.
 * @param ignored what is known not to be the record.
 * @returns JSON pointers.
 */
export function volatileSince(
  before: Records,
  now: Records,
  ignored: readonly string[] = [],
): readonly string[] {
  const places = [...leavesIn(before[0]).keys()];
  const telling = places.filter((place) => tellsItself(place, [before, now]));
  const shares = sharesRecords(before, now, [...ignored, ...telling]);
  const inOrder = now.length < before.length ? null : volatilePaths(pairsOf(before, now), shares);
  if (inOrder !== null) return inOrder;
  const [many, few] = before.length < now.length ? [now, before] : [before, now];
  for (const { place, pairs } of pairedWithoutOne(many, few)) {
    if (areRenumbered(place, [before, now]) && movedIn(pairs).length > 0) return [place];
    const agesOnly = shares && !telling.includes(place);
    if (volatilePaths(pairs, agesOnly)?.join() === place) return [place];
  }
  return [];
}

/**
 * The places in which most records of three versions of a list differ each time, all of these records in the very same ones; others
 * stand as they were. Not in words, which somebody may set in all of them, and again: a value there has a digit.
 * @returns JSON pointers; none where records differ in anything else.
 */
export function volatileTwice(versions: readonly [Records, Records, Records]): readonly string[] {
  const [former, stored, now] = versions;
  const pairings = [pairsOf(former, stored), pairsOf(stored, now), pairsOf(former, now)];
  const [places, ...others] = pairings.map((pairs) => volatilePaths(movedIn(pairs)) ?? []);
  if (places === undefined || others.some((other) => other.join() !== places.join())) return [];
  const counts = pairings.map((pairs) => movedIn(pairs).length);
  const least = Math.max(LEAST_OF_THREE, now.length / 2);
  if (Math.min(...counts) < least || Math.min(...counts) < Math.max(...counts)) return [];
  const isTold = versions.flat().every((record) => {
    const leaves = leavesIn(record);
    return places.every((place) => /\d/.test(String(leaves.get(place))));
  });
  return isTold && isToldApart(now, places) ? places : [];
}

/** Whether a place numbers the rows of both lists from the same number on: from another one it may be a state of 0 or 1. */
function areRenumbered(place: string, lists: readonly Records[]): boolean {
  const numbers = lists.map((list) => valuesOf(place, list));
  const [first, other] = numbers.map((values) => Math.min(...values.map(countOf)));
  return numbers.every(numbersRows) && first === other;
}

/** Records of two lists at the same places, as far as the shorter goes. */
export function pairsOf(ones: Records, others: Records) {
  const length = Math.min(ones.length, others.length);
  return ones.slice(0, length).map((record, index) => [record, others[index]] as const);
}

/** Whether what lists have in a place says by itself that it is not the record: ages, or the numbers of their rows. */
export function tellsItself(place: string, lists: readonly Records[]): boolean {
  const columns = lists.map((list) => valuesOf(place, list));
  return (
    columns.every((values) => values.every((value) => AGE.test(String(value)))) ||
    columns.every(numbersRows)
  );
}

/** Counted from 0 or 1 on, or down to it. */
const numbersRows = (values: readonly unknown[]): boolean => countedFrom(values) <= 1;

/** The least of values that count up or down by one; NaN: they do not. */
function countedFrom(values: readonly unknown[]): number {
  const up = values.map(countOf);
  const counted = [up, [...up].reverse()].find(([first = Number.NaN, ...rest]) =>
    rest.every((number, index) => number === first + index + 1),
  );
  return counted?.[0] ?? Number.NaN;
}

/** The places without which the records of a list are among those of another, whatever their order, with the pairs of them. */
function* pairedWithoutOne(one: Records, other: Records) {
  for (const place of other.length === 0 ? [] : mayDiffer(one, other)) {
    const without = new Set([place]);
    const left = new Map<string, unknown[]>();
    for (const record of one) {
      const text = spelled(record, without);
      left.set(text, [...(left.get(text) ?? []), record]);
    }
    const pairs = other.flatMap((record) => {
      const [found] = left.get(spelled(record, without))?.splice(0, 1) ?? [];
      return found === undefined
        ? []
        : [[asOneValue(found, place), asOneValue(record, place)] as const];
    });
    if (pairs.length === other.length) yield { place, pairs };
  }
}

/** The only place with values that were not there; where there is none, those that no two records have alike, as row numbers. */
function mayDiffer(one: Records, other: Records): readonly string[] {
  const [before, now] = [valuesByPlace(one), valuesByPlace(other)];
  const places = [...now.keys()];
  const come = places.filter((place) =>
    [...(now.get(place) ?? [])].some(
      ([value, count]) => count > (before.get(place)?.get(value) ?? 0),
    ),
  );
  if (come.length > 0) return come.length === 1 ? come : [];
  return places.filter((place) => now.get(place)?.size === other.length);
}

/** How often each value stands in each place. */
function valuesByPlace(records: Records): Map<string, Map<unknown, number>> {
  const found = new Map<string, Map<unknown, number>>();
  for (const record of records)
    for (const [place, value] of leavesIn(record)) {
      const counts = found.get(place) ?? new Map<unknown, number>();
      found.set(place, counts.set(value, (counts.get(value) ?? 0) + 1));
    }
  return found;
}

/** Whether the records of a list differ from each other as well without these places. */
export function isToldApart(list: Records, places: readonly string[]): boolean {
  return distinct(list, places) === distinct(list, []);
}
