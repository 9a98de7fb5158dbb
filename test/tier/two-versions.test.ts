/** A record of which one version is in the tier, and another one is here: shown once, wherever it is. */
import { expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { letHoursPass, proveCutOf, proveTexts, windowOf } from '../support/publishing.ts';
import { DAY, freshStore, planDays } from '../support/store.ts';
import { believed, DAYS, moveAll, partsOf, restoreAll, sealAll } from './moving-scene.ts';

let server: TestDatabase;
let database: Database;
freshStore((store) => {
  ({ server, database } = store);
});

const V1 = '{"v": 1, "id": 5}';
const V2 = '{"v": 2, "id": 5}';

/** Every record, here and in the tier: day and text. */
async function everywhere(store: MemoryStore): Promise<string[]> {
  return Object.entries(await believed(server, store))
    .flatMap(([key, lines]) =>
      lines.map((line) => `${key.slice(-2)} ${(JSON.parse(line) as string[])[2]}`),
    )
    .sort();
}

it('a record that was gone when its day moved, and that another day shows since, is shown once when the day is back', async () => {
  const store = new MemoryStore();
  const streamId = await planDays(database, DAYS, { idPath: ['id'] });
  const [first, second] = [DAY, DAYS[1]] as const;
  for (const texts of [[V1, '{"id": 1}'], ['{"id": 1}'], ['{"id": 1}']]) {
    await letHoursPass(database, 2);
    await proveTexts(database, await windowOf(database, streamId, first), [texts]);
  }
  for (const day of DAYS.slice(1))
    await proveTexts(database, await windowOf(database, streamId, day), [[]]);
  await sealAll(database);
  const parts = partsOf(database, store);
  expect((await moveAll(parts, ['events'], [first])).kept).toEqual([]);
  await proveTexts(database, await windowOf(database, streamId, second), [[V2]]);
  await restoreAll(parts);
  expect(await everywhere(store)).toEqual(['05 {"id": 1}', `06 ${V2}`]);
});

it('a record of midnight that both days show, edited while the second of them is looked at still, is shown once', async () => {
  const store = new MemoryStore();
  const streamId = await planDays(database, DAYS, { idPath: ['id'] });
  const [first, second] = [DAY, DAYS[1]] as const;
  await proveTexts(database, await windowOf(database, streamId, first), [['{"id": 1}', V1]]);
  await proveTexts(database, await windowOf(database, streamId, second), [[V1, '{"id": 9}']]);
  await proveTexts(database, await windowOf(database, streamId, DAYS[2]), [[]]);
  const both = { across: [V1], before: [V1], after: [V1] };
  await proveCutOf(database, await windowOf(database, streamId, first, 'cut'), both, {
    records: 0,
    removed: 1,
  });
  for (const day of ['2026-03-04', second, DAYS[2]])
    await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
  await sealAll(database);
  const parts = partsOf(database, store);
  // The second day is a day younger, and looked at still.
  const later = await windowOf(database, streamId, second);
  await server.query(
    `update daywalk.windows set due_at = clock_timestamp() + interval '1 day' where window_id = $1`,
    [later],
  );
  await moveAll(parts, ['events'], [first]);
  expect(await everywhere(store)).toEqual(['05 {"id": 1}', `05 ${V1}`, '06 {"id": 9}']);
  await proveTexts(database, later, [[V2, '{"id": 9}']]);
  const here = await server.query('select from daywalk.events where day = $1', [first]);
  if (here.length > 0) {
    await proveTexts(database, await windowOf(database, streamId, first), [['{"id": 1}', V2]]);
    const edited = { across: [V2], before: [V2], after: [V2] };
    await proveCutOf(database, await windowOf(database, streamId, first, 'cut'), edited, {
      records: 0,
      removed: 1,
    });
  }
  expect(await everywhere(store)).toEqual(['05 {"id": 1}', `05 ${V2}`, '06 {"id": 9}']);
});
