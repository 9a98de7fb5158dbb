/** Sealing: complete days get their digests and their row in the ledger, beside the walking and not in its way. */
import type { Logger } from '../log.ts';
import type { Database } from '../store/database.ts';
import {
  appendToLedger,
  listDueDays,
  listUnsealedBehind,
  listUnsealedPages,
  type StreamDay,
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
/** So much of a day is stored before it is worth to seal what lies behind its walks. */
const BEHIND_BYTES = 4_000_000;

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

/** Seals what is published of a day but for its last page. */
async function sealAllButOne(
  database: Database,
  day: StreamDay,
  signal: AbortSignal,
): Promise<void> {
  const pages = await listUnsealedPages(database, day);
  await sealChunks(database, chunksOf(pages.slice(0, -1)), signal);
}

async function sealChunks(
  database: Database,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): Promise<void> {
  for (const { walkId, firstPage, lastPage } of chunks) {
    signal.throwIfAborted();
    await sealPages(database, walkId, firstPage, lastPage, signal);
  }
}

/**
 * Seals while windows are walked: one day after the other on one connection, also behind walks that are in progress, so
 * that little is left when the last of them ends. What is left undone, the next run does.
 */
export class Sealer {
  readonly #parts: SealParts;
  readonly #streamIds: readonly number[];
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  /** Days in which something was published and not sealed yet, by stream and day. */
  readonly #woken = new Map<string, StreamDay>();
  /** What was stored of the days that are being walked, since something of them was to be sealed; bytes. */
  readonly #grown = new Map<string, number>();
  /** Days of which enough was stored to seal what lies behind their walks. */
  readonly #behind = new Map<string, StreamDay>();
  readonly #behindBytes: number;
  #work: Promise<void> | null = null;

  /** @param behindBytes what of a day is stored before what lies behind its walks is sealed. */
  constructor(
    parts: SealParts,
    streamIds: readonly number[],
    signal: AbortSignal,
    behindBytes = BEHIND_BYTES,
  ) {
    this.#parts = parts;
    this.#behindBytes = behindBytes;
    this.#streamIds = streamIds;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
  }

  /** Says that a page of this day was stored; returns at once. */
  stored(day: StreamDay, bytes: number): void {
    const key = keyOf(day);
    const grown = (this.#grown.get(key) ?? 0) + bytes;
    this.#grown.set(key, grown);
    if (grown < this.#behindBytes) return;
    this.#grown.delete(key);
    this.#behind.set(key, day);
    this.#work ??= this.#run();
  }

  /** Says that a window of this day has become complete; returns at once. */
  wake(day: StreamDay): void {
    this.#grown.delete(keyOf(day));
    this.#woken.set(keyOf(day), day);
    this.#work ??= this.#run();
  }

  /** Looks at all days once more, and waits until nothing is left. Never throws: the export is done without it. */
  async finish(): Promise<void> {
    while (this.#work !== null) await this.#work;
    this.#work = this.#run();
    await this.#work;
  }

  /** Leaves off after the statement that is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    while (this.#work !== null) await this.#work;
  }

  async #run(): Promise<void> {
    try {
      // A day is sealed while it is walked, and not only when the last of its windows is complete.
      do {
        for (const [key, day] of this.#behind) {
          this.#behind.delete(key);
          const pages = await listUnsealedBehind(this.#parts.database, day);
          await sealChunks(this.#parts.database, chunksOf(pages), this.#signal);
        }
        for (const [key, day] of this.#woken) {
          this.#woken.delete(key);
          await sealAllButOne(this.#parts.database, day, this.#signal);
        }
        await appendDays(this.#parts, this.#streamIds, this.#signal);
      } while (this.#woken.size > 0 || this.#behind.size > 0);
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#parts.log.warn(
        { err: error },
        'complete days could not be put into the ledger; the next run tries again',
      );
    } finally {
      // With the last look at what is to be sealed: who wakes it from now on begins anew.
      this.#work = null;
    }
  }
}

const keyOf = ({ streamId, day }: StreamDay): string => `${streamId} ${day}`;
