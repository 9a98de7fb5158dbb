/** The rate budget in the database: slots that nobody shares, at the rate, however many ask. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { type TakenSlots, takeSlots } from '../../src/store/rates.ts';
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

describe('slots', () => {
  test('begin at once, one interval after the other, and the next batch behind them', async () => {
    const first = await takeSlots(database, API, 2, 10);
    expect(first).toEqual({ count: 10, startsInMs: 0, intervalMs: 500 });
    const second = await takeSlots(database, API, 2, 3);
    expect(second.startsInMs).toBeGreaterThan(4000);
    expect(second.startsInMs).toBeLessThanOrEqual(5000);
    expect(await nextSlot()).toBeGreaterThan(5.4);
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
    const rate = 1000;
    const workers = Array.from({ length: 4 }, () => openDatabase(server.url, { connections: 1 }));
    const began = performance.now();
    const taken: { slots: TakenSlots; at: number }[] = [];
    for (let round = 0; round < 10; round++)
      await Promise.all(
        workers.map(async (worker) => {
          const slots = await takeSlots(worker, API, rate, 25);
          taken.push({ slots, at: performance.now() - began });
        }),
      );
    // A batch begins when it was taken plus its wait; between two batches there is a batch at least.
    const starts = taken.map(({ slots, at }) => at + slots.startsInMs).sort((a, b) => a - b);
    const elapsed = performance.now() - began;
    expect(taken).toHaveLength(40);
    expect((await nextSlot()) * 1000 + elapsed).toBeGreaterThanOrEqual(999);
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(39 * 25 * 0.9);
  });
});
