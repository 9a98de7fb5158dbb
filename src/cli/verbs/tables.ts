/** `daywalk tables`: the record tables and how far they are in step; makes them as the settings say, and suggests some. */

import { readTables, type TableState } from '../../days/coverage-rows.ts';
import { EXIT, SettingsError } from '../../errors.ts';
import type { RecordTable } from '../../model.ts';
import { tablesYaml } from '../../settings/file/tables.ts';
import { readStreams } from '../../store/streams.ts';
import { findFields } from '../../tables/fields.ts';
import { applyTables, syncTables } from '../../tables/record-tables.ts';
import { suggestTable } from '../../tables/suggest.ts';
import { compareTables, removeTable, type TableChange } from '../../tables/table-rows.ts';
import { counted, formatCount, linesOf } from '../../text.ts';
import { chosen } from '../flags.ts';
import { printResult } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, type Store, withStore } from '../wiring.ts';

/** Lists, makes, takes away or suggests record tables. */
export async function tablesVerb(invocation: Invocation): Promise<number> {
  return withStore(askedOf(invocation), async (store) => {
    const { options, settings, database } = store;
    if (options.suggest === true) return suggest(store);
    if (typeof options.drop === 'string') return drop(store, options.drop);
    const rebuild =
      options.rebuild === undefined ? [] : chosen(settings.tables, options.rebuild, '--rebuild');
    const applying = options.apply === true || rebuild.length > 0;
    const changes = applying
      ? await apply(store, rebuild)
      : await compareTables(database, settings.tables);
    const tables = await readTables(database);
    const left = applying ? [] : changes;
    printResult(options, { tables, changes: left }, () => describeTables(tables, left));
    return EXIT.done;
  });
}

/** Makes what differs, and fills it; what an interrupt leaves undone, the next run or call does. */
async function apply({ database, signal, settings }: Store, rebuild: readonly RecordTable[]) {
  const namesOf = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
  const changes = await applyTables(database, settings.tables, namesOf(rebuild));
  const known = await readStreams(database, namesOf(settings.streams));
  const ids = known.map(({ streamId }) => streamId);
  await syncTables(database, ids, signal);
  return changes;
}

/** @throws {SettingsError} for a table that is not there, or that the settings still define. */
async function drop({ database, options, settings }: Store, name: string): Promise<number> {
  if (settings.tables.some((table) => table.name === name))
    throw new SettingsError(`flag --drop: the settings still define the record table ${name}`, {
      hint: 'Take it out of daywalk.yaml first; the next --apply would make it again.',
    });
  if (!(await removeTable(database, name)))
    throw new SettingsError(`flag --drop: there is no record table ${JSON.stringify(name)}`, {
      hint: '`daywalk tables` lists them.',
    });
  printResult(options, { dropped: name }, () => [
    `daywalk.${name} is gone. The records whose pages are kept are in the views, as before.`,
  ]);
  return EXIT.done;
}

/** Prints a part of the settings file with a table for each stream. */
async function suggest({ database, options, streams, names, signal }: Store): Promise<number> {
  const wanted = { streams: names, from: null, to: null, all: false };
  const report = await findFields(database, wanted, signal);
  const tables = streams.flatMap((stream) => {
    const fields = report.fields.filter((field) => field.stream === stream.name);
    return suggestTable(stream.name, fields, stream.timePath) ?? [];
  });
  printResult(options, { tables }, () =>
    tables.length === 0
      ? ['No records are stored yet, so that no field is known. `daywalk run` exports what is due.']
      : [
          '# Put this into daywalk.yaml, and then: daywalk tables --apply',
          'tables:',
          ...tablesYaml(tables),
        ],
  );
  return EXIT.done;
}

/** A line for each table, and for each difference to the settings what to do. */
function describeTables(tables: readonly TableState[], changes: readonly TableChange[]): string[] {
  const lines = [...tables.flatMap(describeTable), ...changes.flatMap(describeChange)];
  if (lines.length > 0) return lines;
  return ['There are no record tables. `daywalk tables --suggest` prints some for daywalk.yaml.'];
}

/** A line for a table, and what is wrong with it. */
export function describeTable(table: TableState): string[] {
  const { state, days, records, faults, behind, firstDay, lastDay, trouble } = table;
  const span = firstDay === null ? '' : `, ${firstDay} to ${lastDay}`;
  const step =
    behind === 0 ? 'in step' : `${counted(behind, 'day')} behind: the next run brings it in step`;
  const name =
    state === 'live' ? `daywalk.${table.table}` : `  new daywalk.${table.table}, beside it`;
  return linesOf(
    `${name} (stream ${table.stream}): ${counted(records, 'row')} of ${counted(days, 'day')}${span}; ${step}`,
    faults > 0 &&
      `  ${formatCount(faults)} ${faults === 1 ? 'value does not fit its type and is' : 'values do not fit their types and are'} null; the view daywalk.table_faults lists what`,
    trouble !== null && `  it cannot take its place: ${trouble}`,
  );
}

/** What differs from the settings, and what to do. */
export const describeChange = ({ name, change }: TableChange): string[] =>
  change === 'none' ? [] : [`${name}: ${CHANGES[change]}`];

const CHANGES: Readonly<Record<Exclude<TableChange['change'], 'none'>, string>> = {
  new: 'the settings define it, and it is not there yet: daywalk tables --apply',
  changed:
    'the settings define it otherwise: daywalk tables --apply builds it anew beside the old one',
  stray:
    'the settings do not define it any more; it is kept in step until daywalk tables --drop takes it away',
};
