/** Before all tests: builds dist, and gives the tests a Postgres (DATABASE_URL, else an embedded one) with a migrated template database. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../packages/embedded-postgres/src/index.ts';
import { migrate } from '../src/store/migrations.ts';
import { roomyFolder } from './support/memory.ts';
import { freePort } from './support/ports.ts';

/** Where tests make their databases; `problem` says why there is no template or no server at all, so that the tests that need neither run all the same. */
export interface TestServer {
  readonly adminUrl: string;
  /** Begins the name of every database of this run. */
  readonly prefix: string;
  /** The migrated database that the tests clone. */
  readonly template: string;
  /** How a database is cloned here, as SQL. */
  readonly cloning: string;
  /** The folder of its socket, where it may be used. */
  readonly socket?: string | undefined;
  readonly problem?: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    testServer: TestServer;
    /** A folder of this run, where files of tests keep what several of them need; gone after all tests. */
    runFolder: string;
  }
}

/** What every test says where there is no server, or none with the schema. */
export const NO_DATABASE = 'the tests have no database with the schema in it';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Runs before all tests; what it returns runs after them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build();
  const runFolder = await mkdtemp(join(await roomyFolder(), 'daywalk-run-'));
  // Also after Ctrl-C.
  const removeRunFolder = () => rmSync(runFolder, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', removeRunFolder);
  project.provide('runFolder', runFolder);
  const prefix = `daywalk_test_${randomBytes(4).toString('hex')}`;
  const template = `${prefix}_template`;
  let server: Postgres | undefined;
  try {
    server = await givePostgres();
    await inDatabase(server.adminUrl, `create database ${template}`);
    await migrate(urlOf(server.adminUrl, template));
    const { adminUrl, cloning, socket } = server;
    project.provide('testServer', { adminUrl, cloning, socket, prefix, template });
  } catch (error) {
    const problem = `${NO_DATABASE}: ${(error as Error).stack}`;
    console.error(problem);
    const { adminUrl, cloning } = server ?? { adminUrl: '', cloning: '' };
    project.provide('testServer', { adminUrl, cloning, prefix, template, problem });
  }
  return async () => {
    removeRunFolder();
    if (!server) return;
    await inDatabase(server.adminUrl, `drop database if exists ${template} with (force)`);
    const kept = await inDatabase(
      server.adminUrl,
      'select datname from pg_catalog.pg_database where starts_with(datname, $1)',
      [prefix],
    );
    await server.stop(kept.map((row) => row.datname as string));
  };
}

/** Types are the business of `npm run check`: whatever compiles is emitted, so that one broken part does not stop all tests. */
async function build(): Promise<void> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  for (const project of [
    'packages/embedded-postgres',
    'tsconfig.build.json',
    'simulator/tsconfig.json',
  ])
    await promisify(execFile)(tsc, ['-p', project, '--noCheck'], { cwd: ROOT }).catch((error) => {
      console.error(
        `tsc -p ${project}: ${error.stdout.split('\n')[0]} … (npm run check tells all)`,
      );
    });
}

interface Postgres {
  readonly adminUrl: string;
  readonly cloning: string;
  readonly socket?: string | undefined;
  stop(kept: readonly string[]): Promise<void>;
}

async function givePostgres(): Promise<Postgres> {
  const given = process.env.DATABASE_URL;
  // Its checkpoints may be dear, and Postgres 14 knows one way only.
  if (given) return { adminUrl: given, cloning: '', stop: async () => {} };
  const directory = await mkdtemp(join(await roomyFolder(), 'daywalk-test-'));
  // Also after Ctrl-C; whoever watches the server then ends it, as its data is gone.
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  const first = await startEmbedded({ directory });
  const password = randomBytes(16).toString('hex');
  const port = await freePort();
  const settings = {
    // Nothing of this has to outlive the machine.
    fsync: 'off',
    full_page_writes: 'off',
    // It may be memory that this fills.
    max_wal_size: '256MB',
    // Proxies that break, delay and count connections stand between the tests and the server.
    listen_addresses: '127.0.0.1',
    port,
  };
  for (const [name, value] of Object.entries(settings))
    await inDatabase(first.url, `alter system set ${name} = '${value}'`);
  // It is as random as a key: 4096 rounds would make each connection dear, and nothing safer.
  await inDatabase(
    first.url,
    `set scram_iterations = 1; alter role daywalk password '${password}'`,
  );
  await first.release({ untilStopped: true });
  const embedded = await startEmbedded({ directory });
  return {
    adminUrl: `postgres://daywalk:${password}@127.0.0.1:${port}/daywalk`,
    // Half the work of the default, which writes all that it copies into the WAL.
    cloning: 'strategy file_copy',
    socket: new URL(embedded.url).searchParams.get('host') ?? undefined,
    async stop(kept) {
      await embedded.release({ untilStopped: true });
      process.off('exit', remove);
      if (kept.length === 0) remove();
      else console.error(howToLook(directory, kept));
    },
  };
}

/** How to reach the databases of failed tests after the run. */
function howToLook(directory: string, kept: readonly string[]): string {
  const script = `import { startEmbedded } from '${ROOT}packages/embedded-postgres/dist/index.js'; console.log((await startEmbedded({ directory: '${directory}' })).url); process.stdin.resume();`;
  return `kept for you: ${kept.join(', ')}; to start their server: node --input-type=module -e "${script}"; once done: rm -r ${directory}`;
}

/** One statement in the database at `url`. */
async function inDatabase(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
