/** Sources that keep their events by the dates of another clock, and have a second habit. */
import { expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { addDays } from '../../src/plan/days.ts';
import { backfill } from '../../src/walk/run.ts';
import type { TestDatabase } from '../support/database.ts';
import { exporterParts, OPTIONS } from '../support/exporter.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, hastyClock } from '../support/store.ts';
import {
  closedDays,
  type Exporting,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
  sharedDatabase,
  teach,
} from './exporting.ts';
import { dateAt, type Habits, ImaginedSource, secondsOf } from './imagined-source.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** The hours behind the newest of them are over, whatever time it is. */
const DAYS = closedDays(4).slice(0, 3);
const [FIRST = '', , LAST = ''] = DAYS;

let server: TestDatabase;

freshStore((store) => {
  ({ server } = store);
});

interface Habit {
  /** So many hours ahead is the clock by whose dates it keeps its events. */
  readonly hoursAhead: number;
  /** Shorter ranges are refused; seconds. */
  readonly shortest?: number;
  /** Longer ones are, too. */
  readonly longest?: number;
}

/** On all days, and those around them, an event at each of these seconds. */
const daily = (...seconds: readonly number[]): number[] =>
  [-1, ...DAYS.keys(), DAYS.length].flatMap((day) => seconds.map((at) => day * DAY + at));

/** An event each so many seconds of a day. */
const each = (every: number): number[] =>
  Array.from({ length: Math.ceil((DAY - 421) / every) }, (_, n) => 421 + n * every);

/** Whether a range shows an event, which is kept by the dates of a clock so many hours ahead. */
function isWithin(at: number, { from, to }: Pick<PageRequest, 'from' | 'to'>, hoursAhead: number) {
  const kept = dateAt(at + hoursAhead * HOUR);
  const isOfDates = kept >= from.slice(0, 10) && kept <= to.slice(0, 10);
  return isOfDates && at >= secondsOf(from) && at <= secondsOf(to);
}

/** A source of events so many seconds after the first day began. */
function sourceOf(
  { hoursAhead, shortest = 0, longest = Number.POSITIVE_INFINITY }: Habit,
  seconds: readonly number[],
) {
  const begin = secondsOf(`${FIRST} 00:00:00`);
  const times = seconds.map((at) => begin + at).sort((one, other) => one - other);
  const arrange: Habits['arrange'] = (_, __, asked) =>
    times.filter((at) => isWithin(at, asked, hoursAhead)).map((at) => `{"id": ${at}}`);
  const before: Habits['before'] = (_, { from, to }) => {
    const asked = secondsOf(to) - secondsOf(from) + 1;
    if (asked < shortest || asked > longest) throw new RequestError(400, 'no such range');
  };
  const source = new ImaginedSource({ [FIRST]: [] }, { totals: 'exact', arrange, before });
  return { source, begin, times };
}

/** Each run, as what passes before it, and how many days the newest ones wait until they close. */
type Runs = readonly (readonly [wait: string, days: number])[];
const A_DAY_LATER: Runs = [
  ['0 hours', 1],
  ['25 hours', 2],
];

/** Exports them in these runs. @returns the events that no day shows. */
async function missingOf(
  habit: Habit,
  seconds: readonly number[],
  since = FIRST,
  change: Partial<Exporting> = {},
  runs = A_DAY_LATER,
): Promise<{ states: unknown[]; missing: number[] }> {
  const { source, begin, times } = sourceOf(habit, seconds);
  const stream = newStream();
  const exporting = { server, source, stream, since, pageLength: 50, recheckDays: 7, ...change };
  for (const [wait, days] of runs) {
    await letTimePass(server, wait);
    await runOnce({ ...exporting, settleMs: SETTLE_MS + days * DAY * 1_000 });
  }
  const results = await readResults(server, stream);
  const shown = await server.query<{ id: number }>(
    `select (record ->> 'id')::integer as id from daywalk.events`,
  );
  const own = times.filter((at) => dateAt(at) >= since && dateAt(at) <= LAST);
  return {
    states: [...results.values()].map(({ state }) => state),
    missing: own.filter((at) => !shown.some(({ id }) => id === at)).map((at) => at - begin),
  };
}

it.each(
  andAtNight(
    [
      ['ten minutes', 600, 5, DAYS],
      ['ten minutes, by one day', 600, -1, [LAST]],
    ],
    [
      ['ten minutes', 600, -5.5, DAYS],
      ['an hour', HOUR, -5.5, DAYS],
    ],
  ),
)(
  'those of UTC hide none of a day where ranges are refused that are shorter than %s',
  async (_, shortest, hoursAhead, days) => {
    const habit = { hoursAhead, shortest };
    // In one day few stand, which no halves show to be all: then a midnight is the first short range.
    const seconds = days.length > 1 ? each(1_700) : [HOUR / 2, 9 * HOUR, 17 * HOUR, DAY - HOUR / 2];
    expect(await missingOf(habit, daily(...seconds), days[0])).toEqual({
      states: days.map(() => 'complete'),
      missing: [],
    });
  },
);

it.each([
  ['none before it', [2 * DAY - 1, 2 * DAY + 5, 3 * DAY - 1]],
  ['two quiet ones before it', [5 * HOUR, DAY + 5 * HOUR, 2 * DAY - 1, 2 * DAY + 5, 3 * DAY - 1]],
])(
  'those of UTC hide none of a day where one second is learned to be enough at a midnight that tells too little with two minutes, and %s',
  async (_, seconds) => {
    expect(await missingOf({ hoursAhead: -1 }, seconds)).toEqual({
      states: DAYS.map(() => 'complete'),
      missing: [],
    });
  },
);

it('those of UTC hide none of a day whose midnight is the third one, and tells after two that do not', async () => {
  expect(await missingOf({ hoursAhead: -1 }, [-1, DAY - 1, 2 * DAY + HOUR / 2])).toEqual({
    states: DAYS.map(() => 'complete'),
    missing: [],
  });
});

it('those of another clock hide none of the first day that shows something while a later one is proven before it', async () => {
  const pages = Array.from({ length: 130 }, (_, n) => DAY + 10 * HOUR + 60 * n);
  const seconds = [DAY + HOUR, ...pages, 2.5 * DAY];
  const change = { concurrency: 4 };
  expect(await missingOf({ hoursAhead: -5 }, seconds, addDays(FIRST, -3), change)).toEqual({
    states: Array(6).fill('complete'),
    missing: [],
  });
});

it('those of another clock hide none of the first day that shows something after a silent month', async () => {
  const runs: Runs = [
    ['0 hours', 3],
    ['31 days', 2],
    ['25 hours', 1],
  ];
  const seconds = [12, 49, 60].map((hour) => hour * HOUR);
  expect(await missingOf({ hoursAhead: -5 }, seconds, FIRST, {}, runs)).toEqual({
    states: DAYS.map(() => 'complete'),
    missing: [],
  });
});

it('ends that are rounded have the midnight before the first day asked once where the clocks repeat an hour behind it', async () => {
  const day = '2024-11-03';
  const times = Array.from({ length: 90 }, (_, n) => secondsOf(`${day} 00:00:00`) + 1_234 * n);
  const rounded = (time: string, round: typeof Math.ceil) => round(secondsOf(time) / 600) * 600;
  const arrange: Habits['arrange'] = (_, __, { from, to }) =>
    times
      .filter((at) => at >= rounded(from, Math.ceil) && at < rounded(to, Math.floor))
      .map((at) => `{"id": ${at}}`);
  const source = new ImaginedSource({ [day]: [] }, { totals: 'exact', arrange });
  const stream = newStream();
  const exporting = { server, source, stream, since: day, timeZone: 'America/Havana' };
  await teach(exporting, { reach: 7_200, hidden_by_date: 'nothing' });
  const stop = new AbortController();
  const claimed: string[] = [];
  await backfill(
    exporterParts({ database: sharedDatabase(server), source, clock: hastyClock }),
    { ...OPTIONS, ...exporting, streams: [stream] },
    { from: day, to: day, newestFirst: false },
    stop.signal,
    (event) => {
      if (event.kind !== 'claimed') return;
      claimed.push(`${event.window.kind} ${event.window.from}`);
      if (claimed.length > 9) stop.abort();
    },
  ).catch(() => {});
  // Two are claimed at a time.
  expect(claimed.sort()).toEqual([
    `cut ${addDays(day, -1)} 23:59:59`,
    `cut ${day} 23:59:59`,
    `day ${day} 00:00:00`,
  ]);
});

it.each([
  ['behind a midnight, the fourth', -5, 2, 10, 3],
  ['behind a midnight, the last', -5, 2, 10, 8],
  ['before a midnight, the fourth', 5, 22, 14, 3],
])(
  'those of UTC hide none of a day whose record stands %s that is asked, and those before it tell too little',
  async (_, hoursAhead, near, far, number) => {
    const days = [-6, -5, -4, -3, -2, -1, 0, 1, 2];
    const hours = days.map((day) => [far, ...(day === days[number] ? [near] : [])]);
    const seconds = days.flatMap((day, n) => (hours[n] ?? []).map((at) => day * DAY + at * HOUR));
    const since = dateAt(secondsOf(`${FIRST} 00:00:00`) + Math.min(...days) * DAY);
    // Looks find by now what a first export overlooked.
    const once: Runs = [['0 hours', 1]];
    expect(await missingOf({ hoursAhead }, seconds, since, {}, once)).toEqual({
      states: days.map(() => 'complete'),
      missing: [],
    });
  },
);

it('those of UTC hide none of a day whose first hours were not over when its midnight was asked, once these are looked at', async () => {
  const begin = secondsOf(`${FIRST} 00:00:00`);
  const times = [10 * HOUR, DAY + 2 * HOUR, DAY + 10 * HOUR, 2 * DAY + 10 * HOUR];
  let now = 0;
  const arrange: Habits['arrange'] = (_, __, asked) =>
    times.filter((at) => at <= now && isWithin(begin + at, asked, -5)).map((at) => `{"id": ${at}}`);
  const source = new ImaginedSource({ [FIRST]: [] }, { totals: 'exact', arrange });
  const exporting = { server, source, stream: newStream(), since: FIRST, pageLength: 50 };
  for (const day of DAYS.keys()) {
    now = (day + 1) * DAY + HOUR;
    const settleMs = SETTLE_MS + (DAYS.length - day) * DAY * 1_000;
    await runOnce({ ...exporting, recheckDays: 7, settleMs });
    await letTimePass(server, '24 hours');
  }
  const shown = await server.query<{ id: number }>(
    `select (record ->> 'id')::integer as id from daywalk.events order by id`,
  );
  expect(shown.map(({ id }) => id)).toEqual(times);
});

it('those of UTC hide none of a day of a quiet stream, where another one of its resource has shown that they do', async () => {
  const begin = secondsOf(`${FIRST} 00:00:00`);
  const quiet = [-2 * HOUR, 20 * HOUR, DAY + 12.5 * HOUR];
  const arrange: Habits['arrange'] = (_, __, asked) =>
    [...quiet, ...(asked.filters.rule_level === undefined ? daily(...each(1_700)) : [])]
      .sort((one, other) => one - other)
      .filter((at) => isWithin(begin + at, asked, -13))
      .map((at) => `{"id": ${at}}`);
  const source = new ImaginedSource({ [FIRST]: [] }, { totals: 'exact', arrange });
  const settleMs = SETTLE_MS + DAY * 1_000;
  const exporting = { server, source, since: FIRST, pageLength: 100, recheckDays: 7, settleMs };
  const severe = { ...newStream(), filters: { rule_level: '12' } };
  const shown = () =>
    server.query<{ id: number }>(
      `select (record ->> 'id')::integer as id from daywalk.shown_records where stream = $1 order by id`,
      [severe.name],
    );
  await runOnce({ ...exporting, stream: severe });
  expect(await shown()).toEqual([{ id: 20 * HOUR }]);
  await runOnce({ ...exporting, stream: newStream() });
  await runOnce({ ...exporting, stream: severe });
  expect(await shown()).toEqual([{ id: 20 * HOUR }, { id: DAY + 12.5 * HOUR }]);
});

/** How many requests it is asked in each of these runs, of which each comes so long after the one before. */
async function askedAfter(habit: Habit, seconds: readonly number[], waits: readonly string[]) {
  const { source } = sourceOf(habit, seconds);
  const settleMs = SETTLE_MS + DAY * 1_000;
  const exporting = { server, source, stream: newStream(), since: FIRST, pageLength: 50 };
  const asked: number[] = [];
  for (const wait of waits) {
    await letTimePass(server, wait);
    const before = source.asked.length;
    await runOnce({ ...exporting, recheckDays: 7, settleMs });
    asked.push(source.asked.length - before);
  }
  return asked;
}

// Two hours after the first look none is due.
const LOOKS = ['0 hours', '2 hours', '2 hours'];

it.each([
  ['at three', [3 * HOUR]],
  ['a second before nine in the evening', [21 * HOUR - 1]],
  ['each six hours', [3, 9, 15, 21].map((hour) => hour * HOUR)],
])(
  'a record that stands where the hours end that a look at a midnight asks for is found once, and not by each look: %s',
  async (_, seconds) => {
    expect((await askedAfter({ hoursAhead: 0 }, daily(...seconds), LOOKS))[2]).toBe(0);
  },
);

it('where ranges of more than four hours are refused, an empty midnight has its looks', async () => {
  const habit = { hoursAhead: 0, longest: 4 * HOUR };
  expect((await askedAfter(habit, daily(12 * HOUR), LOOKS))[2]).toBe(0);
});
