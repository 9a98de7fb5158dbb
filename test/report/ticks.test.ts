/** Ticks: the first one after an instant is the one that node-cron itself names. */
import { createTask } from 'node-cron';
import { expect, test } from 'vitest';
import { firstTickAfter } from '../../src/report/ticks.ts';

test.each([
  '15 * * * *',
  '0 3 * * *',
  '*/7 1-5 * * 1-5',
  '30 6 29 2 *',
  '0 0 1 jan sun',
  '59 23 31 12 *',
])('%s', (expression) => {
  const task = createTask(expression, () => {}, { timezone: 'UTC' });
  let after = Date.now();
  for (const expected of task.getNextRuns(4)) {
    expect(new Date(firstTickAfter(expression, after)).toISOString()).toBe(expected.toISOString());
    after = expected.getTime();
  }
});

test('a tick at the very instant is not after it', () => {
  const noon = Date.parse('2026-03-01T12:00:00Z');
  expect(firstTickAfter('0 12 * * *', noon)).toBe(noon + 86_400_000);
  expect(firstTickAfter('0 12 * * *', noon - 1)).toBe(noon);
});
