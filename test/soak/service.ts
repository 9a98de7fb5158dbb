/** The service: four workers behind PgBouncer, two for each site, in builds and with keys that change under way. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { API_KEY, type Program, runProgram, startProgram } from '../support/program.ts';
import { type StepProxy, startStepProxy } from '../support/step-proxy.ts';
import { makeEarlierBuild } from './builds.ts';
import { type Reading, readProcess } from './gauges.ts';
import { type PlanCost, readPlanCost } from './plan-cost.ts';
import type { Story } from './report.ts';
import type { Site } from './sites.ts';

export const CONCURRENCY = 3;
export const RECHECK_DAYS = 5;
/** As often as the key changes, and the first one. */
const KEYS = Array.from({ length: 5 }, (_, number) => `${API_KEY}${number}`);
export const [FIRST_KEY = ''] = KEYS;
/** Server connections for all workers: fewer than they have themselves. */
const POOL = 6;
const PRELOAD = new URL('./preload.mjs', import.meta.url).href;

/** One of the four. */
export interface Worker {
  readonly site: Site;
  readonly proxy: StepProxy;
  /** Its preload writes there what it holds. */
  readonly gauge: string;
  program: Program;
  /** It has not been restarted into the present build yet. */
  old: boolean;
}

/** What a service is opened with. */
export interface ServiceOptions {
  readonly database: TestDatabase;
  readonly sites: readonly Site[];
  readonly folder: string;
  readonly since: string;
  readonly longestMs: number;
  readonly story: Story;
  /** The commit that runs first; undefined: another copy of the present build. */
  readonly upgradeFrom: string | undefined;
  /** Whether the connection is cut at this statement. */
  readonly isCut: () => boolean;
}

/** A service that runs. */
export class Service {
  readonly workers: Worker[] = [];
  readonly #options: ServiceOptions;
  readonly #bouncer: PgBouncer;
  readonly #keyFile: string;
  readonly #earlier: string;
  #keys = 0;

  private constructor(options: ServiceOptions, bouncer: PgBouncer) {
    const { folder, upgradeFrom } = options;
    this.#options = options;
    this.#bouncer = bouncer;
    this.#keyFile = join(folder, 'key');
    this.#writeKey(FIRST_KEY);
    mkdirSync(join(folder, 'earlier'));
    this.#earlier = makeEarlierBuild(join(folder, 'earlier'), upgradeFrom);
  }

  /** Starts it. The first worker is of the present build and is only read; the others are of the earlier one until the upgrade. */
  static async open(options: ServiceOptions): Promise<Service> {
    const service = new Service(options, await startPgBouncer(options.database.url, POOL));
    for (const round of [0, 1])
      for (const site of options.sites)
        await service.#add(site, round + service.workers.length > 0);
    return service;
  }

  async #add(site: Site, old: boolean): Promise<void> {
    const { database, folder, story, isCut } = this.#options;
    const proxy = await startStepProxy(this.#bouncer.through(database.url), () => {
      if (!isCut()) return 'pass';
      story.cuts += 1;
      return 'cut';
    });
    const gauge = join(folder, `gauge-${this.workers.length}.json`);
    const worker = { site, proxy, gauge, old, program: undefined as unknown as Program };
    this.workers.push(worker);
    this.start(worker);
  }

  /** Starts a worker, again. */
  start(worker: Worker): void {
    worker.program = startProgram(['worker'], {
      longestMs: this.#options.longestMs,
      secrets: KEYS,
      ...(worker.old ? { main: this.#earlier } : {}),
      environment: {
        ...this.#environment(worker.site),
        NODE_OPTIONS: `--import=${PRELOAD}`,
        SOAK_TICK_MS: '400',
        SOAK_GAUGE: worker.gauge,
        DATABASE_URL: worker.proxy.url,
      },
    });
  }

  #environment({ settings, api }: Site): Record<string, string> {
    return {
      DAYWALK_CONFIG: settings,
      DAYWALK_API_URL: api.url,
      DAYWALK_API_KEY_FILE: this.#keyFile,
      DATABASE_URL: this.#bouncer.through(this.#options.database.url),
      DAYWALK_SINCE: this.#options.since,
      DAYWALK_SETTLE: '0s',
      DAYWALK_PAGE_LENGTH: '10',
      DAYWALK_CONCURRENCY: String(CONCURRENCY),
      DAYWALK_PAGE_TIMEOUT: '2s',
      DAYWALK_STATEMENT_TIMEOUT: '5s',
      DAYWALK_RECHECK_DAYS: String(RECHECK_DAYS),
      DAYWALK_STATUS_LISTEN: '127.0.0.1:0',
    };
  }

  /** @throws where a worker is not there any more. */
  expectAlive(): void {
    for (const { program } of this.workers)
      if (!program.running())
        throw new Error(`a worker ended by itself:\n${program.said().slice(-3_000)}`);
  }

  /** The APIs take another key from now on, and no other; it is in the file before, or a moment after. */
  async rotateKey(first: 'file' | 'API'): Promise<void> {
    this.#keys += 1;
    const key = KEYS[this.#keys] ?? '';
    if (first === 'file') this.#writeKey(key);
    for (const { api } of this.#options.sites) api.set({ key });
    if (first === 'file') return;
    await pause(1_500);
    this.#writeKey(key);
  }

  #writeKey(key: string): void {
    writeFileSync(`${this.#keyFile}.new`, `${key}\n`);
    renameSync(`${this.#keyFile}.new`, this.#keyFile);
  }

  /** Restarts the next worker of the earlier build into the present one. @returns whether there was one. */
  async upgradeNext(): Promise<boolean> {
    const worker = this.workers.find(({ old }) => old);
    if (worker === undefined) return false;
    await stop(worker);
    worker.old = false;
    this.start(worker);
    return true;
  }

  /** Prunes the days that are older than they are wanted, and walks of which nothing is shown any more. */
  async prune(): Promise<void> {
    const { longestMs } = this.#options;
    for (const site of this.#options.sites)
      for (const flags of [[], ['--superseded']]) {
        // It looks at all days in one statement.
        const environment = { ...this.#environment(site), DAYWALK_STATEMENT_TIMEOUT: '30s' };
        const ended = await runProgram(['prune', '--yes', '--json', ...flags], {
          environment,
          longestMs,
        });
        // 3: a day that is not complete, or not in the ledger yet, has to stay.
        expect([0, 3], ended.stdout + ended.stderr).toContain(ended.code);
        const { days } = JSON.parse(ended.stdout);
        this.#options.story[flags.length === 0 ? 'prunedDays' : 'supersededDays'] += days.length;
      }
  }

  /** What the first worker holds, and what planning costs. */
  async read(): Promise<Omit<Reading, 'minute' | 'days'> & PlanCost> {
    const [{ program, gauge, proxy }] = this.workers as [Worker];
    return {
      connections: proxy.open(),
      ...(await readProcess(program.pid, gauge)),
      ...(await readPlanCost(this.#options.database)),
    };
  }

  /** Ends the workers as a person does. */
  async close(): Promise<void> {
    for (const worker of this.workers) await stop(worker);
    for (const { proxy } of this.workers) await proxy.close();
    await this.#bouncer.stop();
  }
}

async function stop({ program }: Worker): Promise<void> {
  program.kill('SIGTERM');
  const { code, signal, stderr } = await program.ended;
  // One that has only just been started again may not listen to the signal yet, and ends by it: a shell says 143, too.
  expect(signal === 'SIGTERM' ? 143 : code, stderr).toBe(143);
}
