/** Record tables in the database: their definitions, what is to be done so that they are in step, and doing it. */
import type { Day, RecordTable } from '../model.ts';
import type { Database } from '../store/database.ts';

/** A table as it is defined, in the words of `daywalk.record_tables`. */
const definitionOf = (table: RecordTable) => ({
  name: table.name,
  stream: table.stream,
  columns: table.columns.map(({ name, path, type, index, format }) => ({
    name,
    path,
    type,
    index,
    format: format === undefined ? [] : [format.pattern, format.replacement],
  })),
  keep_record: table.keepRecord,
  outlives: table.retention !== undefined,
  seconds: typeof table.retention === 'number' ? table.retention / 1000 : null,
});

/** Definitions ($1) as rows, in order. */
const DEFINED = `(
       select a.place, t.name, t.stream, t.columns, t.keep_record, t.outlives, make_interval(secs => t.seconds) as retention
         from jsonb_array_elements($1::jsonb) with ordinality as a (definition, place)
        cross join lateral jsonb_to_record(a.definition)
                   as t (name text, stream text, columns jsonb, keep_record boolean, outlives boolean, seconds double precision))`;

/** What to do with a definition of the settings so that the database has it. */
export interface TableChange {
  readonly name: string;
  /** changed: it is rebuilt beside the one that is there; stray: the settings do not have it, and it stays. */
  readonly change: 'none' | 'new' | 'changed' | 'stray';
}

/** Compares definitions with those that were applied last: of a table that is built beside one that is there, its own. */
export function compareTables(database: Database, tables: readonly RecordTable[]) {
  return database.persist<TableChange>(
    `select name, case when t.name is null then 'stray'
                       -- Somebody may have dropped it by hand.
                       when known.name is null
                            or exists (select from daywalk.record_tables r
                                        where r.name = known.name and to_regclass('daywalk.' || quote_ident(daywalk.relation_of(r))) is null) then 'new'
                       when (t.stream, t.columns, t.keep_record, t.outlives, t.retention)
                            is distinct from (known.stream, known.columns, known.keep_record, known.outlives, known.retention)
                       then 'changed' else 'none' end as change
       from ${DEFINED} as t
       full join (select distinct on (name) * from daywalk.record_tables order by name, table_id desc) as known using (name)
      order by t.place, name`,
    [JSON.stringify(tables.map(definitionOf))],
  );
}

/** Makes a record table; one that is there under this name stays until the new one is in step. One attempt. */
export async function defineTable(database: Database, table: RecordTable): Promise<void> {
  await database.query(
    `select daywalk.define_table(t.name, t.stream, t.columns, t.keep_record, t.outlives, t.retention) from ${DEFINED} as t`,
    [JSON.stringify([definitionOf(table)])],
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
  readonly day: Day;
  readonly work: 'replace' | 'drop';
}

/** What is to be done for these streams, newest days first, at most so much at a time. */
export function listTableWork(database: Database, streams: readonly number[], most: number) {
  return database.persist<TableWork>(
    `select w.table_id as "tableId", w.day, w.work
       from daywalk.table_work(array(select name from daywalk.streams where stream_id = any ($1::integer[]))) as w limit $2`,
    [streams, most],
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

/** Drops a day whose retention is over. One attempt. */
export async function dropDay(database: Database, { tableId, day }: TableWork): Promise<void> {
  await database.query('select daywalk.drop_table_day($1, $2::date)', [tableId, day]);
}

/** Puts tables that were built beside others in their places, where they are in step. */
export async function swapTables(database: Database, signal: AbortSignal): Promise<void> {
  const building = await database.persist<{ id: number }>(
    `select table_id as id from daywalk.record_tables where state = 'building' order by table_id`,
  );
  for (const { id } of building) {
    for (let more = true; more; signal.throwIfAborted()) {
      more = await database.value('select daywalk.keep_pruned_day($1)', [id]);
    }
    await database.persist('select daywalk.swap_table($1)', [id]);
  }
}
