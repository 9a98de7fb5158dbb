/** How many records of each page a request asks for, so that any offset is found without reading the pages before it. */
import { createHash } from 'node:crypto';
import type { Query } from '../store/database.ts';
import { lookAtMoved, type MovedPlace } from './moved.ts';
import { countRecords, type PageCount, readPages, type ServedDay, type Wanted } from './rows.ts';

/** What is wanted of a day, as far as it was looked at. */
interface DayCounts {
  /** Those that hold any, in order. */
  readonly pages: PageCount[];
  /** Pages that were looked at; of a day that moved, records. */
  looked: number;
  /** Sums over these pages; see {@link PageCount}. */
  seen: number;
  records: number;
  undecided: number;
  timeless: number;
}

/** One statement looks at the records of no more pages. */
const PAGES_AT_ONCE = 16;
/** What is remembered: counts of a page take about 100 bytes, and a day as much as some pages. */
const MOST_BYTES = 50_000_000;
const PAGE_BYTES = 100;
const DAY_BYTES = 1_000;

/** The counts of the days that were asked for; what is shown of a day is a part of the name, so none is ever stale. */
export class Counts {
  readonly #days = new Map<string, DayCounts>();
  #bytes = 0;

  /** What is wanted of a day. Where it is stopped, whoever asks next goes on from there. */
  async of(
    query: Query,
    wanted: Wanted,
    day: ServedDay,
    moved: MovedPlace | undefined,
    signal: AbortSignal,
  ): Promise<DayCounts> {
    const text = JSON.stringify([wanted, day.version, day.state]);
    const name = createHash('sha256').update(text).digest('base64');
    const counts = this.#remembered(name);
    if (counts.seen === day.records) return counts;
    const looks =
      moved === undefined
        ? lookAtPages(query, wanted, counts.looked)
        : lookAtMoved(query, wanted, moved, counts.looked, signal);
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
    const fresh = { pages: [], looked: 0, seen: 0, records: 0, undecided: 0, timeless: 0 };
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
