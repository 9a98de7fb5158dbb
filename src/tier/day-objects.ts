/** The two objects of a day, how they are written and read: its records, as a file of the events table, and its pages. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Day } from '../model.ts';
import { type ParquetColumn, writeParquet } from '../parquet/write.ts';
import type { MovedObject } from '../store/moved-days.ts';
import { recordColumns, type ShownRecord } from '../store/shown-records.ts';
import type { FileLine, Written } from '../written.ts';
import { type ReadLines, readObject } from './object-file.ts';
import type { ObjectStore } from './object-store.ts';

/** The folder of the table; paths in its log are below it. */
export const EVENTS_FOLDER = 'events/';

/** An object of a day: where that of a publication lies, how rows are written into a file of this machine as they come, and read back. */
export interface ObjectKind<Row> {
  readonly keyOf: (stream: string, day: Day, publication: string) => string;
  readonly write: (
    file: FileHandle,
    chunks: AsyncIterable<readonly Row[]>,
    signal: AbortSignal,
  ) => Promise<Written>;
  readonly read: ReadLines;
}

/** The columns beside the partitions, stream and day, in types that every reader of Delta Lake takes. */
export const EVENT_COLUMNS = recordColumns('text', 'microseconds');

/** The records of a day. */
export const EVENTS: ObjectKind<ShownRecord> = {
  keyOf: (stream, day, publication) =>
    `${EVENTS_FOLDER}stream=${stream}/day=${day}/${publication}.parquet`,
  write: (file, chunks, signal) => writeParquet(file, chunks, EVENT_COLUMNS, signal),
  read: readEvents,
};

interface EventRow {
  readonly record: string;
  readonly walk_id: bigint;
  readonly page_no: number;
  readonly position: bigint;
  readonly fetched_at: bigint;
  readonly first_seen: bigint;
  readonly gone_since: bigint | null;
  readonly revision: number;
}

/**
 * The records of an object in the order in which they were written, a row group at a time; a range is of their places in it.
 */
export async function* readEvents(...asked: Parameters<typeof readObject>) {
  for await (const rows of readObject<EventRow>(...asked))
    yield rows.map((row) => ({
      text: row.record,
      walkId: Number(row.walk_id),
      pageNo: row.page_no,
      position: Number(row.position),
      fetchedAt: Number(row.fetched_at),
      firstSeen: Number(row.first_seen),
      goneSince: row.gone_since === null ? null : Number(row.gone_since),
      revision: row.revision,
    }));
}

/** What a value of a kind is here. */
interface Values {
  readonly text: string;
  readonly json: string;
  readonly bytes: Uint8Array;
  readonly boolean: boolean;
  readonly int32: number;
  readonly int64: bigint;
  /** Since 1970. */
  readonly microseconds: bigint;
}

const optional = true;
const plain = true;
const COLUMNS = {
  walk_id: { kind: 'int64' },
  page_no: { kind: 'int32' },
  day: { kind: 'text' },
  start: { kind: 'int64' },
  length: { kind: 'int32' },
  skip: { kind: 'int32' },
  records: { kind: 'int32' },
  total: { kind: 'int64', optional },
  relation: { kind: 'text', optional },
  total_missing: { kind: 'boolean' },
  more: { kind: 'boolean' },
  body: { kind: 'json' },
  bytes: { kind: 'bytes', plain, optional },
  changes: { kind: 'json', optional },
  record_hashes: { kind: 'text', plain },
  id_hashes: { kind: 'text', plain, optional },
  sha256: { kind: 'bytes', plain },
  byte_count: { kind: 'int32' },
  fetched_at: { kind: 'microseconds' },
  duration_ms: { kind: 'int32' },
} as const satisfies Readonly<Record<string, Omit<ParquetColumn<never>, 'name' | 'of'>>>;
type Columns = typeof COLUMNS;

/** A row of `daywalk.pages` by the names of its columns; `jsonb` and arrays as the text that Postgres makes of them, and takes. */
export type TieredPage = {
  readonly [Name in keyof Columns]:
    | Values[Columns[Name]['kind']]
    | (Columns[Name] extends { readonly optional: true } ? null : never);
};

/** In the order of `daywalk.pages`. */
export const PAGE_COLUMNS = Object.keys(COLUMNS) as (keyof TieredPage)[];

type Line = TieredPage & FileLine;

const PARQUET = PAGE_COLUMNS.map((name): ParquetColumn<Line> => {
  const column = COLUMNS[name];
  const of = (page: Line) => page[name];
  const utf8 = (value: unknown) => (typeof value === 'string' ? Buffer.from(value) : value);
  return { name, ...column, of: column.kind === 'json' ? (page) => utf8(of(page)) : of };
});

/** A page as a line that any other value would change; what is long stands there as its digest. */
function withLine(page: TieredPage): Line {
  const told = (value: TieredPage[keyof TieredPage]) =>
    value instanceof Uint8Array || (typeof value === 'string' && value.length > 64)
      ? createHash('sha256').update(value).digest('hex')
      : value;
  const shown = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
  return {
    ...page,
    text: JSON.stringify(
      PAGE_COLUMNS.map((name) => told(page[name])),
      shown,
    ),
  };
}

/** The pages behind a publication. Their digest is over lines that hold every column. */
export const PAGES: ObjectKind<TieredPage> = {
  keyOf: (stream, day, publication) => `pages/stream=${stream}/day=${day}/${publication}.parquet`,
  write: (file, chunks, signal) => {
    const sizeOf = ({ body, bytes }: TieredPage) => body.length + (bytes?.length ?? 0);
    return writeParquet(file, withLines(chunks), PARQUET, signal, sizeOf);
  },
  read: (...asked) => withLines(readObject<TieredPage>(...asked)),
};

async function* withLines(chunks: AsyncIterable<readonly TieredPage[]>): AsyncGenerator<Line[]> {
  for await (const pages of chunks) yield pages.map(withLine);
}

/**
 * Reads every page of an object.
 * @returns whether the object is what was written.
 */
export async function eachPage(
  store: ObjectStore,
  { key, sha256 }: MovedObject,
  work: (page: TieredPage) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const hash = createHash('sha256');
  const onBytes = (bytes: Buffer) => hash.update(bytes);
  for await (const pages of readObject<TieredPage>(store, key, signal, undefined, onBytes))
    for (const page of pages) await work(page);
  return hash.digest('hex') === sha256;
}
