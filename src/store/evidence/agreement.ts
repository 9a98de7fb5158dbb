/** Comparing walks record by record, by the hashes that are stored with their pages. */
import type { Day } from '../../model.ts';
import type { Database } from '../database.ts';
import { type HeldList, walksOf } from './evidence.ts';

/**
 * The records of some walks, on their pages. All are read alike, as the newest of these walks: what is not the record may have
 * been learned since the others.
 * @param ids an array of the ids, in SQL.
 * @param idPath where what identifies a record stands in it, in SQL, for an `id_hash` beside the `hash`; absent: without.
 */
const recordsOf = (ids: string, idPath?: string): string => `
  daywalk.pages_of(${ids}) as page
  join daywalk.walks as walk on walk.walk_id = page.walk_id
  cross join (select ignored from daywalk.walks where walk_id = (select max(id) from unnest(${ids}) as id)) as newest
  cross join lateral unnest(
    daywalk.hashes_in(page.record_hashes, walk.ignored, page.body, walk.records_path, page.skip, newest.ignored)
    ${idPath === undefined ? '' : `, daywalk.ids_in(page.id_hashes, walk.id_path, page.body, walk.records_path, page.skip, ${idPath})`}
  ) as record (hash${idPath === undefined ? '' : ', id_hash'})`;

/** Whether a record stands on more than one page of the walk, by its identity or its content: a sign that the order may not hold. */
export function isRepeated(database: Database, walkId: number): Promise<boolean> {
  return database.value(
    `select exists (
       select from daywalk.pages_of(array[$1::bigint]) as page
        cross join lateral unnest(page.record_hashes, page.id_hashes) as record (hash, id_hash)
        group by coalesce(record.id_hash, record.hash) having min(page.page_no) < max(page.page_no))`,
    [walkId],
  );
}

/** Whether each record of the walk has what identifies it, and no other one has that. */
export const isIdentified = (database: Database, walkId: number): Promise<boolean> =>
  database.value(
    `select count(*) = count(distinct record.id_hash)
       from daywalk.pages_of(array[$1::bigint]) as page
      cross join lateral unnest(page.record_hashes, page.id_hashes) as record (hash, id_hash)`,
    [walkId],
  );

/** Whether two lists hold the same records, each as often. */
export async function walksAgree(
  database: Database,
  one: HeldList,
  other: HeldList,
): Promise<boolean> {
  const { more, less } = await compareSums(database, [one], [other]);
  return more === 0 && less === 0;
}

/** Whether a list shows nothing that the whole lacks, each record as often. */
export const holds = async (
  database: Database,
  whole: HeldList,
  list: HeldList,
): Promise<boolean> => (await compareSums(database, [whole], [list])).more === 0;

/**
 * As {@link holds}, of several walks as in {@link countUnion}, where a record is held as well in another version: what identifies it stands
 * in the whole, and of either no more than one.
 * @param idPath where that stands in a record.
 */
export const holdsVersions = (
  database: Database,
  whole: HeldList,
  list: HeldList,
  idPath: readonly string[],
): Promise<boolean> =>
  database.value(
    `with record as materialized (
       select page.walk_id = any ($1) as is_held, record.hash, record.id_hash, count(*) as copies
         from ${recordsOf('($1::bigint[] || $2::bigint[])', '$3::text[]')}
        group by page.walk_id, page.page_no, record.hash, record.id_hash
     ), counted as (
       select is_held, hash, id_hash, case when cardinality(case when is_held then $1 else $2 end) > 1 then max(copies) else sum(copies) end as copies
         from record group by is_held, hash, id_hash
     )
     select not exists (
       select from (select id_hash, hash, coalesce(sum(copies) filter (where is_held), 0) as held, coalesce(sum(copies) filter (where not is_held), 0) as shown
                      from counted group by id_hash, hash) as copies
        group by id_hash
       having bool_or(shown > held)
          and (id_hash is null or count(*) filter (where shown > 0) > 1 or count(*) filter (where held > 0) <> 1))`,
    [walksOf(whole), walksOf(list), idPath],
  );

/**
 * How many records the walks hold together: each as often as the page that holds it most often. A page is one answer,
 * so what stands on it twice is there twice; what stands on two pages may be one record that moved.
 */
export function countUnion(database: Database, walkIds: readonly number[]): Promise<number> {
  return database.value(
    `select coalesce(sum(most), 0)::bigint as records
       from (select max(copies) as most
               from (select record.hash, count(*) as copies
                       from ${recordsOf('$1::bigint[]')}
                      group by record.hash, page.walk_id, page.page_no) as by_page
              group by hash) as by_record`,
    [walkIds],
  );
}

/** How two sums of records differ. */
export interface SumDifference {
  /** Records that the second sum holds and the first does not. */
  readonly more: number;
  /** Records that the first sum holds and the second does not. */
  readonly less: number;
}

/** Lists to be added up; null: one of which nothing is here. */
type Lists = readonly (HeldList | null)[];

const walksIn = (list: HeldList | null) => (list === null ? [] : walksOf(list));

const RECORDS_OF_LISTS = `of_list join (${recordsOf('$1::bigint[]')}) on page.walk_id = of_list.walk_id`;

const OF_SEVERAL_WALKS = `
  union all
  select list, hash, max(copies)
    from (select of_list.list, record.hash, count(*) as copies
            from ${RECORDS_OF_LISTS} where of_list.united
           group by of_list.list, record.hash, page.walk_id, page.page_no) as by_page
   group by list, hash`;

/**
 * The records of some lists, given as arrays of walks and of the list that each belongs to, to be added up. Of several walks a record is
 * there as often as the page that holds it most often has it, as in {@link countUnion}. Most lists are one walk, which may have
 * millions: they are not grouped here.
 */
const copiesIn = (lists: Lists): string => `
  with of_list as (
    select walk_id, list, count(*) over (partition by list) > 1 as united from unnest($1::bigint[], $2::integer[]) as given (walk_id, list)
  ), copy (list, hash, copies) as (
    select of_list.list, record.hash, 1 from ${RECORDS_OF_LISTS} where not of_list.united
    ${lists.some((list) => walksIn(list).length > 1) ? OF_SEVERAL_WALKS : ''}
  )`;

const listsAsArrays = (lists: Lists) => [
  lists.flatMap(walksIn),
  lists.flatMap((list, index) => walksIn(list).map(() => index)),
];

/**
 * Compares the records of some lists with those of others, added and taken away.
 * @param minus lists whose records are taken away from the second sum.
 */
export function compareSums(
  database: Database,
  first: readonly HeldList[],
  second: readonly HeldList[],
  minus: readonly HeldList[] = [],
): Promise<SumDifference> {
  const lists = [...first, ...second, ...minus];
  const factors = [...first.map(() => -1), ...second.map(() => 1), ...minus.map(() => -1)];
  return database.one<SumDifference>(
    `${copiesIn(lists)}, difference as (
       select hash, sum(copies * ($3::integer[])[list + 1]) as copies from copy group by hash
     )
     select coalesce(sum(copies) filter (where copies > 0), 0)::bigint as more,
            coalesce(-sum(copies) filter (where copies < 0), 0)::bigint as less
       from difference`,
    [...listsAsArrays(lists), factors],
  );
}

/**
 * Whether what a cut adds and takes away can be so: neighbours whose walks are not there are not asked.
 * @param shown what lies across the cut, and on both sides of it.
 */
export function isCorrectionPlausible(
  database: Database,
  shown: readonly [HeldList, HeldList, HeldList],
  [before, after]: readonly [HeldList | null, HeldList | null],
): Promise<boolean> {
  const lists = [...shown, before, after];
  return database.value(
    `${copiesIn(lists)}, counted as (
       select coalesce(sum(copies) filter (where list = 0), 0) as across,
              coalesce(sum(copies) filter (where list in (1, 2)), 0) as sides,
              coalesce(sum(copies) filter (where list = 3), 0) as before,
              coalesce(sum(copies) filter (where list = 4), 0) as after
         from copy group by hash
     )
     select not exists (
       select from counted
        where (across > sides and before + after >= across)
           or (across < sides and (($3::boolean and before = 0) or ($4::boolean and after = 0))))`,
    [...listsAsArrays(lists), before !== null, after !== null],
  );
}

/** A record that a walk stored, and the request for its page. */
export interface StoredRecord {
  readonly start: number;
  readonly length: number;
  readonly hash: string;
}

/** Records of a walk that none of some others holds, those of its first pages first. */
export function findUnheld(database: Database, walkId: number, others: readonly number[]) {
  const all = '($1::bigint || $2::bigint[])';
  return database.persist<StoredRecord>(
    `select (array_agg(page.start order by page.page_no))[1] as start,
            (array_agg(page.length order by page.page_no))[1] as length, record.hash::text as hash
       from ${recordsOf(all)}
      group by record.hash having bool_and(page.walk_id = $1)
      order by 1
      limit 100`,
    [walkId, others],
  );
}

/** A day beside another one. */
export interface DayBeside {
  readonly day: Day;
  /** Of its first page, where it shows the records of the other day; else none. */
  readonly hashes: readonly string[];
}

/**
 * What a walk of a day is held against, the nearest first: seven proven days with records on either side, and those right beside it that
 * are proven, or are walked now and have shown records. Two days are the same where the first page of one shows half of what that of the
 * other does. Records that are all alike are not told from one another, and one may stand at the midnight between.
 */
export function readDaysBeside(database: Database, streamId: number, day: Day, walkId: number) {
  return database.persist<DayBeside>(
    `with mine as materialized (
       select page.record_hashes, page.records
         from daywalk.walks k cross join lateral daywalk.pages_of(array[k.walk_id], 0) as page where k.walk_id = $3
     ), day as not materialized (
       select w.day, coalesce((w.proof ->> 'walk')::bigint, walked.walk_id) as walk_id, (w.proof ->> 'records')::bigint as records, w.proof
         from daywalk.windows w
         left join lateral (select k.walk_id from daywalk.walks k
                             where k.window_id = w.window_id and k.role = 'whole' and k.records > 0
                               and w.proof is null and w.lease_id is not null
                             order by k.number desc limit 1) as walked on true
        where w.stream_id = $1 and w.kind = 'day'
     ), beside as (
       (select day, walk_id from day where day < $2 and records > 0 order by day desc limit 7)
       union
       (select day, walk_id from day where day > $2 and records > 0 order by day limit 7)
       union
       select day, walk_id from day where day in ($2::date - 1, $2::date + 1) and (proof is not null or walk_id is not null)
     )
     select beside.day, coalesce(shared.hashes, '{}')::text[] as hashes
       from beside
       left join lateral (
         select page.record_hashes as hashes
           from mine cross join lateral daywalk.pages_of(array[beside.walk_id], 0) as page
          where (select count(*) from (select unnest(mine.record_hashes) intersect select unnest(page.record_hashes)) as both_pages)
                >= greatest(1, least(mine.records, page.records) / 2.0)) as shared on true
      order by abs(beside.day - $2::date)`,
    [streamId, day, walkId],
  );
}
