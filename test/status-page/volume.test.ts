/** The plot of the volume says no other average than that of what it draws. */
import { expect, it } from 'vitest';
import type { DayInState } from '../../src/days/covered-days.ts';
import { volume } from '../../src/status-page/pages/volume.ts';

it('averages the days that it draws, complete or not', () => {
  const days = [7000, 0, 9000].map(
    (records, index): DayInState => ({
      day: `2026-03-0${index + 1}`,
      state: 'running',
      windows: 1,
      completeWindows: 0,
      records,
      gone: 0,
      pages: 1,
      bytes: 1,
      proof: null,
      dueAt: null,
      lastError: null,
    }),
  );
  expect(volume({ stream: 'events', days }).text).toContain('<span>8,000 on average</span>');
});
