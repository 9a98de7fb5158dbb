/** Ticks: the first one after an instant is the one that node-cron itself names. */
import { createTask } from 'node-cron';
import { expect, onTestFinished, test, vi } from 'vitest';
import { firstTickAfter } from '../../src/days/ticks.ts';

const NOWS = ['2026-03-10T12:34:56.789Z', '2026-12-31T23:58:59Z', '2028-02-28T06:30:00Z'];

test.each([
  '15 * * * *',
  '0 3 * * *',
  '*/7 1-5 * * 1-5',
  '30 6 29 2 *',
  '0 0 1 jan sun',
  '59 23 31 12 *',
])('%s', (expression) => {
  // node-cron counts from now, which must not pass a tick between its count and ours.
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  for (const now of NOWS) {
    vi.setSystemTime(now);
    const task = createTask(expression, () => {}, { timezone: 'UTC' });
    let after = Date.parse(now);
    for (const expected of task.getNextRuns(4)) {
      const found = new Date(firstTickAfter(expression, after)).toISOString();
      expect(found).toBe(expected.toISOString());
      after = expected.getTime();
    }
  }
});

test('a tick at the very instant is not after it', () => {
  const noon = Date.parse('2026-03-01T12:00:00Z');
  expect(firstTickAfter('0 12 * * *', noon)).toBe(noon + 86_400_000);
  expect(firstTickAfter('0 12 * * *', noon - 1)).toBe(noon);
});
