/** The records of a day as a stream of chunks, one chunk read ahead of the one in use. */

import type { Database } from '../store/database.ts';
import { type ArchivedDay, type ArchivedRecord, type PagePlace, readRecordsAfter } from './rows.ts';

/** Bytes of pages, as received, in one chunk: large enough for speed, small enough for memory. */
const CHUNK_BYTES = 4_000_000;
const BEFORE_ALL: PagePlace = { walkId: 0, pageNo: -1 };

/**
 * The shown records of a day in the order of walk, page and position, each as the text of its `jsonb` (I5, I6).
 * Pages are never changed, so a long read needs no open transaction.
 */
export async function* recordsOf(
  database: Database,
  day: Pick<ArchivedDay, 'day' | 'walks'>,
  signal: AbortSignal,
): AsyncGenerator<readonly ArchivedRecord[]> {
  const read = (after: PagePlace) => {
    const reading = readRecordsAfter(database, day, after, CHUNK_BYTES, signal);
    // Whoever stops listening must not leave an unhandled rejection behind.
    reading.catch(() => {});
    return reading;
  };
  let next = read(BEFORE_ALL);
  for (;;) {
    const chunk = await next;
    if (chunk === null) return;
    next = read(chunk.last);
    if (chunk.records.length > 0) yield chunk.records;
  }
}
