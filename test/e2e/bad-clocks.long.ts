/** What ./bad-clocks.test.ts leaves to the night: clocks that are further off. */
import { test } from 'vitest';
import { expectNoChange, HOUR } from './shifted-workers.ts';

test('clocks that are a year behind and five hours ahead change nothing (I2, I8)', () =>
  expectNoChange([-400 * 24 * HOUR, 5 * HOUR]));
