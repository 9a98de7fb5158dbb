/** Ticks: the first one after an instant is the one that node-cron itself names, the last one until it the one before, and no minute that matches is passed over. */
import fc from 'fast-check';
import { createTask } from 'node-cron';
import { expect, onTestFinished, test, vi } from 'vitest';
import { firstTickAfter, lastTickUntil } from '../../src/days/ticks.ts';
import { parseCron } from '../../src/settings/values/time.ts';

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
      expect(lastTickUntil(expression, expected.getTime())).toBe(expected.getTime());
      const before = lastTickUntil(expression, expected.getTime() - 1);
      expect(firstTickAfter(expression, before)).toBe(expected.getTime());
      after = expected.getTime();
    }
  }
});

test('a tick at the very instant is not after it', () => {
  const noon = Date.parse('2026-03-01T12:00:00Z');
  expect(firstTickAfter('0 12 * * *', noon)).toBe(noon + 86_400_000);
  expect(firstTickAfter('0 12 * * *', noon - 1)).toBe(noon);
});

const MINUTE_MS = 60_000;

/** A field as it is written, with its parts in any order, and the numbers that it means. */
const field = (min: number, max: number) => {
  const part = fc
    .tuple(
      fc.integer({ min, max }),
      fc.integer({ min, max }),
      fc.constantFrom(1, 2, 7),
      fc.constantFrom('one', 'range', 'stepped'),
    )
    .map(([a, b, step, kind]) => {
      const [from, to] = kind === 'one' ? [a, a] : [Math.min(a, b), Math.max(a, b)];
      const by = kind === 'stepped' ? step : 1;
      const numbers = Array.from(
        { length: Math.floor((to - from) / by) + 1 },
        (_, at) => from + at * by,
      );
      const text = kind === 'one' ? `${a}` : `${from}-${to}${kind === 'stepped' ? `/${by}` : ''}`;
      return { text, numbers };
    });
  return fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => ({
    text: parts.map(({ text }) => text).join(','),
    numbers: new Set(parts.flatMap(({ numbers }) => numbers)),
  }));
};

const anyDay = { text: '*', numbers: new Set(Array.from({ length: 32 }, (_, at) => at)) };

test('lists and ranges in any order: the first minute that matches, as a list of all minutes has it', () => {
  const days = fc.oneof(
    fc.record({ dayOfMonth: fc.constant(anyDay), weekday: field(0, 7) }),
    fc.record({ dayOfMonth: field(1, 28), weekday: fc.constant(anyDay) }),
  );
  const instants = fc.integer({
    min: Date.parse('2026-01-01T00:00:00Z'),
    max: Date.parse('2028-12-31T00:00:00Z'),
  });
  fc.assert(
    fc.property(field(0, 59), field(0, 23), days, instants, (minute, hour, day, after) => {
      const { dayOfMonth, weekday } = day;
      const expression = `${minute.text} ${hour.text} ${dayOfMonth.text} * ${weekday.text}`;
      expect(parseCron(expression)).toBe(expression);
      const matches = (at: number) => {
        const date = new Date(at);
        const sunday = date.getUTCDay() === 0 && weekday.numbers.has(7);
        return (
          minute.numbers.has(date.getUTCMinutes()) &&
          hour.numbers.has(date.getUTCHours()) &&
          dayOfMonth.numbers.has(date.getUTCDate()) &&
          (sunday || weekday.numbers.has(date.getUTCDay()))
        );
      };
      let expected = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
      while (!matches(expected)) expected += MINUTE_MS;
      expect(firstTickAfter(expression, after)).toBe(expected);
    }),
  );
});
