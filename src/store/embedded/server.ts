/** The Postgres server: started on a free port or, when it has lost its supervisor, adopted; and stopped cleanly. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { systemClock } from '../../clock.ts';
import { SettingsError } from '../../errors.ts';
import type { Binaries } from './binaries.ts';
import { type Folder, lastLines, OWN_DATABASE_HINT } from './folder.ts';
import { findPostmaster, isAlive, readPostmasterFile } from './postmaster-file.ts';
import { type Runner, run, start } from './program.ts';

/** A Postgres that accepts connections. */
export interface Server {
  readonly pid: number;
  readonly port: number;
  /** Resolves when the process is gone, whatever the reason. */
  readonly exited: Promise<void>;
}

const LOOK_AGAIN_MS = 20;
const START_ATTEMPTS = 5;
/** The exit code for: someone else holds the lock on the data. */
const LOCKED = 75;
const FAST_SHUTDOWN_MS = 45_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;

/**
 * Takes over a server that runs without a supervisor; undefined when there is none.
 * One that is just stopping is waited for.
 */
export async function adoptServer(
  folder: Folder,
  signal: AbortSignal,
): Promise<Server | undefined> {
  for (;;) {
    const found = await findPostmaster(folder);
    if (!found) return undefined;
    if (found.status === 'ready')
      return { pid: found.pid, port: found.port, exited: untilGone(found.pid) };
    await systemClock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/**
 * Starts a server on the data.
 * @throws SettingsError with its last words, if it does not come up.
 */
export async function startServer(
  folder: Folder,
  binaries: Binaries,
  runner: Runner,
  logFile: number,
  signal: AbortSignal,
): Promise<Server> {
  const logStart = (await readFile(folder.log).catch(() => '')).length;
  const lock = await lockCommand(folder, runner, signal);
  let code: number | null = null;
  // What can pass: another process took the port first, or the children of a killed server are not gone yet.
  for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
    const port = await freePort(folder);
    const child = start(runner, [...lock, ...serverCommand(folder, binaries, port)], logFile);
    const server = await untilReady(child, port, folder, signal);
    if (server) {
      await writeFile(folder.port, `${port}\n`);
      return server;
    }
    code = child.exitCode;
    if (attempt < START_ATTEMPTS) await systemClock.sleep(100 * 2 ** attempt, signal);
  }
  if (code === LOCKED)
    throw new SettingsError(
      `another Postgres, which cannot be seen from here, runs on ${folder.data}: in another container, perhaps`,
      { hint: `give each container a folder of its own, or ${OWN_DATABASE_HINT}` },
    );
  throw new SettingsError(
    `the embedded Postgres does not start; its last words, from ${folder.log}:\n${await lastLines(folder, logStart)}`,
    { hint: OWN_DATABASE_HINT },
  );
}

/**
 * The command that holds a lock on the data for as long as the server or one of its children lives, on Linux.
 * Postgres's own guard looks for a process number, and so lets two containers corrupt one folder.
 */
async function lockCommand(folder: Folder, runner: Runner, signal: AbortSignal): Promise<string[]> {
  const trial = await run(
    runner,
    ['flock', '--shared', '--no-fork', '/bin/sh', '/bin/sh', '-c', ':'],
    signal,
  );
  if (!trial.ok) return [];
  return ['flock', '--nonblock', '--no-fork', '--conflict-exit-code', `${LOCKED}`, folder.data];
}

function serverCommand(folder: Folder, binaries: Binaries, port: number): string[] {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
    max_wal_size: '2GB',
    timezone: 'UTC',
    log_timezone: 'UTC',
  };
  return [
    binaries.postgres,
    '-D',
    folder.data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** Waits until the server accepts connections; undefined if it ended instead. Stopping early stops the server. */
async function untilReady(
  child: ChildProcess,
  port: number,
  folder: Folder,
  signal: AbortSignal,
): Promise<Server | undefined> {
  let ended = false;
  const exited = new Promise<void>((resolve) => {
    const gone = () => {
      ended = true;
      resolve();
    };
    child.once('exit', gone).once('error', gone);
  });
  while (!ended) {
    const said = await readPostmasterFile(folder);
    if (child.pid !== undefined && said?.pid === child.pid && said.status === 'ready')
      return { pid: child.pid, port, exited };
    try {
      await systemClock.sleep(LOOK_AGAIN_MS, signal);
    } catch (error) {
      if (child.pid !== undefined) await stopServer({ pid: child.pid, port, exited });
      throw error;
    }
  }
  return undefined;
}

/**
 * Stops the server: its sessions are ended and everything is written out. One that does not manage this in time is
 * stopped at once, and recovers at its next start.
 * @param pgCtl what stops it on Windows, which has no signals.
 */
export async function stopServer(
  server: Server,
  pgCtl?: { readonly command: string; readonly data: string },
): Promise<void> {
  if (await within(0, server.exited)) return;
  if (process.platform === 'win32' && pgCtl)
    spawn(pgCtl.command, ['stop', '-D', pgCtl.data, '-m', 'fast'], { stdio: 'ignore', env: {} });
  else sendSignal(server.pid, 'SIGINT');
  if (await within(FAST_SHUTDOWN_MS, server.exited)) return;
  sendSignal(server.pid, 'SIGQUIT');
  if (await within(IMMEDIATE_SHUTDOWN_MS, server.exited)) return;
  sendSignal(server.pid, 'SIGKILL');
  await within(IMMEDIATE_SHUTDOWN_MS, server.exited);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}

async function within(ms: number, event: Promise<void>): Promise<boolean> {
  const enough = new AbortController();
  try {
    return await Promise.race([
      event.then(() => true),
      systemClock.sleep(ms, enough.signal).then(() => false),
    ]);
  } finally {
    enough.abort();
  }
}

/** Only a parent is told of an exit; others have to look. */
async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await systemClock.sleep(10 * LOOK_AGAIN_MS);
}

/** The port that was used last if nobody has it now, so that the URL stays the same; else any. */
async function freePort(folder: Folder): Promise<number> {
  const last = Number(await readFile(folder.port, 'utf8').catch(() => '0'));
  const wanted = Number.isInteger(last) && last > 1023 && last < 65_536 ? last : 0;
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? 0;
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(undefined));
    probe.listen({ port, host: '127.0.0.1' }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
