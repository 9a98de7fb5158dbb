/** Search in days that moved to a folder or bucket: every record of them is looked at, and Postgres says which ones hold the value. */
import type { Query } from '../store/database.ts';
import type { MovedDay, MovedRecords } from '../store/moved-days.ts';
import type { ShownRecord } from '../store/shown-records.ts';
import { type Hit, matchRecords, readSpelling } from './search-rows.ts';

/** The hits of a day in order, some megabytes of records at a time; before the first one the object is compared with its SHA-256. */
export async function* hitsInMoved(
  query: Query,
  value: string,
  moved: MovedRecords,
  day: MovedDay,
  signal: AbortSignal,
): AsyncGenerator<Hit[]> {
  // `jsonb` writes a string as JavaScript does, and a number in full, maybe with zeros behind it: a record without either text
  // need not be parsed.
  const spelled = [JSON.stringify(value), await readSpelling(query, value)];
  for await (const records of moved.read(day, signal)) {
    const some = records.filter(({ text }) =>
      spelled.some((one) => one !== null && text.includes(one)),
    );
    if (some.length === 0) continue;
    const texts = some.map(({ text }) => text);
    const matches = await matchRecords(query, value, texts);
    if (matches.length === 0) continue;
    await moved.check(day, signal);
    yield matches.map(({ place, paths }) => hitOf(day, some[place - 1] as ShownRecord, paths));
  }
}

/** In the order that Postgres gives those of other days in: programs get them as they stand. */
function hitOf({ day }: MovedDay, record: ShownRecord, paths: readonly string[]): Hit {
  const { walkId, pageNo, position, text, fetchedAt, firstSeen, goneSince, revision } = record;
  return {
    day,
    walkId: String(walkId),
    pageNo,
    position,
    paths,
    record: text,
    fetchedAt: dateOf(fetchedAt),
    firstSeen: dateOf(firstSeen),
    goneSince: goneSince === null ? null : dateOf(goneSince),
    revision,
  };
}

const dateOf = (microseconds: number): Date => new Date(Math.floor(microseconds / 1000));
