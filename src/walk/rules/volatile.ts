/**
 * What in a record is not the record: row numbers, scores, ages, links that are signed anew; pure. One rule finds all of it: of two lists
 * that must show the same records, or one a part of them, in any order, the smallest set of places without which one is contained in the
 * other. A place with values that the other list lacks must be among these; one that counts the rows, or tells ages, may be, too.
 * How much of that is believed depends on what was asked, since records may have been edited, or be other ones.
 */
import { hasEverywhere, identityPaths } from '../../source/identity.ts';
import {
  IN_ONE_FORM,
  isPart,
  leavesIn,
  pairAlike,
  pointerTo,
  type Records,
  spelled,
} from './places.ts';

/** A text that tells how long ago something was: it differs only when it happens to move on. Without "ago" it may be a duration. */
const AGE =
  /^\s*(about |~)?(an?|one|\d+)\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?|y|years?)\s+ago\s*$|^(just )?now$/i;

/** Fewer records that are told apart show nothing: two events of one template are alike but for such values, too. */
const LEAST_DISTINCT = 2;
/** Fewer may have been edited twice by hand. */
const LEAST_UNEDITED = 4;

/** A record, and the values in it by place. */
interface Row {
  readonly record: unknown;
  readonly leaves: ReadonlyMap<string, unknown>;
}

/** Records, each beside another version of it. */
type Pairs = readonly (readonly [Row, Row])[];

/** How two lists differ. */
export interface Difference {
  /** Where, as JSON pointers: the smallest set of places without which one list is contained in the other. */
  readonly places: readonly string[];
  /** Those of them whose values do not say by themselves that they are not the record. */
  readonly doubtful: readonly string[];
  /** What was known before not to be the record, and ages. */
  readonly ignored: readonly string[];
  /** All records of the shorter list, each beside its other version. */
  readonly pairs: Pairs;
  /** Those of them that differ, in all of the doubtful places. */
  readonly moved: Pairs;
  /** Whether both lists are as long. */
  readonly isWhole: boolean;
  /** Whether ages are all that differs, or numbers of the rows of several records: that is nothing else, whatever was asked. */
  readonly isTold: boolean;
}

/**
 * Compares two lists that must show the same records, or one a part of those of the other; each came in one answer or several.
 * @param ignored what is known not to be the record.
 * @returns null where nothing differs, or not alike in all records that differ.
 */
export function differenceOf(
  ones: readonly Records[],
  others: readonly Records[],
  ignored: readonly string[] = [],
): Difference | null {
  const known = new Set(ignored);
  // Elements of lists have places, but where lists come in any order, or of another length in each record.
  for (const asOne of known.has(IN_ONE_FORM) ? [true] : [false, true]) {
    const rowsOf = (list: Records): readonly Row[] =>
      list.map((record) => ({ record, leaves: leavesIn(record, known, asOne) }));
    const found = compare(ones.map(rowsOf), others.map(rowsOf), ignored);
    if (found !== null) return found;
  }
  return null;
}

function compare(
  ones: readonly (readonly Row[])[],
  others: readonly (readonly Row[])[],
  ignored: readonly string[],
): Difference | null {
  const [one, other] = [ones.flat(), others.flat()];
  const [few, many] = one.length < other.length ? [one, other] : [other, one];
  const pairWithout = (places: readonly string[], some: readonly Row[], of: readonly Row[]) => {
    const leftOut = new Set([...ignored, ...places]);
    return pairAlike(some, of, ({ record }) => spelled(record, leftOut));
  };
  const standing = pairWithout([], few, many);
  if (standing.lacking.length === 0) return null;
  const all = [...new Set([...few, ...many].flatMap(({ leaves }) => [...leaves.keys()]))].sort();
  const isNew = (place: string) => !isPart(few, many, ({ leaves }) => leaves.get(place));
  const answers = [...ones, ...others].filter(({ length }) => length > 0);
  const columnsOf = (place: string) => answers.map((rows) => valuesOf(place, rows));
  const aged = all.filter((place) => columnsOf(place).every(areAges));
  const least = all.filter((place) => aged.includes(place) || isNew(place));
  const counted = all.filter((place) => columnsOf(place).every((each) => countedFrom(each) >= 0));
  const more = counted.filter((place) => !least.includes(place));
  for (const leftOut of [least, ...more.map((place) => [...least, place].sort())]) {
    // A record that stands as it was is no other version of any; but with a number of the row its equal twin may have come to have that.
    const mayMove = leftOut.some((place) => counted.includes(place));
    const stand = mayMove ? { pairs: [], lacking: few, left: many } : standing;
    const rest = pairWithout(leftOut, stand.lacking, stand.left);
    if (rest.lacking.length > 0) continue;
    const pairs = [...stand.pairs, ...rest.pairs];
    const places = leftOut.filter((place) => pairs.some((pair) => differsIn(place, pair)));
    const doubtful = places.filter((place) => !tellsItself(columnsOf(place)));
    const moved = pairs.filter((pair) => places.some((place) => differsIn(place, pair)));
    const areAlike = moved.every((pair) => doubtful.every((place) => differsIn(place, pair)));
    if (moved.length === 0 || !areAlike) continue;
    const isTold =
      doubtful.length === 0 && (moved.length > 1 || places.every((place) => aged.includes(place)));
    const isWhole = few.length === many.length;
    return { places, doubtful, ignored: [...ignored, ...aged], pairs, moved, isWhole, isTold };
  }
  return null;
}

/** Each list compared with each one behind it: versions of one list, which must differ each time. */
export const differencesOf = (versions: readonly Records[], ignored: readonly string[] = []) =>
  versions.flatMap((one, at) =>
    versions.slice(at + 1).map((other) => differenceOf([one], [other], ignored)),
  );

/**
 * The places in which lists differ that are believed: those that tell themselves; or, where all of the lists differ in the very same ones and in
 * as many records, what they are asked for.
 * @param may whether what two of them differ in may be believed.
 */
export function believed(
  differences: readonly (Difference | null)[],
  may: (found: Difference) => boolean,
): readonly string[] {
  // Ages may stand still for a while, and some records come to differ otherwise, too.
  const told = differences.find((each) => each?.isTold);
  const [first] = differences;
  const isBelieved = (each: Difference | null) =>
    each?.doubtful.join() === first?.doubtful.join() &&
    each?.moved.length === first?.moved.length &&
    each !== null &&
    may(each);
  return told?.places ?? (differences.every(isBelieved) ? (first?.places ?? []) : []);
}

/** All records differ, several at least, and are told apart without the places. */
export const inAll = (found: Difference): boolean =>
  found.moved.length === found.pairs.length && areToldApart(found);

/** The same; and numbers of the rows in one record, which may be a count where something can have been counted meanwhile. */
export const inAllOrOneRow = (found: Difference): boolean =>
  found.doubtful.length === 0 || inAll(found);

/**
 * Some records differ, or all of them. One alone must do so in one value, unless what identifies it stands, or a field that is named so:
 * otherwise it may be another one.
 */
export const inSome =
  (idPath?: readonly string[]) =>
  (found: Difference): boolean => {
    const { places, pairs, moved, isWhole } = found;
    const records = moved.map(([, { record }]) => record);
    const identity = idPath ?? identityPaths(records)[0];
    const isKnown =
      identity !== undefined &&
      hasEverywhere(identity, records) &&
      !places.includes(pointerTo(identity));
    const isOne = moved.length === 1 && places.length === 1 && isWhole;
    return isOne || isKnown ? apart(found, pairs, []) > 0 : areToldApart(found);
  };

/** Most records differ, and several at least, in no words, which somebody may set in all of them, and again: each value has a digit. */
export function inMost(found: Difference): boolean {
  const { places, pairs, moved } = found;
  const values = places.flatMap((place) => valuesOf(place, pairs.flat()));
  const isOften = moved.length >= Math.max(LEAST_UNEDITED, pairs.length / 2);
  return isOften && areToldApart(found) && values.every((value) => /\d/.test(String(value)));
}

/** All records differ, as those of another day do, and no value comes twice: a state, which somebody sets in all of them, comes again. */
export function inAllOfBoth(found: Difference, other: Difference | null): boolean {
  if (other === null || !inAll(other)) return false;
  if (found.doubtful.join() !== other.doubtful.join()) return false;
  return noneTwice(found.doubtful, [...found.pairs, ...other.pairs].flat());
}

/** All records differ, several at least, and no value comes twice: then not even equal records keep theirs. None of it identifies them. */
export const inAllAnew =
  (idPath?: readonly string[]) =>
  ({ doubtful, pairs, moved, isWhole }: Difference): boolean => {
    const records = pairs.flat().map(({ record }) => record);
    const identities = [...(idPath ? [idPath] : []), ...identityPaths(records)].map(pointerTo);
    return (
      isWhole &&
      pairs.length > 1 &&
      moved.length === pairs.length &&
      noneTwice(doubtful, pairs.flat()) &&
      !doubtful.some((place) => identities.includes(place))
    );
  };

const noneTwice = (places: readonly string[], rows: readonly Row[]): boolean =>
  places.every((place) => new Set(valuesOf(place, rows)).size === rows.length);

/** Whether all records are told apart without the places; and several of those that differ, also without what counts through them. */
function areToldApart(found: Difference): boolean {
  const moved = found.moved.map(([, row]) => row);
  // A number of the row tells any records apart, also others than those.
  const counters = [...(moved[0]?.leaves.keys() ?? [])].filter(
    (place) => countedFrom(valuesOf(place, moved)) >= 0,
  );
  return apart(found, found.pairs, []) > 0 && apart(found, found.moved, counters) >= LEAST_DISTINCT;
}

/**
 * How many of these records differ from each other without the places and the counters; 0: some that differ with them do not any more. By a
 * number of the row equal records differ, too: that does not count.
 */
function apart({ places, ignored }: Difference, pairs: Pairs, counters: readonly string[]): number {
  const sides = [pairs.map(([one]) => one), pairs.map(([, other]) => other)] as const;
  const rows = places.filter(
    (place) => Math.min(...sides.map((side) => countedFrom(valuesOf(place, side)))) <= 1,
  );
  const left = distinct(sides[0], [...ignored, ...places, ...counters]);
  return sides.every((side) => distinct(side, [...ignored, ...rows]) === left) ? left : 0;
}

/** How many records differ without what stands in these places. */
function distinct(rows: readonly Row[], places: readonly string[]): number {
  const leftOut = new Set(places);
  return new Set(rows.map(({ record }) => spelled(record, leftOut))).size;
}

/**
 * Whether what answers have in a place says by itself that it is not the record: ages, or numbers of the rows, in each from the same one
 * on, as otherwise it may be a state of 0 or 1.
 */
export function tellsItself(columns: readonly (readonly unknown[])[]): boolean {
  const [first = Number.NaN, ...rest] = columns.map(countedFrom);
  return columns.every(areAges) || (first <= 1 && rest.every((other) => other === first));
}

const areAges = (values: readonly unknown[]): boolean =>
  values.every((value) => AGE.test(String(value)));

/** The least of values that count up or down by one; NaN: they do not. */
function countedFrom(values: readonly unknown[]): number {
  const up = values.map((value) => (/^\d+$/.test(String(value)) ? Number(value) : Number.NaN));
  const counted = [up, [...up].reverse()].find(([first = Number.NaN, ...rest]) =>
    rest.every((number, index) => number === first + index + 1),
  );
  return counted?.[0] ?? Number.NaN;
}

const valuesOf = (place: string, rows: readonly Row[]): readonly unknown[] =>
  rows.map(({ leaves }) => leaves.get(place));

const differsIn = (place: string, [one, other]: readonly [Row, Row]): boolean =>
  one.leaves.get(place) !== other.leaves.get(place);
