/** What an answer says about how many requests are left: the header fields in use, read with distrust; pure. */
import { httpDateMs } from './http-date.ts';

/** How many requests are left, and for how long. */
export interface Quota {
  readonly remaining: number;
  /** Milliseconds until there are new ones. */
  readonly resetMs: number;
  /** How many there are in all; null where it is not told. */
  readonly limit: number | null;
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
  const found = [
    ...structured(text(headers.ratelimit), text(headers['ratelimit-policy'])),
    ...PREFIXES.flatMap((prefix) => fields(headers, prefix, nowMs)),
  ]
    .filter(({ resetMs }) => resetMs > 0)
    .map((quota) => ({ ...quota, resetMs: Math.min(quota.resetMs, limitMs) }));
  found.sort((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs);
  return found[0] ?? null;
}

/**
 * `RateLimit: "burst";r=50;t=30` with `RateLimit-Policy: "burst";q=100;w=60` (draft-ietf-httpapi-ratelimit-headers from
 * 08 on), and `RateLimit: limit=100, remaining=50, reset=30` (draft 07).
 */
function structured(value: string, policies: string): Quota[] {
  const draft07 = new Map(
    value.split(',').map((part) => {
      const [name = '', number = ''] = part.split('=', 2);
      return [name.trim().toLowerCase(), count(number)] as const;
    }),
  );
  const remaining = draft07.get('remaining');
  const reset = draft07.get('reset');
  if (remaining != null && reset != null)
    return [{ remaining, resetMs: reset * 1000, limit: draft07.get('limit') ?? null }];
  const quotas = new Map(members(policies).map(({ name, of }) => [name, count(of.get('q'))]));
  return members(value).flatMap(({ name, of }) => {
    const left = count(of.get('r'));
    const seconds = count(of.get('t'));
    if (left === null || seconds === null) return [];
    return [{ remaining: left, resetMs: seconds * 1000, limit: quotas.get(name) ?? null }];
  });
}

/** The members of a structured list of items with parameters (RFC 9651); names with commas or semicolons are not used. */
function members(value: string): { name: string; of: Map<string, string> }[] {
  return value.split(',').map((member) => {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    const pairs = parameters.map((one): [string, string] => {
      const [key = '', text = ''] = one.split('=', 2);
      return [key.trim(), text.trim()];
    });
    return { name: name.replace(/^"(.*)"$/, '$1'), of: new Map(pairs) };
  });
}

function fields(headers: Headers, prefix: string, nowMs: number): Quota[] {
  const remaining = least(text(headers[`${prefix}remaining`]));
  const resetMs = spanOf(text(headers[`${prefix}reset`]), nowMs);
  if (remaining === null || resetMs === null) return [];
  return [{ remaining, resetMs, limit: least(text(headers[`${prefix}limit`])) }];
}

/** Seconds from now, seconds or milliseconds since 1970, or a date. */
function spanOf(value: string, nowMs: number): number | null {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : null;
  if (number === null) {
    const at = httpDateMs(value, nowMs);
    return at === undefined ? null : at - nowMs;
  }
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

function text(value: string | readonly string[] | undefined): string {
  return (typeof value === 'string' ? value : (value?.join(',') ?? '')).trim();
}
