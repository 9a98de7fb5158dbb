/** Days before today, for programs that plan by the real date: no test that asks for them meets a midnight. */
import { beforeEach } from 'vitest';
import { until } from './condition.ts';
import { inEveryFile } from './hooks.ts';

const DAY_MS = 86_400_000;

/** The day of UTC so many days ago; to be asked for inside a test. */
export const dayAgo = (days: number): string =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** The days of UTC between two ages, both inclusive; read anew each time. */
export const daysAgo = (
  from: number,
  to: number,
): { readonly from: string; readonly to: string } => ({
  get from() {
    return dayAgo(from);
  },
  get to() {
    return dayAgo(to);
  },
});

/** The longest test that asks for days. */
const LONGEST_TEST_MS = 150_000;

// A day that ends in the middle of a test is one more day that is due. So nobody begins so late in a day.
inEveryFile(() =>
  beforeEach(async () => {
    if (DAY_MS - (Date.now() % DAY_MS) > LONGEST_TEST_MS) return;
    const today = dayAgo(0);
    await until('midnight to be over', () => dayAgo(0) !== today, LONGEST_TEST_MS + 5_000);
  }, LONGEST_TEST_MS + 10_000),
);
