/** The shown records of a day as text, a chunk of pages at a time; for what writes them elsewhere: files, and the tier. */
import type { Day } from '../model.ts';
import type { ParquetColumn } from '../parquet/write.ts';
import type { Database } from './database.ts';

/** A record as `jsonb` writes it, and where it stands. */
export interface ShownRecord extends PagePlace {
  /** Offset within its window, as in the view. */
  readonly position: number;
  /** Instants are microseconds since 1970, as Postgres has them. */
  readonly fetchedAt: number;
  readonly firstSeen: number;
  /** Null: the source shows it still. */
  readonly goneSince: number | null;
  readonly revision: number;
  readonly text: string;
}

/**
 * The columns of a record in Parquet, behind its stream and day.
 * @param record the type of its text.
 */
export function recordColumns(
  record: 'json' | 'text',
  instant: 'milliseconds' | 'microseconds',
): ParquetColumn<ShownRecord>[] {
  const unit = instant === 'milliseconds' ? 1000 : 1;
  const instantOf = (at: number) => BigInt(Math.floor(at / unit));
  return [
    { name: 'record', kind: record, plain: true, of: ({ text }) => Buffer.from(text) },
    { name: 'walk_id', kind: 'int64', of: ({ walkId }) => BigInt(walkId) },
    { name: 'page_no', kind: 'int32', of: ({ pageNo }) => pageNo },
    { name: 'position', kind: 'int64', of: ({ position }) => BigInt(position) },
    { name: 'fetched_at', kind: instant, of: ({ fetchedAt }) => instantOf(fetchedAt) },
    { name: 'first_seen', kind: instant, of: ({ firstSeen }) => instantOf(firstSeen) },
    {
      name: 'gone_since',
      kind: instant,
      optional: true,
      of: ({ goneSince }) => (goneSince === null ? null : instantOf(goneSince)),
    },
    { name: 'revision', kind: 'int32', of: ({ revision }) => revision },
  ];
}

/** An instant as a whole number; the argument is SQL. */
export const microseconds = (instant: string): string =>
  `(extract(epoch from ${instant}) * 1000000)::bigint`;

/** What is shown of a day: the walks that hold it. */
export interface ShownDay {
  readonly day: Day;
  readonly walks: readonly number[];
  /** Pruned days: what was shown under them then is left out. */
  readonly beside?: readonly Day[];
}

/** A page; the pages of a day stand in the order of walk and number. */
export interface PagePlace {
  readonly walkId: number;
  readonly pageNo: number;
}

/** One statement looks at no more pages than these. */
const MOST_PAGES = 256;

/** The next pages of these walks ($2) on a day ($1) behind a place ($3, $4), each with the bytes of those before it. */
export const PAGES_BEHIND = `select p.walk_id, p.page_no, sum(p.byte_count) over (order by p.walk_id, p.page_no) - p.byte_count as before
    from (select walk_id, page_no, byte_count from daywalk.pages
           where day = $1::date and walk_id = any ($2::bigint[]) and (walk_id, page_no) > ($3::bigint, $4::integer)
           order by walk_id, page_no limit ${MOST_PAGES}) as p`;

/**
 * The shown records of the pages behind `after`, of about `bytes` in all, at least one page.
 * @returns the place of the last page that was read; null: there was none.
 */
export async function readRecordsAfter(
  database: Database,
  { day, walks, beside = [] }: ShownDay,
  after: PagePlace,
  bytes: number,
): Promise<{ readonly last: PagePlace; readonly records: ShownRecord[] } | null> {
  // A page without records that are shown has a row too, so that reading goes on behind it.
  const rows = await database.persist<
    PagePlace & (ShownRecord | { [Key in keyof ShownRecord]: ShownRecord[Key] | null })
  >(
    `with next as (
       ${PAGES_BEHIND}
     )
     select n.walk_id as "walkId", n.page_no as "pageNo", r.position, r.fetched_at as "fetchedAt", r.first_seen as "firstSeen",
            r.gone_since as "goneSince", r.revision, r.text
       from next n
       left join lateral (
         -- Fenced, so that no plan expands the other pages of the day.
         select s.position, s.revision, s.record::text as text,
                ${microseconds('s.fetched_at')} as fetched_at, ${microseconds('s.first_seen')} as first_seen, ${microseconds('s.gone_since')} as gone_since
           from daywalk.shown_records s
          where s.day = $1::date and s.walk_id = n.walk_id and s.page_no = n.page_no
            and coalesce(s.stood_on <> all ($6::date[]), true) offset 0) as r on true
      where n.before < $5::bigint`,
    [day, walks, after.walkId, after.pageNo, bytes, beside],
  );
  // Sorted here and not by Postgres, which would write what it sorts to its disk.
  rows.sort(
    (a, b) => a.walkId - b.walkId || a.pageNo - b.pageNo || (a.position ?? 0) - (b.position ?? 0),
  );
  const last = rows.at(-1);
  if (last === undefined) return null;
  return {
    last: { walkId: last.walkId, pageNo: last.pageNo },
    records: rows.filter((row): row is ShownRecord => row.text !== null),
  };
}

/** Bytes of pages, as received, in one chunk: large enough for speed, small enough for memory. */
const CHUNK_BYTES = 4_000_000;
/** The place before the first page of all. */
export const BEFORE_ALL: PagePlace = { walkId: 0, pageNo: -1 };

/**
 * The shown records of a day in the order of walk, page and position, each as the text of its `jsonb` (I5, I6).
 * Pages are never changed, so a long read needs no open transaction.
 */
export async function* shownRecords(
  database: Database,
  day: ShownDay,
): AsyncGenerator<readonly ShownRecord[]> {
  const read = (after: PagePlace) => {
    const reading = readRecordsAfter(database, day, after, CHUNK_BYTES);
    // Whoever stops listening must not leave an unhandled rejection behind.
    reading.catch(() => {});
    return reading;
  };
  let next = read(BEFORE_ALL);
  for (;;) {
    const chunk = await next;
    if (chunk === null) return;
    next = read(chunk.last);
    if (chunk.records.length > 0) yield chunk.records;
  }
}
