/** Commits a page: parse, count, fence, move the checkpoint and store, in one statement, all or nothing (I1, I2, I3, I5). */
import { leaseLost, SettingsError, WalkError } from '../errors.ts';
import type { Claim, Contract, Page } from '../model.ts';
import type { Repaired } from './bodies/body-repair.ts';
import {
  type ClaimRow,
  claimOfRow,
  type FactsRow,
  factsOf,
  type PageFacts,
  readAsJsonb,
} from './bodies/page-facts.ts';
import { StatementError } from './connection/sqlstate.ts';
import { watchBody } from './connection/too-much.ts';
import type { Database } from './database.ts';
import type { Lease } from './leases.ts';
import type { WalkedSoFar } from './walks.ts';

/** What pages of a window are stored with. */
export interface PageStoring {
  readonly database: Database;
  readonly window: Lease;
  /** For so long each page renews the lease. */
  readonly leaseTtlMs: number;
  /** Keep the exact bytes of every page, not only of those that `jsonb` cannot hold. */
  readonly keepBytes: boolean;
  readonly signal?: AbortSignal;
}

/** Where the walk stands before the page, as far as the worker knows. */
export interface Checkpoint extends WalkedSoFar {
  /** The page asks for the last record stored again: where it is not the first one that comes, the list has moved. */
  readonly skip: 0 | 1;
  /** The frame of an answer without records that this walk believes; those that are known need not be named. */
  readonly believes?: string | null;
}

/**
 * Stores a page and moves the checkpoint by the new records in it; what is no page, does not continue the page before, or
 * brings nothing new stores nothing and is told as such. A lost answer is settled here: the statement is repeated, and where it affects no row
 * the rows say whether an earlier copy of it was executed. A body that `jsonb` refuses, or that it could not write out
 * again, is stored as a repaired copy beside its exact bytes.
 * @throws {LeaseLostError} where another worker holds the window.
 * @throws {EnvelopeError} where the body is not JSON; {TooLargeError} where `jsonb` cannot be so large, or the server breaks off at it.
 * @throws {WalkError} where somebody detached the partition of its month.
 * @throws {UnavailableError} where the database stayed away; the page may or may not be stored.
 */
export async function storePage(
  storing: PageStoring,
  checkpoint: Checkpoint,
  page: Page,
  contract: Contract,
): Promise<PageFacts> {
  const { database, window, signal } = storing;
  let attempts = 0;
  const isMine = () => pageIsMine(database, window, checkpoint, page.sha256);
  const commit = () =>
    readAsJsonb(page.body, (form) => commitPage(storing, checkpoint, page, form, contract));
  const store = async () => {
    attempts += 1;
    const { facts, tried } = await commit().catch(async (error: unknown) => {
      if (!(error instanceof StatementError) || error.sqlstate !== NO_PARTITION) throw error;
      await makeMonth(database, checkpoint);
      return commit();
    });
    // After a lost answer a connection that is being closed may still be writing the body.
    if (facts.stored && attempts === 1) page.release?.();
    if (facts.stored || !tried) return facts;
    if (await isMine()) return { ...facts, stored: true };
    throw leaseLost(window.windowId);
  };
  const body = watchBody(page.body.length, async () => !(await isMine()));
  return database.retry(store, signal, undefined, body);
}

/** SQLSTATE of a row for which there is no partition. */
const NO_PARTITION = '23514';

/** Makes the partition of a month again, which somebody dropped as it was empty; one that was detached fails the windows of its month only. */
async function makeMonth(database: Database, { walkId }: Checkpoint): Promise<void> {
  await database
    .query('select daywalk.ensure_partition(day) from daywalk.walks where walk_id = $1', [walkId])
    .catch((error: unknown) => {
      if (!(error instanceof SettingsError)) throw error;
      throw new WalkError('contradicted', error.message, { hint: error.hint });
    });
}

/** One attempt of {@link storePage}: one statement, all or nothing. */
async function commitPage(
  { database, window, leaseTtlMs, keepBytes }: PageStoring,
  checkpoint: Checkpoint,
  page: Page,
  { body, changes, changeCount }: Repaired,
  contract: Contract,
): Promise<{ facts: PageFacts; tried: boolean }> {
  const more = changeCount - changes.length;
  const rest =
    more > 0 ? [{ what: 'more', path: '', offset: 0, found: `${more} more changes` }] : [];
  const [row] = await database.query<FactsRow & { tried: boolean }>(
    `call daywalk.store_page($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
                             $20::text::jsonb,
                             null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)`,
    [
      window.windowId,
      window.leaseId,
      leaseTtlMs,
      checkpoint.walkId,
      checkpoint.nextStart,
      checkpoint.pages,
      checkpoint.skip,
      contract.recordsPath,
      contract.totalPath,
      contract.relationPath,
      checkpoint.believes ?? null,
      page.status ?? 200,
      page.length,
      Math.round(page.durationMs),
      page.requests,
      page.body.length,
      page.sha256,
      keepBytes || changeCount > 0 ? page.body : null,
      changeCount > 0 ? JSON.stringify([...changes, ...rest]) : null,
      body,
    ],
  );
  if (row === undefined) throw new Error('daywalk.store_page returned no row');
  const { tried, ...facts } = row;
  return { facts: factsOf(facts, checkpoint.skip), tried };
}

/** Whether this lease's walk holds a page with these bytes under this number: settles a commit whose answer was lost. */
async function pageIsMine(
  database: Database,
  lease: Lease,
  checkpoint: Checkpoint,
  sha256: Buffer,
): Promise<boolean> {
  const rows = await database.query(
    `select
       from daywalk.windows w
       join daywalk.pages p on p.walk_id = w.current_walk
      where w.window_id = $1 and w.lease_id = $2::uuid
        and p.walk_id = $3 and p.page_no = $4 and p.sha256 = $5`,
    [lease.windowId, lease.leaseId, checkpoint.walkId, checkpoint.pages, sha256],
  );
  return rows.length === 1;
}

/** What a stored page showed: what it holds, and what it claims of its window. */
export interface StoredPage {
  /** New records: without one that was asked for again. */
  readonly records: number;
  readonly skip: number;
  readonly digest: string;
  readonly claim: Claim;
}

/** What the stored pages of a walk showed, in order: a resumed walk begins from it. */
export async function listPagesObserved(database: Database, walkId: number): Promise<StoredPage[]> {
  const rows = await database.persist<Omit<StoredPage, 'claim'> & ClaimRow>(
    `select p.records, p.skip, pg_catalog.hash_array_extended(p.record_hashes, 0)::text as digest, p.start, p.length,
            p.records + p.skip as came, p.total, p.relation, p.total_missing as "totalMissing", p.more
       from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.walk_id = $1 order by p.page_no`,
    [walkId],
  );
  return rows.map(({ records, skip, digest, ...claim }) => ({
    records,
    skip,
    digest,
    claim: claimOfRow(claim),
  }));
}
