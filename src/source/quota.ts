/** Quotas: what the headers of an answer say about how many requests are left, read with distrust; pure. */
import { httpDateMs } from './retry.ts';

/** How many requests are left, and for how long. */
export interface Quota {
  readonly remaining: number;
  /** Milliseconds until there are new ones. */
  readonly resetMs: number;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Names in three fields: RateLimit-Limit, -Remaining and -Reset of the IETF draft up to 06, and its forerunners. */
const PREFIXES = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-'];
/** More than 31 years: such a number is an instant (seconds since 1970), and no span. */
const INSTANT_S = 1e9;
/** As milliseconds since 1970. */
const INSTANT_MS = 1e12;

/**
 * @param nowMs what an instant is compared with; best the server's own `Date`, so that clocks need not agree.
 * @param limitMs a longer time until the reset is taken for this.
 * @returns null where no header tells it, or none can be understood; of several quotas the one with the least left.
 */
export function quotaOf(headers: Headers, nowMs: number, limitMs: number): Quota | null {
  const text = (name: string): string => String(headers[name] ?? '').trim();
  const found = [
    ...structured(text('ratelimit')),
    ...PREFIXES.map((prefix) => ({
      remaining: least(text(`${prefix}remaining`)),
      resetMs: spanMs(text(`${prefix}reset`), nowMs),
    })),
  ].flatMap(({ remaining, resetMs }) =>
    remaining === null || resetMs === null || resetMs <= 0
      ? []
      : [{ remaining, resetMs: Math.min(resetMs, limitMs) }],
  );
  found.sort((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs);
  return found[0] ?? null;
}

/**
 * `RateLimit: "burst";r=50;t=30` (draft-ietf-httpapi-ratelimit-headers from 08 on), several of them with commas between, and
 * `RateLimit: limit=100, remaining=50, reset=30` (draft 07).
 */
function structured(value: string) {
  const inMs = (seconds: number | null) => (seconds === null ? null : seconds * 1000);
  const draft07 = {
    remaining: parameter(value, 'remaining'),
    resetMs: inMs(parameter(value, 'reset')),
  };
  const found = value
    .split(',')
    .map((one) => ({ remaining: parameter(one, 'r'), resetMs: inMs(parameter(one, 't')) }));
  return [draft07, ...found];
}

/** The whole number that `name` has in a list of parameters; null for none, and for anything else. */
function parameter(text: string, name: string): number | null {
  const found = new RegExp(`(?:^|[;,])\\s*${name}\\s*=([^;,]*)`, 'i').exec(text);
  return count(found?.[1]);
}

/** Seconds from now, seconds or milliseconds since 1970, or a date; as milliseconds from now. */
function spanMs(value: string, nowMs: number): number | null {
  if (!/^\d+(\.\d+)?$/.test(value)) {
    const at = httpDateMs(value);
    return at === undefined ? null : at - nowMs;
  }
  const number = Number(value);
  if (number >= INSTANT_MS) return number - nowMs;
  return number >= INSTANT_S ? number * 1000 - nowMs : number * 1000;
}

/** The least of several numbers: `100, 100;w=10` repeats the limit with its windows. */
function least(value: string): number | null {
  const numbers = value.split(',').flatMap((part) => count(part.split(';', 1)[0]) ?? []);
  return numbers.length === 0 ? null : Math.min(...numbers);
}

/** A whole number from 0 in digits; null for anything else. */
function count(value: string | undefined): number | null {
  const digits = value?.trim() ?? '';
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
}
