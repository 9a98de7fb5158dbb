/**
 * What in a record is not the record: values that differ each time it is asked for, as row numbers, scores and ages do, and the
 * order of a list whose elements come in another one each time; pure. Such an order is a place of its own: `/rule/groups/~`.
 */
import {
  AGE,
  countShared,
  type Differences,
  differing,
  isOrder,
  leavesIn,
  orderAt,
  spelled,
  valueAt,
} from './places.ts';

/** Fewer records that are told apart show nothing but ages: two events of one template are alike but for such values, too. */
const LEAST_DISTINCT = 2;

/**
 * The places, as JSON pointers, in which records differ from their other versions. Each pair is one record, asked for
 * twice. All must differ in the very same places, but for ages and orders, which may stand still; and what is left must tell the
 * records apart as well as the whole does, or two events would be taken for one.
 * @param agesOnly a record stands in both lists as it was: what differs in others is no such value, but for an age or an order.
 * @returns an empty list where nothing differs; null where the differences are no such values.
 */
export function volatilePaths(pairs: Pairs, agesOnly = false): readonly string[] | null {
  const differences = pairs.map(([one, other]) => differing(one, other, ''));
  const { all, always } = placesOf(differences);
  if (all.length === 0) return [];
  if (all.includes('') || (agesOnly && always.length > 0)) return null;
  if (differences.some((places) => !always.every((place) => places.has(place)))) return null;
  return tellApart(pairs, all, always) ? all : null;
}

type Records = readonly unknown[];
type Pairs = readonly (readonly [unknown, unknown])[];

/** Where records differ; always: where what differs does not say by itself that it is not the record. */
function placesOf(differences: readonly Differences[]) {
  const all = [...new Set(differences.flatMap((places) => [...places.keys()]))].sort();
  const always = all.filter((place) => differences.some((places) => places.get(place) === 'other'));
  return { all, always };
}

/** Whether what is left tells the records apart as well as the whole. */
function tellApart(pairs: Pairs, all: readonly string[], always: readonly string[]): boolean {
  // A number of the row tells any records apart, also others than those; where it differs, real twins, too.
  const counters = countersIn(pairs, 0);
  const rows = countersIn(pairs, 1).filter(
    (place) => all.includes(place) && counters.includes(place) && beginsAtOne(pairs, place),
  );
  const whole = new Set([...rows, ...all.filter(isOrder)]);
  const left = distinct(pairs, 0, new Set([...all, ...counters]));
  return (
    left >= (always.length === 0 ? 1 : LEAST_DISTINCT) &&
    left === distinct(pairs, 0, whole) &&
    left === distinct(pairs, 1, whole)
  );
}

/**
 * The places in which three answers to one question differ, row by row, in some rows or in all. What does not say by itself
 * that it is not the record must be another value in each answer; and it is the same record where nothing else of it differs
 * while other rows stand as they were, or where what is left tells the rows apart. In another order it is one place.
 * @param whole the answers show all that there is, so that they can be compared in another order.
 * @returns JSON pointers; none where the differences are no such values.
 */
export function volatileInThree(answers: readonly Records[], whole = true): readonly string[] {
  const [one = [], other = [], third = []] = answers;
  if (one.length !== other.length || other.length !== third.length) return [];
  const inRows = volatileInRows([one, other, third], answers);
  if (inRows.length > 0 || !whole) return inRows;
  for (const place of mayDiffer(one, other)) {
    const inOrder = (list: Records) => pairedWithout(place, list, one).map(([found]) => found);
    const found = volatileInRows([one, inOrder(other), inOrder(third)], answers);
    if (found.length === 1 && [place, orderAt(place)].includes(String(found))) return found;
  }
  return [];
}

/** @param answers the same lists in the order in which they came. */
function volatileInRows(
  [one, other, third]: readonly [Records, Records, Records],
  answers: readonly Records[],
): readonly string[] {
  const rows = one.map((record, row) => [
    differing(record, other[row], ''),
    differing(other[row], third[row], ''),
    differing(record, third[row], ''),
  ]);
  const { all, always } = placesOf(rows.flat());
  const isNewEachTime = (place: string) => {
    const moved = rows.flatMap((found, row) => (found.some((at) => at.has(place)) ? [row] : []));
    const values = [one, other, third].flatMap((list) => [
      ...new Set(moved.map((row) => spelled(valueAt(list[row], place)))),
    ]);
    return new Set(values).size === values.length;
  };
  // What comes back as it was may be an edit that one of two replicas does not know.
  const moves = always.every((place) => isNewEachTime(place) || tellsItself(place, answers));
  if (!moves || all.includes('')) return [];
  const stands = rows.length === 1 || rows.some((found) => placesOf(found).all.length === 0);
  const isAlone = (place: string) => rows.some((at) => placesOf(at).always.join(' ') === place);
  if (stands && always.every(isAlone)) return all;
  return tellApart(pairsOf(one, other), all, always) ? all : [];
}

/** The places in which one version of the records counts up or down by one. */
function countersIn(pairs: Pairs, version: 0 | 1): readonly string[] {
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
const beginsAtOne = (pairs: Pairs, place: string): boolean =>
  pairs[0]?.some((record) => [0, 1].includes(countOf(leavesIn(record, '').get(place)))) ?? false;

/** A whole number, or a text of one; NaN: anything else. */
const countOf = (value: unknown): number =>
  /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;

/** How many versions differ without what is left out. */
function distinct(pairs: Pairs, version: 0 | 1, leftOut: ReadonlySet<string>): number {
  return new Set(pairs.map((pair) => spelled(pair[version], leftOut))).size;
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

const movedIn = (pairs: Pairs) => pairs.filter(([one, other]) => spelled(one) !== spelled(other));

/**
 * The places in which records have come to differ from what they were; one place alone where they come in another order now,
 * or some of them do not come, or others come besides. All must differ there, unless it is an age: one that was edited is no
 * such value. Where records stand as they were, but for what says itself that it is not the record, nothing else is.
 * @returns JSON pointers.
 */
export function volatileSince(before: Records, now: Records): readonly string[] {
  const places = [...leavesIn(before[0], '').keys()];
  const telling = new Set(places.filter((place) => tellsItself(place, [before, now])));
  const shares = countShared(before, now, telling) > 0;
  const inOrder = now.length < before.length ? null : volatilePaths(pairsOf(before, now), shares);
  if (inOrder !== null) return inOrder;
  const [many, few] = before.length < now.length ? [now, before] : [before, now];
  for (const { place, pairs } of pairedWithoutOne(many, few)) {
    const agesOnly = shares && !telling.has(place);
    if (volatilePaths(pairs, agesOnly)?.join() === place) return [place];
  }
  return [];
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
function numbersRows(values: Records): boolean {
  const up = values.map(countOf);
  return [up, [...up].reverse()].some(
    ([first = Number.NaN, ...rest]) =>
      first <= 1 && rest.every((number, index) => number === first + index + 1),
  );
}

/** Whether records do not all have one value in a place. */
export const varies = (place: string, records: Records): boolean =>
  new Set(valuesOf(place, records)).size > 1;

const valuesOf = (place: string, records: Records): Records =>
  records.map((record) => leavesIn(record, '').get(place));

/** The places without which the records of a list are among those of another, whatever their order, with the pairs of them. */
function* pairedWithoutOne(one: Records, other: Records) {
  for (const place of other.length === 0 ? [] : mayDiffer(one, other)) {
    const pairs = pairedWithout(place, one, other);
    if (pairs.length === other.length) yield { place, pairs };
  }
}

/** Records of one list with those of the other that are the same but for a place, in the order of the other. */
function pairedWithout(place: string, one: Records, other: Records): Pairs {
  const leftOut = new Set([place]);
  const left = new Map<string, unknown[]>();
  for (const record of one) {
    const text = spelled(record, leftOut);
    left.set(text, [...(left.get(text) ?? []), record]);
  }
  return other.flatMap((record) => {
    const [found] = left.get(spelled(record, leftOut))?.splice(0, 1) ?? [];
    return found === undefined ? [] : [[found, record] as const];
  });
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
    for (const [place, value] of leavesIn(record, '')) {
      const counts = found.get(place) ?? new Map<unknown, number>();
      found.set(place, counts.set(value, (counts.get(value) ?? 0) + 1));
    }
  return found;
}
