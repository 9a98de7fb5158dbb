/** The query of a request to the served archive: the eighteen parameters, each understood or refused. */
import type { Day, Filters, WallTime } from '../model.ts';
import { FILTER_NAMES } from '../model.ts';
import { addDays } from '../plan/days.ts';
import { Refusal } from './refusal.ts';

/** What is asked for. */
export interface ServedQuery {
  readonly start: number;
  readonly length: number;
  readonly from: WallTime;
  readonly to: WallTime;
  /** Those that are set; `hideread=0` is not. */
  readonly filters: Filters;
}

const NAMES: ReadonlySet<string> = new Set([
  'start',
  'length',
  'fromDate',
  'toDate',
  ...FILTER_NAMES,
]);
const WALL_TIME = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;
/** What the API's reference request asks for. */
const LENGTH = '50';

/**
 * Reads a query string. A parameter that is missing is unset, as an empty one is; an unknown or repeated one is an error.
 * @throws {Refusal} that tells everything wrong with it.
 */
export function readServedQuery(text: string, longest: number): ServedQuery {
  const problems: string[] = [];
  try {
    decodeURIComponent(text);
  } catch {
    throw new Refusal(400, 'the query holds a broken percent sequence');
  }
  const given = new URLSearchParams(text);
  for (const name of new Set(given.keys())) {
    if (!NAMES.has(name)) problems.push(`${name}: there is no such parameter`);
    else if (given.getAll(name).length > 1) problems.push(`${name}: is there twice`);
  }
  for (const [name, value] of given)
    if (value.includes('\0')) problems.push(`${name}: holds a NUL, which no record can`);
  const whole = (name: string, unset: string, least: number): number => {
    const value = given.get(name) || unset;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : -1;
    if (number < least) problems.push(`${name}: a whole number from ${least} on is expected`);
    return number;
  };
  const wall = (name: string): WallTime => {
    const value = given.get(name) ?? '';
    if (!isWallTime(value)) problems.push(`${name}: YYYY-MM-DD HH:MM:SS is expected`);
    return value;
  };
  const query: ServedQuery = {
    start: whole('start', '0', 0),
    length: whole('length', LENGTH, 1),
    from: wall('fromDate'),
    to: wall('toDate'),
    filters: Object.fromEntries(
      FILTER_NAMES.flatMap((name) => {
        const value = given.get(name) ?? '';
        return value === '' || (name === 'hideread' && value === '0') ? [] : [[name, value]];
      }),
    ),
  };
  if (query.length > longest) problems.push(`length: the largest is ${longest}`);
  if (problems.length === 0 && query.to < query.from) problems.push('toDate: is before fromDate');
  if (problems.length > 0) throw new Refusal(400, problems.join('; '), { more: { problems } });
  return query;
}

function isWallTime(text: string): boolean {
  const day = WALL_TIME.exec(text)?.[1];
  if (day === undefined || day < '0002') return false;
  try {
    addDays(day, 0);
    return true;
  } catch {
    return false;
  }
}

/** The first and the last day that a query touches. */
export const daysOf = ({ from, to }: ServedQuery): { first: Day; last: Day } => ({
  first: from.slice(0, 10),
  last: to.slice(0, 10),
});

/** The seconds of `day` that are asked for; null: all of it. */
export function pieceOf(query: ServedQuery, day: Day): { from: WallTime; to: WallTime } | null {
  const [begin, end] = [`${day} 00:00:00`, `${day} 23:59:59`];
  const [, from = begin] = [query.from, begin].sort();
  const [to = end] = [query.to, end].sort();
  return from === begin && to === end ? null : { from, to };
}
