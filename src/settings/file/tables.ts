/** The record tables of the settings file: `tables:`, each with a stream and columns. */

import { stringify } from 'yaml';
import { COLUMN_TYPES, type Column, type RecordTable, type Stream } from '../../model.ts';
import type { Reading } from '../reading.ts';
import { choice } from '../table/kinds.ts';
import { type Fields, partsByKey, readFields, writtenFields, wrongName } from './fields.ts';
import { noStream } from './streams.ts';
import type { Part } from './yaml-tree.ts';

/** What a table says besides its columns. */
export const TABLE_FIELDS: Fields<RecordTable> = {
  stream: ['stream', { kind: 'text' }],
  record: ['keepRecord', { kind: 'boolean' }],
  retention: ['retention', { kind: 'retention' }],
};
const TABLE_KEYS = [...Object.keys(TABLE_FIELDS), 'columns'];
export const COLUMN_FIELDS: Fields<Column> = {
  path: ['path', { kind: 'jsonPath' }],
  type: ['type', choice(...COLUMN_TYPES)],
  index: ['index', { kind: 'boolean' }],
  format: ['format', { kind: 'timeFormat' }],
};
const nameRule = (what: string, longest: number): string =>
  `${what} is named with small letters, digits and _, begins with a letter or _, and is no longer than ${longest} characters`;
/** Names that are ours as soon as such a stream is defined, or such a month comes; those that are there already the database refuses. */
const WRONG_TABLES: readonly (readonly [RegExp, string])[] = [
  [/^(?![a-z_][a-z0-9_]{0,39}$)/, nameRule('a table', 40)],
  [/^stream_/, 'daywalk names the views of streams so; name the table otherwise'],
  [/_[0-9]{4}_[0-9]{2}$/, 'daywalk names the months of a table so; name the table otherwise'],
];
const WRONG_COLUMNS: readonly (readonly [RegExp, string])[] = [
  [/^(?![a-z_][a-z0-9_]{0,62}$)/, nameRule('a column', 63)],
  [
    /^(day|record|walk_id|page_no|place|first_seen|gone_since|revision)$/,
    'is a column that every record table has',
  ],
  [
    /^(tableoid|xmin|cmin|xmax|cmax|ctid)$/,
    'is a column that Postgres gives every table; name it otherwise',
  ],
];
/** So many columns, or little more, fit into one statement and one row of Postgres. */
const MOST_COLUMNS = 200;

/** Reads the `tables:` part of the file; what cannot be read is told and left out. */
export function definedTables(
  part: Part | undefined,
  streams: readonly Stream[],
  reading: Reading,
): readonly RecordTable[] {
  const names = streams.map(({ name }) => name);
  return (part?.parts ?? []).flatMap((table) => {
    const wrong = wrongName(table.key, WRONG_TABLES);
    if (wrong === undefined && table.parts !== undefined)
      return definedTable(table, table.parts, names, reading);
    const expected = `expected a mapping of ${TABLE_KEYS.join(', ')}`;
    reading.problems.add(table.place, wrong ?? expected);
    return [];
  });
}

function definedTable(
  { key, place }: Part,
  parts: readonly Part[],
  streams: readonly string[],
  reading: Reading,
): RecordTable {
  const { problems } = reading;
  const found = partsByKey(parts, TABLE_KEYS, reading);
  const table = {
    name: key,
    stream: '',
    columns: columnsOf(found.get('columns'), place, reading),
    keepRecord: false,
    ...readFields(found, TABLE_FIELDS, reading),
  };
  const stream = found.get('stream');
  if (stream === undefined) problems.add(place, 'has no stream; write stream: events');
  else if (table.stream !== '' && !streams.includes(table.stream))
    problems.addWrong(stream.place, table.stream, noStream(table.stream, streams));
  return table;
}

function columnsOf(part: Part | undefined, place: string, reading: Reading): Column[] {
  const columns = part?.parts ?? [];
  const at = part?.place ?? place;
  if (columns.length === 0)
    reading.problems.add(
      at,
      'has no columns; write columns: and below it, for example, at: { path: timestamp, type: timestamptz, index: yes }',
    );
  if (columns.length > MOST_COLUMNS)
    reading.problems.add(at, `has ${columns.length} columns; at most ${MOST_COLUMNS} can be`);
  return columns.map((column) => definedColumn(column, reading));
}

function definedColumn({ key, place, parts }: Part, reading: Reading): Column {
  const { problems } = reading;
  const wrong = wrongName(key, WRONG_COLUMNS);
  if (wrong !== undefined) problems.add(place, wrong);
  if (parts === undefined)
    problems.add(place, 'expected a mapping, such as { path: rule.level, type: smallint }');
  const found = partsByKey(parts ?? [], Object.keys(COLUMN_FIELDS), reading);
  // The path unless set: the field that is called like the column.
  const unset = { name: key, path: [key], type: 'text', index: false } as const;
  const column = { ...unset, ...readFields(found, COLUMN_FIELDS, reading) };
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
