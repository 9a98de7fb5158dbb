/** Sealing: complete days get their digests and their row in the ledger, beside the walking and not in its way. */
import type { Logger } from '../log.ts';
import type { Database } from '../store/database.ts';
import type { Follower } from '../walk/followers.ts';
import {
  appendToLedger,
  listDueDays,
  listUnsealedPages,
  type StreamDay,
  sealPages,
  type UnsealedPage,
} from './rows.ts';

/** What sealing needs; the wiring fills it. */
export interface SealParts {
  readonly database: Database;
  readonly log: Logger;
}

/** One statement seals about this much, a fraction of a second's work. */
const CHUNK_BYTES = 32_000_000;
/** Pages of one walk that one statement reads. */
interface Chunk {
  readonly walkId: number;
  readonly firstPage: number;
  lastPage: number;
}

/** Cuts pages, in order of walk and number, into chunks of one walk each. */
export function chunksOf(pages: readonly UnsealedPage[], most = CHUNK_BYTES): Chunk[] {
  const chunks: Chunk[] = [];
  let size = 0;
  for (const { walkId, pageNo, bytes } of pages) {
    const last = chunks.at(-1);
    size += bytes;
    if (last?.walkId === walkId && size <= most) last.lastPage = pageNo;
    else {
      chunks.push({ walkId, firstPage: pageNo, lastPage: pageNo });
      size = bytes;
    }
  }
  return chunks;
}

/**
 * Appends every complete day of the streams that the ledger does not show as it is. A day keeps a page without a seal
 * until its row is written, so that a day whose pages all have seals has a row too, unless somebody took it away.
 */
async function appendDays(
  { database, log }: SealParts,
  streamIds: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const days = await listDueDays(database, streamIds, signal);
  for (const due of days) {
    await sealAllButOne(database, due, signal);
    signal.throwIfAborted();
    await appendToLedger(database, due, signal);
  }
  if (days.length > 0) log.debug({ days: days.length }, 'complete days were put into the ledger');
}

/** Seals what is shown of a day but for its last page. */
async function sealAllButOne(
  database: Database,
  day: StreamDay,
  signal: AbortSignal,
): Promise<void> {
  const pages = await listUnsealedPages(database, day);
  for (const { walkId, firstPage, lastPage } of chunksOf(pages.slice(0, -1))) {
    signal.throwIfAborted();
    await sealPages(database, walkId, firstPage, lastPage, signal);
  }
}

/** The ledger as something that follows what is published. */
export const sealing = (parts: SealParts): Follower => ({
  what: 'the ledger',
  catchUp: (streamIds, signal) => appendDays(parts, streamIds, signal),
});
