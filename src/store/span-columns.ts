/** The columns of a window or a walk that make its span, as SQL. */

/** @param alias of the table in the statement. */
export const spanColumns = (alias: string): string =>
  `${alias}.from_time as "from", ${alias}.to_time as "to", ${alias}.level_from as "levelFrom", ${alias}.level_to as "levelTo"`;
