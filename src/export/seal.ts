/** Sealing: complete days get their digests and their row in the ledger, beside the walking and not in its way. */
import type { Logger } from '../log.ts';
import type { Database } from '../store/database.ts';
import {
  appendToLedger,
  type DueDay,
  listDueDays,
  listUnsealedPages,
  sealPages,
  type UnsealedPage,
} from '../store/ledger.ts';

/** What sealing needs; the wiring fills it. */
export interface SealParts {
  readonly database: Database;
  readonly log: Logger;
}

/** One statement seals about this much, a fraction of a second's work. */
const CHUNK_BYTES = 32_000_000;

/** Pages of one walk that one statement reads. */
export interface Chunk {
  readonly walkId: number;
  readonly firstPage: number;
  readonly lastPage: number;
}

/** Cuts pages, in order of walk and number, into chunks of one walk each. */
export function chunksOf(pages: readonly UnsealedPage[], most = CHUNK_BYTES): Chunk[] {
  const chunks: (Chunk & { lastPage: number; bytes: number })[] = [];
  for (const { walkId, pageNo, bytes } of pages) {
    const last = chunks.at(-1);
    if (last !== undefined && last.walkId === walkId && last.bytes + bytes <= most) {
      last.lastPage = pageNo;
      last.bytes += bytes;
    } else chunks.push({ walkId, firstPage: pageNo, lastPage: pageNo, bytes });
  }
  return chunks.map(({ walkId, firstPage, lastPage }) => ({ walkId, firstPage, lastPage }));
}

/**
 * Appends every complete day of the streams that the ledger does not show as it is. The last chunk of a day is sealed
 * with its row, so that a day whose pages all have seals has a row too, unless somebody took it away.
 */
async function sealDays(
  { database, log }: SealParts,
  streamIds: readonly number[],
  signal: AbortSignal,
): Promise<number> {
  const days = await listDueDays(database, streamIds, signal);
  for (const due of days) await sealDay(database, due, signal);
  if (days.length > 0) log.debug({ days: days.length }, 'complete days were put into the ledger');
  return days.length;
}

async function sealDay(database: Database, due: DueDay, signal: AbortSignal): Promise<void> {
  const chunks = chunksOf(await listUnsealedPages(database, due));
  for (const { walkId, firstPage, lastPage } of chunks.slice(0, -1)) {
    signal.throwIfAborted();
    await sealPages(database, walkId, firstPage, lastPage, signal);
  }
  signal.throwIfAborted();
  await appendToLedger(database, due, signal);
}

/** Seals while windows are walked: one day after the other on one connection. What is left undone, the next run does. */
export class Sealer {
  readonly #parts: SealParts;
  readonly #streamIds: readonly number[];
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #work: Promise<void> | null = null;
  #again = false;

  constructor(parts: SealParts, streamIds: readonly number[], signal: AbortSignal) {
    this.#parts = parts;
    this.#streamIds = streamIds;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
  }

  /** Says that a window has become complete; returns at once. */
  wake(): void {
    this.#again = true;
    this.#work ??= this.#run();
  }

  /** Looks once more, and waits until nothing is left. Never throws: the export is done without it. */
  async finish(): Promise<void> {
    this.wake();
    while (this.#work !== null) await this.#work;
  }

  /** Leaves off after the statement that is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    while (this.#work !== null) await this.#work;
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await sealDays(this.#parts, this.#streamIds, this.#signal);
      }
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#parts.log.warn(
        { err: error },
        'complete days could not be put into the ledger; the next run tries again',
      );
    } finally {
      // With the last look at #again: who wakes it from now on begins anew.
      this.#work = null;
    }
  }
}
