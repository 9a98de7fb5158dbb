/** What was said against a day and not heard, found by reading: days that were complete and were not, and facts that were forgotten or believed too soon. */
import { expect, it } from 'vitest';
import { RequestError, UnavailableError } from '../../src/errors.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import {
  closedDays,
  type Exporting,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
  teach,
} from './exporting.ts';
import { type Habits, ImaginedSource, idOf, secondsOf } from './imagined-source.ts';

let server: TestDatabase;
const DAYS = closedDays(3);
const [one = '', two = '', three = ''] = DAYS;
freshStore((store) => {
  ({ server } = store);
});

/** The second day is asked for by a question before it is walked. */
const FLICKERING = [
  ['when it is walked', 5],
  ['to a question', 3],
  ['to a question', 5],
] as const;
/** The last question before it is believed comes at night only: behind fourteen. */
const AT_NIGHT = [
  ...[3, 4, 6, 7, 8].flatMap((empties) =>
    (['when it is walked', 'to a question'] as const).map((when) => [when, empties] as const),
  ),
  ['when it is walked', 14] as const,
];

it.each(andAtNight<readonly [string, number]>(FLICKERING, AT_NIGHT))(
  'a day that shows two records, %s, then %i times nothing, then all of them again, is not complete and empty',
  async (when, empties) => {
    const day = when === 'to a question' ? two : one;
    let asked = 0;
    const source = new ImaginedSource(
      { [one]: records(100, 4), [two]: records(200, 3) },
      {
        arrange: (list, _, { from, to }) => {
          if (!from.startsWith(day) || !to.startsWith(day)) return list;
          asked += 1;
          return asked > 1 && asked <= 1 + empties ? [] : list;
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: one, pageLength: 2 };
    await runOnce(exporting);
    const result = (await readResults(server, exporting.stream)).get(day);
    expect({ state: result?.state, published: result?.published.length }).not.toEqual({
      state: 'complete',
      published: 0,
    });
  },
);

it.each(andAtNight([5], [3, 4, 6]))(
  'a day that a look finds no longer empty, and that then shows nothing %i times, is not complete and empty',
  async (empties) => {
    let asked = 0;
    const source = new ImaginedSource(
      { [one]: records(100, 4), [two]: [] },
      {
        arrange: (list, _, { from, to }) => {
          if (list.length === 0 || from !== `${two} 00:00:00` || !to.startsWith(two)) return list;
          asked += 1;
          return asked > 2 && asked <= 2 + empties ? [] : list;
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: one, recheckDays: 7 };
    await runOnce(exporting);
    source.lists.set(`${two} 00:00:00`, records(200, 1));
    await letTimePass(server, '2 hours');
    await runOnce(exporting);
    const result = (await readResults(server, exporting.stream)).get(two);
    expect({ state: result?.state, published: result?.published.length }).not.toEqual({
      state: 'complete',
      published: 0,
    });
  },
);

it('a day that a look finds no longer empty, and that shows nothing to the next process, is not complete and empty', async () => {
  let asked = 0;
  let isAway = false;
  const source = new ImaginedSource(
    { [one]: records(100, 4), [two]: [] },
    {
      before: () => {
        if (isAway && asked > 0) throw new UnavailableError('api', 'away');
      },
      arrange: (list, _, { from, to }) => {
        if (list.length === 0 || from !== `${two} 00:00:00` || !to.startsWith(two)) return list;
        asked += 1;
        return asked > 1 && asked <= 6 ? [] : list;
      },
    },
  );
  const exporting = { server, source, stream: newStream(), since: one, recheckDays: 7 };
  await runOnce(exporting);
  source.lists.set(`${two} 00:00:00`, records(200, 1));
  await letTimePass(server, '2 hours');
  isAway = true;
  await expect(runOnce(exporting)).rejects.toThrow(UnavailableError);
  isAway = false;
  await runOnce(exporting);
  const result = (await readResults(server, exporting.stream)).get(two);
  expect(asked).toBeGreaterThan(1);
  expect({ state: result?.state, published: result?.published.length }).not.toEqual({
    state: 'complete',
    published: 0,
  });
});

it.each(andAtNight(['a half is refused'], ['one question comes to nothing']))(
  'a day that is too much for its source, and comes empty, is not complete and empty where %s',
  async (how) => {
    let failed = false;
    const hours = ({ from, to }: { from: string; to: string }) =>
      (Date.parse(`${to.replace(' ', 'T')}Z`) - Date.parse(`${from.replace(' ', 'T')}Z`)) /
      3_600_000;
    const source = new ImaginedSource(
      { [one]: records(100, 15), [two]: records(200, 40) },
      {
        before: (_, request) => {
          const span = hours(request);
          if (!request.from.startsWith(two) || span < 11 || span > 13) return;
          if (how === 'a half is refused') throw new RequestError(422, 'too much');
        },
        arrange: (list, _, request) =>
          request.from.startsWith(two) &&
          hours(request) > 11 &&
          hours(request) < 24 &&
          (how === 'a half is refused' || hours(request) > 13)
            ? []
            : list,
        wrap: (list, _, request) => {
          const span = hours(request);
          if (
            how !== 'a half is refused' &&
            request.from.startsWith(two) &&
            span > 11 &&
            span < 13 &&
            !failed
          ) {
            failed =
              source.asked.filter((one) => one.from === request.from && one.to === request.to)
                .length >= 3;
            return '<html>one moment</html>';
          }
          return `{"data":[${list.join(',')}]}`;
        },
      },
    );
    const exporting = { server, source, stream: newStream(), since: one, pageLength: 50 };
    await runOnce(exporting);
    const result = (await readResults(server, exporting.stream)).get(two);
    expect({ state: result?.state, published: result?.published.length }).not.toEqual({
      state: 'complete',
      published: 0,
    });
  },
);
const record = (id: number, bytes: number) => `{"id": ${id}, "raw": "${'x'.repeat(bytes)}"}`;

it('pages of so many bytes are no whole day where a number beside the list counts the page', async () => {
  const list = Array.from({ length: 7 }, (_, n) => record(n + 1, n === 2 || n === 3 ? 6_000 : 50));
  const wrap: Habits['wrap'] = (all) => {
    const fits = all.findIndex((_, n) => all.slice(0, n + 1).join('').length > 10_000);
    const page = all.slice(0, fits === -1 ? all.length : Math.max(1, fits));
    return `{"total":${page.length},"data":[${page.join(',')}]}`;
  };
  const source = new ImaginedSource(
    { [two]: list },
    { wrap, at: (text) => 2_000 * JSON.parse(text).id },
  );
  const exporting: Exporting = { server, source, stream: newStream(), since: two, pageLength: 50 };
  await runOnce(exporting);
  const result = (await readResults(server, exporting.stream)).get(two);
  expect({ state: result?.state, published: result?.published.length }).toEqual({
    state: 'complete',
    published: 7,
  });
});

it('a cap that came when larger days were proven is seen, though a smaller day lies between', async () => {
  const source = new ImaginedSource(
    { [one]: records(1_000, 300), [two]: records(2_000, 90), [three]: records(3_000, 300) },
    { arrange: (list) => list.slice(0, 137) },
  );
  const exporting: Exporting = { server, source, stream: newStream(), since: one, pageLength: 50 };
  await teach(exporting, { proven_size: 500 });
  await runOnce(exporting);
  const results = [...(await readResults(server, exporting.stream)).values()];
  expect(
    results.map(({ state, published }) => (state === 'complete' ? published.length : 0)),
  ).toEqual([300, 90, 300]);
});

it('what is shown again and again is not forgotten after thirty days: lists that are cut by shard', async () => {
  const perShard = (list: readonly string[]) => {
    const counts = new Map<number, number>();
    return list.filter((record) => {
      const shard = idOf(record) % 4;
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
      return (counts.get(shard) ?? 0) <= 5;
    });
  };
  const skewed = (from: number) => [
    ...Array.from({ length: 60 }, (_, n) => `{"id": ${from + 4 * n}}`),
    ...[1, 2, 3].flatMap((shard) => [`{"id": ${from + shard}}`, `{"id": ${from + 40 + shard}}`]),
  ];
  const source = new ImaginedSource(
    { [one]: skewed(1_000), [two]: records(2_000, 15), [three]: skewed(3_000) },
    { arrange: perShard },
  );
  const stream = newStream();
  const run = (days: number) =>
    runOnce({
      server,
      source,
      stream,
      since: one,
      pageLength: 50,
      settleMs: SETTLE_MS + days * 86_400_000,
    });
  await teach(
    { server, source, stream, since: one, settleMs: SETTLE_MS + 2 * 86_400_000 },
    { cut_otherwise: true },
  );
  await server.query(`update daywalk.learned set learned_at = learned_at - interval '29 days'`);
  await run(2);
  expect((await readResults(server, stream)).get(one)).toMatchObject({
    state: 'complete',
    published: { length: 66 },
  });
  await letTimePass(server, '2 days');
  await run(1);
  await run(0);
  const results = [...(await readResults(server, stream)).values()];
  expect(results.map(({ state, published }) => `${state} ${published.length}`)).toEqual([
    'complete 66',
    'complete 15',
    'complete 66',
  ]);
});

it('what is shown again and again is not forgotten after thirty days: totals that stop at a number', async () => {
  const wrap: Habits['wrap'] = (list, total) =>
    `{"total":${Math.min(23, total ?? 0)},"data":[${list.join(',')}]}`;
  const source = new ImaginedSource(
    { [one]: records(1_000, 60), [two]: records(2_000, 70) },
    { totals: 'exact', wrap },
  );
  const exporting = { server, source, stream: newStream(), since: one, pageLength: 40 };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + 2 * 86_400_000 });
  await server.query(`update daywalk.learned set learned_at = learned_at - interval '29 days'`);
  await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
  expect(
    await server.query(
      `select value from daywalk.learned where fact = 'lower_bound' and learned_at > clock_timestamp() - interval '1 day'`,
    ),
  ).toEqual([{ value: 23 }]);
});

const behind = (start: number, page: readonly string[]) => [
  ...Array<string>(start).fill(''),
  ...page,
];

it('a list that begins anew for each start behind its end has ended there', async () => {
  const source = new ImaginedSource(
    { [one]: records(100, 25), [two]: records(200, 3), [three]: records(300, 40) },
    {
      arrange: (list, _, { start }) =>
        start > 0 && start >= list.length ? behind(start, list) : list,
    },
  );
  const exporting: Exporting = { server, source, stream: newStream(), since: one, pageLength: 30 };
  await runOnce(exporting);
  const results = [...(await readResults(server, exporting.stream)).values()];
  expect(results.map(({ state, published }) => `${state} ${published.length}`)).toEqual([
    'complete 25',
    'complete 3',
    'complete 40',
  ]);
  expect(source.asked.length).toBeLessThan(80);
});

it('a list that goes round is not walked for ever', async () => {
  const source = new ImaginedSource(
    { [one]: records(100, 25) },
    {
      arrange: (list, _, { start, length }) =>
        behind(
          start,
          Array.from(
            { length: Math.min(length, list.length) },
            (__, n) => list[(start + n) % list.length] as string,
          ),
        ),
    },
  );
  const exporting: Exporting = { server, source, stream: newStream(), since: one, pageLength: 30 };
  await runOnce(exporting);
  const [result] = (await readResults(server, exporting.stream)).values();
  expect(result?.lastError).toContain('still shows those that came before');
  expect(source.asked.length).toBeLessThan(200);
});

it('days of a new stream are not empty where its source answers ranges of more than 12 hours with nothing', async () => {
  const source = new ImaginedSource(
    { [one]: records(100, 25), [two]: records(200, 3), [three]: records(300, 40) },
    {
      arrange: (list, _, { from, to }) => (secondsOf(to) - secondsOf(from) >= 43_200 ? [] : list),
    },
  );
  const exporting: Exporting = { server, source, stream: newStream(), since: one, pageLength: 50 };
  await runOnce(exporting);
  const results = [...(await readResults(server, exporting.stream)).values()];
  expect(
    results.map(({ state, lastError, published }) => `${lastError ?? state} ${published.length}`),
  ).toEqual(['complete 25', 'complete 3', 'complete 40']);
});

it('days of a source that is asked too fast, and answers so with nothing, are not empty', async () => {
  const five = closedDays(5);
  const counts = [8, 6, 5, 7, 4];
  const lists = five.map((day, n) => [day, records(1_000 * (n + 1), counts[n] ?? 0)] as const);
  const source: ImaginedSource = new ImaginedSource(Object.fromEntries(lists), {
    wrap: (list, _, request) =>
      source.asked.length > 20 && source.asked.length % 3 !== 0
        ? '{"total":0,"data":[],"message":"Please slow down"}'
        : `{"total":${source.within(request).length},"data":[${list.join(',')}],"message":"ok"}`,
  });
  const since = five[0] ?? '';
  const exporting: Exporting = { server, source, stream: newStream(), since, pageLength: 50 };
  await runOnce(exporting);
  const results = [...(await readResults(server, exporting.stream)).values()];
  const held = results.map(({ state, published }, n) =>
    state === 'complete' ? published.length : (counts[n] ?? 0),
  );
  expect(held).toEqual(counts);
});

it.each(['none', 'exact'] as const)(
  "a source that takes 12 o'clock for midnight has no day complete with its mornings twice, totals %s",
  async (totals) => {
    const early = (time: string) => time.replace(' 12:', ' 00:');
    const source: ImaginedSource = new ImaginedSource(
      { [one]: records(1_000, 40), [two]: records(2_000, 30), [three]: records(3_000, 4) },
      {
        totals,
        arrange: (_, __, { from, to, filters }) =>
          source.within({ from: early(from), to: early(to), filters }),
      },
    );
    const stream = newStream();
    const exporting: Exporting = { server, source, stream, since: one, pageLength: 50 };
    await runOnce(exporting);
    const results = [...(await readResults(server, stream)).values()];
    expect(results.map(({ state, published }) => `${state} ${published.length}`)).toEqual([
      'failed 0',
      'failed 0',
      'complete 4',
    ]);
    expect(results[0]?.lastError).toMatch(/both show records that the whole shows once/);
  },
);
