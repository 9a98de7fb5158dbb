/** The quick part of the torture suite; `npm run torture` runs all of it. Proves I3, I4 and I6 behind hostile servers. */
import { describe, expect, test } from 'vitest';
import { mix, seedNumber } from '../../simulator/random.ts';
import { FAMILIES } from './cases.ts';
import { trial } from './trials.ts';

const FAST = Object.entries(FAMILIES).flatMap(([family, cases]) => {
  const fast = cases.filter((testCase) => testCase.fast);
  return fast.length === 0 ? [] : [[family, fast] as const];
});

describe.each(FAST)('%s', (_, fast) => {
  test.each(fast.map((one) => [one.name, one] as const))('%s', async (name, testCase) => {
    const plain = await trial(testCase, null);
    const seed = mix(1, seedNumber(name));
    const killed = await trial(testCase, { seed, moments: plain.outcome.moments });
    expect([...plain.problems, ...killed.problems]).toEqual([]);
  });
});
