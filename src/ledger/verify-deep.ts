/** `verify --deep`: every page of every proven walk is fetched again and compared record by record. Nothing is changed. */
import { EnvelopeError, ObjectStoreError, RequestError } from '../errors.ts';
import type { Stream } from '../model.ts';
import { listMovedDays, type MovedPage, type MovedRecords } from '../store/moved-days.ts';
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

interface DeepParts extends SourceCheckParts {
  readonly movedRecords: MovedRecords;
}

/** The pages of a window went while it was compared. */
class PagesGoneError extends Error {
  override readonly message = 'its pages moved or were pruned meanwhile: run it again';
}

/** Fetches every page of each window again; the pages of one come one after the other. */
export const verifyPages = (movedRecords: MovedRecords) =>
  eachBy((parts, stream, window, signal) =>
    compareWindow({ ...parts, movedRecords }, stream, window, signal).catch((error: unknown) => {
      const ofTheWindow =
        error instanceof PagesGoneError ||
        (error instanceof ObjectStoreError && error.fault === 'settings');
      if (!ofTheWindow) throw error;
      return { window, state: 'unknown', differences: [error.message] };
    }),
  );

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
  parts: DeepParts,
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

/** How a stored page was asked for; with its body where it is not in `daywalk.pages`. */
type StoredPage = AskedPage & Partial<Pick<MovedPage, 'body'>>;

/** The stored pages of a walk, in order. */
async function* storedPages(
  { database, movedRecords }: DeepParts,
  { window: { stream, day, place }, walk, signal }: Comparison,
): AsyncGenerator<StoredPage> {
  const { walkId, pages, pagesBefore: from } = walk;
  if (pages === 0) return;
  const [moved] =
    place === 'tiered'
      ? await listMovedDays(database, [stream], { from: day, to: day }, signal)
      : [];
  if (moved === undefined) yield* await listAskedPages(database, walkId);
  else {
    const range = { from, to: from + pages };
    for await (const group of movedRecords.pages(moved, walkId, signal, range)) yield* group;
  }
}

/** @returns how many pages were fetched. */
async function compareWalk(parts: DeepParts, comparison: Comparison): Promise<number> {
  const { lone, walk } = comparison;
  let [fetched, stored] = [0, 0];
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
  for await (const page of storedPages(parts, comparison)) {
    const came = await fetchAndCompare(parts, comparison, page, page);
    fetched += 1;
    stored += 1;
    const first = page.start + page.skip;
    const isLast = page.pageNo === walk.pages - 1;
    // A source that gives longer pages than it did shows the next one's records too.
    const own = isLast
      ? came.cameOnly
      : came.cameOnly.filter((one) => one.position <= page.records);
    lone.add(first, first, { ...came, cameOnly: own });
    // One that gives shorter pages shows the rest when it is asked; behind the last page more may have come.
    const end = isLast ? Number.POSITIVE_INFINITY : first + page.records;
    await further(first + came.records, end, page.length);
  }
  if (stored !== walk.pages) throw new PagesGoneError();
  return fetched;
}

async function fetchAndCompare(
  { database, fetchPage }: SourceCheckParts,
  { stream, window, walk, signal }: Comparison,
  { start, length, skip }: Pick<AskedPage, 'start' | 'length' | 'skip'>,
  stored: StoredPage | null,
): Promise<PageDifference & { records: number }> {
  const request = { ...targetOf(stream, window), start, length };
  let body: Buffer;
  try {
    body = (await fetchPage(request, { signal })).body;
  } catch (error) {
    // Behind the last stored page, which may be the end of the list, an error is an answer too.
    if (!(error instanceof RequestError) || start === 0 || stored !== null) throw error;
    return { isStored: true, records: 0, storedOnly: [], cameOnly: [] };
  }
  const { walkId, recordsPath } = walk;
  const counterpart = {
    walkId,
    pageNo: stored?.pageNo ?? null,
    moved: stored?.body,
    skip,
    recordsPath,
  };
  const came = await comparePage(database, counterpart, body, signal);
  if (!came.isStored) throw new PagesGoneError();
  // Where nothing is stored, an answer without a list shows nothing either.
  if (came.records === null && (stored?.records ?? 0) > 0)
    throw new EnvelopeError(`the answer at start ${start} has no list where the record list was`);
  return { ...came, records: came.records ?? 0 };
}
