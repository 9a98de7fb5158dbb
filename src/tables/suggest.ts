/** Which columns a record table of a stream may have, from the fields that its records have; a suggestion for a person. */
import { isDeepStrictEqual } from 'node:util';
import type { Column, ColumnType, RecordTable } from '../model.ts';
import type { Field } from './fields.ts';

/** A field as it was seen in some records. */
type SeenField = Pick<Field, 'path' | 'types' | 'share' | 'sample'>;

/** The fields of some records. */
export function fieldsIn(records: readonly unknown[]): SeenField[] {
  const found = new Map<string, SeenField & { types: string[]; count: number }>();
  const look = (value: unknown, path: readonly string[]) => {
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    const name = JSON.stringify(path);
    const known = found.get(name) ?? { path, types: [], share: 0, sample: null, count: 0 };
    const sample =
      type === 'object' || type === 'array' || type === 'null' ? null : JSON.stringify(value);
    const types = known.types.includes(type) ? known.types : [...known.types, type];
    found.set(name, { ...known, types, sample: known.sample ?? sample, count: known.count + 1 });
    if (type === 'object')
      for (const [key, inner] of Object.entries(value as object)) look(inner, [...path, key]);
  };
  for (const record of records) look(record, []);
  return [...found.values()].map(({ count, ...field }) => ({
    ...field,
    share: count / records.length,
  }));
}

const MOST_COLUMNS = 12;
/** Each index costs as much as some columns. */
const MOST_INDEXES = 5;
/** A field that fewer records have is asked for rarely. */
const LEAST_SHARE = 0.5;
/** Names by which people look for records, without what stands before the last dot. */
const ASKED_FOR =
  /^(?:id|.*_id|.*ip|name|host(?:name)?|user(?:name)?|agent|level|severity|status|type|action)$/i;
const TIME_NAMES =
  /^(?:@?timestamp|time|datetime|date|event_?time|created(?:_?at)?|occurred(?:_?at)?|ts)$/i;
const ISO = /^"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)? ?(?:Z|[+-]\d\d(?::?\d\d)?)?"$/i;
const EPOCH = /^"?(?:\d{10}|\d{13}|\d{16}|\d{19})(?:\.\d+)?"?$/;
const ADDRESS = /^"(?:\d{1,3}(?:\.\d{1,3}){3}|(?=.*:)[0-9a-f:]{3,39})"$/i;
const UUID = /^"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/i;
const OWN = /^(?:day|record|walk_id|page_no|place|first_seen|gone_since|revision)$/;

/**
 * The table: its time first, then what identifies a record, then the fields that most records have.
 * @param timePath where the time of the event stands, if that is known; else a field that is named like a time.
 */
export function suggestTable(
  stream: string,
  fields: readonly SeenField[],
  timePath: readonly string[] | undefined,
): RecordTable | null {
  const single = fields.filter((field) => typeOf(field) !== null && field.share >= LEAST_SHARE);
  const isTime = (field: SeenField) =>
    timePath === undefined
      ? TIME_NAMES.test(last(field)) && typeOf(field) === 'timestamptz'
      : isDeepStrictEqual(field.path, timePath);
  const time = single.find(isTime);
  const others = single
    .filter((field) => field !== time)
    .sort(
      (a, b) =>
        Number(b.share === 1) - Number(a.share === 1) ||
        rank(a) - rank(b) ||
        a.path.length - b.path.length,
    );
  const chosen = [...(time ? [time] : []), ...others].slice(0, MOST_COLUMNS);
  if (chosen.length === 0) return null;
  const names = new Set<string>();
  const columns = chosen.map((field): Column => {
    const called = field === time && !names.has('at') ? 'at' : nameOf(field, names);
    names.add(called);
    const type = field === time ? 'timestamptz' : (typeOf(field) ?? 'text');
    const index = names.size <= MOST_INDEXES && (field === time || rank(field) === 0);
    return { name: called, path: field.path, type, index };
  });
  const name = `${stream
    .replaceAll('-', '_')
    .replace(/^(?=[0-9]|stream_)/, '_')
    .slice(0, 34)}_table`;
  return { name, stream, columns, keepRecord: false };
}

const last = ({ path }: SeenField): string => path.at(-1) ?? '';
const rank = (field: SeenField): number => (ASKED_FOR.test(last(field)) ? 0 : 1);

/** The type of a column that holds every value of a field, as far as was seen; null: it is no single value. */
function typeOf({ path, types, sample }: SeenField): ColumnType | null {
  if (path.includes('[]') || path.length === 0 || sample === null) return null;
  const kinds = types.filter((type) => type !== 'null');
  if (kinds.length !== 1)
    return kinds.every((kind) => kind === 'string' || kind === 'number') ? 'text' : null;
  switch (kinds[0]) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return EPOCH.test(sample) && TIME_NAMES.test(path.at(-1) ?? '') ? 'timestamptz' : 'numeric';
    case 'string':
      if (ISO.test(sample)) return 'timestamptz';
      return ADDRESS.test(sample) ? 'inet' : UUID.test(sample) ? 'uuid' : 'text';
    default:
      return null;
  }
}

/** `agent.name` is agent_name: of a nested field the last two keys, as Postgres spells names; more where that is taken. */
function nameOf({ path }: SeenField, taken: ReadonlySet<string>): string {
  const keys = path.map((key) =>
    key
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, ''),
  );
  for (let from = Math.max(0, keys.length - 2); ; from--) {
    const words =
      from >= 0 ? keys.slice(from) : ['own', ...keys, ...(from < -1 ? [String(-from)] : [])];
    const name = words
      .filter((word) => word !== '')
      .join('_')
      .replace(/^(?=[0-9])/, '_')
      .slice(0, 60);
    if (name !== '' && !OWN.test(name) && !taken.has(name)) return name;
  }
}
