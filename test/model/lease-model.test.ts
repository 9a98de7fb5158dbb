/** Every state of two workers on one window: one writer at a time, no page twice or missing, and always a way to the end. */
import { describe, expect, test } from 'vitest';
import { explore } from './explore.ts';
import type { Flaw } from './lease-model.ts';
import type { Budget } from './worker-model.ts';

const NOTHING: Budget = { crashes: 0, unknown: 0, shifts: 0, failovers: 0 };
/** What may go wrong, in all combinations up to these: each is a visit of its own. `npm run chaos` goes further. */
const BUDGETS: readonly Budget[] = [
  { ...NOTHING, crashes: 1 },
  { ...NOTHING, unknown: 1 },
  { ...NOTHING, shifts: 1 },
  { ...NOTHING, failovers: 1 },
];

describe.each(BUDGETS)(
  '$crashes crashes, $unknown lost answers, $shifts shifts, $failovers failovers',
  (budget) => {
    test('nothing is ever wrong, and nothing is stuck (I1 to I4)', () => {
      const { states, steps, stuck, wrong } = explore(budget);
      expect(wrong).toBeNull();
      expect(stuck).toBe(0);
      expect(states).toBeGreaterThan(5_000);
      expect(steps).toBeGreaterThan(states);
    });
  },
);

describe('a design with a flaw is found out', () => {
  test.each<[Flaw, Budget, RegExp]>([
    ['no lease check', NOTHING, /^I2: /],
    ['no compare-and-set', { ...NOTHING, unknown: 1 }, /^I3: /],
    ['counted lease ids', { ...NOTHING, failovers: 1 }, /^I2: /],
    ['no sum at proving', { ...NOTHING, failovers: 1 }, /^I4: /],
    ['proof is not compared', { ...NOTHING, failovers: 1 }, /^I4: /],
  ])('%s', (flaw, budget, found) => {
    const { wrong } = explore(budget, flaw);
    expect(wrong?.what).toMatch(found);
    expect(wrong?.path.length).toBeGreaterThan(3);
  });
});
