/**
 * The limiter against servers that allow 20 requests a second, over minutes of virtual time: how much of that is used,
 * and how much is refused. The same over real HTTP: `npm run limits`.
 */
import { describe, expect, test } from 'vitest';
import { bucket, fixedWindow, type RateServer, slidingWindow } from '../support/rate-servers.ts';
import {
  ask,
  expectFound,
  expectNotSlowedDown,
  expectShared,
  PER_SECOND,
  type Trial,
} from './limited-servers.ts';

describe('one worker that knows nothing uses at least 90 % and has less than 1 % refused', () => {
  test.each<[string, RateServer, Trial?]>([
    ['a token bucket', bucket(20, 20)],
    ['a token bucket, one window at a time', bucket(20, 20), { windows: 1 }],
    ['a small token bucket', bucket(20, 5), { seconds: 300 }],
    ['a fixed window', fixedWindow(20, 1000)],
    ['a sliding window', slidingWindow(20, 1000), { seconds: 300 }],
    ['answers that take 150 ms', bucket(20, 20), { latencyMs: 150, windows: 8 }],
  ])('%s', async (_, server, trial) => {
    const { used, refused } = await ask(server, trial);
    expect(used).toBeGreaterThan(90);
    expect(refused).toBeLessThan(1);
  });
});

describe('a quota in the headers is used without any refusal', () => {
  test.each([
    [20, 1000],
    [1200, 60_000],
  ])('%i for each %i ms', async (most, ms) => {
    const { used, refused } = await ask(fixedWindow(most, ms, true), { seconds: 180 });
    expect(used).toBeGreaterThan(90);
    expect(refused).toBe(0);
  });
});

describe('where the rate is set, nothing is refused from the first request on, in 20 seconds', () => {
  test.each([1, 4])('with %i workers, and each has its share', async (workers) => {
    const trial = { workers, seconds: 20, rate: PER_SECOND };
    const { used, refused, shares } = await ask(bucket(20, 20), trial);
    expect(used).toBeGreaterThan(98);
    expect(refused).toBe(0);
    for (const share of shares) expect(share).toBeCloseTo(100 / workers, -1);
  });
});

describe('four workers that know nothing of each other use at least 90 % and have less than 1 % refused', () => {
  test.each<[string, () => RateServer]>([
    ['a token bucket', () => bucket(20, 20)],
    ['a fixed window', () => fixedWindow(20, 1000)],
    ['a long fixed window that tells its quota', () => fixedWindow(1200, 60_000, true)],
  ])('%s', (_, server) => expectFound(server));
});

test('a quota that four workers share starves none of them and costs no refusals for ever', () =>
  expectShared(2));

describe('a server that names times gets what it asks for: the limit is used', () => {
  test.each([1, 4])(
    'by %i workers, and who was under way is refused once each time',
    async (workers) => {
      const seconds = 100;
      const { used, refused } = await ask(bucket(20, 20, true), { workers, seconds });
      expect(used).toBeGreaterThan(85);
      expect(refused).toBeLessThan((100 * 4 * workers) / (20 + 4 * workers));
    },
  );
});

test.each([
  [151, 20],
  [3000, 3],
])(
  'refusals that do not come from the rate slow nothing down: %i requests take the times that are named',
  expectNotSlowedDown,
);

test('where nothing is refused, nothing is held back', async () => {
  const { used } = await ask(() => ({ ok: true }), { seconds: 10, latencyMs: 20 });
  // Four at a time, 20 ms each.
  expect((used * PER_SECOND) / 100).toBeGreaterThan(190);
});

test('an API that is away is asked less and less, by all windows together', async () => {
  let asked = 0;
  const { used } = await ask(
    () => {
      asked++;
      return { ok: false };
    },
    { seconds: 600 },
  );
  expect(used).toBe(0);
  // Pauses of 1, 2, 4, 8 and then 15 s, and the requests that were under way at the first.
  expect(asked).toBeLessThan(48);
});
