/** How many records of each page a request asks for, so that any offset is found without reading the pages before it. */
import { createHash } from 'node:crypto';
import type { Query } from '../store/database.ts';
import type { MovedRecords } from '../store/moved-days.ts';
import {
  countGiven,
  countRecords,
  type PageCount,
  readPages,
  type ServedDay,
  type Wanted,
} from './rows.ts';

/** One statement looks at the records of no more pages. */
const PAGES_AT_ONCE = 16;
/** What is remembered: counts of a page take about 100 bytes, and a day as much as some pages. */
const MOST_BYTES = 50_000_000;
const PAGE_BYTES = 100;
const DAY_BYTES = 1_000;

/** Reads a day that moved, from a record on. */
export type ReadMoved = (from: number) => ReturnType<MovedRecords['read']>;

/** What is wanted of a day, as far as it was looked at. */
const newCounts = () => ({
  /** Those that hold any, in order. */
  pages: [] as PageCount[],
  /** Pages that were looked at; of a day that moved, records. */
  looked: 0,
  /** Sums over these pages; see {@link PageCount}. */
  seen: 0,
  records: 0,
  undecided: 0,
  timeless: 0,
});
type DayCounts = ReturnType<typeof newCounts>;

/** The counts of the days that were asked for; what is shown of a day is a part of the name, so none is ever stale. */
export class Counts {
  readonly #days = new Map<string, DayCounts>();
  #bytes = 0;

  /** What is wanted of a day. Where it is stopped, whoever asks next goes on from there. */
  async of(
    query: Query,
    wanted: Wanted,
    day: ServedDay,
    read: ReadMoved | undefined,
    signal: AbortSignal,
  ): Promise<DayCounts> {
    const text = JSON.stringify([wanted, day.version, day.state]);
    const name = createHash('sha256').update(text).digest('base64');
    const counts = this.#remembered(name);
    if (counts.seen === day.records) return counts;
    const looks =
      read === undefined
        ? lookAtPages(query, wanted, counts.looked)
        : lookAtMoved(query, wanted, read, counts.looked);
    for await (const { from, to, found } of looks) {
      signal.throwIfAborted();
      // Another request may have looked at them meanwhile.
      if (counts.looked !== from) continue;
      counts.looked = to;
      for (const page of found) {
        for (const what of ['seen', 'records', 'undecided', 'timeless'] as const)
          counts[what] += page[what];
        if (page.records > 0) counts.pages.push(page);
      }
      this.#bytes += found.length * PAGE_BYTES;
    }
    if (counts.seen !== day.records) this.#days.delete(name);
    return counts;
  }

  #remembered(name: string): DayCounts {
    const known = this.#days.get(name);
    if (known !== undefined) return known;
    if (this.#bytes > MOST_BYTES) {
      this.#days.clear();
      this.#bytes = 0;
    }
    const fresh = newCounts();
    this.#bytes += DAY_BYTES;
    this.#days.set(name, fresh);
    return fresh;
  }
}

/** Looks at the pages of a day behind some, a few at a time: from which on, to which, and what was found on them. */
async function* lookAtPages(query: Query, wanted: Wanted, looked: number) {
  const isWhole = wanted.filter === null && wanted.between === null;
  const pages = await readPages(query, wanted.stream, wanted.day);
  for (let from = looked, to: number; from < pages.length; from = to) {
    to = isWhole ? pages.length : Math.min(from + PAGES_AT_ONCE, pages.length);
    const next = pages.slice(from, to);
    yield { from, to, found: isWhole ? next : await countRecords(query, wanted, next) };
  }
}

/** The pages that hold `count` records from `offset` on, and how many come before the first that is asked for. */
export function locate(all: readonly PageCount[], offset: number, count: number) {
  let end = 0;
  let before = 0;
  const pages = all.filter(({ records }) => {
    const begin = end;
    end += records;
    if (end <= offset) before = end;
    return end > offset && begin < offset + count;
  });
  return { pages, skip: offset - before };
}

/** Counts what is wanted of a day from a record on; what is read at a time stands for a page. */
async function* lookAtMoved(query: Query, wanted: Wanted, read: ReadMoved, looked: number) {
  let from = looked;
  for await (const chunk of read(looked)) {
    const texts = chunk.map(({ text }) => text);
    const { counts } = await countGiven(query, wanted, texts);
    const to = from + chunk.length;
    yield { from, to, found: [{ walkId: 0, pageNo: 0, ...counts, from }] };
    from = to;
  }
}

/** The records of a whole day from one on. */
export async function readMoved(read: ReadMoved, from: number, most: number) {
  const texts: string[] = [];
  for await (const chunk of read(from)) {
    texts.push(...chunk.slice(0, most - texts.length).map(({ text }) => text));
    if (texts.length === most) break;
  }
  return texts;
}

/** What is wanted of some parts of a day; see {@link lookAtMoved}. */
export async function readWanted(
  query: Query,
  wanted: Wanted,
  read: ReadMoved,
  { pages, skip }: ReturnType<typeof locate>,
  most: number,
) {
  const found: string[] = [];
  for (const { from = 0, seen } of pages) {
    const texts = await readMoved(read, from, seen);
    const { places } = await countGiven(query, wanted, texts);
    for (const at of places) found.push(texts[at - 1] as string);
  }
  return found.slice(skip, skip + most);
}
