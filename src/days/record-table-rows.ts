/** How far the record tables are in step with what is shown. */
import type { Day } from '../model.ts';
import type { Database } from '../store/database.ts';

/** How far a record table is in step; daywalk.tables tells what the columns mean. */
export interface TableState {
  readonly table: string;
  readonly stream: string;
  readonly state: 'building' | 'live';
  readonly days: number;
  readonly records: number;
  readonly faults: number;
  readonly behind: number;
  readonly firstDay: Day | null;
  readonly lastDay: Day | null;
  readonly syncedAt: Date | null;
  readonly trouble: string | null;
}

/** Every record table, by name; one that is built beside another one after it. */
export function readTables(database: Database): Promise<TableState[]> {
  return database.persist(
    `select "table", stream, state, days, records, faults, behind, first_day as "firstDay", last_day as "lastDay",
            synced_at as "syncedAt", trouble
       from daywalk.tables order by "table", state desc`,
  );
}
