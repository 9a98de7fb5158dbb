/** An API in memory: a list of records for each window, served with the habits that a test gives it; it keeps a log. */
import { createHash } from 'node:crypto';
import type { Page, PageRequest } from '../../src/model.ts';
import { findContract } from '../../src/source/find-contract.ts';

/** What a source tells as its total: nothing, the truth, the records of the page, less than there is, more than there is. */
export type Totals = 'none' | 'exact' | 'page' | 'bound' | 'beyond';

/** The first number in a record, by which tests name it. */
export const idOf = (record: string): number => Number(/\d+/.exec(record)?.[0] ?? 0);

/** The second of its day at which a record happened: anywhere in the day, the same for the same record. */
export function secondOf(record: string): number {
  return (idOf(record) * 7_919 + 40_000) % 86_400;
}

/** The level of a record, from 0 to 16. */
export function levelOf(record: string): number {
  return (idOf(record) * 5 + 3) % 17;
}

/** How a source serves its lists; absent: whole, true and stable. */
export interface Habits {
  readonly totals?: Totals;
  /** The most records that one page has, whatever is asked. */
  readonly clamp?: number;
  /** How many of the `room` records that it could give the answer to request `number` has; at least one. */
  readonly shorten?: (room: number, number: number) => number;
  /** The list as request `number` sees it. */
  readonly arrange?: (
    list: readonly string[],
    number: number,
    request: PageRequest,
  ) => readonly string[];
  /** Called before request `number` is answered; may change `lists`, throw, or wait. */
  readonly before?: (
    source: ImaginedSource,
    request: PageRequest,
    number: number,
  ) => void | Promise<void>;
  /** The body of an answer, where it is not `{"total":…,"data":[…]}`. */
  readonly wrap?: (
    records: readonly string[],
    total: number | null,
    request: PageRequest,
  ) => string;
  readonly startIgnored?: boolean;
  /** The second of the day at which a record happened. */
  readonly at?: (record: string) => number;
}

/** An `arrange` of a source that counts its pages by number, of which none has more records than `most`. */
export const pagesUpTo =
  (most: number): NonNullable<Habits['arrange']> =>
  (list, _, { start, length }) => {
    const page = Math.min(length, most);
    const from = Math.floor(start / length) * page;
    return [...Array<string>(start).fill(''), ...list.slice(from, from + page)];
  };

/** An `arrange` of a source that counts its pages by number: `floor(start / length)`. */
export const pagesByNumber = pagesUpTo(Number.POSITIVE_INFINITY);

/**
 * A `wrap` of a source that counts its pages by number, and may show another one than is asked for; its total, where it tells one, is true.
 * @param pageOf the number of the page that it shows, by that of the one that is asked for and that of the last one.
 */
export const pagesInstead =
  (
    source: () => ImaginedSource,
    pageOf: (asked: number, last: number) => number,
  ): NonNullable<Habits['wrap']> =>
  (_, total, { start, length, ...span }) => {
    const list = source().within(span);
    const last = Math.max(0, Math.ceil(list.length / length) - 1);
    const page = pageOf(Math.floor(start / length), last);
    const shown = list.slice(page * length, (page + 1) * length);
    return wrapped(shown, total === null ? null : list.length);
  };

export class ImaginedSource {
  /** The records of each day, by the first second of it. */
  readonly lists = new Map<string, readonly string[]>();
  /** Every request, in order. */
  readonly asked: PageRequest[] = [];
  readonly #habits: Habits;

  constructor(lists: Readonly<Record<string, readonly string[]>>, habits: Habits = {}) {
    for (const [day, list] of Object.entries(lists)) this.lists.set(`${day} 00:00:00`, list);
    this.#habits = habits;
  }

  readonly fetchPage = async (
    request: PageRequest,
    options?: { signal: AbortSignal },
  ): Promise<Page> => {
    options?.signal.throwIfAborted();
    const number = this.asked.push(request);
    await this.#habits.before?.(this, request, number);
    const body = Buffer.from(this.answer(request, number));
    const sha256 = createHash('sha256').update(body).digest();
    return {
      start: request.start,
      length: request.length,
      body,
      sha256,
      durationMs: 1,
      requests: 1,
    };
  };

  readonly findContract = findContract;
  readonly excerpt = (content: string | Uint8Array): string => String(content).slice(0, 200);

  /** The records between two seconds and between two levels, in the order of their days' lists. */
  within({ from, to, filters }: Pick<PageRequest, 'from' | 'to' | 'filters'>): string[] {
    const at = this.#habits.at ?? secondOf;
    const lowest = Number(filters.rule_level_from ?? 0);
    const highest = Number(filters.rule_level_to ?? 99);
    const [first, last] = [secondsOf(from), secondsOf(to)];
    return [...this.lists].flatMap(([day, list]) => {
      const midnight = secondsOf(day);
      return list.filter((record) => {
        const second = midnight + at(record);
        if (second < first || second > last) return false;
        const level = levelOf(record);
        return level >= lowest && level <= highest;
      });
    });
  }

  answer(request: PageRequest, number: number): string {
    const { arrange, clamp, shorten, startIgnored, totals = 'none', wrap = wrapped } = this.#habits;
    const whole = this.within(request);
    const list = arrange?.(whole, number, request) ?? whole;
    const start = startIgnored ? 0 : request.start;
    const room = list.slice(start, start + Math.min(request.length, clamp ?? request.length));
    const records =
      shorten && room.length > 0 ? room.slice(0, Math.max(1, shorten(room.length, number))) : room;
    return wrap(records, totalOf(totals, list.length, records.length), request);
  }
}

/** Seconds since 1970 of a time as requests name it, and the date of such a second. */
export const secondsOf = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`) / 1000;
export const dateAt = (second: number) => new Date(second * 1_000).toISOString().slice(0, 10);

/** The first second of the day in which a request begins: the name of its list. */
export const listOf = (request: PageRequest) => `${request.from.slice(0, 10)} 00:00:00`;

function totalOf(totals: Totals, length: number, page: number): number | null {
  switch (totals) {
    case 'none':
      return null;
    case 'exact':
      return length;
    case 'page':
      return page;
    case 'bound':
      return Math.max(0, length - 3);
    case 'beyond':
      return length + 2;
  }
}

function wrapped(records: readonly string[], total: number | null): string {
  return `{${total === null ? '' : `"total":${total},`}"data":[${records.join(',')}]}`;
}
