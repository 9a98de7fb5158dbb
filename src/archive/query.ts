/** The query of a request to the served archive: the eighteen parameters, each understood or refused. */
import { DaywalkError } from '../errors.ts';
import { type Day, FILTER_NAMES, onlySet, type WallTime } from '../model.ts';
import { addDays } from '../plan/days.ts';
import { DAY_SECONDS, secondsOf } from '../plan/split.ts';

/** What is wrong with a request, for the client of the served archive. */
export class Refusal extends DaywalkError {
  readonly status: number;
  /** More for programs, beside the message. */
  readonly more: Readonly<Record<string, unknown>>;
  constructor(status: number, message: string, hint?: string, more: Refusal['more'] = {}) {
    super(message, { hint });
    this.status = status;
    this.more = more;
  }
}

const NAMES: readonly string[] = ['start', 'length', 'fromDate', 'toDate', ...FILTER_NAMES];
const WALL_TIME = /^(?!0000|0001)\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;
/** What the API's reference request asks for. */
const LENGTH = '50';
const LONGEST = 10_000;
const MOST_LETTERS = 1_000;
const MOST_DAYS = 4_000;

/**
 * Reads a query string, a `?` in it like any other letter. A parameter that is missing is unset, as an empty one is; an
 * unknown or repeated one is an error.
 * @returns of filters those that are set; `hideread=0` is not.
 * @throws {Refusal} that tells everything wrong with it.
 */
export function readQuery(text: string) {
  const problems: string[] = [];
  const check = (right: boolean, problem: string) => right || problems.push(problem);
  try {
    decodeURIComponent(text);
  } catch {
    throw new Refusal(400, 'the query holds a broken percent sequence');
  }
  const given = new URLSearchParams(text);
  for (const name of new Set(given.keys())) {
    const [value = '', ...more] = given.getAll(name);
    check(NAMES.includes(name), `${name}: there is no such parameter`);
    check(more.length === 0, `${name}: is there twice`);
    check(!value.includes('\0'), `${name}: holds a NUL, which no record can`);
    check(value.length <= MOST_LETTERS, `${name}: is longer than ${MOST_LETTERS} letters`);
  }
  const whole = (name: string, unset: string, least: number): number => {
    const value = given.get(name) || unset;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : -1;
    check(number >= least, `${name}: a whole number from ${least} on is expected`);
    return number;
  };
  const wall = (name: string): WallTime => {
    const value = given.get(name) ?? '';
    check(isWallTime(value), `${name}: YYYY-MM-DD HH:MM:SS is expected`);
    return value;
  };
  const filters = Object.fromEntries(FILTER_NAMES.map((name) => [name, given.get(name) ?? '']));
  const [start, length] = [whole('start', '0', 0), whole('length', LENGTH, 1)];
  const [from, to] = [wall('fromDate'), wall('toDate')];
  check(length <= LONGEST, `length: the largest is ${LONGEST}`);
  if (problems.length === 0) {
    check(from <= to, 'toDate: is before fromDate');
    const isLong = secondsOf({ from, to }) > MOST_DAYS * DAY_SECONDS;
    check(!isLong, `toDate: a request may reach over ${MOST_DAYS} days at most`);
  }
  if (problems.length > 0) throw new Refusal(400, problems.join('; '), undefined, { problems });
  return { start, length, from, to, filters: onlySet(filters) };
}

/** What is asked for. */
export type ArchiveQuery = Readonly<ReturnType<typeof readQuery>>;

function isWallTime(text: string): boolean {
  try {
    return WALL_TIME.test(text) && addDays(text.slice(0, 10), 0) !== '';
  } catch {
    return false;
  }
}

/** The seconds of `day` that are asked for; null: all of it. */
export function pieceOf({ from, to }: Pick<ArchiveQuery, 'from' | 'to'>, day: Day) {
  const [begin, end] = [`${day} 00:00:00`, `${day} 23:59:59`];
  if (from <= begin && to >= end) return null;
  return { from: from > begin ? from : begin, to: to < end ? to : end };
}
