/** What a walk has seen so far: a fold over its pages, so that a worker that takes over knows what the first one knew. */

/** What one stored page showed. */
export interface PageSeen {
  /** New records: without one that was asked for again. */
  readonly records: number;
  /** 1: the last record of the page before was asked for again, and came first. */
  readonly skip: number;
  readonly total: number | null;
  /** `gte`: the total is a lower bound, by the source's own word. */
  readonly relation: string | null;
  /** It equals an earlier page of the walk, record by record. */
  readonly repeats: boolean;
}

/** The state of the fold. */
export interface WalkSeen {
  /** The length that its pages ask for. */
  readonly pageLength: number;
  readonly pages: number;
  /** Records stored; the next start. */
  readonly records: number;
  /** New records on the last page. */
  readonly lastRecords: number;
  /** All records on the last page. */
  readonly lastCame: number;
  readonly largestPage: number;
  /** The largest page of any walk of the stream: what a full page looks like where the source clamps `length`. */
  readonly fullPage: number;
  readonly firstTotal: number | null;
  readonly lastTotal: number | null;
  /** More came than the total says, or the source says so: the total proves nothing. */
  readonly lowerBound: boolean;
  /** A page carried a total larger than itself, so the total is not merely the page's own count. */
  readonly totalsMeanWindow: boolean;
  /** The last page equals an earlier one, record by record. */
  readonly repeats: boolean;
  /** The far request has shown that the source does look at `start`. */
  readonly startHonoured: boolean;
  /** Pages without records in a row, at the end. */
  readonly emptyRun: number;
  /** Windows of this size were proven beyond a walk from start to end: an end below it is no cap. */
  readonly provenSize: number;
  /** How deep paging goes; null: not known. */
  readonly offsetCap: number | null;
  /** A window of more records is to be walked in parts; null: it is walked whole, however large it is. */
  readonly mostRecords: number | null;
  /** The checkpoint at which a probe has shown more records; −1: none. */
  readonly moreAt: number;
}

/** What other walks of the stream have shown. */
export interface StreamSeen {
  readonly fullPage: number;
  readonly totalsMeanWindow: boolean;
  readonly provenSize: number;
  readonly offsetCap: number | null;
}

/** How large a list may be to be walked. */
export interface WalkLimit {
  /** A window of more records is not walked whole; absent or null: it is. */
  readonly mostRecords?: number | null;
}

const NOTHING_KNOWN: StreamSeen = {
  fullPage: 0,
  totalsMeanWindow: false,
  provenSize: 0,
  offsetCap: null,
};

/** A walk before its first page. */
export function nothingSeen(
  pageLength: number,
  stream: StreamSeen = NOTHING_KNOWN,
  mostRecords: number | null = null,
): WalkSeen {
  return {
    pageLength,
    pages: 0,
    records: 0,
    lastRecords: 0,
    lastCame: 0,
    largestPage: 0,
    fullPage: stream.fullPage,
    firstTotal: null,
    lastTotal: null,
    lowerBound: false,
    totalsMeanWindow: stream.totalsMeanWindow,
    provenSize: stream.provenSize,
    offsetCap: stream.offsetCap,
    mostRecords,
    emptyRun: 0,
    repeats: false,
    startHonoured: false,
    moreAt: -1,
  };
}

/** The walk after one more page. */
export function withPage(seen: WalkSeen, page: PageSeen): WalkSeen {
  const records = seen.records + page.records;
  const came = page.records + page.skip;
  const beyond = page.total !== null && records > Math.max(page.total, seen.firstTotal ?? 0);
  return {
    ...seen,
    pages: seen.pages + 1,
    records,
    lastRecords: page.records,
    lastCame: came,
    emptyRun: page.records === 0 ? seen.emptyRun + 1 : 0,
    largestPage: Math.max(seen.largestPage, came),
    fullPage: Math.max(seen.fullPage, came),
    firstTotal: seen.pages === 0 ? page.total : seen.firstTotal,
    lastTotal: page.total,
    lowerBound: seen.lowerBound || page.relation === 'gte' || beyond,
    totalsMeanWindow:
      seen.totalsMeanWindow || (page.total !== null && came > 0 && page.total > came),
    repeats: page.records > 0 && page.repeats,
  };
}

/**
 * Whether the next page begins with the last record stored, so that a list that moved between two pages is noticed
 * (docs/decisions/0008). A source that gives one record at a time would never get on so.
 */
export function skipOf(seen: WalkSeen): 0 | 1 {
  return seen.records > 0 && seen.largestPage > 1 ? 1 : 0;
}
