/** Parts of statements: what readers see, as conditions, spans as columns, and when windows are due. Records that are shown: daywalk.shown_records. */

/** No window is put off for longer (looks wait a day, failures some hours), and no lease is given for longer: an instant further ahead was written while the clock of the database was ahead. */
export const FURTHEST = '25 hours';

/** From when on a window w may be walked: when its day has closed by the settings of a stream, an alias in SQL, and not before now. */
export const onceClosed = (stream: string): string =>
  `greatest(daywalk.closed_at(w.day, ${stream}.time_zone, ${stream}.settle), clock_timestamp())`;

/**
 * An array of the walks of a day that are shown, in order; both arguments are SQL. The midnight before it may be a window of the
 * day before by now, which was planned later.
 */
export const shownWalks = (streamId: string, day: string): string =>
  `array(select k.walk_id from daywalk.windows w
                  join daywalk.walks k on k.window_id = w.window_id and k.day = ${day} and k.shown <> 'no'
                 where w.stream_id = ${streamId} and (w.day = ${day} or w.midnight = ${day} - 1) order by k.walk_id)`;

/** The keys of all publications of a day, oldest first, as JSON; both arguments are SQL. */
export const publicationsOf = (streamId: string, day: string): string =>
  `(select coalesce(jsonb_agg(p.key order by p.seq), '[]') from daywalk.publications p where p.stream_id = ${streamId} and p.day = ${day})`;

/** A condition: the day was complete, and is not kept here any more; both arguments are SQL. */
export const isPruned = (streamId: string, day: string): string =>
  `exists (select from daywalk.prunings g where g.stream_id = ${streamId} and g.day = ${day} and g.what = 'day')`;

/**
 * A condition: the window `w` is complete, and of a day that is pruned; who made it due meanwhile could not see that. Selected, so that
 * it is looked up for each window that is met: else each claim makes a hash of all prunings for the few that are.
 */
export const IS_AWAY = `(w.state = 'complete' and (select ${isPruned('w.stream_id', 'w.day')}))`;

/** A condition: the day moved to a folder or bucket; its pages are pruned. Both arguments are SQL. */
export const isTiered = (streamId: string, day: string): string =>
  `exists (select from daywalk.tiered_days t where t.stream_id = ${streamId} and t.day = ${day})`;

/** A condition: the source has forgotten the day, which stays as it was proven; both arguments are SQL. */
export const isRetired = (streamId: string, day: string): string =>
  `exists (select from daywalk.days d where d.stream_id = ${streamId} and d.day = ${day} and d.retired_since is not null)`;

/** A condition: pages of the day are stored, and not thrown away; both arguments are SQL. */
export const hasBegun = (streamId: string, day: string): string =>
  `exists (select from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id
            where w.stream_id = ${streamId} and w.day = ${day} and w.kind <> 'cut' and k.pages > 0 and k.pruning is null
              and coalesce(k.outcome not in ('shifted', 'failed'), true))`;

/** A condition: the day has a window, and all windows of it and the cuts at its ends are complete; both arguments are SQL. */
export const isComplete = (streamId: string, day: string): string =>
  `(exists (select from daywalk.windows w where w.stream_id = ${streamId} and w.day = ${day} and w.kind = 'day')
    and not exists (select from daywalk.unfinished_days u where u.stream_id = ${streamId} and u.day = ${day}))`;

/**
 * A part of a `with recursive`: every value within the records of `sample` (record_no, record), as rows of record_no, path and value.
 * A path has the keys to it, and `[]` for the items of a list; that of the record itself is empty.
 */
export const NODES_OF_SAMPLE = `node as (
       select record_no, '{}'::text[] as path, record as value from sample
        union all
       select n.record_no, n.path || child.key, child.value
         from node n
        cross join lateral (
          select key, value from jsonb_each(case jsonb_typeof(n.value) when 'object' then n.value else '{}' end)
           union all
          select '[]', value from jsonb_array_elements(case jsonb_typeof(n.value) when 'array' then n.value else '[]' end)
        ) as child
     )`;

/** The columns of a window or a walk that make its span. @param alias of the table in the statement. */
export const spanColumns = (alias: string): string =>
  `${alias}.from_time as "from", ${alias}.to_time as "to", ${alias}.level_from as "levelFrom", ${alias}.level_to as "levelTo"`;
