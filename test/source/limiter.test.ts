/** The limiter: who goes when, in which order, and that nobody is forgotten (H22, H32). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Priority } from '../../src/model.ts';
import { type Limiter, type LimiterOptions, openLimiter } from '../../src/source/limiter.ts';
import type { Turn } from '../../src/source/line.ts';
import { virtualTime } from '../support/virtual-time.ts';
import { fakeClock } from './fake-clock.ts';

const { signal } = new AbortController();
const opened = (options: Partial<LimiterOptions> = {}): Limiter =>
  openLimiter({ clock: fakeClock(), most: 1, pauseMs: 1000, longestPauseMs: 30_000, ...options });
/** Tells the limiter of a refusal that asks everyone to wait. */
async function refusal(limiter: Limiter, retryAfterMs: number | null): Promise<void> {
  const turn = await limiter.pass(scheduled, '', signal);
  turn.end({ kind: 'refused', status: 429, retryAfterMs });
}
const scheduled: Priority = { purpose: 'scheduled' };
/** Lets everything happen that needs no more than promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Asks for a turn of each priority in this order while one is under way, and gives the order in which they go. */
async function orderOf(priorities: readonly Priority[], meanwhile = () => {}): Promise<number[]> {
  const limiter = opened();
  const first = await limiter.pass(scheduled, '', signal);
  const went: number[] = [];
  const all = priorities.map((priority, index) =>
    limiter.pass(priority, '', signal).then((turn) => {
      went.push(index);
      turn.end({ kind: 'lost' });
    }),
  );
  await settled();
  expect(went).toEqual([]);
  meanwhile();
  first.end({ kind: 'lost' });
  await Promise.all(all);
  return went;
}

describe('the order', () => {
  test('is scheduled, recheck, backfill; needed pages before pages ahead; then as asked', async () => {
    expect(
      await orderOf([
        { purpose: 'backfill' },
        { purpose: 'scheduled', ahead: true },
        { purpose: 'recheck', ahead: true },
        { purpose: 'recheck' },
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
    const purposes = fc.constantFrom('scheduled', 'recheck', 'backfill');
    const asked = fc.record({ purpose: purposes, ahead: fc.boolean(), stopped: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(asked, { maxLength: 40 }),
        fc.array(fc.nat({ max: 9000 }), { maxLength: 5 }),
        async (limit, requests, holds) => {
          const limiter = opened({ most: limit });
          let underWay = 0;
          let went = 0;
          const all = requests.map(async ({ stopped, ...priority }) => {
            const stop = new AbortController();
            const passing = limiter.pass(priority, '', stop.signal);
            if (stopped) stop.abort(new Error('stop'));
            const turn = await passing;
            went++;
            expect(++underWay).toBeLessThanOrEqual(limit);
            await settled();
            underWay--;
            turn.end({ kind: 'lost' });
            turn.end({ kind: 'lost' });
          });
          const ending = Promise.allSettled(all);
          for (const ms of holds) {
            const turn = await limiter.pass(scheduled, '', signal);
            turn.end({ kind: 'refused', status: 503, retryAfterMs: ms });
          }
          const ended = await ending;
          expect(went).toBe(ended.filter(({ status }) => status === 'fulfilled').length);
          expect(ended.length - went).toBeLessThanOrEqual(
            requests.filter(({ stopped }) => stopped).length,
          );
          expect(limiter.state()).toMatchObject({ underWay: 0, waiting: 0 });
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a hold', () => {
  const taking = async (limiter: Limiter): Promise<Turn> => {
    const turn = await limiter.pass(scheduled, '', signal);
    turn.end({ kind: 'lost' });
    return turn;
  };

  test('ends once, at the latest instant named, also one named during the wait', async () => {
    const clock = fakeClock();
    const limiter = opened({ clock, most: 4 });
    const underWay = await limiter.pass(scheduled, '', signal);
    const other = await limiter.pass(scheduled, '', signal);
    await refusal(limiter, 5000);
    other.end({ kind: 'refused', status: 503, retryAfterMs: 2000 });
    clock.onSleep = () => {
      if (clock.waits.length === 1)
        underWay.end({ kind: 'refused', status: 429, retryAfterMs: 6000 });
    };
    await taking(limiter);
    await taking(limiter);
    expect(clock.waits).toEqual([5000, 1000]);
  });

  test('lets nobody through who was told to stop', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stop'));
    await expect(opened().pass(scheduled, '', stop.signal)).rejects.toThrow('stop');
  });

  test('is not slept for when nobody waits any more', async () => {
    const time = virtualTime();
    const limiter = opened({ clock: time.clock });
    await refusal(limiter, 60_000);
    const stop = new AbortController();
    const passing = limiter.pass(scheduled, '', stop.signal);
    expect(time.timers()).toBe(1);
    expect(limiter.state()).toMatchObject({ waiting: 1, why: 'hold', heldMs: 60_000 });
    stop.abort(new Error('stop'));
    await expect(passing).rejects.toThrow('stop');
    expect([time.timers(), limiter.state().waiting]).toEqual([0, 0]);
  });

  test('is no waiting in the line: the time counts against the retries', async () => {
    const time = virtualTime();
    const limiter = opened({ clock: time.clock });
    await refusal(limiter, 3000);
    const first = await started(limiter.pass(scheduled, '', signal), () => time.pass(3000));
    const second = limiter.pass(scheduled, '', signal);
    await time.pass(700);
    first.end({ kind: 'refused', status: 503, retryAfterMs: 2000 });
    await time.pass(2000);
    expect([first.waitedMs, (await second).waitedMs]).toEqual([0, 700]);
  });

  test('without a time named is a pause, longer each time until something is accepted', async () => {
    const time = virtualTime();
    const limiter = opened({ clock: time.clock });
    const pauses: number[] = [];
    for (let count = 0; count < 8; count++) {
      await refusal(limiter, null);
      pauses.push(limiter.state().heldMs);
      await time.pass(pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    (await limiter.pass(scheduled, '', signal)).end({ kind: 'answered' });
    await started(refusal(limiter, null), () => time.pass(2000));
    expect(limiter.state().heldMs).toBeLessThanOrEqual(1000);
  });
});

/** Waits for `promise` while time passes. */
async function started<T>(promise: Promise<T>, meanwhile: () => Promise<void>): Promise<T> {
  await meanwhile();
  return promise;
}
