/** Rows as Parquet, one row group after another, so that memory holds one of them at most. */
import type { FileHandle } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { type FileLine, type Written, WrittenDigest } from '../written.ts';

type Library = typeof import('hyparquet-writer');
type Schema = ConstructorParameters<Library['ParquetWriter']>[0]['schema'];
type Kind = Omit<Schema[number], 'name' | 'repetition_type' | 'num_children'>;

/** Bytes of text in a row group. */
const GROUP_BYTES = 16_000_000;

const time = (unit: 'MILLIS' | 'MICROS') =>
  ({ type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit } }) as const;

/** The types of columns, and what a value of each is given as. */
export const KINDS = {
  /** A string, or its UTF-8 as a Buffer. */
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  /** Its text as a Buffer: a reader that takes numbers for doubles can still get at every digit. */
  json: { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } },
  /** A Buffer. */
  bytes: { type: 'BYTE_ARRAY' },
  int32: { type: 'INT32' },
  /** A bigint. */
  int64: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
  /** Days since 1970. */
  date: { type: 'INT32', converted_type: 'DATE' },
  /** A bigint since 1970, UTC. */
  milliseconds: time('MILLIS'),
  microseconds: time('MICROS'),
  uuid: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
} as const satisfies Record<string, Kind>;

/** A column of a file, and where its value stands in a row. */
export interface ParquetColumn<R> {
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  /** A value may be missing: null or undefined. */
  readonly optional?: boolean;
  /** Its values are long and hardly ever repeat, and the smallest of them says nothing; so is JSON. */
  readonly plain?: boolean;
  readonly of: (row: R) => unknown;
}

/**
 * Writes the rows, as they come, into `file`.
 * @param sizeOf about how many bytes a row takes, where its line does not tell.
 */
export async function writeParquet<R extends FileLine>(
  file: FileHandle,
  chunks: AsyncIterable<readonly R[]>,
  columns: readonly ParquetColumn<R>[],
  signal: AbortSignal,
  sizeOf: (row: R) => number = ({ text }) => text.length,
): Promise<Written> {
  // Loaded when it is needed: other verbs begin without it.
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const digest = new WrittenDigest();
  const writer = new ByteWriter();
  const flush = async () => {
    const part = Buffer.from(writer.getBytes());
    digest.takeBytes(part);
    await file.writeFile(part);
    writer.index = 0;
  };
  const schema = schemaOf(columns);
  const parquet = new ParquetWriter({
    writer: Object.assign(writer, { flush }),
    schema,
    codec: 'GZIP',
    compressors: { GZIP: (input: Uint8Array) => gzipSync(input, { level: 4 }) },
    createdBy: 'daywalk',
  });
  for await (const group of groupsOf(chunks, sizeOf)) {
    signal.throwIfAborted();
    digest.take(group);
    const columnData = columns.map((column) => dataOf(column, group));
    await parquet.write({ columnData, rowGroupSize: group.length });
  }
  parquet.schema = schema.map(asInFooter);
  await parquet.finish();
  await flush();
  return digest.end();
}

const schemaOf = (columns: readonly Omit<ParquetColumn<never>, 'of'>[]): Schema => [
  { name: 'records', num_children: columns.length },
  ...columns.map(({ name, kind, optional }) => ({
    name,
    ...KINDS[kind],
    repetition_type: optional === true ? ('OPTIONAL' as const) : ('REQUIRED' as const),
  })),
];

/** DuckDB looks at the older mark of JSON only. While rows are written the library would take it for a wish to turn each value into JSON once more. */
const asInFooter = (element: Schema[number]): Schema[number] =>
  element.logical_type?.type === 'JSON' ? { ...element, converted_type: 'JSON' } : element;

function dataOf<R>({ name, kind, plain, of }: ParquetColumn<R>, group: readonly R[]) {
  return {
    name,
    data: group.map((row) => of(row) ?? undefined),
    offsetIndex: false,
    ...(plain || kind === 'json' ? { encoding: 'PLAIN' as const, statistics: false } : {}),
  };
}

/** Chunks joined until there is enough for a row group. */
async function* groupsOf<R>(
  chunks: AsyncIterable<readonly R[]>,
  sizeOf: (row: R) => number,
): AsyncGenerator<R[]> {
  let group: R[] = [];
  let size = 0;
  for await (const rows of chunks)
    for (const row of rows) {
      group.push(row);
      size += sizeOf(row);
      if (size < GROUP_BYTES) continue;
      yield group;
      group = [];
      size = 0;
    }
  if (group.length > 0) yield group;
}
