/** The log of requests: what came in and what was answered, bounded in memory, with counts that never drop. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Resource } from './query.ts';

/** A request as it came in. */
export interface SimulatedRequest {
  /** 1 for the first request that this simulator got, on any path. */
  readonly number: number;
  readonly method: string;
  /** The request target exactly as it was written, with its query. */
  readonly path: string;
  readonly resource: Resource | undefined;
  /** The decoded query; empty when it cannot be decoded. Of a repeated name the last value. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** A request and what became of it. */
export interface LoggedRequest extends SimulatedRequest {
  /** Undefined while there is no answer, and for good when none was given (stall, reset). */
  status: number | undefined;
  /** Whether the API answered with a page, spoiled or not. */
  page: boolean;
  /** Records in the answer's list. */
  records: number;
  /** Bytes of the answer's body after content coding; a fault may have kept some of them back. */
  bytes: number;
  /** Kinds of the faults that it met, `rate-limit` and `hook` included. */
  faults: string[];
  /** Milliseconds from the request to the end of the answer; undefined until then. */
  durationMs: number | undefined;
  /** `performance.now()` when the request came in. */
  readonly began: number;
}

/** Counts over the whole life of a simulator. */
export interface RequestCounts {
  readonly requests: number;
  /** Answers with a list of records, spoiled ones included. */
  readonly pages: number;
  readonly records: number;
  readonly bytes: number;
  readonly byStatus: Readonly<Record<number, number>>;
  readonly byFault: Readonly<Record<string, number>>;
}

interface Waiter {
  readonly count: number;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

export class RequestLog {
  readonly #limit: number;
  readonly #entries: LoggedRequest[] = [];
  #waiters: Waiter[] = [];
  readonly #counts = {
    requests: 0,
    pages: 0,
    records: 0,
    bytes: 0,
    byStatus: {} as Record<number, number>,
    byFault: {} as Record<string, number>,
  };

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The newest requests, oldest first. */
  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  get counts(): RequestCounts {
    return this.#counts;
  }

  /** Notes a request that has just come in. */
  begin(request: Omit<SimulatedRequest, 'number'>): LoggedRequest {
    const entry: LoggedRequest = {
      number: ++this.#counts.requests,
      ...request,
      status: undefined,
      page: false,
      records: 0,
      bytes: 0,
      faults: [],
      durationMs: undefined,
      began: performance.now(),
    };
    this.#entries.push(entry);
    // A quarter at a time: dropping one by one would move the whole array at every request.
    if (this.#entries.length > this.#limit) {
      this.#entries.splice(0, Math.max(1, Math.floor(this.#limit / 4)));
    }
    this.#waiters = this.#waiters.filter((waiter) => {
      if (waiter.count > entry.number) return true;
      waiter.resolve();
      return false;
    });
    return entry;
  }

  /** Counts what is about to be answered, so that whoever has the answer finds it counted. To be called once for each request. */
  count(entry: LoggedRequest): void {
    const { byStatus, byFault } = this.#counts;
    if (entry.status !== undefined) byStatus[entry.status] = (byStatus[entry.status] ?? 0) + 1;
    for (const fault of entry.faults) byFault[fault] = (byFault[fault] ?? 0) + 1;
    this.#counts.records += entry.records;
    this.#counts.bytes += entry.bytes;
    if (entry.page) this.#counts.pages++;
  }

  /** Notes that the answer is out, or that there will be none. */
  end(entry: LoggedRequest): void {
    entry.durationMs ??= performance.now() - entry.began;
  }

  /** Resolves when request number `count` has come in; rejects when the simulator stops before. */
  received(count: number): Promise<void> {
    if (this.#counts.requests >= count) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ count, resolve, reject });
    });
  }

  /** Rejects everybody who still waits. */
  close(): void {
    for (const waiter of this.#waiters) {
      waiter.reject(new Error(`the simulator stopped before request ${waiter.count}`));
    }
    this.#waiters = [];
  }
}
