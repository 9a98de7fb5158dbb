/** Search in the database: the days of a range with the pages that may hold a value, and the records on them that do. */
import type { Day, OpenRange } from '../model.ts';
import type { Query } from '../store/database.ts';

/** A day of a range, and its pages that may hold the value. */
export interface SearchedDay {
  readonly day: Day;
  /** `complete` is proven; the others are those of `daywalk.coverage`, and open, unplanned, damaged (daywalk.pages_to_open). */
  readonly state: string;
  readonly walkIds: readonly string[];
  readonly pageNos: readonly number[];
}

/** The days of a registered stream between two days where given, in order; none where it is not registered. */
export function listSearchedDays(query: Query, value: string, stream: string, range: OpenRange) {
  return query<SearchedDay>(
    `select d.day, d.state, d.walk_ids::text[] as "walkIds", d.page_nos as "pageNos"
       from daywalk.streams s
      cross join lateral daywalk.pages_to_open(daywalk.sought($1), s.stream_id, $3::date, $4::date) as d
      where s.name = $2
      order by d.day`,
    [value, stream, range.from, range.to],
  );
}

/** A page of a day. */
export interface PageToOpen {
  readonly day: Day;
  readonly walkId: string;
  readonly pageNo: number;
}

/** A record that holds the value. */
export interface Hit extends PageToOpen {
  /** Offset within its window, as in the view. */
  readonly position: number;
  /** Where in the record the value stands, as SQL/JSON paths; at most ten. */
  readonly paths: readonly string[];
  /** The record as `jsonb` writes it: it never becomes an object here. */
  readonly record: string;
  readonly fetchedAt: Date;
  readonly firstSeen: Date;
  /** Null: the source shows it still. */
  readonly goneSince: Date | null;
  readonly revision: number;
}

/** The records on these pages that are shown and hold the value, in order, at most so many. */
export function listHits(
  query: Query,
  value: string,
  pages: readonly PageToOpen[],
  most: number | null,
): Promise<Hit[]> {
  return query<Hit>(
    `select o.day, o.walk_id::text as "walkId", o.page_no as "pageNo", h.position, h.paths, h.record::text as record,
            h.fetched_at as "fetchedAt", h.first_seen as "firstSeen", h.gone_since as "goneSince", h.revision
       from unnest($2::date[], $3::bigint[], $4::integer[]) with ordinality as o (day, walk_id, page_no, rank)
      cross join lateral daywalk.hits_on(daywalk.sought($1), o.day, o.walk_id, o.page_no) as h
      order by o.rank, h.position
      limit $5`,
    [
      value,
      pages.map(({ day }) => day),
      pages.map(({ walkId }) => walkId),
      pages.map(({ pageNo }) => pageNo),
      most,
    ],
  );
}

/** What stands in every `jsonb` that holds the number or boolean which a value reads as; null: it reads as none. */
export async function readSpelling(query: Query, value: string): Promise<string | null> {
  const [row] = await query<{ text: string | null }>(
    `select case jsonb_typeof(s -> 'other') when 'number' then trim_scale((s ->> 'other')::numeric)::text else s ->> 'other' end as text
       from daywalk.sought($1) as s`,
    [value],
  );
  return row?.text ?? null;
}

/** Which of some records, texts of `jsonb`, hold the value, by their places from 1 on, and where in them it stands. */
export function matchRecords(query: Query, value: string, texts: readonly string[]) {
  return query<{ readonly place: number; readonly paths: readonly string[] }>(
    `select r.place, daywalk.paths_of(r.record, k.sought) as paths
       from daywalk.sought($1) as k (sought)
      cross join jsonb_array_elements($2::jsonb) with ordinality as r (record, place)
      where jsonb_path_exists(r.record, 'strict $.** ? (@ == $text || @ == $other)', k.sought)
      order by r.place`,
    [value, `[${texts.join(',')}]`],
  );
}
