/** What the served archive reads: days, how many records of each page are asked for, those records, and an envelope. */
import type { Day, Filters } from '../model.ts';
import type { Query } from './database.ts';
import { IS_SHOWN, isPruned } from './shown.ts';

/** A stream that can be served. */
export interface ServedStream {
  readonly streamId: number;
  readonly name: string;
  readonly resource: string;
  readonly filters: Filters;
}

/** The registered streams of these names, in that order. */
export function readServedStreams(query: Query, names: readonly string[]): Promise<ServedStream[]> {
  return query<ServedStream>(
    `select stream_id as "streamId", name, resource, filters from daywalk.streams
      where name = any ($1::text[]) order by array_position($1::text[], name)`,
    [names],
  );
}

/** A day as it is published now. */
export interface ServedDay {
  readonly day: Day;
  readonly complete: boolean;
  /** It was there, and retention has removed it. */
  readonly pruned: boolean;
  readonly walks: readonly string[];
  /** Pages of these walks. */
  readonly pages: number;
  /** With the walks it names what is shown; it changes when that changes. */
  readonly overlaps: string;
}

/** Every day from the first to the last, also those of which nothing is known. */
export function readServedDays(
  query: Query,
  streamId: number,
  from: Day,
  to: Day,
): Promise<ServedDay[]> {
  return query<ServedDay>(
    `select d.day::date as day, coalesce(w.complete, false) and not g.pruned as complete, g.pruned, shown.walks, shown.pages,
            encode(daywalk.overlaps_digest(shown.walks), 'hex') as overlaps
       from generate_series($2::date::timestamp, $3::date::timestamp, interval '1 day') as d (day)
       left join lateral (
         select bool_and(state = 'complete') as complete
           from daywalk.windows
          where stream_id = $1 and day = d.day::date and state <> 'split') as w on true
      cross join lateral (
         select ${isPruned('$1', 'd.day::date')} as pruned) as g
      cross join lateral (
         select coalesce(array_agg(k.walk_id order by k.walk_id), '{}') as walks,
                coalesce(sum(k.pages), 0)::bigint as pages
           from daywalk.windows x
           join daywalk.walks k on k.window_id = x.window_id and k.published
          where x.stream_id = $1 and x.day = d.day::date) as shown
      order by 1`,
    [streamId, from, to],
  );
}

/** Which records of a day are asked for. */
export interface Wanted {
  readonly day: Day;
  readonly walks: readonly string[];
  /** Pages of these walks. */
  readonly pages: number;
  /** A jsonpath predicate and its variables (JSON); null: all records. */
  readonly filter: { readonly path: string; readonly variables: string } | null;
  /** Seconds of the source's wall clock, where only a piece of the day is asked for. */
  readonly between: { readonly from: string; readonly to: string } | null;
  /** Where a record may hold its time, as Postgres writes arrays of keys; the first that is there counts. */
  readonly timePaths: readonly string[];
  readonly timeZone: string;
}

/** How many records of a page are asked for. */
export interface PageCount {
  readonly walkId: string;
  readonly pageNo: number;
  readonly records: number;
  /** Records without a readable time, where a piece of the day is asked for. */
  readonly timeless: number;
}

/** Counts of all pages of a day, from the pages' own counts: no body is read. */
export function countWholePages(query: Query, { day, walks }: Wanted): Promise<PageCount[]> {
  return query<PageCount>(
    `select p.walk_id::text as "walkId", p.page_no as "pageNo",
            p.records - coalesce(cardinality(o.positions), 0) as records, 0 as timeless
       from daywalk.pages p
       left join daywalk.overlaps o on o.walk_id = p.walk_id and o.page_no = p.page_no
      where p.day = $1::date and p.walk_id = any ($2::bigint[])
      order by p.walk_id, p.page_no`,
    [day, walks],
  );
}

/** A time that Postgres can read, to the second: no 30th of February, no year 0, no offset that no place has. */
const YEAR = '(?!0000)\\d{4}';
const LEAP_YEAR = '(\\d\\d(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)';
const DAY_OF_MONTH =
  '(0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8])';
const ZONE = '(Z|[+-](0\\d|1[0-4]):?[0-5]\\d)';
const TIME = `^(${YEAR}-(${DAY_OF_MONTH})|${LEAP_YEAR}-02-29)[T ]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d([.,]\\d+)? ?${ZONE}?$`;
/** `YYYY-MM-DD HH:MM:SS`: what follows is a part of that second. */
const TO_THE_SECOND = 19;

/**
 * A record's time, as the source's wall clock shows it: an instant with an offset is moved into the zone, a time without
 * one is taken for wall time. What the source gave as this day's stays in it: a time outside counts as the nearest second.
 */
const TIMED = `
  cross join lateral (
    select case when t.zone is not null then (t.second || t.zone)::timestamptz at time zone $8::text
                else t.second::timestamp end as wall
      from (select) as always
      left join lateral (select left(found.text, ${TO_THE_SECOND}) as second, substring(found.text from '${ZONE}$') as zone
                           from unnest($9::text[]) with ordinality as candidate (path, rank)
                          cross join lateral (select r.record #>> candidate.path::text[] as text) as found
                          where $6::text is not null and found.text ~ '${TIME}'
                          order by candidate.rank limit 1) as t on true
  ) as timed
  cross join lateral (
    select case when timed.wall is not null
                then least(greatest(timed.wall, $1::date::timestamp), $1::date + time '23:59:59') end as second
  ) as clamped`;
const MATCHES = `
  ($4::text is null or jsonb_path_match(r.record, $4::text::jsonpath, $5::jsonb, true))
  and ($6::text is null or clamped.second between $6::timestamp and $7::timestamp)`;

function conditions(wanted: Wanted) {
  const { filter, between, timeZone, timePaths } = wanted;
  return [
    filter?.path ?? null,
    filter?.variables ?? '{}',
    between?.from ?? null,
    between?.to ?? null,
    timeZone,
    timePaths,
  ] as const;
}

/** One statement looks at no more than this of a day. */
const SCAN_PAGES = 64;
const SCAN_BYTES = 8_000_000;

/** Counts of the pages behind `after`, by looking at every record; empty: there are none left. */
export function countPagesAfter(
  query: Query,
  wanted: Wanted,
  after: Pick<PageCount, 'walkId' | 'pageNo'>,
): Promise<PageCount[]> {
  return query<PageCount>(
    `with next as (
       select p.walk_id, p.page_no, p.skip, p.body,
              sum(p.byte_count) over (order by p.walk_id, p.page_no) - p.byte_count as before
         from (select * from daywalk.pages
                where day = $1::date and walk_id = any ($2::bigint[]) and (walk_id, page_no) > (($3::text[])[1]::bigint, ($3::text[])[2]::integer)
                order by walk_id, page_no limit ${SCAN_PAGES}) as p
     )
     select n.walk_id::text as "walkId", n.page_no as "pageNo", (coalesce(c.records, 0))::integer as records,
            (coalesce(c.timeless, 0))::integer as timeless
       from next n
       join daywalk.walks k on k.walk_id = n.walk_id
       left join daywalk.overlaps o on o.walk_id = n.walk_id and o.page_no = n.page_no
      cross join lateral (
        select count(*) filter (where ${MATCHES}) as records,
               count(*) filter (where $6::text is not null and timed.wall is null) as timeless
          from jsonb_array_elements(n.body #> k.records_path) with ordinality as r (record, position)
         ${TIMED}
         where ${IS_SHOWN}) as c
      where n.before < ${SCAN_BYTES}
      order by n.walk_id, n.page_no`,
    [wanted.day, wanted.walks, [after.walkId, String(after.pageNo)], ...conditions(wanted)],
  );
}

/** The records of some pages that are asked for, as the text of their `jsonb`, in the order of walk, page and position. */
export async function readWanted(
  query: Query,
  wanted: Wanted,
  pages: readonly Pick<PageCount, 'walkId' | 'pageNo'>[],
): Promise<string[]> {
  const rows = await query<{ rank: number; position: number; text: string }>(
    `select a.rank, r.position, r.record::text as text
       from jsonb_array_elements($3::jsonb) with ordinality as a (page, rank)
       join daywalk.pages n on n.day = $1::date and n.walk_id = any ($2::bigint[])
        and n.walk_id = (a.page ->> 0)::bigint and n.page_no = (a.page ->> 1)::integer
       join daywalk.walks k on k.walk_id = n.walk_id
       left join daywalk.overlaps o on o.walk_id = n.walk_id and o.page_no = n.page_no
      cross join lateral jsonb_array_elements(n.body #> k.records_path) with ordinality as r (record, position)
      ${TIMED}
      where ${IS_SHOWN}
        and ${MATCHES}`,
    [
      wanted.day,
      wanted.walks,
      JSON.stringify(pages.map(({ walkId, pageNo }) => [walkId, pageNo])),
      ...conditions(wanted),
    ],
  );
  rows.sort((a, b) => a.rank - b.rank || a.position - b.position);
  return rows.map((row) => row.text);
}

/** The body of a stored page with marks in the place of its records and totals. */
export interface EnvelopeText {
  /** Null: the body is the list of records itself. */
  readonly text: string | null;
  /** Whether a total is written as a number or as a text of digits. */
  readonly totalIsText: boolean;
}

/** The envelope of the newest published page of a stream, with these marks in it; null: there is none. */
export async function readEnvelopeText(
  query: Query,
  streamId: number,
  marks: { readonly records: string; readonly total: string },
): Promise<EnvelopeText | null> {
  // Beside the total, what says the same number under a name of that kind is a total as well.
  const [row] = await query<EnvelopeText>(
    `with sample as (
       select p.body, k.records_path, k.total_path, k.relation_path, p.body #> k.total_path as total,
              k.total_path[1:cardinality(k.total_path) - 1] as beside
         from daywalk.walks k
         join daywalk.windows w on w.window_id = k.window_id and w.stream_id = $1
         join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.page_no = 0
        where k.published and k.records_path is not null
        order by k.records > 0 desc, k.walk_id desc limit 1
     ), marked as (
       select s.*, case when s.total is null then s.body
                        when s.beside = '{}' then others.replaced
                        else jsonb_set(s.body, s.beside, others.replaced, false) end as with_totals
         from sample s
        cross join lateral (
          select jsonb_object_agg(key, case when key = s.total_path[cardinality(s.total_path)]
                                              or (value = s.total and key ~* 'total|filtered|count|found')
                                              or key in ('recordsTotal', 'iTotalRecords')
                                            then to_jsonb($3::text) else value end) as replaced
            from jsonb_each(case when jsonb_typeof(s.body #> coalesce(s.beside, '{}')) = 'object'
                                 then s.body #> coalesce(s.beside, '{}') else '{}' end)) as others
     )
     select coalesce(jsonb_typeof(total) = 'string', false) as "totalIsText",
            case when records_path <> '{}'
                 then jsonb_set(case when relation_path is null then with_totals
                                     else jsonb_set(with_totals, relation_path, '"eq"', false) end,
                                records_path, to_jsonb($2::text), false)::text end as text
       from marked`,
    [streamId, marks.records, marks.total],
  );
  return row ?? null;
}
