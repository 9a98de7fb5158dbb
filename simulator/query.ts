/** Reads the query of a request, strictly: a client that writes it otherwise than docs/api-contract.md is told so. */
import { readWallTime } from './wall-time.ts';

/** An operation of the API: `GET {prefix}/api/events` or `GET {prefix}/api/smart-event`. */
export const RESOURCES = ['events', 'smart-event'] as const;
export type Resource = (typeof RESOURCES)[number];

/** The fourteen parameters that choose records by what is in them. */
export const FILTERS = [
  'search',
  'agent',
  'rule_level',
  'filters',
  'manager',
  'manager_tags',
  'rule_mitre_technique',
  'rule_mitre_tactic',
  'rule_level_from',
  'rule_level_to',
  'organization',
  'agent_tags',
  'hideread',
  'detection_type',
] as const;
export type Filter = (typeof FILTERS)[number];
/** Values of filters; one that is absent or empty chooses nothing away. */
export type Filters = Readonly<Partial<Record<Filter, string>>>;

/** All eighteen parameters. */
const PARAMETERS = ['start', 'length', 'fromDate', 'toDate', ...FILTERS] as const;

/** A query that was understood. */
export interface Query {
  readonly start: number;
  readonly length: number;
  /** Wall times, as `readWallTime` gives them. */
  readonly from: number;
  readonly to: number;
  readonly filters: Filters;
}

/** Decodes a raw query string; undefined when a percent sequence in it is broken. */
export function decodeQuery(raw: string): [name: string, value: string][] | undefined {
  try {
    return raw
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const equals = part.indexOf('=');
        const [name, value] =
          equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
        return [decodeURIComponent(name), decodeURIComponent(value)];
      });
  } catch {
    return undefined;
  }
}

/** Understands a raw query string, or lists everything that is wrong with it. */
export function readQuery(raw: string): { query: Query } | { problems: string[] } {
  if (raw.includes('+')) return { problems: ['a "+" in the query: a space is written %20'] };
  const pairs = decodeQuery(raw);
  if (pairs === undefined) return { problems: ['a broken percent sequence in the query'] };
  const values = new Map(pairs);
  const problems: string[] = [];
  for (const name of PARAMETERS) {
    const count = pairs.filter(([given]) => given === name).length;
    if (count === 0) problems.push(`missing parameter: ${name}`);
    if (count > 1) problems.push(`repeated parameter: ${name}`);
  }
  for (const name of values.keys()) {
    if (!PARAMETERS.some((known) => known === name)) problems.push(`unknown parameter: ${name}`);
  }
  if (problems.length > 0) return { problems };

  const value = (name: (typeof PARAMETERS)[number]) => values.get(name) ?? '';
  const whole = (name: 'start' | 'length', least: number) => {
    const number = /^\d{1,15}$/.test(value(name)) ? Number(value(name)) : -1;
    if (number < least) problems.push(`${name}: a whole number of at least ${least} is expected`);
    return number;
  };
  const wall = (name: 'fromDate' | 'toDate') => {
    const time = readWallTime(value(name));
    if (time === undefined) problems.push(`${name}: YYYY-MM-DD HH:MM:SS is expected`);
    return time ?? 0;
  };
  const filters: Partial<Record<Filter, string>> = {};
  for (const name of FILTERS) if (value(name) !== '') filters[name] = value(name);
  const query: Query = {
    start: whole('start', 0),
    length: whole('length', 1),
    from: wall('fromDate'),
    to: wall('toDate'),
    filters,
  };
  if (query.to < query.from) problems.push('toDate: is before fromDate');
  problems.push(...filterProblems(filters));
  return problems.length > 0 ? { problems } : { query };
}

/** What is wrong with these filter values; empty when nothing is. */
export function filterProblems(filters: Filters): string[] {
  const problems: string[] = [];
  for (const name of ['rule_level', 'rule_level_from', 'rule_level_to'] as const) {
    const level = filters[name];
    if (level && !/^\d{1,3}$/.test(level)) problems.push(`${name}: a whole number is expected`);
  }
  if (filters.hideread && !/^[01]$/.test(filters.hideread)) {
    problems.push('hideread: 0 or 1 is expected');
  }
  if (filters.filters?.split(',').some((pair) => !/^[^:]+:/.test(pair))) {
    problems.push('filters: path:value pairs with commas between them are expected');
  }
  return problems;
}
