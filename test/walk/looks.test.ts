/** Looks end: what was found as it is stored is not found otherwise by the next look, whatever the source is like. */
import { describe, expect, it } from 'vitest';
import { RequestError, UnavailableError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { addDays } from '../../src/plan/days.ts';
import { around, secondsOf } from '../../src/plan/split.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, hastyClock, records } from '../support/store.ts';
import {
  closedDays,
  type Exporting,
  exported,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
  teach,
} from './exporting.ts';
import { type Habits, ImaginedSource, idOf, pagesByNumber, secondOf } from './imagined-source.ts';

let server: TestDatabase;
const [first = '', second = ''] = closedDays(2);

freshStore((store) => {
  ({ server } = store);
});

const LOOK = 'update daywalk.windows set due_at = clock_timestamp() where due_at is not null';

describe('a window that is as it was', () => {
  /** How often each kind of window was looked at in three rounds, once what the source does was learned. */
  async function looked(
    lists: Readonly<Record<string, readonly string[]>>,
    habits: Habits,
    change: Partial<Exporting> = {},
  ) {
    const source = new ImaginedSource(lists, habits);
    const exporting: Exporting = {
      server,
      source,
      stream: newStream(),
      since: first,
      pageLength: 30,
      recheckDays: 30,
      ...change,
    };
    await exported(exporting);
    for (let round = 0; round < 4; round += 1) {
      await server.query(LOOK);
      if (round === 1) await server.query('update daywalk.windows set looks = 0');
      const results = [...(await exported(exporting)).values()];
      expect(results.map(({ state }) => state)).toEqual(results.map(() => 'complete'));
    }
    return server.query(
      `select kind, min(looks) as looks from daywalk.windows where state = 'complete' and due_at is not null group by kind order by kind`,
    );
  }
  const each = (...kinds: readonly string[]) => kinds.map((kind) => ({ kind, looks: 3 }));

  it('is looked at, and not closed anew, where it was split without a total', async () => {
    const refuse: Habits['before'] = (_, { start }) => {
      if (start >= 100) throw new RequestError(400, 'too deep');
    };
    const lists = { [first]: records(1_000, 240), [second]: records(2_000, 240) };
    expect(await looked(lists, { before: refuse })).toEqual(each('cut', 'day', 'part'));
  });

  it('is looked at, and not asked anew, where more than a page lies across midnight', async () => {
    const at = (record: string) => (idOf(record) % 2 === 0 ? 86_399 : 0);
    const lists = { [first]: records(1_000, 12), [second]: records(2_000, 12) };
    expect(await looked(lists, { at, totals: 'exact' }, { pageLength: 5 })).toEqual(
      each('cut', 'day'),
    );
  });

  it('is looked at, and not walked again, where its total leaves some out', async () => {
    const wrap: Habits['wrap'] = (list, total) =>
      `{"total":${total === 5 ? 4 : total},"data":[${list.join(',')}]}`;
    const lists = { [first]: records(1_000, 24), [second]: records(2_000, 5) };
    expect(await looked(lists, { totals: 'exact', wrap })).toEqual(each('cut', 'day'));
  });
});

it.each(['', ', where every other request is refused'])(
  'a late record at midnight is found behind a page that is cut short%s',
  async (how) => {
    let turn: number | null = null;
    const days = closedDays(3);
    const [before = '', day = '', after = ''] = days;
    const list = (late: readonly string[]) => [...records(100, 4), ...records(190, 3), ...late];
    const source = new ImaginedSource(
      { [before]: records(300, 5), [day]: list([]), [after]: records(400, 5) },
      {
        clamp: 3,
        before: (_, { from, to }) => {
          if (turn === null || !from.startsWith(day) || !to.startsWith(after)) return;
          turn += 1;
          if (turn % 2 === 0) throw new RequestError(404, 'no such page');
        },
        // In the last fraction of a second, which no day shows.
        at: (record) => (Math.floor(idOf(record) / 10) === 19 ? 86_399.5 : secondOf(record)),
      },
    );
    const exporting = { server, source, stream: newStream(), since: before, pageLength: 50 };
    const run = () => exported({ ...exporting, recheckDays: 7 });
    await run();
    await letTimePass(server, '90 minutes');
    await run();
    source.lists.set(`${day} 00:00:00`, list(['{"id": 193}']));
    await letTimePass(server, '1 day');
    if (how.includes('refused')) {
      turn = 0;
      await run();
      expect(turn).toBeGreaterThan(1);
      turn = null;
      await letTimePass(server, '1 day');
    }
    expect((await run()).get(day)?.published).toHaveLength(8);
  },
);

it('a look where pages are counted by number, and every other request is refused, sees what came behind the last record', async () => {
  let turn: number | null = null;
  const source = new ImaginedSource(
    { [first]: records(100, 6) },
    {
      before: (_, { from, to }) => {
        if (turn === null || !from.startsWith(first) || !to.startsWith(first)) return;
        turn += 1;
        if (turn % 2 === 0) throw new RequestError(400, 'bad request');
      },
      arrange: pagesByNumber,
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 4 };
  await exported({ ...exporting, recheckDays: 7 });
  await letTimePass(server, '90 minutes');
  source.lists.set(`${first} 00:00:00`, [...records(100, 6), '{"id": 7777}']);
  turn = 0;
  await exported({ ...exporting, recheckDays: 7 });
  expect(turn).toBeGreaterThan(1);
});

/** A source behind a cache, for which single records are answered as they were the first time. */
class CachedSource extends ImaginedSource {
  readonly #kept = new Map<string, string>();

  override answer(request: PageRequest, number: number): string {
    const url = JSON.stringify(request);
    const answer = this.#kept.get(url) ?? super.answer(request, number);
    if (request.length === 1) this.#kept.set(url, answer);
    return answer;
  }
}

it('a look where pages are counted by number asks for what no cache has kept', async () => {
  const source = new CachedSource({ [first]: records(100, 7) }, { arrange: pagesByNumber });
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 10 };
  await exported({ ...exporting, recheckDays: 7 });
  await letTimePass(server, '90 minutes');
  source.lists.set(`${first} 00:00:00`, records(100, 8));
  expect((await exported({ ...exporting, recheckDays: 7 })).get(first)?.published).toHaveLength(8);
});

it('a look at a midnight that is said to be partial has not seen it', async () => {
  let isAway = false;
  const isAcross = ({ from, to }: PageRequest) => from.slice(0, 10) !== to.slice(0, 10);
  const late = '{"id": 7777}';
  const source = new ImaginedSource(
    { [first]: records(100, 4), [second]: records(400, 5) },
    {
      at: (record) => (idOf(record) > 1_000 || idOf(record) === 100 ? 86_399.5 : secondOf(record)),
      arrange: (list) => (isAway ? list.filter((record) => record !== late) : list),
      wrap: (list, _, request) =>
        `{"data":[${list.join(',')}]${isAway && isAcross(request) ? ',"partial":true' : ''}}`,
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength: 50 };
  expect((await exported(exporting)).get(first)?.published).toHaveLength(4);
  await letTimePass(server, '90 minutes');
  source.lists.set(`${first} 00:00:00`, [...records(100, 4), late]);
  isAway = true;
  await exported(exporting);
  isAway = false;
  await letTimePass(server, '90 minutes');
  expect((await exported(exporting)).get(first)?.published).toHaveLength(5);
});

/** Looks at a day while what came there is in no answer, each of which says so, and then once more. @returns the day before and after. */
async function lookWhilePartial(
  arrange: NonNullable<Habits['arrange']>,
  pageLength: number,
  facts: Readonly<Record<string, unknown>> = {},
) {
  let isAway = false;
  const late = '{"id": 7777}';
  const source = new ImaginedSource(
    { [first]: records(100, 6) },
    {
      arrange: (list, ...asked) =>
        arrange(isAway ? list.filter((record) => record !== late) : list, ...asked),
      wrap: (list) => `{"data":[${list.join(',')}]${isAway ? ',"partial":true' : ''}}`,
    },
  );
  const exporting = { server, source, stream: newStream(), since: first, pageLength };
  await teach(exporting, facts);
  const run = async () => (await exported({ ...exporting, recheckDays: 7 })).get(first);
  const before = await run();
  await letTimePass(server, '90 minutes');
  source.lists.set(`${first} 00:00:00`, [...records(100, 6), late]);
  isAway = true;
  await run();
  isAway = false;
  await letTimePass(server, '90 minutes');
  return { before, after: await run() };
}

it('a look at a day of an order that does not hold, and that is said to be partial, has not seen it', async () => {
  const turned: Habits['arrange'] = (list, number) => list.toSorted(() => (number % 2) - 0.5);
  const { before, after } = await lookWhilePartial(turned, 50, { restless: true });
  expect(before).toMatchObject({ state: 'complete', proof: { rule: 'C7' } });
  expect(after?.published).toHaveLength(7);
});

it('a look where pages are counted by number, and that is said to be partial, has not seen what came', async () => {
  const { after } = await lookWhilePartial(pagesByNumber, 4);
  expect(after?.published).toHaveLength(7);
});

describe('a large day by its total, where fractions of a second are compared', () => {
  const NOON = 43_200;

  /** Split by its total; one record stands in the fraction behind the second at which looks cut it. */
  async function looked(late: readonly string[], most = 1_000) {
    const at = (record: string) => (idOf(record) === 1_000 ? NOON - 0.3 : secondOf(record));
    const source: ImaginedSource = new ImaginedSource(
      { [second]: records(1_000, 240) },
      {
        at,
        wrap: (list, _, request) =>
          `{"total":${Math.min(most, source.within(request).length)},"data":[${list.join(',')}]}`,
      },
    );
    const exporting: Exporting = {
      server,
      source,
      stream: newStream(),
      since: second,
      pageLength: 30,
      windowRecords: 100,
      recheckDays: 7,
      clock: { ...hastyClock, random: () => (NOON - 0.5) / 43_200 - 0.5 },
    };
    await exported(exporting);
    source.lists.set(`${second} 00:00:00`, [...records(1_000, 240), ...late]);
    const looks = 'update daywalk.windows set due_at = clock_timestamp() where due_at is not null';
    await server.query(looks);
    await exported(exporting);
    const [day] = await server.query(
      `select looks, split_calibrated as calibrated from daywalk.windows where kind = 'day'`,
    );
    // Without a calibrated total the parts have looks of their own.
    await server.query(looks);
    await exported(exporting);
    return day;
  }

  it('is as it was where the total is', async () => {
    expect(await looked([])).toEqual({ looks: 1, calibrated: true });
  });

  it('is walked again where it is not', async () => {
    expect(await looked(records(3_000, 1))).toEqual({ looks: 0, calibrated: true });
  });

  it('is walked again where it stands still, and its parts tell more', async () => {
    expect(await looked(records(3_000, 2), 240)).toEqual({ looks: 0, calibrated: false });
  });
});

it.each(
  andAtNight(
    [['where a part was split in turn', { padding: 0, shortest: 60, burst: 10_000 }]],
    [
      ['where windows are padded', { padding: 5, shortest: 0, burst: 86_400 }],
      ['where ranges under a minute are refused', { padding: 0, shortest: 60, burst: 86_400 }],
    ],
  ),
)(
  'a late record of a large day is found behind totals that are told for ever, also %s',
  async (_, { padding, shortest, burst }) => {
    const told = new Map<string, number>();
    const list = records(1_000, 240);
    let where = 0.5;
    const padded = ({ from, to, filters }: PageRequest) =>
      source.within({
        from: around(from, -padding, 0).from,
        to: around(to, 0, padding).to,
        filters,
      });
    const source: ImaginedSource = new ImaginedSource(
      { [second]: list },
      {
        // One stands where looks cut the day.
        at: (record) => {
          if (idOf(record) === 1_000) return 43_200;
          return idOf(record) % 2 === 0 ? secondOf(record) : secondOf(record) % burst;
        },
        before: (_, { from, to }) => {
          if (secondsOf({ from, to }) < shortest) throw new RequestError(400, 'too short');
        },
        arrange: (_, __, request) => padded(request),
        wrap: (shown, _, request) => {
          const key = `${request.from} ${request.to}`;
          told.set(key, told.get(key) ?? padded(request).length);
          return `{"total":${told.get(key)},"data":[${shown.join(',')}]}`;
        },
      },
    );
    const exporting: Exporting = {
      server,
      source,
      stream: newStream(),
      since: second,
      pageLength: 30,
      windowRecords: 100,
      recheckDays: 7,
      clock: { ...hastyClock, random: () => where },
    };
    await exported(exporting);
    await server.query(LOOK);
    await exported(exporting);
    expect(await server.query(`select looks from daywalk.windows where kind = 'day'`)).toEqual([
      { looks: 1 },
    ]);
    // At another second no totals are known yet.
    where = 0.3;
    source.lists.set(`${second} 00:00:00`, [...list, '{"id": 1999}']);
    await server.query(`${LOOK} and kind = 'day'`);
    await exported(exporting);
    expect((await readResults(server, exporting.stream)).get(second)?.published).toHaveLength(241);
  },
);

it('one answer to a look that tells a total of nothing keeps no dense second from being complete', async () => {
  const [, former = '', newest = ''] = closedDays(3);
  let isWrong = false;
  const source: ImaginedSource = new ImaginedSource(
    { [former]: records(1_000, 30), [newest]: records(2_000, 60) },
    {
      at: (record) => (idOf(record) < 2_000 ? secondOf(record) : 43_211),
      before: (_, { start }) => {
        if (start >= 40) throw new RequestError(400, 'too deep');
      },
      wrap: (list, _, request) => {
        const total = isWrong ? 0 : source.within(request).length;
        if (request.from.startsWith(former)) isWrong = false;
        return `{"total":${total},"data":[${list.join(',')}]}`;
      },
    },
  );
  const exporting: Exporting = {
    ...{ server, source, stream: newStream(), since: former, pageLength: 50, recheckDays: 3 },
  };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
  await letTimePass(server, '2 hours');
  isWrong = true;
  expect((await exported(exporting)).get(newest)?.state).toBe('complete');
  expect(isWrong).toBe(false);
});

it('a day that a look found otherwise is not complete until it was walked again', async () => {
  const known = records(1_000, 12);
  let away = false;
  const source = new ImaginedSource(
    { [second]: known },
    {
      totals: 'exact',
      before: (_, { start }) => {
        if (away && start === 0) throw new UnavailableError('api', 'away');
      },
    },
  );
  const stream = newStream();
  const exporting = { server, source, stream, since: second, pageLength: 30, recheckDays: 30 };
  await exported(exporting);
  source.lists.set(`${second} 00:00:00`, [...known, '{"id": 1999}']);
  away = true;
  await server.query(
    `update daywalk.windows set due_at = case when kind = 'day' then clock_timestamp() end`,
  );
  await expect(runOnce(exporting)).rejects.toThrow('away');
  expect((await readResults(server, stream)).get(second)?.state).toBe('pending');

  // Another replica answers the next time: a look at that one would find nothing.
  away = false;
  source.lists.set(`${second} 00:00:00`, known);
  const asked = source.asked.length;
  await exported(exporting);
  expect(source.asked.slice(asked)).toContainEqual(
    expect.objectContaining({ from: `${second} 00:00:00`, start: 0, length: 29 }),
  );
});

it('nor is one that was split, while its parts may have changed', async () => {
  const lists = { [first]: records(1_000, 12), [second]: records(2_000, 240) };
  let away = false;
  const source = new ImaginedSource(lists, {
    totals: 'exact',
    before: (_, { length }) => {
      if (away && length === 1) throw new UnavailableError('api', 'away');
    },
  });
  const stream = newStream();
  const sizes = { pageLength: 30, windowRecords: 60 };
  const exporting = { server, source, stream, since: first, ...sizes, recheckDays: 30 };
  const stateOf = async () => (await readResults(server, stream)).get(second)?.state;
  await exported(exporting);
  expect(await server.query('select from daywalk.windows where split_calibrated')).toHaveLength(1);
  expect(await stateOf()).toBe('complete');
  source.lists.set(`${second} 00:00:00`, [...(lists[second] ?? []), '{"id": 2999}']);
  away = true;
  await server.query(
    `update daywalk.windows set due_at = case when kind = 'day' and day = $1 then clock_timestamp() end`,
    [second],
  );
  await expect(runOnce(exporting)).rejects.toThrow('away');
  expect(await stateOf()).not.toBe('complete');
  away = false;
  await exported(exporting, 2);
  expect(await stateOf()).toBe('complete');
});

it('late events are looked for when recheck_days is raised, also where days close late', async () => {
  const old = addDays(closedDays(1)[0] ?? '', -9);
  const source = new ImaginedSource({ [old]: records(1, 12) }, { totals: 'exact' });
  const stream = newStream();
  const settleMs = 9 * 86_400_000 + SETTLE_MS;
  const exporting = { server, source, stream, since: old, settleMs };
  await runOnce({ ...exporting, recheckDays: 0 });
  await letTimePass(server, '2 hours');
  await runOnce({ ...exporting, recheckDays: 0 });
  source.lists.set(`${old} 00:00:00`, records(1, 13));
  await runOnce({ ...exporting, recheckDays: 3 });
  const result = (await readResults(server, stream)).get(old);
  expect(result).toMatchObject({ state: 'complete', published: { length: 13 } });
});
