/** A scene is what an end-to-end test plays in: a simulated API, a database, and the program with settings for both. */
import { afterAll, afterEach, expect } from 'vitest';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../simulator/simulator.ts';
import { ask } from './ask.ts';
import { backfillHere } from './backfill-here.ts';
import { copyOf, createTestDatabase, server, type TestDatabase } from './database.ts';
import { inEveryFile } from './hooks.ts';
import { keptWhereDirect } from './kept-plans.ts';
import type { Days } from './multiset.ts';
import { API_KEY, type Ended, type Program, runProgram, startProgram } from './program.ts';
import { type EndedHere, runHere } from './program-here.ts';

/** Environment variables of one program; undefined takes one away. */
type Environment = Readonly<Record<string, string | undefined>>;

/** A simulated API, a database, and the program. */
export interface Scene {
  readonly api: Simulator;
  readonly database: TestDatabase;
  readonly environment: Environment;
  /** Runs the program to its end. */
  run(args: readonly string[], environment?: Environment): Promise<Ended>;
  /** Starts the program. */
  start(args: readonly string[], environment?: Environment, under?: readonly string[]): Program;
  /** Runs the program and expects exit code 0. */
  succeed(args: readonly string[], environment?: Environment): Promise<Ended>;
  /** Runs it in the process of the test (`program-here`). */
  here(args: readonly string[], environment?: Environment): Promise<EndedHere>;
  /** The same, and expects exit code 0. */
  succeedHere(args: readonly string[], environment?: Environment): Promise<EndedHere>;
}

const open = new Set<Simulator>();

/** Verbs that send the same statements again and again. */
const WALKING = ['backfill', 'run'];

/**
 * Sets a scene; the API ends with the test, the database with the file. Small pages, so that few records make many.
 * @param given a database of the test's own.
 */
export async function setScene(
  options: SimulatorOptions = {},
  given?: TestDatabase,
): Promise<Scene> {
  const api = await startSimulator({ key: API_KEY, seed: 'e2e', eventsPerDay: 230, ...options });
  open.add(api);
  const database = given ?? (await createTestDatabase());
  const environment: Environment = {
    DAYWALK_API_URL: api.url,
    DAYWALK_API_KEY: API_KEY,
    DATABASE_URL: database.url,
    DAYWALK_PAGE_LENGTH: '40',
    DAYWALK_STATUS_LISTEN: 'off',
  };
  const secrets = secretsIn(database.url);
  const start = (args: readonly string[], more: Environment = {}, under: readonly string[] = []) =>
    startProgram(args, { environment: { ...environment, ...more }, secrets, under });
  const run = (args: readonly string[], more: Environment = {}) =>
    runProgram(args, { environment: { ...environment, ...more }, secrets });
  const here = (args: readonly string[], more: Environment = {}) => {
    const url = WALKING.includes(args[0] ?? '') ? keptWhereDirect(database.url) : database.url;
    return runHere(args, { environment: { ...environment, DATABASE_URL: url, ...more }, secrets });
  };
  const good = <E extends EndedHere>(ended: E): E => {
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    return ended;
  };
  return {
    api,
    database,
    environment,
    start,
    run,
    succeed: async (args, more) => good(await run(args, more)),
    here,
    succeedHere: async (args, more) => good(await here(args, more)),
  };
}

/** What was exported in this file, by which days, how and from what. */
const exported = new Map<string, Promise<TestDatabase>>();

/**
 * Sets a scene in which days of the same API have been exported before: in each file once, and what came of it is copied for
 * every further scene.
 */
export async function setExported(
  days: Days,
  environment: Readonly<Record<string, string>> = {},
  options: SimulatorOptions = {},
): Promise<Scene> {
  const key = JSON.stringify([days, environment, options]);
  const first = exported.get(key) ?? exportOnce(days, environment, options);
  exported.set(key, first);
  return setScene(options, await copyOf(await first));
}

async function exportOnce(
  days: Days,
  environment: Readonly<Record<string, string>>,
  options: SimulatorOptions,
): Promise<TestDatabase> {
  const scene = await setScene(options);
  const { database } = scene;
  const { gaps } = await backfillHere(scene, days, { environment });
  expect(gaps).toEqual([]);
  // Whoever is connected, as PgBouncer stays for a while, would be in the way of a copy.
  await ask(
    server().adminUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database.name}'`,
  );
  return database;
}

/** The password of a database URL, unless it is a word that may well be said (`postgres` is one). */
export function secretsIn(url: string): string[] {
  const { password, username } = new URL(url);
  return password.length >= 12 && password !== username
    ? [password, decodeURIComponent(password)]
    : [];
}

inEveryFile(() => {
  afterEach(async () => {
    for (const api of open) await api.close();
    open.clear();
  });
  afterAll(() => exported.clear());
});
