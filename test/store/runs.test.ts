/** Runs: noted once when they begin and once when they end, whatever is lost on the way. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { beginRun, endRun, type RunCounts, readLastRun } from '../../src/store/runs.ts';
import type { TestDatabase } from '../support/database.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { freshStore, openDatabase } from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const counts: RunCounts = {
  windowsDue: 3,
  windowsComplete: 2,
  windowsFailed: 1,
  windowsSplit: 4,
  windowsUnchanged: 5,
  pages: 9,
  records: 3_000_000_000,
  bytes: 9_000_000_000,
};

it('the last run is told as it stands, then as it ended', async () => {
  expect(await readLastRun(database)).toBeNull();
  const range = { from: '2026-03-01', to: '2026-03-05' };
  const runId = await beginRun(database, 'backfill', randomUUID(), 'host 1', range);
  expect(await readLastRun(database)).toMatchObject({ runId, outcome: null, finishedAt: null });
  await endRun(database, runId, 'gaps', counts, null);
  await endRun(database, runId, 'unexpected', { ...counts, records: 0 }, 'late');
  expect(await readLastRun(database)).toMatchObject({
    runId,
    trigger: 'backfill',
    outcome: 'gaps',
    windowsComplete: 2,
    windowsFailed: 1,
    records: 3_000_000_000,
    error: null,
    finishedAt: expect.any(Date),
  });
  expect(
    await server.query('select from_day::text, to_day::text, windows_unchanged from daywalk.runs'),
  ).toEqual([{ from_day: '2026-03-01', to_day: '2026-03-05', windows_unchanged: 5 }]);
});

it('a run whose first note lost its answer is one run', async () => {
  const proxy = await startPostgresProxy(server.url);
  onTestFinished(() => proxy.close());
  const beyond = openDatabase(proxy.url);
  proxy.ambush('drop-after', /insert into daywalk\.runs/);
  const runId = await beginRun(beyond, 'hand', randomUUID(), 'host 1', null);
  await endRun(beyond, runId, 'done', counts, null);
  expect(await server.query('select outcome from daywalk.runs')).toEqual([{ outcome: 'done' }]);
});
