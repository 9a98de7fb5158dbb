/** kill -9 at random moments, again and again: nothing is lost, nothing is doubled, nothing stored is asked for twice. */
import { test } from 'vitest';
import { expectWholeAfter, SEED } from './killing.ts';

test(`a backfill killed 3 times is whole in the end (I1, I2, I3; seed ${SEED})`, () =>
  expectWholeAfter(3, { from: '2026-03-01', to: '2026-03-05' }));
