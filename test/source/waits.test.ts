/** Waiting between attempts: jitter, what the server asks for, and one gate for all windows. */

import { describe, expect, test } from 'vitest';
import { RefusedError, UnavailableError } from '../../src/errors.ts';
import { type Away, openSource } from '../../src/source/source.ts';
import { ownBudget } from '../support/own-budget.ts';
import { SOURCE } from '../support/source-options.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { CANARY, firstPage, open } from './open.ts';
import { answer, emptyPage, type Step, scriptedServer } from './scripted-server.ts';

const busy = (retryAfter: string, status = 429, date?: string) =>
  answer('', { status, headers: { 'Retry-After': retryAfter, ...(date ? { Date: date } : {}) } });

describe('Retry-After', () => {
  test.each([
    ['seconds', busy('7'), 7350],
    ['a date', busy('Sun, 01 Mar 2026 00:00:30 GMT'), 31_500],
    [
      "a date by the server's own clock",
      busy('Sun, 01 Mar 2015 00:00:09 GMT', 503, 'Sun, 01 Mar 2015 00:00:00 GMT'),
      9450,
    ],
    ['far too long', busy('1000000000'), 42_000],
    ['a date that is far too far', busy('Sun, 01 Mar 2999 00:00:30 GMT'), 42_000],
    ['on a 500: this page alone', busy('5', 500), 5500],
    ['on a 403', busy('5', 403), 5250],
  ])('%s is waited for, and a little longer by chance', async (_, step, wait) => {
    const server = await scriptedServer([step, emptyPage]);
    const { fetch, clock } = open(server.url, { retryAfterLimitMs: 40_000 });
    await fetch();
    expect(clock.waits).toEqual([wait]);
  });

  test.each([
    ['past', 'Sun, 01 Mar 2020 00:00:30 GMT'],
    ['negative', '-5'],
    ['zero', '0'],
    ['no number', 'soon'],
    ['a number and more', '5 minutes'],
    ['a date that is none', 'Sun, 99 Mar 2026 00:00:30 GMT'],
    ['empty', ''],
  ])('%s is ignored: everyone pauses for a second, as without it', async (_, value) => {
    const server = await scriptedServer([busy(value), emptyPage]);
    const { fetch, clock } = open(server.url);
    await fetch();
    expect(clock.waits).toEqual([1050]);
  });

  test('of a quarter of an hour is waited for, although a page is tried for five minutes', async () => {
    const server = await scriptedServer([busy('900'), emptyPage]);
    const { fetch, clock } = open(server.url);
    expect(await fetch()).toMatchObject({ requests: 2 });
    expect(clock.waits).toEqual([945_000]);
  });

  test('is waited for as long as all of them together are not longer than the limit', async () => {
    const server = await scriptedServer([busy('400')]);
    const { fails, clock } = open(server.url);
    const error = await fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain('gave up after 3 attempts in 1200 s; the last: answered 429');
    expect(error).toMatchObject({ cause: { retryAfterMs: 400_000 } });
    expect(clock.waits).toEqual([420_000, 420_000]);
  });

  test('is no reason to ask again at once where no page may wait for it', async () => {
    const many = Array.from({ length: 20 }, () => busy('30'));
    const server = await scriptedServer([...many, emptyPage]);
    const { fails, clock } = open(server.url, { retryAfterLimitMs: 0 });
    expect(await fails()).toBeInstanceOf(UnavailableError);
    expect(clock.waits).toEqual([]);
    expect(server.heads).toHaveLength(1);
  });
});

describe('patience is a time', () => {
  const failing = answer('', { status: 500 });

  test('in which pauses that are named do not count', async () => {
    const many = Array.from({ length: 90 }, () => busy('7'));
    const server = await scriptedServer([...many, failing, emptyPage]);
    const { fetch } = open(server.url, { retryTimeMs: 1000 });
    expect(await fetch()).toMatchObject({ requests: 92 });
  });

  test('and other waits do, however few or many', async () => {
    const server = await scriptedServer([failing]);
    const { fails, clock } = open(server.url, { retryTimeMs: 60_000 });
    const { message } = await fails();
    expect(message).toContain('gave up after 12 attempts in 60 s; the last: answered 500');
    expect(clock.waits).toEqual([500, 1000, 2000, 4000, ...Array(6).fill(7500), 7500]);
  });

  test('and pauses that nobody named do', async () => {
    const server = await scriptedServer([busy('none')]);
    const { fails, clock } = open(server.url, { retryTimeMs: 60_000 });
    expect((await fails()).message).toContain('gave up after 8 attempts');
    // Pauses of 1, 2, 4, 8 and then 15 s.
    expect(clock.waits).toEqual([1050, 2100, 4200, 8400, 15_750, 15_750, 15_750]);
  });

  test('and standing in the queue does not', async () => {
    const server = await scriptedServer([failing, emptyPage]);
    const clock = fakeClock();
    const budget = ownBudget(1 / 3600, clock);
    const { fetch } = open(server.url, { retryTimeMs: 1000, clock, budget });
    await fetch();
    expect(clock.waits).toEqual([500, 3_599_500]);
  });
});

describe('the jitter', () => {
  test('is drawn anew for each wait', async () => {
    const server = await scriptedServer([answer('', { status: 500 })]);
    const { fails, clock } = open(server.url, { retryTimeMs: 2001 });
    clock.onSleep = () => {
      clock.luck /= 2;
    };
    await fails();
    expect(clock.waits.slice(0, 4)).toEqual([500, 500, 500, 500]);
  });

  test('two sources with the same clock do not wait for each other', async () => {
    const server = await scriptedServer([busy('9'), emptyPage]);
    const clock = fakeClock();
    const baseUrl = server.url;
    const one = openSource({ ...SOURCE, baseUrl, key: CANARY, clock, retryTimeMs: 0 });
    const two = openSource({ ...SOURCE, baseUrl, key: CANARY, clock });
    const { signal } = new AbortController();
    await expect(one.fetchPage(firstPage, { signal })).rejects.toThrow('answered 429');
    await two.fetchPage(firstPage, { signal });
    expect(clock.waits).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  });
});

describe('what the server asks for', () => {
  test.each([403, 429, 503])('holds for the other windows after a %i', async (status) => {
    const server = await scriptedServer([busy('9', status), emptyPage]);
    const { fails, fetch, clock } = open(server.url, { retryTimeMs: 0 });
    await fails();
    await fetch();
    expect(clock.waits).toEqual([9450]);
  });

  test('does not after a 500', async () => {
    const server = await scriptedServer([busy('9', 500), emptyPage]);
    const { fails, fetch, clock } = open(server.url, { retryTimeMs: 0 });
    await fails();
    await fetch();
    expect(clock.waits).toEqual([]);
  });

  test('is also told by a used-up quota, and then a 403 is no refused key', async () => {
    const headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '9' };
    const server = await scriptedServer([answer('', { status: 403, headers }), emptyPage]);
    const { fetch, clock } = open(server.url);
    expect(await fetch()).toMatchObject({ requests: 2 });
    expect(clock.waits).toEqual([9450]);
  });

  test('is no more when the key is refused, whatever is left', async () => {
    const headers = { 'X-RateLimit-Remaining': '7', 'X-RateLimit-Reset': '9' };
    const server = await scriptedServer([answer('', { status: 403, headers })]);
    expect(await open(server.url).fails()).toBeInstanceOf(RefusedError);
  });
});

describe('an API that is away', () => {
  /** Answers so until an instant of the clock, and then with a page. */
  const awayFor = (ms: number, step: Step): [Step, (clock: FakeClock) => void] => {
    let clock: FakeClock | undefined;
    return [
      (asked) => ((clock?.monotonic() ?? 0) < ms ? step : emptyPage)(asked),
      (given) => {
        clock = given;
      },
    ];
  };

  test.each([
    ['503', answer('', { status: 503 })],
    ['502', answer('', { status: 502 })],
    ['resets', ({ socket }) => void socket.resetAndDestroy()],
  ] satisfies [string, Step][])('for four minutes (%s) costs no page', async (_, step) => {
    const [api, by] = awayFor(240_000, step);
    const server = await scriptedServer([api]);
    const { fetch, clock } = open(server.url);
    by(clock);
    await fetch();
    expect(clock.monotonic()).toBeGreaterThanOrEqual(240_000);
    expect(clock.monotonic()).toBeLessThan(260_000);
  });

  test('is told each quarter of a minute, until when it is tried too', async () => {
    const [api, by] = awayFor(70_000, answer('', { status: 502 }));
    const server = await scriptedServer([api]);
    const told: Away[] = [];
    const { fetch, clock } = open(server.url, { onAway: (away) => void told.push(away) });
    by(clock);
    await fetch();
    expect(told.map(({ awayMs }) => awayMs)).toEqual([15_000, 30_000, 45_000, 60_000]);
    for (const { until } of told) expect(until).toBe(Date.UTC(2026, 2, 1, 0, 5));
    await fetch();
    expect(told).toHaveLength(4);
  });

  test('is not one that refuses, nor one of which one page fails', async () => {
    const server = await scriptedServer([
      ({ head, socket }) =>
        head.includes('start=0&')
          ? answer('', { status: 500 })({ head, socket })
          : emptyPage({ head, socket }),
    ]);
    const told: Away[] = [];
    const { fetch, fails, clock } = open(server.url, { onAway: (away) => void told.push(away) });
    const good: Promise<unknown>[] = [];
    clock.onSleep = () => void good.push(fetch({ start: 50 }));
    await fails();
    await Promise.all(good);
    const refusing = await scriptedServer([busy('none')]);
    await open(refusing.url, { onAway: (away) => void told.push(away) }).fails();
    expect(told).toEqual([]);
  });

  test('for an hour: each tick gives up within its time, few requests are sent, and then all is well', async () => {
    const [api, by] = awayFor(3_600_000, answer('', { status: 503 }));
    const server = await scriptedServer([api]);
    const { clock, fails, fetch } = open(server.url);
    by(clock);
    for (let tick = 0; tick < 4; tick++) {
      const began = clock.monotonic();
      const error = await fails();
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error.message).toMatch(
        /gave up after \d+ attempts in 3\d\d s; the last: answered 503/,
      );
      expect(clock.monotonic() - began).toBeLessThan(330_000);
      await clock.sleep(900_000 - (clock.monotonic() - began));
    }
    expect(server.heads.length).toBeLessThan(100);
    expect(await fetch()).toMatchObject({ requests: 1 });
  });
});

test('a quota in the headers: the next request waits for the reset, and nothing is refused', async () => {
  const server = await scriptedServer([
    answer('{"data":[]}', { headers: { RateLimit: '"day";r=1;t=20, "burst";r=0;t=7' } }),
    answer('{"data":[]}', {
      headers: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '999999999' },
    }),
    emptyPage,
  ]);
  const { fetch, clock } = open(server.url, { retryAfterLimitMs: 40_000 });
  for (let page = 0; page < 3; page++) await fetch();
  expect(clock.waits).toEqual([7000, 40_000]);
});
