/** What was found once, as tests: evidence that was heard and not believed, days that were called complete and were not, and what got stuck. */
import { describe, expect, it } from 'vitest';
import { EnvelopeError, RequestError, UnavailableError } from '../../src/errors.ts';
import { around } from '../../src/plan/split.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight, atNight } from '../support/night.ts';
import { clear, expireLeases, freshStore, records } from '../support/store.ts';
import {
  closedDays,
  type Exporting,
  exported,
  newStream,
  resultsOf,
  runOnce,
  SETTLE_MS,
  teach,
} from './exporting.ts';
import { type Habits, ImaginedSource, idOf, secondOf } from './imagined-source.ts';
import { type Gate, Killed, killedAt } from './perils.ts';

let server: TestDatabase;
const days = closedDays(6);
const [first = '', second = ''] = days.slice(-2);
const ALL = records(1, 60);

freshStore((store) => {
  ({ server } = store);
});

const body = (list: readonly string[], total: number | null, more = '') =>
  `{${total === null ? '' : `"total":${total},`}"data":[${list.join(',')}]${more}}`;

/** A source whose habits may ask it for what it holds. */
function sourceOf(
  lists: Readonly<Record<string, readonly string[]>>,
  habits: (held: ImaginedSource['within']) => Habits,
): ImaginedSource {
  const source: ImaginedSource = new ImaginedSource(
    lists,
    habits((request) => source.within(request)),
  );
  return source;
}

const exportingOf = (source: ImaginedSource, change: Partial<Exporting> = {}): Exporting => ({
  server,
  source,
  stream: newStream(),
  since: first,
  pageLength: 8,
  ...change,
});

const dueNow = () =>
  server.query('update daywalk.windows set due_at = clock_timestamp() where due_at is not null');

describe('a record that no answer can carry', () => {
  it.each(andAtNight([6], [5, 7, 8]))(
    'behind %i others: the day is not complete without it',
    async (others) => {
      // Every page that would hold it is refused, so that only a page of one record shows what lies before it.
      const list = records(1, others + 1);
      const source = sourceOf({ [second]: list }, (held) => ({
        before: (_, request) => {
          const shown = held(request).slice(request.start, request.start + request.length);
          if (shown.includes(list.at(-1) as string)) throw new RequestError(413, 'too large');
        },
      }));
      const exporting = exportingOf(source, { since: second, pageLength: 6 });
      expect((await exported(exporting)).get(second)?.state).not.toBe('complete');
    },
  );
});

describe('a process that has only a cut to ask for', () => {
  it('knows that longer lists than that around the cut were shown', async () => {
    // Twelve records stand within a second of midnight.
    const at = (record: string) => (Number(/\d+/.exec(record)?.[0]) <= 12 ? 86_399 : 40_000);
    const source = new ImaginedSource({ [first]: ALL, [second]: records(100, 40) }, { at });
    const exporting = exportingOf(source, { pageLength: 30 });
    expect((await exported(exporting)).get(first)?.state).toBe('complete');
    await server.query(`delete from daywalk.learned where fact = 'proven_size'`);
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp(), rewalk = true where kind = 'cut'`,
    );
    expect((await exported(exporting)).get(first)?.state).toBe('complete');
  });
});

describe('a source that pages less deep than when its days were proven', () => {
  it('is known again by its first records', async () => {
    let lowered = false;
    const source = new ImaginedSource(
      { [first]: ALL, [second]: records(100, 12) },
      {
        totals: 'exact',
        before: (_, { from, start, length }) => {
          if (!lowered && from.startsWith(second)) throw new EnvelopeError('not yet');
          if (lowered && start + length > 20) throw new RequestError(400, 'too deep');
        },
      },
    );
    const exporting = exportingOf(source);
    expect((await exported(exporting)).get(first)?.state).toBe('complete');
    lowered = true;
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp() where day = $1::date`,
      [second],
    );
    expect((await exported(exporting)).get(second)).toMatchObject({
      state: 'complete',
      lastError: null,
    });
  });
});

describe('a source that rounds its edges inwards', () => {
  it.each(andAtNight([5], [10, 60]))('to %i seconds loses nothing at midnight', async (unit) => {
    // A record at midnight itself shows in any window around it: that tells nothing of the edges.
    const seconds = [0, 1, 2, 7, 33, 86_340, 86_370, 86_397, 86_399];
    const at = (record: string) => seconds[Number(/\d+/.exec(record)?.[0]) % 10] ?? 40_000;
    const inwards = (time: string, round: (value: number) => number) =>
      new Date(round(Date.parse(`${time.replace(' ', 'T')}Z`) / 1_000 / unit) * unit * 1_000)
        .toISOString()
        .slice(0, 19)
        .replace('T', ' ');
    const source = sourceOf({ [first]: records(10, 10), [second]: records(20, 10) }, (held) => ({
      at,
      arrange: (_, __, { from, to, filters }) =>
        held({ from: inwards(from, Math.ceil), to: inwards(to, Math.floor), filters }),
    }));
    const results = await exported(exportingOf(source, { pageLength: 30 }));
    expect(results.get(first)?.state).toBe('complete');
  });
});

describe('a source that leaves out both edges of a range', () => {
  it('is asked for a second around a midnight that more stands around than any list has', async () => {
    // Fifteen on either side of midnight, a few seconds from each other.
    const at = (record: string) => {
      const place = idOf(record) % 50;
      if (place < 15) return 3 + 7 * place;
      return place < 30 ? 86_397 - 7 * (place - 15) : secondOf(record);
    };
    const most = 20;
    const source = sourceOf({ [first]: records(50, 50), [second]: records(100, 50) }, (held) => {
      const within = ({ from, to, filters }: Parameters<typeof held>[0]) =>
        held({ from: around(from, 1, 1).from, to: around(to, -1, -1).to, filters });
      return {
        at,
        arrange: (_, __, request) => within(request).slice(0, most),
        wrap: (list, _, request) => body(list, within(request).length),
      };
    });
    const results = await exported(exportingOf(source, { pageLength: 30 }));
    expect(results.get(first)?.state).toBe('complete');
  });
});

it('a batch of one second is not complete by a total that ends where its list does, though the cut beside it shows as many', async () => {
  // Ranges leave out the second that they begin with, and all happened at noon, where the day is halved.
  const list = records(1, 60);
  const source = sourceOf({ [second]: list }, (held) => {
    const within = ({ from, to, filters }: Parameters<typeof held>[0]) =>
      held({ from: around(from, 1, 1).from, to, filters }).slice(0, 50);
    return {
      at: () => 43_200,
      arrange: (_, __, request) => within(request),
      wrap: (shown, _, request) => body(shown, within(request).length),
    };
  });
  const exporting = exportingOf(source, { since: second, pageLength: 30 });
  await teach(exporting, { calibrated: 40, reach: 1 });
  expect((await exported(exporting)).get(second)?.state).toBe('failed');
});

describe('markers of failure in answers after the first', () => {
  it.each([
    '"_shards":{"total":5,"successful":4,"failed":1}',
    '"status":"error"',
    '"ok":false',
    '"Error":"one shard is down"',
  ])('%s: the day has failed, and holds nothing', async (marker) => {
    // From the third answer on records are missing, and the frame says that something is wrong.
    let answers = 0;
    const wrap: Habits['wrap'] = (list, total) => {
      answers += 1;
      return answers < 3 ? body(list, total) : body(list.slice(0, 4), total, `,${marker}`);
    };
    const source = new ImaginedSource({ [second]: ALL }, { wrap });
    const results = await exported(exportingOf(source, { since: second }));
    expect(results.get(second)).toMatchObject({ state: 'failed', published: [] });
  });

  it('say nothing against a day that is looked at', async () => {
    let broken = false;
    const wrap: Habits['wrap'] = (list, total) =>
      broken ? '{"error":"search backend unavailable"}' : body(list, total);
    const source = new ImaginedSource({ [second]: ALL }, { wrap });
    const exporting = exportingOf(source, { since: second, recheckDays: 7 });
    await exported(exporting);
    broken = true;
    await server.query(`update daywalk.windows set due_at = clock_timestamp()`);
    expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
  });

  it('take nothing from a day that was proven before', async () => {
    let broken = false;
    const wrap: Habits['wrap'] = (list, total, { start }) =>
      broken && start > 0
        ? body(list.slice(0, 4), total, ',"_shards":{"failed":1}')
        : body(list, total);
    // Of two pages: what cannot be had behind a first page is split until it fits one.
    const list = records(1, 12);
    const source = new ImaginedSource({ [second]: list }, { wrap });
    const exporting = exportingOf(source, { since: second });
    expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
    broken = true;
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp(), rewalk = true where kind = 'day'`,
    );
    const again = (await exported({ ...exporting, walkAttempts: 1 })).get(second);
    expect(again?.published).toEqual(list.toSorted());
  });
});

describe('an answer of another shape is no empty day', () => {
  it.each(
    andAtNight(
      [['{"message":"search backend unavailable","code":503,"data":[]}'], ['{"result":{}}']],
      [['{"draw":1,"data":[]}']],
    ),
  )('%s', async (outage) => {
    let away = false;
    const source = new ImaginedSource(
      { [first]: ALL, [second]: ALL },
      {
        totals: 'exact',
        before: (_, { from }) => {
          away ||= from.startsWith(second);
        },
        wrap: (list, total) =>
          away ? outage : `{"draw":1,"result":{"total":${total},"rows":[${list.join(',')}]}}`,
      },
    );
    const exporting = exportingOf(source);
    const results = await exported(exporting);
    expect(results.get(second)).toMatchObject({ state: 'failed', published: [] });
    expect(results.get(first)?.published).toEqual(ALL.toSorted());
  });
});

describe('a total that the end contradicts', () => {
  it.each(
    andAtNight(
      [
        [
          'told on the first page only',
          (start: number, held: number) => (start === 0 ? held : null),
        ],
      ],
      [['too low on every other page', (start: number, held: number) => (start === 0 ? held : 23)]],
    ),
  )('%s: what results end at is not called the end', async (_, told) => {
    const source = sourceOf({ [second]: ALL }, (held) => ({
      arrange: (list) => list.slice(0, 23),
      wrap: (list, __, request) => body(list, told(request.start, held(request).length)),
    }));
    const result = (await exported(exportingOf(source, { since: second }))).get(second);
    if (result?.state === 'complete') expect(result.published).toEqual(ALL.toSorted());
    else expect(result).toMatchObject({ state: 'failed', published: [] });
    expect(result?.walks).toBeGreaterThan(1);
  });

  it('as a lower bound is one all the same', async () => {
    const source = sourceOf({ [second]: ALL }, (held) => ({
      arrange: (list) => list.slice(0, 23),
      wrap: (list, _, request) => {
        const value = Math.min(40, held(request).length);
        return `{"hits":{"total":{"value":${value},"relation":"${value === 40 ? 'gte' : 'eq'}"},"hits":[${list.join(',')}]}}`;
      },
    }));
    const result = (await exported(exportingOf(source, { since: second }))).get(second);
    expect(result).toMatchObject({ state: 'complete', published: ALL.toSorted() });
  });
});

describe('totals that run along with the pages', () => {
  it.each(
    andAtNight(
      [
        [
          'where pages come short',
          { shorten: (room: number, n: number) => (n % 3 ? room : room - 1) },
        ],
      ],
      [['where results are capped', { arrange: (list: readonly string[]) => list.slice(0, 23) }]],
    ),
  )('are no totals, %s', async (_, habits: Habits) => {
    const wrap: Habits['wrap'] = (list, __, { start }) => body(list, start + list.length);
    const source = new ImaginedSource({ [second]: ALL }, { ...habits, wrap });
    const result = (await exported(exportingOf(source, { since: second }))).get(second);
    expect(result).toMatchObject({ state: 'complete', published: ALL.toSorted() });
  });
});

it('a round cap is seen through also after a larger day was proven', async () => {
  const [larger, capped] = [records(1000, 130), records(1, 240)];
  const source = new ImaginedSource(
    { [first]: larger, [second]: capped },
    { arrange: (list, _, { from }) => (from.startsWith(second) ? list.slice(0, 100) : list) },
  );
  const results = await exported(exportingOf(source, { pageLength: 40 }));
  expect(results.get(first)).toMatchObject({ state: 'complete' });
  expect(results.get(second)).toMatchObject({ state: 'complete', published: capped.toSorted() });
});

describe('a cap that came when larger days were proven', () => {
  const [third = '', ...capped] = days.slice(-3);
  const shorter = (list: readonly string[]) => (list.length > 200 ? list.slice(0, 57) : list);
  const source = () =>
    new ImaginedSource(
      {
        [third]: records(1000, 130),
        [first]: records(2000, 240),
        [second]: records(3000, 250),
      },
      {
        arrange: (list, _, { from }) =>
          capped.some((day) => from.startsWith(day)) ? shorter(list) : list,
      },
    );
  const exact = { state: 'complete', published: records(2000, 240).toSorted() };

  it('is met where two days in a row hold the same number of records', async () => {
    const exporting = exportingOf(source(), { since: third, pageLength: 40, concurrency: 1 });
    await runOnce(exporting);
    await dueNow();
    expect((await exported(exporting)).get(first)).toMatchObject(exact);
  });

  it('also where the first of them was exported by a process before', async () => {
    const exporting = exportingOf(source(), { since: third, pageLength: 40 });
    await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
    await runOnce(exporting);
    await dueNow();
    expect((await exported(exporting)).get(first)).toMatchObject(exact);
  });
});

it.each(andAtNight([['by two', [1, 1]]], [['by one process', [2]]]))(
  'a cap that came when larger days were proven is met where two days at it are walked at once %s',
  async (_, processes) => {
    const [third = ''] = days.slice(-3);
    const source = new ImaginedSource(
      {
        [third]: records(1000, 130),
        [first]: records(2000, 240),
        [second]: records(3000, 250),
      },
      { arrange: (list) => (list.length > 200 ? list.slice(0, 57) : list) },
    );
    const exporting = exportingOf(source, { since: third, pageLength: 40 });
    await runOnce({ ...exporting, settleMs: SETTLE_MS + 2 * 86_400_000 });
    let atOnce = 0;
    let bothAre = (): void => {};
    const both = new Promise<void>((resolve) => {
      bothAre = resolve;
    });
    const gate: Gate = async (statement, act) => {
      if (statement?.includes('prove_window')) {
        atOnce += 1;
        if (atOnce === 2) bothAre();
        await both;
      }
      return act();
    };
    await Promise.all(processes.map((concurrency) => runOnce({ ...exporting, concurrency, gate })));
    await dueNow();
    const results = await exported(exporting);
    expect([first, second].map((day) => results.get(day)?.published.length)).toEqual([240, 250]);
  },
);

it('a cap that came when larger days were proven is met where two processes walk days at it, and a smaller one between them', async () => {
  const [start = '', one = '', small = '', other = ''] = days.slice(-4);
  const source = new ImaginedSource(
    {
      [start]: records(1000, 130),
      [one]: records(2000, 240),
      [small]: records(3000, 20),
      [other]: records(4000, 250),
    },
    { arrange: (list) => (list.length > 200 ? list.slice(0, 57) : list) },
  );
  const exporting = exportingOf(source, { since: start, pageLength: 40, concurrency: 1 });
  await runOnce({ ...exporting, settleMs: SETTLE_MS + 3 * 86_400_000 });
  /** The second process comes to the last day as the first one is about to prove the first of them. */
  let second: Promise<unknown> | null = null;
  let comes = (): void => {};
  const hasCome = new Promise<void>((resolve) => {
    comes = resolve;
  });
  let proofs = 0;
  const ofSecond: Gate = async (statement, act) => {
    if (statement?.includes('prove_window')) proofs += 1;
    if (proofs === 2) comes();
    return act();
  };
  const ofFirst: Gate = async (statement, act) => {
    if (statement?.includes('prove_window')) {
      second ??= runOnce({ ...exporting, gate: ofSecond });
      await hasCome;
    }
    return act();
  };
  await runOnce({ ...exporting, gate: ofFirst });
  await second;
  await dueNow();
  const results = await exported(exporting);
  expect([one, other].map((day) => results.get(day)?.published.length)).toEqual([240, 250]);
});

it('a stream with as many events each day has one of them halved', async () => {
  const lists = Object.fromEntries(days.map((day, n) => [day, records(1000 * n, 57)]));
  const source = new ImaginedSource({ ...lists, [days[0] as string]: records(9000, 130) });
  const exporting = exportingOf(source, {
    since: days[0] as string,
    pageLength: 200,
    concurrency: 1,
  });
  const results = await exported(exporting);
  const kinds = days.map((day) => results.get(day)?.proof?.kind);
  expect(kinds).toEqual(['halves', 'probe', 'halves', 'probe', 'probe', 'probe']);
});

describe('parts that do not add up', () => {
  /** Three records are shown by the whole day only, and the whole day is capped: no parts ever hold what the total says. */
  const short = () => {
    const isWhole = ({ from, to }: { from: string; to: string }) =>
      from.endsWith('00:00:00') && to.endsWith('23:59:59');
    return sourceOf({ [first]: records(1000, 17), [second]: ALL }, (held) => {
      const shown = (request: Parameters<typeof held>[0]) =>
        held(request).filter(
          (record) => isWhole(request) || !['{"id": 7}', '{"id": 8}', '{"id": 9}'].includes(record),
        );
      return {
        arrange: (_, __, request) => shown(request).slice(0, 23),
        wrap: (list, _, request) => body(list, shown(request).length),
      };
    });
  };
  const expectFailed = async (exporting: Exporting) => {
    const result = (await resultsOf(exporting)).get(second);
    expect(result).toMatchObject({ state: 'failed', published: [] });
    expect(result?.lastError).toMatch(/57 records, and the total says 60/);
  };

  it('have failed with the numbers, and stay so when they are tried again', async () => {
    const exporting = exportingOf(short());
    await runOnce(exporting);
    await expectFailed(exporting);
    await dueNow();
    await runOnce(exporting);
    await expectFailed(exporting);
  });

  atNight('are not complete either where processes are killed behind the split', async () => {
    const steps = { taken: 0 };
    await runOnce({
      ...exportingOf(short()),
      gate: async (_, act) => {
        steps.taken += 1;
        return act();
      },
    });
    for (const share of [0.5, 0.7, 0.85, 0.95]) {
      await clear(server);
      const exporting = exportingOf(short());
      const gate = killedAt(Math.floor(steps.taken * share), { taken: 0 });
      await runOnce({ ...exporting, gate }).catch((error: unknown) =>
        expect(error).toBeInstanceOf(Killed),
      );
      expect((await resultsOf(exporting)).get(second)?.state).not.toBe('complete');
      await expireLeases(server);
      await runOnce(exporting);
      await expectFailed(exporting);
    }
  });
});

describe('pages that come empty at random', () => {
  it.each(
    andAtNight(
      [
        [1, 8],
        [2, 20],
      ],
      [
        [2, 8],
        [3, 8],
        [4, 8],
        // Pages shorter than was asked for may hold fewer records than any cap.
        [1, 20],
        [5, 20],
        [6, 20],
      ],
    ),
  )('never end a list unseen, without totals (seed %i, pages of %i)', async (seed, pageLength) => {
    // The same requests in the same order meet the same empty answers.
    const isEmpty = (number: number) =>
      Math.abs(Math.sin(number * 78.233 + seed * 12.9898) * 43_758.5453) % 1 < 0.3;
    const source = new ImaginedSource(
      { [first]: ALL, [second]: records(100, 41) },
      { arrange: (list, number) => (isEmpty(number) ? [] : list), clamp: 7 },
    );
    const results = await exported(exportingOf(source, { pageLength }));
    for (const { state } of results.values()) expect(state).toMatch(/complete|failed/);
  });

  it('end no list where a cache gives the same empty answer again', async () => {
    const source = new ImaginedSource(
      { [second]: records(100, 24) },
      {
        clamp: 7,
        arrange: (list, _, { start, length }) => (start === 6 && length >= 19 ? [] : list),
      },
    );
    const exporting = exportingOf(source, { since: second, pageLength: 20 });
    await teach(exporting, { empties: 0.2 });
    expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
  });

  it.each<['number' | 'offset', number]>([
    ['number', 6],
    ['offset', 1],
  ])(
    'once where the last record is asked for, of pages by %s, fail no day whose source refuses to begin behind it',
    async (paging, size) => {
      let left = 1;
      const byNumber = ({ start, length }: { start: number; length: number }) =>
        start - (paging === 'number' ? start % length : 0);
      const source = new ImaginedSource(
        { [second]: records(100, size) },
        {
          before: (asked, request) => {
            if (request.start > 0 && request.start >= asked.within(request).length)
              throw new RequestError(404, 'no such page');
          },
          arrange: (list, _, request) => {
            const { start, length } = request;
            const isLast = length === 1 && start === list.length - 1;
            if (left > 0 && isLast) {
              left -= 1;
              return [];
            }
            return [...Array.from({ length: start }, () => ''), ...list.slice(byNumber(request))];
          },
        },
      );
      const exporting = exportingOf(source, { since: second, pageLength: 4 });
      await teach(exporting, { empties: 0.2, paging, reach: 1 });
      expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
      expect(left).toBe(0);
    },
  );

  it('leave the pages behind them as long as they are, and asked for once', async () => {
    const asked = [];
    for (const empty of [0, 1]) {
      let left = empty;
      const source = new ImaginedSource(
        { [second]: records(100, 403) },
        {
          arrange: (list, _, { start, length }) => {
            if (left === 0 || start !== 19 || length !== 20) return list;
            left -= 1;
            return [];
          },
        },
      );
      const exporting = exportingOf(source, { since: second, pageLength: 20 });
      await teach(exporting, { proven_size: 1_000, paging: 'offset', reach: 1 });
      expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
      expect(left).toBe(0);
      asked.push(source.asked.length);
    }
    const [without = 0, withOne = 0] = asked;
    expect(withOne - without).toBeLessThan(10);
  });

  it('teach no much shorter pages where a cache gives the same empty answer again', async () => {
    const source = new ImaginedSource(
      { [second]: records(100, 24) },
      { arrange: (list, _, { start, length }) => (start === 0 && length === 20 ? [] : list) },
    );
    const exporting = exportingOf(source, { since: second, pageLength: 20 });
    expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
    const told = `select fact, value from daywalk.learned where fact in ('empties', 'page_length') order by fact`;
    // What came there came by chance, and is to be expected of empty days.
    expect(await server.query(told)).toEqual([
      { fact: 'empties', value: expect.any(Number) },
      { fact: 'page_length', value: 19 },
    ]);
  });
});

describe('answers that come empty by chance, or again from a cache, where pages are short', () => {
  it.each<[string, number, number, object, (start: number, length: number) => boolean]>([
    ['depth', 7, 1_000, { empties: 0.4 }, (start, length) => start === 6 && length > 3],
    ['length', 4, 12, { empties: 0.4 }, (start, length) => start === 0 && length > 2],
    ['depth where they are the first of the source', 5, 5, {}, (start) => start === 8],
  ])('teach no %s', async (_, pageLength, times, facts, isEmpty) => {
    let left = times;
    const source = new ImaginedSource(
      { [second]: records(100, 12) },
      {
        arrange: (list, _number, { from, start, length }) => {
          if (left === 0 || !from.startsWith(second) || !isEmpty(start, length)) return list;
          left -= 1;
          return [];
        },
      },
    );
    const exporting = exportingOf(source, { since: second, pageLength });
    await teach(exporting, { ...facts });
    const results = await exported(exporting);
    expect(
      await server.query(
        "select fact from daywalk.learned where fact in ('offset_cap', 'page_length')",
      ),
    ).toEqual([]);
    expect(results.get(second)?.published ?? []).toEqual(records(100, 12).toSorted());
  });
});

describe('pages behind the first record that come empty in words of their own, where single records are shown', () => {
  it('are not asked for without end', async () => {
    const source = new ImaginedSource(
      { [second]: records(100, 12) },
      {
        clamp: 1,
        before: (_, __, number) => {
          if (number > 3_000) throw new Error('asked without end');
        },
        wrap: (page, _, { start, length }) =>
          start > 0 && length > 1 ? '{"message":"nothing here"}' : `{"data":[${page.join(',')}]}`,
      },
    );
    const results = await exported(exportingOf(source, { since: second, pageLength: 20 }));
    expect(results.get(second)).toMatchObject({
      state: 'complete',
      published: records(100, 12).toSorted(),
    });
    expect(source.asked.length).toBeLessThan(350);
  });
});

describe('a window that comes empty once', () => {
  it('is asked for again, also where it is known what empty answers look like', async () => {
    const [full = '', nothing = '', flickering = ''] = days.slice(-3);
    let run = 1;
    let asked = 0;
    const source = new ImaginedSource(
      { [full]: ALL, [nothing]: [], [flickering]: records(100, 12) },
      {
        before: (_, { from }) => {
          if (run === 1 && from.startsWith(flickering)) throw new EnvelopeError('not yet');
        },
        arrange: (list, _, { from, to, start }) => {
          const whole = from === `${flickering} 00:00:00` && to === `${flickering} 23:59:59`;
          return run === 2 && whole && start === 0 && asked++ === 0 ? [] : list;
        },
      },
    );
    const exporting = exportingOf(source, { since: full });
    expect((await exported(exporting)).get(nothing)).toMatchObject({ state: 'complete' });
    run = 2;
    await dueNow();
    const result = (await exported(exporting)).get(flickering);
    expect(asked).toBeGreaterThan(1);
    expect(result).toMatchObject({ state: 'complete', published: records(100, 12).toSorted() });
  });
});

describe('a source that is known to answer one question in different ways', () => {
  it('is not believed by its first pages, where they are shorter than was asked for', async () => {
    const source = new ImaginedSource({ [second]: records(100, 24) }, { clamp: 5 });
    const exporting = exportingOf(source, { since: second, pageLength: 20 });
    await teach(exporting, { restless: true });
    expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
  });
});

describe('one that fails does not stop the others', () => {
  it('a day that is always answered with 500', async () => {
    const bad = days[2] ?? '';
    const lists = Object.fromEntries(days.map((day, index) => [day, records(100 * index, 12)]));
    const source = new ImaginedSource(lists, {
      before: (_, { from }) => {
        if (from.startsWith(bad)) throw new UnavailableError('api', 'the API answers 500');
      },
    });
    const results = await exported(exportingOf(source, { since: days[0] ?? '' }));
    for (const [day, { state, published }] of results)
      if (day !== bad)
        expect({ day, state, published: published.length }).toEqual({
          day,
          // The cut towards the bad day cannot be asked for.
          state: expect.stringMatching(
            day === days[1] || day === days[3] ? /complete|failed|pending/ : /complete/,
          ),
          published: 12,
        });
    expect(results.get(bad)).toMatchObject({ state: 'failed', published: [] });
    expect(results.get(bad)?.lastError).toContain('500');
  });

  it('a length that is answered with 500', async () => {
    const source = new ImaginedSource(
      { [second]: ALL },
      {
        before: (_, { length }) => {
          if (length > 10) throw new UnavailableError('api', 'the API answers 500');
        },
      },
    );
    const results = await exported(exportingOf(source, { since: second, pageLength: 40 }));
    expect(results.get(second)).toMatchObject({ state: 'complete', published: ALL.toSorted() });
  });

  it('a length that is answered with 500, beside a day of which it says that there is none', async () => {
    const three = days.slice(-3);
    const lists = Object.fromEntries(
      three.map((day, index) => [day, records(100 * index, index === 1 ? 0 : 1)]),
    );
    const source = new ImaginedSource(lists, {
      before: (_, { length }) => {
        if (length > 10) throw new UnavailableError('api', 'the API answers 500');
      },
      wrap: (list) => (list.length === 0 ? '{"detail":"none"}' : `{"data":[${list}]}`),
    });
    const results = await exported(exportingOf(source, { since: three[0] ?? '', pageLength: 40 }));
    expect([...results.values()].map(({ state }) => state)).toEqual(three.map(() => 'complete'));
  });
});

it('a moment of refusals sets the page length for a day, and no longer', async () => {
  let refusing = true;
  const source = new ImaginedSource(
    { [first]: ALL, [second]: ALL },
    {
      before: (_, { length }) => {
        if (refusing && length > 5) throw new RequestError(400, 'not now');
      },
    },
  );
  const exporting = exportingOf(source, { since: second, pageLength: 20 });
  expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
  refusing = false;
  const lengths = async () => {
    const before = source.asked.length;
    await runOnce({ ...exporting, since: first });
    return source.asked.slice(before).filter(({ start }) => start === 0);
  };
  await server.query(`update daywalk.learned set learned_at = learned_at - interval '25 hours'`);
  expect((await lengths()).map(({ length }) => length)).toContain(20);
  expect((await resultsOf(exporting)).get(first)).toMatchObject({ state: 'complete' });
});

it('a quiet source without totals completes its cut of one record', async () => {
  const source = new ImaginedSource({ [first]: ['{"id": 1}'], [second]: [] }, { at: () => 86_399 });
  const results = await exported(exportingOf(source));
  expect(results.get(first)).toMatchObject({ state: 'complete', published: ['{"id": 1}'] });
  expect(results.get(second)).toMatchObject({ state: 'complete', published: [] });
  expect(
    await server.query(
      `select kind, state, last_error from daywalk.windows where state <> 'complete'`,
    ),
  ).toEqual([]);
});

it('a backfill that is interrupted half way has complete days', async () => {
  const lists = Object.fromEntries(days.map((day, index) => [day, records(100 * index, 12)]));
  const since = days[0] ?? '';
  const whole = exportingOf(new ImaginedSource(lists), { since });
  await runOnce(whole);
  const half = whole.source.asked.length / 2;
  await clear(server);
  const source = new ImaginedSource(lists, {
    before: (_, __, number) => {
      if (number > half) throw new Killed('half way');
    },
  });
  const exporting = exportingOf(source, { since });
  await expect(runOnce(exporting)).rejects.toThrow(Killed);
  const states = [...(await resultsOf(exporting)).values()].map(({ state }) => state);
  expect(states.filter((state) => state === 'complete').length).toBeGreaterThanOrEqual(2);
  expect(states).not.toEqual(days.map(() => 'complete'));
});

describe('totals that stop at a number, and do not say so', () => {
  it.each(andAtNight([19], [17, 18, 20, 37]))(
    'end no half there: an answer that shows more than it tells says so, pages of %i',
    async (pageLength) => {
      const list = records(1, 133);
      const wrap: Habits['wrap'] = (page, total) => body(page, Math.min(37, Number(total)));
      const source = new ImaginedSource(
        { [first]: records(1_000, 30), [second]: list },
        { totals: 'exact', wrap },
      );
      const exporting = exportingOf(source, { pageLength });
      expect((await exported(exporting)).get(second)?.state).toBe('complete');
    },
  );
});
