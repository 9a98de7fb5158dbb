/** What the tests of the embedded Postgres need of the system: daywalk processes that use it, and a look at which processes there are. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded/embedded.ts';
import { freePort } from '../support/ports.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const isRoot = process.getuid?.() === 0;

/** For what is waited for: less than a test may take, more than any machine needs. */
export const LONGEST_WAIT = { timeout: 120_000, interval: 20 } as const;

// Servers are made, started and stopped here, on disks that may be slow.
vi.setConfig({ testTimeout: 240_000 });

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'daywalk-embedded-'));
  onTestFinished(async () => {
    await untilNoSupervisor(path);
    await rm(path, { recursive: true, force: true });
  });
  return path;
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
  const module = join(options.app ?? ROOT, 'dist/store/embedded/embedded.js');
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

/** A connection that does not count as a use; `ended` resolves when the server ends it. */
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
export async function processesWith(...parts: string[]): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (parts.every((part) => line.includes(part))) found.push(Number(name));
  }
  return found;
}

/** The supervisor of a folder. */
export async function supervisorPid(directory: string): Promise<number> {
  const [pid] = await processesWith('supervisor.js', directory);
  if (pid === undefined) throw new Error(`no supervisor runs for ${directory}`);
  return pid;
}

/** Waits until neither a supervisor nor a Postgres is left for a folder. */
export async function untilNoSupervisor(directory: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const left = (await processesWith(directory)).filter((pid) => pid !== process.pid);
      if (left.length > 0) throw new Error(`still there: ${left}`);
    },
    { ...LONGEST_WAIT, timeout: 60_000 },
  );
}

/**
 * Makes the next start of a stopped server find a port as its last one that no system hands out by itself: the real last
 * one may be anybody's by then.
 * @returns the URL with that port.
 */
export async function moveToQuietPort(directory: string, url = 'postgres://x'): Promise<string> {
  const moved = new URL(url);
  moved.port = `${await freePort()}`;
  await writeFile(join(directory, 'port'), `${moved.port}\n`);
  return moved.href;
}

/** The owner of a file or a process. */
export async function ownerOf(path: string): Promise<number> {
  return (await stat(path)).uid;
}

/** A copy of daywalk's built embedded part with only those packages that the test links or copies in. */
export async function installApp(): Promise<{ app: string; modules: string }> {
  const app = await temporaryFolder();
  const modules = join(app, 'node_modules');
  await cp(join(ROOT, 'dist/store/embedded'), join(app, 'dist/store/embedded'), {
    recursive: true,
  });
  for (const leaf of ['clock.js', 'errors.js', 'log.js'])
    await cp(join(ROOT, 'dist', leaf), join(app, 'dist', leaf));
  await writeFile(join(app, 'package.json'), '{ "type": "module" }\n');
  await mkdir(modules);
  await chmod(app, 0o755);
  await symlink(join(ROOT, 'node_modules/pg'), join(modules, 'pg'));
  return { app, modules };
}
