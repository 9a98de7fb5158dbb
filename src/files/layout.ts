/** Where a day's file lies below the folder of an export: Hive's layout, which DuckDB, Spark and Trino read. */
import type { Day } from '../model.ts';

/** What an export writes; a folder has files of one format only, so that a reader of all of them reads no day twice. */
export const FORMATS = ['ndjson', 'ndjson.gz', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * The path of a day's file, from the folder, with `/` between its parts. Above the days of a record table stands its name
 * alone: a level `table=…` would be read as a column, and the table may have one that is called so.
 * @param table the name of the record table; undefined: the records of the stream.
 */
export function pathOf(
  stream: string,
  table: string | undefined,
  day: Day,
  format: Format,
): string {
  return `${table ?? `stream=${stream}`}/day=${day}/records.${format}`;
}
