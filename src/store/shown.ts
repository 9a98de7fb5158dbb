/** Which records of a stored page readers see. */

/**
 * A condition on a record `r` (with its position in the list, from 1) of a page `n`, whose overlaps, if any, are `o`: not
 * the one that was asked for again, and none that another window shows. The views say the same (migrations).
 */
export const IS_SHOWN =
  'r.position > n.skip and (o.positions is null or r.position - n.skip <> all (o.positions))';
