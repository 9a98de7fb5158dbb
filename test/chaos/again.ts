/** What a kill costs: pages that one life asked for and the next one asks for again. */
import { expect } from 'vitest';
import type { LoggedRequest } from '../../simulator/simulator.ts';
import { pagesAsked } from '../support/requests.ts';

/** Pages of that window of a day of which the most were fetched twice. */
export interface Again {
  /** Pages that were stored. */
  readonly stored: number;
  /** All of them: also those that were under way, or fetched ahead, when the life ended. */
  readonly pages: number;
}

/** A window's page that was stored is fetched twice only as a known answer, or where its walk has to be told from another one: its first page, perhaps twice. */
const MOST_STORED = 1;
/**
 * What is asked for beside pages of ten, in each life: half a page, by which an old day is held against the one behind it,
 * two records less than a page, by which it is told from its minutes, and the hour on either side of a midnight. No walk asks for any of it.
 */
const QUESTION = / 0\+[58]$| 23:00:00 to | 00:59:59 /;

/** @param stored the pages that were stored when this life began. */
export function fetchedTwice(
  before: readonly LoggedRequest[],
  life: readonly LoggedRequest[],
  stored: ReadonlySet<string>,
): Again {
  const earlier = new Set(pagesAsked(before).map(({ page }) => page));
  const windows = new Map<string, Set<string>>();
  for (const { window, page } of pagesAsked(life))
    if (!QUESTION.test(page) && (stored.has(page) || earlier.has(page)))
      windows.set(window, (windows.get(window) ?? new Set()).add(page));
  const most = (counts: (page: string) => boolean) =>
    Math.max(0, ...[...windows.values()].map((pages) => [...pages].filter(counts).length));
  return { stored: most((page) => stored.has(page)), pages: most(() => true) };
}

/** Pages of one window that a process may hold unstored: the one that is needed, and those ahead of it. */
export function inFlight(environment: Readonly<Record<string, string>>): number {
  const ahead = environment.DAYWALK_AHEAD_MEMORY === '0' ? 0 : 2;
  return 1 + ahead * Number(environment.DAYWALK_CONCURRENCY);
}

/** The rule: nothing ahead, at most one page of a window is fetched twice after a kill; otherwise as many as were in flight. */
export function expectLittleAgain(
  again: Again,
  environment: Readonly<Record<string, string>>,
  when: string,
): void {
  expect(again.stored, `stored pages of a window fetched twice, ${when}`).toBeLessThanOrEqual(
    MOST_STORED,
  );
  expect(again.pages, `pages of a window fetched twice, ${when}`).toBeLessThanOrEqual(
    inFlight(environment),
  );
}
