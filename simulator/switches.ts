/** Every unknown of the API as a switch, its default (an honest modern server), and the check of a given value. */
import { ENVELOPES, type EnvelopeShape, type Totals } from './envelopes.ts';
import { FAULT_CONDITIONS, FAULT_PARAMETERS, type Fault } from './faults.ts';
import type { Hook } from './hook.ts';
import { SimulatorInputError } from './input-error.ts';
import { ORDERS, type Order } from './selection.ts';
import {
  isTimeZone,
  SKIPPED_TIMES,
  type SkippedTimes,
  SUB_SECONDS,
  type SubSecond,
} from './wall-time.ts';

/** Records that come or go while somebody walks: after every `every` pages served, `count` of them. */
export interface Change {
  readonly every: number;
  readonly count: number;
  /** Where in the window of the page just served. */
  readonly where: 'newest' | 'oldest' | 'inside';
  /** At most so many records in all. */
  readonly limit?: number;
}

/** Switches that can be changed while the simulator runs; null is off. */
export interface Switches {
  readonly key: string;
  readonly envelope: EnvelopeShape;
  readonly totals: Totals;
  /** The largest `length`; a larger one is silently made this one. */
  readonly clamp: number | null;
  /** The largest `length`; a larger one is an error. */
  readonly maxLength: { readonly limit: number; readonly status: number } | null;
  /**
   * How deep paging goes. By `end`, start + length may not exceed the limit (as in Elasticsearch);
   * by `start`, only start must be below it. `empty` cuts a page at the limit.
   */
  readonly offsetCap: {
    readonly limit: number;
    readonly answer: number | 'empty';
    readonly by?: 'start' | 'end';
  } | null;
  readonly order: Order;
  /** Every page is the first one. */
  readonly ignoreStart: boolean;
  readonly subSecond: SubSecond;
  /** How a time is read that the clocks skip. */
  readonly skippedTimes: SkippedTimes;
  /** The IANA zone in which the server reads `fromDate` and `toDate`. */
  readonly timeZone: string;
  readonly arrivals: Change | null;
  readonly deletions: Change | null;
  readonly faults: readonly Fault[];
  /** A token bucket; refused requests get 429 with this Retry-After. */
  readonly rateLimit: {
    readonly perSecond: number;
    readonly burst?: number;
    readonly retryAfter?: 'seconds' | 'date' | 'none' | 'garbage';
  } | null;
  /** Milliseconds before each answer: fixed, or drawn between two. */
  readonly latency: number | readonly [least: number, most: number];
  readonly gzip: 'asked' | 'always' | 'never';
  /** Whether a request without the two other headers of the contract is a 400. */
  readonly requireHeaders: boolean;
  /** The last resort: answers a request itself, or commits a fault, or leaves it alone (undefined). */
  readonly respond: Hook | null;
}

export const DEFAULT_SWITCHES: Switches = {
  key: 'demo-key',
  envelope: 'datatables',
  totals: 'exact',
  clamp: null,
  maxLength: null,
  offsetCap: null,
  order: 'newest',
  ignoreStart: false,
  subSecond: 'seconds',
  skippedTimes: 'change',
  timeZone: 'UTC',
  arrivals: null,
  deletions: null,
  faults: [],
  rateLimit: null,
  latency: 0,
  gzip: 'asked',
  requireHeaders: false,
  respond: null,
};

const whole = (value: unknown, least: number) => Number.isInteger(value) && Number(value) >= least;
const status = (value: unknown) => whole(value, 400) && Number(value) <= 599;
const oneOf = (choices: readonly unknown[]) => (value: unknown) => choices.includes(value);

const changeHolds = (change: Change | null) =>
  change === null ||
  (whole(change.every, 1) &&
    whole(change.count, 1) &&
    ['newest', 'oldest', 'inside'].includes(change.where) &&
    (change.limit === undefined || whole(change.limit, 0)));

/** What each switch accepts, in words for the error and as a test. */
const CHECKS: {
  readonly [Name in keyof Switches]: readonly [string, (value: Switches[Name]) => boolean];
} = {
  key: ['a text that is not empty', (key) => typeof key === 'string' && key !== ''],
  envelope: [ENVELOPES.join(', '), oneOf(ENVELOPES)],
  totals: [
    'exact, none, page, string, unfiltered, {cap: N} or {off: N}',
    (totals) =>
      typeof totals === 'string'
        ? ['exact', 'none', 'page', 'string', 'unfiltered'].includes(totals)
        : 'cap' in totals
          ? whole(totals.cap, 0)
          : Number.isInteger(totals.off),
  ],
  clamp: ['a whole number from 1 on', (clamp) => clamp === null || whole(clamp, 1)],
  maxLength: [
    'a limit from 1 on and a status from 400 to 599',
    (max) => max === null || (whole(max.limit, 1) && status(max.status)),
  ],
  offsetCap: [
    'a limit from 1 on, and for the answer a status from 400 to 599 or empty',
    (cap) =>
      cap === null ||
      (whole(cap.limit, 1) &&
        (cap.answer === 'empty' || status(cap.answer)) &&
        ['start', 'end'].includes(cap.by ?? 'end')),
  ],
  order: [ORDERS.join(', '), oneOf(ORDERS)],
  ignoreStart: ['true or false', oneOf([true, false])],
  subSecond: [SUB_SECONDS.join(', '), oneOf(SUB_SECONDS)],
  skippedTimes: [SKIPPED_TIMES.join(', '), oneOf(SKIPPED_TIMES)],
  timeZone: ['an IANA time zone', (zone) => isTimeZone(zone)],
  arrivals: ['every, count, where (newest, oldest or inside) and perhaps a limit', changeHolds],
  deletions: ['every, count, where (newest, oldest or inside) and perhaps a limit', changeHolds],
  faults: ['known kinds with their own parameters', (faults) => faults.every(faultHolds)],
  rateLimit: [
    'more than 0 requests per second, and for retryAfter seconds, date, none or garbage',
    (limit) =>
      limit === null ||
      (limit.perSecond > 0 &&
        (limit.burst === undefined || whole(limit.burst, 1)) &&
        ['seconds', 'date', 'none', 'garbage'].includes(limit.retryAfter ?? 'seconds')),
  ],
  latency: [
    'milliseconds from 0 on, or two of them, the smaller first',
    (latency) => {
      const [least, most] = typeof latency === 'number' ? [latency, latency] : latency;
      return least >= 0 && most >= least && most < 2 ** 31;
    },
  ],
  gzip: ['asked, always or never', oneOf(['asked', 'always', 'never'])],
  requireHeaders: ['true or false', oneOf([true, false])],
  respond: ['a function', (hook) => hook === null || typeof hook === 'function'],
};

/**
 * The switches with some of them changed; those given as undefined stay.
 * @throws SimulatorInputError when a name is unknown or a value is none that the switch has.
 */
export function changeSwitches(switches: Switches, changes: Partial<Switches>): Switches {
  const changed: Record<string, unknown> = { ...switches };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(CHECKS, name)) throw new SimulatorInputError(`no such switch: ${name}`);
    const [expected, holds] = CHECKS[name as keyof Switches] as readonly [
      string,
      (value: unknown) => boolean,
    ];
    if (!holds(value)) {
      throw new SimulatorInputError(`${name}: ${JSON.stringify(value)} is not ${expected}`);
    }
    changed[name] = value;
  }
  return changed as unknown as Switches;
}

/** True, or an error that says what this fault lacks. */
function faultHolds(fault: Fault): boolean {
  if (!Object.hasOwn(FAULT_PARAMETERS, fault.kind)) {
    throw new SimulatorInputError(`faults: no fault is called ${JSON.stringify(fault.kind)}`);
  }
  const { needs = [], takes = [] } = FAULT_PARAMETERS[fault.kind];
  const known = new Set<string>(['kind', ...FAULT_CONDITIONS, ...needs, ...takes]);
  const lacking = needs.find((name) => !Object.hasOwn(fault, name));
  const strange = Object.keys(fault).find((name) => !known.has(name));
  if (lacking !== undefined) {
    throw new SimulatorInputError(`faults: ${fault.kind} needs ${lacking}`);
  }
  if (strange !== undefined) {
    throw new SimulatorInputError(`faults: ${fault.kind} takes no ${strange}`);
  }
  if (fault.rate !== undefined && !(fault.rate >= 0 && fault.rate <= 1)) {
    throw new SimulatorInputError(`faults: the rate of ${fault.kind} is a share from 0 to 1`);
  }
  return true;
}
