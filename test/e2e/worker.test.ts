/** The daemon: catches up at the start and at every tick, one pass at a time, through an API that is away, and ends when told. */
import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startStopwatch } from '../support/awake.ts';
import { backfillHere } from '../support/backfill-here.ts';
import { until } from '../support/condition.ts';
import { daysAgo } from '../support/days.ts';
import { closeGate } from '../support/gate.ts';
import { startHookServer } from '../support/hook-server.ts';
import { expectExact } from '../support/multiset.ts';
import { freePort } from '../support/ports.ts';
import { type Scene, setScene } from '../support/scene.ts';

const DAYS = daysAgo(3, 1);
const STREAMS = ['events'];
/** Five fields have no seconds: the next tick is at most a minute away. */
const SETTINGS = {
  DAYWALK_STREAMS: STREAMS.join(),
  get DAYWALK_SINCE() {
    return DAYS.from;
  },
  DAYWALK_SETTLE: '0s',
  DAYWALK_SCHEDULE: '* * * * *',
};
const A_TICK_MS = 75_000;

const PRELOAD = new URL('../support/shifted-clock.mjs', import.meta.url).href;
const SOON_MS = 8_000;
/** For a program whose clock shows that a full minute comes soon; on a slow machine it waits for the next one. */
const minuteSoon = () => ({
  NODE_OPTIONS: `--import=${PRELOAD}`,
  TEST_CLOCK_SHIFT_MS: String(60_000 - ((Date.now() + SOON_MS) % 60_000)),
});

const incomplete = async ({ database }: Scene) =>
  (
    await database.query<{ days: number }>(
      `select count(*)::int as days from daywalk.coverage where state <> 'complete'`,
    )
  )[0]?.days;

/** Ends a worker and expects that it leaves in time. */
async function stop(program: ReturnType<Scene['start']>): Promise<string> {
  const elapsed = startStopwatch();
  program.kill('SIGTERM');
  const ended = await program.ended;
  expect(ended, ended.stderr).toMatchObject({ code: 143, stdout: '' });
  expect(elapsed()).toBeLessThan(5000);
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  return ended.stderr;
}

test('catches up at the start with all that a downtime left out; SIGTERM while it waits: 143', async () => {
  const scene = await setScene({ eventsPerDay: 90 });
  // Before the downtime: the first day only.
  await backfillHere(scene, { from: DAYS.from, to: DAYS.from }, { environment: SETTINGS });
  const before = scene.api.counts.requests;
  const worker = scene.start(['worker'], { ...SETTINGS, DAYWALK_SCHEDULE: '0 0 1 1 *' });
  await worker.saying(/waiting for the next tick/);
  await expectExact(scene, DAYS, STREAMS);
  // A page or a look; short lengths ask whether a known answer is as ever.
  const asked = scene.api.requests
    .slice(before)
    .filter(({ query }) => Number(query.length) > 29)
    .map(({ query }) => query.fromDate?.slice(0, 10));
  expect(asked).not.toContain(DAYS.from);
  const said = await stop(worker);
  expect(said).toMatch(/"windowsDue":2,"windowsComplete":2,/);
  expect(
    await scene.database.query(
      `select trigger, outcome from daywalk.runs where trigger = 'schedule'`,
    ),
  ).toEqual([{ trigger: 'schedule', outcome: 'done' }]);
});

test('a database that is away at the start: the page is there and says so, the webhook is told, and all goes on when it comes', async () => {
  const hook = await startHookServer();
  const scene = await setScene();
  const [databasePort, pagePort] = [await freePort(), await freePort()];
  const url = new URL(scene.database.url);
  const target = { host: url.hostname, port: Number(url.port || 5432) };
  url.hostname = '127.0.0.1';
  url.port = String(databasePort);
  const worker = scene.start(['worker'], {
    ...SETTINGS,
    DAYWALK_SCHEDULE: '0 0 1 1 *',
    DAYWALK_STATUS_LISTEN: `127.0.0.1:${pagePort}`,
    DATABASE_URL: url.href,
    DAYWALK_DATABASE_PATIENCE: '0s',
    DAYWALK_WEBHOOK_URL: `${hook.url}/hook`,
  });
  await worker.saying(/the worker goes on trying/);
  const told = () => hook.got.map(({ body }) => JSON.parse(body).event);
  expect(told()).toEqual(['failing']);
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${pagePort}${path}`);
    return [answer.status, await answer.text()] as const;
  };
  const refused = expect.stringContaining(`127.0.0.1:${databasePort}`);
  expect(await ask('/livez')).toEqual([200, 'alive\n']);
  expect(await ask('/readyz')).toEqual([503, refused]);
  const [status, health] = await ask('/healthz');
  expect([status, JSON.parse(health)]).toEqual([
    503,
    {
      status: 'unknown',
      sentence: 'The database is away; the worker goes on trying.',
      error: refused,
    },
  ]);
  for (const path of [
    '/',
    '/now',
    '/day/events/2026-03-01',
    '/month/events/2026-03',
    '/status.json',
  ])
    expect([path, await ask(path)]).toEqual([path, [503, refused]]);
  expect(await ask('/metrics')).toEqual([200, expect.stringMatching(/^daywalk_database_up 0$/m)]);
  expect(worker.running()).toBe(true);

  const server = createServer((client) => {
    const upstream = connect(target);
    client.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => client.destroy()).pipe(client);
  }).listen(databasePort, '127.0.0.1');
  onTestFinished(() => void server.close());
  await worker.saying(/waiting for the next tick/);
  expect(await ask('/readyz')).toEqual([200, 'ready\n']);
  expect((await ask('/'))[0]).toBe(200);
  await expectExact(scene, DAYS, STREAMS);
  expect(told()).toEqual(['failing', 'recovered']);
  await stop(worker);
});

test('SIGTERM while it walks: 143 within five seconds, leases given back', async () => {
  const scene = await setScene({ faults: [{ kind: 'stall', when: ({ number }) => number > 5 }] });
  const worker = scene.start(['worker'], SETTINGS);
  await scene.api.received(7);
  await stop(worker);
  expect(
    await scene.database.query('select from daywalk.windows where lease_id is not null'),
  ).toEqual([]);
});

test('at the next tick it goes on where an API is back; a pass that still runs is not overlapped, and what has closed is planned', async () => {
  // Both wait for a full minute, so they wait together.
  await Promise.all([goesOnWhenTheApiIsBack(), isNotOverlapped()]);
});

/** Whether each pass so far has ended. */
const runs = ({ database }: Scene) =>
  database.query<{ finished: boolean }>(
    'select finished_at is not null as finished from daywalk.runs order by started_at',
  );

const twoPasses = (scene: Scene) =>
  until(
    'one more pass',
    async () => (await runs(scene)).filter(({ finished }) => finished).length >= 2,
  );

async function goesOnWhenTheApiIsBack(): Promise<void> {
  const scene = await setScene({ eventsPerDay: 60, faults: [{ kind: 'status', status: 503 }] });
  const worker = scene.start(['worker'], {
    ...SETTINGS,
    ...minuteSoon(),
    DAYWALK_RETRY_TIME: '0s',
  });
  await worker.saying(/the run ended early; the next one goes on where it stopped/);
  await worker.saying(/waiting for the next tick/);
  expect(worker.running()).toBe(true);
  expect(await incomplete(scene)).toBe(3);
  scene.api.set({ faults: [] });
  await until('all days', async () => (await incomplete(scene)) === 0, A_TICK_MS);
  await expectExact(scene, DAYS, STREAMS);
  await stop(worker);
}

async function isNotOverlapped(): Promise<void> {
  const days = daysAgo(4, 1);
  const gate = closeGate();
  const scene = await setScene({
    eventsPerDay: 60,
    respond: async ({ number }) => {
      if (number > 5) await gate.passed;
      return undefined;
    },
  });
  const worker = scene.start(['worker'], {
    ...SETTINGS,
    ...minuteSoon(),
    // So many windows that not all of them are begun at once.
    DAYWALK_STREAMS: undefined,
    DAYWALK_SINCE: days.from,
  });
  await scene.api.received(7);
  // As if the newest day had not closed before the pass began, which waits for its pages when the tick comes.
  const newest = `from daywalk.windows where day = '${days.to}' and kind = 'day'`;
  const taken = await scene.database.query(`delete ${newest} and attempts = 0 returning window_id`);
  const planned = async () => (await scene.database.query(`select ${newest}`)).length === 2;
  expect(taken.length).toBeGreaterThan(0);
  await until('the tick', planned, A_TICK_MS);
  expect(await runs(scene)).toEqual([{ finished: false }]);
  gate.open();
  await twoPasses(scene);
  const early = await scene.database.query(
    `select from (select started_at < lag(finished_at) over (order by started_at) as early from daywalk.runs) as r
      where early`,
  );
  expect(early).toEqual([]);
  await expectExact(scene, days);
  await stop(worker);
}
