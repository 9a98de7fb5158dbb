/** Streams whose days may neither be pruned nor moved, because the settings want them in a table first. */
import type { RecordTable } from '../model.ts';
import type { Database } from '../store/database.ts';
import { compareTables } from '../tables/table-rows.ts';

/** Those of record tables that are to outlive the pages and are not made so yet, and why: what goes now is lost to them. */
export async function claimedByTables(database: Database, tables: readonly RecordTable[]) {
  const changes = await compareTables(database, tables);
  const isMade = ({ name }: RecordTable) =>
    changes.some((one) => one.name === name && one.change === 'none');
  return new Map(
    tables
      .filter((table) => table.retention !== undefined && !isMade(table))
      .map(({ name, stream }) => [
        stream,
        `the record table ${name} of the settings is to keep it, and is not made so yet: daywalk tables --apply`,
      ]),
  );
}
