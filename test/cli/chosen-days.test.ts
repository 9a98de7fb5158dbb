/** Days as people type them: dates, months and words, in the calendar of the source; never one that cannot be had yet. */
import { describe, expect, test } from 'vitest';
import { chosenDay, chosenRange } from '../../src/cli/chosen-days.ts';
import { problemsOf } from '../settings/loading.ts';

/** 22 November 2026, 00:30 in Berlin: the day before has ended, and is not closed. */
const CALENDAR = { timezone: 'Europe/Berlin', settle: 3_600_000 };
const NOW = Date.parse('2026-11-21T23:30:00Z');

const range = (latest: 'closed' | 'today', from?: string, to?: string) =>
  chosenRange({ from, to }, latest, CALENDAR, NOW);

describe('a range', () => {
  test.each([
    ['2026-10-01', '2026-10-31', '2026-10-01', '2026-10-31'],
    [' 2026-10-01', '2026-10-01 ', '2026-10-01', '2026-10-01'],
    ['2026-10', '2026-10', '2026-10-01', '2026-10-31'],
    ['2024-02', '2024-02', '2024-02-01', '2024-02-29'],
    ['7d', undefined, '2026-11-15', '2026-11-20'],
    ['2026-11', undefined, '2026-11-01', '2026-11-20'],
    // As far as the month has got.
    ['2026-11', '2026-11', '2026-11-01', '2026-11-20'],
    ['14d', '7d', '2026-11-08', '2026-11-15'],
    [undefined, '2026-10', null, '2026-10-31'],
    [undefined, undefined, null, '2026-11-20'],
  ])('--from %s --to %s is %s to %s', (from, to, first, last) => {
    expect(range('closed', from, to)).toEqual({ from: first, to: last });
  });

  test('those who read may name today, and leave the end open', () => {
    expect(range('today', 'yesterday', 'today')).toEqual({ from: '2026-11-21', to: '2026-11-22' });
    expect(range('today', 'YESTERDAY')).toEqual({ from: '2026-11-21', to: null });
    expect(range('today')).toEqual({ from: null, to: null });
  });

  test.each([
    [
      '2027-01-01',
      undefined,
      'flag --from: 2027-01-01 is in the future; the newest closed day is 2026-11-20',
    ],
    [
      'today',
      undefined,
      'flag --from: 2026-11-22 is not closed yet, which it is 1h after its end (settle); the newest closed day is 2026-11-20',
    ],
    [
      'yesterday',
      undefined,
      'flag --from: 2026-11-21 is not closed yet, which it is 1h after its end (settle); the newest closed day is 2026-11-20',
    ],
    [
      '2026-12',
      undefined,
      'flag --from: 2026-12-01 is in the future; the newest closed day is 2026-11-20',
    ],
    [
      '2026-11-01',
      '2026-11-30',
      'flag --to: 2026-11-30 is in the future; the newest closed day is 2026-11-20',
    ],
    ['2026-02-01', '2026-01-01', 'flag --from: 2026-02-01 is after --to 2026-01-01; swap the two'],
    ['2026-02-30', undefined, 'flag --from: "2026-02-30" is not a day of the calendar'],
    ['2026-13', undefined, 'flag --from: "2026-13" is not a day of the calendar'],
    ['1.10.2026', undefined, /is no day; write 2026-10-31, 2026-10, yesterday or 7d \(days ago\)$/],
    ['99999d', undefined, 'flag --from: "99999d" is before 1970-01-01'],
  ])('--from %s --to %s: %s', (from, to, expected) => {
    const [first = ''] = problemsOf(() => range('closed', from, to));
    if (typeof expected === 'string') expect(first).toBe(expected);
    else expect(first).toMatch(expected);
  });

  test('a reader is told what day it is', () => {
    expect(problemsOf(() => range('today', '2026-11-23'))).toEqual([
      'flag --from: 2026-11-23 is in the future; today is 2026-11-22',
    ]);
  });
});

describe('one day', () => {
  const day = (text: string) => chosenDay(text, CALENDAR, NOW);

  test.each([
    ['yesterday', '2026-11-21'],
    ['today', '2026-11-22'],
    ['1d', '2026-11-21'],
    [' 2024-01-31 ', '2024-01-31'],
  ])('%s is %s', (text, expected) => expect(day(text)).toBe(expected));

  test.each([
    ['2026-11', 'the day: "2026-11" is a month; name one day of it'],
    ['2026-11-23', 'the day: 2026-11-23 is in the future; today is 2026-11-22'],
    ['x', 'the day: "x" is no day; write 2026-10-31, 2026-10, yesterday or 7d (days ago)'],
  ])('%s: %s', (text, expected) => expect(problemsOf(() => day(text))).toEqual([expected]));
});
