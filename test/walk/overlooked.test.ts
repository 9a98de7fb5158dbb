/** What the rules once overlooked, found by reading them: days that they would have called complete and that were not, or never complete. */
import { describe, expect, it } from 'vitest';
import { EnvelopeError, RequestError, UnavailableError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { around, secondsOf } from '../../src/plan/split.ts';
import { planPruning, prune } from '../../src/retention/prune.ts';
import { backfill } from '../../src/walk/run.ts';
import type { TestDatabase } from '../support/database.ts';
import { exporterParts, OPTIONS } from '../support/exporter.ts';
import { closeGate } from '../support/gate.ts';
import { andAtNight, atNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { expireLeases, freshStore, records } from '../support/store.ts';
import {
  closedDays,
  type Exporting,
  exported,
  newStream,
  readResults,
  resultsOf,
  runOnce,
  SETTLE_MS,
  sharedDatabase,
  teach,
} from './exporting.ts';
import { type Habits, ImaginedSource, idOf, pagesByNumber, secondOf } from './imagined-source.ts';
import type { Gate } from './perils.ts';

let server: TestDatabase;
const [first = '', second = ''] = closedDays(2);

freshStore((store) => {
  ({ server } = store);
});

const body = (list: readonly string[], total: number | null) =>
  `{${total === null ? '' : `"total":${total},`}"data":[${list.join(',')}]}`;

describe('a split whose cuts nobody asked for', () => {
  /** In the fraction behind each hour's last second stands a record, which no window that ends there shows. */
  const at = (record: string) => {
    const id = idOf(record);
    return id % 10 === 0 ? ((id / 10) % 24) * 3_600 + 3_599.7 : (id * 1_009) % 86_400;
  };
  const DEPTH = 73;

  it('is not complete by a total that stops at a number', async () => {
    const lists = { [first]: records(1_000, 240), [second]: records(2_000, 240) };
    const source: ImaginedSource = new ImaginedSource(lists, {
      at,
      before: (_, { start }) => {
        if (start >= DEPTH) throw new RequestError(400, 'too deep');
      },
      wrap: (list, _, request) => body(list, Math.min(100, source.within(request).length)),
    });
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    for (const { state } of (await exported(exporting, 2)).values()) expect(state).toBe('complete');
  });

  it.each([
    ['', ',"relation":"eq"'],
    [', and only then what it is', ''],
  ])('is not complete by a total that says itself that there may be more%s', async (_, exactly) => {
    const inTheMiddle = (record: string) =>
      idOf(record) % 100 === 0 ? 43_199.7 : (idOf(record) * 1_009) % 86_400;
    const source: ImaginedSource = new ImaginedSource(
      { [first]: records(1_000, 30), [second]: records(2_000, 240) },
      {
        at: inTheMiddle,
        wrap: (list, _, request) => {
          const { length } = source.within(request);
          const relation = length > 237 ? ',"relation":"gte"' : exactly;
          return `{"hits":{"total":{"value":${Math.min(237, length)}${relation}},"hits":[${list.join(',')}]}}`;
        },
      },
    );
    const exporting: Exporting = {
      ...{ server, source, stream: newStream(), since: first, pageLength: 30 },
      windowRecords: 230,
    };
    await teach(exporting, { calibrated: 300 });
    expect((await exported(exporting)).get(second)?.state).toBe('complete');
  });

  it('is not complete once its total is switched off', async () => {
    const source: ImaginedSource = new ImaginedSource(
      { [second]: records(2_000, 240) },
      {
        at,
        totals: 'exact',
        before: (_, { start }) => {
          if (start >= DEPTH) throw new RequestError(400, 'too deep');
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: second, pageLength: 30 };
    await teach(exporting, { calibrated: 300 });
    const stop = new AbortController();
    const signal = stop.signal;
    await runOnce({
      ...exporting,
      signal,
      onEvent: ({ kind }) => {
        if (kind === 'split') stop.abort();
      },
    }).catch(() => {});
    const without = { ...exporting, stream: { ...exporting.stream, totalPath: null } };
    expect((await exported(without, 2)).get(second)?.state).toBe('complete');
  });
});

it('a split whose parts hold less than the total is not complete once an answer lacks it', async () => {
  const isDay = ({ from, to }: PageRequest) => from.endsWith('00:00:00') && to.endsWith('23:59:59');
  let lacks = false;
  const source: ImaginedSource = new ImaginedSource(
    { [second]: records(2_000, 240) },
    {
      before: (_, { start }) => {
        if (start >= 73) throw new RequestError(400, 'too deep');
      },
      wrap: (list, _, request) => {
        const told = source.within(request).length + (isDay(request) ? 10 : 0);
        return body(list, lacks && isDay(request) ? null : told);
      },
    },
  );
  const exporting = { server, source, stream: newStream(), since: second, pageLength: 30 };
  await teach(exporting, { calibrated: 300 });
  expect((await exported(exporting, 2)).get(second)).toMatchObject({
    state: 'failed',
    lastError: expect.stringMatching(/parts hold 240 records, and the total says 250 .*total_path/),
  });
  lacks = true;
  await server.query(
    `update daywalk.windows set due_at = clock_timestamp() where state = 'failed'`,
  );
  expect((await exported(exporting)).get(second)?.state).toBe('failed');
});

it('a split whose parts hold less than the total is not complete while the whole of it is answered with failures', async () => {
  const isDay = ({ from, to }: PageRequest) => from.endsWith('00:00:00') && to.endsWith('23:59:59');
  let fails = false;
  let lags = true;
  const source: ImaginedSource = new ImaginedSource(
    { [second]: records(2_000, 240) },
    {
      before: (_, request) => {
        if (fails && isDay(request)) throw new EnvelopeError('busy');
      },
      // Parts come from a replica that lags at first.
      arrange: (list, _, request) =>
        lags && !isDay(request) ? list.filter((record) => idOf(record) !== 2_201) : list,
      wrap: (list, _, request) => {
        const { length } = source.within(request).filter((record) => idOf(record) !== 2_201);
        return body(list, lags && !isDay(request) ? length : source.within(request).length);
      },
    },
  );
  const exporting: Exporting = {
    ...{ server, source, stream: newStream(), since: second, pageLength: 30 },
    windowRecords: 200,
  };
  await teach(exporting, { calibrated: 300 });
  let parts = 0;
  await runOnce({
    ...exporting,
    onEvent: (event) => {
      if (event.kind === 'split') fails = true;
      if (event.kind !== 'complete') return;
      if (event.window.kind === 'part') parts += 1;
      lags = parts < 2;
      if (event.window.kind === 'day') fails = false;
    },
  });
  expect((await resultsOf(exporting)).get(second)?.state).toBe('complete');
});

it('one answer that tells a total of nothing when a split is closed keeps no dense second from being complete', async () => {
  const [, former = '', newest = ''] = closedDays(3);
  let isWrong = false;
  let wrong = 0;
  const source: ImaginedSource = new ImaginedSource(
    { [former]: records(1_000, 240), [newest]: records(2_000, 60) },
    {
      at: (record) => (idOf(record) < 2_000 ? secondOf(record) : 43_211),
      before: (_, { start }) => {
        if (start >= 40) throw new RequestError(400, 'too deep');
      },
      wrap: (list, _, request) => {
        const { length } = source.within(request);
        const isOnce = isWrong && length === 240;
        if (isOnce) wrong += 1;
        isWrong &&= !isOnce;
        return body(list, isOnce ? 0 : length);
      },
    },
  );
  const exporting: Exporting = {
    ...{ server, source, stream: newStream(), since: former, pageLength: 50 },
  };
  await runOnce({
    ...exporting,
    onEvent: (event) => {
      if (event.kind !== 'complete' || event.window.day !== former) return;
      isWrong = event.window.kind !== 'day';
    },
  });
  expect(wrong).toBe(1);
  expect((await resultsOf(exporting)).get(newest)?.state).toBe('complete');
});

describe('pages that are counted by number, without totals', () => {
  it('between which a record goes do not hide the one that moves up', async () => {
    let removed = false;
    const source: ImaginedSource = new ImaginedSource(
      { [first]: records(1_000, 90), [second]: records(2_000, 55) },
      {
        arrange: pagesByNumber,
        before: ({ lists }, { from, start }) => {
          const list = lists.get(`${second} 00:00:00`) ?? [];
          if (removed || !from.startsWith(second) || start < 20) return;
          removed = true;
          lists.set(`${second} 00:00:00`, list.slice(1));
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 20 };
    await teach(exporting, { paging: 'number', proven_size: 95 });
    expect((await exported(exporting, 2)).get(second)?.state).toBe('complete');
    expect(removed).toBe(true);
  });
});

describe('a source that answers one question in different ways', () => {
  it.each(andAtNight(['none'], ['exact']))(
    'is asked again where it shows nothing, totals %s',
    async (totals) => {
      const lists = { [first]: records(1_000, 12), [second]: records(2_000, 12) };
      let away = 0;
      const source = new ImaginedSource(lists, {
        totals,
        arrange: (list, _, { from }) => (from.startsWith(second) && away-- > 0 ? [] : list),
      });
      const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
      await teach(exporting, { restless: true, calibrated: totals === 'exact' ? 20 : 0 });
      // For some seconds the day comes empty: its page, a second answer, and the parts of it that are asked for.
      away = 6;
      expect((await exported(exporting, 2)).get(second)?.state).toBe('complete');
    },
  );
});

describe('a source that answers one question in different ways, and shows nothing of a day', () => {
  const lists = { [first]: records(1_000, 12), [second]: records(2_000, 12) };
  const isSecond = ({ from, to }: { from: string; to: string }) =>
    from === `${second} 00:00:00` && to === `${second} 23:59:59`;

  it('beside its total is asked until it shows it', async () => {
    let away = 12;
    const source: ImaginedSource = new ImaginedSource(lists, {
      arrange: (list, _, request) => (isSecond(request) && away-- > 0 ? [] : list),
      wrap: (list, _, request) => body(list, source.within(request).length),
    });
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    await teach(exporting, { restless: true });
    expect((await exported(exporting, 2)).get(second)?.state).toBe('complete');
    expect(source.asked.length).toBeLessThan(300);
  });

  it('and tells three for ever, has failed', async () => {
    const source = new ImaginedSource(
      { [first]: records(1_000, 12), [second]: [] },
      { wrap: (list, _, request) => body(list, isSecond(request) ? 3 : list.length) },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    await teach(exporting, { restless: true });
    expect((await exported(exporting)).get(second)?.state).not.toBe('complete');
    expect(source.asked.length).toBeLessThan(600);
  });

  it('where it showed all, is walked again', async () => {
    const turned: Habits['arrange'] = (list, number) => {
      const by = list.length === 0 ? 0 : (number * 5) % list.length;
      return [...list.slice(by), ...list.slice(0, by)];
    };
    const few = { [first]: records(1_000, 6), [second]: records(2_000, 6) };
    const source = new ImaginedSource(few, { arrange: turned });
    const exporting: Exporting = {
      ...{ server, source, stream: newStream(), since: first, pageLength: 30, recheckDays: 7 },
    };
    await teach(exporting, { restless: true });
    expect((await exported(exporting)).get(second)?.proof).toMatchObject({ kind: 'union' });
    source.lists.set(`${second} 00:00:00`, []);
    await server.query('update daywalk.windows set due_at = clock_timestamp()');
    await runOnce(exporting);
    const { proof, published } = (await readResults(server, exporting.stream)).get(second) ?? {};
    expect([proof?.kind, published?.length]).toEqual(['empty', 6]);
  });

  atNight('and no total, where totals are told, has failed', async () => {
    const few = { [first]: records(1_000, 6), [second]: records(2_000, 6) };
    const source = new ImaginedSource(few, {
      wrap: (list, _, request) => body(list, isSecond(request) ? null : list.length),
    });
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    await teach(exporting, { restless: true, calibrated: 20 });
    expect((await exported(exporting)).get(second)?.state).not.toBe('complete');
  });

  atNight('but for two answers among empty ones, is not believed', async () => {
    let asked = 0;
    const source = new ImaginedSource(lists, {
      arrange: (list, _, request) => {
        if (!isSecond(request)) return list;
        asked += 1;
        return asked === 1 || asked === 3 || asked > 12 ? list : [];
      },
    });
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    await teach(exporting, { restless: true, empties: 0.05 });
    await exported(exporting, 2);
  });
});

describe('a source that answers one question in five with nothing', () => {
  const isDay = ({ from, to }: PageRequest) =>
    from === `${second} 00:00:00` && to === `${second} 23:59:59`;
  const isAcross = ({ from, to }: PageRequest) => from < `${second} 00` && to > `${second} 00:00`;

  it.each([
    ['an empty day', second, 43_200, isDay],
    // In the fraction behind the last second, which no window shows.
    ['an empty midnight', first, 86_399.7, isAcross],
  ] as const)('is asked more than once whether %s is still empty', async (_, day, at, isOf) => {
    let away = 0;
    const source = new ImaginedSource(
      { [first]: records(1_000, 12), [second]: [] },
      {
        at: (record) => (idOf(record) === 1_999 ? at : 30_000 + idOf(record)),
        arrange: (list, _, request) => (isOf(request) && away-- > 0 ? [] : list),
      },
    );
    const shared = { server, source, stream: newStream(), since: first };
    const exporting = { ...shared, pageLength: 30, recheckDays: 7 };
    await teach(exporting, { empties: 0.2 });
    for (const { state } of (await exported(exporting, 2)).values()) expect(state).toBe('complete');
    const list = source.lists.get(`${day} 00:00:00`) ?? [];
    source.lists.set(`${day} 00:00:00`, [...list, '{"id": 1999}']);
    await server.query('update daywalk.windows set due_at = clock_timestamp()');
    away = 4;
    expect((await exported(exporting, 2)).get(day)?.published).toContain('{"id": 1999}');
  });
});

describe('a record of the last second, which both days show, edited after their cut had failed for something else', () => {
  const edited = (read: boolean) => `{"id": 3001, "read": ${read}}`;

  /** @param stale whether whole days show for ever what it was. */
  async function retried(times: number, stale: boolean) {
    let away = true;
    // Windows show one second more on either side.
    const source: ImaginedSource = new ImaginedSource(
      { [first]: [...records(1_000, 5), edited(false)], [second]: records(2_000, 5) },
      {
        at: (record) => (idOf(record) > 3_000 ? 86_399 : 30_000 + idOf(record)),
        arrange: (_, __, { from, to, filters }) => {
          const isWhole = from.endsWith('00:00:00') && to.endsWith('23:59:59');
          return source
            .within({ from: around(from, -1, 0).from, to: around(to, 0, 1).to, filters })
            .map((record) => (stale && isWhole && idOf(record) > 3_000 ? edited(false) : record));
        },
        before: (_, { from, to }) => {
          const isMidnight = from < `${second} 00` && to > `${second} 00`;
          if (away && isMidnight) throw new EnvelopeError('<html>');
        },
      },
    );
    const stream = newStream({ idPath: ['id'] });
    const exporting = { server, source, stream, since: first, pageLength: 30 };
    await exported(exporting);
    source.lists.set(`${first} 00:00:00`, [...records(1_000, 5), edited(true)]);
    away = false;
    for (let time = 0; time < times; time += 1) {
      await server.query(
        `update daywalk.windows set due_at = clock_timestamp() where state = 'failed'`,
      );
      await exported(exporting);
    }
    return [...(await exported(exporting)).values()];
  }

  it('is shown as it is now', async () => {
    for (const { state } of await retried(2, false)) expect(state).toBe('complete');
  });

  atNight(
    'has both days walked again ever more rarely, where that does not settle it',
    async () => {
      for (const { state, walks } of await retried(9, true))
        expect({ state, walks }).toEqual({ state: 'failed', walks: 4 });
    },
  );
});

describe('replicas, one of which lags for some answers', () => {
  it('do not hide a record that an answer before told of', async () => {
    let answers = 0;
    const source = new ImaginedSource(
      { [first]: records(1_000, 24), [second]: records(2_000, 14) },
      {
        totals: 'exact',
        arrange: (list, _, { from, to }) => {
          if (from !== `${second} 00:00:00` || to !== `${second} 23:59:59`) return list;
          answers += 1;
          return answers < 4 || answers > 10 ? list : list.filter((one) => idOf(one) !== 2_005);
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 5 };
    expect((await exported(exporting)).get(second)?.state).toBe('complete');
  });
});

describe('a list that grows while it is walked', () => {
  it('does not teach that totals are too small', async () => {
    let grown = false;
    const source: ImaginedSource = new ImaginedSource(
      { [second]: records(2_000, 25) },
      {
        totals: 'exact',
        before: ({ lists }, { start }) => {
          if (grown || start < 10) return;
          grown = true;
          lists.set(`${second} 00:00:00`, [...records(2_000, 25), ...records(3_000, 1)]);
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: second, pageLength: 10 };
    await teach(exporting, { calibrated: 20, proven_size: 50 });
    expect((await exported(exporting)).get(second)).toMatchObject({ state: 'complete' });
    expect(grown).toBe(true);
    expect(
      await server.query(`select value from daywalk.learned where fact = 'lower_bound'`),
    ).toEqual([]);
  });
});

describe('a dense source without totals', () => {
  it('has cuts across which more lies than one page holds', async () => {
    // Three a second for two minutes, in pages of ten.
    const at = (record: string) => 40_000 + (idOf(record) % 360) / 3;
    const source = new ImaginedSource({ [second]: records(360, 360) }, { at, clamp: 10 });
    const exporting = { server, source, stream: newStream(), since: second, pageLength: 100 };
    const result = (await exported(exporting)).get(second);
    expect(result).toMatchObject({ state: 'complete', lastError: null });
    expect(source.asked.length).toBeLessThan(1_000);
  });
});

describe('a window of one record', () => {
  const lists = { [first]: records(1_000, 1), [second]: records(2_000, 4) };
  const behind = (
    { start }: { readonly start: number },
    source: ImaginedSource,
    of: PageRequest,
  ) => {
    if (start > 0 && start >= source.within(of).length) throw new RequestError(400, 'out of range');
  };

  it('is whole though a source that was asked for one says that there is more', async () => {
    const source = new ImaginedSource(lists, {
      wrap: (list, _, { length }) =>
        `{"has_more":${list.length === length},"data":[${list.join(',')}]}`,
    });
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    for (const { state } of (await exported(exporting, 2)).values()) expect(state).toBe('complete');
  });

  it.each(andAtNight(['none'], ['exact']))(
    'is no cap where what begins at the end is refused, totals %s',
    async (totals) => {
      const source: ImaginedSource = new ImaginedSource(lists, {
        totals,
        before: (_, request) => behind(request, source, request),
      });
      const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
      for (const { state } of (await exported(exporting, 2)).values())
        expect(state).toBe('complete');
      expect(await server.query(`select from daywalk.learned where fact = 'offset_cap'`)).toEqual(
        [],
      );
    },
  );
});

describe('a day as long as the longest page of its source', () => {
  const MOST = 12;
  const saysMore = (more: (records: number, request: PageRequest) => boolean): Habits => ({
    clamp: MOST,
    wrap: (list, _, request) =>
      `{"has_more":${more(list.length, request)},"data":[${list.join(',')}]}`,
  });
  const exportOf = (list: readonly string[], habits: Habits): Exporting => {
    const source = new ImaginedSource({ [first]: list, [second]: records(2_000, 5) }, habits);
    return { server, source, stream: newStream(), since: first, pageLength: 30 };
  };

  it('is whole though of each full page it says that there is more', async () => {
    const habits = saysMore((came, { length }) => came === Math.min(length, MOST));
    const results = await exported(exportOf(records(1_000, MOST), habits), 2);
    for (const { state } of results.values()) expect(state).toBe('complete');
  });

  it('is not whole where the end says so, too', async () => {
    const habits = saysMore((came, { from, start }) => from < second && start + came >= MOST);
    const cut = { ...habits, arrange: (list: readonly string[]) => list.slice(0, MOST) };
    const exporting = exportOf(records(1_000, 3 * MOST), cut);
    await teach(exporting, { proven_size: 50, reach: 'day' });
    const result = (await exported(exporting, 2)).get(first);
    expect(result).toMatchObject({ state: 'failed' });
    expect(result?.lastError).toMatch(/says that there is more/);
  });
});

it.each(andAtNight(['none'], ['exact']))(
  'pages that are too long, and answered with nothing, make no day empty, totals %s',
  async (totals) => {
    const lists = { [first]: records(1_000, 350), [second]: [] };
    const arrange: Habits['arrange'] = (list, _, { length }) => (length > 100 ? [] : list);
    const source = new ImaginedSource(lists, { totals, arrange });
    const results = await exported({
      ...{ server, source, stream: newStream(), since: first, pageLength: 1_000 },
    });
    expect([...results.values()].map(({ state }) => state)).toEqual(['complete', 'complete']);
  },
);

it('a source that ignores the time of day in its older days alone is asked for cuts all the same', async () => {
  const [old = '', one = '', two = ''] = closedDays(3);
  // One of ten is of the last fraction of a second, which no window of a day shows.
  const at = (record: string) => (idOf(record) % 10 === 0 ? 86_399.7 : secondOf(record));
  const lists = { [old]: records(1_000, 30), [one]: records(2_000, 61), [two]: records(3_000, 83) };
  const source = new ImaginedSource(lists, {
    at,
    arrange: (list, _, { from, to }) =>
      from.slice(0, 10) <= old && to.slice(0, 10) >= old
        ? [...(lists[old] ?? []), ...list.filter((record) => idOf(record) >= 2_000)]
        : list,
  });
  const exporting = { server, source, stream: newStream(), since: old, pageLength: 100 };
  for (let run = 0; run < 2; run += 1) {
    await server.query(
      'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
    );
    await exported(exporting);
  }
  const results = await exported(exporting);
  expect([...results.values()].map(({ state }) => state)).toEqual([
    'complete',
    'complete',
    'complete',
  ]);
});

describe('what is too much for its source, which answers it with nothing', () => {
  // As behind `catch { return { total: 0, data: [] } }`: a part of the day is answered.
  const inside = (list: readonly string[]) => (list.length > 200 ? [] : list);

  it.each(
    andAtNight<[string, number, (number: number) => number]>(
      [
        ['a day', 300, (number) => number * 288],
        ['an afternoon', 250, (number) => 46_800 + number * 60],
      ],
      [
        ['a day whose halves are too much, too', 600, (number) => number * 144],
        ['night and evening', 300, (number) => (number < 150 ? 0 : 50_000) + number * 120],
        [
          'a burst at noon',
          300,
          (number) => (number < 250 ? 43_200 + number : (number - 250) * 1_728),
        ],
        [
          'an afternoon, behind a morning',
          400,
          (number) => (number < 100 ? number * 100 : 40_000 + number * 100),
        ],
      ],
    ),
  )('is not empty: %s', async (_, size, at) => {
    const source = new ImaginedSource(
      { [first]: records(1_000, 30), [second]: records(2_000, size) },
      { totals: 'exact', at: (record) => at(idOf(record) % 1_000), arrange: inside },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 50 };
    expect((await exported(exporting)).get(second)?.state).toBe('complete');
  });

  it('is complete by its parts, though it was complete by its total before it was too much', async () => {
    const inside = (list: readonly string[]) => (list.length > 135 ? [] : list);
    const source = new ImaginedSource(
      { [first]: records(1_000, 130), [second]: records(2_000, 100) },
      { totals: 'exact', arrange: inside },
    );
    const exporting: Exporting = {
      ...{ server, source, stream: newStream(), since: first, pageLength: 200, recheckDays: 7 },
    };
    await runOnce(exporting);
    source.lists.set(`${second} 00:00:00`, records(2_000, 160));
    await letTimePass(server, '7 hours');
    expect((await exported(exporting)).get(second)).toMatchObject({
      state: 'complete',
      published: { length: 160 },
    });
  });

  it('are long answers alone: pages become shorter, and no day is split', async () => {
    const source = new ImaginedSource(
      { [first]: records(1_000, 30), [second]: records(2_000, 900) },
      {
        arrange: (list, _, { start, length }) =>
          Math.min(length, list.length - start) > 100 ? [] : list,
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 1_000 };
    expect((await exported(exporting)).get(second)).toMatchObject({
      state: 'complete',
      windows: 1,
    });
  });

  it('is told from nothing though each answer says of what it is empty', async () => {
    const clock = (time: string) => (Number(time.slice(11, 13)) < 12 ? 'AM' : 'PM');
    const source = new ImaginedSource(
      { [first]: records(1_000, 12), [second]: [] },
      {
        wrap: (list, total, { from, to }) =>
          list.length > 0
            ? body(list, total)
            : `{"message":"No events from 12 ${clock(from)} to 11:59 ${clock(to)}","data":[]}`,
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
    expect((await exported(exporting)).get(second)?.state).toBe('complete');
    expect(source.asked.length).toBeLessThan(60);
  });
});

it('a page that is shorter than others were is no union where one question is answered in different ways', async () => {
  const source = new ImaginedSource(
    { [first]: records(1_000, 60), [second]: records(2_000, 30) },
    // Records of the newer days are larger: 17 of them fill a page.
    { wrap: (list, _, { from }) => body(from < second ? list : list.slice(0, 17), null) },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 100 };
  await teach(exporting, { restless: true });
  await exported(exporting);
});

describe('a day of which too much is shown in part', () => {
  const MOST = 12;
  const exportOf = (says: (isMuch: boolean) => string) => {
    const isMuch = (request: PageRequest) => source.within(request).length > MOST;
    const source: ImaginedSource = new ImaginedSource(
      { [first]: records(1_000, 40), [second]: records(2_000, 11) },
      {
        totals: 'exact',
        arrange: (list) => (list.length > MOST ? list.filter((_, index) => index % 4 === 0) : list),
        wrap: (list, total, request) =>
          `{"totalResults":${total},${says(isMuch(request))},"rows":[${list.join(',')}]}`,
      },
    );
    return { server, source, stream: newStream(), since: first, pageLength: 30 };
  };

  it('is split where parts of it are shown whole', async () => {
    const results = await exported(exportOf((isMuch) => `"containsSampledData":${isMuch}`));
    for (const { state } of results.values()) expect(state).toBe('complete');
  });

  it('has failed, and is not split, where each answer says that there is more', async () => {
    const exporting = exportOf(() => '"partial":true');
    const result = (await exported(exporting)).get(first);
    expect(result).toMatchObject({ state: 'failed' });
    expect(result?.lastError).toMatch(/says that there is more/);
    expect(exporting.source.asked.length).toBeLessThan(80);
  });
});

it('pages that each say that they are partial are no union where one question is answered in different ways', async () => {
  const isWhole = ({ from, to }: PageRequest) =>
    `${from}${to}` === `${second} 00:00:00${second} 23:59:59`;
  const source = new ImaginedSource(
    { [second]: records(2_000, 9) },
    {
      // Two of the records stand in a shard that is away.
      arrange: (list, number, request) =>
        isWhole(request) ? list.slice(0, 7).toSpliced(number % 2, 1) : list,
      wrap: (list, _, request) =>
        `{"data":[${list.join(',')}]${isWhole(request) ? ',"partial":true' : ''}}`,
    },
  );
  const exporting = { server, source, stream: newStream(), since: second, pageLength: 20 };
  await teach(exporting, { restless: true });
  await exported(exporting);
});

describe('a source that shows the same records whatever day is asked for', () => {
  const days = closedDays(4);
  const lists = Object.fromEntries(days.map((day) => [day, []]));
  const statesOf = async ({ stream }: Exporting) =>
    [...(await readResults(server, stream)).values()].map(({ state }) => state).sort();

  it.each(
    andAtNight(
      [[4, 'and of days to come']],
      [
        [1, 'and of days to come'],
        [4, 'but of days to come'],
      ],
    ),
  )('has one day of them at most, concurrency %i, %s', async (concurrency, how) => {
    const isOver = (day: string) => day <= (days.at(-1) ?? '');
    const source = new ImaginedSource(lists, {
      arrange: (_, __, { from }) =>
        how.startsWith('and') || isOver(from.slice(0, 10)) ? records(1_000, 7) : [],
    });
    const exporting: Exporting = {
      ...{ server, source, stream: newStream(), since: days[0] ?? '', pageLength: 30, concurrency },
    };
    await runOnce(exporting);
    const complete = (await statesOf(exporting)).filter((state) => state !== 'failed');
    // Two that are walked at the same time tell of each other.
    expect(complete.length).toBeLessThanOrEqual(1);
  });

  it.each(andAtNight([1], [3]))(
    'or the newest %i before, where there are none, has no such day of them',
    async (count) => {
      const list = [records(1, 4), records(100, 6), [], [], records(400, 3), []];
      const six = closedDays(list.length);
      const source: ImaginedSource = new ImaginedSource(
        Object.fromEntries(six.map((day, n) => [day, list[n] ?? []])),
        {
          arrange: (found, _, { to }) =>
            found.length > 0
              ? found
              : source.within({ from: '2000-01-01 00:00:00', to, filters: {} }).slice(-count),
        },
      );
      const since = six[0] ?? '';
      const exporting = {
        server,
        source,
        stream: newStream(),
        since,
        pageLength: 50,
        concurrency: 1,
      };
      await exported(exporting, 2);
      const results = await readResults(server, exporting.stream);
      for (const n of [2, 3, 5]) expect(results.get(six[n] ?? '')?.state).toBe('failed');
    },
  );

  it.each(andAtNight(['day'], ['week']))(
    'once, as the answer to another request of that %s, has no day of them',
    async (how) => {
      const week = closedDays(6);
      const [older = '', last = ''] = [week[how === 'day' ? 4 : 1], week[5]];
      let isCrossed = false;
      const source: ImaginedSource = new ImaginedSource(
        Object.fromEntries(week.map((day, n) => [day, records(1_000 * (n + 1), 12)])),
        {
          totals: 'exact',
          arrange: (found, _, { from, to }) => {
            if (isCrossed || !from.startsWith(`${last} 00:00:00`) || !to.startsWith(`${last} 23`))
              return found;
            isCrossed = true;
            return source.lists.get(`${older} 00:00:00`) ?? [];
          },
        },
      );
      const since = week[0] ?? '';
      const exporting = { server, source, stream: newStream(), since, pageLength: 30 };
      await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
      await runOnce(exporting);
      expect(isCrossed).toBe(true);
      await letTimePass(server, '2 hours');
      const days = await exported(exporting);
      expect([...days.values()].map(({ state }) => state)).toEqual(week.map(() => 'complete'));
    },
  );

  it('each with what is not the record has one day of them', async () => {
    const source = new ImaginedSource(lists, {
      arrange: (_, number) =>
        records(1_000, 7).map((record) => record.replace('}', `, "now": ${number}}`)),
    });
    const exporting = { server, source, stream: newStream(), since: days[0] ?? '', pageLength: 30 };
    await teach(exporting, { ignored: ['/now'] });
    await runOnce(exporting);
    expect((await statesOf(exporting)).filter((state) => state === 'complete').length).toBe(1);
  });

  it('has whole days where each of them has the same few that tell no time', async () => {
    const daily = ['{"id": 1, "text": "backup ok"}', '{"id": 2, "text": "scan ok"}'];
    const source = new ImaginedSource(Object.fromEntries(days.map((day) => [day, daily])));
    const exporting = { server, source, stream: newStream(), since: days[0] ?? '', pageLength: 30 };
    await runOnce(exporting);
    expect(await statesOf(exporting)).toEqual(Array(4).fill('complete'));
  });
});

it.each(
  andAtNight(
    [['500', new UnavailableError('api', 'the result window is too large')]],
    [['400', new RequestError(400, 'the result window is too large')]],
  ),
)(
  'a day is complete where its pages are counted by number, and answered %s behind a depth',
  async (_, error) => {
    // Numbers of pages in front of Elasticsearch: from + size is at most 42.
    const source: ImaginedSource = new ImaginedSource(
      { [first]: records(1_000, 30), [second]: records(2_000, 140) },
      {
        totals: 'exact',
        before: (_, { start, length }) => {
          if (start + length > 42) throw error;
        },
        arrange: pagesByNumber,
        wrap: (list, _, request) => body(list, source.within(request).length),
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 7 };
    for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
  },
);

describe('a second whose records come shard by shard, each time in another order', () => {
  it.each(andAtNight([10], [12]))(
    'is not complete with one shard, %i records a page',
    async (pageLength) => {
      const shards = [records(1_000, 12), records(2_000, 12)];
      const source = new ImaginedSource(
        { [first]: records(3_000, 25), [second]: shards.flat() },
        {
          at: (record) => (idOf(record) < 3_000 ? 40_000 : secondOf(record)),
          arrange: (list, number) => {
            const turn = number % 12;
            const own = shards.map((shard) => shard.filter((record) => list.includes(record)));
            const some = own.flatMap((shard) => [...shard.slice(turn), ...shard.slice(0, turn)]);
            return some.length === 0 ? list : some;
          },
        },
      );
      const exporting = { server, source, stream: newStream(), since: first };
      // The API gave more at a time when the first day was exported.
      await runOnce({ ...exporting, pageLength: 30, settleMs: SETTLE_MS + 86_400_000 });
      const results = await exported({ ...exporting, pageLength });
      expect([...results.values()].map(({ state }) => state)).toEqual(['complete', 'failed']);
    },
  );

  it.each(andAtNight([[20, 10, 4, { restless: true }]], [[23, 8, 2, {}]]))(
    'is not complete with the %i that totals count to, however many there are',
    async (most, turns, each, known) => {
      const shards = [records(1_000, most), records(2_000, 25)];
      const source = new ImaginedSource(
        { [first]: records(3_000, 12), [second]: shards.flat() },
        {
          clamp: 10,
          totals: 'exact',
          at: (record) => (idOf(record) < 3_000 ? 40_000 : secondOf(record)),
          arrange: (list, number) => {
            const turn = (Math.floor(number / each) * turns) % most;
            const own = shards[0]?.filter((record) => list.includes(record)) ?? [];
            const others = list.filter((record) => !own.includes(record));
            return [...own.slice(turn), ...own.slice(0, turn), ...others];
          },
          wrap: (list, total) => body(list, Math.min(total ?? 0, most)),
        },
      );
      const exporting = { server, source, stream: newStream(), since: first, pageLength: 30 };
      await teach(exporting, { calibrated: 12, ...known });
      const results = await exported(exporting);
      expect(results.get(second)?.state).toBe('failed');
    },
  );
});

describe('clocks that skip midnight', () => {
  const SKIPS = '2026-09-06';
  /** Go's time.Date takes a time that is skipped for one an hour earlier (https://github.com/golang/go/issues/50223). */
  const asGo = (time: string) =>
    time.startsWith(`${SKIPS} 00:`) ? `2026-09-05 23:${time.slice(14)}` : time;
  const SECONDS = [82_900, 84_000, 86_300, 40_000, 50_000, 7_000, 12_000, 13_000, 20_001, 30_003];

  it.each(andAtNight(['none'], ['exact']))(
    'show no hour under two days, totals %s',
    async (totals) => {
      const days = ['2026-09-04', '2026-09-05', SKIPS, '2026-09-07'];
      const source: ImaginedSource = new ImaginedSource(
        Object.fromEntries(days.map((day, n) => [day, records(100 * n + 10, 10)])),
        {
          totals,
          at: (record) => SECONDS[idOf(record) % 10] ?? 0,
          arrange: (_, __, request) =>
            source.within({ ...request, from: asGo(request.from), to: asGo(request.to) }),
        },
      );
      const stream = newStream();
      const options = { ...OPTIONS, streams: [stream], since: '2026-09-04', pageLength: 50 };
      await backfill(
        exporterParts({ database: sharedDatabase(server), source }),
        { ...options, timeZone: 'America/Santiago', concurrency: 1 },
        { from: '2026-09-04', to: '2026-09-07', newestFirst: false },
        new AbortController().signal,
      );
      const results = await resultsOf({ server, source, stream, since: '2026-09-04' });
      expect(days.map((day) => results.get(day)?.published.length)).toEqual([10, 10, 10, 10]);
    },
  );
});

describe('a side of a cut that shows what its window lacks', () => {
  /** In the last second of the first day. */
  const LATE = '{"id": 9999}';
  const list = records(1_000, 12);
  const at = (record: string) => (record === LATE ? 86_399 : secondOf(record));
  const isAcross = ({ from, to }: PageRequest) => from.slice(0, 10) !== to.slice(0, 10);

  it('has the window walked again', async () => {
    const source = new ImaginedSource(
      { [first]: list, [second]: records(2_000, 12) },
      {
        at,
        before: ({ lists }, request) => {
          if (isAcross(request) && request.to > second)
            lists.set(`${first} 00:00:00`, [...list, LATE]);
        },
      },
    );
    const results = await exported({ server, source, stream: newStream(), since: first }, 2);
    for (const { state } of results.values()) expect(state).toBe('complete');
  });

  it('leaves no day complete where that is for ever, as where long ranges come from a summary', async () => {
    const source = new ImaginedSource(
      { [first]: [...list, LATE], [second]: records(2_000, 12) },
      {
        at,
        arrange: (shown, _, request) =>
          secondsOf(request) > 7_200 ? shown.filter((record) => record !== LATE) : shown,
      },
    );
    const stream = newStream();
    await runOnce({ server, source, stream, since: first });
    expect((await readResults(server, stream)).get(first)?.state).not.toBe('complete');
  });

  it('leaves a day that is walked only behind it not complete either', async () => {
    const early = '{"id": 8888}';
    const source = new ImaginedSource(
      { [first]: list, [second]: [early, ...records(2_000, 12)] },
      {
        at: (record) => (record === early ? 1 : secondOf(record)),
        arrange: (shown, _, request) =>
          secondsOf(request) > 7_200 ? shown.filter((record) => record !== early) : shown,
      },
    );
    const exporting = { server, source, stream: newStream(), since: first };
    await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
    await runOnce(exporting);
    const states = [...(await readResults(server, exporting.stream)).values()];
    expect(states.map(({ state }) => state)).toEqual(['failed', 'failed']);
  });

  it('leaves a day not complete either that is proven while the cut is, by another worker', async () => {
    const early = '{"id": 8888}';
    const [firstProven, compared, bothProven] = [closeGate(), closeGate(), closeGate()];
    const source = new ImaginedSource(
      { [first]: list, [second]: [early, ...records(2_000, 12)] },
      {
        at: (record) => (record === early ? 1 : secondOf(record)),
        arrange: (shown, _, request) =>
          secondsOf(request) > 7_200 ? shown.filter((record) => record !== early) : shown,
        // Not its first page: whichever day is asked first, the other one waits for that.
        before: (_, { from, to, start }) =>
          from === `${second} 00:00:00` && to === `${second} 23:59:59` && start > 0
            ? firstProven.passed
            : undefined,
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, concurrency: 2 };
    let proofs = 0;
    let isCompared = false;
    await runOnce({
      ...exporting,
      gate: async (statement, act) => {
        const number = statement?.includes('daywalk.prove_window') ? ++proofs : 0;
        if (number === 2) await compared.passed;
        if (isCompared && statement?.includes('daywalk.prove_cut')) await bothProven.passed;
        const result = await act();
        if (number > 0) (number === 1 ? firstProven : bothProven).open();
        if (statement?.includes('"isBefore"')) {
          isCompared = true;
          compared.open();
        }
        return result;
      },
    });
    const states = [...(await readResults(server, exporting.stream)).values()];
    expect(states.map(({ state }) => state)).toEqual(['failed', 'failed']);
  });

  it('is none where a record is numbered otherwise there', async () => {
    const lists = { [first]: [...list, LATE], [second]: records(2_000, 12) };
    const source = new ImaginedSource(lists, {
      at,
      totals: 'exact',
      arrange: (shown) => shown.map((record, row) => record.replace('{', `{"row": ${row + 1}, `)),
    });
    const stream = newStream();
    const exporting = { server, source, stream, since: first, pageLength: 30 };
    await teach(exporting, { calibrated: 1_000, proven_size: 1_000, reach: 1 });
    await runOnce(exporting);
    for (const { state } of (await readResults(server, stream)).values())
      expect(state).toBe('complete');
  });
});

it('parts that lack what the whole of them showed, and shows still, are no complete day', async () => {
  const isOfDayOnly = (record: string) => idOf(record) % 8 < 3;
  const source = new ImaginedSource(
    { [second]: records(1_000, 40) },
    {
      before: (_, { start }) => {
        if (start >= 30) throw new RequestError(400, 'too deep');
      },
      // Records that have a date and no time are not shown for a part of the day.
      arrange: (list, _, request) =>
        secondsOf(request) < 86_400 ? list.filter((record) => !isOfDayOnly(record)) : list,
    },
  );
  const stream = newStream();
  await runOnce({ server, source, stream, since: second, pageLength: 10 });
  expect((await readResults(server, stream)).get(second)).toMatchObject({
    state: 'failed',
    lastError: expect.stringContaining('it shows one that none of them holds'),
  });
});

describe('a source whose lists are cut otherwise than by their number', () => {
  const kept = (most: number, keyOf: (id: number) => number) => (list: readonly string[]) => {
    const counts = new Map<number, number>();
    return list.filter((record) => {
      const key = keyOf(idOf(record));
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return (counts.get(key) ?? 0) <= most;
    });
  };

  it.each(
    andAtNight<[string, Habits]>(
      [
        [
          'after some of each shard, most records in one of three',
          { totals: 'exact', arrange: kept(20, (id) => (id % 10 < 7 ? 0 : id % 3)) },
        ],
      ],
      [
        [
          'to the last twelve hours of a range',
          {
            totals: 'exact',
            arrange: (list, _, request) =>
              secondsOf(request) > 43_200
                ? list.filter((record) => secondOf(record) >= 43_200)
                : list,
          },
        ],
      ],
    ),
  )('%s', async (_, habits) => {
    const days = closedDays(9);
    const sizes = [33, 18, 61, 43, 12, 57, 0, 74, 0];
    const lists = Object.fromEntries(
      days.map((day, index) => [day, records(1_000 * (index + 1), sizes[index] ?? 0)]),
    );
    // A day of records that all lie in its first half: its whole shows none.
    lists[days[6] ?? ''] = records(20_000, 60).filter((record) => secondOf(record) < 43_200);
    const source = new ImaginedSource(lists, habits);
    const exporting = {
      server,
      source,
      stream: newStream(),
      since: days[0] ?? '',
      pageLength: 100,
    };
    const results = await exported(exporting, 3);
    for (const day of days)
      expect(results.get(day)).toMatchObject({
        state: 'complete',
        published: [...(lists[day] ?? [])].sort(),
      });
    const asked = source.asked.length;
    expect(asked).toBeLessThan(700);
    await runOnce(exporting);
    expect(source.asked.length).toBe(asked);
  });

  it('is none that shows an edited record in a half, or whose days show the same at each time', async () => {
    const [whole = '', edited = ''] = closedDays(2);
    let isWalked = false;
    const source: ImaginedSource = new ImaginedSource(
      { [whole]: records(1_000, 61), [edited]: records(2_000, 40) },
      {
        before: (self, { from, to, start }) => {
          if (!from.startsWith(edited)) return;
          const seconds = secondsOf({ from, to });
          // Between the walk of the whole day and that of its first half.
          if (isWalked && seconds === 43_200)
            self.lists.set(`${edited} 00:00:00`, [
              ...records(2_000, 20),
              '{"id": 2020, "closed": true}',
              ...records(2_021, 19),
            ]);
          isWalked ||= seconds === 86_400 && start > 0;
        },
      },
    );
    const stream = newStream();
    await runOnce({ server, source, stream, since: whole, pageLength: 100, concurrency: 1 });
    expect(
      source.asked.some(
        ({ from, to }) =>
          from.startsWith(edited) && to.startsWith(edited) && !to.endsWith('23:59:59'),
      ),
    ).toBe(true);
    expect(await server.query("select from daywalk.learned where fact = 'cut_otherwise'")).toEqual(
      [],
    );

    const other = new ImaginedSource({ [whole]: records(1_000, 4) }, { at: () => 40 });
    const exporting = { server, source: other, stream: newStream(), since: whole };
    await teach(exporting, { cut_otherwise: true, reach: 'day' });
    for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
  });

  it('has no day walked again that is pruned, or that its source has forgotten', async () => {
    const [pruned = '', gone = '', other = ''] = closedDays(3);
    const lists = {
      [pruned]: records(1_000, 4),
      [gone]: records(2_000, 5),
      [other]: records(3_000, 6),
    };
    const source = new ImaginedSource(lists);
    const exporting = { server, source, stream: newStream(), since: pruned };
    await runOnce(exporting);
    await server.query(
      `insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
       select stream_id, $1::date, 'day', '{}', 1, 4, 1 from daywalk.streams`,
      [pruned],
    );
    await server.query('update daywalk.days set retired_since = now() where day = $1::date', [
      gone,
    ]);
    await teach(exporting, { cut_otherwise: true });
    await runOnce(exporting);
    expect(
      await server.query(
        "select day::text, state, proof ->> 'kind' as kind from daywalk.windows where kind = 'day' order by day",
      ),
    ).toEqual([
      { day: pruned, state: 'complete', kind: 'probe' },
      { day: gone, state: 'complete', kind: 'probe' },
      { day: other, state: 'complete', kind: 'halves' },
    ]);
  });

  it.each([
    ['', false],
    [', when superseded walks were pruned', true],
  ])(
    'is looked at by its halves, too, which alone may show what comes late%s',
    async (_, pruned) => {
      const [whole = '', part = ''] = closedDays(2);
      const early = records(3_000, 150).filter((record) => secondOf(record) < 20_000);
      const lists = { [whole]: records(1_000, 61), [part]: early };
      const isLate = (record: string) => idOf(record) >= 5_000;
      const source = new ImaginedSource(lists, {
        arrange: (list, _, request) =>
          secondsOf(request) > 43_200 ? list.filter((record) => !isLate(record)) : list,
      });
      const exporting = {
        server,
        source,
        stream: newStream(),
        since: whole,
        pageLength: 100,
        recheckDays: 7,
      };
      await teach(exporting, { cut_otherwise: true });
      for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
      if (pruned) {
        const database = sharedDatabase(server);
        const { signal } = new AbortController();
        const limits = [{ stream: exporting.stream.name, olderThanMs: 0 }];
        const plan = await planPruning(database, { kind: 'superseded', limits, exported: null });
        expect((await prune(database, 'superseded', plan, signal)).days.length).toBeGreaterThan(0);
      }
      for (const [index, day] of [whole, part].entries()) {
        const late = records(5_000 + index, 1);
        source.lists.set(`${day} 00:00:00`, [...(lists[day] ?? []), ...late]);
      }
      await server.query(
        'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
      );
      for (const { state } of (await exported(exporting, 2)).values())
        expect(state).toBe('complete');
    },
  );

  it('has days walked again that were believed by their size', async () => {
    const [third = '', whole = '', part = ''] = closedDays(3);
    const isLate = (record: string) => secondOf(record) >= 43_200;
    const lists = {
      [third]: records(1_000, 150),
      [whole]: records(2_000, 120).filter(isLate),
      [part]: records(3_000, 57),
    };
    const source = new ImaginedSource(lists, {
      totals: 'exact',
      arrange: (list, _, request) => (secondsOf(request) > 43_200 ? list.filter(isLate) : list),
    });
    const exporting = { server, source, stream: newStream(), pageLength: 200 };
    await runOnce({ ...exporting, since: whole });
    const results = await exported({ ...exporting, since: third });
    for (const [day, list] of Object.entries(lists))
      expect(results.get(day)).toMatchObject({ state: 'complete', published: [...list].sort() });
  });

  /** At most 20 of each of three shards; before 9,000 most records are in one of them. */
  const byShard: Habits['arrange'] = (list) =>
    kept(20, (id) => (id < 9_000 && id % 10 < 7 ? 0 : id % 3))(list);

  it.each(andAtNight(['exact'], ['none']))('also the longest of all, totals %s', async (totals) => {
    const [third = '', whole = '', part = ''] = closedDays(3);
    const lists = {
      [third]: records(9_000, 41),
      [whole]: records(2_000, 33),
      [part]: records(3_000, 150),
    };
    const source = new ImaginedSource(lists, { totals, arrange: byShard });
    const exporting = { server, source, stream: newStream(), since: third, pageLength: 100 };
    for (const { state } of (await exported(exporting, 3)).values()) expect(state).toBe('complete');
  });

  it('has days walked again by the next process, where one was killed before', async () => {
    const [third = '', whole = '', part = ''] = closedDays(3);
    const lists = {
      [third]: records(9_000, 41),
      [whole]: records(2_000, 33),
      [part]: Array.from({ length: 40 }, (_, index) => `{"id": ${4_000 + index * 10}}`),
    };
    const source = new ImaginedSource(lists, { arrange: byShard });
    const exporting = { server, source, stream: newStream(), since: third, pageLength: 100 };
    let killed = false;
    const gate: Gate = async (sql, act) => {
      killed ||= sql?.includes("proof ->> 'kind' in ('empty'") === true;
      if (killed) throw new Error('killed');
      return act();
    };
    await runOnce({ ...exporting, gate }).catch(() => {});
    expect(killed).toBe(true);
    await expireLeases(server);
    for (const { state } of (await exported(exporting, 3)).values()) expect(state).toBe('complete');
  });
});
