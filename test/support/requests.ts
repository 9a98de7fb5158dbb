/** Which pages the API was asked for, from the simulator's log. */
import type { LoggedRequest } from '../../simulator/simulator.ts';

/** A probe asks for two records, whatever the page length is; it stores nothing. */
const PROBE_LENGTH = '2';

/** The window and start of each request for a page, probes left out. */
export function pagesAsked(requests: readonly LoggedRequest[]): { window: string; page: string }[] {
  return requests
    .filter(({ query }) => query.length !== PROBE_LENGTH)
    .map(({ resource, query }) => {
      const window = `${resource} ${query.fromDate}`;
      return { window, page: `${window} ${query.start}` };
    });
}

/** For each window the pages that were asked for more than once, or again after `earlier` requests. */
export function askedAgain(
  requests: readonly LoggedRequest[],
  earlier: readonly LoggedRequest[] = [],
): Map<string, string[]> {
  const known = new Set(pagesAsked(earlier).map(({ page }) => page));
  const again = new Map<string, string[]>();
  for (const { window, page } of pagesAsked(requests)) {
    if (known.has(page)) again.set(window, [...(again.get(window) ?? []), page]);
    known.add(page);
  }
  return again;
}
