/** The ledger: a chain of digests for each stream, one row for each day whenever what is shown of it has changed (docs/ledger.md). */
import type { Day } from '../model.ts';
import type { Database } from '../store/database.ts';
import { isComplete, shownWalks } from '../store/shown.ts';
import type { PagePlace } from '../store/shown-records.ts';

/** A day of a stream. */
export interface StreamDay {
  readonly streamId: number;
  readonly day: Day;
}

/** The complete days of these streams of which something else is shown since the ledger was compared with them, oldest first. */
export function listDueDays(database: Database, streamIds: readonly number[]) {
  return database.persist<StreamDay>(
    `select d.stream_id as "streamId", d.day
       from daywalk.days d
      where d.unsealed and d.stream_id = any ($1::integer[])
        and ${isComplete('d.stream_id', 'd.day')}
      order by d.day, d.stream_id`,
    [streamIds],
  );
}

/** One statement seals no more pages, and about so many bytes of them: a fraction of a second's work. */
const MOST_PAGES = 1_000;
const MOST_BYTES = 32_000_000;

/**
 * Seals the next pages behind a place that are shown of a day and have no seal, but never the last of them.
 * @returns the place of the last one that was sealed; null: no other one lacks a seal.
 */
export async function sealNext(
  database: Database,
  { streamId, day }: StreamDay,
  { walkId, pageNo }: PagePlace,
): Promise<PagePlace | null> {
  const sealed = await database.persist<PagePlace>(
    `with unsealed as (
       select p.walk_id, p.page_no, p.byte_count
         from daywalk.pages p
        where p.day = $2::date and p.walk_id = any (${shownWalks('$1', '$2::date')})
          and (p.walk_id, p.page_no) > ($3::bigint, $4::integer)
          and not exists (select from daywalk.seals s where s.walk_id = p.walk_id and s.page_no = p.page_no)
        order by p.walk_id, p.page_no limit ${MOST_PAGES}
     ), next as materialized (
       select walk_id, page_no, sum(byte_count) over behind - byte_count as before, lead(walk_id) over behind is null as last
         from unsealed window behind as (order by walk_id, page_no)
     )
     select walk_id as "walkId", max(page_no) as "pageNo", daywalk.seal_pages(walk_id, min(page_no), max(page_no))
       from next where before < ${MOST_BYTES} and not last group by walk_id order by walk_id`,
    [streamId, day, walkId, pageNo],
  );
  return sealed.at(-1) ?? null;
}

/** Appends a day, with what is left of its pages to seal. Repeating it does nothing. */
export async function appendToLedger(database: Database, { streamId, day }: StreamDay) {
  await database.persist('select daywalk.append_to_ledger($1, $2::date)', [streamId, day]);
}

/** The end of a stream's chain: to be kept elsewhere, because who can write the whole database can also rebuild it. */
export interface LedgerHead {
  readonly stream: string;
  readonly entries: number;
  /** Hexadecimal. */
  readonly digest: string;
  readonly appendedAt: Date;
}

/** The newest entry of each of these streams that has any. */
export function readLedgerHeads(database: Database, streams: readonly string[]) {
  return database.persist<LedgerHead>(
    `select s.name as stream, l.entry as entries, encode(l.digest, 'hex') as digest, l.appended_at as "appendedAt"
       from daywalk.streams s
      cross join lateral (select * from daywalk.ledger
                           where stream_id = s.stream_id order by entry desc limit 1) as l
      where s.name = any ($1::text[])
      order by array_position($1::text[], s.name)`,
    [streams],
  );
}

/** A row of the ledger that is not what it should be, in words. */
export interface LedgerProblem {
  readonly stream: string;
  readonly entry: number | null;
  readonly day: Day;
  readonly problem: string;
}

/**
 * Recomputes the whole chains of these streams, and compares the complete days with it. A day without a row has lost it where its pages
 * are sealed, which happens together with the row, or where the next run is not to append it.
 */
export function checkLedger(database: Database, streams: readonly string[]) {
  return database.persist<LedgerProblem>(
    `select f.stream, f.entry, f.day, f.problem
       from (select c.stream, c.entry, c.day, p.place, p.problem
               from daywalk.ledger_check c
              cross join lateral (values
                (1, c.missing_before = 1, 'the entry before it is missing'),
                (1, c.missing_before > 1, c.missing_before || ' entries before it are missing'),
                (2, not c.row_ok, 'the row is not what was appended'),
                (3, not c.chain_ok and c.missing_before = 0, 'it does not follow the row before'),
                (4, not c.pages_ok, 'the seals of its pages are not what they were'),
                (5, not c.walks_ok, 'its walks or their windows are not what they were'),
                (6, not c.state_ok, 'what the views show of the day is something else')) as p (place, holds, problem)
              where c.stream = any ($1::text[]) and not c.ok and p.holds
              union all
             select stream, null, day, 1, 'it is complete, and the ledger has no row for it: the row was removed'
               from daywalk.ledger_due
              where stream = any ($1::text[]) and entry is null and (unsealed_pages = 0 or not expected)) as f
      order by f.entry is null, array_position($1::text[], f.stream), f.entry, f.day, f.place`,
    [streams],
  );
}
