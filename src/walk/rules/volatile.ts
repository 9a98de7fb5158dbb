/** What in a record is not the record: values that differ each time it is asked for, as row numbers, scores and ages do; pure. */
import { isObject } from '../../source/json.ts';
import { asOneValue, escaped, leavesIn, spelled, spelledWhole, valuesOf } from './places.ts';

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
export function volatilePaths(
  pairs: readonly (readonly [unknown, unknown])[],
  agesOnly = false,
): readonly string[] | null {
  const differences = pairs.map(([one, other]) => differing(one, other, ''));
  const all = new Set(differences.flatMap((places) => [...places.keys()]));
  if (all.size === 0) return [];
  if (all.has('')) return null;
  const ages = [...all].filter((place) =>
    differences.every((places) => places.get(place) !== 'other'),
  );
  const always = [...all].filter((place) => !ages.includes(place));
  if (agesOnly && always.length > 0) return null;
  if (differences.some((places) => !always.every((place) => places.has(place)))) return null;
  // A number of the row tells any records apart, also others than those; where it differs, real twins, too.
  const counters = countersIn(pairs, 0);
  const rows = countersIn(pairs, 1).filter(
    (place) => all.has(place) && counters.includes(place) && beginsAtOne(pairs, place),
  );
  const left = distinct(pairs, 0, new Set([...all, ...counters]));
  const apart =
    left >= (always.length === 0 ? 1 : LEAST_DISTINCT) &&
    left === distinct(pairs, 0, new Set(rows)) &&
    left === distinct(pairs, 1, new Set(rows));
  return apart ? [...all].sort() : null;
}

/**
 * Whether a record of one list stands in the other as it is: then the two are no versions of the same records.
 * @param ignored what is known not to be the record.
 */
export function sharesRecords(
  one: readonly unknown[],
  other: readonly unknown[],
  ignored: readonly string[],
): boolean {
  const leftOut = new Set(ignored);
  const all = new Set(one.map((record) => spelled(record, '', leftOut)));
  return other.some((record) => all.has(spelled(record, '', leftOut)));
}

/** Where two values differ, and whether both are ages there. */
export function differing(
  one: unknown,
  other: unknown,
  place: string,
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

/** The places in which one version of the records counts up or down by one. */
function countersIn(
  pairs: readonly (readonly [unknown, unknown])[],
  version: 0 | 1,
): readonly string[] {
  const leaves = pairs.map((pair) => leavesIn(pair[version], ''));
  const counts = (place: string, step: number) =>
    leaves.every(
      (found, index) =>
        index === 0 || countOf(found.get(place)) === countOf(leaves[index - 1]?.get(place)) + step,
    );
  return [...(leaves[0] ?? [])].flatMap(([place, value]) =>
    Number.isNaN(countOf(value)) || !(counts(place, 1) || counts(place, -1)) ? [] : [place],
  );
}

/** Whether a version counts there from the first row on, as a number of the row does. */
const beginsAtOne = (pairs: readonly (readonly [unknown, unknown])[], place: string): boolean =>
  pairs[0]?.some((record) => [0, 1].includes(countOf(leavesIn(record, '').get(place)))) ?? false;

/** A whole number, or a text of one; NaN: anything else. */
const countOf = (value: unknown): number =>
  /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;

/** How many versions differ without what is left out. */
function distinct(
  pairs: readonly (readonly [unknown, unknown])[],
  version: 0 | 1,
  leftOut: ReadonlySet<string>,
): number {
  return new Set(pairs.map((pair) => spelled(pair[version], '', leftOut))).size;
}

/**
 * The one place in which two answers to one question differ, where their records come in another order: without it they are
 * the same, and each record is still told apart from the others.
 * @returns a JSON pointer; null where there is none.
 */
export function volatilePlace(one: readonly unknown[], other: readonly unknown[]): string | null {
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
export function rowNumberPlace(
  parts: readonly (readonly unknown[])[],
  whole: readonly unknown[],
): string | null {
  const apart = parts.flat();
  if (apart.length !== whole.length) return null;
  const answers = [...parts.filter(({ length }) => length > 0), whole];
  for (const { place, pairs } of pairedWithoutOne(apart, whole))
    if (movedIn(pairs).length > 0 && tellsItself(place, answers)) return place;
  return null;
}

const movedIn = (pairs: readonly (readonly [unknown, unknown])[]) =>
  pairs.filter(([one, other]) => spelledWhole(one) !== spelledWhole(other));

/**
 * The places in which records have come to differ from what they were; one place alone where they come in another order now,
 * or some of them do not come, or others come besides. All must differ there, unless it is an age: one that was edited is no
 * such value. Where records stand as they were, but for what says itself that it is not the record, nothing else is.
 * @param ignored what is known not to be the record.
 * @returns JSON pointers.
 */
export function volatileSince(
  before: readonly unknown[],
  now: readonly unknown[],
  ignored: readonly string[] = [],
): readonly string[] {
  const places = [...leavesIn(before[0], '').keys()];
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
export function volatileTwice(
  versions: readonly [readonly unknown[], readonly unknown[], readonly unknown[]],
): readonly string[] {
  const [former, stored, now] = versions;
  const pairings = [pairsOf(former, stored), pairsOf(stored, now), pairsOf(former, now)];
  const [places, ...others] = pairings.map((pairs) => volatilePaths(movedIn(pairs)) ?? []);
  if (places === undefined || others.some((other) => other.join() !== places.join())) return [];
  const counts = pairings.map((pairs) => movedIn(pairs).length);
  const least = Math.max(LEAST_OF_THREE, now.length / 2);
  if (Math.min(...counts) < least || Math.min(...counts) < Math.max(...counts)) return [];
  const isTold = versions.flat().every((record) => {
    const leaves = leavesIn(record, '');
    return places.every((place) => /\d/.test(String(leaves.get(place))));
  });
  return isTold && isToldApart(now, places) ? places : [];
}

/** Whether a place numbers the rows of both lists from the same number on: from another one it may be a state of 0 or 1. */
function areRenumbered(place: string, lists: readonly (readonly unknown[])[]): boolean {
  const numbers = lists.map((list) => valuesOf(place, list));
  const [first, other] = numbers.map((values) => Math.min(...values.map(countOf)));
  return numbers.every(numbersRows) && first === other;
}

/** Records of two lists at the same places, as far as the shorter goes. */
export function pairsOf(ones: readonly unknown[], others: readonly unknown[]) {
  const length = Math.min(ones.length, others.length);
  return ones.slice(0, length).map((record, index) => [record, others[index]] as const);
}

/** Whether what lists have in a place says by itself that it is not the record: ages, or the numbers of their rows. */
export function tellsItself(place: string, lists: readonly (readonly unknown[])[]): boolean {
  const columns = lists.map((list) => valuesOf(place, list));
  return (
    columns.every((values) => values.every((value) => AGE.test(String(value)))) ||
    columns.every(numbersRows)
  );
}

/** Counted from 0 or 1 on, or down to it. */
function numbersRows(values: readonly unknown[]): boolean {
  const up = values.map(countOf);
  return [up, [...up].reverse()].some(
    ([first = Number.NaN, ...rest]) =>
      first <= 1 && rest.every((number, index) => number === first + index + 1),
  );
}

/** The places without which the records of a list are among those of another, whatever their order, with the pairs of them. */
function* pairedWithoutOne(one: readonly unknown[], other: readonly unknown[]) {
  for (const place of other.length === 0 ? [] : mayDiffer(one, other)) {
    const without = new Set([place]);
    const left = new Map<string, unknown[]>();
    for (const record of one) {
      const text = spelled(record, '', without);
      left.set(text, [...(left.get(text) ?? []), record]);
    }
    const pairs = other.flatMap((record) => {
      const [found] = left.get(spelled(record, '', without))?.splice(0, 1) ?? [];
      return found === undefined
        ? []
        : [[asOneValue(found, place), asOneValue(record, place)] as const];
    });
    if (pairs.length === other.length) yield { place, pairs };
  }
}

/** The only place with values that were not there; where there is none, those that no two records have alike, as row numbers. */
function mayDiffer(one: readonly unknown[], other: readonly unknown[]): readonly string[] {
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
function valuesByPlace(records: readonly unknown[]): Map<string, Map<unknown, number>> {
  const found = new Map<string, Map<unknown, number>>();
  for (const record of records)
    for (const [place, value] of leavesIn(record, '')) {
      const counts = found.get(place) ?? new Map<unknown, number>();
      found.set(place, counts.set(value, (counts.get(value) ?? 0) + 1));
    }
  return found;
}

/** Whether the records of a list differ from each other as well without these places. */
export function isToldApart(list: readonly unknown[], places: readonly string[]): boolean {
  const all = pairsOf(list, list);
  return distinct(all, 0, new Set(places)) === distinct(all, 0, new Set());
}
