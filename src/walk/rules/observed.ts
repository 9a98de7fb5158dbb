/**
 * What a walk has seen so far: a fold over its pages, so that a worker that takes over knows what the first one knew; and where
 * the pages after the next one begin, as far as those can tell; pure.
 */

/** How the source finds the page of an offset: by the offset itself, or by `floor(start / length)`. */
export type Paging = 'offset' | 'number';

/** What one stored page showed. */
export interface PageObserved {
  /** New records: without one that was asked for again. */
  readonly records: number;
  /** 1: the last record of the page before was asked for again, and came first. */
  readonly skip: number;
  readonly total: number | null;
  /** Of its records, in order. */
  readonly digest?: string;
}

/** The state of the fold. */
export interface WalkObserved {
  readonly paging: Paging;
  readonly pages: number;
  /** Records stored; the next start. */
  readonly records: number;
  /** All records of the last page, and of the largest one. */
  readonly lastCame: number;
  readonly largestPage: number;
  /** The total on the newest page that told one. */
  readonly lastTotal: number | null;
  /** Digests of the first page, and of the newest one. */
  readonly first?: string | undefined;
  readonly newest?: string | undefined;
  /** A page has no room for the last record and the one behind it. */
  readonly apart?: boolean;
  /** A longer page came empty where one of this length did not: a cache may give the same answer again. */
  readonly mostLength?: number | undefined;
}

/** A walk before its first page. */
export function nothingObserved(paging: Paging): WalkObserved {
  return { paging, pages: 0, records: 0, lastCame: 0, largestPage: 0, lastTotal: null };
}

/** The walk after one more page. */
export function withPage(observed: WalkObserved, page: PageObserved): WalkObserved {
  const lastCame = page.records + page.skip;
  return {
    ...observed,
    pages: observed.pages + 1,
    records: observed.records + page.records,
    lastCame,
    largestPage: Math.max(observed.largestPage, lastCame),
    lastTotal: page.total ?? observed.lastTotal,
    first: observed.first ?? page.digest,
    newest: page.digest,
    apart: false,
    mostLength: undefined,
  };
}

/**
 * Whether the next page begins with the last record stored, so that a list that moved between two pages is noticed
 * (docs/decisions/0008). A source that gives one record at a time, or pages by number, would never get on so; nor where both
 * records do not fit into one page.
 */
export function skipOf(observed: WalkObserved): 0 | 1 {
  const { records, largestPage, paging, apart } = observed;
  return records > 0 && largestPage > 1 && paging === 'offset' && !apart ? 1 : 0;
}

/** Whether a page by number begins there, too: then its first record does not tell how pages are counted. */
export const beginsPage = (start: number, length: number): boolean => start % length === 0;

/** Without a total, so many full pages in a row earn one page ahead: a window's end wastes a quarter of its pages at most. */
export const PAGES_PER_GUESS = 4;

/**
 * @param length records that the pages ask for.
 * @param fullRun pages in a row, up to now, that came as full as the largest.
 * @param most how many starts are wanted at most, where a total tells and where none does.
 * @returns starts of pages, in order, and whether a total says that each of them is there; else they are guessed, and may be behind the end.
 */
export function following(
  observed: WalkObserved,
  length: number,
  fullRun: number,
  most: { readonly certain: number; readonly guessed: number },
) {
  const skip = skipOf(observed);
  // A source that clamps the length gives the next page as it gave the largest.
  const advance = Math.min(observed.largestPage, length) - skip;
  const total = observed.lastTotal ?? 0;
  const certain = observed.records < total;
  if (observed.pages === 0 || observed.lastCame === 0 || advance < 1)
    return { starts: [], certain };
  const count = certain
    ? Math.min(most.certain, Math.ceil((total - observed.records) / advance) - 1)
    : Math.min(most.guessed, Math.floor(fullRun / PAGES_PER_GUESS));
  const first = observed.records - skip;
  return { certain, starts: Array.from({ length: count }, (_, n) => first + (n + 1) * advance) };
}

/** How far ahead the pages of a stream may be asked for; a page that came otherwise than foretold takes it away, full ones earn it back. */
export class Trust {
  #pages = Number.POSITIVE_INFINITY;

  /** Pages of one walk. */
  get pages(): number {
    return Math.max(0, this.#pages);
  }

  /** A page came as full as those before. */
  confirmed(): void {
    this.#pages += Math.max(1, this.#pages);
  }

  /** Pages ahead had to be thrown away. */
  surprised(): void {
    this.#pages = 1 - PAGES_PER_GUESS;
  }
}
