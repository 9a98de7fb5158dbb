/** What is stored against its own digests: pages against seals and kept bytes, walks against their pages. */
import type { Day, DayRange } from '../model.ts';
import type { Database } from './database.ts';
import { isTiered } from './shown.ts';

/** A walk whose pages are to be checked. */
export interface StoredWalk {
  readonly stream: string;
  readonly day: Day;
  readonly walkId: number;
  /** Records of it are shown. */
  readonly shown: boolean;
  /** By its own word, or by its seals, whichever is more. */
  readonly pages: number;
  readonly bytes: number;
}

/**
 * The walks that are shown, or have ended otherwise and have seals, by day; those that were pruned have nothing to be
 * checked, and those in progress are still changing.
 */
export function listStoredWalks(
  database: Database,
  streamNames: readonly string[],
  range: DayRange | null,
): Promise<StoredWalk[]> {
  return database.persist(
    `select s.name as stream, k.day, k.walk_id as "walkId", k.shown <> 'no' as shown, k.bytes,
            greatest(k.pages, 1 + coalesce(e.last_page, -1))::integer as pages
       from daywalk.streams s
       join daywalk.windows w on w.stream_id = s.stream_id
       join daywalk.walks k on k.window_id = w.window_id
      cross join lateral (select max(page_no) as last_page from daywalk.seals where walk_id = k.walk_id) as e
      -- The midnight before a day may be a window of the day before by now.
      where s.name = any ($1::text[]) and ($2::date is null or (w.day between $2::date and $3::date or w.midnight = $2::date - 1)
        and k.day between $2::date and $3::date)
        and (k.shown <> 'no' or (e.last_page is not null and k.outcome is not null))
        and (k.pruning is null or not daywalk.was_pruned(k))
      order by k.day, array_position($1::text[], s.name), w.from_time, k.walk_id`,
    [streamNames, range?.from ?? null, range?.to ?? null],
  );
}

/** A page as it is found. */
export interface CheckedPage {
  readonly pageNo: number;
  readonly bytes: number;
  /** False: its day was not complete yet, so that there is only the fast hash of each record to compare with. */
  readonly sealed: boolean;
  /** In words; none: it is what was stored. */
  readonly problems: readonly string[];
}

/** Recomputes pages of a walk, both ends inclusive, inside Postgres. */
export function checkPages(
  database: Database,
  walkId: number,
  firstPage: number,
  lastPage: number,
): Promise<CheckedPage[]> {
  return database.persist(
    `select page_no as "pageNo", byte_count as bytes, sealed, problems from daywalk.check_pages($1, $2, $3)`,
    [walkId, firstPage, lastPage],
  );
}

/** What of a walk does not add up, in words. */
export function checkWalk(database: Database, walkId: number): Promise<string[]> {
  return database.value('select daywalk.check_walk($1) as problems', [walkId]);
}

/** A day of a resource of which several streams show records. */
export interface SharedDay {
  readonly resource: string;
  readonly day: Day;
}

/** The days that one of these streams shows beside other streams of its resource. */
export function listSharedDays(
  database: Database,
  streamNames: readonly string[],
  range: DayRange | null,
): Promise<SharedDay[]> {
  return database.persist(
    `select s.resource, d.day
       from daywalk.streams s join daywalk.days d on d.stream_id = s.stream_id and d.records > 0
      where ($2::date is null or d.day between $2::date and $3::date)
      group by s.resource, d.day
     having count(*) > 1 and bool_or(s.name = any ($1::text[]))
      order by d.day, s.resource`,
    [streamNames, range?.from ?? null, range?.to ?? null],
  );
}

/** Pages with records that the views of a resource wrongly leave out, or show beside those of another stream. */
export function listWronglyShared(database: Database, { resource, day }: SharedDay) {
  return database.persist<{ stream: string; walkId: number; pageNo: number; records: number }>(
    `select stream, walk_id as "walkId", page_no as "pageNo", records from daywalk.check_shared($1, $2)`,
    [resource, day],
  );
}

/** Those of these walks whose pages went: to the tier, or for good. */
export async function listGoneWalks(
  database: Database,
  walkIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const gone = await database.value<number[]>(
    `select coalesce(jsonb_agg(k.walk_id), '[]') from daywalk.walks k
      where k.walk_id = any ($1::bigint[]) and daywalk.was_pruned(k)`,
    [walkIds],
  );
  return new Set(gone);
}

/** How many walks of these streams were pruned and are nowhere: only what the ledger says of them can be checked. */
export function countPrunedWalks(
  database: Database,
  streamNames: readonly string[],
  range: DayRange | null,
): Promise<number> {
  return database.value(
    `select coalesce(sum(cardinality(g.walks)), 0)::bigint as walks
       from daywalk.prunings g join daywalk.streams s on s.stream_id = g.stream_id
      where s.name = any ($1::text[]) and ($2::date is null or g.day between $2::date and $3::date)
        and not (g.what = 'day' and ${isTiered('g.stream_id', 'g.day')})`,
    [streamNames, range?.from ?? null, range?.to ?? null],
  );
}
