/** What Postgres reads in a body, while it parses it: the records, the total, and a hash of each record (I5). */
import type { Page } from '../model.ts';

/** What Postgres read in the body, and whether the page is stored. */
export interface PageFacts {
  /** Records in the list, without one that was asked for again; null: there is no list where the envelope says. */
  readonly records: number | null;
  /** The first record is the last one stored, where that was asked for again. */
  readonly continues: boolean;
  /** The list is where it was on the pages before. */
  readonly fits: boolean;
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
export const asJsonb = (body: Buffer, page?: Pick<Page, 'body' | 'framed'>): Buffer =>
  page?.framed !== undefined && page.body === body
    ? page.framed
    : Buffer.concat([JSONB_VERSION, body]);

/**
 * What both statements read in a body: $1 records path, $2 total path, $3 relation path, `body` the parameter of the body.
 * The body is bound once and never part of a row: a row that is kept for later costs a copy of it, and one that does not
 * fit into `work_mem` a file. As the last parameter it goes into the message without a copy, too.
 */
export const readFacts = (body: `$${number}`) => `
  facts as materialized (
    select relation, complaint, jsonb_typeof(list) as list_type,
           case when total ~ '^[0-9]{1,15}$' then total::bigint end as total,
           case when jsonb_typeof(list) = 'array' then jsonb_array_length(list) end as records,
           array(select jsonb_hash_extended(r.record, 0)
                   from jsonb_array_elements(case when jsonb_typeof(list) = 'array' then list else '[]' end)
                        with ordinality as r (record, position)
                  order by r.position) as hashes
      from (select body #> $1::text[] as list, body #>> $2::text[] as total, body #>> $3::text[] as relation,
                   case when jsonb_typeof(body) <> 'object' then null
                        when coalesce(body -> 'error', 'null') not in ('null', 'false', '""', '0', '[]', '{}') then left(body ->> 'error', 200)
                        when coalesce(body -> 'errors', 'null') not in ('null', 'false', '""', '0', '[]', '{}') then left(body ->> 'errors', 200)
                        when body -> 'success' = 'false' then 'success is false'
                        when body -> 'timed_out' = 'true' then 'timed_out is true: a partial result'
                   end as complaint
              from (select ${body}::jsonb as body offset 0) as page
            offset 0) as found
  )`;

export interface FactsRow {
  records: number | null;
  continues: boolean;
  fits: boolean;
  list_type: string | null;
  total: number | null;
  relation: string | null;
  complaint: string | null;
  digest: string;
  stored: boolean;
}

export const factsOf = (row: FactsRow | undefined): PageFacts => {
  if (row === undefined) throw new Error('a select from one row returned none');
  return {
    records: row.records,
    continues: row.continues,
    fits: row.fits,
    listType: row.list_type,
    total: row.total,
    relation: row.relation,
    complaint: row.complaint,
    digest: row.digest,
    stored: row.stored,
  };
};
