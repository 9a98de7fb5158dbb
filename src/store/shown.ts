/** What readers see: which walks of a day, which records of a page, and which days are kept, as conditions in SQL. */

/**
 * A condition on a record `r` (with its position in the list, from 1) of a page `n`, whose overlaps, if any, are `o`: not
 * the one that was asked for again, and none that another window shows. The views say the same, and why it is a case
 * (migrations).
 */
export const IS_SHOWN = `case when n.skip = 0 then true else r.position > n.skip end
   and (o.positions is null or r.position - n.skip <> all (o.positions))`;

/** An array of the published walks of a day, in order; both arguments are SQL. */
export const shownWalks = (streamId: string, day: string): string =>
  `array(select k.walk_id from daywalk.windows w
                  join daywalk.walks k on k.window_id = w.window_id and k.published
                 where w.stream_id = ${streamId} and w.day = ${day} order by k.walk_id)`;

/** A condition: the day was complete, and is not kept any more; both arguments are SQL. */
export const isPruned = (streamId: string, day: string): string =>
  `exists (select from daywalk.prunings g where g.stream_id = ${streamId} and g.day = ${day} and g.what = 'day')`;
