/** The pages of a day that moves, read from the database, and put back. */
import type { Database } from '../store/database.ts';
import { BEFORE_ALL, microseconds, PAGES_BEHIND } from '../store/shown-records.ts';
import { PAGE_COLUMNS, type TieredPage } from './day-objects.ts';
import type { LeavingDay } from './rows.ts';

type PageRow = Omit<TieredPage, 'walk_id' | 'start' | 'total' | 'fetched_at'> & {
  readonly walk_id: number;
  readonly start: number;
  readonly total: string | null;
  readonly fetched_at: number;
};

/** One statement reads about so many bytes of pages. */
const CHUNK_BYTES = 4_000_000;

/**
 * Pages that go with a day, some at a time, in the order of walk and number. One that is not what was sealed is left out, so that its day
 * stays: a day with such a page could never be brought back.
 */
export async function* leavingPages(
  database: Database,
  { day, going }: Pick<LeavingDay, 'day' | 'going'>,
): AsyncGenerator<readonly TieredPage[]> {
  let { walkId, pageNo } = BEFORE_ALL;
  for (;;) {
    const rows = await database.persist<PageRow>(
      `with next as materialized (
         ${PAGES_BEHIND}
       )
       select p.walk_id, p.page_no, p.day, p.start, p.length, p.skip, p.records, p.total::text as total, p.relation, p.total_missing, p.more,
              p.body::text as body, p.bytes, p.changes::text as changes, p.record_hashes::text as record_hashes,
              p.id_hashes::text as id_hashes, p.sha256, p.byte_count, ${microseconds('p.fetched_at')} as fetched_at, p.duration_ms
         from next n
         join daywalk.pages p on p.day = $1::date and p.walk_id = n.walk_id and p.page_no = n.page_no
        where n.before < $5::bigint and daywalk.matches_seal(p) is not false`,
      [day, going, walkId, pageNo, CHUNK_BYTES],
    );
    const pages = rows
      .map((row) => ({
        ...row,
        walk_id: BigInt(row.walk_id),
        start: BigInt(row.start),
        total: row.total === null ? null : BigInt(row.total),
        fetched_at: BigInt(row.fetched_at),
      }))
      .sort((a, b) => Number(a.walk_id - b.walk_id) || a.page_no - b.page_no);
    const last = pages.at(-1);
    if (last === undefined) return;
    yield pages;
    [walkId, pageNo] = [Number(last.walk_id), last.page_no];
  }
}

/** A page as a row of `daywalk.pages`; with {@link valuesOf}. */
const PAGE = `row($1::bigint, $2::integer, $3::date, $4::bigint, $5::integer, $6::integer, $7::integer, $8::bigint, $9::text,
                  $10::boolean, $11::boolean, $12::jsonb, decode($13, 'hex'), $14::jsonb, $15::bigint[], $16::bigint[], decode($17, 'hex'),
                  $18::integer, timestamptz 'epoch' + $19::bigint / 1000000 * interval '1 second' + $19::bigint % 1000000 * interval '1 microsecond',
                  $20::integer)::daywalk.pages`;

const valuesOf = (page: TieredPage) =>
  PAGE_COLUMNS.map((name) => {
    const value = page[name];
    if (typeof value === 'bigint') return String(value);
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
  });

/** A page of an object, by what is known of it here. */
export interface CheckedTieredPage {
  /** It is what was sealed; null: it was not sealed. */
  readonly matches: boolean | null;
  /** Its records that were shown when the day moved, as texts. */
  readonly shown: readonly string[];
}

/** Compares a page with its seal, and tells which of its records were shown. */
export function checkPage(database: Database, page: TieredPage): Promise<CheckedTieredPage> {
  return database.one(
    `select daywalk.matches_seal(p.page) as matches, to_json(daywalk.shown_of(p.page)) as shown from (select ${PAGE} as page offset 0) as p`,
    valuesOf(page),
  );
}

/** Puts a page back; false: it is not what was sealed. Repeating it does nothing. */
export function putBack(database: Database, page: TieredPage): Promise<boolean> {
  return database.value(`select daywalk.put_back(${PAGE})`, valuesOf(page));
}
