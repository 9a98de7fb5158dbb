/** Probes: answers that are looked at and compared with what is stored, and not stored themselves. */
import type { Envelope, Page } from '../model.ts';
import type { Database } from './database.ts';
import { asJsonb, type FactsRow, factsOf, type PageFacts } from './page-facts.ts';
import { sanitise } from './sanitise.ts';
import { BodyRefusedError } from './sqlstate.ts';

/** What a closing probe shows: its facts, and whether its first record is the last one stored. */
export interface ProbeFacts extends PageFacts {
  readonly beginsWithLast: boolean;
  /** Its first record is one of those stored. */
  readonly beginsWithKnown: boolean;
}

/** Reads a probe's answer and compares its first record with the last one of the walk, as `jsonb`; stores nothing. */
export async function compareProbe(
  database: Database,
  walkId: number,
  page: Page,
  envelope: Envelope,
): Promise<ProbeFacts> {
  return readProbe(database, walkId, page.body, envelope).catch((error: unknown) => {
    if (!(error instanceof BodyRefusedError)) throw error;
    return readProbe(database, walkId, sanitise(page.body).body, envelope);
  });
}

async function readProbe(
  database: Database,
  walkId: number,
  body: Buffer,
  envelope: Envelope,
): Promise<ProbeFacts> {
  const [row] = await database.persist<
    FactsRow & { begins_with_last: boolean; begins_with_known: boolean }
  >(
    `with last as materialized (
       select p.body #> k.records_path -> -1 as record
         from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
        where k.walk_id = $4 and p.records > 0
        order by p.page_no desc limit 1
     )
     select records, list_type, total, relation, complaint, hash_array_extended(hashes, 0)::text as digest,
            true as continues, true as fits, false as stored,
            coalesce((select record from last) = ($5::jsonb #> $1::text[] -> 0), false) as begins_with_last,
            exists (select from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
                     where k.walk_id = $4 and facts.hashes[1] = any (p.record_hashes)) as begins_with_known
       from daywalk.read_page($5::jsonb, $1, $2, $3) as facts`,
    [envelope.recordsPath, envelope.totalPath, envelope.relationPath, walkId, asJsonb(body)],
  );
  return {
    ...factsOf(row),
    beginsWithLast: row?.begins_with_last ?? false,
    beginsWithKnown: row?.begins_with_known ?? false,
  };
}
