/** The faults that the simulator can commit, and which of them a request meets. */
import { mixFraction } from './random.ts';
import type { SimulatedRequest } from './request-log.ts';

/** A number of seconds; `date` or `date+30` for a date so many seconds ahead (1 without a number); any other text as it is. */
export type RetryAfter = number | string;

/** What goes wrong. The first group answers instead of the API; the second spoils the answer that the API gives. */
export type FaultKind =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: RetryAfter }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
  /** A login page, with 200. */
  | { readonly kind: 'html' }
  /** `{"error":…}`, with 200. */
  | { readonly kind: 'error-object' }
  | { readonly kind: 'empty-body' }
  /** Exactly this body. */
  | { readonly kind: 'body'; readonly body: string; readonly status?: number }
  /** No answer, ever (until the client goes or the simulator stops). */
  | { readonly kind: 'stall' }
  /** A connection reset before any byte. */
  | { readonly kind: 'reset' }
  /** The connection is closed in good order before any byte. */
  | { readonly kind: 'hang-up' }
  /** The envelope as always, with null for the list. */
  | { readonly kind: 'null-list' }
  /** A comma too many in front of the last bracket. */
  | { readonly kind: 'wrong-json' }
  /** The answer comes after `ms` milliseconds; the only fault that others may follow. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** `bytes` of the body every `ms` milliseconds. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly ms: number }
  /** Half of the body, then nothing. */
  | { readonly kind: 'stall-body' }
  /** Half of the body, then a connection reset. */
  | { readonly kind: 'reset-body' }
  /** Half of the body (`keep` of it), and a Content-Length that fits this half. */
  | { readonly kind: 'truncate'; readonly keep?: number }
  /** A Content-Length that is `by` more than the body (less, when negative). */
  | { readonly kind: 'wrong-length'; readonly by: number }
  /** Half of the body in chunks, without the last chunk. */
  | { readonly kind: 'cut-chunked' }
  /** Half of the body in an answer that ends when the connection does: nothing in HTTP tells that it is cut. */
  | { readonly kind: 'cut-close' }
  /** A gzip body without its last `bytes` (half of it when not given), with a Content-Length that fits. */
  | { readonly kind: 'truncate-gzip'; readonly bytes?: number }
  /** Says gzip and sends plain text. */
  | { readonly kind: 'false-gzip' };

/** When a fault happens: at each request that meets all the conditions given; without any, at every request. */
export interface FaultConditions {
  /** The share of requests, drawn from the seed. */
  readonly rate?: number;
  /** Request numbers, as in `simulator.requests`; the first is 1. */
  readonly at?: readonly number[];
  readonly when?: (request: SimulatedRequest) => boolean;
  /** At most so many times. */
  readonly times?: number;
}

export type Fault = FaultKind & FaultConditions;

/** Which parameters each kind takes besides the conditions, and those that it cannot do without. */
export const FAULT_PARAMETERS: Record<
  FaultKind['kind'],
  { readonly needs?: readonly string[]; readonly takes?: readonly string[] }
> = {
  status: { needs: ['status'], takes: ['retryAfter'] },
  redirect: { needs: ['location'], takes: ['status'] },
  html: {},
  'error-object': {},
  'empty-body': {},
  body: { needs: ['body'], takes: ['status'] },
  stall: {},
  reset: {},
  'hang-up': {},
  'null-list': {},
  'wrong-json': {},
  delay: { needs: ['ms'] },
  drip: { needs: ['bytes', 'ms'] },
  'stall-body': {},
  'reset-body': {},
  truncate: { takes: ['keep'] },
  'wrong-length': { needs: ['by'] },
  'cut-chunked': {},
  'cut-close': {},
  'truncate-gzip': { takes: ['bytes'] },
  'false-gzip': {},
};

export const FAULT_CONDITIONS = ['rate', 'at', 'when', 'times'] as const;

/** Draws the faults of requests; it counts how often each has happened. */
export class FaultDraw {
  readonly #seed: number;
  readonly #happened = new Map<Fault, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The delays before this request's answer, and the one other fault that it meets, if any. */
  draw(faults: readonly Fault[], request: SimulatedRequest): Fault[] {
    const met: Fault[] = [];
    for (const [index, fault] of faults.entries()) {
      if (!this.#meets(fault, index, request)) continue;
      this.#happened.set(fault, (this.#happened.get(fault) ?? 0) + 1);
      met.push(fault);
      if (fault.kind !== 'delay') break;
    }
    return met;
  }

  #meets(fault: Fault, index: number, request: SimulatedRequest): boolean {
    const { rate, at, when, times } = fault;
    if (times !== undefined && (this.#happened.get(fault) ?? 0) >= times) return false;
    if (at !== undefined && !at.includes(request.number)) return false;
    if (rate !== undefined && mixFraction(this.#seed, request.number, index) >= rate) return false;
    return when === undefined || when(request);
  }
}
