/** Windows of many records: split by time before they are walked, where the source tells a total that can be aimed by. */
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, complaints, newStream, readResults, runOnce } from './exporting.ts';
import { type Habits, ImaginedSource, idOf } from './imagined-source.ts';

const RECORDS = 60;
const MOST = 20;
const PAGE = 5;
const list = Array.from({ length: RECORDS }, (_, id) => `{"id": ${id}}`);

let server: TestDatabase;
const days = closedDays(2);
const [, day = ''] = days;

freshStore((store) => {
  ({ server } = store);
});

async function exported(habits: Habits, since = day) {
  const source = new ImaginedSource(Object.fromEntries(days.map((one) => [one, list])), habits);
  const stream = newStream();
  await runOnce({ server, source, stream, since, pageLength: PAGE, windowRecords: MOST });
  expect(await complaints(server, source, stream)).toEqual([]);
  return { source, results: await readResults(server, stream) };
}

const deepest = (source: ImaginedSource) => Math.max(...source.asked.map(({ start }) => start));
describe('a window whose total is large', () => {
  it('is split, so that no page lies deeper than a part is large, and each record is there once', async () => {
    const { source, results } = await exported({ totals: 'exact' });
    expect(results.get(day)).toMatchObject({ state: 'complete', published: list.toSorted() });
    expect(results.get(day)?.windows).toBeGreaterThan(RECORDS / MOST);
    expect(deepest(source)).toBeLessThanOrEqual(MOST);
    // Beside the pages: an end and a cut for each part, halves for the largest, and once how far a cut must reach.
    expect(source.asked.length).toBeLessThan(
      RECORDS / (PAGE - 1) + 5 * (results.get(day)?.windows ?? 0) + 40,
    );
  });

  it('tells why it was split', async () => {
    await exported({ totals: 'exact' });
    expect(
      await server.query(
        `select split_by, split_reason, split_total::int as total from daywalk.windows where kind = 'day'`,
      ),
    ).toEqual([
      {
        split_by: 'time',
        split_reason: 'the total says 60: more than 20 records are walked in parts',
        total: RECORDS,
      },
    ]);
  });

  it('is not, where the total is the same for each of its halves: it counts something else, and the reason says so', async () => {
    const wrap = (records: readonly string[]) =>
      `{"total":${RECORDS},"data":[${records.join(',')}]}`;
    const { results } = await exported({ wrap });
    expect(results.get(day)).toMatchObject({ state: 'failed', windows: 1 });
    expect(results.get(day)?.lastError).toContain('total_path');
  });

  it('is walked whole without a total, and with one that is a lower bound', async () => {
    expect((await exported({})).results.get(day)?.state).toBe('complete');
    const wrap = (records: readonly string[], total: number | null) => {
      const told = Math.min(total ?? 0, 40);
      const relation = told === total ? 'eq' : 'gte';
      return `{"hits":{"total":{"value":${told},"relation":"${relation}"},"hits":[${records.join(',')}]}}`;
    };
    const { results } = await exported({ wrap, totals: 'exact' });
    expect(results.get(day)).toMatchObject({ state: 'complete' });
  });

  it('is split down to a second that holds them all, and that second is walked whole', async () => {
    const { source, results } = await exported({ totals: 'exact', at: () => 45_296 });
    expect(results.get(day)).toMatchObject({ state: 'complete', published: list.toSorted() });
    expect(deepest(source)).toBeGreaterThan(MOST);
    expect(source.asked.length).toBeLessThan(400);
  });

  it.each(andAtNight([['first', 1, 0]], [['last', 0, 1]]))(
    'is cut between seconds, where the %s one of a window is excluded',
    async (_, after, before) => {
      const at = (record: string) => 44_998 + 7 * (idOf(record) % 12);
      const arrange: Habits['arrange'] = (records, __, { from, to }) =>
        records.filter(
          (record) =>
            at(record) >= daySecondsOf(from) + after && at(record) <= daySecondsOf(to) - before,
        );
      const { results } = await exported({ totals: 'exact', at, arrange });
      expect(results.get(day)).toMatchObject({ state: 'complete', published: list.toSorted() });
      expect(await server.query(`select value from daywalk.learned where fact = 'reach'`)).toEqual([
        { value: 1 },
      ]);
    },
  );
});

it.each([
  ['first', 86_303, 1, 0],
  ['last', 86_302, 0, 1],
])(
  'one event beside a midnight shows how far a cut must reach, where the %s second of a window is excluded',
  async (_, second, after, before) => {
    const at = () => second;
    const arrange: Habits['arrange'] = (records, __, { from, to }) =>
      records.filter(
        () => daySecondsOf(from) + after <= second && second <= daySecondsOf(to) - before,
      );
    const source = new ImaginedSource({ [day]: ['{"id": 1}'] }, { totals: 'exact', at, arrange });
    await runOnce({ server, source, stream: newStream(), since: day, pageLength: PAGE });
    expect(await server.query(`select value from daywalk.learned where fact = 'reach'`)).toEqual([
      { value: 1 },
    ]);
  },
);

it('is walked to the end of what is shown of it on two days, where its total tells of more, and then no more', async () => {
  const three = closedDays(3);
  const [first = '', second = ''] = three;
  const source: ImaginedSource = new ImaginedSource(
    Object.fromEntries(three.map((one) => [one, list])),
    {
      arrange: (records) => records.slice(0, MOST),
      wrap: (records, _, request) =>
        `{"total":${source.within(request).length},"data":[${records.join(',')}]}`,
    },
  );
  const exporting = { server, source, stream: newStream(), pageLength: PAGE };
  await runOnce({ ...exporting, since: second });
  expect(await server.query(`select value from daywalk.learned where fact = 'offset_cap'`)).toEqual(
    [{ value: MOST }],
  );
  const asked = source.asked.length;
  await runOnce({ ...exporting, since: first });
  for (const result of (await readResults(server, exporting.stream)).values())
    expect(result).toMatchObject({ state: 'complete', published: list.toSorted() });
  const whole = ({ from, to }: { from: string; to: string }) =>
    from === `${first} 00:00:00` && to === `${first} 23:59:59`;
  const deep = source.asked.slice(asked).filter(({ start }) => start > 0);
  expect(deep.filter(whole)).toEqual([]);
});

/** Seconds from the beginning of the day, also those before and behind it. */
const daySecondsOf = (time: string): number =>
  (Date.parse(`${time.replace(' ', 'T')}Z`) - Date.parse(`${day}T00:00:00Z`)) / 1_000;

it.each([
  ['says so', '"gte"'],
  ['does not say so', '"eq"'],
])(
  'totals that stop at a number, of which the source %s, count the records of a day whose list is cut without a word',
  async (_, relation) => {
    const many = Array.from({ length: 170 }, (__, id) => `{"id": ${id}}`);
    const source: ImaginedSource = new ImaginedSource(
      { [day]: many },
      {
        totals: 'exact',
        arrange: (all) => all.slice(0, 20),
        wrap: (page, __, request) => {
          const count = source.within(request).length;
          const told =
            count > 40
              ? `{"value":40,"relation":${relation}}`
              : `{"value":${count},"relation":"eq"}`;
          return `{"total":${told},"data":[${page.join(',')}]}`;
        },
      },
    );
    const stream = newStream();
    await runOnce({ server, source, stream, since: day, pageLength: 15 });
    expect(await complaints(server, source, stream)).toEqual([]);
    expect((await readResults(server, stream)).get(day)).toMatchObject({
      state: 'complete',
      published: many.toSorted(),
    });
  },
);

it('a round number that stands where a total would is told as one that counts something else, also where short ranges are refused', async () => {
  const source = new ImaginedSource(
    { [day]: records(1, 60) },
    {
      wrap: (page) => `{"total":1000,"data":[${page.join(',')}]}`,
      before: (_, { from, to }) => {
        if (Date.parse(to) - Date.parse(from) < 5 * 3_600_000)
          throw new RequestError(400, 'the range is too short');
      },
    },
  );
  const stream = newStream();
  await runOnce({ server, source, stream, since: day, pageLength: 15, windowRecords: 100 });
  const { lastError } = (await readResults(server, stream)).get(day) ?? {};
  expect(lastError).toMatch(/total_path/);
});
