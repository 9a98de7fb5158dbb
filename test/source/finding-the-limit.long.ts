/** What `finding-the-limit` has no time for: more servers that four workers share, and more seeds. */
import { describe, test } from 'vitest';
import { bucket, fixedWindow, type RateServer, slidingWindow } from '../support/rate-servers.ts';
import { expectFound, expectNotSlowedDown, expectShared, type Trial } from './limited-servers.ts';

describe('four workers that know nothing of each other use at least 90 % and have less than 1 % refused', () => {
  test.each<[string, () => RateServer, Trial?]>([
    ['a small token bucket', () => bucket(20, 5)],
    ['a large token bucket', () => bucket(20, 100)],
    ['a fixed window that tells its quota', () => fixedWindow(20, 1000, true)],
    ['a sliding window', () => slidingWindow(20, 1000)],
    ['answers that take 150 ms', () => bucket(20, 20), { latencyMs: 150, windows: 8 }],
  ])('%s', (_, server, trial) => expectFound(server, trial));
});

test.each([3, 4, 5])(
  'a quota that four workers share starves none of them and costs no refusals for ever (seed %i)',
  expectShared,
);

test('refusals that do not come from the rate slow nothing down, whatever the seed', () =>
  expectNotSlowedDown(3000, 20));
