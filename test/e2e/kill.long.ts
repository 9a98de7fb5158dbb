/** The same as ./kill.test.ts, with more kills and more days. */
import { test, vi } from 'vitest';
import { expectWholeAfter, SEED } from './killing.ts';

// So many processes and steps take their time on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

test(`a backfill killed 12 times is whole in the end (I1, I2, I3; seed ${SEED})`, () =>
  expectWholeAfter(12, { from: '2026-03-01', to: '2026-03-14' }));
