/** Workers whose clocks are hours or days off: leases, closed days and due days are the database's business. */
import { test } from 'vitest';
import { expectNoChange, HOUR } from './shifted-workers.ts';

test('clocks that are a day behind and a day ahead change nothing (I2, I8)', () =>
  expectNoChange([-27 * HOUR, 27 * HOUR]));
