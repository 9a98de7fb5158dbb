/** Days that moved to a folder or bucket, in the served archive: their records are read from there, and Postgres looks at them. */
import type { Query } from '../store/database.ts';
import type { MovedDay, MovedRecords } from '../store/moved-days.ts';
import { countGiven, type PageCount, type Wanted } from './rows.ts';

/** A day that moved, and what reads it. */
export interface MovedPlace {
  readonly day: MovedDay;
  readonly records: MovedRecords;
}

/** Counts what is wanted of a day from a record on; what is read at a time stands for a page. */
export async function* lookAtMoved(
  query: Query,
  wanted: Wanted,
  { day, records }: MovedPlace,
  looked: number,
  signal: AbortSignal,
) {
  let from = looked;
  for await (const chunk of records.read(day, signal, looked)) {
    const texts = chunk.map(({ text }) => text);
    const { counts } = await countGiven(query, wanted, texts);
    const to = from + chunk.length;
    yield { from, to, found: [{ walkId: 0, pageNo: 0, ...counts, from }] };
    from = to;
  }
}

/** The records of a whole day from one on. */
export async function readMoved(
  { day, records }: MovedPlace,
  from: number,
  most: number,
  signal: AbortSignal,
): Promise<string[]> {
  const texts: string[] = [];
  for await (const chunk of records.read(day, signal, from)) {
    texts.push(...chunk.slice(0, most - texts.length).map(({ text }) => text));
    if (texts.length === most) break;
  }
  return texts;
}

/** What is wanted of some parts of a day; see {@link lookAtMoved}. */
export async function readWanted(
  query: Query,
  wanted: Wanted,
  place: MovedPlace,
  { pages, skip }: { readonly pages: readonly PageCount[]; readonly skip: number },
  most: number,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  for (const { from = 0, seen } of pages) {
    const texts = await readMoved(place, from, seen, signal);
    const { places } = await countGiven(query, wanted, texts);
    for (const at of places) found.push(texts[at - 1] as string);
  }
  return found.slice(skip, skip + most);
}
