/** Telling people, with the real program: pings of run, backfill and worker, the webhook on changes only, and never a changed result. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/condition.ts';
import { dayAgo } from '../support/days.ts';
import { startHookServer } from '../support/hook-server.ts';
import { atNight } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';

const SETTINGS = {
  get DAYWALK_SINCE() {
    return dayAgo(1);
  },
  DAYWALK_SETTLE: '0s',
  DAYWALK_LATE_AFTER: '0s',
  DAYWALK_STREAMS: 'events',
  DAYWALK_RETRY_TIME: '0s',
};
const TOKEN = '0d338dcc-a054-11ec-b909-0242ac120002';

test('a run pings its start and its exit status, with one run id, and tells the webhook what changed', async () => {
  const hook = await startHookServer();
  const scene = await setScene({ eventsPerDay: 60, faults: [{ kind: 'status', status: 500 }] });
  const settings = {
    ...SETTINGS,
    DAYWALK_PING_URL: `${hook.url}/ping/${TOKEN}`,
    DAYWALK_WEBHOOK_URL: `${hook.url}/hook/${TOKEN}`,
  };
  const pings = () =>
    hook.got
      .filter(({ url }) => url.startsWith('/ping'))
      .map(({ url }) => url.replace(/rid=.*/, 'rid='));
  const runIds = () =>
    hook.got.flatMap(({ url }) => (url.startsWith('/ping') ? [url.split('rid=')[1]] : []));
  const told = () =>
    hook.got.filter(({ url }) => url.startsWith('/hook')).map(({ body }) => JSON.parse(body));

  const failed = await scene.run(['run'], settings);
  expect(failed.code).toBe(5);
  expect(pings()).toEqual([`/ping/${TOKEN}/start?rid=`, `/ping/${TOKEN}/5?rid=`]);
  expect(new Set(runIds())).toHaveProperty('size', 1);
  expect(told()).toMatchObject([
    {
      event: 'failing',
      streams: ['events'],
      problems: [
        { command: 'daywalk doctor' },
        { command: expect.stringMatching(/^daywalk backfill/) },
      ],
    },
  ]);
  expect(failed.stdout + failed.stderr).not.toContain(TOKEN);

  scene.api.set({ faults: [] });
  await scene.succeedHere(['run'], settings);
  expect(told().map(({ event }) => event)).toEqual(['failing', 'recovered']);
  expect(pings().at(-1)).toBe(`/ping/${TOKEN}?rid=`);
  expect(hook.got.findLast(({ url }) => url.startsWith('/ping'))?.body).toMatch(
    /^1 day complete: /,
  );
});

test('a database that is away is told as well: exit status 5, and the webhook', async () => {
  const hook = await startHookServer();
  const scene = await setScene();
  const settings = {
    ...SETTINGS,
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    DAYWALK_DATABASE_PATIENCE: '0s',
    DAYWALK_PING_URL: `${hook.url}/ping`,
    DAYWALK_WEBHOOK_URL: `${hook.url}/hook`,
    DAYWALK_WEBHOOK_FORMAT: 'ntfy',
  };
  expect((await scene.here(['run'], settings)).code).toBe(5);
  const paths = hook.got.map(({ url }) => url.replace(/\?.*/, ''));
  expect(paths.filter((path) => path.startsWith('/ping'))).toEqual(['/ping/start', '/ping/5']);
  expect(hook.got.find(({ url }) => url === '/hook')).toMatchObject({
    headers: {
      title: expect.stringMatching(/^daywalk on .*: the export is failing$/),
      priority: 'high',
    },
    body: expect.stringContaining('the database cannot be reached'),
  });
});

atNight(
  'what follows the days and fails is told: by the run, its exit code, the webhook, the worker, until it is over',
  async () => {
    const hook = await startHookServer();
    const scene = await setScene({ eventsPerDay: 20 });
    const settings = { ...SETTINGS, DAYWALK_WEBHOOK_URL: `${hook.url}/hook` };
    const told = () => hook.got.map(({ body }) => JSON.parse(body));
    await scene.database.query(
      `create function public.refuse() returns trigger language plpgsql as
       $$ begin raise exception 'no ledger today'; end $$`,
    );
    await scene.database.query(
      'create trigger refuse before insert on daywalk.ledger for each row execute function public.refuse()',
    );
    const failed = await scene.here(['run'], settings);
    expect(failed, failed.stderr).toMatchObject({ code: 3 });
    const line = /the ledger could not be brought up to date: .*no ledger today/;
    expect(failed.stdout).toMatch(line);
    expect(told()).toMatchObject([
      { event: 'failing', problems: [{ text: expect.stringMatching(line) }] },
    ]);

    const worker = scene.start(['worker'], {
      ...settings,
      DAYWALK_SCHEDULE: '0 0 1 1 *',
      DAYWALK_STATUS_LISTEN: '127.0.0.1:0',
    });
    await worker.saying(/waiting for the next tick/);
    const url = /"url":"(http:[^"]+)"/.exec(worker.said())?.[1];
    const health = await fetch(`${url}/healthz`);
    // As of an older day that failed: no restart mends it.
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({
      status: 'gaps',
      sentence: expect.stringMatching(/complete, but the ledger could not be brought up to date/),
      problems: [{ text: expect.stringMatching(line), command: 'daywalk doctor' }],
    });
    expect(await (await fetch(url ?? '')).text()).toMatch(line);
    worker.kill('SIGTERM');
    await worker.ended;
    expect(told()).toHaveLength(1);

    await scene.database.query('drop trigger refuse on daywalk.ledger');
    await scene.succeedHere(['run'], settings);
    expect(told().map(({ event }) => event)).toEqual(['failing', 'recovered']);
  },
);

test('a file of settings that cannot be used ends a run, and that is told', async () => {
  const hook = await startHookServer();
  const scene = await setScene({ eventsPerDay: 60 });
  const file = join(temporaryFolder(), 'ca.pem');
  await writeFile(file, 'rotated');
  const ended = await scene.here(['run'], {
    ...SETTINGS,
    DAYWALK_API_CA_FILE: file,
    DAYWALK_WEBHOOK_URL: `${hook.url}/hook`,
  });
  expect(ended, ended.stderr).toMatchObject({ code: 2 });
  expect(hook.got.map(({ body }) => JSON.parse(body))).toMatchObject([
    { event: 'failing', problems: [{ text: expect.stringContaining('api.ca_file') }] },
  ]);
});

test('the worker serves its status, pings each pass, and does not ping when it is stopped', async () => {
  const hook = await startHookServer();
  const scene = await setScene({ eventsPerDay: 60 });
  const worker = scene.start(['worker'], {
    ...SETTINGS,
    DAYWALK_SCHEDULE: '0 0 1 1 *',
    DAYWALK_STATUS_LISTEN: '127.0.0.1:0',
    DAYWALK_PING_URL: `${hook.url}/ping`,
  });
  await worker.saying(/waiting for the next tick/);
  const url = /"url":"(http:[^"]+)"/.exec(worker.said())?.[1];
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/^daywalk_requests_total\{code="200"\} [1-9]/m);
  expect(metrics).toMatch(/^daywalk_records_total\{stream="events"\} [1-9]/m);
  expect(metrics).toContain('daywalk_runs_total{outcome="done"} 1');
  expect(metrics).toMatch(/^daywalk_next_tick_timestamp_seconds \d/m);
  await until('the ping', () => hook.got.length === 2);
  worker.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ code: 143 });
  expect(hook.got.map(({ url: path }) => path.replace(/\?.*/, ''))).toEqual([
    '/ping/start',
    '/ping',
  ]);
});

test('a service that errors or redirects holds nothing up and changes no result; the webhook is told which days became complete, where that is asked for: each once', async () => {
  const hook = await startHookServer();
  const scene = await setScene({ eventsPerDay: 60 });
  hook.answer(302, 500, 500);
  const ended = await scene.succeed(['run'], {
    ...SETTINGS,
    DAYWALK_PING_URL: `${hook.url}/${TOKEN}`,
    DAYWALK_WEBHOOK_URL: `http://127.0.0.1:1/${TOKEN}`,
  });
  expect(ended.stderr).toContain('the ping was not delivered; the export goes on');
  expect(ended.stderr).not.toContain(TOKEN);
  // The redirect was not followed, nor asked again; the error was asked again once.
  expect(hook.got.map(({ url }) => url.replace(/\?.*/, ''))).toEqual([
    `/${TOKEN}/start`,
    `/${TOKEN}`,
    `/${TOKEN}`,
  ]);

  const other = await startHookServer();
  const asking = {
    ...SETTINGS,
    DAYWALK_WEBHOOK_URL: `${other.url}/hook/${TOKEN}`,
    DAYWALK_WEBHOOK_DAY_PROVEN: 'yes',
  };
  const told = () => other.got.map(({ body }) => JSON.parse(body));
  // What was complete before is no news; and what nobody heard of is told after the next run.
  other.answer(500, 500);
  const range = ['--from', dayAgo(9), '--to', dayAgo(8)];
  // A backfill pings, too.
  const pinging = { ...asking, DAYWALK_PING_URL: `${hook.url}/ping` };
  await scene.succeedHere(['backfill', ...range], pinging);
  expect(other.got).toHaveLength(2);
  await scene.succeedHere(['run'], asking);
  expect(hook.got.slice(3).map(({ url }) => url.replace(/\?.*/, ''))).toEqual([
    '/ping/start',
    '/ping',
  ]);
  expect(other.got).toHaveLength(3);
  const rows = await scene.database.query<{ records: string }>(
    `select records from daywalk.coverage where day in ($1, $2) order by day`,
    [dayAgo(9), dayAgo(8)],
  );
  expect(told().at(-1)).toMatchObject({
    event: 'day_proven',
    count: 2,
    days: [
      {
        stream: 'events',
        day: dayAgo(9),
        records: Number(rows[0]?.records),
        proof: expect.any(String),
      },
      { stream: 'events', day: dayAgo(8), records: Number(rows[1]?.records) },
    ],
  });
  expect(told().at(-1).days).toEqual(told()[0].days);
});
