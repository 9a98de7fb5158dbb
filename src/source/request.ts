/** The request for a page, to the byte, as docs/api-contract.md has it; pure. */
import type { PageRequest } from '../model.ts';

/**
 * The request target of a page: path and query, with all eighteen parameters in the contract's order.
 * @param prefix the path of the base URL, without a slash at its end.
 */
export function pageTarget(prefix: string, request: PageRequest): string {
  const { filters } = request;
  const parameters: readonly (readonly [string, string])[] = [
    ['start', String(request.start)],
    ['length', String(request.length)],
    ['search', filters.search ?? ''],
    ['agent', filters.agent ?? ''],
    ['rule_level', filters.rule_level ?? ''],
    ['fromDate', request.from],
    ['toDate', request.to],
    ['filters', filters.filters ?? ''],
    ['manager', filters.manager ?? ''],
    ['manager_tags', filters.manager_tags ?? ''],
    ['rule_mitre_technique', filters.rule_mitre_technique ?? ''],
    ['rule_mitre_tactic', filters.rule_mitre_tactic ?? ''],
    ['rule_level_from', filters.rule_level_from ?? ''],
    ['rule_level_to', filters.rule_level_to ?? ''],
    ['organization', filters.organization ?? ''],
    ['agent_tags', filters.agent_tags ?? ''],
    ['hideread', filters.hideread ?? '0'],
    ['detection_type', filters.detection_type ?? ''],
  ];
  const query = parameters.map(([name, value]) => `${name}=${percentEncode(value)}`).join('&');
  return `${prefix}/api/${request.resource}?${query}`;
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
