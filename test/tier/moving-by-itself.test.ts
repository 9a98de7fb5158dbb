/** Days that move by themselves at the end of a run, and what each of them costs. */
import { expect, it } from 'vitest';
import { tiering } from '../../src/cli/walk-wiring.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
import type { Database } from '../../src/store/database.ts';
import { listMovedDays } from '../../src/store/moved-days.ts';
import { applyTables, syncTables } from '../../src/tables/record-tables.ts';
import { type InTier, moveDueDays } from '../../src/tier/move.ts';
import { loadYaml } from '../settings/loading.ts';
import type { TestDatabase } from '../support/database.ts';
import type { MemoryStore } from '../support/memory-store.ts';
import { temporaryFolder } from '../support/program.ts';
import {
  believed,
  DAYS,
  freshTier,
  moveAll,
  moved,
  partsOf,
  restoreAll,
  STREAMS,
  signal,
  tabled,
} from './moving-scene.ts';

const DAY_MS = 86_400_000;

let server: TestDatabase;
let database: Database;
let store: MemoryStore;

freshTier((fresh) => {
  ({ server, database, store } = fresh);
});

/** What follows a run; the store is opened as often as that is told. */
function follower(clock: Clock = systemClock) {
  const told = { opened: 0 };
  const inTier: InTier = (work) => {
    told.opened += 1;
    return work({ ...partsOf(database, store), clock });
  };
  const limits = STREAMS.map((stream) => ({ stream, olderThanMs: DAY_MS }));
  const parts = { database, clock, log: silentLogger };
  return { told, run: () => moveDueDays(parts, limits, inTier, signal) };
}

it('days move at the end of a run; where none is old enough nothing is opened', async () => {
  const before = await believed(server, store);
  const { told, run } = follower();
  await run();
  expect(await believed(server, store)).toEqual(before);
  expect(await tabled(store)).toEqual(await moved(server));
  expect(await moved(server)).toHaveLength(DAYS.length * STREAMS.length);
  await run();
  expect(told.opened).toBe(1);
});

it('no day is begun after a quarter of an hour, and the next run goes on', async () => {
  let ticks = 0;
  const tick = () => {
    ticks += 1;
    return ticks;
  };
  // Asked once when it begins, and before each day.
  const clock = { ...systemClock, monotonic: () => tick() * 5 * 60_000 };
  const { run } = follower(clock);
  await run();
  const first = (await moved(server)).length;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(DAYS.length * STREAMS.length);
  for (let time = 0; time < 9; time += 1) await run();
  expect(await moved(server)).toHaveLength(DAYS.length * STREAMS.length);
});

it('days that a record table of the settings is to keep stay until it is made so', async () => {
  const defined = (more: string) =>
    loadYaml(
      `tier: { url: ${temporaryFolder()}, after: 1d }\ntables: { kept: { stream: events, ${more}columns: { id: {} } } }`,
    );
  await applyTables(database, defined('').tables, []);
  const settings = defined('retention: forever, ');
  const run = () => tiering(settings, database, silentLogger).catchUp([], signal);
  await run();
  expect(await moved(server)).toEqual([]);
  await applyTables(database, settings.tables, []);
  const streams = await server.query<{ id: number }>('select stream_id as id from daywalk.streams');
  const inStep = () =>
    syncTables(
      database,
      streams.map(({ id }) => id),
      signal,
    );
  await inStep();
  const kept = () => server.query('select day::text, id from daywalk.kept order by 1, 2');
  const before = await kept();
  expect(before.length).toBeGreaterThan(5);
  await run();
  await inStep();
  expect(await moved(server)).toHaveLength(DAYS.length);
  expect(await kept()).toEqual(before);
});

it('a day that a person has to see to fails each run, once all others have moved', async () => {
  await moveAll(partsOf(database, store), ['edits']);
  const { run } = follower();
  // As where a killed move left pages here, and an object of them is lost.
  await server.query('update daywalk.prunings set removed_at = null');
  const [lost] = await listMovedDays(database, ['edits'], null);
  store.objects.delete(lost?.events.key ?? '');
  for (let time = 0; time < 2; time += 1)
    await expect(run()).rejects.toThrow(/^edits 2026-03-05 stays: .* no whole object .*--restore/);
  expect(await moved(server)).toHaveLength(DAYS.length * STREAMS.length);
  await restoreAll(partsOf(database, store));
  await run();
});

it('so does one whose pages are not what was sealed', async () => {
  const { run } = follower();
  const change = (to: string) =>
    server.query(
      `update daywalk.pages set body = jsonb_set(body, '{data,0,id}', '${to}') where (walk_id, page_no) = (
         select s.walk_id, s.page_no from daywalk.seals s join daywalk.walks k using (walk_id)
           join daywalk.windows w using (window_id) join daywalk.streams r using (stream_id)
          where r.name = 'events' order by 1, 2 limit 1)`,
    );
  await change('77');
  await expect(run()).rejects.toThrow(/^events .* stays: .* were sealed: .* verify --offline/);
  expect(await moved(server)).toHaveLength(DAYS.length * STREAMS.length - 1);
  await change('1');
  await run();
  expect(await moved(server)).toHaveLength(DAYS.length * STREAMS.length);
});

it('days that were brought back stay', async () => {
  await moveAll(partsOf(database, store));
  await restoreAll(partsOf(database, store));
  const { told, run } = follower();
  await run();
  expect(told.opened).toBe(0);
  expect(await moved(server)).toEqual([]);
});

it('a day costs some requests, and the same number after many', async () => {
  const parts = partsOf(database, store);
  const costs: number[] = [];
  for (let time = 0; time < 4; time += 1) {
    store.spent();
    await moveAll(parts, ['events']);
    costs.push(store.spent().requests / DAYS.length);
    await restoreAll(parts);
  }
  for (const cost of costs) expect(cost).toBeLessThan(20);
});
