/** The request for a page, to the byte, as docs/api-contract.md has it; pure. */
import { FILTER_NAMES, type PageRequest } from '../model.ts';

/** The parameters in the contract's order: the page stands before the filters, the window behind the third of them. */
const PARAMETERS = [
  'start',
  'length',
  ...FILTER_NAMES.slice(0, 3),
  'fromDate',
  'toDate',
  ...FILTER_NAMES.slice(3),
] as const;

/**
 * The request target of a page: path and query, with all eighteen parameters, empty where they are not set.
 * @param prefix the path of the base URL, without a slash at its end.
 */
export function pageTarget(prefix: string, request: PageRequest): string {
  const { resource, filters, start, length, from, to } = request;
  const values: Partial<Record<(typeof PARAMETERS)[number], string>> = {
    hideread: '0',
    ...filters,
    start: String(start),
    length: String(length),
    fromDate: from,
    toDate: to,
  };
  const query = PARAMETERS.map((name) => `${name}=${percentEncode(values[name] ?? '')}`).join('&');
  return `${prefix}/api/${resource}?${query}`;
}

/**
 * The headers of every request, in the contract's order and spelling.
 * @param gzip whether the answer may come compressed.
 */
export function pageHeaders(key: string, gzip: boolean): Record<string, string> {
  return {
    'X-API-Key': key,
    'Content-Type': 'application/json',
    Accept: 'application/json',
    ...(gzip ? { 'Accept-Encoding': 'gzip' } : {}),
  };
}

/**
 * Percent-encodes the UTF-8 bytes of `value`; the unreserved characters of RFC 3986 2.3 stay.
 * `encodeURIComponent` leaves `!'()*` alone, and throws on a lone surrogate, which becomes U+FFFD here.
 */
export function percentEncode(value: string): string {
  const wellFormed = Buffer.from(value).toString();
  return encodeURIComponent(wellFormed).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
