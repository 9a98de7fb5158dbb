/** The API or the database refuses or is away: one clear message, the right exit code, nothing half done. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { expectExact, expectNoFalseCompleteness } from '../support/multiset.ts';
import { API_KEY, temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { BACKFILL, expectAway, expectCleanFailure, expectNewer } from './clean-failures.ts';

const EVENTS = { DAYWALK_STREAMS: 'events' };
const DAYS = { from: '2026-03-01', to: '2026-03-02' };

/** Whether the second day is asked for up to its end, and not only what is near the cut there. */
const inDay = ({ fromDate = '', toDate }: Readonly<Record<string, string | undefined>>) =>
  fromDate < '2026-03-02 23:00:00' && toDate === '2026-03-02 23:59:59';

test('a redirect is not followed: exit code 2, with the place it points to', async () => {
  const scene = await setScene({
    faults: [{ kind: 'redirect', location: 'https://login.example.com/x?key=1' }],
  });
  const ended = await scene.run(BACKFILL);
  await expectCleanFailure(scene, ended, 2, [
    '302',
    'https://login.example.com',
    /follows no redirect/,
  ]);
});

test('503 again and again: exit code 5', async () => {
  const scene = await setScene({ faults: [{ kind: 'status', status: 503 }] });
  // One day, one request at a time, and no patience: each refusal doubles the pause of all.
  const one = { ...EVENTS, DAYWALK_RETRY_TIME: '0s', DAYWALK_CONCURRENCY: '1' };
  const ended = await scene.here(['backfill', '--from', DAYS.from, '--to', DAYS.from], one);
  await expectCleanFailure(scene, ended, 5, ['answered 503']);
  expect(scene.api.counts.requests).toBeGreaterThan(1);
});

test('the key is refused: exit code 4 at once, no second try', async () => {
  const scene = await setScene();
  const ended = await scene.here(BACKFILL, { DAYWALK_API_KEY: 'another-key' });
  await expectCleanFailure(scene, ended, 4, ['401', 'DAYWALK_API_KEY']);
  // Each of the four that were under way asked once.
  expect(scene.api.counts.requests).toBeLessThanOrEqual(4);
});

test('a key that is changed in mid-run is read again from its file, once; when it is withdrawn: exit code 4, the checkpoints are safe', async () => {
  const [next, last] = ['the-next-key-5150', 'the-last-key-6160'];
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, `${API_KEY}\n`);
  const sent = new Map<string, number>();
  let refusedBefore: number | undefined;
  const scene: Scene = await setScene({
    latency: 10,
    respond: ({ headers }) => {
      const key = String(headers['x-api-key']);
      const times = (sent.get(key) ?? 0) + 1;
      sent.set(key, times);
      if (key === API_KEY && times === 7) {
        writeFileSync(file, `${next}\n`);
        scene.api.set({ key: next });
      }
      if (key === next && times === 5) {
        refusedBefore = scene.api.counts.byStatus[401];
        scene.api.set({ key: last });
      }
      return undefined;
    },
  });
  const environment = { ...EVENTS, DAYWALK_API_KEY: undefined, DAYWALK_API_KEY_FILE: file };
  const ended = await scene.here(BACKFILL, environment);
  // Those that were under way with the old key.
  expect(refusedBefore).toBeGreaterThan(0);
  expect(refusedBefore).toBeLessThanOrEqual(4);
  expect(ended, ended.stderr).toMatchObject({ code: 4 });
  expect(ended.stderr).toContain('DAYWALK_API_KEY');
  expect(ended.stderr).not.toContain(next);
  expect(scene.api.counts.byStatus[401]).toBeLessThanOrEqual((refusedBefore ?? 0) + 4);
  scene.api.set({ key: next, respond: null });
  await scene.succeedHere(BACKFILL, environment);
  await expectExact(scene, DAYS, ['events']);
});

test('a database that is away: exit code 5, after no more than its patience', () =>
  expectAway(['run']));

test('a database that does not exist: exit code 2, and 5 behind PgBouncer', async () => {
  const scene = await setScene();
  const ended = await scene.here(BACKFILL, {
    DATABASE_URL: `${scene.database.url}_not`,
    DAYWALK_DATABASE_PATIENCE: '0s',
  });
  // PgBouncer gives every such answer the code 08P01, which may also pass: waited for, as long as patience lasts.
  const code = inject('pgbouncerPort') === undefined ? 2 : 5;
  await expectCleanFailure(scene, ended, code, [/_not" does not exist/, 'DATABASE_URL']);
});

test('a database that is newer than the code is refused with exit code 2', () =>
  expectNewer('run'));

test('what is no page fails its window, not the run, and says what came (exit code 3)', async () => {
  const scene = await setScene({
    eventsPerDay: 60,
    faults: [{ kind: 'html', when: ({ query }) => inDay(query) }],
  });
  const ended = await scene.here(BACKFILL, EVENTS);
  expect(ended, ended.stderr).toMatchObject({ code: 3 });
  expect(await expectNoFalseCompleteness(scene, DAYS)).toEqual({
    complete: 1,
    failed: 1,
    waiting: 0,
  });
  expect(ended.stdout).toMatch(
    /Failed: events 2026-03-02 00:00:00 to 2026-03-02 23:59:59: .*(HTML|<!DOCTYPE|JSON)/i,
  );
  expect(ended.stdout).toMatch(/`daywalk gaps`/);
});

test('faults that pass leave no trace in the data', async () => {
  // Refusals with a time: without one the pace would be that of the first moments for the rest of the test.
  const scene = await setScene({
    faults: [
      { kind: 'status', status: 503, retryAfter: 1, at: [2, 9] },
      { kind: 'status', status: 429, retryAfter: 1, at: [4] },
      { kind: 'reset', at: [6] },
      { kind: 'truncate', at: [8] },
      { kind: 'reset-body', at: [11] },
      { kind: 'truncate-gzip', at: [13] },
      { kind: 'html', at: [15] },
    ],
  });
  await scene.succeedHere(BACKFILL, EVENTS);

  await expectExact(scene, DAYS, ['events']);
  expect(scene.api.counts.byFault).toMatchObject({ status: 3, reset: 1, truncate: 1, html: 1 });
});
