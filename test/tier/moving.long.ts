/** What `moving` has no time for: processes that are killed at each of their steps, before it or behind it, while the log grows. */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { type MemoryStore, mortal } from '../support/memory-store.ts';
import { killedAnywhere, mortalDatabase, moveOne } from './killed-moves.ts';
import { everything, freshTier, partsOf, restoreAll } from './moving-scene.ts';

let server: TestDatabase;
let database: Database;
let store: MemoryStore;

freshTier((fresh) => {
  ({ server, database, store } = fresh);
});

describe.each([false, true])('processes that are killed, the step done: %s', (done) => {
  it.each([
    [
      'operations of the store',
      (step: number) => partsOf(database, mortal(store, { operation: step, done })),
    ],
    ['statements', (step: number) => partsOf(mortalDatabase(server.url, step, done), store)],
  ])('between any two %s', async (_, dying) => {
    const place = { server, database, store };
    const all = await everything(server);
    expect(await killedAnywhere(place, dying, moveOne, restoreAll)).toBeGreaterThan(10);
    await moveOne(partsOf(database, store));
    await killedAnywhere(place, dying, restoreAll, moveOne);
    await restoreAll(partsOf(database, store));
    expect(await everything(server)).toEqual(all);
  });
});
