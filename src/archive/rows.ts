/** What the served archive reads: streams, days, how many records of each page are asked for, those records, and an envelope. */
import type { CoverageState } from '../days/coverage-rows.ts';
import type { Day, Filters, Resource, WallTime } from '../model.ts';
import type { Query, SqlValues } from '../store/database.ts';
import { shownWalks } from '../store/shown.ts';

/** A stream that can be served. */
export interface ServedStream {
  readonly streamId: number;
  readonly name: string;
  /** It was exported with the very filters that are asked for, and so answers as the source did; else it has none. */
  readonly exact: boolean;
}

/** Of the streams of these names the first that can answer; undefined: none can. */
export async function readStream(
  query: Query,
  names: readonly string[],
  resource: Resource,
  filters: Filters,
): Promise<ServedStream | undefined> {
  const [stream] = await query<ServedStream>(
    `select stream_id as "streamId", name, filters = $3::jsonb as exact from daywalk.streams
      where name = any ($1::text[]) and resource = $2 and filters in ($3::jsonb, '{}')
      order by exact desc, array_position($1::text[], name) limit 1`,
    [names, resource, JSON.stringify(filters)],
  );
  return stream;
}

/** A day as it is shown now. */
export interface ServedDay {
  readonly day: Day;
  /** That of `daywalk.coverage`; missing: nothing is known of it. */
  readonly state: CoverageState;
  /** Records that the views show of it. */
  readonly records: number;
  /** Changes with what is shown of it. */
  readonly version: string;
}

/** Every day from the first to the last, also those of which nothing is known. */
export function readDays(
  query: Query,
  { streamId, name }: ServedStream,
  from: WallTime,
  to: WallTime,
): Promise<ServedDay[]> {
  return query<ServedDay>(
    `select a.day::date as day, coalesce(c.state, 'missing') as state, coalesce(c.records, 0) as records,
            array_to_string(d.walks, ' ') || encode(daywalk.marks_digest(d.walks), 'base64') as version
       from generate_series($3::date::timestamp, $4::date::timestamp, interval '1 day') as a (day)
       left join daywalk.coverage c on c.stream = $2 and c.day = a.day::date and c.day between $3::date and $4::date
      cross join lateral (select ${shownWalks('$1', 'a.day::date')} as walks) as d
      order by a.day`,
    [streamId, name, from, to],
  );
}

/** What a page holds of what is wanted. */
export interface PageCount {
  readonly walkId: number;
  readonly pageNo: number;
  /** Records that the views show of it. */
  readonly seen: number;
  /** Those of them that are asked for. */
  readonly records: number;
  /** Those of which the filter cannot tell whether it holds. */
  readonly undecided: number;
  /** Those without a readable time, where a piece of the day is asked for. */
  readonly timeless: number;
  /** Of a day that moved, where parts stand for pages: the place of its first record in the day. */
  readonly from?: number;
}

/** The pages of a day, in order, by their own counts: no body is read. */
export function readPages(query: Query, { streamId }: ServedStream, day: Day) {
  return query<PageCount>(
    `select p.walk_id as "walkId", p.page_no as "pageNo", n.shown as seen, n.shown as records, 0 as undecided, 0 as timeless
       from daywalk.pages p
       join daywalk.walks k on k.walk_id = p.walk_id
      cross join lateral (
        select case k.shown when 'whole' then p.records - count(*) filter (where not mark.seen)
                            else count(*) filter (where mark.seen) end as shown
          from daywalk.marks mark where mark.walk_id = p.walk_id and mark.page_no = p.page_no) as n
      where p.day = $2::date and p.walk_id = any (${shownWalks('$1', '$2::date')}) and n.shown > 0
      order by p.walk_id, p.page_no`,
    [streamId, day],
  );
}

/** Which records of a day are asked for. */
export interface Wanted {
  readonly stream: ServedStream;
  readonly day: Day;
  /** A jsonpath predicate and its variables (JSON); null: all records. */
  readonly filter: { readonly path: string; readonly variables: string } | null;
  /** Seconds of the source's wall clock, where only a piece of the day is asked for. */
  readonly between: { readonly from: string; readonly to: string } | null;
  /** Where a record may hold its time; the first that is there counts. */
  readonly timePaths: readonly (readonly string[])[];
  readonly timeZone: string;
}

/** A time to the second, or to a part of it, as it stands or with its offset from UTC. */
const OFFSET = String.raw`[+-](0\d|1[0-4]):?[0-5]\d`;
const TIME = String.raw`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)? ?(Z|${OFFSET})?$`;

/**
 * The records of some pages; whether the filter holds (null: it cannot tell), and their second as the source's wall clock
 * shows it: an instant with an offset is moved into the zone, a time without one is wall time, one that no calendar has is
 * none. What the source gave as this day's stays in it: a time outside counts as its nearest second. With "offset 0"
 * Postgres works out what is in the brackets once, and not for each place where it is used.
 */
const looked = (source: string): string => `
  (select e.*, t.second, case when $2::text is null then true else jsonb_path_match(e.record, $2::text::jsonpath, $3::jsonb, true) end as holds,
          $4::text is null or t.second between $4::timestamp and $5::timestamp as within
     from (${source}) as e
     left join lateral (
       select least(greatest(coalesce((w.wall - w.ahead) at time zone 'UTC' at time zone $6::text, w.wall),
                             $1::date::timestamp), $1::date + time '23:59:59') as second
         from unnest($7::text[]) with ordinality as c (path, rank)
        cross join lateral (select e.record #>> c.path::text[] as text offset 0) as m
        cross join lateral (
          select timestamp '0001-01-01' + make_interval(substr(text, 1, 4)::integer - 1, substr(text, 6, 2)::integer - 1, 0,
                                                        substr(text, 9, 2)::integer - 1, substr(text, 12, 2)::integer,
                                                        substr(text, 15, 2)::integer, substr(text, 18, 2)::integer) as wall,
                 case when right(text, 1) = 'Z' then interval '0'
                      else make_interval(hours => left(substring(text from '[+-]\\d\\d:?\\d\\d$'), 3)::integer,
                                         mins => (substring(text from '([+-])\\d\\d:?\\d\\d$') || right(text, 2))::integer) end as ahead
           where m.text ~ '${TIME}' offset 0) as w
        where $4::text is not null and to_char(w.wall, 'YYYY-MM-DD HH24:MI:SS') = overlay(left(m.text, 19) placing ' ' from 11)
        order by c.rank limit 1) as t on true) as r`;

/** Of pages: fenced, so that no plan expands the other pages of the day. */
const ON_PAGES = looked(`
  select a.walk_id, a.page_no, a.rank, s.position, s.record
    from unnest($9::bigint[], $10::integer[]) with ordinality as a (walk_id, page_no, rank)
   cross join lateral (
     select position, record from daywalk.shown_records
      where stream = $8 and day = $1::date and walk_id = a.walk_id and page_no = a.page_no offset 0) as s`);
const GIVEN = looked(
  'select record, place from jsonb_array_elements($8::jsonb) with ordinality as s (record, place)',
);

function valuesOf({ day, filter, between, timeZone, timePaths }: Wanted): SqlValues {
  const filtered = [filter?.path ?? null, filter?.variables ?? '{}'];
  const piece = [between?.from ?? null, between?.to ?? null];
  const paths = timePaths.map((path) => `{${path.map((key) => JSON.stringify(key)).join(',')}}`);
  return [day, ...filtered, ...piece, timeZone, paths];
}

const onPages = (wanted: Wanted, pages: readonly PageCount[]): SqlValues => [
  ...valuesOf(wanted),
  wanted.stream.name,
  pages.map(({ walkId }) => walkId),
  pages.map(({ pageNo }) => pageNo),
];

/** What {@link PageCount} tells of each page. */
const COUNTS = `count(*) as seen, count(*) filter (where holds and within) as records,
            count(*) filter (where holds is null and within) as undecided,
            count(*) filter (where $4::text is not null and second is null) as timeless`;

/** Counts what is wanted of some pages, by looking at every record. */
export function countRecords(query: Query, wanted: Wanted, pages: readonly PageCount[]) {
  return query<PageCount>(
    `select walk_id as "walkId", page_no as "pageNo", ${COUNTS}
       from ${ON_PAGES} group by rank, walk_id, page_no order by rank`,
    onPages(wanted, pages),
  );
}

/** Counts what is wanted of some records, texts of `jsonb`; `places` are those that are, from 1 on. */
export async function countGiven(query: Query, wanted: Wanted, texts: readonly string[]) {
  const [row] = await query<Omit<PageCount, 'walkId' | 'pageNo'> & { places: number[] }>(
    `select ${COUNTS}, coalesce(jsonb_agg(place order by place) filter (where holds and within), '[]') as places from ${GIVEN}`,
    [...valuesOf(wanted), `[${texts.join(',')}]`],
  );
  if (row === undefined) throw new Error('a sum returned no row');
  const { places, ...counts } = row;
  return { counts, places };
}

/** What is wanted of some pages, as the text of its `jsonb`, in the order of walk, page and position. */
export async function readRecords(
  query: Query,
  wanted: Wanted,
  pages: readonly PageCount[],
  skip: number,
  most: number,
): Promise<string[]> {
  const rows = await query<{ text: string }>(
    `select record::text as text from ${ON_PAGES} where holds and within
      order by rank, position offset $11::bigint limit $12::bigint`,
    [...onPages(wanted, pages), skip, most],
  );
  return rows.map(({ text }) => text);
}
