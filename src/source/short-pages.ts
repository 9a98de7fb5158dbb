/** Some sources refuse pages below some length, or of any length but a few: they are asked for a longer one in place of each. */
import { RequestError } from '../errors.ts';
import type { Page, PageRequest } from '../model.ts';

/** Refusals that may be those of a length. */
const REFUSALS = new Set([400, 422]);
/** Lengths that sources name; the last one is asked for where nothing was answered yet. */
const USUAL = [2, 5, 10, 20, 25, 50];

/**
 * Fetches pages by `fetch`. One that is refused, and shorter than any that was answered, is asked for as long as the longest of these;
 * where that one is answered, it is the length that is refused, and the next longer one that is not is asked for in its place from then on.
 */
export function lengtheningPages<Options>(
  fetch: (request: PageRequest, options: Options) => Promise<Page>,
): (request: PageRequest, options: Options) => Promise<Page> {
  const answered = new Set<number>();
  const refused = new Set<number>();
  const isTooShort = (length: number) =>
    refused.has(length) || (refused.size > 0 && length < Math.min(...answered));
  const longerThan = (length: number) => Math.min(...[...answered].filter((each) => each > length));
  return async (request, options) => {
    const ask = async (length: number) => {
      const page = await fetch({ ...request, length }, options);
      answered.add(length);
      return page;
    };
    const length = isTooShort(request.length) ? longerThan(request.length) : request.length;
    return ask(length).catch(async (error: unknown) => {
      const isRefused = error instanceof RequestError && REFUSALS.has(error.status);
      const longest = Math.max(...(answered.size > 0 ? answered : USUAL));
      const isOther = refused.size === 0 && length > Math.min(...answered);
      if (!isRefused || answered.has(length) || length >= longest || isOther) throw error;
      // Where it is refused, too, it is not for its length.
      const page = await ask(longest).catch(() => Promise.reject(error));
      refused.add(length);
      const others = [...new Set([...USUAL, ...answered])].sort((one, other) => one - other);
      // As short as can be: the next walk of a list is to have other pages.
      for (const longer of others.filter((each) => each > length && each < longest)) {
        const shorter = await ask(longer).catch(() => null);
        if (shorter !== null) return shorter;
        refused.add(longer);
      }
      return page;
    });
  };
}
