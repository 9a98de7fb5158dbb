/** The limiter: who goes when, in which order, and that nobody is forgotten. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Priority } from '../../src/model.ts';
import { Limiter, type LimiterOptions, type Outcome } from '../../src/source/limiter.ts';
import { virtualTime } from '../support/virtual-time.ts';
import { fakeClock } from './fake-clock.ts';

const { signal } = new AbortController();
const opened = (options: Partial<LimiterOptions> = {}): Limiter =>
  new Limiter({ clock: fakeClock(), most: 1, pauseMs: 1000, longestPauseMs: 15_000, ...options });
const scheduled: Priority = { purpose: 'scheduled' };
const refused = (retryAfterMs: number | null): Outcome => ({ kind: 'refused', retryAfterMs });
/** Sends one request that ends so. */
async function request(limiter: Limiter, outcome: Outcome): Promise<void> {
  (await limiter.acquire(scheduled, signal)).release(outcome);
}
/** Lets everything happen that needs no more than promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Asks for a permit of each priority in this order while one is under way, and gives the order in which they go. */
async function orderOf(priorities: readonly Priority[], meanwhile = () => {}): Promise<number[]> {
  const limiter = opened();
  const first = await limiter.acquire(scheduled, signal);
  const went: number[] = [];
  const all = priorities.map((priority, index) =>
    limiter.acquire(priority, signal).then((permit) => {
      went.push(index);
      permit.release({ kind: 'lost' });
    }),
  );
  await settled();
  expect(went).toEqual([]);
  meanwhile();
  first.release({ kind: 'lost' });
  await Promise.all(all);
  return went;
}

describe('the order', () => {
  test('is scheduled, look, backfill; needed pages before pages ahead; then as asked', async () => {
    expect(
      await orderOf([
        { purpose: 'backfill' },
        { purpose: 'scheduled', ahead: true },
        { purpose: 'look', ahead: true },
        { purpose: 'look' },
        { purpose: 'backfill', ahead: true },
        { purpose: 'scheduled' },
        { purpose: 'scheduled' },
      ]),
    ).toEqual([5, 6, 1, 3, 2, 0, 4]);
  });

  test('follows a page ahead that becomes needed while it waits', async () => {
    const ahead: Priority = { purpose: 'scheduled', ahead: true };
    const order = await orderOf([{ purpose: 'scheduled', ahead: true }, ahead], () => {
      ahead.ahead = false;
    });
    expect(order).toEqual([1, 0]);
  });
});

describe('the limit', () => {
  test('is never exceeded, and everyone who is not stopped goes exactly once', async () => {
    const purposes = fc.constantFrom('scheduled', 'look', 'backfill');
    const asked = fc.record({ purpose: purposes, ahead: fc.boolean(), stopped: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(asked, { maxLength: 40 }),
        fc.array(fc.nat({ max: 9000 }), { maxLength: 5 }),
        async (limit, requests, pauses) => {
          const limiter = opened({ most: limit });
          let underWay = 0;
          let went = 0;
          const all = requests.map(async ({ stopped, ...priority }) => {
            const stop = new AbortController();
            const passing = limiter.acquire(priority, stop.signal);
            if (stopped) stop.abort(new Error('stop'));
            const permit = await passing;
            went++;
            expect(++underWay).toBeLessThanOrEqual(limit);
            expect(limiter.state.underWay).toBeGreaterThanOrEqual(underWay);
            await settled();
            underWay--;
            permit.release({ kind: 'lost' });
            permit.release({ kind: 'lost' });
          });
          const ending = Promise.allSettled(all);
          for (const ms of pauses) await request(limiter, refused(ms));
          const ended = await ending;
          expect(went).toBe(ended.filter(({ status }) => status === 'fulfilled').length);
          expect(ended.length - went).toBeLessThanOrEqual(
            requests.filter(({ stopped }) => stopped).length,
          );
          expect(limiter.state).toMatchObject({ limit, underWay: 0, waiting: 0 });
        },
      ),
      { numRuns: 60 },
    );
  });

  test('halves when no answer comes in time, once for all that were under way, never to nothing', async () => {
    const time = virtualTime();
    const limiter = opened({ clock: time.clock, most: 8 });
    const all = await Promise.all(
      Array.from({ length: 8 }, () => limiter.acquire(scheduled, signal)),
    );
    await time.pass(10);
    for (const permit of all) permit.release({ kind: 'late' });
    expect(limiter.state).toMatchObject({ limit: 4, underWay: 0, waiting: 0 });
    for (let late = 0; late < 20; late++) {
      await time.pass(10);
      await request(limiter, { kind: 'late' });
    }
    expect(limiter.state.limit).toBe(1);
  });

  test('comes back one by one, while it is reached', async () => {
    const limiter = opened({ most: 4 });
    await request(limiter, { kind: 'late' });
    for (let answer = 0; answer < 50; answer++) await request(limiter, { kind: 'answered' });
    expect(limiter.state.limit).toBe(2);
    for (let round = 0; round < 20; round++) {
      const { limit } = limiter.state;
      const all = Array.from({ length: limit }, () => limiter.acquire(scheduled, signal));
      for (const permit of await Promise.all(all)) permit.release({ kind: 'answered' });
    }
    expect(limiter.state.limit).toBe(4);
  });
});

describe('a pause', () => {
  test('ends once, at the latest instant named, also one named meanwhile, and a little later by chance', async () => {
    const clock = fakeClock();
    const limiter = opened({ clock, most: 4 });
    const underWay = await limiter.acquire(scheduled, signal);
    const other = await limiter.acquire(scheduled, signal);
    await request(limiter, refused(5000));
    expect(other.release(refused(2000))).toBe(5250);
    clock.onSleep = () => {
      if (clock.waits.length === 1) expect(underWay.release(refused(6000))).toBe(6300);
    };
    await request(limiter, { kind: 'lost' });
    await request(limiter, { kind: 'lost' });
    expect(clock.waits).toEqual([5250, 1050]);
  });

  test('lets nobody through who was told to stop', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stop'));
    await expect(opened().acquire(scheduled, stop.signal)).rejects.toThrow('stop');
  });

  test('is not slept for when nobody waits any more', async () => {
    const time = virtualTime();
    const limiter = opened({ clock: time.clock });
    await request(limiter, refused(60_000));
    const stop = new AbortController();
    const passing = limiter.acquire(scheduled, stop.signal);
    expect(time.timers()).toBe(1);
    expect(limiter.state).toMatchObject({ waiting: 1, why: 'pause' });
    expect(limiter.state.pausedMs).toBeGreaterThanOrEqual(60_000);
    stop.abort(new Error('stop'));
    await expect(passing).rejects.toThrow('stop');
    expect([time.timers(), limiter.state.waiting]).toEqual([0, 0]);
  });

  test('without a time named is longer each time until something is accepted', async () => {
    const clock = fakeClock();
    const limiter = opened({ clock });
    for (let count = 0; count < 7; count++) await request(limiter, refused(null));
    expect(clock.waits).toEqual([1050, 2100, 4200, 8400, 15_750, 15_750]);
    await request(limiter, { kind: 'answered' });
    await request(limiter, refused(null));
    expect(limiter.state.pausedMs).toBe(1050);
  });

  test('is ended by one request for all; one that gets no answer holds the others up for 10 s', async () => {
    const time = virtualTime();
    const limiter = opened({ clock: time.clock, most: 4 });
    await request(limiter, refused(1000));
    let went = 0;
    for (let window = 0; window < 4; window++)
      void limiter.acquire(scheduled, signal).then((permit) => {
        went++;
        if (went > 1) permit.release({ kind: 'answered' });
      });
    await time.pass(2000);
    expect([went, limiter.state.why]).toEqual([1, 'limit']);
    await time.pass(10_000);
    expect(went).toBe(4);
  });
});

test('those that stop together take no place of others, also when one of them was let go by then', async () => {
  let now = 0;
  const clock = { ...fakeClock(), monotonic: () => now, sleep: () => new Promise<never>(() => {}) };
  const limiter = opened({ clock });
  await request(limiter, refused(1_000));
  const [together, another] = [new AbortController(), new AbortController()];
  const [first, second] = [0, 1].map(() => limiter.acquire(scheduled, together.signal));
  const third = limiter.acquire(scheduled, another.signal);
  // The gate is open, and its timer is late.
  now = 2_000;
  together.abort();
  await expect(first).rejects.toThrow();
  (await second)?.release({ kind: 'lost' });
  (await third).release({ kind: 'lost' });
  expect(limiter.state).toMatchObject({ underWay: 0, waiting: 0 });
});

describe('the pace', () => {
  /** So many requests that are accepted, and then one that is refused. */
  async function burst(limiter: Limiter, count: number, last: Outcome): Promise<number | null> {
    for (let index = 0; index < count; index++) await request(limiter, { kind: 'answered' });
    await request(limiter, last);
    return limiter.state.pace;
  }

  test('is what was accepted in the last second, less a tenth, after a refusal that names no time', async () => {
    expect(await burst(opened(), 20, refused(null))).toBeCloseTo(18);
  });

  test('does not fall because of a refusal that names a time', async () => {
    const limiter = opened();
    for (let count = 0; count < 20; count++)
      expect(await burst(limiter, 20, refused(1000))).toBeNull();
  });

  test('falls when the first request after that time is refused as well, once until something is accepted', async () => {
    const limiter = opened();
    expect(await burst(limiter, 30, refused(1000))).toBeNull();
    const pace = await burst(limiter, 0, refused(1000));
    expect(pace).toBeCloseTo(27);
    expect(await burst(limiter, 0, refused(1000))).toBeGreaterThanOrEqual(pace ?? 0);
  });

  test('falls when a refusal that names a time says that a quota is used up', async () => {
    const quota = { remaining: 0, resetMs: 1000, limit: 20 };
    const last = { kind: 'refused', retryAfterMs: 1000, quota } as const;
    expect(await burst(opened(), 20, last)).toBeCloseTo(18);
  });

  test('falls once for all requests that were under way together', async () => {
    const limiter = opened({ most: 4 });
    for (let count = 0; count < 20; count++) await request(limiter, { kind: 'answered' });
    const all = await Promise.all(
      Array.from({ length: 4 }, () => limiter.acquire(scheduled, signal)),
    );
    for (const permit of all) permit.release(refused(null));
    expect(limiter.state.pace).toBeCloseTo(18);
  });

  test('is not made of an outage: nothing is known of a rate by then', async () => {
    expect(await burst(opened(), 0, refused(null))).toBeNull();
  });
});

describe('a quota that an answer tells', () => {
  const told = (remaining: number): Outcome => ({
    kind: 'answered',
    quota: { remaining, resetMs: 1000 },
  });

  test('is used up, the last of it slowly, and then waited for', async () => {
    const clock = fakeClock();
    const limiter = opened({ clock });
    await request(limiter, told(2));
    for (let more = 0; more < 9; more++) await request(limiter, { kind: 'lost' });
    expect(clock.waits).toEqual([500, 500]);
  });

  test('does not count what went before the answer twice, whichever answer comes first', async () => {
    const clock = fakeClock();
    const limiter = opened({ clock, most: 4 });
    const one = await limiter.acquire(scheduled, signal);
    const two = await limiter.acquire(scheduled, signal);
    await limiter.acquire(scheduled, signal);
    two.release(told(1));
    one.release(told(2));
    await request(limiter, { kind: 'lost' });
    expect(clock.waits).toEqual([1000]);
  });
});
