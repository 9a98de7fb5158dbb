/** The statement that commits a page: parse, count, fence, move the checkpoint and store, all or nothing (I1, I2, I3, I5). */
import { LeaseLostError } from '../errors.ts';
import type { Envelope, Page } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease } from './leases.ts';
import { mayExpand } from './number-bombs.ts';
import { asJsonb, type FactsRow, factsOf, type PageFacts, readFacts } from './page-facts.ts';
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
    `with ${readFacts('$18')}, fresh as materialized (
       select facts.*, facts.hashes[$16::integer + 1 :] as new_hashes, facts.records - $16::integer as new_records,
              $16::integer = 0 or facts.hashes[1] is not distinct from
                (select p.record_hashes[cardinality(p.record_hashes)]
                   from daywalk.pages p
                  where p.walk_id = $7 and p.day = (select day from daywalk.walks where walk_id = $7) and p.records > 0 and p.page_no < $9
                  order by p.page_no desc limit 1) as continues,
              not exists (select from daywalk.walks k where k.walk_id = $7 and k.records_path <> $1::text[]) as fits
         from facts
     ), held as (
       update daywalk.windows w
          set lease_expires = clock_timestamp() + make_interval(secs => $4::double precision / 1000), attempts = 0
         from fresh
        where w.window_id = $5 and w.lease_id = $6::uuid and w.current_walk = $7
          and fresh.records is not null and fresh.complaint is null and fresh.continues and fresh.fits
          and exists (select from daywalk.walks k where k.walk_id = $7 and k.next_start = $8 and k.pages = $9)
       returning w.window_id
     ), moved as (
       update daywalk.walks k
          set next_start = k.next_start + fresh.new_records,
              pages = k.pages + 1,
              bytes = k.bytes + $12,
              requests = k.requests + $14,
              first_total = case when k.pages = 0 then fresh.total else k.first_total end,
              last_total = fresh.total,
              records_path = $1::text[], total_path = $2::text[], relation_path = $3::text[]
         from held, fresh
        where k.walk_id = $7 and k.window_id = held.window_id and k.outcome is null
          and k.next_start = $8 and k.pages = $9
          and (k.records_path is null or k.records_path = $1::text[])
       returning k.walk_id, k.day
     ), stored as (
       insert into daywalk.pages (walk_id, page_no, day, start, length, skip, records, total, relation, body,
                                  bytes, changes, record_hashes, sha256, byte_count, fetched_at, duration_ms)
       select moved.walk_id, $9, moved.day, $8 - $16, $10, $16, fresh.new_records, fresh.total, fresh.relation, $18::jsonb,
              $17::bytea, $15::jsonb, fresh.new_hashes, $11, $12, clock_timestamp(), $13
         from moved, fresh
       returning page_no
     )
     select new_records as records, continues, fits, list_type, total, relation, complaint, hash_array_extended(hashes, 0)::text as digest,
            exists (select from stored) as stored
       from fresh`,
    [
      envelope.recordsPath,
      envelope.totalPath,
      envelope.relationPath,
      ttlMs,
      lease.windowId,
      lease.leaseId,
      checkpoint.walkId,
      checkpoint.nextStart,
      checkpoint.pages,
      page.length,
      page.sha256,
      page.body.length,
      Math.round(page.durationMs),
      page.requests,
      form.changes === null ? null : JSON.stringify(form.changes),
      checkpoint.skip,
      form.bytes,
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
