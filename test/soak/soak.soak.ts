/** Soak: two real workers through simulated months, with faults of every kind; one is killed again and again, the other must hold what it holds. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { audit } from '../support/audit.ts';
import { until } from '../support/condition.ts';
import { dice } from '../support/dice.ts';
import { expectExact } from '../support/multiset.ts';
import { API_KEY, type Program, startProgram, temporaryFolder } from '../support/program.ts';
import { writeFigures } from '../support/reliability-page.ts';
import { type StepProxy, startStepProxy } from '../support/step-proxy.ts';
import { growth, type Reading, readProcess } from './gauges.ts';
import { type Story, soakFigures } from './report.ts';
import { createSimulatedTime } from './simulated-time.ts';
import { makeWeather } from './weather.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const SEED = Number(process.env.SOAK_SEED ?? 1);
const CONCURRENCY = 3;
const PRELOAD = new URL('./preload.mjs', import.meta.url).href;
/** A day passes in halves, so that rechecks fall between; it takes longer where there is more left to do. */
const HALF_DAY = { hours: 12, leastMs: 300, mostMs: 4_000 };
const RECHECK_DAYS = 7;
const CUTS = 0.002;
/** Two workers on one machine cannot serve their status pages at the same port; any free one will do. */
const STATUS = 'DAYWALK_STATUS_LISTEN';
const STATUS_PAGE = ROWS.some((row) => row.env.some((name) => name === STATUS))
  ? { [STATUS]: '127.0.0.1:0' }
  : {};
const dayBefore = (day: string, days: number) =>
  new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);

test(`${MINUTES} minutes of simulated months (seed ${SEED}; I1 to I8)`, async () => {
  const random = dice(SEED);
  const chance = (share: number) => random() < share;
  const time = await createSimulatedTime();
  const { database } = time;
  const weather = makeWeather(random);
  const api = await startSimulator({
    key: API_KEY,
    seed: SEED,
    eventsPerDay: 60,
    alertsPerDay: 8,
    emptyDays: 0.03,
    latency: [0, 4],
    logLimit: 1_000,
    respond: weather.hook,
  });
  const story: Story = {
    kills: 0,
    pauses: 0,
    cuts: 0,
    partitions: 0,
    arrivals: 0,
    deletions: 0,
    faults: 0,
  };
  let bad = true;
  const proxies: StepProxy[] = [];
  const openProxy = async () => {
    const proxy = await startStepProxy(database.url, () => {
      if (!bad || !chance(CUTS)) return 'pass';
      story.cuts += 1;
      return 'cut';
    });
    proxies.push(proxy);
    return proxy;
  };
  const since = dayBefore(await time.today(), 2);
  const gauge = join(temporaryFolder(), 'gauge.json');
  const start = (proxy: StepProxy, more: Record<string, string> = {}): Program =>
    startProgram(['worker'], {
      longestMs: (MINUTES + 5) * 60_000,
      environment: {
        NODE_OPTIONS: `--import=${PRELOAD}`,
        SOAK_TICK_MS: '250',
        DAYWALK_API_URL: api.url,
        DAYWALK_API_KEY: API_KEY,
        DATABASE_URL: proxy.url,
        DAYWALK_SINCE: since,
        DAYWALK_SETTLE: '0s',
        DAYWALK_PAGE_LENGTH: '25',
        DAYWALK_CONCURRENCY: String(CONCURRENCY),
        DAYWALK_PAGE_TIMEOUT: '2s',
        DAYWALK_STATEMENT_TIMEOUT: '2s',
        DAYWALK_RECHECK_DAYS: String(RECHECK_DAYS),
        ...STATUS_PAGE,
        ...more,
      },
    });
  const lasting = { proxy: await openProxy(), program: undefined as unknown as Program };
  lasting.program = start(lasting.proxy, { SOAK_GAUGE: gauge });
  const mortal = { proxy: await openProxy(), program: undefined as unknown as Program };
  mortal.program = start(mortal.proxy);
  const began = performance.now();
  const minute = () => (performance.now() - began) / 60_000;
  const readings: Reading[] = [];
  let days = 0;

  /** Windows that are due, held or not. */
  const due = async () => {
    const [row] = await database.query<{ due: number }>(
      `select count(*)::int as due from daywalk.windows where due_at <= simulated.clock_timestamp()`,
    );
    return row?.due ?? 0;
  };
  const alive = () => {
    for (const { program } of [lasting, mortal])
      if (!program.running())
        throw new Error(`a worker ended by itself:\n${program.said().slice(-3_000)}`);
  };

  /** Something happens to the workers, now and then. */
  const strike = async () => {
    alive();
    if (chance(0.2)) {
      story.kills += 1;
      mortal.program.kill('SIGKILL');
      await mortal.program.ended;
      mortal.program = start(mortal.proxy);
    } else if (chance(0.1)) {
      story.pauses += 1;
      const { program } = mortal;
      program.kill('SIGSTOP');
      await pause(500 + random() * 2_500);
      program.kill('SIGCONT');
    } else if (chance(0.05)) {
      story.partitions += 1;
      const { proxy } = chance(0.5) ? lasting : mortal;
      proxy.isolate(true);
      await pause(500 + random() * 3_000);
      proxy.isolate(false);
    }
  };

  /** Days that events came late in. */
  const gained = new Set<string>();
  /** The source changes behind us: events come late in one day, and vanish from another. */
  const change = async () => {
    const today = await time.today();
    const [late, thinned] = [dayBefore(today, 2), dayBefore(today, 3)];
    if (chance(0.4)) {
      const at = `${late}T${String(Math.floor(random() * 24)).padStart(2, '0')}:30:00.000Z`;
      api.insert([{ text: JSON.stringify({ timestamp: at, late: story.arrivals }), time: at }]);
      story.arrivals += 1;
      gained.add(late);
    }
    // A day either gains or loses: one of each is the same number, which one request does not show.
    if (!chance(0.15) || gained.has(thinned)) return;
    let left = 1;
    story.deletions += api.remove(({ text }) => !text.includes('"late"') && left-- > 0, {
      from: `${thinned} 10:00:00`,
      to: `${thinned} 11:59:59`,
    });
  };

  const read = async () => {
    const held = await readProcess(lasting.program.pid, gauge);
    readings.push({ minute: minute(), days, connections: lasting.proxy.open(), ...held });
  };

  const halfDay = async () => {
    await time.advance(HALF_DAY.hours);
    days += 0.5;
    await pause(HALF_DAY.leastMs);
    const end = performance.now() + HALF_DAY.mostMs;
    while ((await due()) > 0 && performance.now() < end) await pause(50);
  };

  await until(
    'the first pass',
    async () => {
      alive();
      return (await database.query('select from daywalk.windows limit 1')).length > 0;
    },
    60_000,
  );
  const every = (MINUTES * 60_000) / 24;
  let nextReading = every;
  while (minute() < MINUTES) {
    await halfDay();
    await change();
    await strike();
    if (performance.now() - began < nextReading) continue;
    await read();
    nextReading += every;
  }
  // Fair weather until every day has been looked at for the last time.
  bad = false;
  weather.clear();
  for (let half = 0; half < 2 * (RECHECK_DAYS + 2); half++) {
    await time.advance(HALF_DAY.hours);
    days += 0.5;
    await pause(2 * HALF_DAY.leastMs);
    await until('nothing to be due', async () => (await due()) === 0, 60_000);
    alive();
  }
  await read();
  for (const { program } of [lasting, mortal]) {
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 143 });
  }
  const records = await expectExact(
    { api, database },
    { from: since, to: dayBefore(await time.today(), 1) },
  );
  expect(await audit(database)).toEqual([]);
  story.faults = weather.faults();
  const grown = {
    rss: growth(readings, 'rss'),
    heap: growth(readings, 'heap'),
    files: growth(readings, 'files'),
    connections: growth(readings, 'connections'),
    timers: growth(readings, 'timers'),
  };
  const figures = soakFigures({ minutes: MINUTES, seed: SEED, days, records, story, readings });
  console.log(figures);
  await writeFigures('soak', figures);
  expect(grown.heap.second).toBeLessThanOrEqual(grown.heap.first * 1.15 + 4);
  expect(grown.rss.second).toBeLessThanOrEqual(grown.rss.first * 1.15 + 10);
  expect(grown.files.second).toBeLessThanOrEqual(grown.files.first + 5);
  expect(grown.connections.second).toBeLessThanOrEqual(CONCURRENCY + 3);
  expect(grown.timers.second).toBeLessThanOrEqual(grown.timers.first + 10);
  await api.close();
  for (const proxy of proxies) await proxy.close();
});
