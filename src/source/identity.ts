/** Which field of a record looks like its identity, and which like its time; suggestions for a person, never acted on. */
import { isObject, type Path, valueAt } from './json.ts';

/** Names of identities, without case and separators, the likeliest first. */
const NAMES = 'id eventid alertid uuid guid uid recordid docid'.split(' ');

/**
 * The paths of the fields that are named like an identity, stand in every record and are different in each.
 * @param records of one page; few of them may differ in any field.
 * @returns keys from the top of a record, the likeliest first.
 */
export function identityPaths(records: readonly unknown[]): readonly Path[] {
  return named(NAMES, records[0], [['_source']]).filter((path) => identifies(path, records));
}

/** How many records have a value at a path that none of the others has. */
export function othersAt(
  path: Path,
  records: readonly unknown[],
  others: readonly unknown[],
): number {
  const known = new Set(others.map((record) => valueAt(record, path)));
  return records.filter((record) => !known.has(valueAt(record, path))).length;
}

/** The fields of a record, and of these objects in it, that have one of these names, the likeliest first. */
function named(names: readonly string[], record: unknown, inside: readonly Path[]) {
  const rank = (path: Path) => names.indexOf(plain(path.at(-1) ?? ''));
  return [[], ...inside]
    .flatMap((path) => fieldsOf(valueAt(record, path), path))
    .filter((path) => rank(path) >= 0)
    .sort((one, other) => rank(one) - rank(other) || one.length - other.length);
}

/** Names of the time of an event, without case and separators, the likeliest first. */
const TIME_NAMES = 'timestamp time eventtime datetime date occurredat createdat created ts'.split(
  ' ',
);
/** ISO 8601 with a time, or a number that counts from 1970 on; daywalk.time_of decides. */
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^(?:\d{10}|\d{13}|\d{16}|\d{19})(?:\.\d+)?$/;

/** The path of a field that is named like a time and looks like one in every record; null: there is none. */
export function suggestTimePath(records: readonly unknown[]): Path | null {
  const looks = (path: Path) => records.every((record) => isTime(valueAt(record, path)));
  // What the record says itself, before what stands in its parts, as in `attributes` or `fields`.
  const paths = named(TIME_NAMES, records[0], fieldsOf(records[0])).filter(looks);
  return paths.find(({ length }) => length === 1) ?? paths[0] ?? null;
}

const isTime = (value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && TIME.test(String(value));

/** Whether every one of these records has a value at this path. */
export function hasEverywhere(path: Path, records: readonly unknown[]): boolean {
  return records.every((record) => isIdentity(valueAt(record, path)));
}

/** Whether each of these records has a value of its own at this path. */
export function identifies(path: Path, records: readonly unknown[]): boolean {
  const values = records.map((record) => valueAt(record, path));
  return values.every(isIdentity) && new Set(values).size === records.length;
}

const isIdentity = (value: unknown): value is string | number =>
  (typeof value === 'string' && value !== '') || typeof value === 'number';

const plain = (key: string): string => key.toLowerCase().replaceAll(/[^a-z]/g, '');

function fieldsOf(value: unknown, above: Path = []): Path[] {
  return isObject(value) ? Object.keys(value).map((key) => [...above, key]) : [];
}
