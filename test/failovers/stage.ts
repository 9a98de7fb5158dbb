/** Where failovers are played: a Patroni cluster, what stands before it, and a database with days exported that each trial copies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { Simulator } from '../../simulator/simulator.ts';
import { migrate } from '../../src/store/migrations.ts';
import { lastDays } from '../chaos/setups.ts';
import { ask } from '../support/ask.ts';
import { until } from '../support/condition.ts';
import type { TestDatabase } from '../support/database.ts';
import { type Line, layLine } from '../support/line.ts';
import { type Days, eachDay } from '../support/multiset.ts';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { openPool, rowsFrom } from '../support/pool.ts';
import { freePort } from '../support/ports.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type StatementGate, type StepProxy, startStepProxy } from '../support/step-proxy.ts';
import { tool } from '../support/tool.ts';
import { type Node, type PatroniCluster, startPatroni } from './patroni.ts';
import type { Group } from './plan.ts';
import { haproxySettings } from './settings.ts';

const BASE = 'base';
/** Of the first day so many are gone from the source when the failovers begin. */
const GONE = 3;
/** A day that is old enough to be pruned. */
const OLD_DAY = new Date(Date.now() - 45 * 86_400_000).toISOString().slice(0, 10);

/** The days that the programs export: the first is there already, and is looked at again. */
const { days, settle } = lastDays(3);
export const DAYS: Days = days;
/** Up to this one days are pruned where that is the subject. */
export const PRUNED = OLD_DAY;

const API = { seed: 'failovers', eventsPerDay: 230, alertsPerDay: 25, dayVariation: 0 };

/** A stage that is open. */
export interface Stage {
  readonly group: Group;
  readonly cluster: PatroniCluster;
  /** What every statement of the programs meets. */
  gate: StatementGate;
  /** The test itself looks at this node from now on. */
  lookAt(node: Node): void;
  /** A copy of the database, its API as it is by now, and the settings of the programs for both. */
  scene(name: string): Promise<Scene>;
  close(): Promise<void>;
}

/** Opens it. */
export async function openStage(group: Group): Promise<Stage> {
  const cluster = await startPatroni(group !== 'asynchronous');
  const leader = await cluster.leader();
  const stage = new OpenStage(group, cluster, await layLine(leader.port));
  try {
    await stage.open(leader);
  } catch (error) {
    await stage.close();
    throw error;
  }
  return stage;
}

class OpenStage implements Stage {
  readonly group: Group;
  readonly cluster: PatroniCluster;
  gate: StatementGate = () => 'pass';
  readonly #line: Line;
  readonly #folder = mkdtempSync(join(tmpdir(), 'daywalk-stage-'));
  readonly #pools: pg.Pool[] = [];
  #proxies: StepProxy[] = [];
  #haproxy: ChildProcess | undefined;
  #bouncer: PgBouncer | undefined;

  constructor(group: Group, cluster: PatroniCluster, line: Line) {
    this.group = group;
    this.cluster = cluster;
    this.#line = line;
  }

  async open(leader: Node): Promise<void> {
    writeFileSync(
      join(this.#folder, 'daywalk.yaml'),
      'tables:\n  alerts:\n    stream: events\n    columns:\n      id: { path: id, index: yes }\n',
    );
    const gate: StatementGate = (statement, moment) => this.gate(statement, moment);
    const entrances =
      this.group === 'proxied'
        ? [await this.#startProxies()]
        : this.cluster.nodes.map((node) => node.url('postgres'));
    this.#proxies = await Promise.all(entrances.map((url) => startStepProxy(url, gate)));
    await ask(leader.url('postgres'), `create database ${BASE}`);
    await migrate(leader.url(BASE));
    await this.#export();
  }

  /** PgBouncer before HAProxy before the nodes. @returns its URL. */
  async #startProxies(): Promise<string> {
    const port = await freePort();
    const file = join(this.#folder, 'haproxy.cfg');
    writeFileSync(file, haproxySettings(port, this.cluster.nodes));
    this.#haproxy = spawn(tool('haproxy'), ['-db', '-f', file], { stdio: 'ignore' });
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    await until('HAProxy to lead to the primary', () =>
      ask(url, 'select').then(
        () => true,
        () => false,
      ),
    );
    // A server that refuses is tried again at once, not after the 15 s of the default.
    this.#bouncer = await startPgBouncer(url, 8, 'server_login_retry = 1');
    return this.#bouncer.through(url);
  }

  /** The days that are there before any failover; of one the source has lost some records since, long ago. */
  async #export(): Promise<void> {
    const scene = await this.#sceneIn(BASE);
    const range = (day: string) => ['--from', day, '--to', day];
    await scene.succeed(['backfill', ...range(OLD_DAY)]);
    await scene.succeed(['backfill', ...range(DAYS.from)]);
    lose(scene.api);
    await scene.succeed(['backfill', ...range(DAYS.from), '--only', 'all']);
    await scene.database.query(`update daywalk.marks set since = since - interval '2 hours'`);
    // With what follows the data, which has seen another time.
    await scene.database.query('update daywalk.days set unsealed = true');
    await scene.succeed(['backfill', ...range(DAYS.from)]);
    await this.#forgetPools();
  }

  lookAt(node: Node): void {
    this.#line.leadTo(node.port);
    this.#line.cut();
  }

  async scene(name: string): Promise<Scene> {
    const leader = await this.cluster.settled();
    this.lookAt(leader);
    await ask(leader.url('postgres'), `drop database if exists ${name} with (force)`);
    // PgBouncer keeps its connections, and a database that is in use is not copied.
    await ask(
      leader.url('postgres'),
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${BASE}'`,
    );
    await ask(leader.url('postgres'), `create database ${name} template ${BASE}`, 60_000);
    // A copied sequence believes that numbers ahead are in the log, which they are for the other database only.
    await ask(leader.url('postgres'), 'checkpoint');
    await this.cluster.settled();
    const scene = await this.#sceneIn(name);
    lose(scene.api);
    return scene;
  }

  async #sceneIn(name: string): Promise<Scene> {
    const scene = await setScene(API, this.#database(name));
    const { username } = new URL(this.#proxies[0]?.url ?? '');
    const hosts = this.#proxies.map(({ url }) => new URL(url).host).join(',');
    const environment = {
      DATABASE_URL: `postgres://${username}@${hosts}/${name}`,
      DAYWALK_CONFIG: join(this.#folder, 'daywalk.yaml'),
      DAYWALK_SINCE: DAYS.from,
      DAYWALK_SETTLE: settle,
      DAYWALK_SCHEDULE: '* * * * *',
      DAYWALK_PAGE_LENGTH: '20',
      // Days of more are split.
      DAYWALK_WINDOW_RECORDS: '100',
      DAYWALK_LEASE: '5s',
      DAYWALK_DATABASE_PATIENCE: '90s',
    };
    return {
      ...scene,
      start: (args, more = {}) => scene.start(args, { ...environment, ...more }),
      run: (args, more = {}) => scene.run(args, { ...environment, ...more }),
      succeed: (args, more = {}) => scene.succeed(args, { ...environment, ...more }),
    };
  }

  /** For the test, at whichever node it looks at. */
  #database(name: string): TestDatabase {
    const url = this.#line.over(`postgres://postgres@127.0.0.1/${name}`);
    const pool = openPool(url, 3, { idleTimeoutMillis: 500 });
    this.#pools.push(pool);
    return {
      name,
      url,
      pool,
      query: rowsFrom(pool),
      drop: async () => undefined,
    };
  }

  async #forgetPools(): Promise<void> {
    for (const pool of this.#pools.splice(0)) await pool.end();
  }

  async close(): Promise<void> {
    await this.#forgetPools();
    for (const proxy of this.#proxies) await proxy.close();
    await this.#bouncer?.stop();
    this.#haproxy?.kill('SIGKILL');
    await this.cluster.stop();
    await this.#line.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Takes records of the first day out of the source, the same ones each time. */
function lose(api: Simulator): void {
  const [day = ''] = eachDay(DAYS);
  const window = { from: `${day} 00:00:00`, to: `${day} 23:59:59` };
  const gone = new Set(api.matching({ resource: 'events', ...window }).slice(7, 7 + GONE));
  const taken = api.remove(({ text }) => gone.has(text), { resource: 'events', ...window });
  if (taken !== GONE) throw new Error(`${taken} of ${GONE} records were taken out`);
}
