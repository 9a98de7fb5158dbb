/** An API in memory: a list of records for each window, served with the habits that a test gives it; it keeps a log. */
import { createHash } from 'node:crypto';
import type { Envelope, Page, PageRequest, Stream } from '../../src/model.ts';
import { findEnvelope } from '../../src/source/envelope.ts';

/** What a source tells as its total: nothing, the truth, the records of the page, less than there is, more than there is. */
export type Totals = 'none' | 'exact' | 'page' | 'bound' | 'beyond';

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
}

export class ImaginedSource {
  /** The records of each window, by the first second of it. */
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

  readonly findEnvelope = (body: Buffer, stream: Stream): Envelope =>
    findEnvelope(body, { recordsPath: stream.recordsPath, totalPath: stream.totalPath });

  answer(request: PageRequest, number: number): string {
    const { arrange, clamp, shorten, startIgnored, totals = 'none', wrap = wrapped } = this.#habits;
    const whole = this.lists.get(request.from) ?? [];
    const list = arrange?.(whole, number, request) ?? whole;
    const start = startIgnored ? 0 : request.start;
    const room = list.slice(start, start + Math.min(request.length, clamp ?? request.length));
    const records =
      shorten && room.length > 0 ? room.slice(0, Math.max(1, shorten(room.length, number))) : room;
    return wrap(records, totalOf(totals, list.length, records.length), request);
  }
}

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
