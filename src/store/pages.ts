/** The statement that commits a page: parse, count, fence, move the checkpoint and store, all or nothing (I1, I2, I3, I5). */
import { LeaseLostError } from '../errors.ts';
import type { Envelope, Page } from '../model.ts';
import type { Database } from './database.ts';
import type { Lease } from './leases.ts';

/** Where the walk stands before the page, as far as the worker knows. */
export interface Checkpoint {
  readonly walkId: number;
  readonly nextStart: number;
  readonly pages: number;
}

/** What Postgres read in the body, and whether the page is stored. */
export interface PageFacts {
  /** Records in the list; null: there is no list where the envelope says. */
  readonly records: number | null;
  /** The JSON type found in the place of the list; null: nothing. */
  readonly listType: string | null;
  readonly total: number | null;
  /** The word that qualifies the total (`gte`: a lower bound). */
  readonly relation: string | null;
  /** A non-empty `error`, `errors` or a false `success` at the top of the body. */
  readonly complaint: string | null;
  /** Equal for pages with equal records in equal order. */
  readonly digest: string;
  /** True: stored, and the checkpoint moved. */
  readonly stored: boolean;
}

/** `jsonb`'s binary form is a version byte and the text (src/backend/utils/adt/jsonb.c, jsonb_recv). */
const JSONB_VERSION = Buffer.from([1]);
const asJsonb = (body: Buffer) => Buffer.concat([JSONB_VERSION, body]);

/** What both statements read in a body: $1 body, $2 records path, $3 total path, $4 relation path. */
const FACTS = `
  page as materialized (
    select $1::jsonb as body
  ), found as materialized (
    select body, body #> $2::text[] as list, body #>> $3::text[] as total, body #>> $4::text[] as relation,
           case when jsonb_typeof(body) <> 'object' then null
                when coalesce(body -> 'error', 'null') not in ('null', 'false', '""', '0', '[]', '{}') then left(body ->> 'error', 200)
                when coalesce(body -> 'errors', 'null') not in ('null', 'false', '""', '0', '[]', '{}') then left(body ->> 'errors', 200)
                when body -> 'success' = 'false' then 'success is false'
                when body -> 'timed_out' = 'true' then 'timed_out is true: a partial result'
           end as complaint
      from page
  ), facts as materialized (
    select body, relation, complaint, jsonb_typeof(list) as list_type,
           case when total ~ '^[0-9]{1,15}$' then total::bigint end as total,
           case when jsonb_typeof(list) = 'array' then jsonb_array_length(list) end as records,
           array(select jsonb_hash_extended(r.record, 0)
                   from jsonb_array_elements(case when jsonb_typeof(list) = 'array' then list else '[]' end)
                        with ordinality as r (record, position)
                  order by r.position) as hashes
      from found
  )`;

interface FactsRow {
  records: number | null;
  list_type: string | null;
  total: number | null;
  relation: string | null;
  complaint: string | null;
  digest: string;
  stored: boolean;
}

const factsOf = (row: FactsRow | undefined): PageFacts => {
  if (row === undefined) throw new Error('a select from one row returned none');
  return {
    records: row.records,
    listType: row.list_type,
    total: row.total,
    relation: row.relation,
    complaint: row.complaint,
    digest: row.digest,
    stored: row.stored,
  };
};

/**
 * Stores a page and moves the checkpoint by the records in it; a body without a list, or with a complaint, stores
 * nothing and is told as such. A lost answer is settled here: the statement is repeated, and where it affects no row
 * the rows say whether an earlier copy of it was executed.
 * @throws {LeaseLostError} where another worker holds the window.
 * @throws {BodyRefusedError} where Postgres cannot hold the body as `jsonb`.
 * @throws {UnavailableError} where the database stayed away; the page may or may not be stored.
 */
export async function storePage(
  database: Database,
  lease: Lease,
  ttlMs: number,
  checkpoint: Checkpoint,
  page: Page,
  envelope: Envelope,
  signal?: AbortSignal,
): Promise<PageFacts> {
  return database.retry(async () => {
    const facts = await commitPage(database, lease, ttlMs, checkpoint, page, envelope);
    if (facts.stored || facts.records === null || facts.complaint !== null) return facts;
    if (await pageIsMine(database, lease, checkpoint, page.sha256))
      return { ...facts, stored: true };
    throw new LeaseLostError(`another worker holds window ${lease.windowId} now`);
  }, signal);
}

/** One attempt of {@link storePage}: one statement, all or nothing. */
async function commitPage(
  database: Database,
  lease: Lease,
  ttlMs: number,
  checkpoint: Checkpoint,
  page: Page,
  envelope: Envelope,
): Promise<PageFacts> {
  const [row] = await database.query<FactsRow>(
    `with ${FACTS}, held as (
       update daywalk.windows w
          set lease_expires = clock_timestamp() + make_interval(secs => $5::double precision / 1000), attempts = 0
         from facts
        where w.window_id = $6 and w.lease_id = $7::uuid and w.current_walk = $8
          and facts.records is not null and facts.complaint is null
       returning w.window_id
     ), moved as (
       update daywalk.walks k
          set next_start = k.next_start + facts.records,
              pages = k.pages + 1,
              bytes = k.bytes + $13,
              requests = k.requests + $15,
              first_total = case when k.pages = 0 then facts.total else k.first_total end,
              last_total = facts.total,
              records_path = $2::text[], total_path = $3::text[], relation_path = $4::text[]
         from held, facts
        where k.walk_id = $8 and k.window_id = held.window_id and k.outcome is null
          and k.next_start = $9 and k.pages = $10
          and (k.records_path is null or k.records_path = $2::text[])
       returning k.walk_id, k.day
     ), stored as (
       insert into daywalk.pages (walk_id, page_no, day, start, length, records, total, relation, body,
                                  record_hashes, sha256, byte_count, fetched_at, duration_ms)
       select moved.walk_id, $10, moved.day, $9, $11, facts.records, facts.total, facts.relation, facts.body,
              facts.hashes, $12, $13, clock_timestamp(), $14
         from moved, facts
       returning page_no
     )
     select records, list_type, total, relation, complaint, hash_array_extended(hashes, 0)::text as digest,
            exists (select from stored) as stored
       from facts`,
    [
      asJsonb(page.body),
      envelope.recordsPath,
      envelope.totalPath,
      envelope.relationPath,
      ttlMs,
      lease.windowId,
      lease.leaseId,
      checkpoint.walkId,
      page.start,
      checkpoint.pages,
      page.length,
      page.sha256,
      page.body.length,
      Math.round(page.durationMs),
      page.requests,
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

/** What a closing probe shows: its facts, and whether its first record is the last one stored. */
export interface ProbeFacts extends PageFacts {
  readonly beginsWithLast: boolean;
}

/** Reads a probe's answer and compares its first record with the last one of the walk, as `jsonb`; stores nothing. */
export async function compareProbe(
  database: Database,
  walkId: number,
  page: Page,
  envelope: Envelope,
): Promise<ProbeFacts> {
  const [row] = await database.persist<FactsRow & { begins_with_last: boolean }>(
    `with ${FACTS}, last as materialized (
       select p.body #> k.records_path -> -1 as record
         from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
        where k.walk_id = $5 and p.records > 0
        order by p.page_no desc limit 1
     )
     select records, list_type, total, relation, complaint, hash_array_extended(hashes, 0)::text as digest,
            false as stored,
            coalesce((select record from last) = (facts.body #> $2::text[] -> 0), false) as begins_with_last
       from facts`,
    [asJsonb(page.body), envelope.recordsPath, envelope.totalPath, envelope.relationPath, walkId],
  );
  return { ...factsOf(row), beginsWithLast: row?.begins_with_last ?? false };
}

/** What the stored pages of a walk showed, in order: a resumed walk begins from it. */
export async function listPagesSeen(
  database: Database,
  walkId: number,
): Promise<{ records: number; total: number | null; relation: string | null; digest: string }[]> {
  return database.persist(
    `select p.records, p.total, p.relation, hash_array_extended(p.record_hashes, 0)::text as digest
       from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
      where k.walk_id = $1 order by p.page_no`,
    [walkId],
  );
}
