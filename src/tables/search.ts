/** Search for a value in all records that are shown: every hit, and of which days "nothing" counts (docs/search.md). */
import type { Day } from '../model.ts';
import type { Database, Query } from '../store/database.ts';
import {
  type Hit,
  listHits,
  listSearchedDays,
  type PageToOpen,
  type SearchedDay,
} from './search-rows.ts';

/** What is searched for, and where. */
export interface SearchRequest {
  /** A whole string, number or boolean, as text; not empty. */
  readonly value: string;
  readonly streams: readonly string[];
  readonly from: Day | null;
  readonly to: Day | null;
  /** So many hits at most; null: all. */
  readonly limit: number | null;
}

/** A record that holds the value. */
export type StreamHit = Hit & { readonly stream: string };

/** What was searched of a stream. */
export interface SearchedStream {
  readonly stream: string;
  /** Null: no day was searched. */
  readonly from: Day | null;
  readonly to: Day | null;
  /** Hits that were told. */
  readonly hits: number;
  /** All pages that may hold it were looked at; otherwise the limit was reached before. */
  readonly finished: boolean;
  readonly days: number;
  readonly proven: number;
  /** The days of which "nothing" does not count, in order. */
  readonly unproven: readonly { readonly day: Day; readonly state: string }[];
  /** Pages that were opened: those whose filters do not rule the value out, or that have none. */
  readonly pagesOpened: number;
}

/** The end of a search. */
export interface SearchReport {
  readonly streams: readonly SearchedStream[];
  /** It ended at the limit: there may be more hits. */
  readonly limited: boolean;
}

/** Pages that one statement opens: a limit is reached, and a stop heard, within some of them. */
const PAGES_AT_ONCE = 8;

/**
 * Searches, in one state of the database: a day that is published, or pruned, meanwhile changes nothing.
 * @param tell gets the hits in the order of streams, days and pages.
 */
export function search(
  database: Database,
  request: SearchRequest,
  tell: (hits: readonly StreamHit[]) => void,
  signal: AbortSignal,
): Promise<SearchReport> {
  return database.snapshot(async (query) => {
    const streams: SearchedStream[] = [];
    let left = request.limit ?? Number.POSITIVE_INFINITY;
    let limited = false;
    for (const stream of request.streams) {
      const days = await listSearchedDays(query, request.value, stream, request);
      const pages = pagesOf(days ?? []);
      let hits = 0;
      let opened = 0;
      while (opened < pages.length && !limited) {
        signal.throwIfAborted();
        const next = pages.slice(opened, opened + PAGES_AT_ONCE);
        // One more than is told, so that it is known whether there is more.
        const found = await hitsOn(query, request.value, next, left + 1);
        limited = found.length > left;
        const told = found.slice(0, limited ? left : undefined);
        tell(told.map((hit) => ({ stream, ...hit })));
        hits += told.length;
        left -= told.length;
        opened += next.length;
      }
      const finished = opened === pages.length && !limited;
      streams.push(searchedOf(stream, days ?? [], { hits, finished, pagesOpened: opened }));
    }
    return { streams, limited };
  });
}

const hitsOn = (query: Query, value: string, pages: readonly PageToOpen[], most: number) =>
  listHits(query, value, pages, Number.isFinite(most) ? most : null);

function pagesOf(days: readonly SearchedDay[]): PageToOpen[] {
  return days.flatMap(({ day, walkIds, pageNos }) =>
    walkIds.map((walkId, index) => ({ day, walkId, pageNo: pageNos[index] as number })),
  );
}

function searchedOf(
  stream: string,
  days: readonly SearchedDay[],
  found: Pick<SearchedStream, 'hits' | 'finished' | 'pagesOpened'>,
): SearchedStream {
  const unproven = days.flatMap(({ day, state }) => (state === 'complete' ? [] : [{ day, state }]));
  return {
    stream,
    from: days[0]?.day ?? null,
    to: days.at(-1)?.day ?? null,
    ...found,
    days: days.length,
    proven: days.length - unproven.length,
    unproven,
  };
}
