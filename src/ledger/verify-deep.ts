/** `verify --deep`: every page of every proven walk is asked for again and compared record by record. Nothing is changed. */
import { EnvelopeError } from '../errors.ts';
import { compareProbe } from '../store/evidence/probes.ts';
import {
  type AskedPage,
  type PublishedWalk,
  type PublishedWindow,
  readAskedPage,
} from '../store/evidence/proven.ts';
import { listMovedDays, type MovedRecords } from '../store/moved-days.ts';
import { askPage } from '../walk/answers.ts';
import { isRangeRefused, orNull } from '../walk/failures.ts';
import type { AskingContext } from '../walk/questions/context.ts';
import { targetOf } from '../walk/questions/span.ts';
import { type Compare, PagesGoneError } from './verify-source.ts';

/** How many places of records are told for each window. */
const PLACES = 5;
/** A source that gives pages without end is left after so many that no stored page stands for. */
const MOST_FURTHER_PAGES = 1_000;

/** Where the records of one side are that the other has not shown yet, by their hash. */
type Places = Map<string, number[]>;

/** Takes in records of a side: a record that both sides hold, on whatever page, has found its other half and is forgotten. */
function meet(own: Places, others: Places, first: number, hashes: readonly string[]): void {
  for (const [index, hash] of hashes.entries()) {
    const halves = others.get(hash);
    if (halves === undefined) {
      const places = own.get(hash) ?? [];
      places.push(first + index);
      own.set(hash, places);
    } else {
      halves.shift();
      if (halves.length === 0) others.delete(hash);
    }
  }
}

const inOrder = (places: Places): number[] => [...places.values()].flat().sort((a, b) => a - b);

/** Asks for every page of a window again, one after the other. */
export const comparePages =
  (movedRecords: MovedRecords): Compare =>
  async (context, window) => {
    const [storedOnly, cameOnly]: [Places, Places] = [new Map(), new Map()];
    let pages = 0;
    for (const walk of window.walks)
      pages += await compareWalk({ context, movedRecords, window, walk, storedOnly, cameOnly });
    const [vanished, appeared] = [inOrder(storedOnly), inOrder(cameOnly)];
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
  };

interface Comparison {
  readonly context: AskingContext;
  readonly movedRecords: MovedRecords;
  readonly window: PublishedWindow;
  readonly walk: PublishedWalk;
  readonly storedOnly: Places;
  readonly cameOnly: Places;
}

/** The stored pages of a walk, in order. @throws {PagesGoneError} */
async function* storedPages({
  context: { database, signal },
  movedRecords,
  window: { stream, day, place },
  walk: { walkId, pages, pagesBefore: from },
}: Comparison): AsyncGenerator<AskedPage> {
  if (pages === 0) return;
  const [moved] =
    place === 'tiered' ? await listMovedDays(database, [stream], { from: day, to: day }) : [];
  if (moved !== undefined) {
    const range = { from, to: from + pages };
    for await (const group of movedRecords.pages(moved, walkId, signal, range)) yield* group;
    return;
  }
  for (let pageNo = 0; pageNo < pages; pageNo++) {
    const page = await readAskedPage(database, walkId, pageNo);
    if (page === null) throw new PagesGoneError();
    yield page;
  }
}

/** @returns how many pages were asked for. */
async function compareWalk(comparison: Comparison): Promise<number> {
  const { walk, storedOnly, cameOnly } = comparison;
  let asked = 0;
  /** Asks for what no stored page stands for, up to `end`. */
  const further = async (from: number, end: number, length: number): Promise<void> => {
    let start = from;
    for (let pages = 0; start < end && pages < MOST_FURTHER_PAGES; pages++) {
      // Behind the last stored page, which may be the end of the list, a refusal is an answer too.
      const mayEnd = start > 0 && end === Number.POSITIVE_INFINITY;
      const asking = ask(comparison, start, Math.min(length, end - start), null);
      const came = mayEnd ? ((await orNull(asking, isRangeRefused)) ?? []) : await asking;
      asked += 1;
      if (came.length === 0) return;
      meet(cameOnly, storedOnly, start, came);
      start += came.length;
    }
  };
  for await (const page of storedPages(comparison)) {
    const { start, length, skip, hashes } = page;
    const came = (await ask(comparison, start, length, page)).slice(skip);
    asked += 1;
    const first = start + skip;
    const isLast = page.pageNo === walk.pages - 1;
    meet(storedOnly, cameOnly, first, hashes);
    // A source that gives longer pages than it did shows the next one's records too.
    meet(cameOnly, storedOnly, first, isLast ? came : came.slice(0, hashes.length));
    // One that gives shorter pages shows the rest when it is asked; behind the last page more may have come.
    await further(
      first + came.length,
      isLast ? Number.POSITIVE_INFINITY : first + hashes.length,
      length,
    );
  }
  return asked;
}

/** The hashes of the records that are shown now. @param stored the page that holds them, as far as any does. */
async function ask(
  { context, window, walk: { walkId } }: Comparison,
  start: number,
  length: number,
  stored: AskedPage | null,
): Promise<readonly string[]> {
  const { database, stream, knowledge } = context;
  // A source may have come to refuse pages as long as it gave then.
  const request = { ...targetOf(stream, window), start, length: knowledge.pageLength(length) };
  const { facts } = await askPage(context, request, (page, contract) => {
    // By number, a page may begin before that.
    const before = knowledge.paging === 'number' ? start % page.length : 0;
    return compareProbe(database, { streamId: knowledge.streamId, walkId, before }, page, contract);
  });
  const isNoList = facts.listType !== 'array' && facts.frame?.known === false;
  if (isNoList && stored !== null && stored.hashes.length > 0)
    throw new EnvelopeError(`the answer at start ${start} has no list where the record list was`);
  return facts.hashes;
}
