/** What the tests of the embedded Postgres need of the system: daywalk processes that use it, and a look at which processes there are. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, inject, onTestFinished, vi } from 'vitest';
import {
  type EmbeddedDatabase,
  startEmbedded,
} from '../../packages/embedded-postgres/src/index.ts';
import { ask } from '../support/ask.ts';
import { until } from '../support/condition.ts';
import { roomyFolder } from '../support/memory.ts';
import { processesOf, processesWith } from '../support/processes.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The built package, which other processes run. */
export const PACKAGE = join(ROOT, 'packages/embedded-postgres');
/** The npm package with the programs for this machine. */
export const PLATFORM = `@embedded-postgres/${process.platform}-${process.arch}`;
export const isRoot = process.getuid?.() === 0;

/** For what is waited for: less than a test may take, more than any machine needs. */
export const LONGEST_WAIT = { timeout: 120_000, interval: 20 } as const;

// Servers are made, started and stopped here, on disks that may be slow.
vi.setConfig({ testTimeout: 240_000 });

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(await roomyFolder(), 'daywalk-embedded-'));
  onTestFinished(async () => {
    await untilNothingRuns(path);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}

/** A folder with data in it that one test before has made: making it takes longer than all else. Gone after the test. */
export async function folderWithData(): Promise<string> {
  const folder = await temporaryFolder();
  await putData(folder);
  return folder;
}

/** Puts such data into a folder, which is made where it is missing; in its database `made_before` has the answer 42. */
export async function putData(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A third of the work of Node.js's own copying.
  await promisify(execFile)('cp', ['-a', join(await templateFolder(), 'data'), folder]);
}

/** Made by the first file of this run that needs it; the others wait. */
async function templateFolder(): Promise<string> {
  const directory = join(inject('runFolder'), 'embedded');
  const isMine = await mkdir(directory, { mode: 0o700 }).then(
    () => true,
    () => false,
  );
  const whole = `${directory}-is-whole`;
  if (isMine) {
    const database = await startEmbedded({ directory });
    // Nothing of this has to outlive the machine.
    await ask(database.url, 'alter system set fsync = off');
    await ask(database.url, 'create table made_before as select 42 as answer');
    await database.release({ untilStopped: true });
    await untilNothingRuns(directory);
    await writeFile(whole, '');
  } else await until('data that another test makes', () => existsSync(whole));
  return directory;
}

/** Starts the embedded Postgres in this process; it is released after the test. */
export async function startHere(
  directory: string,
  signal?: AbortSignal,
): Promise<EmbeddedDatabase> {
  const database = await startEmbedded(signal ? { directory, signal } : { directory });
  // Not waited for: others may use it still. The folder's own clean-up waits for the end.
  onTestFinished(() => void database.release({ untilStopped: true }));
  return database;
}

/** Another daywalk process that uses the embedded Postgres of a folder. */
export interface UsingProcess {
  readonly child: ChildProcess;
  /** Its first line: the URL, or the error as JSON. */
  readonly said: string;
}

const SCRIPT = `
  const { startEmbedded } = await import(process.argv[1]);
  try {
    const database = await startEmbedded({ directory: process.argv[2] });
    console.log(database.url);
    process.stdin.once('data', async () => { await database.release(); process.exit(); });
  } catch (error) {
    console.log(JSON.stringify({ name: error.name, message: error.message, hint: error.hint }));
  }`;

/** Starts a process that uses the embedded Postgres until it is told to release it, or killed. */
export async function startElsewhere(
  directory: string,
  options: { readonly uid?: number; readonly app?: string; readonly key?: string } = {},
): Promise<UsingProcess> {
  const module = join(options.app ?? PACKAGE, 'dist/index.js');
  const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, module, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
    env: { PATH: process.env.PATH, DAYWALK_API_KEY: options.key },
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const said of createInterface({ input: child.stdout })) return { child, said };
  throw new Error('the process said nothing');
}

/** Tells a process to release the server, and waits until it has ended. */
export async function releaseElsewhere({ child }: UsingProcess): Promise<void> {
  child.stdin?.end('release\n');
  await once(child, 'exit');
}

/** Kills a process without a warning. */
export async function killElsewhere({ child }: UsingProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A connection as people make it with psql; `ended` resolves when the server ends it. */
export async function observe(url: string): Promise<{ client: pg.Client; ended: Promise<void> }> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return { client, ended };
}

/** The number of the Postgres process of a folder. */
export async function postmasterPid(directory: string): Promise<number> {
  return Number((await readFile(join(directory, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** The numbers of the processes whose command line holds all of `parts`. */
export function pidsWith(...parts: readonly string[]): number[] {
  return processesWith(...parts).map(({ pid }) => pid);
}

/** The watcher of a folder. */
export function watcherPid(directory: string): number {
  const [pid] = pidsWith('watcher.js', directory);
  if (pid === undefined) throw new Error(`no watcher runs for ${directory}`);
  return pid;
}

/** Waits until a program and the watcher have taken their places. */
export async function untilWatched(url: string): Promise<void> {
  const sql = `select count(*)::int as held from pg_locks where locktype = 'advisory'`;
  await vi.waitFor(async () => expect(await ask(url, sql)).toEqual([{ held: 2 }]), {
    ...LONGEST_WAIT,
    interval: 100,
  });
}

/** Waits until neither a watcher nor a Postgres is left for a folder. */
export async function untilNothingRuns(directory: string): Promise<void> {
  await vi.waitFor(
    () => {
      const left = processesOf(directory);
      if (left.length > 0) throw new Error(`still there: ${left.join('; ')}`);
    },
    { timeout: 60_000, interval: 100 },
  );
}

/** The owner of a file or a process. */
export async function ownerOf(path: string): Promise<number> {
  return (await stat(path)).uid;
}

/** A copy of the built package with only those packages that the test links or copies in. */
export async function installApp(): Promise<{ app: string; modules: string }> {
  const app = await temporaryFolder();
  const modules = join(app, 'node_modules');
  for (const part of ['dist', 'package.json'])
    await cp(join(PACKAGE, part), join(app, part), { recursive: true });
  await mkdir(modules);
  await chmod(app, 0o755);
  await symlink(join(ROOT, 'node_modules/pg'), join(modules, 'pg'));
  return { app, modules };
}
