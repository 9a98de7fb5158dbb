/**
 * Spans that hold too much for their source, or are too long, and are refused: they are split, and are whole (docs/completeness.md C9).
 * Where those are refused that are too short, cuts are asked for with longer ones (C8).
 */
import { expect, it } from 'vitest';
import { EnvelopeError, PageFailedError, RequestError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { secondsOf } from '../../src/plan/split.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import {
  accept,
  closedDays,
  exported,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
  teach,
} from './exporting.ts';
import { type Habits, ImaginedSource, idOf, secondOf as spread } from './imagined-source.ts';

let server: TestDatabase;
const [oldest = '', first = '', second = ''] = closedDays(3);

freshStore((store) => {
  ({ server } = store);
});

/** More records than this are too much. */
const MOST = 50;
const refusing =
  (error: () => Error): NonNullable<Habits['before']> =>
  (source, request) => {
    if (source.within(request).length > MOST) throw error();
  };
const tooMuch = () => new RequestError(400, 'too many results, narrow your range');

it.each(
  andAtNight<[string, Habits]>(
    [
      [
        'that holds too much is answered 504, with totals',
        {
          totals: 'exact',
          before: refusing(() => new PageFailedError('504 Gateway Timeout')),
        },
      ],
      [
        'of more than twelve hours is refused',
        {
          before: (_, request) => {
            if (secondsOf(request) > 43_200)
              throw new RequestError(422, 'the range must not exceed 12 hours');
          },
        },
      ],
    ],
    [
      [
        'that holds too much is refused, with totals',
        { totals: 'exact', before: refusing(tooMuch) },
      ],
      ['that holds too much is refused', { before: refusing(tooMuch) }],
    ],
  ),
)('a day %s: it is split, and stays as it is when it is looked at', async (_, habits) => {
  const source = new ImaginedSource(
    { [first]: records(1_000, 33), [second]: records(2_000, 61) },
    habits,
  );
  const exporting = {
    server,
    source,
    stream: newStream(),
    since: first,
    pageLength: 20,
    recheckDays: 7,
  };
  for (const { state } of (await exported(exporting, 2)).values()) expect(state).toBe('complete');
  const asked = source.asked.length;
  expect(asked).toBeLessThan(250);
  await server.query(
    'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
  );
  for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
  expect(
    await server.query(
      "select from daywalk.windows where state <> 'replaced' and due_at < clock_timestamp() + interval '2 hours'",
    ),
  ).toEqual([]);
});

it.each(
  andAtNight<[string, (request: PageRequest, held: number) => boolean]>(
    [
      ['start is 40 and more', ({ start }) => start >= 40],
      ['there are too many', (_, held) => held > MOST],
      ['a range is shorter than five minutes', (request) => secondsOf(request) < 300],
    ],
    [
      ['start and length pass 40', ({ start, length }) => start + length > 40],
      ['a list has no record', ({ start }, held) => start > 0 && start >= held],
      ['more than 10 records are asked for', ({ length }) => length > 10],
    ],
  ),
)('where %s, and a 200 says so, days are complete', async (_, isRefused) => {
  for (const totals of ['exact', 'none'] as const) {
    const lists = { [oldest]: records(1_000, 33), [first]: [], [second]: records(2_000, 83) };
    const source: ImaginedSource = new ImaginedSource(lists, {
      totals,
      // As DataTables has it.
      wrap: (list, total, request) =>
        isRefused(request, source.within(request).length)
          ? '{"recordsTotal":0,"data":[],"error":"it cannot be served"}'
          : `{"recordsTotal":${total},"data":[${list.join(',')}]}`,
    });
    const stream = newStream();
    const exporting = { server, source, stream, since: oldest, pageLength: 20 };
    for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
    expect(source.asked.length).toBeLessThan(250);
  }
});

it('an API that answers 200 with a failure, whatever is asked for, is not asked with one length after the other', async () => {
  const source = new ImaginedSource({}, { wrap: () => '{"error":"out of order","data":[]}' });
  await runOnce({ server, source, stream: newStream(), since: second, pageLength: 1_000 });
  expect(source.asked.length).toBeLessThan(20);
});

it('nor is one that does so once days are proven, by each of its windows', async () => {
  let isFailing = false;
  const source = new ImaginedSource(
    { [second]: records(2_000, 61) },
    {
      wrap: (list, total) =>
        isFailing
          ? '{"error":"out of order","data":[]}'
          : `{"recordsTotal":${total},"data":[${list.join(',')}]}`,
    },
  );
  const exporting = { server, source, stream: newStream(), since: second, pageLength: 20 };
  expect((await exported(exporting)).get(second)?.state).toBe('complete');
  isFailing = true;
  await server.query('update daywalk.windows set rewalk = true, due_at = clock_timestamp()');
  const before = source.asked.length;
  await exported(exporting);
  const windows = await server.query('select from daywalk.windows where failures > 0');
  expect(windows).toHaveLength(3);
  // A day, a midnight and what is beside them, and four other questions once, each three times.
  expect(source.asked.length - before).toBeLessThan(20 * windows.length);
});

it('a run that is stopped while it is asked whose fault a failure is fails no window', async () => {
  const stop = new AbortController();
  let isTooDeep = false;
  const source: ImaginedSource = new ImaginedSource(
    { [first]: records(1_000, 61), [second]: records(2_000, 83) },
    {
      before: (_, { from }) => {
        if (!isTooDeep || from.startsWith(second)) return;
        stop.abort(new Error('stopped'));
        stop.signal.throwIfAborted();
      },
      wrap: (list, total, { from, start }) =>
        isTooDeep && start >= 20 && from.startsWith(second)
          ? '{"error":"too deep","data":[]}'
          : `{"recordsTotal":${total},"data":[${list.join(',')}]}`,
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 20 };
  await exported(exporting);
  isTooDeep = true;
  await server.query(
    "update daywalk.windows set rewalk = true, due_at = clock_timestamp() where kind = 'day' and day = $1",
    [second],
  );
  await expect(runOnce({ ...exporting, signal: stop.signal })).rejects.toThrow('stopped');
  expect(await server.query('select from daywalk.windows where failures > 0')).toEqual([]);
});

it('days that all come to be too much, as a 200 says, are walked in parts', async () => {
  let isTooMuch = (_: PageRequest): boolean => false;
  const source: ImaginedSource = new ImaginedSource(
    { [first]: records(1_000, 61), [second]: records(2_000, 83) },
    {
      wrap: (list, total, request) =>
        isTooMuch(request)
          ? '{"error":"too many results","data":[]}'
          : `{"recordsTotal":${total},"data":[${list.join(',')}]}`,
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 20 };
  await exported(exporting);
  isTooMuch = (request) => source.within(request).length > MOST;
  await server.query('update daywalk.windows set rewalk = true, due_at = clock_timestamp()');
  await exported(exporting, 2);
  const parts = await server.query("select from daywalk.windows where kind = 'part'");
  expect(parts.length).toBeGreaterThan(3);
  // What was proven cannot be had any more until one of them is.
  await letTimePass(server, '1 hour');
  for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
});

const beyond = (hours: number) => (request: PageRequest) => secondsOf(request) > hours * 3_600;
const deep = ({ start }: PageRequest) => start >= 20;
const failing = () => new PageFailedError('500 Internal Server Error');
it.each(
  andAtNight<
    [string, Habits, (request: PageRequest, held: number) => boolean, number, (() => Error)?]
  >(
    [
      ['deep in its list, by 500', {}, deep, 61, failing],
      ['as too much', {}, (_, held) => held > MOST, 61],
      ['as longer than six hours', {}, beyond(6), 4],
    ],
    [
      ['deep in its list, by 500, with totals', { totals: 'exact' }, deep, 61, failing],
      ['as too much, with totals', { totals: 'exact' }, (_, held) => held > MOST, 61],
      ['as longer than six hours, with totals', { totals: 'exact' }, beyond(6), 61],
    ],
  ),
)(
  'a day that comes to be refused %s is not taken for forgotten: what comes late is found',
  async (_, habits, refuses, count, error = tooMuch) => {
    let began = false;
    const source = new ImaginedSource(
      {
        [oldest]: records(3_000, count > 9 ? 83 : 0),
        [first]: records(1_000, count),
        [second]: records(2_000, 20),
      },
      {
        ...habits,
        before: (self, request) => {
          if (began && refuses(request, self.within(request).length)) throw error();
        },
      },
    );
    const exporting = {
      server,
      source,
      stream: newStream(),
      since: oldest,
      pageLength: 20,
      recheckDays: 7,
    };
    for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
    began = true;
    const look = () =>
      server.query(
        'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
      );
    // The hours around noon stay empty where there are few.
    for (const late of [records(1_001 + count, 1), records(1_001 + count, 2)]) {
      const list = [...records(1_000, count), ...late];
      source.lists.set(`${first} 00:00:00`, list);
      await look();
      const results = await exported(exporting, 2);
      expect(results.get(first)).toMatchObject({
        state: 'complete',
        published: list.sort(),
      });
    }
  },
);

it('a day that was split with its total, and comes to be too much to be had whole, has no more that total: what comes late is found', async () => {
  let began = false;
  const source = new ImaginedSource(
    { [oldest]: records(3_000, 15), [first]: records(1_000, 61), [second]: records(2_000, 17) },
    {
      totals: 'exact',
      before: (self, request) => {
        if (deep(request)) throw failing();
        if (began && self.within(request).length > 55) throw tooMuch();
      },
    },
  );
  const exporting = {
    ...{ server, source, stream: newStream() },
    ...{ since: oldest, pageLength: 20, recheckDays: 7 },
  };
  for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
  const split = await server.query<{ total: number }>(
    "select split_total as total from daywalk.windows where kind = 'day' and split_by is not null",
  );
  expect(split.map(({ total }) => Number(total))).toEqual([61]);
  began = true;
  const list = records(1_000, 62);
  source.lists.set(`${first} 00:00:00`, list);
  await server.query(
    'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
  );
  const results = await exported(exporting, 2);
  expect(results.get(first)).toMatchObject({ state: 'complete', published: list.sort() });
});

it('a day whose end comes to be answered with no page is complete no more', async () => {
  let began = false;
  const source = new ImaginedSource(
    { [first]: records(1_000, 61), [second]: records(2_000, 83) },
    {
      before: (_, request) => {
        if (began && request.from.startsWith(first) && deep(request))
          throw new EnvelopeError('no JSON: <html>blocked</html>');
      },
    },
  );
  const exporting = {
    server,
    source,
    stream: newStream(),
    since: first,
    pageLength: 20,
    recheckDays: 7,
  };
  await exported(exporting);
  began = true;
  source.lists.set(`${first} 00:00:00`, records(1_000, 62));
  await server.query(
    'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
  );
  const results = await exported(exporting, 2);
  expect([...results.values()].map(({ state }) => state)).toEqual(['failed', 'complete']);
});

const secondIn = (time: string) =>
  secondsOf({ from: `${time.slice(0, 10)} 00:00:00`, to: time }) - 1;
const atNoon = (record: string) => 42_700 + ((idOf(record) * 37) % 1_000);
const inOneMinute = (record: string) => 32_520 + ((idOf(record) * 7) % 60);
const SPLIT = { windowRecords: 20 };

it.each(
  andAtNight<[string, number, number, Habits, object?]>(
    [
      ['five minutes, without totals', 5, 480, {}],
      ['an hour, and days are split', 60, 3_840, { totals: 'exact', at: inOneMinute }, SPLIT],
    ],
    [
      ['five minutes, with totals', 5, 480, { totals: 'exact' }],
      ['five minutes, where one minute has all records', 5, 480, { at: inOneMinute }],
      ['an hour, where all records stand around noon', 60, 3_840, { at: atNoon }],
      ['three hours, and days are split', 180, 15_360, { totals: 'exact', at: atNoon }, SPLIT],
    ],
  ),
)('where ranges are refused that are shorter than %s, the days are complete', async (...given) => {
  const [, minutes, reach, habits, change] = given;
  let refused = 0;
  // The last second of a day is shown by what reaches beyond it alone.
  const at = (record: string) =>
    idOf(record) % 1_000 === 1 ? 86_399 : (habits.at ?? spread)(record);
  const source = new ImaginedSource(
    { [oldest]: records(1_000, 35), [first]: records(2_000, 62), [second]: records(3_000, 43) },
    {
      ...habits,
      at,
      arrange: (list, _, { to }) => list.filter((record) => at(record) !== secondIn(to)),
      before: (_, request) => {
        if (secondsOf(request) >= 60 * minutes) return;
        refused += 1;
        throw new RequestError(400, 'the range is too short');
      },
    },
  );
  const exporting = {
    server,
    source,
    stream: newStream(),
    since: oldest,
    pageLength: 20,
    ...change,
  };
  await exported(exporting);
  await server.query(
    "update daywalk.windows set due_at = clock_timestamp() where state = 'failed'",
  );
  for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
  expect(await server.query(`select value from daywalk.learned where fact = 'reach'`)).toEqual([
    { value: reach },
  ]);
  expect(refused).toBeLessThan(50);
  expect(source.asked.length).toBeLessThan(300);
});

it.each(
  andAtNight<[string, number, Habits]>(
    [['without totals', 480, {}]],
    [['with totals', 480, { totals: 'exact' }]],
  ),
)(
  'where ranges come to be refused that are as short as they were asked for with, the days are complete all the same %s',
  async (_, reach, habits) => {
    const source = new ImaginedSource(
      { [oldest]: records(1_000, 35), [first]: records(2_000, 62), [second]: records(3_000, 43) },
      {
        at: (record) => (idOf(record) % 1_000 === 1 ? 86_399 : spread(record)),
        ...habits,
        before: (_source, request) => {
          if (secondsOf(request) < 300) throw new RequestError(400, 'the range is too short');
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: oldest, pageLength: 20 };
    await teach(exporting, { reach: 1, hidden_by_date: 'nothing' });
    for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
    expect(await server.query(`select value from daywalk.learned where fact = 'reach'`)).toEqual([
      { value: reach },
    ]);
  },
);

it('where short ranges are not refused any more, a day is split into such a month later', async () => {
  const source = new ImaginedSource(
    { [first]: records(1_000, 35), [second]: records(2_000, 240) },
    {
      at: atNoon,
      before: (_source, { start }) => {
        if (start >= 100) throw new RequestError(400, 'too deep');
      },
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 20 };
  await teach(exporting, { reach: 3_840, hidden_by_date: 'nothing' });
  expect((await exported(exporting)).get(second)?.state).toBe('failed');
  await letTimePass(server, '31 days');
  for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
});

it('where ranges come to be refused that are as long as days, it is told what helps, and it does', async () => {
  let longest = Number.POSITIVE_INFINITY;
  const source = new ImaginedSource(
    { [oldest]: records(1_000, 35), [first]: records(2_000, 62), [second]: records(3_000, 43) },
    {
      before: (_source, request) => {
        if (secondsOf(request) > longest) throw new RequestError(400, 'the range is too long');
      },
    },
  );
  const stream = newStream();
  const exporting = { server, source, stream, since: oldest, pageLength: 20 };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
  longest = 43_200;
  await letTimePass(server, '2 hours');
  await runOnce(exporting);
  expect((await readResults(server, stream)).get(second)).toMatchObject({
    ...{ state: 'failed', lastError: expect.stringContaining('daywalk accept') },
  });
  await accept(server, stream);
  for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
});

it('a day of which all records stand across each cut is whole where both sides of it show less', async () => {
  const before: Habits['before'] = (_, request) => {
    if (secondsOf(request) < 3_600) throw new RequestError(400, 'the range is too short');
  };
  const source = new ImaginedSource({ [second]: records(3_000, 60) }, { at: atNoon, before });
  const exporting = { server, source, stream: newStream(), since: second, pageLength: 20 };
  expect((await exported(exporting)).get(second)?.proof).toMatchObject({ kind: 'halves' });
});

it('a day that was split, and is refused as too old, is not seen by a look: behind a rest, days are believed', async () => {
  const days = closedDays(26);
  const lists = days.map((day, n) => [day, records(1_000 * (n + 1), n === 0 ? 90 : 12)]);
  let newest = 1;
  const source = new ImaginedSource(Object.fromEntries(lists), {
    before: (_, { from, start }) => {
      const index = days.indexOf(from.slice(0, 10));
      if (index >= 0 && index < newest - 9) throw new RequestError(404, 'too old');
      if (start >= 40) throw new RequestError(400, 'too deep');
    },
  });
  const exporting = { server, source, stream: newStream(), since: days[0] ?? '', pageLength: 20 };
  const states = async () =>
    [...(await readResults(server, exporting.stream)).values()].map(({ state }) => state);
  for (const day of [1, 8, 14, 25]) {
    await letTimePass(server, `${day - newest} days`);
    newest = day;
    const settleMs = SETTLE_MS + (25 - day) * 86_400_000;
    await runOnce({ ...exporting, recheckDays: 30, settleMs });
  }
  // Days were never had that were too old when they were asked for.
  expect((await states()).slice(17)).toEqual(days.slice(17).map(() => 'complete'));
});

const TELLS_A_FAULT = '{"_shards":{"failed":1},"data":[]}';

it.each<[string, () => string]>([
  ['answered 404', () => raise(new RequestError(404, 'not found'))],
  ['answered 500', () => raise(new PageFailedError('500 Internal Server Error'))],
  ['answered 200 with a failure', () => TELLS_A_FAULT],
])('a record behind a page by number that is %s is no end of the list', async (_, refused) => {
  const source: ImaginedSource = new ImaginedSource(
    { [second]: records(2_000, 13) },
    {
      wrap: (__, ___, request) => {
        const { start, length } = request;
        if (start === 5 && length === 1) return refused();
        const most = Math.min(length, 5);
        const from = Math.floor(start / most) * most;
        return `{"data":[${source
          .within(request)
          .slice(from, from + most)
          .join(',')}]}`;
      },
    },
  );
  const exporting = { server, source, stream: newStream(), since: second, pageLength: 20 };
  expect((await exported(exporting)).get(second)?.state).toBe('failed');
});

function raise(error: Error): never {
  throw error;
}

it('short ranges that fail for a moment do not have all days asked for with longer ones from then on', async () => {
  let left = 15;
  const source: ImaginedSource = new ImaginedSource(
    { [second]: records(2_000, 83) },
    {
      wrap: (list, _, request) =>
        secondsOf(request) < 300 && left-- > 0 ? TELLS_A_FAULT : `{"data":[${list.join(',')}]}`,
    },
  );
  const exporting = { server, source, stream: newStream(), since: second, pageLength: 20 };
  expect((await exported(exporting)).get(second)?.state).toBe('complete');
  expect(
    await server.query(`select value from daywalk.learned where fact = 'reach' and value <> '1'`),
  ).toEqual([]);
});
