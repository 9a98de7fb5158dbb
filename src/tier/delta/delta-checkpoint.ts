/** A checkpoint of the log: all of the table's state as one Parquet object, so that nobody has to read every commit. */
import { type DeltaAction, PROTOCOL } from './delta-actions.ts';
import type { DeltaState } from './delta-replay.ts';

type Schema = NonNullable<
  Parameters<typeof import('hyparquet-writer').parquetWriteBuffer>[0]['schema']
>;

const OPTIONAL = { repetition_type: 'OPTIONAL' } as const;
const group = (name: string, children: readonly Schema[]): Schema => [
  { name, ...OPTIONAL, num_children: children.length },
  ...children.flat(),
];
const text = (name: string): Schema => [
  { name, ...OPTIONAL, type: 'BYTE_ARRAY', converted_type: 'UTF8' },
];
const int = (name: string): Schema => [{ name, ...OPTIONAL, type: 'INT32' }];
const long = (name: string): Schema => [{ name, ...OPTIONAL, type: 'INT64' }];
const flag = (name: string): Schema => [{ name, ...OPTIONAL, type: 'BOOLEAN' }];
const list = (name: string): Schema => [
  { name, ...OPTIONAL, converted_type: 'LIST', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...text('element'),
];
const map = (name: string): Schema => [
  { name, ...OPTIONAL, converted_type: 'MAP', num_children: 1 },
  { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
  { name: 'key', repetition_type: 'REQUIRED', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  ...text('value'),
];

/** A row is one action: of its columns one is not null. */
const COLUMNS = {
  protocol: group('protocol', [int('minReaderVersion'), int('minWriterVersion')]),
  metaData: group('metaData', [
    text('id'),
    text('name'),
    text('description'),
    group('format', [text('provider'), map('options')]),
    text('schemaString'),
    list('partitionColumns'),
    long('createdTime'),
    map('configuration'),
  ]),
  txn: group('txn', [text('appId'), long('version')]),
  add: group('add', [
    text('path'),
    map('partitionValues'),
    long('size'),
    long('modificationTime'),
    flag('dataChange'),
    text('stats'),
  ]),
  remove: group('remove', [text('path'), long('deletionTimestamp'), flag('dataChange')]),
};
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/** The state as rows: the protocol, the table, the files that were taken out of it, and those in it. */
export async function checkpointOf(state: DeltaState) {
  // Loaded when it is needed: other verbs begin without it.
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const actions: DeltaAction[] = [
    { protocol: PROTOCOL },
    { metaData: state.metaData },
    ...[...state.removed].map(([path, deletionTimestamp]) => ({
      remove: { path, deletionTimestamp, dataChange: false },
    })),
    ...[...state.files.values()].map((file) => ({ add: { ...file, dataChange: false } })),
  ];
  const rows = actions.map((action): Row => JSON.parse(JSON.stringify(action), asLong));
  const body = parquetWriteBuffer({
    schema: [{ name: 'checkpoint', num_children: NAMES.length }, ...Object.values(COLUMNS).flat()],
    columnData: NAMES.map((name) => ({
      name,
      data: rows.map((row) => row[name]),
      // Plain is what every reader takes, of truth values, too.
      encoding: 'PLAIN',
    })),
    createdBy: 'daywalk',
  });
  return { body: Buffer.from(body), actions: rows.length };
}

type Row = Readonly<Record<string, unknown>>;
/** What is an INT64 in Parquet is a bigint there. */
const LONGS = new Set(['createdTime', 'size', 'modificationTime', 'deletionTimestamp']);
const asLong = (name: string, value: unknown): unknown =>
  LONGS.has(name) && typeof value === 'number' ? BigInt(value) : value;
