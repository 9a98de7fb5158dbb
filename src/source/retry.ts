/** Repeats an attempt while its failure may pass by itself: patience is a time, and the pauses that the API names come on top. */
import type { Clock } from '../clock.ts';
import { TransientError, UnavailableError } from '../errors.ts';

/** The bounds of trying; milliseconds. */
export interface RetryPolicy {
  /** How long requests and waits may take together before the last request is begun, without pauses that the API names. */
  readonly timeMs: number;
  /** The first wait is drawn from 0 to this, and the range doubles with each further one ... */
  readonly baseMs: number;
  /** ... up to this. */
  readonly capMs: number;
  /** A longer pause that the API names is taken for this; and so long all of them may be together. */
  readonly retryAfterLimitMs: number;
}

/** What trying has taken so far; milliseconds. */
export interface Spent {
  /** Requests, and waits that nobody named. Standing in the queue is no fault of the API and does not count. */
  ms: number;
  /** Pauses that the API named. */
  namedMs: number;
  /** How long everyone pauses because of the last request; null: it was no refusal, and waiting is up to its own page. */
  pauseMs: number | null;
}

/** Told before each wait. */
export interface RetryNotice {
  /** How many attempts failed so far. */
  readonly failures: number;
  readonly waitMs: number;
  /** What is left of the time before this wait. */
  readonly leftMs: number;
  readonly error: TransientError;
}

/** What trying again needs. */
export interface RetryOptions {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What was asked for, for the message. */
  readonly place: string;
  /** The attempt adds what it takes. */
  readonly spent: Spent;
  /** What it returns is waited for before there is another attempt. */
  readonly onRetry: (notice: RetryNotice) => void | Promise<void>;
}

/**
 * Runs `attempt` until it succeeds.
 * @throws UnavailableError when the time is over, with the last TransientError as its cause; any other error at once;
 *   the signal's reason.
 */
export async function untilItSucceeds<T>(
  attempt: () => Promise<T>,
  { policy, clock, signal, place, spent, onRetry }: RetryOptions,
): Promise<T> {
  try {
    for (let failures = 1; ; failures += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        const { retryAfterMs } = error;
        spent.namedMs += retryAfterMs ?? 0;
        const random = clock.random();
        const waitMs = nextWait(policy, { ...spent, failures, retryAfterMs, random });
        if (waitMs === null) throw gaveUp(place, failures, spent, error);
        const leftMs = policy.timeMs - spent.ms;
        if (retryAfterMs === undefined) spent.ms += waitMs;
        // Who is in everybody's pause waits in the queue.
        const waitsHere = spent.pauseMs === null && waitMs > 0;
        await onRetry({ failures, waitMs, leftMs, error });
        if (waitsHere) await clock.sleep(waitMs, signal);
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function gaveUp(place: string, failures: number, spent: Spent, error: TransientError) {
  const seconds = Math.round((spent.ms + spent.namedMs) / 1000);
  const tried =
    failures === 1 ? '' : `gave up after ${failures} attempts in ${seconds} s; the last: `;
  const hint = error.hint ?? 'what is stored so far is safe; the next run goes on from there';
  return new UnavailableError('api', `${place}: ${tried}${error.message}`, { cause: error, hint });
}

/**
 * Decides whether to try once more, and when; pure. A wait that nobody named is drawn from 0 to `min(cap, base · 2^retry)`,
 * "full jitter" of the AWS Builders' Library, and such a draw comes on top of one that is named to this page alone.
 * @param so.failures at least 1.
 * @param so.retryAfterMs what the API named.
 * @param so.random a number in [0, 1).
 * @returns milliseconds, or null to give up.
 */
export function nextWait(
  policy: RetryPolicy,
  so: Spent & {
    readonly failures: number;
    readonly retryAfterMs?: number | undefined;
    readonly random: number;
  },
): number | null {
  const left = policy.timeMs - so.ms;
  if (left <= 0 || so.namedMs > policy.retryAfterLimitMs) return null;
  // Cut down to nothing, as no page may wait for it: it is no leave to ask again at once.
  if (so.retryAfterMs === 0) return null;
  if (so.pauseMs !== null) return so.pauseMs;
  const range = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(so.failures - 1, 40));
  const drawn = Math.floor(so.random * range);
  return so.retryAfterMs === undefined
    ? Math.min(drawn, Math.floor(left))
    : Math.ceil(so.retryAfterMs) + drawn;
}

/**
 * Reads a `Retry-After` (RFC 9110 10.2.3): delay-seconds or an HTTP-date.
 * @param nowMs what the date is compared with; best the server's own `Date`, so that clocks need not agree.
 * @returns milliseconds, more than 0, and `limitMs` at most; undefined for 0, a past date, a negative number or anything
 *   else: they say no more than the status does.
 */
export function parseRetryAfter(
  text: string | undefined,
  nowMs: number,
  limitMs: number,
): number | undefined {
  const value = text?.trim() ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : (httpDateMs(value) ?? 0) - nowMs;
  return ms > 0 ? Math.min(ms, limitMs) : undefined;
}

/** The three forms of an HTTP-date; `Date.parse` takes almost anything for a date. */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8},? (\d\d[ -][A-Z][a-z]{2}[ -](\d{4}|\d\d)|[A-Z][a-z]{2} [ \d]\d) \d\d:\d\d:\d\d (GMT|\d{4})$/;

/**
 * Reads an HTTP-date (RFC 9110 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, and the two older forms, which recipients have to
 * take, too.
 * @returns milliseconds since the epoch; undefined where `text` is none.
 */
export function httpDateMs(text: string): number | undefined {
  const ms = HTTP_DATE.test(text) ? Date.parse(text.replace(/( GMT)?$/, ' GMT')) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
