/** The fields of stored records: which paths occur in some of them, and what stands there. */
import type { Database } from '../store/database.ts';
import { NODES_OF_SAMPLE } from '../store/shown.ts';
import type { ShownDay } from '../store/shown-records.ts';

/** A page by walk and number. */
export type PageName = readonly [walkId: string, pageNo: number];

/** The pages of a day that hold records that may be shown, in order. */
export function listPageNames(database: Database, { day, walks }: ShownDay): Promise<PageName[]> {
  return database.value(
    `select coalesce(jsonb_agg(jsonb_build_array(walk_id::text, page_no) order by walk_id, page_no), '[]') from daywalk.pages
      where day = $1::date and walk_id = any ($2::bigint[]) and records > 0`,
    [day, walks],
  );
}

/** A path in some records. */
export interface FieldFound {
  /** Keys from the top of a record; `[]` stands for any item of a list; none: the record itself. */
  readonly path: readonly string[];
  readonly types: readonly string[];
  /** Records that have it. */
  readonly records: number;
  /** A value, as `jsonb` writes it, its beginning only; null: it holds objects and lists only. */
  readonly sample: string | null;
}

/** So many paths of one statement are told; a record with keys like serial numbers has no end of them. */
const MOST_PATHS = 5_000;

/**
 * The paths in the shown records of these pages.
 * @param perPage look at about so many records of each page, evenly spread; null: at all.
 */
export function listFieldsFound(
  database: Database,
  { day, walks }: ShownDay,
  pages: readonly PageName[],
  perPage: number | null,
): Promise<FieldFound[]> {
  return database.persist(
    `with recursive sample as (
       select row_number() over () as record_no, r.record
         from jsonb_array_elements($3::jsonb) as a (page)
         join daywalk.pages n on n.day = $1::date and n.walk_id = any ($2::bigint[])
          and n.walk_id = (a.page ->> 0)::bigint and n.page_no = (a.page ->> 1)::integer
        cross join lateral (select s.record, s.place from daywalk.shown_records s
                             where s.day = $1::date and s.walk_id = n.walk_id and s.page_no = n.page_no offset 0) as r
        where $4::integer is null or (r.place - 1) % greatest(n.records / $4::integer, 1) = 0
     ), ${NODES_OF_SAMPLE}
     select path, array_agg(distinct jsonb_typeof(value)) as types, count(distinct record_no)::integer as records,
            min(left(value::text, 80) collate "C") filter (where jsonb_typeof(value) not in ('object', 'array', 'null')) as sample
       from node group by path order by cardinality(path) = 0 desc, records desc, path limit ${MOST_PATHS}`,
    [day, walks, JSON.stringify(pages), perPage],
  );
}
