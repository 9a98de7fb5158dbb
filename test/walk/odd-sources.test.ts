/** Sources that do not page as they should: a named failure in bounded requests, never a loop and never a loss (docs/completeness.md). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RefusedError, RequestError, UnavailableError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { addDays } from '../../src/plan/days.ts';
import { around } from '../../src/plan/split.ts';
import { forbidChanges } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { clear, records } from '../support/store.ts';
import {
  closedDays,
  complaints,
  type Exporting,
  exported,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
  teach,
  type WindowResult,
} from './exporting.ts';
import {
  type Habits,
  ImaginedSource,
  idOf,
  pagesByNumber,
  pagesInstead,
  pagesUpTo,
} from './imagined-source.ts';
import { type Gate, Killed } from './perils.ts';

let server: TestDatabase;
const [day = ''] = closedDays(1);

beforeAll(async () => {
  server = await createTestDatabase();
  await forbidChanges(server);
});
beforeEach(() => clear(server));

/** Exports one day with these records from a source with these habits. */
async function exportDay(
  list: readonly string[],
  habits: Habits,
  change: Partial<Exporting> = {},
): Promise<WindowResult & { requests: number }> {
  const source = new ImaginedSource({ [day]: list }, habits);
  const exporting = { server, source, stream: newStream(), since: day, pageLength: 4, ...change };
  await runOnce(exporting);
  expect(await complaints(server, source, exporting.stream)).toEqual([]);
  const result = (await readResults(server, exporting.stream)).get(day);
  if (result === undefined) throw new Error('no window');
  return { ...result, requests: source.asked.length };
}

const same = (count: number) => Array.from({ length: count }, () => '{"id": 7}');

describe('a source that tells of an error with 200', () => {
  it('is believed: its empty list is no page', async () => {
    const wrap: Habits['wrap'] = (list, total, { start }) =>
      start < 4
        ? `{"total":${total},"data":[${list.join(',')}]}`
        : `{"error":"two shards are down","total":${total},"data":[]}`;
    const result = await exportDay(records(1, 10), { totals: 'exact', wrap });
    // As it comes only so deep in a list, parts that are shorter are whole.
    expect(result).toMatchObject({ state: 'complete', published: records(1, 10).sort() });
    expect(result.windows).toBeGreaterThan(1);
  });
});

describe('what a source tells beside its list', () => {
  it.each(
    andAtNight<[string, boolean, string]>(
      [
        ['events per level', false, '"errors":3,"warnings":2'],
        ['a code of success in each answer', true, '"code":10000,"msg":"success"'],
      ],
      [
        ['log-ins', false, '"succeeded":7,"failed":5'],
        ['errors in meta', false, '"meta":{"errors":3}'],
      ],
    ),
  )('is no failure: %s', async (_, always, keys) => {
    const wrap: Habits['wrap'] = (list, total) =>
      `{"total":${total},${always || list.length > 0 ? `${keys},` : ''}"data":[${list.join(',')}]}`;
    const result = await exportDay(records(1, 12), { totals: 'exact', wrap });
    expect(result).toMatchObject({ state: 'complete', published: records(1, 12).sort() });
    expect(await server.query('select from daywalk.windows where last_error is not null')).toEqual(
      [],
    );
  });
});

describe('a stream that never showed a record', () => {
  type Wrap = NonNullable<Habits['wrap']>;
  const wrap: Wrap = (list, total) =>
    `{"status":"ok","total":${total},"data":[${list.join(',')}]${list.length > 0 ? '' : ',"note":"no match"'}}`;
  const failing: Habits['wrap'] = () =>
    '{"status":"ok","total":0,"data":[],"note":"index is away"}';

  it.each<[string, Wrap, string]>([
    ['is empty in the words in which another stream is', wrap, 'complete'],
    ['is not in other words', failing, 'failed'],
  ])('%s', async (_, silent, state) => {
    const since = closedDays(2)[0] ?? '';
    const talking = new ImaginedSource({ [since]: records(1, 12) }, { totals: 'exact', wrap });
    const events = { server, source: talking, stream: newStream(), since, recheckDays: 7 };
    const empty = new ImaginedSource({}, { totals: 'exact', wrap: silent });
    const alerts = { ...events, source: empty, stream: newStream() };
    for (let run = 0; run < 3; run += 1) {
      await runOnce(events);
      await runOnce(alerts);
      await letTimePass(server, '25 hours');
    }
    const results = [...(await readResults(server, alerts.stream)).values()];
    expect(results.map((result) => result.state)).toEqual([state, state]);
  });

  it('is empty at once in the frame of another stream that has records', async () => {
    const same: Wrap = (list, total) =>
      `{"status":"ok","total":${total},"data":[${list.join(',')}]}`;
    const lists = { [day]: records(1, 12) };
    const talking = new ImaginedSource(lists, { totals: 'exact', wrap: same });
    const events = { server, source: talking, stream: newStream(), since: day };
    await runOnce(events);
    expect(await exportDay([], { totals: 'exact', wrap: same })).toMatchObject({
      state: 'complete',
      published: [],
    });
  });
});

describe('a source without totals that stops in the middle without a word', () => {
  it.each(andAtNight([23], [40]))('after %i records: its halves tell', async (cap) => {
    const result = await exportDay(records(1, 60), { arrange: (list) => list.slice(0, cap) });
    expect(result.state).toBe('complete');
    expect(result.published).toEqual(records(1, 60).sort());
    expect(result.windows).toBeGreaterThan(1);
  });
});

describe('a source that ignores start', () => {
  it.each(['none', 'exact', 'page'] as const)('fails by that name, totals %s', async (totals) => {
    const result = await exportDay(records(1, 10), { startIgnored: true, totals });
    expect(result.state).toBe('failed');
    expect(result.lastError).toMatch(
      /cannot be paged|another record than the last|does not begin with that record|pages by number are asked for/,
    );
    expect(result.requests).toBeLessThan(20);
    expect(result.published).toEqual([]);
  });

  it('completes where everything fits on one page', async () => {
    const result = await exportDay(records(1, 3), { startIgnored: true, totals: 'exact' });
    expect(result).toMatchObject({
      state: result.state,
      published: result.state === 'complete' ? records(1, 3) : [],
    });
    expect(result.requests).toBeLessThan(20);
  });
});

describe('a length that is refused', () => {
  it('once is not remembered: equal records on pages of two stay provable', async () => {
    const list = ['{"id": 2}', '{"id": 2}', '{"id": 1}'];
    const before: Habits['before'] = (_, __, number) => {
      if (number === 1) throw new RequestError(400, 'length is too large');
    };
    const result = await exportDay(list, { before }, { pageLength: 2 });
    expect(result).toMatchObject({ state: 'complete', published: [...list].sort() });
    expect(await server.query(`select from daywalk.learned where fact = 'page_length'`)).toEqual(
      [],
    );
  });

  it('is not taught by a moment in which a page tells of a failure, where what lies behind the end is refused', async () => {
    let failing = 3;
    const before: Habits['before'] = (source, request) => {
      if (request.start > 0 && request.start >= source.within(request).length)
        throw new RequestError(400, 'no such page');
    };
    const wrap: Habits['wrap'] = (list, _, { length }) => {
      if (length < 50 || failing === 0) return `{"data":[${list.join(',')}]}`;
      failing -= 1;
      return '{"_shards":{"failed":1},"data":[]}';
    };
    const result = await exportDay(records(1, 30), { before, wrap }, { pageLength: 50 });
    expect(result).toMatchObject({ state: 'complete' });
    expect(failing).toBe(0);
    expect(await server.query("select from daywalk.learned where fact = 'page_length'")).toEqual(
      [],
    );
  });

  it('is not taught where a source refuses every other request', async () => {
    const before: Habits['before'] = (_, __, number) => {
      if (number % 2 === 1) throw new RequestError(400, 'busy');
    };
    await exportDay(records(1, 9), { before }, { pageLength: 7 });
    expect(await server.query("select from daywalk.learned where fact = 'page_length'")).toEqual(
      [],
    );
  });

  it('is learned with the one that works, and the one that did not', async () => {
    const before: Habits['before'] = (_, { length }) => {
      if (length > 3) throw new RequestError(400, 'at most 3');
    };
    const result = await exportDay(records(1, 9), { totals: 'exact', before }, { pageLength: 7 });
    expect(result).toMatchObject({ state: 'complete', walks: 1 });
    expect(
      await server.query(
        "select value::int, evidence from daywalk.learned where fact = 'page_length'",
      ),
    ).toEqual([{ value: 3, evidence: '7 was too long: at most 3' }]);
  });
});

describe('a failure after a length that was refused', () => {
  it.each([
    ['a refused key', new RefusedError(401, 'the key was refused')],
    ['an API that is away', new UnavailableError('api', 'the API is away')],
  ])('stops the run as ever: %s', async (_, error) => {
    const before: Habits['before'] = (__, { length }, number) => {
      if (number === 1) throw new RequestError(400, `${length} is too long`);
      throw error;
    };
    await expect(exportDay(records(1, 3), { before })).rejects.toThrow(error);
  });
});

describe('a page in depth that is refused', () => {
  it('by a 404 of the moment is no limit: the window is walked again', async () => {
    let left = 1;
    const before: Habits['before'] = (_, { start }) => {
      if (start > 5 && start < 1_000_000 && left-- > 0) throw new RequestError(404, 'gateway');
    };
    const habits: Habits = { totals: 'exact', before };
    const result = await exportDay(records(1, 20), habits, { aheadBytes: 0 });
    expect(result).toMatchObject({ state: 'complete', windows: 1 });
    expect(await server.query("select from daywalk.learned where fact = 'offset_cap'")).toEqual([]);
  });

  const refusing = (refusals: number): Habits => {
    let left = refusals;
    return {
      totals: 'exact',
      before: (_, request) => {
        if (request.start > 5 && request.start < 1_000_000 && left-- > 0)
          throw new UnavailableError('api', 'the API is away');
      },
    };
  };

  it('once is no limit: the walk goes on', async () => {
    const result = await exportDay(records(1, 20), refusing(1));
    expect(result).toMatchObject({ state: 'complete', windows: 1 });
    expect(await server.query("select from daywalk.learned where fact = 'offset_cap'")).toEqual([]);
  });

  it('twice is one, until a window would fail for it', async () => {
    // All in one second and level, so that no split helps.
    const result = await exportDay(same(9), { ...refusing(2), at: () => 60 });
    expect(result).toMatchObject({ state: 'complete', published: same(9) });
    expect(await server.query("select from daywalk.learned where fact = 'offset_cap'")).toEqual([]);
  });

  it('always is one, and a window that can be split no further fails', async () => {
    const result = await exportDay(same(9), { ...refusing(1_000), at: () => 60 });
    expect(result).toMatchObject({ state: 'failed', published: [] });
    expect(result.lastError).toMatch(
      /paging goes no deeper|too short to be split further|fails while other questions are answered|can be split by level only/,
    );
    expect(result.requests).toBeLessThan(200);
  });
});

describe('identical records', () => {
  it('on identical pages are no sign of a source that ignores start', async () => {
    const result = await exportDay(same(9), { totals: 'exact' });
    expect(result).toMatchObject({ state: 'complete', walks: 2, published: same(9) });
    expect(result.proof).toMatchObject({ records: 9 });
  });

  it('of ten and more in one second are not believed, because a cap would look the same', async () => {
    const result = await exportDay(same(12), { totals: 'exact' });
    expect(result).toMatchObject({ state: 'failed', published: [] });
    expect(result.lastError).toMatch(/one second|cannot be halved/);
    expect(result.requests).toBeLessThan(500);
  });

  it.each(
    andAtNight(
      [
        ['none', 'probe', 'complete', (list: readonly string[]) => list],
        ['none', undefined, 'failed', (list: readonly string[]) => list.slice(0, 50)],
      ],
      [
        ['exact', 'total', 'complete', (list: readonly string[]) => list],
        // Ten of them have no level.
        [
          'none',
          'probe',
          'complete',
          (list: readonly string[], byLevel: boolean) => (byLevel ? list.slice(0, 40) : list),
        ],
      ],
    ),
  )(
    'of ten and more in one second are believed where a longer list is shown, totals %s: %s',
    async (totals, kind, state, arrange) => {
      const before = addDays(day, -1);
      let isCapped = false;
      const source = new ImaginedSource(
        { [before]: records(100, 57), [day]: same(50) },
        {
          totals,
          at: (record) =>
            record === '{"id": 7}' ? 60 : 600 * (Number(/\d+/.exec(record)?.[0]) - 90),
          arrange: (list, _, { filters }) =>
            isCapped
              ? arrange(list, 'rule_level_from' in filters || 'rule_level_to' in filters)
              : list,
        },
      );
      const exporting = { server, source, stream: newStream(), pageLength: 20 };
      await runOnce({ ...exporting, since: before, settleMs: SETTLE_MS + 86_400_000 });
      isCapped = true;
      await runOnce({ ...exporting, since: before });
      const results = await readResults(server, exporting.stream);
      expect(results.get(before)?.state).toBe('complete');
      expect(results.get(day)).toMatchObject({
        state,
        ...(kind && { proof: { kind, records: 50 } }),
      });
    },
  );

  it('of ten and more in one second are not believed where lists are cut otherwise', async () => {
    const before = addDays(day, -1);
    const at = (record: string) =>
      record === '{"id": 7}' ? 60 : 600 * (Number(/\d+/.exec(record)?.[0]) - 90);
    const source = new ImaginedSource({ [before]: records(100, 57), [day]: same(50) }, { at });
    const exporting = { server, source, stream: newStream(), pageLength: 20 };
    await runOnce({ ...exporting, since: before, settleMs: SETTLE_MS + 86_400_000 });
    await server.query(
      `insert into daywalk.learned (stream_id, fact, value, evidence)
       select stream_id, 'cut_otherwise', 'true', 'another day' from daywalk.streams where name = $1`,
      [exporting.stream.name],
    );
    await runOnce({ ...exporting, since: before });
    const result = (await readResults(server, exporting.stream)).get(day);
    expect(result?.state).toBe('failed');
    expect(result?.lastError).toMatch(/one second|cannot be halved/);
  });

  it('on one page need no second walk', async () => {
    const result = await exportDay([...same(3), ...records(10, 5)], { totals: 'exact' });
    expect(result).toMatchObject({ state: 'complete', walks: 1 });
  });

  it('on two pages are kept, both, when two walks with other boundaries agree', async () => {
    const list = [
      '{"id": 1}',
      '{"id": 2}',
      '{"id": 3}',
      '{"id": 9}',
      '{"id": 9}',
      '{"id": 4}',
      '{"id": 5}',
      '{"id": 9}',
    ];
    const result = await exportDay(list, { totals: 'none' });
    expect(result).toMatchObject({ state: 'complete', walks: 2, published: [...list].sort() });
    expect(result.proof).toMatchObject({ records: 8 });
    const walks = await server.query(
      `select walk_id::int, outcome, page_length from daywalk.walks where role = 'whole' order by walk_id`,
    );
    expect(walks).toMatchObject([{ outcome: 'ended' }, { outcome: 'proven' }]);
    expect(walks[0]?.page_length).not.toBe(walks[1]?.page_length);
  });

  it('that end up on one page of the second walk are kept, too', async () => {
    // With pages of 4 the two stand on pages 1 and 2; with pages of 3 they share one.
    const list = [...records(1, 3), '{"id": 9}', '{"id": 9}', ...records(11, 3)];
    const result = await exportDay(list, { totals: 'none' });
    expect(result).toMatchObject({ state: 'complete', published: [...list].sort() });
    expect(result.walks).toBeLessThanOrEqual(3);
  });
});

describe('an order that is not stable', () => {
  /** Every request sees the list turned by another number of places. */
  const turned: Habits['arrange'] = (list, number) => {
    const by = (number * 5) % list.length;
    return [...list.slice(by), ...list.slice(0, by)];
  };

  it.each(andAtNight(['none'], ['exact']))(
    'never completes with a loss, totals %s',
    async (totals) => {
      // Within one page no order hides a record, so windows of one page may well be complete; exportDay sees that they are.
      const result = await exportDay(records(1, 11), { arrange: turned, totals });
      expect(result.windows).toBeGreaterThan(1);
      if (result.state === 'complete') expect(result.published).toEqual(records(1, 11).sort());
      else
        expect(result.lastError).toMatch(
          /two pages|another record than the last|does not begin with that record|do not settle|broke off before the end/,
        );
      expect(result.requests).toBeLessThan(131);
    },
  );

  it('that swaps two neighbours at a boundary is found by the record that comes twice', async () => {
    const list = records(1, 8);
    const swapped: Habits['arrange'] = (whole, number) =>
      number === 2
        ? [
            ...whole.slice(0, 3),
            ...[whole[4], whole[3]].filter((r) => r !== undefined),
            ...whole.slice(5),
          ]
        : whole;
    const result = await exportDay(list, { arrange: swapped, totals: 'exact' });
    expect(result).toMatchObject({ state: 'complete', walks: 2, published: [...list].sort() });
  });

  it('that depends on the address alone is not proven by two walks with the same boundaries', async () => {
    // A balancer that picks the replica by the URL: from start 2 on, every walk sees the list turned round. Pages of
    // two cannot be cut in more than one other way, so the second and the third walk ask exactly the same.
    const byAddress: Habits['arrange'] = (list, _, request) =>
      request.start === 2 ? list.toReversed() : list;
    const result = await exportDay(records(1, 4), { arrange: byAddress }, { pageLength: 2 });
    // Two walks that are alike prove nothing; windows of one page do.
    if (result.state === 'complete') expect(result.windows).toBeGreaterThan(1);
  });
});

describe('totals', () => {
  it('larger than what comes are never overruled by a probe', async () => {
    const result = await exportDay(records(1, 7), { totals: 'beyond' });
    expect(result.state).toBe('failed');
    expect(result.lastError).toMatch(
      /told a total of \d, and \d records are stored|different records/,
    );
    expect(result.requests).toBeLessThan(1_200);
  });

  it.each(
    andAtNight<[string, (records: number) => string]>(
      [['null', () => 'null']],
      [['text with commas', (count) => `"${count.toLocaleString('en-US')}"`]],
    ),
  )('that are %s above a thousand do not keep a day from being complete', async (_, large) => {
    const [first = '', second = ''] = closedDays(2);
    const source: ImaginedSource = new ImaginedSource(
      { [first]: records(0, 700), [second]: records(2_000, 1_234) },
      {
        wrap: (list, __, request) => {
          const count = source.within(request).length;
          return `{"total":${count > 1_000 ? large(count) : count},"data":[${list.join(',')}]}`;
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 300 };
    await runOnce(exporting);
    const results = await readResults(server, exporting.stream);
    expect(results.get(second)).toMatchObject({ state: 'complete' });
    expect(results.get(second)?.published.length).toBe(1_234);
  });

  it('that are null above 30 do not keep a day from being complete of which a part had less at first', async () => {
    const [first = '', second = ''] = closedDays(2);
    let isDown = true;
    const source: ImaginedSource = new ImaginedSource(
      { [first]: records(0, 24), [second]: records(2_000, 77) },
      {
        arrange: (list) => (isDown ? list.filter((record) => idOf(record) % 5 !== 1) : list),
        wrap: (list, __, request) => {
          const count = source
            .within(request)
            .filter((record) => !isDown || idOf(record) % 5 !== 1).length;
          return `{"total":${count > 30 ? null : count},"data":[${list.join(',')}]}`;
        },
      },
    );
    const exporting: Exporting = {
      ...{ server, source, stream: newStream(), since: first, pageLength: 20, recheckDays: 7 },
    };
    await runOnce(exporting);
    isDown = false;
    for (let run = 0; run < 4; run += 1) {
      await letTimePass(server, '25 hours');
      await runOnce(exporting);
    }
    const { state, published, lastError } =
      (await readResults(server, exporting.stream)).get(second) ?? {};
    expect({ state, lastError, count: published?.length }).toEqual({
      state: 'complete',
      lastError: null,
      count: 77,
    });
  });

  it('of the page alone are no totals of the window', async () => {
    expect(await exportDay(records(1, 10), { totals: 'page' })).toMatchObject({
      state: 'complete',
      walks: 1,
    });
  });

  it.each(andAtNight([3], [1, 9]))(
    'of the page alone show no change when the day and its cuts are looked at again, %i records',
    async (count) => {
      const source = new ImaginedSource({ [day]: records(1, count) }, { totals: 'page' });
      const exporting = { server, source, stream: newStream(), since: day, recheckDays: 7 };
      await runOnce({ ...exporting, pageLength: 4 });
      await server.query('update daywalk.windows set due_at = clock_timestamp()');
      const report = await runOnce({ ...exporting, pageLength: 4 });
      expect(report).toMatchObject({ windowsUnchanged: 1, windowsComplete: 0, pages: 0 });
    },
  );

  it('smaller than what comes are lower bounds, and its halves prove', async () => {
    const result = await exportDay(records(1, 10), { totals: 'bound' });
    expect(result).toMatchObject({ state: 'complete', proof: { kind: 'halves', records: 10 } });
  });

  it('that say more than an empty first page fail', async () => {
    const result = await exportDay([], { totals: 'beyond' });
    expect(result.state).toBe('failed');
    expect(result.lastError).toMatch(
      /in words not seen before|in other words|told a total of 2, and 0 records are stored/,
    );
  });

  it('equal to a round cap are believed only when both halves of the window have been walked', async () => {
    const result = await exportDay(records(1, 1000), { totals: 'exact' }, { pageLength: 300 });
    expect(result).toMatchObject({
      state: 'complete',
      published: records(1, 1000).sort(),
      proof: { kind: 'halves', rule: 'C6' },
    });
  });
});

it('an empty day whose failure is noted only when another day has shown records is walked again in the same run', async () => {
  const [first = '', second = ''] = closedDays(2);
  const wrap: NonNullable<Habits['wrap']> = (list) =>
    list.length === 0 ? '{"message":"no events"}' : `{"data":[${list.join(',')}]}`;
  let shown = () => {};
  const isShown = new Promise<void>((resolve) => {
    shown = resolve;
  });
  let ofSecond = 0;
  const source = new ImaginedSource(
    { [first]: [], [second]: records(1, 4) },
    {
      wrap,
      before: (_, { from }) => {
        // When it is asked again what came before was heard.
        if (from.startsWith(second)) ofSecond += 1;
        if (ofSecond === 3) shown();
      },
    },
  );
  const gate: Gate = async (statement, act) => {
    if (statement?.includes("set state = 'failed'")) await isShown;
    return act();
  };
  const exporting = { server, source, stream: newStream(), since: first, gate, concurrency: 2 };
  await runOnce(exporting);
  for (const { state } of (await readResults(server, exporting.stream)).values())
    expect(state).toBe('complete');
});

describe('pages that are counted by number', () => {
  it('are found out where the first records are equal', async () => {
    const list = [...Array.from({ length: 2 }, () => '{"id": 0}'), ...records(1, 9)];
    const at = (record: string) => 7_000 * JSON.parse(record).id;
    const result = await exportDay(list, { arrange: pagesByNumber, at });
    expect(result).toMatchObject({ state: 'complete', published: [...list].sort() });
    // Twice: with other page boundaries the list is the same.
    expect(result.requests).toBeLessThan(95);
  });

  it('come to an end where both records are equal, and each page shows them again', async () => {
    const list = ['{"id": 4}', '{"id": 4}'];
    let total = 0;
    const arrange: Habits['arrange'] = (whole, ...asked) => {
      total = whole.length;
      return pagesByNumber(whole, ...asked);
    };
    const wrap: Habits['wrap'] = (page) => `{"total":${total},"data":[${page.join(',')}]}`;
    const result = await exportDay(list, { arrange, wrap });
    expect(result).toMatchObject({ state: 'complete', published: list });
    expect(result.requests).toBeLessThan(1_000);
  });

  it('are found out where a full first page tells as many as it shows, and the next one begins with its last record', async () => {
    const list = records(1, 33);
    const wrap: Habits['wrap'] = (page, total) =>
      `{"total":${Math.min(total ?? 0, 10)},"data":[${page.join(',')}]}`;
    const result = await exportDay(
      list,
      {
        totals: 'exact',
        wrap,
        arrange: pagesByNumber,
      },
      { pageLength: 10 },
    );
    expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
    expect(result.requests).toBeLessThan(80);
  });
});

describe('pages that are counted by number, and made longer where fewer records are asked for than ten', () => {
  class Longer extends ImaginedSource {
    override answer(request: PageRequest, number: number): string {
      const length = Math.max(10, request.length);
      const start = Math.floor(request.start / length) * length;
      return super.answer({ ...request, start, length }, number);
    }
  }

  it.each(
    andAtNight(
      [[11, 'none']],
      [
        [1, 'none'],
        [1, 'exact'],
        [11, 'exact'],
      ],
    ),
  )(
    'show none of %i records twice, and are not asked for ever, totals %s',
    async (count, totals) => {
      const source = new Longer({ [day]: records(1, count) }, { totals });
      const stopped = new AbortController();
      const fetchPage: ImaginedSource['fetchPage'] = (...asked) => {
        if (source.asked.length > 400) stopped.abort(new Error('asked for ever'));
        return source.fetchPage(...asked);
      };
      const exporting = { server, source: Object.assign(Object.create(source), { fetchPage }) };
      const stream = newStream();
      const { signal } = stopped;
      await runOnce({ ...exporting, stream, since: day, pageLength: 20, signal });
      expect(await complaints(server, source, stream)).toEqual([]);
      expect(source.asked.length).toBeLessThan(200);
    },
  );
});

describe('pages that are counted by number, and the last one for all that is behind it', () => {
  it.each(andAtNight([5], [75]))('end with it, %i records', async (count) => {
    const list = records(0, count);
    const source: ImaginedSource = new ImaginedSource(
      { [day]: list },
      { totals: 'exact', wrap: pagesInstead(() => source, Math.min) },
    );
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 30 };
    await runOnce(exporting);
    const result = (await readResults(server, exporting.stream)).get(day);
    expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
    expect(source.asked.length).toBeLessThan(70);
  });
});

const WRAPPING = [
  ['the last one', 7, 'none'],
  ['the first one', 7, 'none'],
  ['the first one', 42, 'none'],
  ['the first one', 42, 'exact'],
] as const;
const WRAPPING_AT_NIGHT = [
  ['the last one', 42, 'none'],
  ['the first one', 20, 'none'],
  ['the first one', 7, 'exact'],
] as const;

it.each(
  andAtNight<readonly ['the last one' | 'the first one', number, 'none' | 'exact']>(
    WRAPPING,
    WRAPPING_AT_NIGHT,
  ),
)(
  'pages that are counted by number, and %s for all that is behind a list of %i, end with it, totals %s',
  async (which, count, totals) => {
    const list = records(1, count);
    const pageOf = (asked: number, last: number) =>
      asked <= last ? asked : which === 'the last one' ? last : 0;
    const source: ImaginedSource = new ImaginedSource(
      { [day]: list },
      { totals, wrap: pagesInstead(() => source, pageOf) },
    );
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 10 };
    const result = (await exported(exporting)).get(day);
    expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
    expect(source.asked.length).toBeLessThan(250);
  },
);

it('pages that are counted by number, and shorter than is asked for, are not asked for the first one at length', async () => {
  const list = records(1, 42);
  const source = new ImaginedSource({ [day]: list }, { arrange: pagesUpTo(10) });
  const exporting = { server, source, stream: newStream(), since: day, pageLength: 100 };
  const result = (await exported(exporting)).get(day);
  expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
  // 58 before anything was asked about what begins anew, in three walks.
  expect(source.asked.length).toBeLessThan(65);
});

it.each([
  [1, ''],
  [40, ''],
  [1, ', also where it counted from 0 before'],
  [5, ', also where it counted from 0 before'],
])('a source that counts from 1 shows none of %i records twice%s', async (count, before) => {
  const arrange: Habits['arrange'] = (all, _, { start }) =>
    start === 0 ? all : [...Array<string>(1).fill(''), ...all];
  const source = new ImaginedSource({ [day]: records(0, count) }, { arrange });
  const exporting = { server, source, stream: newStream(), since: day, pageLength: 30 };
  if (before !== '') await teach(exporting, { paging: 'offset' });
  const result = (await exported(exporting)).get(day);
  expect(result).toMatchObject({ state: 'failed', published: [] });
  expect(result?.lastError).toMatch(/counts from 1/);
});

it('a source that shows its last records behind its end, and tells no totals, has a list of one record end with it', async () => {
  // One of them stands alone around noon, where the day is cut.
  const list = records(0, 40);
  const at = (record: string) => (idOf(record) === 0 ? 43_235 : 2_000 * (idOf(record) + 1));
  const arrange: Habits['arrange'] = (all, _, { start, length }) =>
    start < all.length ? all : [...Array<string>(start).fill(''), ...all.slice(-length)];
  const result = await exportDay(list, { arrange, at }, { pageLength: 30 });
  expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
});

it('pages that are counted by number, and tell themselves as the total, do not end where two records trade places', async () => {
  const list = records(1, 40);
  const result = await exportDay(
    list,
    {
      clamp: 7,
      totals: 'page',
      arrange: (whole, number, asked) => {
        const shown = pagesUpTo(7)(whole, number, asked);
        // The seventh and the eighth have one time, and the seventh comes for either.
        const isEighth = asked.start === 7 && asked.length === 1;
        return isEighth ? [...shown.slice(0, 7), ...whole.slice(6, 7)] : shown;
      },
    },
    { pageLength: 30 },
  );
  expect(result.state === 'failed' || result.published.length === list.length).toBe(true);
});

describe('pages that are counted by number, and refused from a depth on', () => {
  const refusing = (isDeep: (asked: PageRequest) => boolean): Habits => ({
    arrange: pagesByNumber,
    before: (_, asked) => {
      if (isDeep(asked)) throw new RequestError(400, 'the result window is too large');
    },
  });

  it('are asked for in smaller windows, also where the refusal comes exactly behind a page', async () => {
    const list = records(1, 45);
    const result = await exportDay(
      list,
      refusing(({ start, length }) => start + length > 20),
    );
    expect(result).toMatchObject({ state: 'complete', published: [...list].sort() });
  });

  it('are not asked for in ever shorter ones, which reach no deeper', async () => {
    const list = records(1, 140);
    const habits = refusing(({ start, length }) => start + length > 80);
    const result = await exportDay(list, habits, { pageLength: 16 });
    expect(result).toMatchObject({ state: 'complete', published: [...list].sort() });
    expect(result.requests).toBeLessThan(180);
    expect(await server.query("select from daywalk.learned where fact = 'page_length'")).toEqual(
      [],
    );
  });

  it('are asked for in shorter ones where one is refused for what it holds', async () => {
    const list = Array.from({ length: 38 }, (_, id) => `{"id": ${id}}`);
    const before: Habits['before'] = (source, { start, length, ...asked }) => {
      const first = Math.floor(start / length) * length;
      const page = source.within(asked).slice(first, first + length);
      if (page.filter((one) => idOf(one) >= 20 && idOf(one) < 24).length > 2)
        throw new RequestError(413, 'the answer is too large');
    };
    // Within one second, which is not split.
    const habits = { arrange: pagesByNumber, before, at: () => 40_000 };
    const result = await exportDay(list, habits, { pageLength: 8 });
    expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
    expect(await server.query("select from daywalk.learned where fact = 'offset_cap'")).toEqual([]);
  });

  it('are split where the page of their last record begins less deep than that one stands', async () => {
    const list = records(1, 65);
    const habits = refusing(({ start }) => start > 63);
    const result = await exportDay(list, habits, { pageLength: 7 });
    expect(result).toMatchObject({ state: 'complete', published: [...list].sort() });
  });
});

it.each(['none', 'exact'] as const)(
  'a list of full pages that are counted by number is whole where what is behind it is refused, totals %s',
  async (totals) => {
    const [before = ''] = closedDays(2);
    const habits: Habits = {
      totals,
      // Within one second, which is not split.
      at: () => 40_000,
      arrange: pagesByNumber,
      wrap: (page, _, asked) => {
        const count = source.within(asked).length;
        const total = totals === 'none' ? '' : `"total":${count},`;
        return `{${total}"data":[${page.join(',')}]}`;
      },
      before: (_, asked) => {
        const count = source.within(asked).length;
        const begins = Math.floor(asked.start / asked.length) * asked.length;
        if (begins > 0 && begins >= count) throw new RequestError(404, 'no such page');
      },
    };
    const lists = { [before]: records(101, 122), [day]: records(1, 12) };
    const source = new ImaginedSource(lists, habits);
    const exporting = { server, source, stream: newStream(), since: before, pageLength: 4 };
    const results = await exported(exporting);
    expect([...results.values()].map(({ state, windows }) => [state, windows])).toEqual([
      ['complete', 1],
      ['complete', 1],
    ]);
    expect(await server.query("select from daywalk.learned where fact = 'offset_cap'")).toEqual([]);
  },
);

it('a list that is counted by number does not end before a record that is refused, and shows others behind it', async () => {
  const [before = ''] = closedDays(2);
  const source: ImaginedSource = new ImaginedSource(
    { [before]: records(101, 122), [day]: records(1, 7) },
    {
      at: () => 40_000,
      arrange: pagesByNumber,
      before: (_, asked) => {
        const count = source.within(asked).length;
        const begins = Math.floor(asked.start / asked.length) * asked.length;
        const isBroken = asked.from.startsWith(day) && begins <= 4 && begins + asked.length > 4;
        if (isBroken || (begins > 0 && begins >= count))
          throw new RequestError(404, 'no such page');
      },
    },
  );
  const exporting = { server, source, stream: newStream(), since: before, pageLength: 4 };
  await teach(exporting, { paging: 'number', proven_size: 100 });
  await runOnce(exporting);
  expect((await readResults(server, exporting.stream)).get(day)?.state).not.toBe('complete');
});

describe('records that are numbered in each list', () => {
  it.each(
    andAtNight(
      [['oldest first', (list: readonly string[]) => list]],
      [['newest first', (list: readonly string[]) => list.toReversed()]],
    ),
  )('are the same in a part as in the whole, %s', async (_, arrange) => {
    const list = Array.from({ length: 26 }, (_, n) => `{"at": ${n * 3_000}, "text": "e${n}"}`);
    const at = (record: string) => JSON.parse(record).at;
    const wrap: Habits['wrap'] = (page, __, { start }) =>
      `[${page.map((record, index) => record.replace(/^\{/, `{"row":${start + index + 1},`)).join(',')}]`;
    const source = new ImaginedSource({ [day]: list }, { wrap, arrange, at });
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 4 };
    await runOnce(exporting);
    const result = (await readResults(server, exporting.stream)).get(day);
    expect(result).toMatchObject({ state: 'complete', windows: 1 });
    const texts = (shown: readonly string[]) =>
      shown.map((record) => JSON.parse(record).text).sort();
    expect(texts(result?.published ?? [])).toEqual(texts(list));
    expect(source.asked.length).toBeLessThan(150);
  });

  it.each(andAtNight([20], [7]))(
    'are the same in a part as in the whole, where pages of at most %i are counted by number',
    async (most) => {
      const list = [
        1_000,
        ...Array.from({ length: 9 }, (_, n) => 30_000 + n * n),
        50_000,
        60_000,
      ].map((at) => `{"at": ${at}}`);
      const arrange: Habits['arrange'] = (whole, _, { start, length }) => {
        const numbered = whole
          .toReversed()
          .map((record, index) => record.replace('{', `{"row":${index + 1},`));
        const size = Math.min(length, most);
        const first = Math.floor(start / size) * size;
        return [...Array(start).fill(''), ...numbered.slice(first, first + size)];
      };
      const at = (record: string) => JSON.parse(record).at;
      const source = new ImaginedSource({ [day]: list }, { arrange, at });
      const exporting = { server, source, stream: newStream(), since: day, pageLength: 20 };
      await runOnce(exporting);
      const result = (await readResults(server, exporting.stream)).get(day);
      expect(result).toMatchObject({ state: 'complete', windows: 1 });
      expect(result?.published).toHaveLength(list.length);
    },
  );
});

describe('records that tell how long ago they were', () => {
  it.each(
    andAtNight(
      [['one at midnight', ['{"at": 86399}']]],
      [
        ['one', ['{"at": 40000}']],
        ['twins', ['{"at": 40000}', '{"at": 40000}']],
      ],
    ),
  )('are shown once after every look: %s', async (_, list) => {
    let minutes = 3;
    const source = new ImaginedSource(
      { [day]: list },
      {
        at: (record) => JSON.parse(record).at,
        wrap: (page) =>
          `[${page.map((record) => record.replace('{', `{"age":"${minutes} minutes ago",`)).join(',')}]`,
      },
    );
    const exporting = { server, source, stream: newStream(), since: day, recheckDays: 7 };
    for (let run = 0; run < 3; run += 1) {
      await runOnce({ ...exporting, pageLength: 4 });
      await server.query('update daywalk.windows set due_at = clock_timestamp()');
      minutes += 61;
    }
    const result = (await readResults(server, exporting.stream)).get(day);
    expect(result?.state).toBe('complete');
    expect(result?.published).toHaveLength(list.length);
  });
});

describe('row numbers that begin anew on each page', () => {
  it.each(andAtNight(['none'], ['exact']))(
    'are no part of the records, totals %s',
    async (totals) => {
      const wrap: Habits['wrap'] = (list, total) => {
        const rows = list.map((record, n) => record.replace('{', `{"row": ${n + 1}, `));
        return `{"total":${total},"data":[${rows.join(',')}]}`;
      };
      const source = new ImaginedSource({ [day]: records(1, 40) }, { totals, wrap });
      const exporting = { server, source, stream: newStream(), since: day, pageLength: 9 };
      await runOnce(exporting);
      const result = (await readResults(server, exporting.stream)).get(day);
      expect(result).toMatchObject({ state: 'complete', published: { length: 40 } });
      expect(source.asked.length).toBeLessThan(100);
    },
  );
});

describe('row numbers that are learned after the first day', () => {
  it('do not part that day from its cut, where both days show a record', async () => {
    const [before = '', after = ''] = closedDays(2);
    const lists = {
      [before]: [100, 40_000, 86_395].map((at, id) => `{"at": ${at}, "text": "a${id}"}`),
      [after]: Array.from({ length: 26 }, (_, n) => `{"at": ${n * 3_000}, "text": "b${n}"}`),
    };
    // Windows are padded by ten seconds, and each list has numbers of its own.
    const source: ImaginedSource = new ImaginedSource(lists, {
      at: (record) => JSON.parse(record).at,
      arrange: (_, __, { from, to, filters }) =>
        source.within({ from: around(from, -10, 0).from, to: around(to, 0, 10).to, filters }),
      wrap: (page, _, { start }) =>
        `[${page.map((record, index) => record.replace('{', `{"row":${start + index + 1},`)).join(',')}]`,
    });
    const exporting = { server, source, stream: newStream(), since: before, pageLength: 30 };
    for (let run = 0; run < 2; run += 1) {
      await runOnce({ ...exporting, recheckDays: 7 });
      await server.query('update daywalk.windows set due_at = clock_timestamp()');
    }
    const results = [...(await readResults(server, exporting.stream)).values()];
    expect(results.map(({ state }) => state)).toEqual(['complete', 'complete']);
    // Each once, with whichever day shows it.
    const texts = (all: readonly string[]) => all.map((record) => JSON.parse(record).text).sort();
    expect(texts(results.flatMap(({ published }) => published))).toEqual(
      texts(Object.values(lists).flat()),
    );
  });
});

it('a day whose first page ends with what a padded window shows of the day before is none that shows the records of another', async () => {
  const [before = '', after = ''] = closedDays(2);
  const at = (record: string): number => JSON.parse(record).at;
  const of = (...seconds: number[]) => seconds.map((second) => `{"at": ${second}}`);
  const source: ImaginedSource = new ImaginedSource(
    { [before]: of(86_399), [after]: of(100, 40_000) },
    {
      at,
      arrange: (_, __, { from, to, filters }) =>
        source
          .within({ from: around(from, -1, 0).from, to: around(to, 0, 1).to, filters })
          .reverse(),
    },
  );
  const stream = newStream();
  await runOnce({ server, source, stream, since: before, pageLength: 3 });
  for (const { state, lastError } of (await readResults(server, stream)).values())
    expect({ state, lastError }).toEqual({ state: 'complete', lastError: null });
});

describe('a score that differs each time', () => {
  it.each(
    andAtNight(
      [
        ['one record, where the same question is answered from a cache', ['{"id": 7}'], true],
        ['two', ['{"id": 7}', '{"id": 3}'], false],
        ['four, of which two are equal', [3, 7, 7, 9].map((id) => `{"id": ${id}}`), false],
      ],
      [
        ['one record', ['{"id": 7}'], false],
        ['two, where the same question is answered from a cache', ['{"id": 7}', '{"id": 3}'], true],
      ],
    ),
  )('is found on days of %s', async (_, list, isCached) => {
    let asked = 0;
    const cache = new Map<string, string>();
    const wrap: Habits['wrap'] = (page, _total, request) => {
      asked += 1;
      const scored = page.map((record, n) =>
        record.replace('{', `{"score":${Math.sin(9 * asked + n)},`),
      );
      const answer = `[${scored.join(',')}]`;
      const known = isCached ? cache.get(JSON.stringify(request)) : undefined;
      cache.set(JSON.stringify(request), known ?? answer);
      return known ?? answer;
    };
    const source = new ImaginedSource({ [day]: list }, { wrap });
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 6 };
    await runOnce(exporting);
    const result = (await readResults(server, exporting.stream)).get(day);
    expect(result).toMatchObject({ state: 'complete', windows: 1 });
    expect(result?.published).toHaveLength(list.length);
    expect(source.asked.length).toBeLessThan(60);
  });
});

it('an identity is none, where records are equal but for it, and each answer shows others of them', async () => {
  const list = Array.from({ length: 30 }, (_, n) => `{"id": ${n}}`);
  const source = new ImaginedSource(
    { [day]: list },
    {
      clamp: 4,
      at: () => 3_600,
      arrange: (all, number) => [
        ...all.slice((4 * number) % 28),
        ...all.slice(0, (4 * number) % 28),
      ],
    },
  );
  const exporting = { server, source, stream: newStream(), since: day, pageLength: 6 };
  await runOnce(exporting);
  expect((await readResults(server, exporting.stream)).get(day)?.state).not.toBe('complete');
  expect(await server.query(`select from daywalk.learned where fact = 'ignored'`)).toEqual([]);
});

describe('a value that runs in some records alone, as the time that is left for an open alert', () => {
  it.each(
    andAtNight(
      [
        ['none', 1, 1],
        ['exact', 2, 2],
      ],
      [
        ['exact', 1, 1],
        ['none', 2, 1],
        ['none', 1, 2],
      ],
    ),
  )('is found, totals %s, %i of five records, %i in each', async (totals, open, values) => {
    const days = closedDays(4);
    const lists = Object.fromEntries(
      days.map((each, n) => [each, [3, 8, 1, 9, 6].map((id) => `{"id":${n * 10 + id}}`)]),
    );
    const source = new ImaginedSource(lists, {
      totals,
      arrange: (list, number) =>
        list.map((record) =>
          [6, 9].slice(0, open).includes(idOf(record) % 10)
            ? record.replace(
                '}',
                `,"sla":{"left":${86_400 - number}${values > 1 ? `,"age":${number}` : ''}}}`,
              )
            : record,
        ),
    });
    const exporting = {
      server,
      source,
      stream: newStream(),
      since: days[0] ?? '',
      recheckDays: 7,
      pageLength: 50,
    };
    await runOnce(exporting);
    const asked = source.asked.length;
    for (let look = 0; look < 3; look += 1) {
      await letTimePass(server, '25 hours');
      await runOnce(exporting);
    }
    const results = [...(await readResults(server, exporting.stream)).values()].slice(0, 4);
    expect(results.map(({ state, published }) => [state, published.length])).toEqual(
      days.map(() => ['complete', 5]),
    );
    // Before, thousands where it was the last record alone.
    expect(asked).toBeLessThan(45);
    expect(source.asked.length - asked).toBeLessThan(35);
  });
});

describe('records that come in another form each time', () => {
  const turned = (record: string) => record.replace('["pci","gdpr"]', '["gdpr","pci"]');
  const whole = (record: string) => record.replace('.0}', '}');
  const chance = (number: number, index: number) => Math.sin(number * 37 + index * 101) > 0;

  it.each(
    andAtNight<[string, string, (record: string, number: number, index: number) => string]>(
      [
        [
          'lists in any order, in some records',
          '"tags":["pci","gdpr"]',
          (r, n, k) => (k % 3 === 0 && chance(n, k) ? turned(r) : r),
        ],
        [
          'null and absent, as two nodes write them',
          '"user":null',
          (r, n) => (chance(n, 0) ? r.replace(',"user":null', '') : r),
        ],
      ],
      [
        [
          'lists in any order',
          '"tags":["pci","gdpr"]',
          (r, n, k) => (chance(n, k) ? turned(r) : r),
        ],
        ['numbers as two nodes write them', '"score":5.0', (r, n) => (chance(n, 0) ? whole(r) : r)],
        [
          'null and absent, as one node of three writes them',
          '"by":{"user":null}',
          (r, n) => (n % 3 ? r : r.replace('"user":null', '')),
        ],
        [
          'numbers as two nodes write them, in turn',
          '"score":5.0',
          (r, n) => (n % 2 ? whole(r) : r),
        ],
      ],
    ),
  )('are the same records: %s', async (_, key, rewrite) => {
    const lists = Object.fromEntries(
      closedDays(4).map((each, n) => [
        each,
        Array.from({ length: 4 + 12 * n }, (_, k) => `{"id":${n * 100 + k + 1},${key}}`),
      ]),
    );
    const source = new ImaginedSource(lists, {
      arrange: (list, number) => list.map((record, index) => rewrite(record, number, index)),
    });
    const since = closedDays(4)[0] ?? '';
    const exporting = {
      server,
      source,
      stream: newStream(),
      since,
      recheckDays: 7,
      pageLength: 50,
    };
    await runOnce(exporting);
    await letTimePass(server, '25 hours');
    await runOnce(exporting);
    const results = [...(await readResults(server, exporting.stream)).values()].slice(0, 4);
    expect(results.map(({ state, published }) => [state, published.length])).toEqual(
      Object.values(lists).map((list) => ['complete', list.length]),
    );
    // It depends on which node answers, by chance; before, thousands.
    expect(source.asked.length).toBeLessThan(600);
  });
});

describe('row numbers, where a walk lacked some records', () => {
  /** A day that shows three of its five records first; what readers see after each run. */
  async function exportTwice(
    at: (record: string) => number,
    hides: (index: number, later: boolean) => boolean,
  ) {
    const list = [5, 3, 8, 1, 9].map((id) => `{"id": ${id}}`);
    let later = false;
    const source = new ImaginedSource(
      { [day]: list },
      {
        at,
        arrange: (whole) => whole.filter((_, index) => whole.length < 5 || !hides(index, later)),
        wrap: (page, _, { start }) =>
          `[${page.map((record, index) => record.replace('{', `{"row":${start + index + 1},`)).join(',')}]`,
      },
    );
    const exporting = { server, source, stream: newStream(), since: day, recheckDays: 7 };
    const run = async () => {
      await runOnce({ ...exporting, pageLength: 30 });
      await letTimePass(server, '25 hours');
      const result = (await readResults(server, exporting.stream)).get(day);
      expect(result?.state).toBe('complete');
      return result?.published.length;
    };
    expect(await run()).toBe(3);
    later = true;
    return { run, stream: exporting.stream };
  }

  it('are found in the halves of the day as soon as it differs: each record is shown once', async () => {
    const byId = (record: string) => 9_000 * JSON.parse(record).id;
    const { run } = await exportTwice(byId, (index, later) => !later && index % 2 === 1);
    expect(await run()).toBe(5);
  });

  it.each(
    andAtNight(
      [['the first has the number that it had', (index: number) => index % 2 === 1]],
      [['all of them have another number', (index: number) => index < 2]],
    ),
  )('are found where %s', async (_, hides) => {
    const { run } = await exportTwice(
      () => 60,
      (index, later) => !later && hides(index),
    );
    expect(await run()).toBe(5);
  });

  it('are left out once they are learned: each record is shown once again', async () => {
    const { run, stream } = await exportTwice(
      () => 60,
      (index, later) => (later ? index === 2 : index % 2 === 1),
    );
    // One is gone and two have come, so that nothing tells yet which of them are the same.
    for (let walk = 0; walk < 3; walk += 1) expect(await run()).toBe(6);
    await server.query(
      `insert into daywalk.learned (stream_id, fact, value, evidence)
       select stream_id, 'ignored', '["/row"]', 'another day' from daywalk.streams where name = $1`,
      [stream.name],
    );
    expect(await run()).toBe(5);
  });
});

it('the number of a row makes no second record of one that moved when it had come alone', async () => {
  const [day = ''] = closedDays(1);
  const source: ImaginedSource = new ImaginedSource(
    { [day]: ['{"name": "a1"}'] },
    {
      before: (self, { start }) => {
        if (start > 0) self.lists.set(`${day} 00:00:00`, ['{"name": "a2"}', '{"name": "a1"}']);
      },
      wrap: (page, _, { start }) =>
        `[${page.map((record, index) => record.replace('{', `{"row":${start + index + 1},`)).join(',')}]`,
    },
  );
  const exporting = { server, source, stream: newStream(), since: day, pageLength: 30 };
  await runOnce(exporting);
  const result = (await readResults(server, exporting.stream)).get(day);
  expect(result?.published).toEqual(['{"row": 1, "name": "a2"}', '{"row": 2, "name": "a1"}']);
});

describe('row numbers behind records that neither day shows', () => {
  it('make no other records of those that one of them shows', async () => {
    const [before = '', after = ''] = closedDays(2);
    const lists = {
      [before]: [40_000, 86_398, 86_399].map((at) => `{"at": ${at}, "name": "a${at}"}`),
      [after]: [1, 1, 40_000].map((at, n) => `{"at": ${at}, "name": "b${at * 7 + n * n}"}`),
    };
    // The last second of a window is not shown.
    const source: ImaginedSource = new ImaginedSource(lists, {
      at: (record) => JSON.parse(record).at,
      arrange: (_, __, { from, to, filters }) =>
        source.within({ from, to: around(to, 0, -1).to, filters }),
      wrap: (page, _, { start }) =>
        `[${page.map((record, index) => record.replace('{', `{"row":${start + index + 1},`)).join(',')}]`,
    });
    const exporting = { server, source, stream: newStream(), since: before, pageLength: 30 };
    await runOnce(exporting);
    const results = [...(await readResults(server, exporting.stream)).values()];
    expect(results.map(({ state, published }) => [state, published.length])).toEqual([
      ['complete', 3],
      ['complete', 3],
    ]);
  });
});

describe('row numbers of one record on each side of midnight', () => {
  it.each(
    andAtNight(
      [['oldest first', (list: readonly string[]) => list]],
      [['newest first', (list: readonly string[]) => list.toReversed()]],
    ),
  )('make no other records of them, %s', async (_, arrange) => {
    const [before = '', after = ''] = closedDays(2);
    const times = { [before]: [40_000, 86_398], [after]: [1, 40_000] };
    const lists = Object.fromEntries(
      Object.entries(times).map(([key, list]) => [
        key,
        list.map((at) => `{"at": ${at}, "day": "${key}"}`),
      ]),
    );
    const source = new ImaginedSource(lists, {
      at: (record) => JSON.parse(record).at,
      arrange,
      wrap: (page, _, { start }) =>
        `[${page.map((record, index) => record.replace('{', `{"row":${start + index + 1},`)).join(',')}]`,
    });
    const exporting = { server, source, stream: newStream(), since: before, pageLength: 30 };
    await runOnce(exporting);
    const results = [...(await readResults(server, exporting.stream)).values()];
    expect(results.map(({ state, published }) => [state, published.length])).toEqual([
      ['complete', 2],
      ['complete', 2],
    ]);
  });
});

describe('pages shorter than asked', () => {
  it.each(andAtNight(['none', 'bound'], ['exact', 'page']))(
    'by a clamp lose nothing, totals %s',
    async (totals) => {
      for (const clamp of [1, 3])
        expect(await exportDay(records(1, 7), { clamp, totals })).toMatchObject({
          state: 'complete',
          walks: 1,
        });
      expect(
        await server.query(`select from daywalk.learned where fact = 'large_records'`),
      ).toEqual([]);
    },
  );

  it.each(andAtNight(['none'], ['exact']))(
    'now and then lose nothing, totals %s',
    async (totals) => {
      const shorten = (room: number, number: number) => (number % 2 === 0 ? room : room - 1);
      expect(await exportDay(records(1, 19), { shorten, totals })).toMatchObject({
        state: 'complete',
      });
    },
  );

  it('do not make a shortened probe look like the end', async () => {
    // The first page and the closing probe each come one record short.
    const result = await exportDay(records(1, 6), {
      shorten: (room, number) => (number <= 2 ? room - 1 : room),
    });
    expect(result.state).toBe('complete');
  });
});

describe('pages that hold so many bytes, and one record at least', () => {
  const record = (id: number, bytes: number) => `{"id": ${id}, "raw": "${'x'.repeat(bytes)}"}`;
  /** Two records that do not fit on one page stand at these places. */
  const listOf = (count: number, large: readonly number[]) =>
    Array.from({ length: count }, (_, n) => record(n + 1, large.includes(n) ? 6_000 : 50 + n));
  const wrap = (list: readonly string[]) => {
    const fits = list.findIndex((_, n) => list.slice(0, n + 1).join('').length > 10_000);
    return `{"data":[${list.slice(0, fits === -1 ? list.length : Math.max(1, fits))}]}`;
  };

  it.each([
    [7, [2, 3]],
    [40, [20, 21]],
    [40, [35, 36]],
  ])(
    'end with no record beside which the next one has no room, %i records, large at %j',
    async (count, large) => {
      const list = listOf(count, large);
      const at = (one: string) => 2_000 * JSON.parse(one).id;
      const result = await exportDay(list, { wrap, at }, { pageLength: 50 });
      expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
      expect(result.requests).toBeLessThan(120);
    },
  );

  it('do not end in an outage that answers 200 with a failure behind a large record', async () => {
    const list = listOf(9, [3, 4]);
    let left = 9;
    const failing: Habits['wrap'] = (all, _, { start }) => {
      const fails = (start === 4 || left < 9) && left > 0;
      if (fails) left -= 1;
      return fails ? '{"_shards":{"failed":1},"data":[]}' : wrap(all);
    };
    const at = (one: string) => 2_000 * JSON.parse(one).id;
    const source = new ImaginedSource({ [day]: list }, { wrap: failing, at });
    await exported({ server, source, stream: newStream(), since: day, pageLength: 50 });
    expect(left).toBe(0);
  });

  it.each(
    andAtNight<[string, (turn: number) => 'refused' | 'empty' | 'whole']>(
      [
        ['refuses by turns', (turn) => (turn % 2 === 1 ? 'refused' : 'whole')],
        [
          'refuses by turns, and shows nothing between',
          (turn) => (turn > 3 ? 'whole' : turn % 2 === 1 ? 'refused' : 'empty'),
        ],
      ],
      [],
    ),
  )('do not end behind a large record where a source %s', async (_, how) => {
    const list = listOf(9, [3, 4]);
    let turn = 0;
    const source = new ImaginedSource(
      { [day]: list },
      {
        at: (one) => 2_000 * JSON.parse(one).id,
        before: (_, { start }) => {
          if (turn > 0 || start === 4) turn += 1;
          if (turn > 0 && how(turn) === 'refused') throw new RequestError(400, 'bad request');
        },
        wrap: (all) => wrap(turn > 0 && how(turn) === 'empty' ? [] : all),
      },
    );
    await exported({ server, source, stream: newStream(), since: day, pageLength: 50 });
    expect(turn).toBeGreaterThan(3);
  });

  it('do not end where a total stops that is known to be too small, beside a record that has no room', async () => {
    const list = Array.from({ length: 40 }, (_, n) => record(n + 1, n === 33 ? 9_990 : 50));
    const told: Habits['wrap'] = (all, total) =>
      wrap(all).replace('{', `{"total":${Math.min(total ?? 0, 33)},`);
    const at = (one: string) => 2_000 * JSON.parse(one).id;
    const source = new ImaginedSource({ [day]: list }, { wrap: told, totals: 'exact', at });
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 50 };
    await teach(exporting, { calibrated: 100, proven_size: 100, lower_bound: 33 });
    await runOnce(exporting);
    expect(await complaints(server, source, exporting.stream)).toEqual([]);
    const result = (await readResults(server, exporting.stream)).get(day);
    expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
  });

  it('do not keep a midnight apart behind which the first record of a day stands that has no room', async () => {
    const [before = '', after = ''] = closedDays(2);
    const small = (seconds: number) => `{"at": ${seconds}, "raw": "${'x'.repeat(50)}"}`;
    const lists = {
      [before]: [20_000, 86_397, 86_398].map(small),
      [after]: [`{"at": 1, "raw": "${'x'.repeat(9_970)}"}`, ...[30_000, 40_000, 50_000].map(small)],
    };
    const at = (one: string) => JSON.parse(one).at;
    const source = new ImaginedSource(lists, { wrap, at });
    const exporting = { server, source, stream: newStream(), since: before, pageLength: 50 };
    await teach(exporting, { reach: 120 });
    await runOnce(exporting);
    const results = await readResults(server, exporting.stream);
    expect([...results].map(([key, { state, published }]) => [key, state, published])).toEqual(
      Object.entries(lists).map(([key, list]) => [key, 'complete', list.toSorted()]),
    );
  });

  const SPREAD = (one: string) => 2_000 * JSON.parse(one).id;
  const SPREAD_MORE = (one: string) => 1_000 * JSON.parse(one).id;
  it.each(
    andAtNight<[string, string, number, (one: string) => number, (n: number) => boolean, number]>(
      [
        ['one of five', 'spread over the day', 40, SPREAD, (n) => n % 5 === 4, 230],
        ['two side by side', 'in one second', 9, () => 3_600, (n) => n === 4 || n === 5, 60],
        ['two of five', 'at midnight', 5, () => 0, (n) => n > 2, 120],
      ],
      [
        ['each', 'spread over the day', 40, SPREAD, () => true, 230],
        [
          'two side by side',
          'in pairs',
          40,
          (one) => JSON.parse(one).id >> 1,
          (n) => n === 20 || n === 21,
          500,
        ],
      ],
    ),
  )(
    'go on behind a record that fills a page by itself: %s, %s',
    async (_which, _where, count, at, isLarge, most) => {
      const list = Array.from({ length: count }, (_, n) => record(n + 1, isLarge(n) ? 9_990 : 50));
      const told: Habits['wrap'] = (all, total) => wrap(all).replace('{', `{"total":${total},`);
      for (const habits of [{ wrap }, { wrap: told, totals: 'exact' }] as const) {
        const result = await exportDay(list, { ...habits, at }, { pageLength: 50 });
        const ids = result.published.map((one) => JSON.parse(one).id).sort((a, b) => a - b);
        expect(ids).toEqual(list.map((one) => JSON.parse(one).id));
        expect(result).toMatchObject({ state: 'complete', lastError: null });
        expect(result.requests).toBeLessThan(most);
      }
    },
  );

  it.each(
    andAtNight<[string, Habits, number, readonly number[]]>(
      [
        [
          'a range is refused that reaches beyond what it shows, just behind a large record',
          {
            before: (_, { start, length }) => {
              if (start + length > 37) throw new RequestError(400, 'too deep');
            },
          },
          41,
          [35, 36],
        ],
        ['a record is there twice, and pages begin behind large ones', {}, 12, [3, 7, 8]],
      ],
      [
        [
          'no more than 37 are shown, of which one of five is large, and totals are exact',
          { arrange: (list) => list.slice(0, 37), clamp: 7 },
          83,
          Array.from({ length: 17 }, (_, n) => 5 * n),
        ],
      ],
    ),
  )('are put together where %s', async (what, habits, count, large) => {
    const list = Array.from({ length: count }, (_, n) =>
      record(n + 1, large.includes(n) ? 9_990 : 50),
    );
    if (what.includes('twice')) list[10] = list[1] ?? '';
    const isTold = what.includes('totals');
    const source: ImaginedSource = new ImaginedSource(
      { [day]: list },
      {
        at: SPREAD_MORE,
        ...habits,
        wrap: (page, _total, asked) =>
          wrap(page).replace('{', isTold ? `{"total":${source.within(asked).length},` : '{'),
      },
    );
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 30 };
    await runOnce(exporting);
    const result = (await readResults(server, exporting.stream)).get(day);
    expect(result).toMatchObject({ state: 'complete', lastError: null });
    expect(result?.published).toEqual(list.toSorted());
  });

  it('are not joined where the list moves between the large record and the page behind it', async () => {
    const list = Array.from({ length: 8 }, (_, n) =>
      record(n + 1, n === 4 || n === 5 ? 9_990 : 50),
    );
    const at = (one: string) => 2_000 * JSON.parse(one).id;
    const source = new ImaginedSource(
      { [day]: list },
      {
        wrap,
        at,
        // The second large record came when it was asked for by itself, and is the one before by now.
        before: ({ lists }, { start, length }) => {
          if (start === 5 && length > 1) lists.set(`${day} 00:00:00`, list.slice(1));
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: day, pageLength: 50 };
    await runOnce(exporting);
    const result = (await readResults(server, exporting.stream)).get(day);
    expect(source.asked.some(({ start, length }) => start === 5 && length > 1)).toBe(true);
    expect(result?.published.map((one) => JSON.parse(one).id).sort((a, b) => a - b)).toEqual(
      list.slice(1).map((one) => JSON.parse(one).id),
    );
  });
});

describe('a day without records that came first, in words that nobody knows', () => {
  it('is walked again as soon as an answer shows records, also by another process', async () => {
    const [before = '', after = ''] = closedDays(2);
    const source = new ImaginedSource(
      { [after]: records(1, 5) },
      { wrap: (page) => (page.length === 0 ? 'null' : `[${page.join(',')}]`) },
    );
    const stream = newStream();
    // Only the first day is closed yet.
    await runOnce({ server, source, stream, since: before, settleMs: SETTLE_MS + 86_400_000 });
    expect((await readResults(server, stream)).get(before)?.state).toBe('failed');
    await runOnce({ server, source, stream, since: before });
    const results = [...(await readResults(server, stream)).values()];
    expect(results.map(({ state, published }) => [state, published.length])).toEqual([
      ['complete', 0],
      ['complete', 5],
    ]);
  });

  it.each(
    andAtNight<[string, string, readonly string[] | undefined]>(
      [
        ['of words', '["a","b"]', undefined],
        ['of objects, only where there are no records', '', undefined],
      ],
      [['of objects', '[{"name":"a"},{"name":"b"}]', ['data']]],
    ),
  )('does not show the list of records in another one: %s', async (_, managers, recordsPath) => {
    const [before = '', after = ''] = closedDays(2);
    const beside = managers === '' ? '' : `,"managers":${managers}`;
    const source = new ImaginedSource(
      { [after]: records(1, 5) },
      {
        totals: 'exact',
        wrap: (page, total) =>
          total === 0
            ? `{"total":0,"managers":${managers || '[{"name":"a"}]'}}`
            : `{"total":${total}${beside},"data":[${page.join(',')}]}`,
      },
    );
    const exporting = {
      server,
      source,
      stream: { ...newStream(), ...(recordsPath && { recordsPath }) },
      since: before,
    };
    await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
    expect((await readResults(server, exporting.stream)).get(before)?.state).toBe('failed');
    expect(await server.query('select from daywalk.contracts')).toEqual([]);
    await runOnce(exporting);
    const results = [...(await readResults(server, exporting.stream)).values()];
    expect(results.map(({ state, published }) => [state, published.length])).toEqual([
      ['complete', 0],
      ['complete', 5],
    ]);
  });

  it('is walked again, too, where a process was killed behind the first page of another day', async () => {
    const days = closedDays(3);
    const [before = '', middle = ''] = days;
    const source = new ImaginedSource(
      { [middle]: records(1, 5) },
      { wrap: (page) => (page.length === 0 ? 'null' : `[${page.join(',')}]`) },
    );
    const exporting = { server, source, stream: newStream(), concurrency: 1 };
    const settleMs = SETTLE_MS + 86_400_000;
    const gate: Gate = async (statement, act) => {
      const done = await act();
      if (statement?.includes('store_page') && source.asked.length > 0) throw new Killed('here');
      return done;
    };
    await runOnce({ ...exporting, gate, since: middle, settleMs }).catch((error: unknown) =>
      expect(error).toBeInstanceOf(Killed),
    );
    expect((await readResults(server, exporting.stream)).get(middle)?.state).not.toBe('complete');
    await runOnce({ ...exporting, since: before });
    const results = await readResults(server, exporting.stream);
    expect(days.map((each) => [results.get(each)?.state, results.get(each)?.lastError])).toEqual([
      ['complete', null],
      ['complete', null],
      ['complete', null],
    ]);
  });

  it('is not asked for yet in the moment in which another day has shown where lists are, and its first page is not stored', async () => {
    const [shown = '', empty = ''] = closedDays(2);
    const source = new ImaginedSource(
      { [shown]: records(1, 5) },
      { wrap: (page) => (page.length === 0 ? 'null' : `[${page.join(',')}]`) },
    );
    let find = () => {};
    const found = new Promise<void>((resolve) => {
      find = resolve;
    });
    let leases = 0;
    let early: boolean | null = null;
    // One after the other: the day that has records is the first.
    let claims: Promise<unknown> = Promise.resolve();
    const gate: Gate = async (statement, act) => {
      if (statement?.includes('store_page') && early === null) {
        early = false;
        find();
        // As long as the other window would take to be asked for.
        for (let time = 0; time < 50; time += 1) await server.query('select 1');
        early = source.asked.some(({ from }) => from.startsWith(empty));
      }
      const isClaim = statement?.includes('skip locked');
      const acted = isClaim ? claims.then(act) : act();
      if (isClaim) claims = acted;
      const done = await acted;
      const isLeased = isClaim && Array.isArray(done) && done.length > 0;
      if (isLeased) leases += 1;
      if (isLeased && leases === 2) await found;
      return done;
    };
    const exporting = { server, source, stream: newStream(), concurrency: 2, gate };
    await runOnce({ ...exporting, since: shown });
    expect(early).toBe(false);
  });

  it('nor are others at once where a setting says where lists are, so that it is to be seen anew, though days are known', async () => {
    const days = closedDays(3);
    const lists = days.map((each, index) => [each, records(1_000 * (index + 1), 5)] as const);
    const source = new ImaginedSource(Object.fromEntries(lists));
    const exporting = { server, source, stream: newStream(), since: days[0] ?? '', concurrency: 2 };
    await runOnce({ ...exporting, settleMs: SETTLE_MS + 2 * 86_400_000 });
    source.asked.splice(0);
    let askedFirst: string[] | null = null;
    const gate: Gate = async (statement, act) => {
      if (statement?.includes('store_page') && askedFirst === null) {
        askedFirst = [];
        for (let time = 0; time < 50; time += 1) await server.query('select 1');
        askedFirst = source.asked.map(({ from }) => from.slice(0, 10));
      }
      return act();
    };
    await runOnce({ ...exporting, stream: { ...exporting.stream, recordsPath: ['data'] }, gate });
    expect(askedFirst).toHaveLength(1);
    const results = [...(await readResults(server, exporting.stream)).values()];
    expect(results.map(({ state }) => state)).toEqual(days.map(() => 'complete'));
  });
});

describe('pages by number of which the last, full one comes for all that is behind it', () => {
  let source: ImaginedSource;

  it('are not walked for ever', async () => {
    const stop = new AbortController();
    source = new ImaginedSource(
      { [day]: records(1_000, 60) },
      {
        before: () => {
          if (source.asked.length > 1_500) stop.abort();
        },
        wrap: pagesInstead(() => source, Math.min),
      },
    );
    const stream = newStream();
    await runOnce({ server, source, stream, since: day, pageLength: 20, signal: stop.signal });
    expect(await complaints(server, source, stream)).toEqual([]);
  });

  it('are whole in smaller windows, where a page number is the greatest one', async () => {
    source = new ImaginedSource(
      { [day]: records(1_000, 74) },
      {
        totals: 'exact',
        wrap: pagesInstead(
          () => source,
          (asked) => Math.min(asked, 2),
        ),
      },
    );
    const stream = newStream();
    await runOnce({ server, source, stream, since: day, pageLength: 20 });
    expect((await readResults(server, stream)).get(day)).toMatchObject({
      state: 'complete',
      published: records(1_000, 74).sort(),
    });
    expect(source.asked.length).toBeLessThan(160);
  });
});

it('addresses that are signed anew each time, in lists of some records, are no part of them', async () => {
  let signed = 0;
  const address = () => {
    signed += 1;
    return `{"url":"/f?sig=${signed}"}`;
  };
  const list = records(1_000, 33);
  const source = new ImaginedSource(
    { [day]: list },
    {
      arrange: (shown) =>
        shown.map((record) => {
          const files = Array.from({ length: idOf(record) % 3 }, address);
          return `{"id":${idOf(record)},"files":[${files.join(',')}]}`;
        }),
    },
  );
  const stream = newStream();
  await runOnce({ server, source, stream, since: day, pageLength: 100 });
  const result = (await readResults(server, stream)).get(day);
  expect(result?.state).toBe('complete');
  expect(result?.published.map(idOf).sort()).toEqual(list.map(idOf).sort());
  expect(source.asked.length).toBeLessThan(100);
});

it('a list of which the first record goes and one comes behind it, before its end is asked for, is walked again', async () => {
  const list = records(1, 6);
  const { requests, ...result } = await exportDay(
    list,
    {
      before: (source, { start }) => {
        if (start > 0) source.lists.set(`${day} 00:00:00`, [...list.slice(1), '{"id": 9}']);
      },
    },
    { pageLength: 10 },
  );
  expect(result).toMatchObject({ state: 'complete', published: [...list.slice(1), '{"id": 9}'] });
  expect(requests).toBeLessThan(20);
});

it.each(
  andAtNight([['20th', (id: number) => id % 20 === 2]], [['7th', (id: number) => id % 7 === 2]]),
)(
  'one that leaves every %s record out of its pages, which still counts in start, is whole without them',
  async (_, isLeftOut) => {
    const list = records(1_000, 40);
    const shown = (record: string) => !isLeftOut(idOf(record));
    const source = new ImaginedSource(
      { [day]: list },
      { wrap: (page) => `{"data":[${page.filter(shown).join(',')}]}` },
    );
    const stream = newStream();
    await runOnce({ server, source, stream, since: day, pageLength: 20 });
    const result = (await readResults(server, stream)).get(day);
    expect(result).toMatchObject({
      state: 'complete',
      published: list.filter(shown).toSorted(),
    });
  },
);

it('one that leaves the first of three records out of its pages does not count them by number', async () => {
  const source = new ImaginedSource(
    { [day]: records(1, 3) },
    {
      wrap: (page) => `{"data":[${page.filter((record) => idOf(record) !== 1).join(',')}]}`,
    },
  );
  await runOnce({ server, source, stream: newStream(), since: day, pageLength: 20 });
  expect(await server.query(`select value from daywalk.learned where fact = 'paging'`)).not.toEqual(
    [{ value: 'number' }],
  );
});

it.each(andAtNight(['exact'], ['none']))(
  'of a day of which one part has failed the others wait: a row of sums on each page, totals %s',
  async (totals) => {
    const wrap: Habits['wrap'] = (list, total) =>
      `{${total === null ? '' : `"total":${total},`}"data":[${[...list, `{"sum": ${list.length}}`].join(',')}]}`;
    const result = await exportDay(records(1, 60), { totals, wrap }, { pageLength: 20 });
    expect(result).toMatchObject({ state: 'failed', published: [] });
    expect(result.requests).toBeLessThan(400);
  },
);
