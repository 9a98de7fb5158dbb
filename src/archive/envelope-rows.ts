/** What an answer of the served archive is made of beside records: the fields that records have, and the newest page as its envelope. */
import type { Day } from '../model.ts';
import type { Query } from '../store/database.ts';
import { isTiered, NODES_OF_SAMPLE } from '../store/shown.ts';
import type { ServedStream } from './rows.ts';

/** A place in records, keys with dots between them, and the types of what stands there. */
export interface RecordField {
  readonly path: string;
  readonly types: readonly string[];
}

/** So many records of a day are looked at for their fields. */
export const MOST_SAMPLED = 200;

/** Some days of a stream that hold records, spread over all of them. */
export function listSampledDays(query: Query, { name }: ServedStream) {
  return query<{ readonly day: Day; readonly tiered: boolean }>(
    `select day, state = 'tiered' as tiered
       from (select day, state, row_number() over (order by day desc) as n, count(*) over () as days
               from daywalk.coverage where stream = $1 and records > 0) as d
      where (n - 1) % greatest(days / 8, 1) = 0`,
    [name],
  );
}

/** The fields of some records of these days, and of others, texts of `jsonb`; those that most records have come first. */
export function readRecordFields(
  query: Query,
  { name }: ServedStream,
  days: readonly Day[],
  others: readonly string[],
): Promise<RecordField[]> {
  return query<RecordField>(
    `with recursive sample as (
       select 1 as record_no, e.record
         from unnest($2::date[]) as days (day)
        cross join lateral (select record from daywalk.shown_records where stream = $1 and day = days.day limit ${MOST_SAMPLED}) as e
        union all
       select 1, record from jsonb_array_elements($3::jsonb) as o (record)
     ), ${NODES_OF_SAMPLE}
     select array_to_string(array_remove(path, '[]'), '.') as path, array_agg(distinct jsonb_typeof(value)) as types from node
      where jsonb_typeof(value) not in ('array', 'null') and array_to_string(array_remove(path, '[]'), '') <> ''
      group by 1 order by count(*) desc, 1 limit 500`,
    [name, days, `[${others.join(',')}]`],
  );
}

/** The newest walk of a stream whose first page can be read. */
export interface NewestWalk {
  readonly walkId: number;
  readonly day: Day;
  /** Its pages moved with the day. */
  readonly tiered: boolean;
}

/** The walk whose first page is the envelope; undefined: there is none. */
export async function findNewestWalk(query: Query, streamId: number) {
  const [walk] = await query<NewestWalk>(
    `select k.walk_id as "walkId", k.day, p.walk_id is null as tiered
       from daywalk.walks k
       join daywalk.windows w on w.window_id = k.window_id and w.stream_id = $1
       left join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.page_no = 0 and k.pruning is null
      where k.shown <> 'no' and k.pages > 0
        and case when p.walk_id is null then ${isTiered('$1', 'k.day')} else jsonb_typeof(p.body #> k.records_path) = 'array' end
      order by k.records > 0 desc, p.walk_id is null, k.walk_id desc limit 1`,
    [streamId],
  );
  return walk;
}

/** Members by which clients go on to the next page, in the text of `jsonb`; no text within it has a quote without a backslash. */
const SAYS_MORE =
  /("(?:has_?more(?!_?(?:info|detail))(?:_?[a-z]+)?|has_?next(?:_?page)?)": )(?:true|false)\b/gi;

/**
 * The first page of a walk around other records: everything else in it is as it was.
 * @param moved its body, where it moved, as the text of its `jsonb`.
 * @returns makes a body around records, with their total, and whether there are more behind them.
 */
export async function readEnvelope(query: Query, walkId: number, moved: string | null) {
  // Beside the total, what says the same number under a name of that kind is a total as well.
  const [row] = await query<{
    text: string | null;
    records: string;
    total: string;
    digits: boolean;
  }>(
    `with sample as (
       select b.body, k.records_path, k.total_path, k.relation_path, b.body #> k.total_path as total,
              coalesce(k.total_path[1:cardinality(k.total_path) - 1], '{}') as beside,
              'records ' || gen_random_uuid() as records_mark, 'total ' || gen_random_uuid() as total_mark
         from daywalk.walks k
        cross join lateral (
          select coalesce($2::jsonb, (select p.body from daywalk.pages p
                                       where p.walk_id = k.walk_id and p.day = k.day and p.page_no = 0)) as body) as b
        where k.walk_id = $1
     ), marked as (
       select s.*, case when s.total is null then s.body when s.beside = '{}' then others.replaced
                        else jsonb_set(s.body, s.beside, others.replaced, false) end as with_totals
         from sample s
        cross join lateral (
          select jsonb_object_agg(key, case when key = s.total_path[cardinality(s.total_path)]
                                              or (value = s.total and key ~* 'total|filtered|count|found')
                                              or key in ('recordsTotal', 'iTotalRecords')
                                            then to_jsonb(s.total_mark) else value end) as replaced
            from jsonb_each(case when s.total is not null then s.body #> s.beside else '{}' end)) as others
     )
     select records_mark as records, total_mark as total, coalesce(jsonb_typeof(total) = 'string', false) as digits,
            case when records_path <> '{}'
                 then jsonb_set(case when relation_path is null then with_totals
                                     else jsonb_set(with_totals, relation_path, '"eq"', false) end,
                                records_path, to_jsonb(records_mark), false)::text end as text
       from marked`,
    [walkId, moved],
  );
  if (row === undefined) throw new Error(`there is no walk ${walkId}`);
  const { text, digits } = row;
  return (records: readonly string[], total: number, more: boolean) =>
    (text ?? `"${row.records}"`)
      .replace(SAYS_MORE, `$1${more}`)
      .replaceAll(`"${row.total}"`, digits ? `"${total}"` : String(total))
      .replace(`"${row.records}"`, () => `[${records.join(',')}]`);
}
