/** A lease is renewed while its window is walked; when it is lost, the walk stops at once (I2). */
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import { LeaseLostError } from '../../src/errors.ts';
import { silentLogger } from '../../src/log.ts';
import { whileLeased } from '../../src/walk/lease-keeper.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  clear,
  expireLeases,
  leaseDay,
  openDatabase,
  planBareDays,
  TTL_MS,
} from '../support/store.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(() => clear(server));

/** A clock whose regular calls are made by hand. */
function handClock(): { clock: Clock; tick: () => void; every: () => number | undefined } {
  let call: (() => void) | undefined;
  let interval: number | undefined;
  const clock: Clock = {
    ...systemClock,
    every(ms, tick) {
      interval = ms;
      call = tick;
      return () => {
        call = undefined;
      };
    },
  };
  return { clock, tick: () => call?.(), every: () => (call === undefined ? undefined : interval) };
}

const expiry = async () =>
  (
    await server.query<{ at: number }>(
      'select extract(epoch from lease_expires)::float as at from daywalk.windows',
    )
  )[0]?.at ?? 0;

it('renews the lease each third of its life, and not any more when the work is done', async () => {
  const database = openDatabase(server.url);
  const claim = await leaseDay(database, await planBareDays(database));
  const { clock, tick, every } = handClock();
  const context = {
    database,
    clock,
    log: silentLogger,
    leaseTtlMs: TTL_MS,
    signal: new AbortController().signal,
  };
  const before = await expiry();
  await whileLeased(context, claim, async (signal) => {
    expect(every()).toBe(TTL_MS / 3);
    tick();
    await expect.poll(expiry, { timeout: 40_000 }).toBeGreaterThan(before);
    expect(signal.aborted).toBe(false);
  });
  expect(every()).toBeUndefined();
});

it('stops the work when another worker has the window (I2)', async () => {
  const database = openDatabase(server.url);
  const streamId = await planBareDays(database);
  const claim = await leaseDay(database, streamId);
  await expireLeases(server);
  await leaseDay(database, streamId, 'thief');
  const { clock, tick } = handClock();
  const context = {
    database,
    clock,
    log: silentLogger,
    leaseTtlMs: TTL_MS,
    signal: new AbortController().signal,
  };
  const work = whileLeased(context, claim, (signal) => {
    tick();
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  await expect(work).rejects.toThrow(LeaseLostError);
});
