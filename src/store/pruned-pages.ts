/** The pages of what was pruned, or moved: removed after they were marked, some at a time, so that it can be gone on with after a kill. */
import type { Day } from '../model.ts';
import type { Database } from './database.ts';

/** A pruning whose pages are not all removed. */
interface OpenPruning {
  readonly pruningId: number;
  readonly day: Day;
  /** Of a day that moved the publication that did; null: of one that was pruned. */
  readonly moved: string | null;
  /** The first day of its month. */
  readonly month: Day;
}

/** One statement removes no more than these. */
const MOST_PAGES = 256;
const MOST_BYTES = 128_000_000;

/** Removes some pages of a pruning. Returns how many; 0: none is left. */
export async function removePages(
  database: Database,
  { pruningId, day }: Pick<OpenPruning, 'pruningId' | 'day'>,
): Promise<number> {
  const rows = await database.persist(
    // The day stands beside each table: only its partition is read then, and not those of all months.
    `with going as materialized (
       select p.walk_id, p.page_no, sum(p.byte_count) over (order by p.walk_id, p.page_no) - p.byte_count as before
         from (select p.walk_id, p.page_no, p.byte_count
                 from daywalk.prunings g
                 join daywalk.pages p on p.day = $3::date and p.walk_id = any (g.walks)
                where g.pruning_id = $1 and g.removed_at is null
                order by p.walk_id, p.page_no limit ${MOST_PAGES}
                  -- Whoever brings the day back waits for this, and then it takes nothing more.
                  for share of g) as p
     )
     delete from daywalk.pages p using going
      where p.day = $3::date and p.walk_id = going.walk_id and p.page_no = going.page_no and going.before < $2::bigint
     returning p.page_no`,
    [pruningId, MOST_BYTES, day],
  );
  return rows.length;
}

/** The prunings whose pages are not all removed, oldest first. */
export const listOpenPrunings = (database: Database): Promise<OpenPruning[]> =>
  database.persist(
    `select g.pruning_id as "pruningId", g.day, date_trunc('month', g.day)::date as month, t.publication as moved
       from daywalk.prunings g
       left join daywalk.tiered_days t on t.stream_id = g.stream_id and t.day = g.day and g.what = 'day'
      where g.removed_at is null order by g.day, g.pruning_id`,
  );

/**
 * Removes the pages of every pruning that is not at its end, of whole months at once.
 * @param found the publications of days that moved whose objects this process found as they were written: pages of others may be all that there is.
 * @returns the months that were emptied, YYYY-MM.
 */
export async function removeMarked(
  database: Database,
  signal: AbortSignal,
  found: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const open = await listOpenPrunings(database);
  const emptied: string[] = [];
  for (const month of new Set(open.map((pruning) => pruning.month))) {
    signal.throwIfAborted();
    const marked = open.filter((candidate) => candidate.month === month);
    const going = marked.filter(({ moved }) => moved === null || found.has(moved));
    // Where nothing that is kept has pages in it, its partition goes.
    if (
      going.length === marked.length &&
      (await database.value<boolean>('select daywalk.empty_month($1::date)', [month]))
    )
      emptied.push(month.slice(0, 7));
    for (const pruning of going) {
      while ((await removePages(database, pruning)) > 0) signal.throwIfAborted();
      // It has no pages any more, and what the search knows of them goes with them.
      await database.persist(
        `with filters as (
           delete from daywalk.page_filters f using daywalk.prunings g where g.pruning_id = $1 and f.walk_id = any (g.walks)
         )
         update daywalk.prunings set removed_at = clock_timestamp() where pruning_id = $1 and removed_at is null`,
        [pruning.pruningId],
      );
    }
  }
  return emptied;
}
