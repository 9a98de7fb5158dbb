/** Which fields the stored records have: a bounded look at some records of some days, or an exact one at all. */

import { type ArchivedDay, listArchivedDays } from '../files/rows.ts';
import type { Day, OpenRange } from '../model.ts';
import type { Database } from '../store/database.ts';
import { type FieldFound, listFieldsFound, listPageNames, type PageName } from './field-rows.ts';

/** What to look at. */
export interface FieldSearch extends OpenRange {
  readonly streams: readonly string[];
  /** Every record of every day, and not only some. */
  readonly all: boolean;
}

/** A path in the records of a stream. */
export interface Field extends FieldFound {
  readonly stream: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
  /** Of the records that were looked at, 0 to 1. */
  readonly share: number;
}

/** The cost of a look, whatever is stored: days of a stream, pages of a day, records of a page. */
const SOME = { days: 60, pages: 4, records: 50 };
/** Pages that one statement looks at whole. */
const PAGES_AT_ONCE = 4;

/** Finds the fields of these streams. */
export async function findFields(database: Database, search: FieldSearch, signal: AbortSignal) {
  const stored = await listArchivedDays(database, search.streams, search);
  const looks = [];
  for (const stream of search.streams) {
    const known = stored.filter((day) => day.stream === stream && day.records > 0);
    looks.push(await lookAt(database, stream, known, search.all, signal));
  }
  return {
    fields: looks.flatMap(({ fields }) => fields),
    looked: looks.map(({ fields: _, ...looked }) => looked),
  };
}

/** What was found, and how much of a stream was looked at. */
export type FieldReport = Awaited<ReturnType<typeof findFields>>;

async function lookAt(
  database: Database,
  stream: string,
  known: readonly ArchivedDay[],
  all: boolean,
  signal: AbortSignal,
) {
  const ours = known.filter(({ state }) => state !== 'tiered');
  const days = all ? ours : spread(ours, SOME.days);
  const found = new Map<string, Omit<Field, 'share'>>();
  let records = 0;
  for (const day of days)
    for (const pages of pagesOf(await listPageNames(database, day), all)) {
      signal.throwIfAborted();
      for (const field of await listFieldsFound(database, day, pages, all ? null : SOME.records))
        if (field.path.length === 0) records += field.records;
        else merge(found, stream, day, field);
    }
  return {
    stream,
    fields: [...found.values()].map(
      (field): Field => ({ ...field, share: field.records / records }),
    ),
    days: days.length,
    daysStored: ours.length,
    /** In a folder or bucket: they are not looked at. */
    daysTiered: known.length - ours.length,
    records,
    recordsStored: ours.reduce((sum, day) => sum + day.records, 0),
  };
}

function pagesOf(pages: readonly PageName[], all: boolean): (readonly PageName[])[] {
  if (!all) return [spread(pages, SOME.pages)];
  return Array.from({ length: Math.ceil(pages.length / PAGES_AT_ONCE) }, (_, index) =>
    pages.slice(index * PAGES_AT_ONCE, (index + 1) * PAGES_AT_ONCE),
  );
}

/** At most `most` of them, evenly spread, the first and the last among them. */
export function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  return Array.from(
    { length: most },
    (_, index) => items[Math.round((index * (items.length - 1)) / (most - 1))] as T,
  );
}

/** Days come in order. */
function merge(
  found: Map<string, Omit<Field, 'share'>>,
  stream: string,
  { day }: ArchivedDay,
  { path, types, records, sample }: FieldFound,
): void {
  const name = JSON.stringify(path);
  const known = found.get(name);
  found.set(name, {
    stream,
    path,
    types: [...new Set([...(known?.types ?? []), ...types])].sort(),
    firstDay: known?.firstDay ?? day,
    lastDay: day,
    records: (known?.records ?? 0) + records,
    sample: known?.sample ?? sample,
  });
}
