/** The record tables of the settings file: `tables:`, each with a stream and columns. */

import { stringify } from 'yaml';
import { COLUMN_TYPES, type Column, type RecordTable, type Stream } from '../../model.ts';
import type { Origin } from '../origin.ts';
import type { Problems } from '../problems.ts';
import { choice } from '../table/kinds.ts';
import {
  type Context,
  entriesByKey,
  type Fields,
  field,
  placeOf,
  readFields,
  writtenFields,
} from './fields.ts';
import { TIME_FORMAT } from './stream-definition.ts';
import { noStream } from './streams.ts';
import { type Entry, joined, type Mapping } from './yaml-tree.ts';

const TABLE_NAME = /^[a-z_][a-z0-9_]{0,39}$/;
const COLUMN_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const nameRule = (what: string, longest: number): string =>
  `${what} is named with small letters, digits and _, begins with a letter or _, and is no longer than ${longest} characters`;
/** What a table says besides its columns. */
export const TABLE_FIELDS: Fields<RecordTable> = {
  stream: field('stream', { kind: 'text' }, 'The stream whose records it has.'),
  record: field('keepRecord', { kind: 'boolean' }, 'The record is a column, too. Default: no.'),
  retention: field(
    'retention',
    { kind: 'retention' },
    'How long a day stays after it closed, or forever. Default: as long as its pages.',
  ),
};
const TABLE_KEYS = [...Object.keys(TABLE_FIELDS), 'columns'];
export const COLUMN_FIELDS: Fields<Column> = {
  path: field(
    'path',
    { kind: 'jsonPath', none: false },
    'Where in the record the value stands. Default: as the column is called.',
  ),
  type: field('type', choice(...COLUMN_TYPES), 'Default: text.'),
  index: field('index', { kind: 'boolean' }, 'Make an index of it. Default: no.'),
  format: field('format', { kind: 'timeFormat' }, TIME_FORMAT),
};
/** Columns that every record table has. */
const OWN_COLUMNS = /^(day|record|walk_id|page_no|place|first_seen|gone_since|revision)$/;
/** Columns that every table of Postgres has. */
const SYSTEM_COLUMNS = /^(tableoid|xmin|cmin|xmax|cmax|ctid)$/;
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
  const table = {
    name,
    stream: '',
    columns: columnsOf(found.get('columns'), place, context),
    keepRecord: false,
    ...readFields(found, TABLE_FIELDS, context),
  };
  const stream = found.get('stream');
  const names = streams.map((one) => one.name);
  if (stream === undefined) context.problems.add(place, 'has no stream; write stream: events');
  else if (table.stream !== '' && !names.includes(table.stream))
    context.problems.addWrong(
      placeOf(stream, context),
      table.stream,
      noStream(table.stream, names),
    );
  return table;
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
  else if (OWN_COLUMNS.test(key)) problems.add(place, 'is a column that every record table has');
  else if (SYSTEM_COLUMNS.test(key))
    problems.add(place, 'is a column that Postgres gives every table; name it otherwise');
  if (value.is !== 'mapping')
    problems.add(place, 'expected a mapping, such as { path: rule.level, type: smallint }');
  const inner = { ...context, path: joined(context.path, key) };
  const entries = value.is === 'mapping' ? value.entries : [];
  const found = entriesByKey(entries, Object.keys(COLUMN_FIELDS), inner);
  // The path unless set: the field that is called like the column.
  const unset = { name: key, path: [key], type: 'text', index: false } as const;
  const column = { ...unset, ...readFields(found, COLUMN_FIELDS, inner) };
  if (column.format !== undefined && column.type !== 'timestamptz')
    problems.add(place, `has a format, but is ${column.type}; only a timestamptz has one`);
  return column;
}

/** What `daywalk config` prints about one table: names, as `tables.alerts.stream`, and values. */
export function tableLines(table: RecordTable): [name: string, value: string][] {
  const path = `tables.${table.name}.`;
  return [
    ...writtenFields(table, TABLE_FIELDS, path),
    ...table.columns.flatMap((column) =>
      writtenFields(column, COLUMN_FIELDS, `${path}columns.${column.name}.`),
    ),
  ];
}

/** Record tables as lines of the settings file, below `tables:`. */
export function tablesYaml(tables: readonly RecordTable[]): string[] {
  return tables.flatMap((table) => [
    `  ${table.name}:`,
    ...writtenFields(table, TABLE_FIELDS).map(([key, text]) => `    ${key}: ${inFlow(text)}`),
    '    columns:',
    ...table.columns.map((column) => {
      const parts = writtenFields(column, COLUMN_FIELDS).map(
        ([key, text]) => `${key}: ${inFlow(text)}`,
      );
      return `      ${stringify(column.name).trimEnd()}: { ${parts.join(', ')} }`;
    }),
  ]);
}

/** A text within braces. */
const inFlow = (text: string): string =>
  /^[\w.@-]+$/.test(text) && !/^[-@]/.test(text) ? text : JSON.stringify(text);
