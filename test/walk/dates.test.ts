/** Sources that keep their events by the dates of another clock than the one that they are asked by, and open those dates only that a request names. */
import { expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { backfill } from '../../src/walk/run.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { exporterParts, OPTIONS } from '../support/exporter.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { expireLeases, freshStore, hastyClock, records } from '../support/store.ts';
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
import { dateAt, type Habits, ImaginedSource, idOf, secondsOf } from './imagined-source.ts';
import { type Gate, Killed } from './perils.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** The hours behind the newest of them are over, whatever time it is. */
const DAYS = closedDays(4).slice(0, 3);
const SETTLED_MS = SETTLE_MS + DAY * 1_000;
const [FIRST = ''] = DAYS;

let server: TestDatabase;

freshStore((store) => {
  ({ server } = store);
});

/** An event each so many seconds on all days and around them. */
const steadily = (every: number, first = 421): number[] =>
  Array.from(
    { length: Math.ceil(((DAYS.length + 2) * DAY) / every) },
    (_, n) => first - DAY + n * every,
  );

/**
 * So many hours ahead is the clock by whose dates a source keeps its events; or it takes the end of a range for the beginning of its date,
 * or one end for the whole of its date, or rounds both inwards; in summer, which begins at noon of the second day, it is five hours ahead.
 */
type HoursAhead =
  | number
  | 'end as date'
  | 'whole date of the end'
  | 'whole date of the beginning'
  | 'summer'
  | { readonly roundsTo: number; readonly shortest?: number };

/** A source of events so many seconds after the first day began. @param deepest where its lists end, and then it tells no totals. */
function sourceOf(
  begins: HoursAhead,
  seconds: readonly number[],
  pageLength = 100,
  deepest?: number,
) {
  let hoursAhead = begins;
  const begin = secondsOf(`${FIRST} 00:00:00`);
  const end = begin + DAYS.length * DAY;
  const times = seconds.map((at) => begin + at).sort((one, other) => one - other);
  const dayOf = (time: string, last = '00:00:00') => secondsOf(`${time.slice(0, 10)} ${last}`);
  const arrange: Habits['arrange'] = (_, __, { from, to }) =>
    times
      .filter(
        (at) =>
          at >= (hoursAhead === 'whole date of the beginning' ? dayOf(from) : secondsOf(from)),
      )
      .filter(
        (at) =>
          at <= (hoursAhead === 'whole date of the end' ? dayOf(to, '23:59:59') : secondsOf(to)),
      )
      .filter((at) => {
        if (typeof hoursAhead === 'object') {
          const { roundsTo } = hoursAhead;
          const first = Math.ceil(secondsOf(from) / roundsTo) * roundsTo;
          return at >= first && at < Math.floor(secondsOf(to) / roundsTo) * roundsTo;
        }
        if (hoursAhead === 'end as date') return at < dayOf(to);
        const isSummer = hoursAhead === 'summer';
        if (typeof hoursAhead === 'string' && !isSummer) return true;
        const ahead = isSummer ? (at < begin + DAY + 12 * HOUR ? 0 : 5) : Number(hoursAhead);
        const kept = dateAt(at + ahead * HOUR);
        return kept >= from.slice(0, 10) && kept <= to.slice(0, 10);
      })
      .map((at) => `{"id": ${at}}`);
  const before: Habits['before'] = (_, { from, to, start }) => {
    if (start >= (deepest ?? Number.POSITIVE_INFINITY)) throw new RequestError(400, 'too deep');
    const shortest = typeof hoursAhead === 'object' ? (hoursAhead.shortest ?? 0) : 0;
    if (secondsOf(to) - secondsOf(from) < shortest - 1) throw new RequestError(400, 'too short');
  };
  const totals = deepest === undefined ? 'exact' : 'none';
  const source = new ImaginedSource({ [FIRST]: [] }, { totals, arrange, before });
  const stream = newStream();
  const options = { pageLength, recheckDays: 7, settleMs: SETTLED_MS };
  return {
    source,
    stream,
    times: times.filter((at) => at >= begin && at < end),
    last: DAYS.at(-1) ?? '',
    run: async (change: Partial<Exporting> = {}) => {
      await runOnce({ server, source, stream, since: FIRST, ...options, ...change });
      return readResults(server, stream);
    },
    /** `daywalk backfill` of a day, by another process. */
    backfill: (day: string) =>
      backfill(
        exporterParts({ database: sharedDatabase(server), source, clock: hastyClock }),
        { ...OPTIONS, ...options, streams: [stream], since: FIRST },
        { from: day, to: day, newestFirst: false },
        new AbortController().signal,
      ),
    become: (other: HoursAhead) => {
      hoursAhead = other;
    },
    /** As days before have shown them: no edges and no dates hide anything. */
    believe: (change: Partial<Exporting> = {}) =>
      teach(
        { server, source, stream, since: FIRST, ...options, ...change },
        { reach: 1, hidden_by_date: 'nothing', ...(deepest && { proven_size: 1_000 }) },
      ),
  };
}

/** Exports it twice, a day apart. */
async function exportOf(hoursAhead: HoursAhead, seconds: readonly number[], pageLength?: number) {
  const { times, run, source } = sourceOf(hoursAhead, seconds, pageLength);
  await run();
  await letTimePass(server, '25 hours');
  const results = await run();
  const shown = await server.query<{ id: number }>(
    `select (record ->> 'id')::integer as id from daywalk.events order by 1`,
  );
  const [learned] = await server.query<{ value: string }>(
    `select value from daywalk.learned where fact = 'hidden_by_date'`,
  );
  return {
    states: DAYS.map((day) => results.get(day)?.state),
    missing: times.filter((at) => !shown.some(({ id }) => id === at)),
    doubled: shown.length - new Set(shown.map(({ id }) => id)).size,
    learned: learned?.value,
    requests: source.asked.length,
  };
}

it.each(
  andAtNight(
    [
      ['New York', 5, 'before'],
      ['Kolkata', -5.5, 'after'],
    ],
    [
      ['Berlin', -1, 'after'],
      ['its own', 0, 'nothing'],
    ],
  ),
)('those of UTC hide none of a day of %s', async (_, hoursAhead, learned) => {
  expect(await exportOf(hoursAhead, steadily(1_800))).toMatchObject({
    states: DAYS.map(() => 'complete'),
    missing: [],
    doubled: 0,
    learned,
  });
});

it('the end of a range that is taken for its date hides none of a day', async () => {
  expect(await exportOf('end as date', steadily(1_800))).toMatchObject({
    states: DAYS.map(() => 'complete'),
    missing: [],
    doubled: 0,
    learned: 'day',
  });
});

const hourOf = (at: number) => Math.floor((at + DAY) / HOUR) % 24;

it.each(
  andAtNight<[string, number, readonly number[]]>(
    [
      ['ten minutes', 600, []],
      ['ten minutes, at midnights alone', 600, [11, 12]],
    ],
    [
      ['a quarter of an hour', 900, []],
      ['an hour', HOUR, []],
    ],
  ),
)(
  'ends of ranges that are rounded inwards to %s hide none of a day',
  async (_, roundsTo, quiet) => {
    const seconds = steadily(400).filter((at) => !quiet.includes(hourOf(at)));
    expect(await exportOf({ roundsTo }, seconds)).toMatchObject({
      states: DAYS.map(() => 'complete'),
      missing: [],
      doubled: 0,
    });
  },
);

it.each(
  andAtNight<readonly [string, HoursAhead]>(
    [['ends of ranges that come to be rounded inwards', { roundsTo: HOUR }]],
    [['dates that come to be of UTC', 5]],
  ),
)('%s show no record twice', async (_, hoursAhead) => {
  const { run, become, times } = sourceOf(0, steadily(2_900));
  await run();
  for (const next of [hoursAhead, 0]) {
    become(next);
    for (let day = 0; day < 3; day += 1) {
      await letTimePass(server, '25 hours');
      await run();
    }
    expect(await missingOf(times)).toEqual([]);
  }
});

it('ends of ranges that are rounded inwards hide none of a day, though nothing stood in what they hide of days before', async () => {
  const halfPast = (day: number, hour: number) => day * DAY + hour * HOUR + 1_800;
  const early = [halfPast(0, 15), halfPast(1, 0), halfPast(1, 15)];
  const hidden = [halfPast(1, 23), halfPast(2, 23)];
  const { states, missing, doubled } = await exportOf({ roundsTo: HOUR }, [...early, ...hidden]);
  expect({ missing, doubled }).toEqual({ missing: [], doubled: 0 });
  expect(states).toEqual(DAYS.map(() => 'complete'));
});

/** The events that nobody is shown, and none twice. */
async function missingOf(times: readonly number[]): Promise<number[]> {
  const shown = await server.query<{ id: number }>(
    `select (record ->> 'id')::integer as id from daywalk.events`,
  );
  expect(shown.length).toBe(new Set(shown.map(({ id }) => id)).size);
  return times.filter((at) => !shown.some(({ id }) => id === at));
}

/** Exports all days but the newest while one second is believed to do, and that one when it must be learned anew: then all are whole. */
async function expectFoundLater({ run, believe, times }: ReturnType<typeof sourceOf>) {
  const before = { settleMs: SETTLED_MS + DAY * 1_000, recheckDays: 0 };
  await believe(before);
  await run(before);
  await letTimePass(server, '2 hours');
  await run(before);
  await server.query(
    `update daywalk.learned set learned_at = learned_at - interval '31 days' where fact = 'reach'`,
  );
  const results = await run({ recheckDays: 0 });
  expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
  expect(await missingOf(times)).toEqual([]);
}

it('ends of ranges that come to be rounded inwards, though one second would do, fail no day that is halved', async () => {
  const { run, believe, times } = sourceOf({ roundsTo: 600 }, steadily(400));
  await believe();
  const results = await run();
  expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
  expect(await missingOf(times)).toEqual([]);
});

it('ends of ranges that came to be rounded inwards hide none of the days before the one by which that is learned', async () => {
  const few = DAYS.flatMap((_, day) => [7, 15.5, 23.95].map((hour) => day * DAY + hour * HOUR + 7));
  await expectFoundLater(sourceOf({ roundsTo: 600 }, few));
});

it.each<[string, readonly number[]]>([
  ['are split', []],
  // Where nothing is hidden that stands at the beginning of a list, nothing tells of it.
  ['were split before that was learned', [5.9, 17.9]],
])('ends of ranges that came to be rounded inwards hide none of days that %s', async (_, quiet) => {
  const hourIn = (at: number) => (((at % DAY) + DAY) % DAY) / HOUR;
  const seconds = steadily(400).filter((at) =>
    quiet.every((hour) => Math.abs(hourIn(at) - hour) > 0.1),
  );
  await expectFoundLater(sourceOf({ roundsTo: 600 }, seconds, 20, 60));
});

it('ends of ranges that come to be rounded inwards to whole minutes hide none of a new day once an older one is looked at', async () => {
  const few = DAYS.flatMap((_, day) =>
    [7 * HOUR, 23 * HOUR + 1_200, 24 * HOUR - 30].map((at) => day * DAY + at + 3),
  );
  const { run, believe, become, times } = sourceOf(0, few);
  const before = { settleMs: SETTLED_MS + DAY * 1_000 };
  await believe(before);
  await run(before);
  become({ roundsTo: 60 });
  await letTimePass(server, '2 hours');
  await run(before);
  await letTimePass(server, '23 hours');
  await run();
  await letTimePass(server, '2 hours');
  const results = await run();
  expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
  expect(await missingOf(times)).toEqual([]);
});

it('ranges that are refused by chance do not have midnights asked for with less than rounded ends take', async () => {
  const few = DAYS.flatMap((_, day) => [7, 15.5, 23.95].map((hour) => day * DAY + hour * HOUR + 7));
  const { source, run, times, last } = sourceOf({ roundsTo: 600 }, few);
  await run({ signal: AbortSignal.abort() }).catch(() => {});
  await server.query(
    `insert into daywalk.learned (stream_id, fact, value, evidence)
     select stream_id, fact, value::jsonb, 'another day' from daywalk.streams, (values ('reach', '7200'), ('hidden_by_date', '"nothing"')) as f (fact, value)`,
  );
  // The first one across the last midnight, and the first one in the middle of its day.
  const refused = [
    (from: string, to: string) => from.startsWith(last) && to > `${last} 23:59:59`,
    (from: string, to: string) => to === `${last} 12:00:00` && from === `${last} 10:00:00`,
  ];
  const fetchPage = source.fetchPage;
  Object.assign(source, {
    fetchPage: async (request: PageRequest) => {
      if (refused[0]?.(request.from, request.to)) {
        refused.shift();
        throw new RequestError(404, 'not now');
      }
      return fetchPage(request);
    },
  });
  const results = await run();
  expect(refused).toEqual([]);
  expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
  expect(await missingOf(times)).toEqual([]);
});

it('the end of a range that comes to be taken for its date makes no day empty', async () => {
  const { run, believe, times } = sourceOf('end as date', steadily(1_800));
  await believe();
  const results = await run();
  expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
  expect(await missingOf(times)).toEqual([]);
});

it('those that come to be of UTC hide none of a day once an older one is looked at', async () => {
  const { run, become, times } = sourceOf(0, steadily(1_800));
  const before = { settleMs: SETTLED_MS + DAY * 1_000 };
  await run(before);
  become(5);
  for (const interval of ['2 hours', '23 hours']) {
    await letTimePass(server, interval);
    await run(interval === '2 hours' ? before : {});
  }
  await letTimePass(server, '2 hours');
  const results = await run();
  expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
  expect(await missingOf(times)).toEqual([]);
});

it('the end of a range that is taken for its date makes no day empty that has events at noon alone', async () => {
  const noon = steadily(60).filter((at) => hourOf(at) === 12);
  const { states, learned } = await exportOf('end as date', noon);
  // Noon is within the hours that are asked for anyway. All days have as many, which may be where lists are cut.
  expect({ states, learned }).toEqual({ states: DAYS.map(() => 'failed'), learned: 'before' });
});

it.each(andAtNight(['whole date of the end'], ['whole date of the beginning']))(
  'a range that shows the %s splits no day, and makes none fail',
  async (rounded) => {
    const { states, missing, doubled, requests } = await exportOf(rounded, steadily(1_800));
    expect({ states, missing, doubled }).toEqual({
      states: DAYS.map(() => 'complete'),
      missing: [],
      doubled: 0,
    });
    expect(requests).toBeLessThan(50);
  },
);

it.each([
  ['those of UTC', 5],
  ['ends that are rounded', { roundsTo: HOUR }],
  [
    'ends that are rounded, where ranges under a minute are refused',
    { roundsTo: HOUR, shortest: 60 },
  ],
])('%s leave the evening before the first day with its own day', async (_, hoursAhead) => {
  const { times, run } = sourceOf(hoursAhead, steadily(1_800));
  await run();
  await server.query('update daywalk.windows set due_at = clock_timestamp()');
  const results = await run();
  const first = times.filter((at) => dateAt(at) === FIRST).map((at) => `{"id": ${at}}`);
  expect(results.get(FIRST)).toMatchObject({ state: 'complete', published: first.sort() });
});

it.each(andAtNight([['those of UTC', 5]], [['ends that are rounded', { roundsTo: HOUR }]]))(
  '%s hide none of a day that is exported when the one behind it was',
  async (_, hoursAhead) => {
    const { times, run } = sourceOf(hoursAhead, steadily(1_800));
    await run({ since: DAYS[1] ?? '' });
    const first = times.filter((at) => dateAt(at) === FIRST).map((at) => `{"id": ${at}}`);
    const results = await run();
    expect(results.get(FIRST)).toMatchObject({ state: 'complete', published: first.sort() });
    expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
  },
);

it.each(
  andAtNight<[string, HoursAhead]>(
    [['the end of a range that is taken for its date hides none', 'end as date']],
    [['those of UTC hide none', 5]],
  ),
)(
  '%s of a day that is exported when the one behind it was, and that had shown what stands just before it',
  async (_, hoursAhead) => {
    const { times, run } = sourceOf(hoursAhead, [...steadily(1_800), DAY - 57]);
    await run({ since: DAYS[1] ?? '' });
    const results = await run();
    expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
    expect(await missingOf(times)).toEqual([]);
    expect(await audit(server)).toEqual([]);
  },
);

it('those of UTC hide none of a day whose midnight was asked before that was learned, by a process that is killed then', async () => {
  const { run, source, times } = sourceOf(5, steadily(1_800));
  let isKilled = false;
  const killed = run({
    gate: async (statement, act) => {
      isKilled ||= statement?.includes('midnight is not null') === true;
      if (isKilled) throw new Killed();
      const done = await act();
      const to = statement === null ? source.asked.at(-1)?.to : undefined;
      // Hours that tell of the first two midnights.
      if (DAYS.slice(0, 2).some((day) => to === `${day} 00:00:01`))
        throw new RequestError(403, 'not now');
      return done;
    },
  });
  await expect(killed).rejects.toThrow(Killed);
  await expireLeases(server);
  await run();
  const shown = await server.query<{ id: number }>(
    `select (record ->> 'id')::integer as id from daywalk.events`,
  );
  expect(times.filter((at) => !shown.some(({ id }) => id === at))).toEqual([]);
});

it('those of UTC hide none of a day of a few events', async () => {
  const { missing, doubled } = await exportOf(5, steadily(4 * HOUR + 60));
  expect({ missing, doubled }).toEqual({ missing: [], doubled: 0 });
});

it('those of UTC hide none of a day of New York that begins with a burst', async () => {
  const bursts = [0, 1, 2].flatMap((day) =>
    Array.from({ length: 30 }, (_, n) => day * DAY + 3 * n),
  );
  const { missing, doubled } = await exportOf(5, [...steadily(1_800), ...bursts]);
  expect({ missing, doubled }).toEqual({ missing: [], doubled: 0 });
});

it('those of UTC hide none of a day of New York that ends with more than a page in its last two minutes', async () => {
  const bursts = [0, 1, 2, 3].flatMap((day) =>
    Array.from({ length: 30 }, (_, n) => day * DAY - 90 + 3 * n),
  );
  const { missing, learned } = await exportOf(5, [...steadily(1_800), ...bursts], 20);
  expect({ missing, learned }).toEqual({ missing: [], learned: 'before' });
});

it.each(andAtNight([['Berlin', -1, 0, 'after']], [['the Azores', 1, -1, 'before']]))(
  'those of UTC hide none of a day of %s with an event at each full hour',
  async (_, hoursAhead, first, learned) => {
    expect(await exportOf(hoursAhead, steadily(1_800, first))).toMatchObject({
      missing: [],
      doubled: 0,
      learned,
    });
  },
);

it('those of UTC are looked for at every midnight until something stands beside one', async () => {
  const busy = steadily(1_800).filter((at) => at > 2 * DAY + 10 * HOUR);
  const { missing, learned } = await exportOf(5, [2 * HOUR, ...busy]);
  expect({ missing, learned }).toEqual({ missing: [], learned: 'before' });
});

it.each(andAtNight([['more than a page far from it', 150]], [['a few far from it', 5]]))(
  'those of UTC are looked for until something stands near a midnight: %s',
  async (_, count) => {
    const each = [...Array(DAYS.length + 2).keys()].map((day) => (day - 1) * DAY);
    const office = each.flatMap((day) =>
      Array.from(
        { length: count },
        (_each, n) => day + 11 * HOUR + Math.floor((n * 20_000) / count),
      ),
    );
    const evening = [DAY, 2 * DAY].map((day) => day + 21 * HOUR + 77);
    const { missing, learned } = await exportOf(5, [...office, ...evening], 100);
    expect({ missing, learned }).toEqual({ missing: [], learned: 'before' });
  },
);

it('those of UTC show the hours behind a midnight when these are over, and before that its day waits, and says for what', async () => {
  const { run, last } = sourceOf(-5.5, steadily(1_800));
  const ended = secondsOf(`${last} 23:59:59`);
  /** The clock of the database, so long behind that midnight once the run has begun; that of the worker may say anything. */
  const at = (hours: number): Gate => {
    let isBegun = false;
    return async (statement, act) => {
      const answer = await act();
      if (!statement?.endsWith(' as now')) return answer;
      const told = isBegun ? [{ now: (ended + hours * HOUR) * 1_000 }] : answer;
      isBegun = true;
      return told as typeof answer;
    };
  };
  const early = await run({ gate: at(8) });
  expect(early.get(last)).toMatchObject({ state: 'failed' });
  expect(early.get(last)?.lastError).toContain('Set settle to 16h');
  await server.query('update daywalk.windows set due_at = clock_timestamp()');
  expect((await run({ gate: at(16) })).get(last)).toMatchObject({
    state: 'complete',
    lastError: null,
  });
});

it('those of UTC hide none of a day beside whose midnight too little stands to tell of them at once', async () => {
  const later = steadily(1_800).filter((at) => at > DAY);
  const { run, times } = sourceOf(5, [10 * HOUR, 20 * HOUR, DAY - 60, ...later]);
  await run();
  const shown = await server.query<{ id: number }>(
    `select (record ->> 'id')::integer as id from daywalk.events`,
  );
  expect(times.filter((at) => !shown.some(({ id }) => id === at))).toEqual([]);
});

it.each([
  ['the day', [HOUR + 10, 12 * HOUR, 15 * HOUR]],
  ['the midnight', [45, HOUR + 10, 12 * HOUR, 15 * HOUR]],
  ['the midnight, and nothing else', [45, HOUR + 10]],
])(
  'those of another clock hide none of the first day of a new stream that shows something: first %s',
  async (_, seconds) => {
    const { run, times } = sourceOf(
      -5,
      seconds.map((at) => 2 * DAY + at),
    );
    await run();
    const shown = await server.query<{ id: number }>(
      `select (record ->> 'id')::integer as id from daywalk.events order by 1`,
    );
    expect(shown.map(({ id }) => id)).toEqual(times);
  },
);

it.each([
  ['dates are kept apart', 40],
  ['hours from 23 to 0 are none, and nothing else stands near', 4 * HOUR],
])(
  'ranges across a midnight that show nothing at all have no day complete: %s',
  async (_, near) => {
    // One event that no day shows, in the fraction behind its last second, as times are compared.
    const ids = [100, 200, 300].flatMap((id) => Array.from({ length: 13 }, (_each, n) => id + n));
    const lists = DAYS.map((day, n) => [
      day,
      ids.slice(n * 13, n * 13 + 13).map((id) => `{"id": ${id}}`),
    ]);
    const at = (text: string) => {
      const n = JSON.parse(text).id % 100;
      return n === 12 ? DAY - 0.3 : n === 11 ? DAY - near : n * 5_000 + 7;
    };
    const arrange: Habits['arrange'] = (list, __, { from, to }) =>
      from.slice(0, 10) === to.slice(0, 10) ? list : [];
    const source = new ImaginedSource(Object.fromEntries(lists), { at, arrange });
    const stream = newStream();
    await runOnce({ server, source, stream, since: FIRST, pageLength: 50, settleMs: SETTLED_MS });
    const results = [...(await readResults(server, stream)).values()];
    expect(results.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed']);
    expect(source.asked.length).toBeLessThan(150);
  },
);

it('no dates hide what stands beside a midnight behind an empty day, where each answer tells a score of its own', async () => {
  const [empty = '', full = ''] = closedDays(2);
  let answers = 0;
  const source = new ImaginedSource(
    { [full]: records(1, 40) },
    {
      totals: 'exact',
      wrap: (list, total) => {
        answers += 1;
        const scored = list.map((record) => record.replace('}', `, "score": ${answers}}`));
        return `{"total":${total},"data":[${scored.join(',')}]}`;
      },
      at: (record) => (idOf(record) <= 4 ? 0 : 2_000 * idOf(record)),
    },
  );
  const exporting = { server, source, stream: newStream(), since: empty, pageLength: 50 };
  await runOnce(exporting);
  const results = await readResults(server, exporting.stream);
  expect([empty, full].map((day) => results.get(day)?.state)).toEqual(['complete', 'complete']);
  expect(
    await server.query(
      `select value from daywalk.learned where fact = 'hidden_by_date' and value <> '"nothing"'`,
    ),
  ).toEqual([]);
});

it.each([
  ['ends are rounded', 1],
  ['dates hide something', 2],
])('answers that are empty by chance beside a midnight do not teach that %s', async (_, empty) => {
  // The last one stands in the last fraction of its day, which only a range across shows.
  const lastHours = [22.5, 23.2, 23.4, 23.6].map((hour) => hour * HOUR);
  const each = [7 * HOUR, ...lastHours, DAY - 0.5];
  const { source, run, last } = sourceOf(
    0,
    DAYS.flatMap((__, day) => each.map((at) => day * DAY + at)),
  );
  // The first ranges that reach two minutes back from the second behind it, and an hour back from its last second.
  const ranges = [
    ['23:58:00', '00:00:01'],
    ['23:00:00', '23:59:59'],
  ].slice(0, empty);
  const { fetchPage } = source;
  const asked = new Set<string>();
  Object.assign(source, {
    fetchPage: (request: PageRequest) => {
      const [from, to] = [request.from, request.to].map((time) => time.slice(11));
      const own = ranges.find((range) => range[0] === from && range[1] === to);
      if (own === undefined || asked.has(String(own))) return fetchPage(request);
      asked.add(String(own));
      return fetchPage({ ...request, from: '2001-01-01 00:00:00', to: '2001-01-01 23:59:59' });
    },
  });
  const results = await run();
  expect(asked.size).toBe(ranges.length);
  expect(results.get(last)?.state).toBe('complete');
  expect(
    await server.query(
      `select fact, value from daywalk.learned where fact in ('hidden_by_date', 'reach') order by fact`,
    ),
  ).toEqual([{ fact: 'hidden_by_date', value: 'not before' }]);
});

it('those that come to be of UTC hide none of a day though the process that walked an older one again is killed then', async () => {
  const { run, become, times } = sourceOf(0, steadily(1_800));
  const before = { settleMs: SETTLED_MS + DAY * 1_000 };
  await run(before);
  become(5);
  await letTimePass(server, '2 hours');
  for (const _ of DAYS) {
    let isKilled = false;
    const gate: Gate = async (statement, act) => {
      if (isKilled) throw new Killed();
      const done = await act();
      isKilled = statement?.includes('daywalk.prove_window') === true;
      return done;
    };
    await run({ ...before, gate }).catch(() => {});
    await expireLeases(server);
  }
  await letTimePass(server, '23 hours');
  await run();
  await letTimePass(server, '2 hours');
  await run();
  expect(await missingOf(times)).toEqual([]);
});

it('those of UTC in summer hide none of it once a process has learned that, though another one has seen a winter meanwhile', async () => {
  const [winter = '', , summer = ''] = DAYS;
  const { run, backfill, source, times } = sourceOf('summer', steadily(1_800));
  let isWinterWalked = false;
  await run({
    settleMs: SETTLED_MS + 2 * DAY * 1_000,
    gate: async (_, act) => {
      if (!isWinterWalked && source.asked.some(({ to }) => to === `${winter} 23:59:59`)) {
        isWinterWalked = true;
        await backfill(summer);
      }
      return act();
    },
  });
  const results = await run();
  expect([...results.values()].map(({ state }) => state)).toEqual(DAYS.map(() => 'complete'));
  expect(await missingOf(times)).toEqual([]);
});

it('those of UTC in summer hide none of it from a process that has seen a winter, once another one has learned that', async () => {
  const { run, stream, times } = sourceOf('summer', steadily(1_800));
  let isTold = false;
  await run({
    gate: async (statement, act) => {
      const done = await act();
      if (isTold || !statement?.includes('insert into daywalk.learned')) return done;
      const told = await server.query(
        `update daywalk.learned l set value = '"before"', kept = true from daywalk.streams s
          where s.stream_id = l.stream_id and s.name = $1 and fact = 'hidden_by_date' and value = '"nothing"' returning 1`,
        [stream.name],
      );
      isTold = told.length > 0;
      return done;
    },
  });
  expect(isTold).toBe(true);
  expect(await missingOf(times)).toEqual([]);
});
