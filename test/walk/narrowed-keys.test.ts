/** Known answers once a key is narrowed, or is somebody else's: what was proven is not as ever, and nothing new is believed. */
import { describe, expect, it } from 'vitest';
import { PageFailedError } from '../../src/errors.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight, atNight } from '../support/night.ts';
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
} from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';
import { everyDay, live } from './life.ts';

let server: TestDatabase;

freshStore((store) => {
  ({ server } = store);
});

describe('known answers', () => {
  it.each(andAtNight([0], [3]))(
    'that show the records of somebody else are not as ever, recheck_days %i',
    async (recheckDays) => {
      // At noon of day 4 the key of another tenant takes the place of this one's.
      const { ends, lost } = await live(server, {
        ...{ count: 9, recheckDays, runs: everyDay(1, 8), sizeOf: () => 24, idPath: ['id'] },
        shows: (now, { number }) => (now < 4.5 ? number < 12 : number >= 12),
      });
      expect(ends.slice(4).filter((end) => end.startsWith('complete'))).toEqual([]);
      expect(lost).toEqual([]);
    },
  );

  it.each(andAtNight<readonly ['none' | 'exact', number]>([['exact', 90]], [['none', 12]]))(
    'that are walked again, and lack two thirds then, are none any more, totals %s, a day of %i',
    async (totals, size) => {
      const { ends } = await live(server, {
        ...{ count: 9, recheckDays: 7, totals, runs: everyDay(1, 8) },
        // The stream is quiet: one day is known when its key is narrowed.
        sizeOf: (day) => (day === 0 ? size : [5, 6].includes(day) ? 12 : 0),
        shows: (now, { number }) => now < 5.5 || number % 3 === 0,
      });
      expect(ends.slice(5, 7).filter((end) => end === 'complete 4')).toEqual([]);
    },
  );

  atNight(
    'that are walked again by a narrowed key are none, where older ones are forgotten',
    async () => {
      const { ends } = await live(server, {
        ...{ count: 14, recheckDays: 1 },
        runs: [...everyDay(1, 7), ...everyDay(10, 13)],
        shows: (now, { at, number }) => now < at + 6.5 && (now < 6.8 || number % 3 === 0),
      });
      expect(ends.slice(6).filter((end) => end === 'complete 4')).toEqual([]);
    },
  );

  it('are as ever behind what came late, newest first, however much that is', async () => {
    // An agent that was offline hands in what it had of the last days.
    const { ends } = await live(server, {
      ...{ count: 6, recheckDays: 7, sizeOf: () => 90, idPath: ['id'] },
      runs: everyDay(3, 6),
      shows: (now, { day, number }) => number < 12 || (now >= 5 && day < 4),
      habits: { arrange: (list) => [...list].reverse() },
    });
    expect(ends).toEqual([...Array(4).fill('complete 90'), ...Array(2).fill('complete 12')]);
  });
});

it('what a key shows that is narrowed in the middle of a run is no known answer, and is looked at again once the key is as before', async () => {
  const days = closedDays(8);
  let isNarrowed = false;
  let mayNarrow = true;
  const source = new ImaginedSource(
    Object.fromEntries(days.map((day, index) => [day, records(1_000 * (index + 1), 24)])),
    {
      before: (_, { from }) => {
        isNarrowed ||= mayNarrow && from.startsWith(days[3] ?? '');
      },
      arrange: (list) => (isNarrowed ? list.filter((_, index) => index % 3 === 0) : list),
    },
  );
  const stream = newStream();
  const exporting = { server, source, stream, since: days[0] ?? '', pageLength: 30 };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
  await letTimePass(server, '2 hours');
  await runOnce(exporting);
  expect((await readResults(server, stream)).get(days[7] ?? '')?.state).toBe('failed');
  isNarrowed = mayNarrow = false;
  for (let run = 0; run < 2; run += 1) {
    await letTimePass(server, '7 hours');
    await runOnce(exporting);
  }
  const results = [...(await exported(exporting)).values()];
  expect(results.map(({ state, published }) => `${state} ${published.length}`)).toEqual(
    days.map(() => 'complete 24'),
  );
});

it('a day that showed the records of somebody else while nothing was believed has none of them behind daywalk accept', async () => {
  const [own = '', other = '', empty = ''] = closedDays(3);
  let isForeign = false;
  const foreign = (list: readonly string[]) =>
    list.map((record) => record.replace('id": ', 'id": 7'));
  const source = new ImaginedSource(
    { [own]: records(1_000, 12), [other]: records(2_000, 13), [empty]: [] },
    {
      arrange: (list, _, { from, to }) => {
        if (!isForeign) return list;
        const isDay = from.startsWith(empty) && to.startsWith(empty);
        return isDay ? records(9_000, 6) : foreign(list);
      },
    },
  );
  const stream = newStream({ idPath: ['id'] });
  const exporting = { server, source, stream, since: own, pageLength: 30, recheckDays: 7 };
  await runOnce({ ...exporting, settleMs: SETTLE_MS + 86_400_000 });
  isForeign = true;
  await letTimePass(server, '2 hours');
  await runOnce(exporting);
  isForeign = false;
  await accept(server, stream);
  expect((await exported(exporting)).get(empty)?.state).toBe('complete');
});

it.each(andAtNight(['none'], ['exact']))(
  'days that a key must not see at first are not empty once it may, also those of which the looks are over, totals %s',
  async (totals) => {
    const { ends } = await live(server, {
      ...{ count: 9, recheckDays: 1, totals, sizeOf: (day) => (day === 2 ? 0 : 12) },
      runs: [5.02, 5.1, 6.1, 7.1, ...everyDay(8, 9)],
      shows: (now) => now >= 8,
    });
    expect(ends).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8].map((day) => `complete ${day === 2 ? 0 : 12}`),
    );
  },
);

it('days that a key must not see at first are looked at again once it may, also where the first of those looks is refused', async () => {
  const { ends } = await live(server, {
    ...{ count: 9, recheckDays: 1, runs: [5.02, 5.1, 6.1, 7.1, ...everyDay(8, 9)] },
    shows: (now) => now >= 8,
    fails: (now, day) =>
      now < 8.09 && now > 8 && day < 4 ? new PageFailedError('HTTP 500') : null,
  });
  expect(ends).toEqual(Array(9).fill('complete 12'));
});

it('a stream with records has no empty day looked at again where its contract is learned anew', async () => {
  const [empty = '', busy = ''] = closedDays(2);
  const source = new ImaginedSource({ [empty]: [], [busy]: records(1_000, 12) });
  const exporting = { server, source, stream: newStream(), since: empty };
  await runOnce(exporting);
  await letTimePass(server, '1 day');
  await runOnce(exporting);
  await server.query('delete from daywalk.contracts');
  await server.query(
    'update daywalk.windows set rewalk = true, due_at = clock_timestamp() where day = $1',
    [busy],
  );
  await runOnce(exporting);
  await runOnce(exporting);
  expect(await server.query('select from daywalk.contracts')).toHaveLength(1);
  expect(
    await server.query(`select looks from daywalk.windows where kind = 'day' and day = $1`, [
      empty,
    ]),
  ).toEqual([{ looks: 1 }]);
});
