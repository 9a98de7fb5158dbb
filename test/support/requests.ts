/** Which pages the API was asked for, from the simulator's log. */
import type { LoggedRequest } from '../../simulator/simulator.ts';
import type { TestDatabase } from './database.ts';

/** Questions ask for up to three records, whatever the page length is; they store nothing. */
const QUESTION_LENGTHS = ['1', '2', '3'];
/** What is asked around a cut reaches no further; windows are longer. */
const LONGEST_CUT_MS = 5 * 60_000;

/** Requests for days and their parts, without those about cuts, which are asked twice on purpose. */
export const withoutCuts = (requests: readonly LoggedRequest[]): LoggedRequest[] =>
  requests.filter(
    ({ query }) =>
      Date.parse(`${query.toDate}Z`) - Date.parse(`${query.fromDate}Z`) > LONGEST_CUT_MS,
  );

/** One request for a page. */
export interface PageAsked {
  /** Resource and first second. */
  readonly window: string;
  /** Resource, both ends, start and length: two walks that ask for the same page. */
  readonly page: string;
}

/** The window and place of each request for a page, without questions and cuts. */
export function pagesAsked(requests: readonly LoggedRequest[]): PageAsked[] {
  return withoutCuts(requests)
    .filter(({ query }) => !QUESTION_LENGTHS.includes(query.length ?? ''))
    .map(({ resource, query }) => ({
      window: `${resource} ${query.fromDate}`,
      page: `${resource} ${query.fromDate} to ${query.toDate} ${query.start}+${query.length}`,
    }));
}

/**
 * The pages that are stored, as `PageAsked.page` names them; without those of halves, which are windows of no row, and
 * without empty ones, which are asked for again on purpose.
 */
export async function pagesStored(database: TestDatabase): Promise<Set<string>> {
  const rows = await database.query<{ page: string }>(
    `select s.resource || ' ' || w.from_time || ' to ' || w.to_time || ' ' || p.start || '+' || p.length as page
       from daywalk.pages p
       join daywalk.walks k on k.walk_id = p.walk_id and k.day = p.day and k.role = 'whole' and p.records > 0
       join daywalk.windows w on w.window_id = k.window_id
       join daywalk.streams s on s.stream_id = w.stream_id`,
  );
  return new Set(rows.map(({ page }) => page));
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
