/** Waiting between attempts: jitter, what the server asks for, and one gate for all windows (H22, H32). */
import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../src/errors.ts';
import { openSource } from '../../src/source/source.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import { CANARY, firstPage, open } from './open.ts';
import { answer, emptyPage, scriptedServer } from './scripted-server.ts';

const busy = (retryAfter: string, status = 429, date?: string) =>
  answer('', { status, headers: { 'Retry-After': retryAfter, ...(date ? { Date: date } : {}) } });

describe('Retry-After', () => {
  test.each([
    ['seconds', busy('7'), 7000],
    ['a date', busy('Sun, 01 Mar 2026 00:00:30 GMT'), 30_000],
    [
      "a date by the server's own clock",
      busy('Sun, 01 Mar 2015 00:00:09 GMT', 503, 'Sun, 01 Mar 2015 00:00:00 GMT'),
      9000,
    ],
    ['far too long', busy('1000000000'), 40_000],
    ['a date that is far too far', busy('Sun, 01 Mar 2999 00:00:30 GMT'), 40_000],
    ['on a 500', busy('5', 500), 5000],
  ])('%s is the floor of the wait, under the jitter', async (_, step, floor) => {
    const server = await scriptedServer([step, emptyPage]);
    const { fetch, clock } = open(server.url, { retryAfterLimitMs: 40_000 });
    await fetch();
    expect(clock.waits).toEqual([floor + 500]);
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
    expect(clock.waits).toEqual([500, 500]);
  });

  test('longer than the time that is left: given up without waiting', async () => {
    const server = await scriptedServer([busy('100')]);
    const { fails, clock } = open(server.url, { retryTimeMs: 60_000 });
    const error = await fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain('answered 429');
    expect(error).toMatchObject({ cause: { retryAfterMs: 100_000 } });
    expect(clock.waits).toEqual([]);
  });

  test('the total time bounds the attempts', async () => {
    const server = await scriptedServer([busy('25')]);
    const { fails } = open(server.url, { retryTimeMs: 60_000 });
    await fails();
    expect(server.heads).toHaveLength(3);
  });
});

describe('a 429 uses up no attempt', () => {
  const failing = answer('', { status: 500 });

  test('as many as may be are waited for', async () => {
    const server = await scriptedServer([...Array.from({ length: 9 }, () => busy('7')), emptyPage]);
    const { fetch } = open(server.url, { retryAttempts: 1 });
    expect(await fetch()).toMatchObject({ requests: 10 });
  });

  test('other failures between them do', async () => {
    const server = await scriptedServer([failing, busy('1'), busy('1'), failing, emptyPage]);
    expect(await open(server.url, { retryAttempts: 3 }).fetch()).toMatchObject({ requests: 5 });
    const again = await scriptedServer([failing, busy('1'), busy('1'), failing, emptyPage]);
    const error = await open(again.url, { retryAttempts: 2 }).fails();
    expect(error.message).toContain('gave up after 4 attempts');
  });

  test('the time bounds them, and the waits their number', async () => {
    const server = await scriptedServer([busy('none')]);
    const { fails, clock } = open(server.url, { retryTimeMs: 600_000 });
    const error = await fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toMatch(/answered 429 \d+ times/);
    // The last request may find everyone held.
    expect(clock.monotonic()).toBeLessThanOrEqual(630_000);
    // Pauses of 1, 2, 4, 8, 16 and then 30 s.
    expect(server.heads.length).toBeLessThan(50);
    expect(server.heads.length).toBeGreaterThan(15);
  });
});

describe('the jitter', () => {
  test('is drawn anew for each wait', async () => {
    const server = await scriptedServer([answer('', { status: 500 })]);
    const { fails, clock } = open(server.url);
    clock.onSleep = () => {
      clock.luck /= 2;
    };
    await fails();
    expect(clock.waits).toEqual([500, 500, 500, 500, 500]);
  });

  test('two sources with the same clock do not wait for each other', async () => {
    const server = await scriptedServer([busy('9'), emptyPage]);
    const clock = fakeClock();
    const one = openSource({ baseUrl: server.url, key: CANARY, clock, retryTimeMs: 8000 });
    const two = openSource({ baseUrl: server.url, key: CANARY, clock });
    const { signal } = new AbortController();
    await expect(one.fetchPage(firstPage, { signal })).rejects.toThrow('answered 429');
    await two.fetchPage(firstPage, { signal });
    expect(clock.waits).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  });
});

describe('what the server asks for', () => {
  test.each([429, 503])('holds the other windows after a %i', async (status) => {
    const server = await scriptedServer([busy('9', status), emptyPage]);
    const { fails, fetch, clock } = open(server.url, { retryTimeMs: 8000 });
    await fails();
    await fetch();
    expect(clock.waits).toEqual([9000]);
  });

  test('does not hold them after a 500', async () => {
    const server = await scriptedServer([busy('9', 500), emptyPage]);
    const { fails, fetch, clock } = open(server.url, { retryAttempts: 1 });
    await fails();
    await fetch();
    expect(clock.waits).toEqual([]);
  });
});

test('5xx for an hour: each tick gives up within its bounds, few requests are sent, and then all is well', async () => {
  let api: { clock?: FakeClock } = {};
  const server = await scriptedServer([
    (asked) => {
      const away = (api.clock?.monotonic() ?? 0) < 3_600_000;
      (away ? answer('', { status: 503 }) : emptyPage)(asked);
    },
  ]);
  const { clock, fails, fetch } = open(server.url);
  api = { clock };
  for (let tick = 0; tick < 4; tick++) {
    const began = clock.monotonic();
    const error = await fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain('answered 503 six times');
    expect(clock.monotonic() - began).toBeLessThan(600_000);
    await clock.sleep(900_000 - (clock.monotonic() - began));
  }
  expect(server.heads).toHaveLength(24);
  expect(await fetch()).toMatchObject({ requests: 1 });
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
