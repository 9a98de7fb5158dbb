/** Servers that allow so many requests, in the ways that are in use; as functions of the time. */
import type { Quota } from '../../src/source/quota.ts';

/** What such a server says to a request that comes now. */
export interface Verdict {
  readonly ok: boolean;
  /** Milliseconds, where it says so. */
  readonly retryAfterMs?: number;
  readonly quota?: Quota;
}
export type RateServer = (now: number) => Verdict;

/** A token bucket: what most gateways have. */
export function bucket(perSecond: number, size: number, tellsWhen = false): RateServer {
  let tokens = size;
  let filledAt = 0;
  return (now) => {
    tokens = Math.min(size, tokens + ((now - filledAt) / 1000) * perSecond);
    filledAt = now;
    if (tokens >= 1) {
      tokens -= 1;
      return { ok: true };
    }
    const retryAfterMs = Math.ceil((1 - tokens) / perSecond) * 1000;
    return tellsWhen ? { ok: false, retryAfterMs } : { ok: false };
  };
}

/** So many in each window of `ms`. */
export function fixedWindow(most: number, ms: number, tellsQuota = false): RateServer {
  let window = -1;
  let count = 0;
  return (now) => {
    if (Math.floor(now / ms) !== window) count = 0;
    window = Math.floor(now / ms);
    count++;
    const resetMs = Math.ceil((ms - (now % ms)) / 1000) * 1000;
    const quota = { remaining: Math.max(0, most - count), resetMs };
    return { ok: count <= most, ...(tellsQuota ? { quota, retryAfterMs: resetMs } : {}) };
  };
}

/** So many in the last `ms`, whenever that is. */
export function slidingWindow(most: number, ms: number): RateServer {
  let accepted: number[] = [];
  return (now) => {
    accepted = accepted.filter((at) => at > now - ms);
    if (accepted.length >= most) return { ok: false };
    accepted.push(now);
    return { ok: true };
  };
}
