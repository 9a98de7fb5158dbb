/** When to try again: full jitter over a floor that the server sets, bounded in attempts and in time; pure. */
import { httpDateMs } from './http-date.ts';

/** The bounds of trying. */
export interface RetryPolicy {
  /** How many requests at most, the first included; those that a 429 refused do not count. */
  readonly attempts: number;
  /** Milliseconds from the first request after which no other one is begun. */
  readonly timeMs: number;
  /** Milliseconds; the first wait is drawn from 0 to this, and the range doubles with each further one. */
  readonly baseMs: number;
  /** Milliseconds; the widest range of a wait. */
  readonly capMs: number;
  /** Milliseconds; a longer `Retry-After` is taken for this. */
  readonly retryAfterLimitMs: number;
}

/**
 * How long to wait before the next request: `floor + random(0, min(cap, base · 2^retry))`, "full jitter" of the AWS
 * Builders' Library. The jitter comes on top of the floor: all who were told the same instant would otherwise come
 * back in the same instant.
 * @param retry 0 before the first repetition.
 * @param random a number in [0, 1).
 * @returns whole milliseconds, at least `floorMs`, at most `floorMs + capMs`.
 */
export function backoffMs(wait: {
  readonly retry: number;
  readonly baseMs: number;
  readonly capMs: number;
  readonly floorMs: number;
  readonly random: number;
}): number {
  const range = Math.min(wait.capMs, wait.baseMs * 2 ** Math.min(wait.retry, 40));
  return Math.ceil(wait.floorMs) + Math.floor(wait.random * range);
}

/**
 * Decides whether to try once more.
 * @param so.failures requests that failed so far, at least 1.
 * @param so.refusals how many of them a 429 refused: the API is there and says "later", so only the time bounds them.
 * @param so.elapsedMs since the first of them began.
 * @param so.floorMs the least wait that the server asked for; 0 for none.
 * @returns milliseconds to wait, or null to give up.
 */
export function nextWait(
  policy: RetryPolicy,
  so: {
    readonly failures: number;
    readonly refusals: number;
    readonly elapsedMs: number;
    readonly floorMs: number;
    readonly random: number;
  },
): number | null {
  const left = policy.timeMs - so.elapsedMs;
  const mayTry = so.failures - so.refusals < policy.attempts;
  if (!mayTry || left <= 0 || so.floorMs > left) return null;
  const wait = backoffMs({
    retry: so.failures - 1,
    baseMs: policy.baseMs,
    capMs: policy.capMs,
    floorMs: so.floorMs,
    random: so.random,
  });
  return Math.min(wait, Math.floor(left));
}

/**
 * Reads a `Retry-After` (RFC 9110 10.2.3): delay-seconds or an HTTP-date.
 * @param nowMs what the date is compared with; best the server's own `Date`, so that clocks need not agree.
 * @returns milliseconds, more than 0 and up to `limitMs`; undefined for 0, a past date, a negative number or anything
 *   else: they say no more than the status does.
 */
export function parseRetryAfter(
  text: string | undefined,
  nowMs: number,
  limitMs: number,
): number | undefined {
  const value = text?.trim() ?? '';
  if (/^\d+$/.test(value))
    return Number(value) === 0 ? undefined : Math.min(Number(value) * 1000, limitMs);
  const at = httpDateMs(value, nowMs);
  if (at === undefined || at <= nowMs) return undefined;
  return Math.min(at - nowMs, limitMs);
}
