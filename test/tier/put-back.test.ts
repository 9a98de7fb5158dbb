/** Objects that hold more than the database, after a backup of it was put back that says that their days moved before. */
import { expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { copyOf } from '../support/database.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { freshCopies, openDatabase } from '../support/store.ts';
import {
  DAYS,
  makeDays,
  moveAll,
  moved,
  moveMore,
  partsOf,
  restoreAll,
  tabled,
} from './moving-scene.ts';

let server: TestDatabase;
let database: Database;
freshCopies(makeDays, (fresh) => {
  ({ server, database } = fresh);
});

const DAY = [DAYS[1]] as const;

it('a day that came back, and moved anew with more after the backup, keeps its file in the table', async () => {
  const store = new MemoryStore();
  const meanwhile = await copyOf(server);
  await moveAll(partsOf(database, store), ['audit'], DAY);
  const before = await tabled(store);
  await moveMore(openDatabase(meanwhile.url), store, DAY);
  const after = await tabled(store);
  expect(after).not.toEqual(before);

  const parts = partsOf(database, store);
  expect((await moveAll(parts, [])).kept).toMatchObject([{ stream: 'audit', day: DAYS[1] }]);
  expect(await tabled(store)).toEqual(after);
  await restoreAll(parts);
  expect(await tabled(store)).toEqual(after);
  const { kept } = await moveAll(parts, ['audit'], DAY);
  expect(kept).toMatchObject([{ day: DAYS[1], reason: expect.stringContaining('move that away') }]);
  expect(await tabled(store)).toEqual(after);
  store.objects.delete(`events/${after[0]?.split(' ')[2]}`);
  expect(await moveAll(parts, ['audit'], DAY)).toMatchObject({ kept: [], days: [{}] });
  expect(await tabled(store)).toEqual(await moved(server));
});
