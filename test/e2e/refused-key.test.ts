/** A worker whose key is refused stays up and unhealthy, and sends that key no more for an hour; people ask at once. */
import { expect, test } from 'vitest';
import { until } from '../support/condition.ts';
import { atNight } from '../support/night.ts';
import { API_KEY, formsOf } from '../support/program.ts';
import {
  CONCURRENCY,
  expectGoingOn,
  notes,
  REFUSED,
  REFUSED_IN_LAST_RUN,
  setRefused,
} from './refusals.ts';

test('stays up, says why and since when, and asks no more: after a restart neither, but by hand, and after an hour; a run by hand that is taken ends it', async () => {
  const { scene, environment, ask, start } = await setRefused();
  const worker = start();
  await worker.saying(REFUSED);
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
  // Those that were on their way when the first one was refused are counted by now.
  const { requests } = scene.api.counts;
  expect(requests).toBeLessThanOrEqual(CONCURRENCY);

  const next = start();
  await next.saying(REFUSED);
  expect(await ask('/readyz')).toEqual({ status: 503, body: expect.stringMatching(why) });
  expect(scene.api.counts.requests).toBe(requests);

  // It may have been the address that was wrong.
  const elsewhere = { ...environment, DAYWALK_API_URL: `${scene.api.url}/elsewhere` };
  const other = scene.start(['worker'], { ...elsewhere, DAYWALK_STATUS_LISTEN: 'off' });
  expect(await other.ended).toMatchObject({ code: 2 });
  expect(other.said()).not.toMatch(REFUSED);

  expect(await scene.here(['run'], environment)).toMatchObject({ code: 4 });
  const { stdout } = await scene.here(['status'], environment);
  const before = scene.api.counts.requests;
  expect(before).toBeGreaterThan(requests);
  expect(stdout).toMatch(REFUSED_IN_LAST_RUN);
  expect(stdout).toMatch(/the key was refused after .*: nothing was received/);

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
  const stored = JSON.stringify(await notes(scene));
  for (const form of formsOf(API_KEY)) expect(stored).not.toContain(form);

  // A run by hand that is not refused takes the note away, and the worker goes on.
  scene.api.set({ key: API_KEY });
  await scene.succeedHere(['run'], environment);
  expect(await notes(scene)).toEqual([]);
  await next.saying(/waiting for the next tick/);
  next.kill('SIGTERM');
  expect(await next.ended).toMatchObject({ code: 143 });
  expect(worker.said() + next.said()).not.toMatch(/salt|digest/);
});

atNight(
  'one whose key another worker found refused while it waited for its tick tells of no tick that has passed',
  async () => {
    const { scene, ask, start } = await setRefused();
    const found = start();
    await found.saying(REFUSED);
    found.kill('SIGKILL');
    await found.ended;
    await scene.database.query('create table note as table daywalk.refused_keys');
    await scene.database.query('delete from daywalk.refused_keys');
    scene.api.set({ key: API_KEY });
    const worker = start();
    await worker.saying(/waiting for the next tick/);
    const tells = async () => /^daywalk_next_tick_\S+ \d/m.test((await ask('/metrics')).body);
    expect(await tells()).toBe(true);
    await scene.database.query('insert into daywalk.refused_keys table note');
    await worker.saying(REFUSED);
    expect(await tells()).toBe(false);
    expect((await ask('/')).body).not.toContain('next one');
  },
);

atNight(
  'it goes on as soon as its file has another key; the note of the old one holds for its hour',
  () => expectGoingOn(401),
);
