/** Lives of weeks, with two runs a day: those of life.test.ts at their full length, and with other settings. */
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../src/errors.ts';
import type { TestDatabase } from '../support/database.ts';
import { freshStore } from '../support/store.ts';
import { AWAY, everyDay, live } from './life.ts';

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});

it.each([3, 7])(
  'a source that is installed anew and empty is not believed by the next run, recheck_days %i',
  async (recheckDays) => {
    const { ends } = await live(server, {
      count: 20,
      recheckDays,
      runs: everyDay(1, 19),
      shows: (now, { at }) => now < 12.5 || at >= 12.5,
    });
    expect(ends[11]).toMatch(/ 12$/);
    expect(ends[12]).toMatch(/^failed/);
  },
);

it.each([0, 1])(
  'a key that shows nothing any more is not believed after weeks either, recheck_days %i',
  async (recheckDays) => {
    const { ends } = await live(server, {
      ...{ count: 30, recheckDays, runs: everyDay(1, 29), shows: (now) => now < 5.5 },
    });
    expect(ends.slice(5).filter((end) => end.startsWith('complete'))).toEqual([]);
  },
);

describe('an API that is away for 16 days, while runs go on', () => {
  const fails = (now: number) => (now > 5 && now < 21 ? AWAY : null);
  const runs = everyDay(1, 25);

  it('is not believed where it comes back with a third of its records', async () => {
    const shows = (now: number, { number }: { number: number }) => now < 5 || number % 3 === 0;
    const { ends } = await live(server, { count: 26, recheckDays: 7, runs, fails, shows });
    expect(ends.slice(5).filter((end) => end.startsWith('complete'))).toEqual([]);
  });

  it('is not believed where it comes back empty', async () => {
    const { ends } = await live(server, {
      ...{ count: 26, recheckDays: 7, runs, fails, shows: (now) => now < 5 },
    });
    expect(ends.slice(5).filter((end) => end.startsWith('complete'))).toEqual([]);
  });
});

it.each([0, 3, 7])(
  'a quiet stream whose key is narrowed with one day that is known, recheck_days %i',
  async (recheckDays) => {
    const { ends } = await live(server, {
      ...{ count: 16, recheckDays, runs: everyDay(1, 14) },
      sizeOf: (day) => ([0, 5, 7].includes(day) ? 12 : 0),
      shows: (now) => now < 5.5 || now > 13.9,
    });
    for (const end of [ends[5], ends[7]]) expect(end).toMatch(/^failed|complete 12/);
  },
);

it.each([
  ['404', new RequestError(404, 'no such index')],
  ['500', AWAY],
] as const)(
  'a source that is installed anew, and answers %s for older days, is no API that is away, and has its days when it is accepted',
  async (_, error) => {
    const { ends, lost } = await live(server, {
      ...{ count: 24, runs: everyDay(1, 23), acceptedAt: everyDay(22, 22)[1] },
      // At noon of day 12; it keeps its events for five days.
      shows: (now, { at }) => now < at + 5 && (now < 12.5 || at > 12.5),
      fails: (now, day) => (now > 12.5 && day < 12 ? error : null),
    });
    expect(ends.slice(13)).toEqual(Array(10).fill('complete 12'));
    expect(lost).toEqual([]);
  },
);

it.each(['none', 'exact'] as const)(
  'what was walked while nothing was believed is shown when the source is accepted and has forgotten it, totals %s',
  async (totals) => {
    const { ends, lost } = await live(server, {
      ...{ count: 24, totals, runs: everyDay(1, 23), acceptedAt: everyDay(22, 22)[1] },
      sizeOf: (day) => (day === 16 ? 90 : 12),
      // It is installed anew at noon of day 12, and keeps its events for five days.
      shows: (now, { at }) => now < at + 5 && (now < 12.5 || at > 12.5),
    });
    expect(ends.slice(13)).toEqual(ends.slice(13).map((_, i) => `complete ${i === 3 ? 90 : 12}`));
    expect(lost).toEqual([]);
  },
);
