/** Probes: answers that are looked at and compared with what is stored, and not stored themselves. */
import type { Contract, Page } from '../model.ts';
import type { Database } from './database.ts';
import { type FactsRow, factsOf, type PageFacts, readAsJsonb } from './page-facts.ts';

/** What a probe shows, beside what a walk has stored. */
export interface ProbeFacts extends PageFacts {
  /** Its first record is the last one stored. */
  readonly beginsWithLast: boolean;
  /** Of its records, in order, to be compared as multisets. */
  readonly hashes: readonly string[];
  /** By what identifies them, none of its records stands in the walk; looked at where that is asked for. */
  readonly strangers: boolean;
}

/** What a probe is compared with. */
export interface ComparedWith {
  readonly streamId: number;
  /** 0: no walk. */
  readonly walkId: number;
  /** Also by what identifies the records. */
  readonly identities?: boolean;
  /** What is ignored in the records; absent: what the walk ignores. */
  readonly ignored?: readonly string[];
}

/** Reads a probe's answer and compares it with the walk, without what is ignored in its records; stores nothing. */
export async function compareProbe(
  database: Database,
  compared: ComparedWith,
  page: Page,
  contract: Contract,
): Promise<ProbeFacts> {
  return readAsJsonb(page.body, ({ body }) => readProbe(database, compared, page, body, contract));
}

/**
 * What tells of a failure at the root of a body whose list is not known yet, or on the way to it; null: nothing does.
 * @throws {EnvelopeError} where the body is not JSON.
 */
export async function readFault(
  database: Database,
  page: Page,
  recordsPath: readonly string[],
): Promise<string | null> {
  const [row] = await readAsJsonb(page.body, ({ body }) =>
    database.persist<{ fault: string | null }>(
      'select fault from daywalk.frame_says($3::text::jsonb, $1, $2)',
      [recordsPath, page.status ?? 200, body],
    ),
  );
  return row?.fault ?? null;
}

async function readProbe(
  database: Database,
  { streamId, walkId, identities = false, ignored }: ComparedWith,
  page: Page,
  body: Buffer,
  { recordsPath, totalPath, relationPath }: Contract,
): Promise<ProbeFacts> {
  const [row] = await database.persist<
    FactsRow & { begins_with_last: boolean; hashes: string[]; strangers: boolean }
  >(
    `with walk as materialized (
       select k.walk_id, k.day, k.ignored, k.records_path, k.id_path, s.id_path as id_path_now
         from daywalk.walks k join daywalk.streams s on s.stream_id = $8 where k.walk_id = $4
     ), known as (
       select i.id_hash from walk join daywalk.pages p on p.walk_id = walk.walk_id and p.day = walk.day
        cross join lateral unnest(daywalk.ids_in(p.id_hashes, walk.id_path, p.body, walk.records_path, p.skip, walk.id_path_now)) as i (id_hash)
     ), last as (
       select p.record_hashes[cardinality(p.record_hashes)] as hash
         from walk join daywalk.pages p on p.walk_id = walk.walk_id and p.day = walk.day
        where p.records > 0
        order by p.page_no desc limit 1
     )
     select f.came, f.list_type, f.total, f.relation, f.fault, f.more, f.signature, f.wordless, f.frame_known,
            f.came > 0 and f.total is null and daywalk.tells_total($8, $2, $5) as total_missing,
            pg_catalog.hash_array_extended(f.hashes, 0)::text as digest, f.hashes::text[] as hashes,
            true as continues, true as fits, false as stored,
            coalesce((select hash from last) = f.hashes[1], false) as begins_with_last,
            case when $9 and f.came > 0 then exists (select from known) and not exists (
              select from unnest(f.id_hashes) as i (id_hash) where i.id_hash is null or i.id_hash in (select known.id_hash from known))
            else false end as strangers
       from (select) as one left join walk on true
      cross join lateral daywalk.read_page($8, $7::text::jsonb, $6, $1, $2, $3, coalesce($10::text[], walk.ignored, '{}'), case when $9 then walk.id_path_now end) as f`,
    [
      ...[recordsPath, totalPath, relationPath, walkId, page.start, page.status ?? 200],
      ...[body, streamId, identities, ignored ?? null],
    ],
  );
  return {
    ...factsOf(row, 0),
    beginsWithLast: row?.begins_with_last ?? false,
    hashes: row?.hashes ?? [],
    strangers: row?.strangers ?? false,
  };
}
