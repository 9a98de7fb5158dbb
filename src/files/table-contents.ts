/** A record table as what an export writes: days that it holds as they are shown, each column with its type. */
import { SettingsError } from '../errors.ts';
import type { ParquetColumn } from '../parquet/write.ts';
import type { Database } from '../store/database.ts';
import { type Contents, writeRows } from './contents.ts';
import {
  type AskedColumn,
  isHeld,
  listTableDays,
  listTables,
  readTableDay,
  type TableDay,
  type TableRow,
  type TableToExport,
  WRITTEN_AS,
} from './exported-table-rows.ts';
import { type ArchivedDay, isAway, isUnchanged, listArchivedDays } from './rows.ts';

/**
 * The rows of a record table.
 * @throws {SettingsError} where there is no such table.
 */
export async function tableContents(database: Database, name: string): Promise<Contents> {
  const tables = await listTables(database);
  const table = tables.find((one) => one.name === name);
  if (table === undefined)
    throw new SettingsError(`flag --table: there is no record table ${JSON.stringify(name)}`, {
      hint:
        tables.length === 0
          ? 'There is none yet; `daywalk tables --suggest` prints some for daywalk.yaml.'
          : `There are ${tables.map((one) => one.name).join(', ')}.`,
    });
  const columns = columnsOf(table);
  return {
    table: { name, id: table.id, columns: table.described },
    streams: [table.stream],
    format: 'parquet',
    async listDays(range) {
      const days = await listArchivedDays(database, [table.stream], range);
      const held = await listTableDays(database, table, range);
      const byDay = new Map(held.map((one) => [one.day, one]));
      return days.map((day) => asHeld(table, day, byDay.get(day.day)));
    },
    write: (file, day, format, signal) =>
      readTableDay(database, table, day, format === 'parquet' ? columns : [], (chunks) =>
        writeRows(file, chunks, parquetOf(columns), format, signal),
      ),
    isUnchanged: async (day) =>
      (await isUnchanged(database, day)) && (await isHeld(database, table, day)),
  };
}

/** A day as the table has it: what is complete, and held as it is shown, can be exported. */
function asHeld(table: TableToExport, day: ArchivedDay, held: TableDay | undefined): ArchivedDay {
  const name = `daywalk.${table.name}`;
  const left = (state: ArchivedDay['state'], lastError: string) => ({ ...day, state, lastError });
  if (day.state !== 'complete' && !isAway(day.state)) return day;
  if (held?.state === 'over') return left('pruned', `the retention of ${name} is over`);
  if (held?.state === 'held' && held.publication !== null) {
    const { publication, records } = held;
    const { timeZone } = table;
    const about = { publication, ...(timeZone !== null && !isAway(day.state) && { timeZone }) };
    // It has what came back beside a pruned day under that day still.
    if (table.outlives) return { ...day, ...about, state: 'complete', records, stood: {} };
    if (day.state === 'complete') return { ...day, ...about };
  }
  return isAway(day.state)
    ? day
    : left('behind', `${name} is not in step: the next run takes it in, or daywalk tables --apply`);
}

/** All columns of a record table, in its order. */
const columnsOf = ({ columns, keepsRecord }: TableToExport): AskedColumn[] => [
  { name: 'day', type: 'date' },
  ...columns,
  ...(keepsRecord ? [{ name: 'record', type: 'jsonb' } as const] : []),
  { name: 'walk_id', type: 'bigint' },
  { name: 'page_no', type: 'integer' },
  { name: 'place', type: 'integer' },
  { name: 'first_seen', type: 'timestamptz' },
  { name: 'gone_since', type: 'timestamptz' },
  { name: 'revision', type: 'integer' },
];

const parquetOf = (columns: readonly AskedColumn[]): ParquetColumn<TableRow>[] =>
  columns.map(({ name, type }, index) => {
    const { kind } = WRITTEN_AS[type];
    return { name, kind, optional: true, of: (row) => givenAs(kind, row[`c${index + 1}`]) };
  });

function givenAs(kind: ParquetColumn<TableRow>['kind'], cell: TableRow[`c${number}`] | undefined) {
  if (cell === null || cell === undefined) return undefined;
  if (kind === 'int64' || kind === 'microseconds') return BigInt(cell);
  return kind === 'json' ? Buffer.from(String(cell)) : cell;
}
