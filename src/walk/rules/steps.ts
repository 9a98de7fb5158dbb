/** What a walk asks for next; pure. */
import { WalkError } from '../../errors.ts';
import { beginsPage, skipOf, type WalkObserved } from './observed.ts';
import { isPowerOfTwo } from './verdict.ts';

/** How a walk is to go; absent: not so. */
export interface WalkManner {
  /**
   * One page is all: what an order that does not hold can show at once. What comes behind it is asked for where it is as large as
   * any; behind the first ones, however short they are.
   */
  readonly onePage?: 'first' | 'another';
  /** All pages, none of which begins with the last record of the one before: of an order that does not hold, and more than a page. */
  readonly unlinked?: boolean;
  /** A window with a larger total is not walked whole; null: it is, however large. */
  readonly mostRecords?: number | null;
}

/** Pages of an order that does not hold: more of them would lack something each time. */
const MOST_UNLINKED = 20;

/** What is known beside what the walk has seen. */
export interface StepKnowledge extends WalkManner {
  readonly pageLength: number;
  /** How deep paging goes; null: not known. */
  readonly offsetCap: number | null;
  /** The verdict lacks no end. */
  readonly suffices: boolean;
}

/**
 * The next page, a probe from the last record on, the same empty window again, or nothing.
 * @throws {WalkError} where the list is too long to be walked whole.
 */
export function nextStep(
  observed: WalkObserved,
  known: StepKnowledge,
): 'page' | 'probe' | 'confirm' | 'open' {
  const { pages, records, lastTotal, lastCame, largestPage, paging } = observed;
  if (pages === 0) return 'page';
  if (records === 0) return 'confirm';
  if (known.unlinked) return unlinkedStep(observed);
  if (known.onePage !== undefined) return 'open';
  refuseLong(observed, known);
  if (known.suffices) return 'open';
  if (known.offsetCap !== null && records >= known.offsetCap)
    throw new WalkError('beyond-known-cap', `paging goes no deeper than ${known.offsetCap}`);
  // By number the next page begins at a multiple of the length, and nothing else is one.
  if (paging === 'number' && records % largestPage !== 0) return 'probe';
  if (lastTotal !== null) return lastTotal > records ? 'page' : 'probe';
  const full = lastCame >= Math.min(known.pageLength, largestPage) && lastCame > 1 && pages > 1;
  return full || lastCame >= known.pageLength ? 'page' : 'probe';
}

/** @throws {WalkError} where it is no short list, or one that never ends. */
function unlinkedStep({ pages, lastCame, largestPage }: WalkObserved): 'page' | 'open' {
  if (lastCame < largestPage) return 'open';
  if (pages < MOST_UNLINKED) return 'page';
  throw new WalkError('capped', `the order does not hold, and ${pages} pages are not all of it`);
}

/** After the first page its total tells whether the list is walked whole. */
function refuseLong({ pages, records, lastTotal }: WalkObserved, known: StepKnowledge): void {
  if (pages !== 1 || lastTotal === null) return;
  const { mostRecords = null, offsetCap } = known;
  if (mostRecords !== null && lastTotal > Math.max(mostRecords, records))
    throw new WalkError(
      'large',
      `the total says ${lastTotal}: more than ${mostRecords} records are walked in parts`,
    );
  if (offsetCap !== null && lastTotal > offsetCap)
    throw new WalkError(
      'beyond-known-cap',
      `the total says ${lastTotal}, and paging goes no deeper than ${offsetCap}`,
    );
}

/**
 * Where the next page begins, and how many records it asks for, at most `most`: none behind a known depth. Pages by number
 * are multiples of what the first one held, which may be less than was asked for. Where only one record a page was seen, two
 * are asked for now and then, from an even start: those are the same two where pages are counted by number.
 */
export function pageAfter(observed: WalkObserved, most: number, offsetCap: number | null) {
  const { records, largestPage, paging } = observed;
  const skip = skipOf(observed);
  const start = records - skip;
  if (records > 0 && paging === 'number') return { start, length: largestPage };
  if (records > 0 && largestPage === 1)
    return { start, length: Math.min(most, records > 1 && isPowerOfTwo(records) ? 2 : 1) };
  const deepest = offsetCap ?? Number.POSITIVE_INFINITY;
  const length = Math.min(most, observed.mostLength ?? most, deepest - start);
  return { start, length: Math.max(1 + skip, length) };
}

/** So many lengths at most are asked with in turn. */
const OTHER_LENGTHS = 40;

/**
 * Lengths to ask with from the last record on: none was asked for on this walk, so that no cache between answers for the source; and
 * of none does a page begin there, as far as there is any, so that pages by number show other records.
 * @param length of the pages.
 * @returns one at least, the longest first.
 */
export function otherLengths(length: number, records: number): readonly [number, ...number[]] {
  const most = Math.max(2, records % 2 === 0 ? length - 1 : length);
  const least = Math.max(2, Math.min(most / 2, most - OTHER_LENGTHS));
  const [first = most, ...others] = downFrom(most, OTHER_LENGTHS).filter(
    (each) => each >= least && !beginsPage(records - 1, each),
  );
  return [first, ...others];
}

/** So many lengths, the longest first. */
export const downFrom = (longest: number, count: number): number[] =>
  Array.from({ length: count }, (_, less) => longest - less);
