/** The record tables of the settings file: `tables:`, each with a stream and columns. */

import { stringify } from 'yaml';
import {
  COLUMN_TYPES,
  type Column,
  type ColumnType,
  type RecordTable,
  type Stream,
} from '../../model.ts';
import { defined } from '../defined.ts';
import type { Origin } from '../origin.ts';
import { type Problems, Wrong } from '../problems.ts';
import { DAY, LONGEST_AGE } from '../table/kinds.ts';
import { formatJsonPath, parseJsonPath } from '../values/json-path.ts';
import { parseDuration, writeDuration } from '../values/quantity.ts';
import { didYouMean } from '../values/spelling.ts';
import { parseTimeFormat } from '../values/time-format.ts';
import { parseBoolean } from '../values/value.ts';
import { type Context, entriesByKey, placeOf, readEntry } from './stream-definition.ts';
import { noStream } from './streams.ts';
import { type Entry, joined, type Mapping } from './yaml-tree.ts';

const TABLE_NAME = /^[a-z_][a-z0-9_]{0,39}$/;
const COLUMN_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const nameRule = (what: string, longest: number): string =>
  `${what} is named with small letters, digits and _, begins with a letter or _, and is no longer than ${longest} characters`;
export const TABLE_KEYS = ['stream', 'columns', 'record', 'retention'];
export const COLUMN_KEYS = ['path', 'type', 'index', 'format'];
/** Columns that every record table has. */
const OWN_COLUMNS = [
  'day',
  'record',
  'walk_id',
  'page_no',
  'place',
  'first_seen',
  'gone_since',
  'revision',
];
/** Columns that every table of Postgres has. */
const SYSTEM_COLUMNS = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'];
/** Names that are ours as soon as such a stream is defined, or such a month comes; those that are there already the database refuses. */
const OUR_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^stream_/, 'daywalk names the views of streams so; name the table otherwise'],
  [/_[0-9]{4}_[0-9]{2}$/, 'daywalk names the months of a table so; name the table otherwise'],
];
/** So many columns, or little more, fit into one statement and one row of Postgres. */
const MOST_COLUMNS = 200;

/** Reads the `tables:` part of the file; what cannot be read is told and left out. */
export function definedTables(
  mapping: Mapping | undefined,
  streams: readonly Stream[],
  problems: Problems,
): { tables: readonly RecordTable[]; origins: ReadonlyMap<string, Origin> } {
  const origins = new Map<string, Origin>();
  const entries = mapping?.entries ?? [];
  const tables = entries.flatMap((entry) => {
    const context = { path: joined('tables', entry.key), problems, origins };
    const place = `${entry.spot} (${context.path})`;
    const ours = OUR_NAMES.find(([pattern]) => pattern.test(entry.key));
    if (!TABLE_NAME.test(entry.key)) problems.add(place, nameRule('a table', 40));
    else if (ours !== undefined) problems.add(place, ours[1]);
    else if (entry.value.is === 'mapping')
      return [definedTable(entry.key, place, entry.value.entries, streams, context)];
    else problems.add(place, `expected a mapping of ${TABLE_KEYS.join(', ')}`);
    return [];
  });
  return { tables, origins };
}

function definedTable(
  name: string,
  place: string,
  entries: readonly Entry[],
  streams: readonly Stream[],
  context: Context,
): RecordTable {
  const found = entriesByKey(entries, TABLE_KEYS, context);
  const names = streams.map((stream) => stream.name);
  const parseStream = (text: string) => (names.includes(text) ? text : noStream(text, names));
  const stream = readEntry(found.get('stream'), parseStream, context);
  if (!found.has('stream')) context.problems.add(place, 'has no stream; write stream: events');
  const columns = columnsOf(found.get('columns'), place, context);
  const retention = readEntry(found.get('retention'), parseRetention, context);
  return {
    name,
    stream: stream ?? '',
    columns,
    keepRecord: readEntry(found.get('record'), parseBoolean, context) ?? false,
    ...defined({ retention: retention?.ms }),
  };
}

function columnsOf(entry: Entry | undefined, place: string, context: Context): Column[] {
  const { problems } = context;
  if (entry?.value.is !== 'mapping' || entry.value.entries.length === 0) {
    problems.add(
      entry === undefined ? place : placeOf(entry, context),
      'has no columns; write columns: and below it, for example, at: { path: timestamp, type: timestamptz, index: yes }',
    );
    return [];
  }
  const inner = { ...context, path: `${context.path}.columns` };
  const { entries } = entry.value;
  if (entries.length > MOST_COLUMNS)
    problems.add(
      placeOf(entry, context),
      `has ${entries.length} columns; at most ${MOST_COLUMNS} can be`,
    );
  return entries.map((column) => definedColumn(column, inner));
}

function definedColumn(entry: Entry, context: Context): Column {
  const { problems } = context;
  const { key, value } = entry;
  const place = placeOf(entry, context);
  if (!COLUMN_NAME.test(key)) problems.add(place, nameRule('a column', 63));
  else if (OWN_COLUMNS.includes(key))
    problems.add(place, 'is a column that every record table has');
  else if (SYSTEM_COLUMNS.includes(key))
    problems.add(place, 'is a column that Postgres gives every table; name it otherwise');
  if (value.is !== 'mapping')
    problems.add(place, 'expected a mapping, such as { path: rule.level, type: smallint }');
  const inner = { ...context, path: joined(context.path, key) };
  const found = entriesByKey(value.is === 'mapping' ? value.entries : [], COLUMN_KEYS, inner);
  const type = readEntry(found.get('type'), parseType, inner) ?? 'text';
  const format = readEntry(found.get('format'), parseTimeFormat, inner);
  if (format !== undefined && type !== 'timestamptz')
    problems.add(place, `has a format, but is ${type}; only a timestamptz has one`);
  return {
    name: key,
    // Unset: the field that is called like the column.
    path: readEntry(found.get('path'), parseJsonPath, inner) ?? [key],
    type,
    index: readEntry(found.get('index'), parseBoolean, inner) ?? false,
    ...defined({ format }),
  };
}

function parseType(text: string): ColumnType | Wrong {
  const found = COLUMN_TYPES.find((type) => type === text);
  if (found !== undefined) return found;
  const why = /^(real|float|double)/.test(text)
    ? '; numeric keeps every digit, and a floating-point number does not'
    : didYouMean(text, COLUMN_TYPES);
  return new Wrong(`is not one of ${COLUMN_TYPES.join(', ')}${why}`);
}

/** In an object, because for ever is null. */
function parseRetention(text: string): { readonly ms: number | null } | Wrong {
  if (text === 'forever') return { ms: null };
  const ms = parseDuration(text, DAY, LONGEST_AGE);
  return ms instanceof Wrong ? new Wrong(`${ms.why}; or write forever`) : { ms };
}

const retentionText = (ms: number | null): string => (ms === null ? 'forever' : writeDuration(ms));

/** What `daywalk config` prints about one table: names, as `tables.alerts.stream`, and values. */
export function tableLines(table: RecordTable): (readonly [name: string, value: string])[] {
  const lines: (readonly [string, string])[] = [['stream', table.stream]];
  for (const { name, path, type, index, format } of table.columns) {
    lines.push([`columns.${name}.path`, formatJsonPath(path)], [`columns.${name}.type`, type]);
    if (index) lines.push([`columns.${name}.index`, 'yes']);
    if (format) lines.push([`columns.${name}.format`, format.text]);
  }
  if (table.keepRecord) lines.push(['record', 'yes']);
  if (table.retention !== undefined) lines.push(['retention', retentionText(table.retention)]);
  return lines.map(([key, value]) => [`tables.${table.name}.${key}`, value] as const);
}

/** Record tables as lines of the settings file, below `tables:`. */
export function tablesYaml(tables: readonly RecordTable[]): string[] {
  return tables.flatMap((table) => [
    `  ${table.name}:`,
    `    stream: ${stringify(table.stream).trimEnd()}`,
    ...(table.keepRecord ? ['    record: yes'] : []),
    ...(table.retention === undefined ? [] : [`    retention: ${retentionText(table.retention)}`]),
    '    columns:',
    ...table.columns.map(({ name, path, type, index, format }) => {
      const parts = [
        `path: ${inFlow(formatJsonPath(path))}`,
        `type: ${type}`,
        ...(index ? ['index: yes'] : []),
        ...(format === undefined ? [] : [`format: ${inFlow(format.text)}`]),
      ];
      return `      ${stringify(name).trimEnd()}: { ${parts.join(', ')} }`;
    }),
  ]);
}

/** A text within braces. */
const inFlow = (text: string): string =>
  /^[\w.@-]+$/.test(text) && !/^[-@]/.test(text) ? text : JSON.stringify(text);
