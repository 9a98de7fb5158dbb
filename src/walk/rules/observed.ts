/** What a walk has seen so far: a fold over its pages, so that a worker that takes over knows what the first one knew. */

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
