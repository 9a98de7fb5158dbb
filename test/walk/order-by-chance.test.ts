/** Midnights around which more stands than a page, in an order that is another one in each answer, or than any list (docs/completeness.md C7, C8). */
import { describe, expect, it } from 'vitest';
import type { PageRequest } from '../../src/model.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, exported, newStream, teach } from './exporting.ts';
import { type Habits, ImaginedSource, idOf, secondOf } from './imagined-source.ts';

let server: TestDatabase;
const [first = '', second = ''] = closedDays(2);

freshStore((store) => {
  ({ server } = store);
});

/** Of the first day's last second and of its last fraction, which no window of a day shows, and of the first one behind. */
const MIDNIGHT = 86_399;
const FRACTIONS = [MIDNIGHT, MIDNIGHT + 0.7];
const at = (record: string): number => {
  const id = idOf(record);
  if (id < 1_012) return FRACTIONS[id % 2] ?? 0;
  return id >= 2_000 && id < 2_004 ? 0 : secondOf(record);
};

/** By their seconds; those of one second in another order for each request. */
const byChance: NonNullable<Habits['arrange']> = (list, number) =>
  list
    .map((record, index) => ({
      record,
      second: Math.floor(at(record)) + (idOf(record) < 2_000 ? 0 : 86_400),
      chance: Math.sin(number * 7_919 + index * 104_729),
    }))
    .sort((one, other) => one.second - other.second || one.chance - other.chance)
    .map(({ record }) => record);

describe('more than a page around a midnight, in an order by chance', () => {
  it.each(andAtNight(['none'], ['exact']))(
    'is united until nothing is missing, totals %s',
    async (totals) => {
      const lists = { [first]: records(1_000, 30), [second]: records(2_000, 24) };
      const source = new ImaginedSource(lists, { totals, at, arrange: byChance, clamp: 10 });
      const exporting = {
        server,
        source,
        stream: newStream(),
        since: first,
        pageLength: 10,
        recheckDays: 7,
      };
      for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
      const look = () =>
        server.query(
          "update daywalk.windows set due_at = clock_timestamp() where state = 'complete' and due_at is not null",
        );
      const across = async () =>
        (
          await server.query(
            "select k.walk_id from daywalk.walks k join daywalk.windows w using (window_id) where w.kind = 'cut' and w.midnight = $1",
            [first],
          )
        ).length;
      const walked = await across();
      await look();
      const asked = source.asked.length;
      for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
      expect(source.asked.length - asked).toBeLessThan(120);
      expect(await across()).toBe(walked);
      // One more of the last fraction, which the cut alone shows.
      source.lists.set(`${first} 00:00:00`, [
        ...(lists[first] ?? []),
        '{"id": 1001, "late": true}',
      ]);
      await look();
      for (const { state } of (await exported(exporting, 2)).values())
        expect(state).toBe('complete');
    },
  );

  it('is not looked at by an answer that is said to be partial', async () => {
    let isAway = false;
    const late = '{"id": 1001, "late": true}';
    const lists = { [first]: records(1_000, 30), [second]: records(2_000, 24) };
    const isAcross = (asked: PageRequest) =>
      asked.from.startsWith(first) && asked.to.startsWith(second);
    const source = new ImaginedSource(lists, {
      at,
      arrange: (list, number, request) =>
        byChance(isAway ? list.filter((record) => record !== late) : list, number, request),
      wrap: (list, _, request) =>
        `{"data":[${list.join(',')}]${isAway && isAcross(request) ? ',"partial":true' : ''}}`,
      clamp: 10,
    });
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 10 };
    const run = () => exported({ ...exporting, recheckDays: 7 });
    await run();
    await letTimePass(server, '90 minutes');
    source.lists.set(`${first} 00:00:00`, [...(lists[first] ?? []), late]);
    isAway = true;
    await run();
    isAway = false;
    await letTimePass(server, '90 minutes');
    for (const { state } of (await run()).values()) expect(state).toBe('complete');
  });

  it('is given up where pages never end', async () => {
    const source = new ImaginedSource(
      { [first]: records(1_000, 30), [second]: records(2_000, 24) },
      {
        at,
        arrange: (list, number, request) => {
          const all = byChance(list, number, request);
          // Behind what is there the same comes again, in another order.
          return request.from.startsWith(first) && request.to.startsWith(second)
            ? Array.from({ length: 99 }, () => all).flat()
            : all;
        },
        clamp: 10,
      },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 10 };
    for (const { state } of (await exported(exporting)).values()) expect(state).toBe('failed');
    expect(source.asked.length).toBeLessThan(400);
  });

  it('counts two that are equal, as pages show them', async () => {
    const source = new ImaginedSource(
      { [first]: [...records(1_000, 30), '{"id": 1001}'], [second]: records(2_000, 24) },
      { at, arrange: byChance, clamp: 10 },
    );
    const exporting = { server, source, stream: newStream(), since: first, pageLength: 10 };
    for (const { state } of (await exported(exporting, 2)).values()) expect(state).toBe('complete');
  });
});

describe('more around a midnight than any list has shown', () => {
  const lists = { [first]: records(1_000, 11), [second]: records(2_000, 4) };
  const exportOf = (habits: Habits) => {
    const source = new ImaginedSource(lists, { at, ...habits });
    return { server, source, stream: newStream(), since: first, pageLength: 50 };
  };

  it('is whole where both sides show less', async () => {
    for (const { state } of (await exported(exportOf({}), 2)).values())
      expect(state).toBe('complete');
  });

  it('is not, where a cap cuts it', async () => {
    const arrange: Habits['arrange'] = (list) => list.slice(0, 11);
    for (const { state } of (await exported(exportOf({ arrange }), 2)).values())
      expect(state).toBe('failed');
  });
});

describe('three of one minute, which trade places', () => {
  /** Records 11, 12 and 13 stand around the boundaries of pages of 7 and of 5; with 6, one boundary shows that the order does not hold. */
  const trading: NonNullable<Habits['arrange']> = (list, _number, { start, length }) => {
    if (list.length !== 30) return list;
    const order = [...list];
    const swap = (one: number, other: number) =>
      ([order[one], order[other]] = [order[other] ?? '', order[one] ?? '']);
    if (start === 12) swap(11, 13);
    if (length === 6 && start === 15) swap(15, 16);
    return order;
  };

  it('may bring the same one twice with two lengths, where the third walk has shown that the order does not hold', async () => {
    const source = new ImaginedSource(
      { [second]: records(1_000, 30) },
      { totals: 'exact', at: (record) => (idOf(record) - 1_000) * 2_000, arrange: trading },
    );
    const exporting = {
      server,
      source,
      stream: newStream(),
      since: second,
      pageLength: 7,
      concurrency: 1,
    };
    await teach(exporting, { calibrated: 50, proven_size: 50 });
    for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
  });
});

it('an identified record that comes twice, with another text, is seen to stand on two pages', async () => {
  const source = new ImaginedSource(
    { [second]: records(1_000, 20) },
    {
      totals: 'exact',
      arrange: (list, _, { start }) =>
        start === 12 && list.length === 20
          ? list
              .with(11, list[13] ?? '')
              .with(13, (list[11] ?? '').replace('{', '{"again": true, '))
          : list,
    },
  );
  const stream = newStream({ idPath: ['id'] });
  const exporting = { server, source, stream, since: second, pageLength: 7, concurrency: 1 };
  await teach(exporting, { calibrated: 50, proven_size: 50 });
  for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
});

describe('a list that moved under two walks', () => {
  /**
   * The whole of 40 moves whenever it is walked on; in the part that holds 20, two trade places around a boundary of pages of 7, and
   * the one that comes twice has another text then.
   */
  const moving: NonNullable<Habits['arrange']> = (list, _number, { start }) => {
    const order = [...list];
    const swap = (one: number, other: number) =>
      ([order[one], order[other]] = [order[other] ?? '', order[one] ?? '']);
    if (list.length === 40 && start > 0) swap(start, start + 1);
    if (list.length === 20 && start === 12) {
      swap(11, 13);
      order[13] = order[13]?.replace('{', '{"again": true, ') ?? '';
    }
    return order;
  };
  /** Twenty of one stretch of seven minutes, and ten on either side. */
  const dense = (record: string): number => {
    const index = idOf(record) - 1_000;
    if (index < 10) return index * 3_000;
    return index < 30 ? 40_000 + index * 20 : 50_000 + (index - 30) * 3_000;
  };

  it('is not whole where one walk of a part has as many as its total tells', async () => {
    const source = new ImaginedSource(
      { [second]: records(1_000, 40) },
      { totals: 'exact', at: dense, arrange: moving },
    );
    const stream = newStream();
    const exporting = { server, source, stream, since: second, pageLength: 7, concurrency: 1 };
    await teach(exporting, { calibrated: 50, proven_size: 50 });
    for (const { state } of (await exported(exporting)).values()) expect(state).toBe('complete');
  });
});

describe('more than a page within one second, which no range of that second shows, in an order by chance', () => {
  const [known = '', dense = ''] = closedDays(2);
  const together = (record: string) => (idOf(record) < 2_000 ? secondOf(record) : 40_000.5);
  const shuffled: NonNullable<Habits['arrange']> = (list, number) =>
    list
      .map((record, index) => ({ record, chance: Math.sin(number * 7_919 + index * 104_729) }))
      .sort((one, other) => one.chance - other.chance)
      .map(({ record }) => record);
  const exportOf = (totals: NonNullable<Habits['totals']>) => {
    const lists = { [known]: records(1_000, 9), [dense]: records(2_000, 25) };
    const habits: Habits = { totals, at: together, arrange: shuffled, clamp: 10 };
    const source = new ImaginedSource(lists, habits);
    return { server, source, stream: newStream(), since: known, pageLength: 10 };
  };

  it('is united, and told to be whole by a total', async () => {
    for (const { state } of (await exported(exportOf('exact'), 3)).values())
      expect(state).toBe('complete');
  });

  it('is not without a total, as a cap might cut all its walks', async () => {
    expect((await exported(exportOf('none'), 3)).get(dense)?.state).toBe('failed');
  });
});
