/** Commits a page: parse, count, fence, move the checkpoint and store, in one statement, all or nothing (I1, I2, I3, I5). */
import { LeaseLostError } from '../errors.ts';
import type { Envelope, Page } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease } from './leases.ts';
import { mayExpand } from './number-bombs.ts';
import { asJsonb, type FactsRow, factsOf, type PageFacts } from './page-facts.ts';
import { type Limits, sanitise } from './sanitise.ts';
import { BodyRefusedError } from './sqlstate.ts';

/** Where the walk stands before the page, as far as the worker knows. */
export interface Checkpoint {
  readonly walkId: number;
  readonly nextStart: number;
  readonly pages: number;
  /** The page asks for the last record stored again: where it is not the first one that comes, the list has moved. */
  readonly skip: 0 | 1;
}

/**
 * Stores a page and moves the checkpoint by the new records in it; a body without a list, with a complaint, or that does
 * not continue the page before stores nothing and is told as such. A lost answer is settled here: the statement is repeated, and where it affects no row
 * the rows say whether an earlier copy of it was executed.
 * @throws {LeaseLostError} where another worker holds the window.
 * A body that `jsonb` refuses, or that it could not write out again, is stored as a sanitised copy beside its exact bytes.
 * @throws {EnvelopeError} where the body is not JSON.
 * @throws {UnavailableError} where the database stayed away; the page may or may not be stored.
 */
export async function storePage(
  database: Database,
  lease: Lease,
  ttlMs: number,
  checkpoint: Checkpoint,
  page: Page,
  envelope: Envelope,
  keepBytes: boolean,
  signal?: AbortSignal,
): Promise<PageFacts> {
  let form = formOf(page.body, keepBytes);
  let attempts = 0;
  return database.retry(async () => {
    attempts += 1;
    const facts = await commitPage(database, lease, ttlMs, checkpoint, page, form, envelope).catch(
      (error: unknown) => {
        if (!(error instanceof BodyRefusedError) || form.changes !== null) throw error;
        form = quarantined(page.body);
        return commitPage(database, lease, ttlMs, checkpoint, page, form, envelope);
      },
    );
    // After a lost answer a connection that is being closed may still be writing the body.
    if (facts.stored && attempts === 1) page.release?.();
    if (
      facts.stored ||
      facts.records === null ||
      facts.complaint !== null ||
      !facts.continues ||
      !facts.fits
    )
      return facts;
    if (await pageIsMine(database, lease, checkpoint, page.sha256))
      return { ...facts, stored: true };
    throw new LeaseLostError(`another worker holds window ${lease.windowId} now`);
  }, signal);
}

/** What goes into the row: the body for `jsonb`, and the bytes received where they are kept. */
interface StoredForm {
  readonly body: Buffer;
  readonly bytes: Buffer | null;
  /** What was changed where; the last entry may say how many more there are. */
  readonly changes: readonly object[] | null;
}

/** The body as it came, unless numbers in it would make the table unreadable, which `jsonb` itself does not mind. */
function formOf(body: Buffer, keepBytes: boolean): StoredForm {
  const asItCame = { body, bytes: keepBytes ? body : null, changes: null };
  if (!mayExpand(body)) return asItCame;
  // Depth is looked at where Postgres refuses it: it takes more than what a refused body is cut to.
  const clean = quarantined(body, { depth: Number.POSITIVE_INFINITY });
  return clean.body === body ? asItCame : clean;
}

/** A body that `jsonb` refuses: the exact bytes, beside a copy that it takes (DESIGN 3, Fidelity). */
function quarantined(body: Buffer, limits: Partial<Limits> = {}): StoredForm {
  const { body: clean, changes, changeCount } = sanitise(body, limits);
  const more = changeCount - changes.length;
  const rest =
    more > 0 ? [{ what: 'more', path: '', offset: 0, found: `${more} more changes` }] : [];
  return { body: clean, bytes: body, changes: [...changes, ...rest] };
}

/** One attempt of {@link storePage}: one statement, all or nothing. */
async function commitPage(
  database: Database,
  lease: Lease,
  ttlMs: number,
  checkpoint: Checkpoint,
  page: Page,
  form: StoredForm,
  envelope: Envelope,
): Promise<PageFacts> {
  const [row] = await database.query<FactsRow>(
    `call daywalk.store_page($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                             null, null, null, null, null, null, null, null, null)`,
    [
      lease.windowId,
      lease.leaseId,
      ttlMs,
      checkpoint.walkId,
      checkpoint.nextStart,
      checkpoint.pages,
      checkpoint.skip,
      envelope.recordsPath,
      envelope.totalPath,
      envelope.relationPath,
      page.length,
      Math.round(page.durationMs),
      page.requests,
      page.body.length,
      page.sha256,
      form.bytes,
      form.changes === null ? null : JSON.stringify(form.changes),
      // The last one goes into the message without a copy.
      asJsonb(form.body, page),
    ],
  );
  return factsOf(row);
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

/** What the stored pages of a walk showed, in order: a resumed walk begins from it. */
export async function listPagesSeen(
  database: Database,
  walkId: number,
): Promise<
  { records: number; skip: number; total: number | null; relation: string | null; digest: string }[]
> {
  return database.persist(
    `select p.records, p.skip, p.total, p.relation, hash_array_extended(p.record_hashes, 0)::text as digest
       from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.walk_id = $1 order by p.page_no`,
    [walkId],
  );
}
