/** A worker whose key is refused stays up and unhealthy, and sends that key no more for an hour; people ask at once. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/condition.ts';
import { daysAgo } from '../support/days.ts';
import { expectExact } from '../support/multiset.ts';
import { freePort } from '../support/ports.ts';
import { API_KEY, formsOf, temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

const DAYS = daysAgo(2, 1);
const REFUSED = /the API refuses the key; it is not sent again/;
/** Requests that may be under way when the first of them is refused. */
const CONCURRENCY = 4;

/** A scene in which the API takes another key, and a worker with a page. */
async function setRefused() {
  const scene = await setScene({ key: 'the-other-key-5150' });
  const port = await freePort();
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, `${API_KEY}\n`);
  const environment = {
    DAYWALK_API_KEY: undefined,
    DAYWALK_API_KEY_FILE: file,
    DAYWALK_SINCE: DAYS.from,
    DAYWALK_SETTLE: '0s',
    // Often, so that a tick comes while the key is refused in most runs of this test.
    DAYWALK_SCHEDULE: '* * * * *',
    DAYWALK_STATUS_LISTEN: `127.0.0.1:${port}`,
  };
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, body: await answer.text() };
  };
  return { scene, file, environment, ask, start: () => scene.start(['worker'], environment) };
}

const notes = ({ database }: Scene) =>
  database.query<{ since: Date; said: string }>('select * from daywalk.refused_keys');

test('stays up, says why and since when, and asks no more: after a restart neither, but by hand, and after an hour', async () => {
  const { scene, environment, ask, start } = await setRefused();
  const worker = start();
  await worker.saying(REFUSED);
  const { requests } = scene.api.counts;
  expect(requests).toBeLessThanOrEqual(CONCURRENCY);
  const [note] = await notes(scene);
  const since = note?.since.toISOString().slice(0, 16).replace('T', ' ');
  expect(note?.said).toContain('401');

  expect(await ask('/livez')).toMatchObject({ status: 200 });
  const why = new RegExp(`refuses the key since ${since}.* UTC.*401`, 's');
  for (const path of ['/readyz', '/healthz'])
    expect(await ask(path)).toEqual({ status: 503, body: expect.stringMatching(why) });
  expect(JSON.parse((await ask('/healthz')).body)).toMatchObject({ status: 'refused' });
  expect((await ask('/')).body).toMatch(why);
  expect((await ask('/metrics')).body).toMatch(
    new RegExp(
      `^daywalk_key_refused_timestamp_seconds ${(note?.since.getTime() ?? 0) / 1000}$`,
      'm',
    ),
  );
  worker.kill('SIGKILL');
  await worker.ended;

  const next = start();
  await next.saying(REFUSED);
  expect(await ask('/readyz')).toEqual({ status: 503, body: expect.stringMatching(why) });
  expect(scene.api.counts.requests).toBe(requests);

  for (const verb of ['doctor', 'run']) {
    const before = scene.api.counts.requests;
    expect(await scene.run([verb], environment)).toMatchObject({ code: 4 });
    expect(scene.api.counts.requests).toBeGreaterThan(before);
  }
  for (const verb of ['gaps', 'status'])
    expect((await scene.run([verb], environment)).stdout).toMatch(
      /^The API refused the key in the last run: first put the right one into DAYWALK_API_KEY, or into the key file\.$/m,
    );
  expect((await scene.run(['status'], environment)).stdout).toMatch(
    /the key was refused after .*: nothing was received/,
  );

  const before = scene.api.counts.requests;
  await scene.database.query(
    `update daywalk.refused_keys set refused_at = refused_at - interval '1 hour'`,
  );
  await until('one more try', () => scene.api.counts.requests > before);
  await until('the note of it', async () => {
    const [row] = await scene.database.query<{ fresh: boolean }>(
      `select refused_at > clock_timestamp() - interval '1 minute' as fresh from daywalk.refused_keys`,
    );
    return row?.fresh;
  });
  // It is refused since the first time.
  expect((await notes(scene))[0]?.since).toEqual(note?.since);
  expect(scene.api.counts.requests).toBeLessThanOrEqual(before + CONCURRENCY);
  next.kill('SIGTERM');
  expect(await next.ended).toMatchObject({ code: 143 });

  const stored = JSON.stringify(await notes(scene));
  for (const form of formsOf(API_KEY)) expect(stored).not.toContain(form);
  expect(worker.said() + next.said()).not.toMatch(/salt|digest/);
});

test.each([401, 403])(
  'refused with %i it goes on as soon as its file has another key; the note of the old one holds for its hour',
  async (status) => {
    const { scene, file, ask, start } = await setRefused();
    scene.api.set({ faults: [{ kind: 'status', status }] });
    const worker = start();
    await worker.saying(REFUSED);
    const { requests } = scene.api.counts;
    scene.api.set({ faults: [] });
    writeFileSync(file, 'the-other-key-5150\n');
    await worker.saying(/waiting for the next tick/);
    await expectExact(scene, DAYS);
    expect(scene.api.counts.requests).toBeGreaterThan(requests);
    expect(await notes(scene)).toHaveLength(1);
    expect(await ask('/readyz')).toEqual({ status: 200, body: 'ready\n' });
    expect((await ask('/metrics')).body).toMatch(/^daywalk_key_refused_timestamp_seconds 0$/m);
    worker.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 143 });
    expect(worker.said()).not.toContain('the-other-key-5150');
  },
);

test('a run by hand that is not refused takes the note away, and the worker goes on', async () => {
  const { scene, environment, start } = await setRefused();
  const worker = start();
  await worker.saying(REFUSED);
  scene.api.set({ key: API_KEY });
  await scene.succeed(['run'], environment);
  expect(await notes(scene)).toEqual([]);
  await worker.saying(/waiting for the next tick/);
  worker.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ code: 143 });
});
