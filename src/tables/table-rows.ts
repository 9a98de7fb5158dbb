/** Record tables in the database: their definitions, what is to be done so that they are in step, and doing it. */
import type { Column, Day, RecordTable } from '../model.ts';
import type { Database } from '../store/database.ts';

/** A definition as the database has it. */
export interface StoredTable {
  readonly name: string;
  /** Equal where the definitions are. */
  readonly definition: string;
}

/** The definitions that were applied last: of a table that is built beside one that is there, its own. */
export function readDefinitions(database: Database): Promise<StoredTable[]> {
  return database.persist(
    `select distinct on (name) name,
            jsonb_build_array(stream, columns, keep_record, outlives,
                              extract(epoch from retention)::double precision * 1000)::text as definition
       from daywalk.record_tables order by name, table_id desc`,
  );
}

/** A column as it is stored. */
const storedColumn = ({ name, path, type, index, format }: Column) => ({
  name,
  path,
  type,
  index,
  format: format === undefined ? [] : [format.pattern, format.replacement],
});

/** The definition as {@link readDefinitions} tells it; asked of the database, which alone knows how it writes `jsonb`. */
export function definitionOf(database: Database, table: RecordTable): Promise<string> {
  return database.value(
    `select jsonb_build_array($1::text, $2::jsonb, $3::boolean, $4::boolean,
                              extract(epoch from make_interval(secs => $5::double precision / 1000))::double precision * 1000)::text`,
    definitionValues(table),
  );
}

const definitionValues = (table: RecordTable) => [
  table.stream,
  JSON.stringify(table.columns.map(storedColumn)),
  table.keepRecord,
  table.retention !== undefined,
  table.retention ?? null,
];

/** Makes a record table; one that is there under this name stays until the new one is in step. One attempt. */
export async function defineTable(database: Database, table: RecordTable): Promise<void> {
  await database.query(
    `select daywalk.define_table($6, $1, $2::jsonb, $3, $4, make_interval(secs => $5::double precision / 1000))`,
    [...definitionValues(table), table.name],
  );
}

/** Takes a record table away, and one that is built to take its place. Returns whether there was any. One attempt. */
export async function removeTable(database: Database, name: string): Promise<boolean> {
  const removed = await database.query(
    'select daywalk.drop_table(table_id) from daywalk.record_tables where name = $1',
    [name],
  );
  return removed.length > 0;
}

/** A day of a record table that is not in step, or whose retention is over. */
export interface TableWork {
  readonly tableId: number;
  readonly name: string;
  readonly day: Day;
  readonly work: 'replace' | 'drop';
}

/** What is to be done for these streams, newest days first, at most so much at a time. */
export function listTableWork(
  database: Database,
  streams: readonly number[],
  most: number,
  signal?: AbortSignal,
): Promise<TableWork[]> {
  return database.persist(
    `select w.table_id as "tableId", w.name, w.day, w.work
       from daywalk.table_work(array(select name from daywalk.streams where stream_id = any ($1::integer[]))) as w limit $2`,
    [streams, most],
    signal,
  );
}

/** Bytes of pages that one statement takes in: a fraction of a second's work, and seconds where values do not fit, which takes ten times as long; a statement has a deadline. */
const PIECE_BYTES = 8_000_000;

/** Replaces a day by what is shown of it now, in one transaction. Returns its rows; null: it was in step. One attempt. */
export async function replaceDay(
  database: Database,
  { tableId, day }: TableWork,
  signal: AbortSignal,
): Promise<number | null> {
  await database.query('select daywalk.ensure_table_partition($1, $2::date)', [tableId, day]);
  return database.transaction(async (query) => {
    const [begun] = await query<{ due: boolean }>(
      'select daywalk.begin_table_day($1, $2::date) as due',
      [tableId, day],
    );
    if (begun?.due !== true) return null;
    const pieces = await query<{ walk: number; first: number; last: number }>(
      'select walk_id as walk, first_page as first, last_page as last from daywalk.pieces_of_day($1, $2::date, $3)',
      [tableId, day, PIECE_BYTES],
    );
    let [records, faults] = [0, 0];
    for (const { walk, first, last } of pieces) {
      signal.throwIfAborted();
      const [filled] = await query<{ records: number; faults: number }>(
        'select records, faults from daywalk.fill_table_day($1, $2::date, $3, $4, $5)',
        [tableId, day, walk, first, last],
      );
      records += filled?.records ?? 0;
      faults += filled?.faults ?? 0;
    }
    const all = [tableId, day, records, faults];
    await query('select daywalk.end_table_day($1, $2::date, $3, $4)', all);
    return records;
  });
}

/** Drops a day whose retention is over. Returns its rows: 0. One attempt. */
export async function dropDay(database: Database, { tableId, day }: TableWork): Promise<number> {
  await database.query('select daywalk.drop_table_day($1, $2::date)', [tableId, day]);
  return 0;
}

/** Puts tables that were built beside others in their places, where they are in step. */
export async function swapTables(database: Database, signal: AbortSignal): Promise<void> {
  const building = await database.persist<{ id: number }>(
    `select table_id as id from daywalk.record_tables where state = 'building' order by table_id`,
    [],
    signal,
  );
  for (const { id } of building) {
    for (let more = true; more; signal.throwIfAborted()) {
      more = await database.value('select daywalk.keep_pruned_day($1)', [id], signal);
    }
    await database.persist('select daywalk.swap_table($1)', [id], signal);
  }
}
