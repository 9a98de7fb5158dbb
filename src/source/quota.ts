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
  const field = text('ratelimit');
  const told: (readonly [remaining: number, resetMs: number])[] = [
    // `RateLimit: limit=100, remaining=50, reset=30` (draft-ietf-httpapi-ratelimit-headers-07).
    [parameter(field, 'remaining'), parameter(field, 'reset') * 1000],
    // `RateLimit: "burst";r=50;t=30` (from 08 on), several of them with commas between.
    ...field.split(',').map((one) => [parameter(one, 'r'), parameter(one, 't') * 1000] as const),
    ...PREFIXES.map((prefix) => {
      return [least(text(`${prefix}remaining`)), spanMs(text(`${prefix}reset`), nowMs)] as const;
    }),
  ];
  const [first] = told
    .filter(([remaining, resetMs]) => Number.isFinite(remaining) && resetMs > 0)
    .sort(([one, oneMs], [other, otherMs]) => one - other || otherMs - oneMs);
  return first ? { remaining: first[0], resetMs: Math.min(first[1], limitMs) } : null;
}

/** The whole number that `name` has in a list of parameters; NaN for none, and for anything else. */
const parameter = (text: string, name: string): number =>
  count(new RegExp(`(?:^|[;,])\\s*${name}\\s*=([^;,]*)`, 'i').exec(text)?.[1]);

/** Seconds from now, seconds or milliseconds since 1970, or a date; as milliseconds from now. */
function spanMs(value: string, nowMs: number): number {
  if (!/^\d+(\.\d+)?$/.test(value)) return (httpDateMs(value) ?? Number.NaN) - nowMs;
  const number = Number(value);
  if (number >= INSTANT_MS) return number - nowMs;
  return number >= INSTANT_S ? number * 1000 - nowMs : number * 1000;
}

/** The least of several numbers: `100, 100;w=10` repeats the limit with its windows; Infinity where there are none. */
function least(value: string): number {
  const numbers = value.split(',').map((part) => count(part.split(';', 1)[0]));
  return Math.min(...numbers.filter((number) => !Number.isNaN(number)));
}

/** A whole number from 0 in digits; NaN for anything else. */
function count(value = ''): number {
  return /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : Number.NaN;
}
