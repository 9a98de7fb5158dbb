/** What is archived: the days with the walks that are shown of them, and their records as text, some pages at a time. */

import type { CoverageState } from '../days/coverage-rows.ts';
import type { Day } from '../model.ts';
import type { Database } from '../store/database.ts';
import { isComplete, shownWalks } from '../store/shown.ts';

/** A stream and day, and what of it is shown. */
export interface ArchivedDay {
  readonly streamId: number;
  readonly stream: string;
  readonly resource: string;
  readonly day: Day;
  /** behind: a record table does not have it as it is shown. */
  readonly state: CoverageState | 'behind';
  /** The walks that are shown; with `marks` they name exactly what the views show of the day. */
  readonly walks: readonly number[];
  /** Hexadecimal digest over what is to be said of single records. */
  readonly marks: string;
  readonly windows: number;
  readonly records: number;
  /** Those among them that the source does not show any more. */
  readonly gone: number;
  readonly pages: number;
  /** Bytes received. */
  readonly bytes: number;
  /** Kinds of proof. */
  readonly proof: string | null;
  readonly completedAt: Date | null;
  readonly lookedAt: Date | null;
  readonly lastError: string | null;
  /** The newest entry of the ledger about the day; null: it is not in the ledger yet. */
  readonly ledger: { readonly entry: number; readonly digest: string } | null;
  /** Of a day of a record table: the key of the publication that it holds. */
  readonly publication?: string;
}

/** The days of these streams that are due or stored, between two days where given, by stream and day. */
export async function listArchivedDays(
  database: Database,
  streamNames: readonly string[],
  range: { readonly from: Day | null; readonly to: Day | null },
  signal?: AbortSignal,
): Promise<ArchivedDay[]> {
  const rows = await database.persist<
    Omit<ArchivedDay, 'ledger' | 'publication'> & { entry: number | null; digest: string | null }
  >(
    `select s.stream_id as "streamId", c.stream, c.resource, c.day, c.state, c.windows, c.records, c.gone, c.pages, c.bytes, c.proof,
            c.completed_at as "completedAt", c.looked_at as "lookedAt", c.last_error as "lastError",
            shown.walks, encode(daywalk.marks_digest(shown.walks), 'hex') as marks,
            l.entry, encode(l.digest, 'hex') as digest
       from daywalk.coverage c
       join daywalk.streams s on s.name = c.stream
      cross join lateral (
        select ${shownWalks('s.stream_id', 'c.day')} as walks) as shown
       left join lateral (
        select entry, digest from daywalk.ledger
         where stream_id = s.stream_id and day = c.day order by revision desc limit 1) as l on true
      where c.stream = any ($1::text[])
        and ($2::date is null or c.day >= $2::date) and ($3::date is null or c.day <= $3::date)
      order by array_position($1::text[], c.stream), c.day`,
    [streamNames, range.from, range.to],
    signal,
  );
  return rows.map(({ entry, digest, walks, ...row }) => ({
    ...row,
    walks: walks.map(Number),
    ledger: entry === null || digest === null ? null : { entry, digest },
  }));
}

/** Whether the day is still complete and made of the same walks and marks; cheap, whatever is stored. */
export async function isUnchanged(database: Database, day: ArchivedDay): Promise<boolean> {
  const [row] = await database.persist<{ same: boolean }>(
    `select ${isComplete('$1', '$2::date')}
            and ${shownWalks('$1', '$2::date')} = $3::bigint[]
            and encode(daywalk.marks_digest($3::bigint[]), 'hex') = $4 as same`,
    [day.streamId, day.day, day.walks, day.marks],
  );
  return row?.same === true;
}

/** A record as `jsonb` writes it, and where it stands. */
export interface ArchivedRecord {
  readonly walkId: number;
  readonly pageNo: number;
  /** Offset within its window, as in the view. */
  readonly position: number;
  readonly fetchedAt: Date;
  readonly firstSeen: Date;
  /** Null: the source shows it still. */
  readonly goneSince: Date | null;
  readonly revision: number;
  readonly text: string;
}

/** A page; the pages of a day stand in the order of walk and number. */
export interface PagePlace {
  readonly walkId: number;
  readonly pageNo: number;
}

/** One statement looks at no more pages than these. */
const MOST_PAGES = 256;

/**
 * The shown records of the pages behind `after`, of about `bytes` in all, at least one page.
 * @returns the place of the last page that was read; null: there was none.
 */
export async function readRecordsAfter(
  database: Database,
  { day, walks }: Pick<ArchivedDay, 'day' | 'walks'>,
  after: PagePlace,
  bytes: number,
  signal?: AbortSignal,
): Promise<{ readonly last: PagePlace; readonly records: ArchivedRecord[] } | null> {
  // A page without records that are shown has a row too, so that reading goes on behind it.
  const rows = await database.persist<
    PagePlace & (ArchivedRecord | { [Key in keyof ArchivedRecord]: ArchivedRecord[Key] | null })
  >(
    `with next as (
       select p.walk_id, p.page_no, sum(p.byte_count) over (order by p.walk_id, p.page_no) - p.byte_count as before
         from (select walk_id, page_no, byte_count from daywalk.pages
                where day = $1::date and walk_id = any ($2::bigint[]) and (walk_id, page_no) > ($3::bigint, $4::integer)
                order by walk_id, page_no limit ${MOST_PAGES}) as p
     )
     select n.walk_id as "walkId", n.page_no as "pageNo", r.position, r.fetched_at as "fetchedAt", r.first_seen as "firstSeen",
            r.gone_since as "goneSince", r.revision, r.text
       from next n
       left join lateral (
         -- Fenced, so that no plan expands the other pages of the day.
         select s.position, s.fetched_at, s.first_seen, s.gone_since, s.revision, s.record::text as text
           from daywalk.shown_records s
          where s.day = $1::date and s.walk_id = n.walk_id and s.page_no = n.page_no offset 0) as r on true
      where n.before < $5::bigint`,
    [day, walks, after.walkId, after.pageNo, bytes],
    signal,
  );
  // Sorted here and not by Postgres, which would write what it sorts to its disk.
  rows.sort(
    (a, b) => a.walkId - b.walkId || a.pageNo - b.pageNo || (a.position ?? 0) - (b.position ?? 0),
  );
  const last = rows.at(-1);
  if (last === undefined) return null;
  return {
    last: { walkId: last.walkId, pageNo: last.pageNo },
    records: rows.filter((row): row is ArchivedRecord => row.text !== null),
  };
}
