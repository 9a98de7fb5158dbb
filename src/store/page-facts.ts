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

/** A row of `daywalk.read_page` or `daywalk.store_page` (migrations/0002_storing.sql). */
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
