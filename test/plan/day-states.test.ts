/** The states of days: each told from what is known of its windows and from the calendar, one for every day. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_STATES, type DayFacts, dayState, dayStates } from '../../src/plan/day-states.ts';
import { addDays } from '../../src/plan/days.ts';

const scope = { since: '2026-03-03', lastClosed: '2026-03-10', today: '2026-03-12' };
const facts = (day: string, given: Partial<DayFacts> = {}): DayFacts => ({
  day,
  complete: true,
  failed: false,
  running: false,
  records: 5,
  ...given,
});

describe('the state of a day', () => {
  it.each([
    ['with all windows complete', '2026-03-05', {}, 'complete'],
    ['with pages to be proven', '2026-03-05', { complete: false, begun: true }, 'begun'],
    ['walked, with a cut to come', '2026-03-05', { complete: false, walked: true }, 'walked'],
    [
      'walked, with a cut that failed',
      '2026-03-05',
      { complete: false, walked: true, failed: true },
      'failed',
    ],
    ['with all windows complete and no record', '2026-03-05', { records: 0 }, 'empty'],
    ['looked at again', '2026-03-05', { running: true }, 'complete'],
    ['with a part that waits', '2026-03-05', { complete: false }, 'missing'],
    ['with a part that failed', '2026-03-05', { complete: false, failed: true }, 'failed'],
    [
      'walked again after a failure',
      '2026-03-05',
      { complete: false, failed: true, running: true },
      'running',
    ],
    [
      'that failed, with records of before',
      '2026-03-05',
      { failed: true, complete: false },
      'failed',
    ],
    ['backfilled from before the beginning', '2026-02-01', {}, 'complete'],
    ['that waits, from before the beginning', '2026-02-01', { complete: false }, 'missing'],
    ['that waits, and is open since settle grew', '2026-03-11', { complete: false }, 'open'],
    ['that was complete before settle grew', '2026-03-11', {}, 'complete'],
  ] as const)('%s', (_, day, given, state) => {
    expect(dayState(day, facts(day, given), scope)).toBe(state);
  });

  it.each([
    ['2026-03-02', 'out'],
    ['2026-03-03', 'missing'],
    ['2026-03-10', 'missing'],
    ['2026-03-11', 'open'],
    ['2026-03-12', 'open'],
    ['2026-03-13', 'out'],
  ])('of %s without windows is %s', (day, state) => {
    expect(dayState(day, undefined, scope)).toBe(state);
  });

  it('of a stream that was never planned is out of scope, but for the days that are not over', () => {
    const never = { ...scope, since: null };
    expect(dayState('2026-03-05', undefined, never)).toBe('out');
    expect(dayState('2026-03-12', undefined, never)).toBe('open');
  });
});

it('every day of a range has one state, in order, and only days with facts have figures', () => {
  const days = fc.uniqueArray(fc.integer({ min: -10, max: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(days, fc.integer({ min: 0, max: 30 }), fc.boolean(), (known, length, complete) => {
      const from = '2026-03-01';
      const to = addDays(from, length);
      const given = known.map((ago) => facts(addDays(from, ago), { complete }));
      const states = dayStates({ from, to }, given, scope);
      expect(states.map(({ day }) => day)).toEqual(
        Array.from({ length: length + 1 }, (_, index) => addDays(from, index)),
      );
      for (const { day, state, facts: own } of states) {
        expect(DAY_STATES).toContain(state);
        expect(own?.day).toBe(given.some((row) => row.day === day) ? day : undefined);
        expect(['complete', 'empty'].includes(state)).toBe(own !== null && complete);
      }
    }),
  );
});
