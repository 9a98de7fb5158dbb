/** The rate budget in the database: slots that nobody shares, at the rate, however many ask. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { takeSlots } from '../../src/store/rates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openDatabase } from '../support/store.ts';

const API = 'https://soc.example';
let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(async () => {
  await server.query('delete from daywalk.rates');
  database = openDatabase(server.url);
});

const nextSlot = async (): Promise<number> => {
  const [row] = await server.query<{ ahead: number }>(
    `select extract(epoch from next_slot - clock_timestamp())::float8 as ahead from daywalk.rates`,
  );
  return row?.ahead ?? 0;
};

/** Milliseconds that have passed, and one more: Postgres and we round in our own ways. */
const since = (began: number): number => performance.now() - began + 1;

describe('slots', () => {
  test('begin at once, one interval after the other, and the next batch behind them', async () => {
    const began = performance.now();
    const first = await takeSlots(database, API, 0.1, 10);
    expect(first).toEqual({ count: 10, startsInMs: 0, intervalMs: 10_000 });
    const second = await takeSlots(database, API, 0.1, 3);
    expect(second.startsInMs).toBeGreaterThan(100_000 - since(began));
    expect(second.startsInMs).toBeLessThanOrEqual(100_000);
    expect((await nextSlot()) * 1000).toBeGreaterThan(130_000 - since(began));
  });

  test('that passed unused are not saved up', async () => {
    await takeSlots(database, API, 2, 1);
    await server.query(`update daywalk.rates set next_slot = clock_timestamp() - interval '1 h'`);
    expect(await takeSlots(database, API, 2, 4)).toMatchObject({ startsInMs: 0 });
    expect(await nextSlot()).toBeLessThanOrEqual(2);
  });

  test('are forgotten where the clock of the database was set back', async () => {
    await takeSlots(database, API, 2, 1);
    await server.query(`update daywalk.rates set next_slot = clock_timestamp() + interval '1 day'`);
    expect(await takeSlots(database, API, 2, 1)).toMatchObject({ startsInMs: 0 });
  });

  test('of one API are not those of another', async () => {
    await takeSlots(database, API, 1, 50);
    expect(await takeSlots(database, 'https://other.example', 1, 1)).toMatchObject({
      startsInMs: 0,
    });
  });

  test('are given out once, however many workers ask at a time, and to each as many as to the others', async () => {
    const rate = 20;
    const workers = Array.from({ length: 4 }, () => openDatabase(server.url, { connections: 1 }));
    const began = performance.now();
    const taken: { slots: Awaited<ReturnType<typeof takeSlots>>; at: number }[] = [];
    for (let round = 0; round < 10; round++)
      await Promise.all(
        workers.map(async (worker) => {
          const slots = await takeSlots(worker, API, rate, 25);
          taken.push({ slots, at: performance.now() - began });
        }),
      );
    // A batch begins when it was taken plus its wait; between two batches there is a batch at least.
    const starts = taken.map(({ slots, at }) => at + slots.startsInMs).sort((a, b) => a - b);
    const batchMs = (25 * 1000) / rate;
    expect(taken).toHaveLength(40);
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(39 * batchMs - since(began));
    // Asked for before the time is taken, so that whatever keeps us waiting counts on both sides.
    const ahead = await nextSlot();
    expect(ahead * 1000).toBeGreaterThan(40 * batchMs - since(began));
  });
});
