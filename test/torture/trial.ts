/** One trial of a case: runs until the end, killed on the way or not, and what came out. */

import { Dice, seedNumber } from '../../simulator/random.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
import { openSource } from '../../src/source/source.ts';
import { backfill, type ExportOptions, type RunReport } from '../../src/walk/run.ts';
import type { TestDatabase } from '../support/database.ts';
import { EVENTS, exporterParts, OPTIONS } from '../support/exporter.ts';
import { letTimePass } from '../support/pass-time.ts';
import { SOURCE } from '../support/source-options.ts';
import { expireLeases } from '../support/store.ts';
import { type Case, DAY, type Scene, type Stage } from './case.ts';
import { hastyClock } from './hasty-clock.ts';
import { leastRequests } from './least.ts';
import { KilledError, Life, MortalDatabase } from './mortality.ts';
import {
  brokenInvariants,
  compareRange,
  completeWithHoles,
  type Difference,
  noLongerShown,
  type Range,
  recordsOf,
} from './truth.ts';

/** A database of its own for one trial. */
export type TrialDatabase = TestDatabase;

/** How a trial ended. */
export interface Outcome {
  readonly kind: 'exact' | 'different' | 'failed' | 'stopped';
  /** The reason, or how it differs. */
  readonly detail: string;
  readonly quarantine: readonly string[];
  /** What must never be, whatever the case expects. */
  readonly violations: readonly string[];
  readonly requests: number;
  readonly leastRequests: number;
  readonly records: number;
  readonly kills: number;
  /** Moments at which a worker may be killed, in all. */
  readonly moments: number;
  readonly ms: number;
}

const MOST_KILLS = 5;
/** A run that asks more than this, and more than its case allows, goes round in circles. */
const MOST_REQUESTS = 2_500;
const LEASE_TTL_MS = 10_000;

/** How a trial is killed: at moments drawn from the seed, among so many. */
export interface Killing {
  readonly seed: number;
  readonly moments: number;
}

/** Runs a case once, in a database with nothing in it. */
export async function runTrial(
  testCase: Case,
  database: TrialDatabase,
  killing: Killing | null,
): Promise<Outcome> {
  const scene = await testCase.scene();
  let simulator: Simulator | undefined;
  const respond = scene.respond;
  const started = await startSimulator({
    ...scene.sim,
    ...(respond === undefined
      ? {}
      : {
          respond: (request) => respond(request, simulator as Simulator),
        }),
  });
  simulator = started;
  try {
    return await runOn(testCase, scene, started, database, killing);
  } finally {
    await started.close();
    await scene.close?.();
  }
}

async function runOn(
  testCase: Case,
  scene: Scene,
  simulator: Simulator,
  database: TrialDatabase,
  killing: Killing | null,
): Promise<Outcome> {
  const began = performance.now();
  const problems: string[] = [];
  const stage: Stage = {
    simulator,
    query: (sql, values) => database.query(sql, values),
    pass: (interval) => letTimePass(database, interval),
    passDay: () => stage.pass('25 hours'),
    complain: (problem) => problems.push(problem),
  };
  const streams = testCase.streams ?? [EVENTS];
  const ranges = streams.map(
    ({ name, resource }): Range => ({
      stream: name,
      resource,
      from: testCase.from ?? DAY,
      to: testCase.to ?? testCase.from ?? DAY,
    }),
  );
  const dice = killing === null ? null : new Dice(killing.seed);
  const clock = testCase.realTime
    ? systemClock
    : hastyClock(new Dice(killing?.seed ?? seedNumber(testCase.name)));
  let kills = 0;
  let moments = 0;
  const runOnce = async (rewalk: boolean): Promise<RunReport | Error> => {
    for (;;) {
      const mortal = dice !== null && killing !== null && kills < MOST_KILLS;
      const among = Math.max(8, killing?.moments ?? 0) / (1 + (scene.later?.length ?? 0));
      const life = new Life(mortal ? 1 + dice.below(among) : Infinity);
      const end = await live(testCase, scene, stage, database, clock, life, ranges, rewalk);
      moments += life.moments;
      problems.push(...(await noLongerShown(stage.query)));
      if (!life.ended) return end;
      kills += 1;
      await expireLeases(database);
    }
  };
  let end = await runOnce(false);
  for (const step of scene.later ?? []) {
    await step(stage);
    end = await runOnce(testCase.rewalk ?? false);
  }
  const requests = simulator.counts.requests;
  await scene.check?.(stage);
  const stored = testCase.stored ?? ((text: string) => text);
  let kind: Outcome['kind'] = 'exact';
  const details: string[] = [];
  let records = 0;
  let least = 0;
  for (const range of ranges) {
    const truth = recordsOf(simulator, range);
    least += leastRequests(testCase, simulator, range);
    const state = await stateOf(database, range);
    const difference = await compareRange(stage.query, range, truth.map(stored), testCase.volatile);
    records += difference.truth;
    if (state.complete && differs(difference)) {
      kind = 'different';
      details.push(tell(difference));
      problems.push(`all complete, and yet ${tell(difference)}`);
    }
    if (!state.complete) {
      if (kind === 'exact') kind = end instanceof Error ? 'stopped' : 'failed';
      details.push(...(end instanceof Error ? [`${end.name}: ${end.message}`] : state.reasons));
      problems.push(
        ...(await completeWithHoles(stage.query, simulator, range, stored, testCase.volatile)),
      );
    }
  }
  problems.push(...(await brokenInvariants(stage.query)));
  if (kind === 'failed' && details.length === 0) problems.push('not complete, without any reason');
  const quarantine = await database.query<{ what: string }>(
    'select distinct what from daywalk.quarantine where shown order by what',
  );
  return {
    kind,
    detail: details.join('; '),
    quarantine: quarantine.map((row) => row.what),
    violations: problems,
    requests,
    leastRequests: least,
    records,
    kills,
    moments,
    ms: Math.round(performance.now() - began),
  };
}

/** One worker from its start to its end, or to its death. */
async function live(
  testCase: Case,
  scene: Scene,
  stage: Stage,
  { url }: TrialDatabase,
  clock: Clock,
  life: Life,
  ranges: readonly Range[],
  rewalk: boolean,
): Promise<RunReport | Error> {
  const database = new MortalDatabase(
    {
      url,
      connections: 4,
      statementTimeoutMs: 120_000,
      patienceMs: 30_000,
      clock,
      log: silentLogger,
    },
    life,
  );
  const source = openSource({
    ...SOURCE,
    baseUrl: stage.simulator.url,
    key: 'demo-key',
    clock,
    retryTimeMs: 500,
    retryBaseMs: 5,
    retryCapMs: 20,
    ...testCase.source,
  });
  const options: ExportOptions = {
    ...OPTIONS,
    streams: testCase.streams ?? [EVENTS],
    recheckDays: 100_000,
    concurrency: 3,
    leaseTtlMs: LEASE_TTL_MS,
    ...testCase.options,
  };
  const fetchPage = life.fetching((request, given) => source.fetchPage(request, given));
  const budget = new AbortController();
  const least = ranges.reduce((sum, r) => sum + leastRequests(testCase, stage.simulator, r), 0);
  const budgeted = Math.max(MOST_REQUESTS, least * (testCase.mostRatio ?? 0));
  const most = stage.simulator.counts.requests + budgeted;
  const parts = exporterParts({
    database,
    source,
    clock,
    owner: `torture:${life.moments}:${performance.now()}`,
    fetchPage: async (...given: Parameters<typeof fetchPage>) => {
      await scene.watch?.(stage);
      if (stage.simulator.counts.requests > most)
        budget.abort(new Error(`more than ${budgeted} requests`));
      return fetchPage(...given);
    },
  });
  const [range] = ranges;
  if (range === undefined) throw new Error('a case without streams');
  const request = {
    from: range.from,
    to: range.to,
    newestFirst: false,
    ...(rewalk ? ({ only: 'all' } as const) : {}),
  };
  try {
    return await backfill(parts, options, request, AbortSignal.any([life.signal, budget.signal]));
  } catch (error) {
    if (error instanceof KilledError && !life.ended) throw error;
    return error as Error;
  } finally {
    await source.close();
    await database.close();
  }
}

async function stateOf(
  database: TrialDatabase,
  { stream, from, to }: Range,
): Promise<{ complete: boolean; reasons: string[] }> {
  const days = await database.query<{ state: string }>(
    'select state from daywalk.coverage where stream = $1 and day between $2 and $3',
    [stream, from, to],
  );
  const reasons = await database.query<{ last_error: string }>(
    `select distinct w.last_error from daywalk.windows w join daywalk.streams s using (stream_id)
      where s.name = $1 and w.day between $2 and $3 and w.last_error is not null order by 1`,
    [stream, from, to],
  );
  return {
    complete: days.length > 0 && days.every((day) => day.state === 'complete'),
    reasons: reasons.map((row) => row.last_error),
  };
}

const differs = ({ missing, extra }: Difference) => missing > 0 || extra > 0;

const tell = ({ missing, extra, held, truth }: Difference) =>
  `${held} records where the server has ${truth}: ${missing} missing, ${extra} too many`;
