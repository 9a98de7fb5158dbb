/** A tier that is lost between the move of a day and the removal of its pages: those are the last copies then. */
import { expect, it } from 'vitest';
import { silentLogger } from '../../src/log.ts';
import { planPruning, prune } from '../../src/retention/prune.ts';
import type { Database } from '../../src/store/database.ts';
import { moveDueDays } from '../../src/tier/move.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { Killed, type MemoryStore } from '../support/memory-store.ts';
import { openGated } from '../walk/perils.ts';
import { moveOne } from './killed-moves.ts';
import {
  believed,
  everything,
  freshTier,
  moveAll,
  partsOf,
  restoreAll,
  signal,
  tabled,
} from './moving-scene.ts';

let server: TestDatabase;
let database: Database;
let store: MemoryStore;

freshTier((fresh) => {
  ({ server, database, store } = fresh);
});

const countPages = async () => (await server.query('select from daywalk.pages')).length;

/** A process moves a day, and is killed when its pages are to be removed. */
async function moveAndBeKilled(): Promise<void> {
  const dying = openGated(server.url, async (statement, act) => {
    if (statement?.includes('empty_month') === true) throw new Killed();
    return act();
  });
  await expect(moveOne(partsOf(dying, store))).rejects.toThrow(Killed);
  await dying.close();
}

/** Removes all of the days, and leaves the log of their table. */
function loseObjects(): void {
  for (const key of [...store.objects.keys()])
    if (key.endsWith('.parquet')) store.objects.delete(key);
}

it('the pages of a day whose objects are lost stay, whoever comes next, and bring it back', async () => {
  const all = await everything(server);
  const pages = await countPages();
  await moveAndBeKilled();
  loseObjects();
  const parts = partsOf(database, store);

  const report = await moveAll(parts, []);
  expect(report.kept).toMatchObject([
    { stream: 'events', reason: expect.stringMatching(/no whole object .* tier --restore/) },
  ]);
  const limits = [{ stream: 'events', olderThanMs: 1 }];
  const due = { database, clock: parts.clock, log: silentLogger };
  await expect(moveDueDays(due, [], (work) => work(parts), signal)).rejects.toThrow(
    /events .* stays: .* no whole object/,
  );
  const plan = await planPruning(database, { kind: 'superseded', limits, exported: null });
  await prune(database, 'superseded', { ...plan, days: [] }, signal);
  expect(await countPages()).toBe(pages);

  expect(await restoreAll(parts)).toMatchObject({ days: [{ stream: 'events' }], kept: [] });
  expect(await everything(server)).toEqual(all);
  expect(await audit(server)).toEqual([]);
});

it('the pages of a day whose objects are there are removed by the next move, be there nothing else to move', async () => {
  const before = await believed(server, store);
  const pages = await countPages();
  await moveAndBeKilled();
  const parts = partsOf(database, store);
  const due = { database, clock: parts.clock, log: silentLogger };
  await moveDueDays(due, [], (work) => work(parts), signal);
  expect(await countPages()).toBeLessThan(pages);
  expect(await believed(server, store)).toEqual(before);
});

it('what is left of a day whose pages were partly removed comes back with its object only', async () => {
  const all = await everything(server);
  await moveAndBeKilled();
  const [gone] = await server.query<{ pages: number }>(
    `with removed as (delete from daywalk.pages p using daywalk.prunings g
                       where p.walk_id = any (g.walks) and p.page_no = 0 returning p.page_no)
     select count(*)::int as pages from removed`,
  );
  expect(gone?.pages).toBeGreaterThan(0);
  const left = await countPages();
  const objects = new Map(store.objects);
  loseObjects();
  const parts = partsOf(database, store);
  await expect(restoreAll(parts)).rejects.toThrow('has no whole object pages/');
  await moveAll(parts, []);
  expect(await countPages()).toBe(left);

  for (const [key, object] of objects) store.objects.set(key, object);
  await restoreAll(parts);
  expect(await everything(server)).toEqual(all);
  expect(await tabled(store)).toEqual([]);
});
