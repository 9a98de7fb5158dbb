/** The limiter: who goes when, in which order, and that nobody is forgotten (H22, H32). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Priority } from '../../src/model.ts';
import { type Limiter, openLimiter, type Turn } from '../../src/source/limiter.ts';
import { fakeClock } from './fake-clock.ts';

const { signal } = new AbortController();
const scheduled: Priority = { purpose: 'scheduled' };
/** Lets everything happen that needs no more than promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Asks for a turn of each priority in this order while one is under way, and gives the order in which they go. */
async function orderOf(priorities: readonly Priority[], meanwhile = () => {}): Promise<number[]> {
  const limiter = openLimiter(fakeClock(), 1);
  const first = await limiter.pass(scheduled, signal);
  const went: number[] = [];
  const all = priorities.map((priority, index) =>
    limiter.pass(priority, signal).then((turn) => {
      went.push(index);
      turn.end();
    }),
  );
  await settled();
  expect(went).toEqual([]);
  meanwhile();
  first.end();
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
          const limiter = openLimiter(fakeClock(), limit);
          let underWay = 0;
          let went = 0;
          const all = requests.map(async ({ stopped, ...priority }) => {
            const stop = new AbortController();
            const passing = limiter.pass(priority, stop.signal);
            if (stopped) stop.abort(new Error('stop'));
            const turn = await passing;
            went++;
            expect(++underWay).toBeLessThanOrEqual(limit);
            await settled();
            underWay--;
            turn.end();
            turn.end();
          });
          const ending = Promise.allSettled(all);
          for (const ms of holds) {
            limiter.hold(ms);
            await settled();
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
    const turn = await limiter.pass(scheduled, signal);
    turn.end();
    return turn;
  };

  test('ends once, at the latest instant named, also one named during the wait', async () => {
    const clock = fakeClock();
    const limiter = openLimiter(clock, 4);
    limiter.hold(5000);
    limiter.hold(2000);
    clock.onSleep = () => {
      if (clock.waits.length === 1) limiter.hold(6000);
    };
    await taking(limiter);
    await taking(limiter);
    expect(clock.waits).toEqual([5000, 1000]);
  });

  test('lets nobody through who was told to stop', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stop'));
    await expect(openLimiter(fakeClock(), 1).pass(scheduled, stop.signal)).rejects.toThrow('stop');
  });

  test('is not slept for when nobody waits any more', async () => {
    const clock = fakeClock();
    let sleeping = 0;
    const limiter = openLimiter(
      {
        ...clock,
        sleep: (_, given) =>
          new Promise((_resolve, reject) => {
            sleeping++;
            given?.addEventListener('abort', () => {
              sleeping--;
              reject(given.reason);
            });
          }),
      },
      1,
    );
    limiter.hold(60_000);
    const stop = new AbortController();
    const passing = limiter.pass(scheduled, stop.signal);
    expect(sleeping).toBe(1);
    expect(limiter.state()).toMatchObject({ waiting: 1, heldMs: 60_000 });
    stop.abort(new Error('stop'));
    await expect(passing).rejects.toThrow('stop');
    await settled();
    expect([sleeping, limiter.state().waiting]).toEqual([0, 0]);
  });
});
