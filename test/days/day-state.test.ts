/** The states of days: each told from what is known of its windows and from the calendar, one for every day. */
import { describe, expect, it } from 'vitest';
import { type DayFacts, dayState } from '../../src/days/day-states.ts';

const scope = { since: '2026-03-03', until: null, lastClosed: '2026-03-10', today: '2026-03-12' };
const facts = (given: Partial<DayFacts>): DayFacts => ({
  standing: 'complete',
  records: 5,
  ...given,
});

describe('the state of a day', () => {
  it.each([
    ['with all windows complete', '2026-03-05', {}, 'complete'],
    ['with pages to be proven', '2026-03-05', { standing: 'begun' }, 'begun'],
    ['walked, with a cut to come', '2026-03-05', { standing: 'walked' }, 'walked'],
    ['with all windows complete and no record', '2026-03-05', { records: 0 }, 'empty'],
    ['that is pruned', '2026-03-05', { standing: 'pruned' }, 'out'],
    ['with a part that waits', '2026-03-05', { standing: 'pending' }, 'missing'],
    ['that failed, with records of before', '2026-03-05', { standing: 'failed' }, 'failed'],
    ['that is walked again', '2026-03-05', { standing: 'running' }, 'running'],
    [
      'that is walked, and is open since settle grew',
      '2026-03-11',
      { standing: 'running' },
      'running',
    ],
    ['backfilled from before the beginning', '2026-02-01', {}, 'complete'],
    ['that waits, from before the beginning', '2026-02-01', { standing: 'pending' }, 'missing'],
    ['that waits, and is open since settle grew', '2026-03-11', { standing: 'pending' }, 'open'],
    ['that was complete before settle grew', '2026-03-11', {}, 'complete'],
  ] as const)('%s', (_, day, given, state) => {
    expect(dayState(day, facts(given), scope)).toBe(state);
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

  it('behind the last day of the schedule is out of scope, but for what was planned', () => {
    const ended = { ...scope, until: '2026-03-08' };
    expect(dayState('2026-03-08', undefined, ended)).toBe('missing');
    expect(dayState('2026-03-09', undefined, ended)).toBe('out');
    expect(dayState('2026-03-11', undefined, ended)).toBe('out');
    expect(dayState('2026-03-09', facts({ standing: 'pending' }), ended)).toBe('missing');
  });

  it('of a stream that was never planned is out of scope, but for the days that are not over', () => {
    const never = { ...scope, since: null };
    expect(dayState('2026-03-05', undefined, never)).toBe('out');
    expect(dayState('2026-03-12', undefined, never)).toBe('open');
  });
});
