/** `verify --offline`: what is stored against its own digests, without the source. Nothing is changed. */

import type { Clock } from '../clock.ts';
import type { DayRange } from '../model.ts';
import { StatementError } from '../store/connection/sqlstate.ts';
import type { Database } from '../store/database.ts';
import {
  type CheckedPage,
  checkPages,
  checkWalk,
  countPrunedWalks,
  listGoneWalks,
  listSharedDays,
  listStoredWalks,
  listWronglyShared,
  type StoredWalk,
} from '../store/stored.ts';
import { counted } from '../text.ts';
import { mapConcurrent } from './map-concurrent.ts';
import { checkLedger, readLedgerHeads } from './rows.ts';

/** Something stored that is not what was stored. */
export interface StoredFinding extends Pick<StoredWalk, 'stream' | 'day' | 'walkId' | 'shown'> {
  /** Null: the walk as a whole. */
  readonly pageNo: number | null;
  readonly problem: string;
}

/** One statement reads about this much. */
const CHUNK_BYTES = 32_000_000;

/** Checks pages, walks and the whole ledger of these streams. */
export async function verifyStored(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  streams: readonly string[],
  range: DayRange | null,
  concurrency: number,
  signal: AbortSignal,
) {
  const since = clock.monotonic();
  const walks = await listStoredWalks(database, streams, range);
  const findings: StoredFinding[] = [];
  const sums = {
    pages: 0,
    bytes: 0,
    /** Shown pages of days that are not complete yet: no seal, so that only the fast hash of each record was compared. */
    unsealedPages: 0,
  };
  const chunks = walks.flatMap(chunksOf);
  const checked = await mapConcurrent(chunks, concurrency, signal, async (chunk) => {
    const pages = await readChunk(database, chunk);
    const whole = chunk.first === 0 ? await checkWalk(database, chunk.walk.walkId) : [];
    return { walk: chunk.walk, pages, whole };
  });
  for (const { walk, pages, whole } of checked) {
    const { stream, day, walkId, shown } = walk;
    const found = { stream, day, walkId, shown };
    for (const problem of whole) findings.push({ ...found, pageNo: null, problem });
    for (const page of pages) {
      sums.pages += 1;
      sums.bytes += page.bytes;
      if (!page.sealed && shown) sums.unsealedPages += 1;
      for (const problem of page.problems)
        findings.push({ ...found, pageNo: page.pageNo, problem });
    }
  }
  findings.push(...(await checkSharedDays(database, streams, range, concurrency, signal)));
  // What moved or was pruned since it was listed is elsewhere, or gone by a person's wish.
  const found = findings.map(({ walkId }) => walkId);
  const gone = await listGoneWalks(database, found);
  return {
    walks: walks.length,
    ...sums,
    /** Walks whose pages were pruned: what the ledger says of them is checked, and nothing else is there. */
    prunedWalks: await countPrunedWalks(database, streams, range),
    findings: findings.filter(({ walkId }) => !gone.has(walkId)),
    ledger: await checkLedger(database, streams),
    /** The ends of the chains, to be compared with what was kept elsewhere. */
    heads: await readLedgerHeads(database, streams),
    elapsedMs: clock.monotonic() - since,
  };
}

/** What the check found. */
export type StoredReport = Awaited<ReturnType<typeof verifyStored>>;

/** What the views of a resource leave out because another stream shows it, too. */
async function checkSharedDays(
  database: Database,
  streams: readonly string[],
  range: DayRange | null,
  concurrency: number,
  signal: AbortSignal,
): Promise<StoredFinding[]> {
  const days = await listSharedDays(database, streams, range);
  const found = await mapConcurrent(days, concurrency, signal, async (shared) =>
    (await listWronglyShared(database, shared)).map(({ records, ...page }) => ({
      ...page,
      day: shared.day,
      shown: true,
      problem: `${counted(records, 'record')} of it ${records === 1 ? 'stands' : 'stand'} wrongly, or wrongly not, in the views of the resource`,
    })),
  );
  return found.flat();
}

/** Equal runs of pages, as many as the walk's bytes ask for; the last one has no end, so that no extra page is missed. */
function chunksOf(walk: StoredWalk) {
  const count = Math.max(1, Math.min(walk.pages, Math.ceil(walk.bytes / CHUNK_BYTES)));
  const each = Math.ceil(walk.pages / count);
  return Array.from({ length: count }, (_, index) => ({
    walk,
    first: index * each,
    last: index === count - 1 ? LAST_PAGE : (index + 1) * each - 1,
  }));
}

type Chunk = ReturnType<typeof chunksOf>[number];

const LAST_PAGE = 2_147_483_647;

/** A page that Postgres cannot even read makes its whole statement fail: then each is read alone, and that one is named. */
async function readChunk(database: Database, { walk, first, last }: Chunk): Promise<CheckedPage[]> {
  try {
    return await checkPages(database, walk.walkId, first, last);
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    const problems = [`it cannot be read: ${error.message}`];
    if (first === last) return [{ pageNo: first, bytes: 0, sealed: true, problems }];
  }
  const pages: CheckedPage[] = [];
  const end = Math.min(last, Math.max(first, walk.pages - 1));
  for (let page = first; page <= end; page++)
    pages.push(...(await readChunk(database, { walk, first: page, last: page })));
  return pages;
}
