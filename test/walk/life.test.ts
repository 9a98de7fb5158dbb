/** What a source shows and forgets in true time, and what was believed of it once (docs/completeness-cases.md, "How events were lost once"). */
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import { listOldDays, markPruned } from '../../src/retention/rows.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight, atNight } from '../support/night.ts';
import { freshStore } from '../support/store.ts';
import { sharedDatabase } from './exporting.ts';
import { AWAY, everyDay, live, onceADay } from './life.ts';

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});

/** Twelve records on each of these days, none on others. */
const on =
  (...days: readonly number[]) =>
  (day: number) =>
    days.includes(day) ? 12 : 0;

it('a source that is installed anew and empty is not believed by the next run', async () => {
  const { ends } = await live(server, {
    ...{ count: 14, recheckDays: 3, runs: [...onceADay(1, 7), ...everyDay(8, 13)] },
    shows: (now, { at }) => now < 8.5 || at >= 8.5,
  });
  expect(ends[7]).toMatch(/ 12$/);
  expect(ends[8]).toMatch(/^failed/);
});

it('a key that shows nothing any more is not believed after weeks either', async () => {
  const { ends } = await live(server, {
    ...{ count: 17, recheckDays: 0, shows: (now) => now < 1.5 },
    runs: [...everyDay(1, 3), ...onceADay(4, 16)],
  });
  expect(ends.slice(1).filter((end) => end.startsWith('complete'))).toEqual([]);
});

it.each(
  andAtNight<readonly [string, (number: number) => boolean]>(
    [['nothing', () => false]],
    [['a third of its records', (number) => number % 3 === 0]],
  ),
)(
  'an API that is away for 16 days, while runs go on, is not believed where it comes back with %s',
  async (_, isLeft) => {
    const { ends } = await live(server, {
      ...{ count: 21, recheckDays: 7, runs: [...everyDay(1, 3), ...onceADay(4, 20)] },
      fails: (now) => (now > 3.5 && now < 19 ? AWAY : null),
      shows: (now, { number }) => now < 3.5 || isLeft(number),
    });
    expect(ends.slice(3).filter((end) => end.startsWith('complete'))).toEqual([]);
  },
);

describe('a quiet stream whose key is narrowed', () => {
  atNight('with one day that is known', async () => {
    const { ends } = await live(server, {
      ...{ count: 16, recheckDays: 7, sizeOf: on(0, 5, 7), runs: onceADay(1, 14) },
      shows: (now) => now < 5.5 || now > 13.9,
    });
    for (const end of [ends[5], ends[7]]) expect(end).toMatch(/^failed|complete 12/);
  });

  atNight('to a third, with one day that was seen since the source was accepted', async () => {
    const { ends } = await live(server, {
      ...{ count: 12, sizeOf: on(0, 5), runs: everyDay(1, 9), acceptedAt: everyDay(2, 2)[1] },
      shows: (now, { number }) => now < 6 || number % 3 === 0,
    });
    expect(ends[5]).toMatch(/^failed/);
  });

  it('to nothing, with one day that was pruned', async () => {
    const prune = async (now: number, stream: string) => {
      if (now < 4 || now > 7) return;
      const database = sharedDatabase(server);
      const limits = [{ stream, olderThanMs: 2 * 86_400_000 }];
      for (const day of await listOldDays(database, 'day', limits))
        if (day.kept === null) await markPruned(database, 'day', day);
    };
    const { ends } = await live(server, {
      ...{ count: 12, recheckDays: 2, sizeOf: on(0, 7), runs: everyDay(1, 10), after: prune },
      shows: (now) => now < 8,
    });
    expect(ends[7]).toMatch(/^failed/);
  });
});

atNight('a forgotten day of a quiet stream is not lost where runs come at odd hours', async () => {
  const { lost } = await live(server, {
    ...{ count: 12, recheckDays: 9, sizeOf: on(0, 3) },
    runs: [1.1, 1.2, 2.1, 3.1, 4.1, 4.2, 5.9, 7.0, 8.2, 8.3, 9.3, 10.3],
    shows: (now, { day }) => now < day + 5,
  });
  expect(lost).toEqual([]);
});

describe('a source that keeps each event for seven days, behind a rest of nine', () => {
  const world = {
    ...{ count: 14, runs: [...onceADay(1, 3), ...everyDay(12, 12), 13.02] },
    shows: (now: number, { at }: { at: number }) => now < at + 7,
  };

  it('shows a part of a day, which is not complete', async () => {
    const { ends } = await live(server, world);
    expect(ends.slice(3, 6)).toEqual(['failed 0', 'failed 0', 'failed 0']);
    expect(ends.slice(6, 12)).toEqual(Array(6).fill('complete 12'));
  });

  it('has whole days behind that one, though it may be asked for a day at most', async () => {
    const { ends } = await live(server, {
      ...world,
      fails: (_, __, { from, to }) =>
        Date.parse(to) - Date.parse(from) > 86_400_000 ? new RequestError(400, 'too long') : null,
    });
    expect(ends.slice(6, 12)).toEqual(Array(6).fill('complete 12'));
  });

  atNight('is complete when a person has accepted that', async () => {
    const { ends } = await live(server, { ...world, acceptedAt: everyDay(12, 12)[1] });
    expect(ends.filter((end) => end.startsWith('failed'))).toEqual([]);
  });
});

it('a day behind one that is gone alone is complete, though it is older than that one was when it was seen', async () => {
  const { ends, lost } = await live(server, {
    ...{ count: 10, runs: Array.from({ length: 9 }, (_, day) => 1.02 + 1.001 * day) },
    shows: (now, { day }) => day !== 4 || now < 5.5,
  });
  expect(ends).toEqual(Array(9).fill('complete 12'));
  expect(lost).toEqual([4]);
});

/** The source is accepted in the run before the last one, when it has forgotten what it showed first. */
const acceptedLate = [...onceADay(1, 7), ...everyDay(8, 8), 9.02];

it.each(
  andAtNight<readonly [string, Error]>(
    [['404', new RequestError(404, 'no such index')]],
    [['500', AWAY]],
  ),
)(
  'a source that is installed anew, and answers %s for older days, is no API that is away, and has its days when it is accepted',
  async (_, error) => {
    const { ends, lost } = await live(server, {
      ...{ count: 10, runs: acceptedLate, acceptedAt: acceptedLate.at(-2) },
      // At noon of day 2; it keeps its events for five days.
      shows: (now, { at }) => now < at + 5 && (now < 2.5 || at > 2.5),
      fails: (now, day) => (now > 2.5 && day < 2 ? error : null),
    });
    expect(ends.slice(3)).toEqual(Array(6).fill('complete 12'));
    expect(lost).toEqual([]);
  },
);

it.each(andAtNight(['exact'], ['none']))(
  'what was walked while nothing was believed is shown when the source is accepted and has forgotten it, totals %s',
  async (totals) => {
    const { ends, lost } = await live(server, {
      ...{ count: 10, totals, runs: acceptedLate, acceptedAt: acceptedLate.at(-2) },
      sizeOf: (day) => (day === 3 ? 90 : 12),
      // It is installed anew at noon of day 2, and keeps its events for five days.
      shows: (now, { at }) => now < at + 5 && (now < 2.5 || at > 2.5),
    });
    expect(ends.slice(3)).toEqual(['complete 90', ...Array(5).fill('complete 12')]);
    expect(lost).toEqual([]);
  },
);

atNight(
  'what was walked while nothing was believed is not shown where the source has come to show other records',
  async () => {
    const { ends } = await live(server, {
      ...{ count: 10, runs: everyDay(1, 9), acceptedAt: everyDay(8, 8)[1] },
      shows: (now, { number }) => now < 4.5 || (now < 7 ? number < 5 : number >= 9),
    });
    expect(ends.slice(4)).toEqual(Array(5).fill('complete 3'));
  },
);
