/** Record tables as an export reads them: what they are, how far each day is, and the rows of a day. */
import type { Column, ColumnType, Day, OpenRange } from '../model.ts';
import type { ParquetColumn } from '../parquet/write.ts';
import type { Database } from '../store/database.ts';
import type { ArchivedDay } from './rows.ts';

/** A column as it is asked for. */
export type AskedColumn = Pick<Column, 'name' | 'type'>;

/** A record table that queries see. */
export interface TableToExport {
  readonly id: number;
  readonly name: string;
  readonly stream: string;
  /** It keeps days whose pages are pruned. */
  readonly outlives: boolean;
  /** Those of the settings, in order. */
  readonly columns: readonly AskedColumn[];
  readonly keepsRecord: boolean;
  /** The columns with types and paths, in words. */
  readonly described: string;
  /** Of its times without an offset; null: it has no times. */
  readonly timeZone: string | null;
}

/** Every record table that queries see, by name. */
export function listTables(database: Database): Promise<TableToExport[]> {
  return database.persist(
    `select t.table_id as id, t.name, t.stream, t.outlives, t.columns, t.keep_record as "keepsRecord",
            (select string_agg(format('%s %s of %s%s', c.col ->> 'name', c.col ->> 'type', c.col ->> 'path', ' as ' || (c.col -> 'format' ->> 0)), '; ' order by c.place)
               from jsonb_array_elements(t.columns) with ordinality as c (col, place))
            || case when t.keep_record then '; record' else '' end as described,
            case when t.columns @> '[{"type": "timestamptz"}]' then s.time_zone end as "timeZone"
       from daywalk.record_tables t left join daywalk.streams s on s.name = t.stream
      where t.state = 'live' order by t.name`,
  );
}

/** A day of a record table. */
export interface TableDay {
  readonly day: Day;
  /** behind: something else is shown of the day; over: its retention is; held: what it holds is what is or was shown. */
  readonly state: 'behind' | 'over' | 'held';
  /** The key of the publication that it holds; null: it holds none. */
  readonly publication: string | null;
  readonly records: number;
}

/** How far a record table is, between two days where given. */
export function listTableDays(database: Database, table: TableToExport, range: OpenRange) {
  return database.persist<TableDay>(
    `select d.day, d.publication::text as publication, coalesce(d.records, 0) as records,
            case when daywalk.closed_at(d.day, s.time_zone, s.settle) + t.retention <= clock_timestamp() then 'over'
                 when d.work = 'replace' then 'behind' else 'held' end as state
       from daywalk.record_tables t
       join daywalk.streams s on s.name = t.stream
      cross join lateral (
        select day, y.publication, y.records, w.work
          from (select * from daywalk.table_days where table_id = t.table_id) as y
          full join (select * from daywalk.table_work(array[t.stream]) where table_id = t.table_id) as w using (day)) as d
      where t.table_id = $1 and ($2::date is null or d.day >= $2::date) and ($3::date is null or d.day <= $3::date)`,
    [table.id, range.from, range.to],
  );
}

/** Whether a record table is still what it was, and holds this publication of a day. */
export async function isHeld(
  database: Database,
  table: TableToExport,
  { day, publication }: { readonly day: Day; readonly publication?: string },
): Promise<boolean> {
  const rows = await database.persist(
    `select from daywalk.table_days y join daywalk.record_tables t on t.table_id = y.table_id and t.state = 'live'
      where y.table_id = $1 and y.day = $2::date and y.publication = $3::uuid`,
    [table.id, day, publication ?? null],
  );
  return rows.length === 1;
}

/** A row of a record table: the text of its line, and its values by place, as {@link WRITTEN_AS} has them. */
export type TableRow = { readonly text: string } & { readonly [place: `c${number}`]: Cell };
type Cell = string | number | boolean | null;

/** A chunk has about so many bytes of lines; the first one, of which nothing is known, a few rows. */
const CHUNK_BYTES = 4_000_000;
const [FIRST_ROWS, MOST_ROWS] = [100, 10_000];

/** How a value of a type is written in Parquet, and asked for, so that none of it is lost on the way; %I is its column. */
interface Writing {
  readonly kind: ParquetColumn<never>['kind'];
  readonly cell: string;
}

/**
 * The same on every day. A `numeric` is text: no decimal of Parquet holds all that it may hold, and where it is a decimal on one day
 * and text on another one, readers of both round silently.
 */
export const WRITTEN_AS: Readonly<Record<ColumnType, Writing>> = {
  text: { kind: 'text', cell: '%I' },
  boolean: { kind: 'boolean', cell: '%I' },
  smallint: { kind: 'int32', cell: '%I' },
  integer: { kind: 'int32', cell: '%I' },
  bigint: { kind: 'int64', cell: '%I::text' },
  numeric: { kind: 'text', cell: '%I::text' },
  timestamptz: { kind: 'microseconds', cell: '(extract(epoch from %I) * 1000000)::bigint::text' },
  date: { kind: 'date', cell: `%I - date '1970-01-01'` },
  // As Postgres shows it: the cast to text adds a netmask.
  inet: { kind: 'text', cell: 'abbrev(%I)' },
  uuid: { kind: 'uuid', cell: '%I::text' },
  jsonb: { kind: 'json', cell: '%I::text' },
};

/**
 * Reads a day of a record table in the order of walk, page and place, all of one state: the rows are valid while `work` runs.
 * @param columns whose values are asked for beside the lines.
 */
export function readTableDay<T>(
  database: Database,
  table: TableToExport,
  { day, beside = [] }: Pick<ArchivedDay, 'day' | 'beside'>,
  columns: readonly AskedColumn[],
  work: (chunks: AsyncIterable<readonly TableRow[]>) => Promise<T>,
): Promise<T> {
  return database.snapshot(async (query) => {
    // Within the transaction only; instants in lines are shown in it.
    await query(`select set_config('TimeZone', 'UTC', true)`);
    const cells = columns.map(({ name, type }) => [WRITTEN_AS[type].cell, name] as const);
    // No column is called "Row": their names have small letters.
    const [statement] = await query<{ text: string }>(
      `select format('declare days no scroll cursor for select row_to_json("Row")::text as text%1$s from daywalk.%2$I as "Row" where "Row".day = %3$L
                       and not exists (select from daywalk.marks m where m.walk_id = "Row".walk_id and m.page_no = "Row".page_no and m.position = "Row".place and m.stood_on = any (%4$L::date[])) order by "Row".walk_id, "Row".page_no, "Row".place',
                     (select string_agg(', ' || format(replace(c ->> 0, '%I', '"Row".%1$I'), c ->> 1) || ' as c' || place, '' order by place)
                        from jsonb_array_elements($2::jsonb) with ordinality as asked (c, place)), $1::text, $3::date, $4::date[]) as text`,
      [table.name, JSON.stringify(cells), day, beside],
    );
    await query(statement?.text ?? '');
    return work(
      (async function* () {
        for (let most = FIRST_ROWS; ; ) {
          const rows = await query<TableRow>(`fetch ${most} from days`);
          if (rows.length === 0) return;
          yield rows;
          const bytes = rows.reduce((sum, { text }) => sum + text.length, 0);
          most = Math.min(MOST_ROWS, Math.ceil((rows.length * CHUNK_BYTES) / bytes));
        }
      })(),
    );
  });
}
