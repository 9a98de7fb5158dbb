/** Record tables: made as the settings say, and kept in step with what is shown, a day at a time, by any worker. */
import { DaywalkError, SettingsError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { RecordTable } from '../model.ts';
import type { Database } from '../store/database.ts';
import type { Follower } from '../walk/followers.ts';
import {
  compareTables,
  defineTable,
  dropDay,
  listTableWork,
  replaceDay,
  swapTables,
  type TableChange,
  type TableWork,
} from './table-rows.ts';

/** Days of work that are asked for at a time: between them newer days come first again. */
const WORK_AT_ONCE = 50;

/**
 * Makes the tables that are not there, where the role of the worker may, and says what else differs: a changed table is
 * rebuilt only when a person asks for it.
 */
async function makeNewTables(database: Database, tables: readonly RecordTable[], log: Logger) {
  const changes = await compareTables(database, tables);
  const named = (what: TableChange['change']) =>
    changes.filter(({ change }) => change === what).map(({ name }) => name);
  for (const table of tables.filter(({ name }) => named('new').includes(name)))
    await defineTable(database, table).then(
      () => log.info({ table: table.name }, 'a record table was made'),
      (error: unknown) => {
        if (!(error instanceof DaywalkError)) throw error;
        log.warn(
          { table: table.name, err: error },
          'a record table could not be made; where this role may not make tables, daywalk tables --apply does, as the owner of the schema',
        );
      },
    );
  const left = named('changed');
  if (left.length > 0)
    log.warn(
      { tables: left },
      `the settings define other columns for ${left.join(', ')} than the database has; daywalk tables --apply builds anew, until then they stay as they are`,
    );
}

/**
 * Makes the tables that the settings define and the database does not have so.
 * @param rebuild names of tables that are built anew though nothing changed.
 */
export async function applyTables(
  database: Database,
  tables: readonly RecordTable[],
  rebuild: readonly string[],
): Promise<TableChange[]> {
  const changes = await compareTables(database, tables);
  for (const table of tables) {
    const change = changes.find(({ name }) => name === table.name)?.change;
    if (change !== 'none' || rebuild.includes(table.name)) await defineTable(database, table);
  }
  return changes;
}

/**
 * Brings the tables of these streams in step, newest days first; what is left undone, the next call does.
 * @throws {SettingsError} once all others are in step, where there are days that a person has to see to, as of a month that was detached.
 */
export async function syncTables(
  database: Database,
  streamIds: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const failed = new Map<string, SettingsError>();
  const failureOf = ({ tableId, day }: TableWork) => failed.get(`${tableId} ${day}`);
  const list = () => listTableWork(database, streamIds, WORK_AT_ONCE + failed.size);
  for (;;) {
    const due = (await list()).filter((work) => failureOf(work) === undefined);
    for (const work of due) {
      signal.throwIfAborted();
      const bring = work.work === 'drop' ? dropDay : replaceDay;
      try {
        await database.retry<unknown>(() => bring(database, work, signal));
      } catch (error) {
        if (!(error instanceof SettingsError)) throw error;
        failed.set(`${work.tableId} ${work.day}`, error);
      }
    }
    await swapTables(database, signal);
    if (due.length < WORK_AT_ONCE) break;
  }
  if (failed.size === 0) return;
  // Its table may have been built anew.
  const left = (await list()).map(failureOf).find((error) => error !== undefined);
  if (left !== undefined) throw left;
}

/** The record tables as something that follows what is published. */
export const keepingTables = (
  { database, log }: { readonly database: Database; readonly log: Logger },
  tables: readonly RecordTable[],
): Follower => {
  let compared = false;
  return {
    what: 'the record tables',
    atEnd: true,
    async catchUp(streamIds, signal) {
      if (!compared) await makeNewTables(database, tables, log);
      compared = true;
      await syncTables(database, streamIds, signal);
    },
  };
};
