/** What an export writes of a day, and where: the records of streams as they were sent, or the rows of a record table. */
import type { FileHandle } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Day, OpenRange } from '../model.ts';
import { type ParquetColumn, writeParquet } from '../parquet/write.ts';
import type { Database } from '../store/database.ts';
import { listMovedDays, type MovedDay, type MovedRecords } from '../store/moved-days.ts';
import { recordColumns, type ShownRecord, shownRecords } from '../store/shown-records.ts';
import { type FileLine, type Written, WrittenDigest } from '../written.ts';
import { type ArchivedDay, isAway, isUnchanged, listArchivedDays } from './rows.ts';

/** What an export writes; a folder has files of one format only, so that a reader of all of them reads no day twice. */
export const FORMATS = ['ndjson', 'ndjson.gz', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * The path of a day's file, from the folder, in Hive's layout, which DuckDB, Spark and Trino read; with `/` between its parts. Above the days of a record table stands its name
 * alone: a level `table=…` would be read as a column, and the table may have one that is called so.
 * @param table the name of the record table; undefined: the records of the stream.
 */
export function pathOf(stream: string, table: string | undefined, day: Day, format: Format) {
  return `${table ?? `stream=${stream}`}/day=${day}/records.${format}`;
}

const DAY_MS = 86_400_000;

/** A record table as a file of it is told in the manifest. */
export interface ExportedTable {
  readonly name: string;
  /** Another one after the table was built anew. */
  readonly id: number;
  /** Its columns with their types and paths, in words; equal where the files of two days fit together. */
  readonly columns: string;
}

/** What is exported. */
export interface Contents {
  /** Undefined: the records of streams. */
  readonly table: ExportedTable | undefined;
  /** Of which missing days are told, too. */
  readonly streams: readonly string[];
  /** Where neither a person nor the folder says. */
  readonly format: Format;
  /** The days that are known, between two days where given; `complete` where they can be written. */
  listDays(range: OpenRange): Promise<ArchivedDay[]>;
  /** Writes a day into `file`. */
  write(file: FileHandle, day: ArchivedDay, format: Format, signal: AbortSignal): Promise<Written>;
  /** Whether what was listed of the day is still so. */
  isUnchanged(day: ArchivedDay): Promise<boolean>;
}

/** Writes rows in a format. */
export function writeRows<R extends FileLine>(
  file: FileHandle,
  rows: AsyncIterable<readonly R[]>,
  columns: readonly ParquetColumn<R>[],
  format: Format,
  signal: AbortSignal,
): Promise<Written> {
  return format === 'parquet'
    ? writeParquet(file, rows, columns, signal)
    : writeNdjson(file, rows, format === 'ndjson.gz', signal);
}

/** One record or row a line, as Postgres writes it, compressed if asked. */
async function writeNdjson(
  file: FileHandle,
  chunks: AsyncIterable<readonly FileLine[]>,
  gzip: boolean,
  signal: AbortSignal,
): Promise<Written> {
  const digest = new WrittenDigest();
  const lines = async function* () {
    for await (const records of chunks) {
      signal.throwIfAborted();
      yield digest.take(records);
    }
  };
  const source = Readable.from(lines(), { objectMode: false });
  // No function, and no signal for the pipeline: both would have it tell of its own abort, and not of why.
  const sink = new Writable({
    write(part: Buffer, _, done) {
      digest.takeBytes(part);
      file.writeFile(part).then(() => done(), done);
    },
  });
  // Level 6 is twice as slow as 4 here and saves 3 %.
  if (gzip) await pipeline(source, createGzip({ level: 4 }), sink);
  else await pipeline(source, sink);
  return digest.end();
}

/** The records of streams, as they were sent; of days that moved, from where they are. */
export const recordContents = (
  database: Database,
  streams: readonly string[],
  moved: MovedRecords,
  ended: readonly string[] = [],
): Contents => ({
  table: undefined,
  streams,
  format: 'ndjson.gz',
  async listDays(range) {
    const all = [...streams, ...ended];
    const known = await listArchivedDays(database, all, range);
    // Nobody asks for the days of the others any more: of these there is what is shown, and what was.
    const days = known.filter(
      ({ stream, state, walks }) =>
        streams.includes(stream) || state === 'complete' || isAway(state) || walks.length > 0,
    );
    if (!days.some(({ state }) => state === 'tiered')) return days;
    const listed = await listMovedDays(database, all, range);
    // What others have elsewhere stays there: that stops no export of these.
    const read = listed.filter((day) => streams.includes(day.stream) || moved.reaches(day));
    const there = new Map(read.map((day) => [`${day.stream} ${day.day}`, day]));
    return days.map((day) => asMoved(day, there.get(`${day.stream} ${day.day}`)));
  },
  write: (file, day, format, signal) => {
    const records =
      day.moved === undefined ? shownRecords(database, day) : moved.read(day.moved, signal);
    return writeRows(file, records, columnsOf(day), format, signal);
  },
  isUnchanged: (day) => isUnchanged(database, day),
});

const asMoved = (day: ArchivedDay, moved: MovedDay | undefined): ArchivedDay =>
  day.state === 'tiered' && moved !== undefined ? { ...day, state: 'complete', moved } : day;

/** The columns of daywalk.events. */
function columnsOf({ stream, day }: ArchivedDay): ParquetColumn<ShownRecord>[] {
  const date = Date.parse(`${day}T00:00:00Z`) / DAY_MS;
  return [
    { name: 'stream', kind: 'text', of: () => stream },
    { name: 'day', kind: 'date', of: () => date },
    ...recordColumns('json', 'milliseconds'),
  ];
}
