/** What tests of record tables have in common: tables made and kept in step in a test database, and compared with the views. */
import { expect } from 'vitest';
import { readTables } from '../../src/days/coverage-rows.ts';
import type { Column, RecordTable } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import { applyTables, syncTables } from '../../src/tables/record-tables.ts';
import { removeTable } from '../../src/tables/table-rows.ts';
import type { TestDatabase } from '../support/database.ts';
import { proveTexts, windowOf } from '../support/publishing.ts';
import { DAY, planBareDays } from '../support/store.ts';

/** A column, as short as a test wants it. */
export const column = (name: string, type: Column['type'], more: Partial<Column> = {}): Column => ({
  name,
  path: [name],
  type,
  index: false,
  ...more,
});

/** A table of the stream `events`. */
export const tableOf = (
  columns: readonly Column[],
  more: Partial<RecordTable> = {},
): RecordTable => ({
  name: 'alerts',
  stream: 'events',
  columns,
  keepRecord: false,
  ...more,
});

/** A table of their identities alone. */
export const IDS = tableOf([column('id', 'bigint', { index: true })]);

/** Plans a day with these records, and proves it. */
export async function dayWith(database: Database, texts: readonly string[]): Promise<number> {
  const streamId = await planBareDays(database);
  await proveTexts(database, await windowOf(database, streamId, DAY), [texts]);
  return streamId;
}

/** Makes it, or rebuilds it where it is there with another definition. */
export const apply = (database: Database, ...tables: readonly RecordTable[]) =>
  applyTables(database, tables, []);

/** Brings every table in step. */
export async function sync(database: Database): Promise<void> {
  const streams = await database.query<{ stream_id: number }>(
    'select stream_id from daywalk.streams',
  );
  await syncTables(
    database,
    streams.map(({ stream_id }) => stream_id),
    new AbortController().signal,
  );
}

/** Takes every record table away: the tables of a test file are emptied before each test, and these are not among them. */
export async function dropTables(database: Database): Promise<void> {
  for (const name of new Set((await readTables(database)).map(({ table }) => table)))
    await removeTable(database, name);
}

/** Expects that a table with the column `id` (of the field `id`) has exactly what the view shows. */
export async function expectInStep(server: TestDatabase, name = 'alerts'): Promise<void> {
  const differing = await server.query(
    `with shown as (select day, (record ->> 'id')::bigint as id, gone_since is null as there, revision from daywalk.events),
          held as (select day, id, gone_since is null as there, revision from daywalk.${name})
     (select 'missing' as what, * from (select * from shown except all select * from held) as a)
      union all
     (select 'too many', * from (select * from held except all select * from shown) as b)`,
  );
  expect(differing).toEqual([]);
}
