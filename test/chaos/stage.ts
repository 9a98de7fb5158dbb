/** A stage: the real program between a simulated API and a Postgres behind a proxy, with every call of it numbered. */
import { expect } from 'vitest';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../simulator/simulator.ts';
import { audit, forbidChanges } from '../support/audit.ts';
import { until } from '../support/condition.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Days, expectExact } from '../support/multiset.ts';
import { API_KEY, type Ended, type Program, startProgram } from '../support/program.ts';
import { pagesStored } from '../support/requests.ts';
import { type Moment, startStepProxy, type Verdict } from '../support/step-proxy.ts';
import { clear, expireLeases } from '../support/store.ts';
import { type Again, fetchedTwice } from './again.ts';

/** What the program is given. */
export interface Setup {
  readonly name: string;
  readonly api: SimulatorOptions;
  readonly environment: Readonly<Record<string, string>>;
  readonly days: Days;
  readonly streams: readonly string[];
}

/** A call of the program: an HTTP request, or a statement, before it takes effect and after. */
export interface Call {
  /** From 1; both moments of a statement have the same. */
  readonly number: number;
  readonly moment: Moment;
  /** SQL; null: an HTTP request. */
  readonly statement: string | null;
}

/** Decides what becomes of a call; `cut` ends its connection. */
export type Peril = (call: Call, program: Program) => Verdict | Promise<Verdict>;

/** One life of the program. */
export interface Life {
  readonly ended: Ended;
  /** How many calls it made. */
  readonly calls: number;
  readonly again: Again;
}

/** A database and its proxy; set anew for every trial. */
export interface Stage {
  readonly database: TestDatabase;
  /** An empty database and a fresh API. */
  set(setup: Setup): Promise<void>;
  /** The API of the trial. */
  api(): Simulator;
  /** Runs the program to its end or its death; `peril` sees every call. */
  live(args: readonly string[], peril?: Peril): Promise<Life>;
  /** Every record once, every day complete, every invariant kept; how many records there are. */
  expectWhole(): Promise<number>;
  close(): Promise<void>;
}

/** Opens a stage; its database forbids that anything stored changes (I7). */
export async function openStage(): Promise<Stage> {
  const database = await createTestDatabase();
  await forbidChanges(database);
  let now: { api: Simulator; setup: Setup } | undefined;
  let life: { program: Promise<Program>; peril: Peril; calls: number } | undefined;
  const meet = async (statement: string | null, moment: Moment): Promise<Verdict> => {
    if (life === undefined) return 'pass';
    if (moment === 'before') life.calls += 1;
    return life.peril({ number: life.calls, moment, statement }, await life.program);
  };
  const proxy = await startStepProxy(database.url, meet);
  const current = () => {
    if (now === undefined) throw new Error('the stage is not set');
    return now;
  };
  return {
    database,
    api: () => current().api,
    async set(setup) {
      await now?.api.close();
      await clear(database);
      const api = await startSimulator({
        key: API_KEY,
        seed: setup.name,
        dayVariation: 0,
        ...setup.api,
        respond: async () => {
          if ((await meet(null, 'before')) === 'cut') return { kind: 'reset' };
          return (await meet(null, 'after')) === 'cut' ? { kind: 'reset-body' } : undefined;
        },
      });
      now = { api, setup };
    },
    async live(args, peril = () => 'pass') {
      const { api, setup } = current();
      const before = api.requests.length;
      const stored = await pagesStored(database);
      // A call can come before `startProgram` has returned only in theory; it waits all the same.
      let begin: (program: Program) => void = () => {};
      life = { peril, calls: 0, program: new Promise((resolve) => (begin = resolve)) };
      const program = startProgram(args, {
        environment: {
          DAYWALK_API_URL: api.url,
          DAYWALK_API_KEY: API_KEY,
          DATABASE_URL: proxy.url,
          ...setup.environment,
        },
      });
      begin(program);
      const ended = await program.ended;
      const { calls } = life;
      life = undefined;
      // What a dead program has sent may still be executed: until then nothing is counted.
      await until('its connections to end', () => proxy.open() === 0);
      await expireLeases(database);
      const requests = api.requests;
      const again = fetchedTwice(requests.slice(0, before), requests.slice(before), stored);
      return { ended, calls, again };
    },
    async expectWhole() {
      const { api, setup } = current();
      const records = await expectExact({ api, database }, setup.days, setup.streams);
      expect(await audit(database)).toEqual([]);
      return records;
    },
    async close() {
      await now?.api.close();
      await proxy.close();
    },
  };
}
