/** How many records of each page a request asks for, so that any offset is found without reading the pages before it. */
import type { Day } from '../model.ts';
import type { Query } from '../store/database.ts';
import { countPagesAfter, countWholePages, type PageCount, type Wanted } from '../store/served.ts';
import { Refusal } from './refusal.ts';

/** A page with records that are asked for. */
interface IndexedPage {
  readonly walkId: string;
  readonly pageNo: number;
  /** Records of this page and those before it. */
  readonly end: number;
}

/** The pages of a day in order, with running counts. */
export interface DayIndex {
  readonly pages: readonly IndexedPage[];
  readonly records: number;
}

/** Pages with their counts that are remembered, in all indexes together: about 100 bytes each. */
const MOST_PAGES = 500_000;

/** The indexes of the days that were asked for last; what is shown of a day is a part of the name, so none is ever stale. */
export class IndexMemory {
  readonly #indexes = new Map<string, DayIndex>();
  readonly #sizes = new Map<string, number>();
  #pages = 0;

  /** The index of what is wanted of a day, made where it is not known. */
  async of(query: Query, name: string, wanted: Wanted, signal: AbortSignal): Promise<DayIndex> {
    const known = this.#indexes.get(name);
    if (known !== undefined) {
      // The one used last goes last.
      this.#indexes.delete(name);
      this.#indexes.set(name, known);
      return known;
    }
    const index = await makeIndex(query, wanted, signal);
    this.#indexes.set(name, index);
    this.#sizes.set(name, index.pages.length + 1);
    this.#pages += index.pages.length + 1;
    for (const oldest of this.#indexes.keys()) {
      if (this.#pages <= MOST_PAGES || oldest === name) break;
      this.#indexes.delete(oldest);
      this.#pages -= this.#sizes.get(oldest) ?? 0;
      this.#sizes.delete(oldest);
    }
    return index;
  }
}

async function makeIndex(query: Query, wanted: Wanted, signal: AbortSignal): Promise<DayIndex> {
  const pages: IndexedPage[] = [];
  let end = 0;
  let seen = 0;
  const take = (counts: readonly PageCount[]) => {
    seen += counts.length;
    for (const { walkId, pageNo, records, timeless } of counts) {
      if (timeless > 0) throw withoutTime(wanted, timeless);
      if (records === 0) continue;
      end += records;
      pages.push({ walkId, pageNo, end });
    }
  };
  if (wanted.filter === null && wanted.between === null) take(await countWholePages(query, wanted));
  else {
    let after: Pick<PageCount, 'walkId' | 'pageNo'> = { walkId: '0', pageNo: -1 };
    for (;;) {
      signal.throwIfAborted();
      const counts = await countPagesAfter(query, wanted, after);
      const last = counts.at(-1);
      if (last === undefined) break;
      take(counts);
      after = last;
    }
  }
  if (seen !== wanted.pages) throw changedMeanwhile(wanted.day);
  return { pages, records: end };
}

/**
 * Pages were removed while they were read. A snapshot does not keep what `truncate` empties (retention does that with a
 * month), so what is there is counted: an answer without these records would look whole.
 */
export function changedMeanwhile(day: Day): Refusal {
  return new Refusal(503, `${day} changed while it was read`, { hint: 'Ask again.' });
}

function withoutTime({ day }: Wanted, count: number): Refusal {
  return new Refusal(
    422,
    `${count} records on one page of ${day} have no time that can be read: a piece of that day cannot be told from the rest`,
    { hint: 'Ask for whole days, or name the field in daywalk.yaml, as archive.time.' },
  );
}

/** Pages that hold the records asked for. */
export interface Located {
  readonly pages: readonly IndexedPage[];
  /** Records on them. */
  readonly records: number;
  /** How many of these come before the first that is asked for. */
  readonly before: number;
}

/** The pages that hold `count` records from `offset` on. */
export function locate({ pages }: DayIndex, offset: number, count: number): Located {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pages[middle]?.end ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  let last = low;
  while (last < pages.length && (last === low || (pages[last - 1]?.end ?? 0) < offset + count))
    last += 1;
  const [start, end] = [pages[low - 1]?.end ?? 0, pages[last - 1]?.end ?? 0];
  return { pages: pages.slice(low, last), records: end - start, before: offset - start };
}
