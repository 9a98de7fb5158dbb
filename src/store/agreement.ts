/** Comparing walks record by record, by the hashes that are stored with their pages (DESIGN 5.2, 5.3). */
import type { Database } from './database.ts';

/** Records that stand on more than one page of the walk: a sign that the order is not stable (DESIGN 5.3). */
export async function countRepeatedRecords(database: Database, walkId: number): Promise<number> {
  const [row] = await database.persist<{ repeated: number }>(
    `select count(*) as repeated
       from (select from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
              where p.walk_id = $1
              group by h.hash having min(p.page_no) < max(p.page_no)) as repeated`,
    [walkId],
  );
  return row?.repeated ?? 0;
}

/** Whether two walks hold the same records in the same order. */
export async function walksAgree(database: Database, one: number, other: number): Promise<boolean> {
  const [row] = await database.persist<{ agree: boolean }>(
    `with sequences as (
       select array_agg(h.hash order by p.page_no, h.position) as hashes
         from daywalk.pages p cross join lateral unnest(p.record_hashes) with ordinality as h (hash, position)
        where p.walk_id in ($1, $2)
        group by p.walk_id
     )
     select count(distinct hashes) = 1 as agree from sequences`,
    [one, other],
  );
  return row?.agree ?? false;
}

/**
 * How many records the walks hold together: each as often as the page that holds it most often. A page is one answer,
 * so what stands on it twice is there twice; what stands on two pages may be one record that moved.
 */
export async function countUnion(database: Database, walkIds: readonly number[]): Promise<number> {
  const [row] = await database.persist<{ records: number }>(
    `select coalesce(sum(most), 0)::bigint as records
       from (select max(copies) as most
               from (select h.hash, count(*) as copies
                       from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
                      where p.walk_id = any ($1::bigint[])
                      group by h.hash, p.walk_id, p.page_no) as by_page
              group by hash) as by_record`,
    [walkIds],
  );
  return row?.records ?? 0;
}

/**
 * Whether the halves of a window hold the same records as the whole (DESIGN 5.2).
 * @param exclusive halves by level share nothing; halves by time share the records of their boundary second, which
 *   therefore may stand in both.
 */
export async function halvesAddUp(
  database: Database,
  whole: number,
  first: number,
  second: number,
  exclusive: boolean,
): Promise<boolean> {
  const rows = await database.persist(
    `select from (select h.hash,
                         count(*) filter (where p.walk_id = $1) as whole,
                         count(*) filter (where p.walk_id = $2) as first,
                         count(*) filter (where p.walk_id = $3) as second
                    from daywalk.pages p cross join lateral unnest(p.record_hashes) as h (hash)
                   where p.walk_id in ($1, $2, $3)
                   group by h.hash) as counted
      where whole > first + second
         or case when $4 then whole < first + second else whole < greatest(first, second) end
      limit 1`,
    [whole, first, second, exclusive],
  );
  return rows.length === 0;
}
