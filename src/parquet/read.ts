/** Reads Parquet by ranges, one row group after another: the footer first, then what is asked for, each value exactly. */
import { gunzipSync } from 'node:zlib';
import type { AsyncBuffer, FileMetaData } from 'hyparquet';

/** What is read by ranges of its bytes; `end` is exclusive. */
export interface RangedBytes {
  readonly bytes: number;
  read(start: number, end: number): Promise<Buffer>;
}

/** Rows by their place in the file; `to` is exclusive. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** What a column holds: text and JSON as a string, 64 bits and instants as a bigint, a date as days since 1970. */
export type ParquetValue = string | number | bigint | boolean | Uint8Array | null | undefined;

/** Long enough for the footer of a few hundred megabytes of text. */
const FOOTER_BYTES = 65_536;

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
/** Nothing is made of a value: its text is not parsed, and its microseconds are not rounded. */
const EXACT = {
  utf8: false,
  geoparquet: false,
  compressors: { GZIP: (input: Uint8Array) => gunzipSync(input) },
  parsers: {
    stringFromBytes: (bytes: Uint8Array | undefined) => bytes && textOf(bytes),
    jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && textOf(bytes),
    timestampFromMilliseconds: (at: bigint) => at,
    timestampFromMicroseconds: (at: bigint) => at,
    dateFromDays: (days: number) => days,
  },
};

/**
 * The rows of a file as objects with its columns, a row group at a time.
 * @param range all rows where it is left out.
 * @param onBytes told of each byte of the file once and in order, where all rows are read.
 */
export async function* readParquet<R = Readonly<Record<string, ParquetValue>>>(
  source: RangedBytes,
  range: RowRange = { from: 0, to: Number.POSITIVE_INFINITY },
  onBytes?: (bytes: Buffer) => void,
): AsyncGenerator<R[]> {
  // Loaded when it is needed: other verbs begin without it.
  const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const file = {
    byteLength: source.bytes,
    slice: async (start: number, end = source.bytes) => copyOf(await source.read(start, end)),
  };
  const metadata = await parquetMetadataAsync(file, { ...EXACT, initialFetchSize: FOOTER_BYTES });
  let row = 0;
  let at = 0;
  for (const group of metadata.row_groups) {
    const next = row + Number(group.num_rows);
    const end = endOf(group);
    const rowStart = Math.max(row, range.from);
    const rowEnd = Math.min(next, range.to);
    if (rowStart < rowEnd) {
      const bytes = await source.read(at, end);
      onBytes?.(bytes);
      const part = within(bytes, at);
      yield (await parquetReadObjects({ ...EXACT, file: part, metadata, rowStart, rowEnd })) as R[];
    }
    row = next;
    at = end;
  }
  if (onBytes !== undefined) onBytes(await source.read(at, source.bytes));
}

/** Where the last of its columns ends. */
const endOf = ({ columns }: FileMetaData['row_groups'][number]): number =>
  Math.max(
    ...columns.map(({ meta_data: column }) =>
      column === undefined
        ? 0
        : Number(
            (column.dictionary_page_offset ?? column.data_page_offset) +
              column.total_compressed_size,
          ),
    ),
  );

/** A part of a file, which begins at byte `at` of it. */
const within = (part: Buffer, at: number): AsyncBuffer => ({
  byteLength: at + part.length,
  slice: (start, end) => copyOf(part.subarray(start - at, end === undefined ? end : end - at)),
});

const copyOf = ({ buffer, byteOffset, length }: Buffer): ArrayBuffer =>
  buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
