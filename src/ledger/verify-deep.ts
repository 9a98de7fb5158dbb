/** `verify --deep`: every page of every proven walk is fetched again and compared record by record. Nothing is changed. */
import { EnvelopeError, RequestError } from '../errors.ts';
import type { Stream } from '../model.ts';
import { comparePage, type PageDifference } from '../store/page-difference.ts';
import {
  type AskedPage,
  listAskedPages,
  type PublishedWalk,
  type PublishedWindow,
} from '../store/proven.ts';
import { targetOf } from '../walk/span.ts';
import { eachBy, type SourceCheckParts, type WindowVerdict } from './verify-source.ts';

/** How many places of records are told for each window. */
const PLACES = 5;
/** A source that gives pages without end is left after so many that no stored page stands for. */
const MOST_FURTHER_PAGES = 1_000;

/** Fetches every page of each window again; the pages of one come one after the other. */
export const verifyPages = eachBy(compareWindow);

/** Records by their hash: places in the stored list, and in the source's. A record on both sides only moved. */
class LoneRecords {
  readonly #places = new Map<string, { stored: number[]; came: number[] }>();

  /** Takes in what differs on a page. */
  add(storedStart: number, cameStart: number, page: PageDifference): void {
    for (const { position, hash } of page.storedOnly)
      this.#of(hash).stored.push(storedStart + position - 1);
    for (const { position, hash } of page.cameOnly)
      this.#of(hash).came.push(cameStart + position - 1);
    // What has found its other half on another page is of no more interest.
    for (const { hash } of [...page.storedOnly, ...page.cameOnly]) {
      const places = this.#places.get(hash);
      while (places !== undefined && places.stored.length > 0 && places.came.length > 0) {
        places.stored.shift();
        places.came.shift();
      }
      if (places?.stored.length === 0 && places.came.length === 0) this.#places.delete(hash);
    }
  }

  /** Where the records are that have no other half, in order. */
  get left(): { vanished: number[]; appeared: number[] } {
    const all = [...this.#places.values()];
    const sorted = (places: number[]) => places.sort((a, b) => a - b);
    return {
      vanished: sorted(all.flatMap(({ stored }) => stored)),
      appeared: sorted(all.flatMap(({ came }) => came)),
    };
  }

  #of(hash: string): { stored: number[]; came: number[] } {
    const places = this.#places.get(hash) ?? { stored: [], came: [] };
    this.#places.set(hash, places);
    return places;
  }
}

async function compareWindow(
  parts: SourceCheckParts,
  stream: Stream,
  window: PublishedWindow,
  signal: AbortSignal,
): Promise<WindowVerdict> {
  const lone = new LoneRecords();
  let pages = 0;
  for (const walk of window.walks)
    pages += await compareWalk(parts, { stream, window, walk, lone, signal });
  const { vanished, appeared } = lone.left;
  const unstable = window.walks.some(({ proof }) => proof.kind === 'union');
  const same = vanished.length === 0 && appeared.length === 0;
  const doubt =
    'the source does not keep its order: a record that one pass does not show may still be there';
  return {
    window,
    state: same ? 'same' : 'changed',
    differences: !same && unstable ? [doubt] : [],
    records: {
      vanished: vanished.length,
      appeared: appeared.length,
      vanishedAt: vanished.slice(0, PLACES),
      appearedAt: appeared.slice(0, PLACES),
      pages,
    },
  };
}

interface Comparison {
  readonly stream: Stream;
  readonly window: PublishedWindow;
  readonly walk: PublishedWalk;
  readonly lone: LoneRecords;
  readonly signal: AbortSignal;
}

/** @returns how many pages were fetched. */
async function compareWalk(parts: SourceCheckParts, comparison: Comparison): Promise<number> {
  const { lone, walk } = comparison;
  const asked = await listAskedPages(parts.database, walk.walkId);
  let fetched = 0;
  /** Fetches what no stored page stands for, up to `end`. */
  const further = async (from: number, end: number, length: number): Promise<void> => {
    let start = from;
    for (let pages = 0; start < end && pages < MOST_FURTHER_PAGES; pages++) {
      const request = { start, length: Math.min(length, end - start), skip: 0 };
      const came = await fetchAndCompare(parts, comparison, request, null);
      fetched += 1;
      if (came.records === 0) return;
      lone.add(start, start, came);
      start += came.records;
    }
  };
  for (const [index, page] of asked.entries()) {
    const came = await fetchAndCompare(parts, comparison, page, page.pageNo);
    fetched += 1;
    const first = page.start + page.skip;
    const isLast = index === asked.length - 1;
    // A source that gives longer pages than it did shows the next one's records too.
    const own = isLast
      ? came.cameOnly
      : came.cameOnly.filter((one) => one.position <= page.records);
    lone.add(first, first, { ...came, cameOnly: own });
    // One that gives shorter pages shows the rest when it is asked; behind the last page more may have come.
    const end = isLast ? Number.POSITIVE_INFINITY : first + page.records;
    await further(first + came.records, end, page.length);
  }
  return fetched;
}

async function fetchAndCompare(
  { database, fetchPage }: SourceCheckParts,
  { stream, window, walk, signal }: Comparison,
  {
    start,
    length,
    skip,
    records,
  }: Pick<AskedPage, 'start' | 'length' | 'skip'> & { records?: number },
  pageNo: number | null,
): Promise<PageDifference & { records: number }> {
  const request = { ...targetOf(stream, window), start, length };
  let body: Buffer;
  try {
    body = (await fetchPage(request, { signal })).body;
  } catch (error) {
    // Behind the last stored page, which may be the end of the list, an error is an answer too.
    if (!(error instanceof RequestError) || start === 0 || pageNo !== null) throw error;
    return { records: 0, total: null, storedOnly: [], cameOnly: [] };
  }
  const { walkId, contract } = walk;
  const came = await comparePage(database, { walkId, pageNo, skip, contract }, body, signal);
  // Where nothing is stored, an answer without a list shows nothing either.
  if (came.records === null && (records ?? 0) > 0)
    throw new EnvelopeError(`the answer at start ${start} has no list where the record list was`);
  return { ...came, records: came.records ?? 0 };
}
