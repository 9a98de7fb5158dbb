/** The records of a day as an object of the events table: what a row of it holds, how it is written and read. */
import type { FileHandle } from 'node:fs/promises';
import type { Day } from '../model.ts';
import { writeParquet } from '../parquet/write.ts';
import { recordColumns, type ShownRecord } from '../store/shown-records.ts';
import type { Written } from '../written.ts';
import { readObject } from './object-file.ts';

/** The folder of the table; paths in its log are below it. */
export const EVENTS_FOLDER = 'events/';

/** Where the records of a publication lie. */
export const eventsKey = (stream: string, day: Day, publication: string): string =>
  `${EVENTS_FOLDER}stream=${stream}/day=${day}/${publication}.parquet`;

/** The columns beside the partitions, stream and day, in types that every reader of Delta Lake takes. */
export const EVENT_COLUMNS = recordColumns('text', 'microseconds');

/** Writes records, as they come, into a file of this machine. */
export const writeEvents = (
  file: FileHandle,
  chunks: AsyncIterable<readonly ShownRecord[]>,
  signal: AbortSignal,
): Promise<Written> => writeParquet(file, chunks, EVENT_COLUMNS, signal);

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
export async function* readEvents(
  ...asked: Parameters<typeof readObject>
): AsyncGenerator<ShownRecord[]> {
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
