/** The plan of a backfill: a step for each day and stream that was asked for, and a reason for each. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { WINDOW_STATES } from '../../src/model.ts';
import {
  BACKFILL_ONLY,
  type BackfillInput,
  type PlannedDay,
  planBackfill,
} from '../../src/plan/backfill.ts';
import { addDays, closesAt, daysBetween, lastClosedDay } from '../../src/plan/days.ts';
import { leastCpu } from './least-cpu.ts';
import { settle, zoneAndInstant } from './zones.ts';

const input: fc.Arbitrary<BackfillInput> = fc
  .record({
    place: zoneAndInstant,
    settleMs: settle,
    start: fc.integer({ min: -30, max: 3 }),
    count: fc.integer({ min: 0, max: 20 }),
    only: fc.option(fc.constantFrom(...BACKFILL_ONLY)),
    newestFirst: fc.boolean(),
    stores: fc.array(
      fc.array(
        fc.record({
          by: fc.integer({ min: -30, max: 3 }),
          state: fc.constantFrom(...WINDOW_STATES),
        }),
        { maxLength: 25 },
      ),
      { maxLength: 3 },
    ),
  })
  .map(({ place: { timeZone, now }, settleMs, start, count, only, newestFirst, stores }) => {
    const last = lastClosedDay(now, timeZone, settleMs);
    const from = addDays(last, start);
    const streams = stores.map((windows, i) => ({
      name: `stream-${i}`,
      known: new Map<string, PlannedDay>(windows.map(({ by, ...one }) => [addDays(last, by), one])),
    }));
    const to = addDays(from, count);
    return { from, to, newestFirst, streams, timeZone, settleMs, now, ...(only && { only }) };
  });

describe('a backfill', () => {
  it('has one step for each day of the range and each stream, in order, newest first when asked', () => {
    fc.assert(
      fc.property(input, (given) => {
        const days = daysBetween(given.from, given.to);
        if (given.newestFirst) days.reverse();
        expect(planBackfill(given).map(({ stream, window }) => `${window.day} ${stream}`)).toEqual(
          days.flatMap((day) => given.streams.map(({ name }) => `${day} ${name}`)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('never walks a day that is not closed (I8), and says when it closes', () => {
    fc.assert(
      fc.property(input, (given) => {
        for (const { window, state, action, closesAt: closes, reason } of planBackfill(given)) {
          const expected = closesAt(window.day, given.timeZone, given.settleMs);
          if (expected <= given.now) {
            expect([state === 'open', closes]).toEqual([false, null]);
          } else {
            expect([state, action, closes]).toEqual(['open', 'skip', expected]);
            expect(reason).toContain(new Date(expected).toISOString().slice(0, 19));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  const now = Date.parse('2024-03-10T12:00:00Z');
  const known = new Map<string, PlannedDay>([
    ['2024-03-02', { state: 'pending' }],
    ['2024-03-03', { state: 'failed' }],
    ['2024-03-04', { state: 'failed' }],
    ['2024-03-05', { state: 'complete' }],
    ['2024-03-06', { state: 'split' }],
  ]);
  const range = {
    from: '2024-03-01',
    to: '2024-03-06',
    newestFirst: false,
    streams: [{ name: 'events', known }],
    timeZone: 'UTC',
    settleMs: 3_600_000,
    now,
  };

  it.each([
    [undefined, ['walk', 'walk', 'walk', 'walk', 'skip', 'skip']],
    ['missing', ['walk', 'walk', 'skip', 'skip', 'skip', 'skip']],
    ['failed', ['skip', 'skip', 'walk', 'walk', 'skip', 'skip']],
    ['all', ['walk', 'walk', 'walk', 'walk', 'rewalk', 'skip']],
  ] as const)('with --only %s walks what it names', (only, actions) => {
    const steps = planBackfill({ ...range, ...(only && { only }) });
    expect(steps.map(({ action }) => action)).toEqual(actions);
    expect(steps.map(({ state }) => state)).toEqual([
      'missing',
      'pending',
      'failed',
      'failed',
      'complete',
      'split',
    ]);
    for (const { reason } of steps) expect(reason).not.toBe('');
  });

  it('tells why a day is left out', () => {
    const reasons = planBackfill({ ...range, from: '2024-03-05', to: '2024-03-10' });
    expect(reasons.map(({ reason }) => reason)).toEqual([
      'it is complete',
      'it was split; its parts are walked instead',
      'there is no window yet',
      'there is no window yet',
      'there is no window yet',
      'the day is not over: it closes at 2024-03-11T01:00:00Z',
    ]);
  });

  it('refuses an empty range and what is not a day', () => {
    expect(() => planBackfill({ ...range, to: '2024-02-01' })).toThrow(SettingsError);
    expect(() => planBackfill({ ...range, to: '2024-02-30' })).toThrow(SettingsError);
  });

  it('of ten years has a cost that grows with the days, not with their square, or is below 100 ms', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `stream-${i}`, known }));
    const [few, long] = [many(200), many(20)];
    const { short, whole } = leastCpu({
      short: () => planBackfill({ ...range, from: '2023-03-06', streams: few }),
      whole: () => planBackfill({ ...range, from: '2014-03-01', streams: long }),
    });
    expect(whole).toBeLessThan(Math.max(100, 5 * short));
  });
});
