/**
 * The limiter against servers that allow 20 requests a second, over minutes of virtual time: how much of that is used,
 * and how much is refused. The same over real HTTP: `npm run limits`.
 */
import { describe, expect, test } from 'vitest';
import { Limiter } from '../../src/source/limiter.ts';
import { ownBudget } from '../support/own-budget.ts';
import { bucket, fixedWindow, type RateServer, slidingWindow } from '../support/rate-servers.ts';
import { virtualTime } from '../support/virtual-time.ts';

const PER_SECOND = 20;

interface Trial {
  readonly workers?: number;
  /** Requests that each worker wants under way. */
  readonly windows?: number;
  /** From the request to the answer, on average. */
  readonly latencyMs?: number;
  readonly seconds?: number;
  /** A budget that all workers share. */
  readonly rate?: number;
  readonly seed?: number;
}

/** Lets workers ask as fast as they may. @returns shares in per cent, and how much each worker had. */
async function ask(server: RateServer, trial: Trial = {}) {
  const { workers = 1, windows = 4, latencyMs = 5, seconds = 200, rate, seed } = trial;
  const { clock, pass } = virtualTime(seed);
  const budget = rate === undefined ? undefined : ownBudget(rate, clock);
  const accepted = Array.from({ length: workers }, () => 0);
  let refused = 0;
  const half = () => clock.sleep((latencyMs / 2) * (0.5 + clock.random()));
  const window = async (limiter: Limiter, worker: number) => {
    const { signal } = new AbortController();
    for (;;) {
      const permit = await limiter.acquire({ purpose: 'scheduled' }, signal);
      await half();
      const { ok, retryAfterMs = null, quota = null } = server(clock.monotonic());
      await half();
      if (ok) {
        accepted[worker] = (accepted[worker] ?? 0) + 1;
        permit.release({ kind: 'answered', quota });
      } else {
        refused++;
        permit.release({ kind: 'refused', retryAfterMs, quota });
      }
    }
  };
  for (let worker = 0; worker < workers; worker++) {
    const limiter = new Limiter({
      clock,
      most: windows,
      pauseMs: 1000,
      longestPauseMs: 15_000,
      budget,
    });
    for (let index = 0; index < windows; index++) void window(limiter, worker);
  }
  await pass(seconds * 1000);
  const all = accepted.reduce((sum, one) => sum + one, 0);
  return {
    used: (100 * all) / (PER_SECOND * seconds),
    refused: (100 * refused) / (all + refused),
    shares: accepted.map((one) => (100 * one) / all),
  };
}

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
  test.each<[string, () => RateServer, Trial?]>([
    ['a token bucket', () => bucket(20, 20)],
    ['a small token bucket', () => bucket(20, 5)],
    ['a large token bucket', () => bucket(20, 100)],
    ['a fixed window', () => fixedWindow(20, 1000)],
    ['a fixed window that tells its quota', () => fixedWindow(20, 1000, true)],
    ['a long fixed window that tells its quota', () => fixedWindow(1200, 60_000, true)],
    ['a sliding window', () => slidingWindow(20, 1000)],
    ['answers that take 150 ms', () => bucket(20, 20), { latencyMs: 150, windows: 8 }],
  ])('%s', async (_, server, trial) => {
    const { used, refused, shares } = await ask(server(), { workers: 4, seconds: 600, ...trial });
    expect(used).toBeGreaterThan(90);
    expect(refused).toBeLessThan(1);
    for (const share of shares) expect(share).toBeGreaterThan(5);
    // What finding the limit costs: all that was under way at the first refusal, and little more.
    const finding = await ask(server(), { workers: 4, seconds: 100, ...trial });
    expect(finding.refused).toBeLessThan(2.5);
  });
});

test.each([2, 3, 4, 5])(
  'a quota that four workers share starves none of them and costs no refusals for ever (seed %i)',
  async (seed) => {
    const trial = { workers: 4, seconds: 600, seed: seed * 7919 };
    const { used, refused, shares } = await ask(fixedWindow(20, 1000, true), trial);
    expect(used).toBeGreaterThan(90);
    expect(refused).toBeLessThan(1);
    for (const share of shares) expect(share).toBeGreaterThan(5);
  },
);

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

test.each([151, 3000])(
  'refusals that do not come from the rate slow nothing down: %i requests take the times that are named',
  async (count) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { clock } = virtualTime(seed * 977);
      let [named, namedUntil, namedBy, accepted, lastAt] = [0, 0, 0, 0, 0];
      const server: RateServer = (now) => {
        const ok = clock.random() >= 0.08;
        if (ok && ++accepted === count) [lastAt, namedBy] = [now, named];
        if (ok) return { ok };
        if (now > namedUntil) {
          named += 1000;
          namedUntil = now + 1000;
        }
        return { ok, retryAfterMs: 1000 };
      };
      await ask(server, { seconds: count / 5, seed });
      expect(accepted).toBeGreaterThan(count);
      expect(lastAt).toBeLessThan(1.2 * namedBy + 1000);
    }
  },
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
