/** Some sources refuse pages below some length, or of any length but a few: they are asked for a longer one in place of each. */
import { RequestError } from '../errors.ts';
import type { Page, PageRequest } from '../model.ts';

/** Refusals that may be those of a length. */
const REFUSALS = new Set([400, 422]);

/**
 * Fetches pages by `fetch`. One that is refused, and shorter than any that was answered, is asked for as long as the shortest of these;
 * where that one is answered, all are from then on that are shorter.
 */
export function lengtheningPages<Options>(
  fetch: (request: PageRequest, options: Options) => Promise<Page>,
): (request: PageRequest, options: Options) => Promise<Page> {
  let shortest = Number.POSITIVE_INFINITY;
  let least = 1;
  return async (request, options) => {
    const ask = async (length: number) => {
      const page = await fetch({ ...request, length }, options);
      shortest = Math.min(shortest, length);
      return page;
    };
    const length = Math.max(request.length, least);
    return ask(length).catch(async (error: unknown) => {
      const isRefused = error instanceof RequestError && REFUSALS.has(error.status);
      if (!isRefused || length >= shortest || shortest === Number.POSITIVE_INFINITY) throw error;
      const longer = shortest;
      // Where it is refused, too, it is not for its length.
      const page = await ask(longer).catch(() => Promise.reject(error));
      least = longer;
      return page;
    });
  };
}
