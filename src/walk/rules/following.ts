/** Where the pages after the next one begin, as far as the pages that came can tell; pure. */
import { skipOf, type WalkObserved } from './observed.ts';

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
  #pages = MOST_TRUST;

  /** Pages of one walk. */
  get pages(): number {
    return Math.max(0, this.#pages);
  }

  /** A page came as full as those before. */
  confirmed(): void {
    this.#pages = this.#pages < 1 ? this.#pages + 1 : Math.min(MOST_TRUST, this.#pages * 2);
  }

  /** Pages ahead had to be thrown away. */
  surprised(): void {
    this.#pages = 1 - PAGES_PER_GUESS;
  }
}

const MOST_TRUST = 1024;
