/** Search for a value in all records that are shown: every hit, and of which days "nothing" counts (docs/search.md). */
import type { OpenRange } from '../model.ts';
import type { Database, Query } from '../store/database.ts';
import { listMovedDays, type MovedDay, type MovedRecords } from '../store/moved-days.ts';
import type { ShownRecord } from '../store/shown-records.ts';
import {
  type Hit,
  listHits,
  listSearchedDays,
  matchRecords,
  type PageToOpen,
  readSpelling,
  type SearchedDay,
} from './search-rows.ts';

/** What is searched for, and where. */
export interface SearchRequest extends OpenRange {
  /** A whole string, number or boolean, as text; not empty. */
  readonly value: string;
  readonly streams: readonly string[];
  /** Streams that the settings do not define any more: of these only days that were planned are searched. */
  readonly ended?: readonly string[];
  /** So many hits at most; null: all. */
  readonly limit: number | null;
  /** What days that moved hold; null: they are not looked into. */
  readonly moved: MovedRecords | null;
}

/** A record that holds the value. */
export type StreamHit = Hit & { readonly stream: string };

/** Of days in these states nothing is stored, and nobody is to store it where the stream has ended. */
const NEVER_PLANNED: readonly string[] = ['missing', 'open', 'unplanned'];

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
) {
  return database.snapshot(async (query) => {
    const searching = { ...request, query, signal };
    const streams: SearchedStream[] = [];
    let left = request.limit ?? Number.POSITIVE_INFINITY;
    let limited = false;
    const ended = request.ended ?? [];
    for (const stream of [...request.streams, ...ended]) {
      const isEnded = ended.includes(stream);
      const days = (await listDays(searching, stream)).filter(
        ({ state }) => !(isEnded && NEVER_PLANNED.includes(state)),
      );
      if (isEnded && days.length === 0) continue;
      let [hits, pagesOpened] = [0, 0];
      for (const step of stepsOf(days)) {
        if (limited) break;
        signal.throwIfAborted();
        pagesOpened += step.pages.length;
        // One more than is told, so that it is known whether there is more.
        for await (const found of hitsOf(searching, step, left + 1)) {
          limited = found.length > left;
          const told = found.slice(0, limited ? left : undefined);
          tell(told.map((hit) => ({ stream, ...hit })));
          hits += told.length;
          left -= told.length;
          if (limited) break;
        }
      }
      streams.push(searchedOf(stream, days, { hits, finished: !limited, pagesOpened }));
    }
    return { streams, limited };
  });
}

/** The end of a search; limited: it ended at the limit, and there may be more hits. */
export type SearchReport = Awaited<ReturnType<typeof search>>;

/** A search that goes on. */
interface Searching extends SearchRequest {
  readonly query: Query;
  readonly signal: AbortSignal;
}

/** A day, and where it moved to if it is looked into there. */
type DayToSearch = SearchedDay & { readonly moved: MovedDay | undefined };

/** @throws {SettingsError} where days moved, and no setting says where they are. */
async function listDays(
  { query, value, from, to, moved }: Searching,
  stream: string,
): Promise<DayToSearch[]> {
  const days = await listSearchedDays(query, value, stream, { from, to });
  const there = moved === null ? [] : await listMovedDays({ persist: query }, [stream], null);
  const byDay = new Map(there.map((one) => [one.day, one]));
  const found = days.map((one) => ({
    ...one,
    moved: one.state === 'tiered' ? byDay.get(one.day) : undefined,
  }));
  moved?.reach(found.flatMap((one) => one.moved ?? []));
  return found;
}

/** What is looked at together: some pages, and behind them a day that moved. */
interface Step {
  readonly pages: readonly PageToOpen[];
  readonly moved?: MovedDay;
}

function* stepsOf(days: readonly DayToSearch[]): Generator<Step> {
  let pages: PageToOpen[] = [];
  for (const { day, walkIds, pageNos, moved } of days) {
    for (const [index, walkId] of walkIds.entries()) {
      pages.push({ day, walkId, pageNo: pageNos[index] as number });
      if (pages.length < PAGES_AT_ONCE) continue;
      yield { pages };
      pages = [];
    }
    if (moved === undefined) continue;
    yield { pages, moved };
    pages = [];
  }
  if (pages.length > 0) yield { pages };
}

async function* hitsOf(searching: Searching, { pages, moved: day }: Step, most: number) {
  const { query, value, moved } = searching;
  if (pages.length > 0)
    yield await listHits(query, value, pages, Number.isFinite(most) ? most : null);
  if (day !== undefined && moved !== null) yield* hitsInMoved(searching, moved, day);
}

/** @param found.finished all pages that may hold it were looked at; otherwise the limit was reached before. */
function searchedOf(
  stream: string,
  days: readonly DayToSearch[],
  found: { readonly hits: number; readonly finished: boolean; readonly pagesOpened: number },
) {
  const unproven = days.flatMap(({ day, state, moved }) =>
    state === 'complete' || moved !== undefined ? [] : [{ day, state }],
  );
  return {
    stream,
    /** Null: no day was searched. */
    from: days[0]?.day ?? null,
    to: days.at(-1)?.day ?? null,
    ...found,
    days: days.length,
    proven: days.length - unproven.length,
    /** The days of which "nothing" does not count, in order. */
    unproven,
  };
}

/** What was searched of a stream. */
export type SearchedStream = ReturnType<typeof searchedOf>;

/** The hits of a day in order, some megabytes of records at a time; before the first one the object is compared with its SHA-256. */
async function* hitsInMoved(
  { query, value, signal }: Searching,
  moved: MovedRecords,
  day: MovedDay,
): AsyncGenerator<Hit[]> {
  // `jsonb` writes a string as JavaScript does, and a number in full, maybe with zeros behind it: a record without either text
  // need not be parsed.
  const spelled = [JSON.stringify(value), await readSpelling(query, value)];
  for await (const records of moved.read(day, signal)) {
    const some = records.filter(({ text }) =>
      spelled.some((one) => one !== null && text.includes(one)),
    );
    if (some.length === 0) continue;
    const texts = some.map(({ text }) => text);
    const matches = await matchRecords(query, value, texts);
    if (matches.length === 0) continue;
    await moved.check(day, signal);
    yield matches.map(({ place, paths }) => hitOf(day, some[place - 1] as ShownRecord, paths));
  }
}

/** In the order that Postgres gives those of other days in: programs get them as they stand. */
function hitOf({ day }: MovedDay, record: ShownRecord, paths: readonly string[]): Hit {
  const { walkId, pageNo, position, text, fetchedAt, firstSeen, goneSince, revision } = record;
  return {
    day,
    walkId: String(walkId),
    pageNo,
    position,
    paths,
    record: text,
    fetchedAt: dateOf(fetchedAt),
    firstSeen: dateOf(firstSeen),
    goneSince: goneSince === null ? null : dateOf(goneSince),
    revision,
  };
}

const dateOf = (microseconds: number): Date => new Date(Math.floor(microseconds / 1000));
