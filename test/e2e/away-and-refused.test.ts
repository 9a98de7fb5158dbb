/** The API or the database refuses or is away: one clear message, the right exit code, nothing half done. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { startStopwatch } from '../support/awake.ts';
import { untilMoment } from '../support/condition.ts';
import { expectExact, expectNoFalseCompleteness } from '../support/multiset.ts';
import { CLOSED_PORT } from '../support/ports.ts';
import { API_KEY, type Ended, temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

const BACKFILL = ['backfill', '--from', '2026-03-01', '--to', '2026-03-03'];

/** Whether the second day is asked for up to its end, and not only what is near the cut there. */
const inDay = ({ fromDate = '', toDate }: Readonly<Record<string, string | undefined>>) =>
  fromDate < '2026-03-02 23:00:00' && toDate === '2026-03-02 23:59:59';

/** One message behind the log lines, no stack trace, nothing on stdout; no lease left, no window worse than before. */
async function expectCleanFailure(
  { database }: Scene,
  ended: Ended,
  code: number,
  words: readonly (string | RegExp)[],
) {
  expect(ended, ended.stderr).toMatchObject({ code, stdout: '' });
  const messages = ended.stderr.split('\n').filter((line) => line.startsWith('daywalk: '));
  expect(messages).toHaveLength(1);
  for (const word of words) expect(ended.stderr).toMatch(word);
  expect(ended.stderr).not.toMatch(/^\s+at |undefined|\[object/m);
  const windows = await database.query(
    `select from daywalk.windows where lease_id is not null or state <> 'pending' or failures > 0`,
  );
  expect(windows).toEqual([]);
}

test('a base URL with a wrong path: exit code 2', async () => {
  const scene = await setScene();
  const ended = await scene.run(BACKFILL, { DAYWALK_API_URL: `${scene.api.url}/wrong` });
  await expectCleanFailure(scene, ended, 2, ['404', '/wrong/api/events', 'api.url']);
});

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

test('nobody listens: exit code 5 after the time that was allowed', async () => {
  const scene = await setScene();
  const url = `http://127.0.0.1:${CLOSED_PORT}`;
  const ended = await scene.run(BACKFILL, { DAYWALK_API_URL: url, DAYWALK_RETRY_TIME: '3s' });
  await expectCleanFailure(scene, ended, 5, ['refused', url, /\d+ attempts in \d+ s/]);
});

test('503 again and again: exit code 5', async () => {
  // With a time that is over at once: without one each refusal holds everything back for longer.
  const scene = await setScene({ faults: [{ kind: 'status', status: 503, retryAfter: 0 }] });
  const one = {
    DAYWALK_RETRY_TIME: '500ms',
    DAYWALK_CONCURRENCY: '1',
    // Each question doubles the pause of all.
    DAYWALK_STREAMS: 'events',
  };
  const ended = await scene.run(BACKFILL, one);
  await expectCleanFailure(scene, ended, 5, ['answered 503']);
});

test.each([401, 403])(
  'the key is refused with %i: exit code 4 at once, no second try',
  async (status) => {
    const scene = await setScene({ faults: [{ kind: 'status', status }] });
    const ended = await scene.run(BACKFILL);
    await expectCleanFailure(scene, ended, 4, [String(status), 'DAYWALK_API_KEY']);
    // Each of the four that were under way asked once.
    expect(scene.api.counts.requests).toBeLessThanOrEqual(4);
  },
);

test('a wrong key: exit code 4; with the right one the next run goes on', async () => {
  const scene = await setScene();
  const ended = await scene.run(BACKFILL, { DAYWALK_API_KEY: 'another-key' });
  await expectCleanFailure(scene, ended, 4, ['401', 'DAYWALK_API_KEY']);
  await scene.succeed(BACKFILL);
});

test('a key that is changed in mid-run is read again from its file, once; the run goes on', async () => {
  const scene = await setScene({ latency: 10 });
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, `${API_KEY}\n`);
  const environment = { DAYWALK_API_KEY: undefined, DAYWALK_API_KEY_FILE: file };
  const program = scene.start(BACKFILL, environment);
  await untilMoment('pages', () => scene.api.counts.pages >= 8);
  writeFileSync(file, 'the-next-key-5150\n');
  scene.api.set({ key: 'the-next-key-5150' });
  const ended = await program.ended;
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stderr).not.toContain('the-next-key-5150');
  await expectExact(scene, { from: '2026-03-01', to: '2026-03-03' });
  // Those that were under way with the old key.
  expect(scene.api.counts.byStatus[401]).toBeLessThanOrEqual(4);
});

test('a key that is withdrawn in mid-run: exit code 4, the checkpoints are safe', async () => {
  const scene = await setScene({ latency: 10 });
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, `${API_KEY}\n`);
  const environment = { DAYWALK_API_KEY: undefined, DAYWALK_API_KEY_FILE: file };
  const program = scene.start(BACKFILL, environment);
  await untilMoment('pages', () => scene.api.counts.pages >= 8);
  scene.api.set({ key: 'the-next-key-5150' });
  const ended = await program.ended;
  expect(ended, ended.stderr).toMatchObject({ code: 4 });
  expect(ended.stderr).toContain('DAYWALK_API_KEY');
  expect(scene.api.counts.byStatus[401]).toBeLessThanOrEqual(4);
  scene.api.set({ key: API_KEY });
  await scene.succeed(BACKFILL, environment);
  await expectExact(scene, { from: '2026-03-01', to: '2026-03-03' });
});

test('a wrong database password: exit code 2', async () => {
  const scene = await setScene();
  const url = new URL(scene.database.url);
  url.password = 'wrong-password-1234';
  const ended = await scene.run(BACKFILL, { DATABASE_URL: url.href });
  if (ended.code === 0) return; // This server asks for no password.
  expect(ended.stderr).not.toContain(url.password);
  await expectCleanFailure(scene, ended, 2, [
    /(?:password|SASL) authentication failed/,
    'DATABASE_URL',
  ]);
  expect(scene.api.counts.requests).toBe(0);
});

test.each([[BACKFILL], [['run']], [['status']], [['gaps']], [['migrate']]])(
  'a database that is away: exit code 5, after no more than its patience (%s)',
  async (args) => {
    const scene = await setScene();
    const url = new URL(scene.database.url);
    url.port = String(CLOSED_PORT);
    const elapsed = startStopwatch();
    const ended = await scene.run(args, {
      DATABASE_URL: url.href,
      DAYWALK_DATABASE_PATIENCE: '1s',
    });
    await expectCleanFailure(scene, ended, 5, [
      /the database (?:is away|cannot be reached)/,
      'ECONNREFUSED',
      'DATABASE_URL',
    ]);
    expect(elapsed()).toBeLessThan(25_000);
    expect(scene.api.counts.requests).toBe(0);
  },
);

test('a database that does not exist: exit code 2, and 5 behind PgBouncer', async () => {
  const scene = await setScene();
  const ended = await scene.run(BACKFILL, {
    DATABASE_URL: `${scene.database.url}_not`,
    DAYWALK_DATABASE_PATIENCE: '0s',
  });
  // PgBouncer gives every such answer the code 08P01, which may also pass: waited for, as long as patience lasts.
  const code = inject('pgbouncerPort') === undefined ? 2 : 5;
  await expectCleanFailure(scene, ended, code, [/_not" does not exist/, 'DATABASE_URL']);
});

test.each([['run'], ['status'], ['gaps'], ['migrate']])(
  'a database that is newer than the code: %s refuses it with exit code 2',
  async (verb) => {
    const scene = await setScene();
    await scene.database.query(
      `insert into daywalk.migrations (name, run_on) values ('9999_from_the_future', now())`,
    );
    const ended = await scene.run([verb]);
    await expectCleanFailure(scene, ended, 2, ['newer', '9999_from_the_future', /Install/]);
    expect(await scene.database.query('select from daywalk.streams')).toEqual([]);
  },
);

test('what is no page fails its window, not the run, and says what came (exit code 3)', async () => {
  const scene = await setScene({
    faults: [{ kind: 'html', when: ({ query }) => inDay(query) }],
  });
  const ended = await scene.run(BACKFILL);
  expect(ended, ended.stderr).toMatchObject({ code: 3 });
  expect(await expectNoFalseCompleteness(scene, { from: '2026-03-01', to: '2026-03-03' })).toEqual({
    complete: 4,
    failed: 2,
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
  await scene.succeed(BACKFILL);

  await expectExact(scene, { from: '2026-03-01', to: '2026-03-03' });
  expect(scene.api.counts.byFault).toMatchObject({ status: 3, reset: 1, truncate: 1, html: 1 });
});
