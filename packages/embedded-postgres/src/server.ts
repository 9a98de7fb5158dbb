/** Starting the Postgres server, as a process that outlives us. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chooseRunner } from './account.ts';
import { type Binaries, prepareBinaries } from './binaries.ts';
import { ensureCluster, writeAccess } from './cluster.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { type Folder, lastLines, openLog } from './folder.ts';
import { isRunning, type Postmaster, readPostmaster } from './postmaster.ts';
import { launch, type Runner, run } from './program.ts';

const LOOK_AGAIN_MS = 20;
const ATTEMPTS = 5;
/** The exit code for: someone else holds the lock on the data. */
const LOCKED = 75;
/** What the address of a socket can hold, in bytes: 107 on Linux, 103 on macOS. */
const LONGEST_ADDRESS = process.platform === 'linux' ? 107 : 103;

/**
 * Starts a server on the data, unless another process is first, and a watcher that ends it when nobody uses it any more.
 * @param sockets where the socket was before, for those who know the URL.
 * @throws {EmbeddedPostgresError} with its last words, if it does not come up.
 */
export async function startServer(
  folder: Folder,
  signal: AbortSignal,
  sockets?: string,
): Promise<void> {
  const binaries = await prepareBinaries(folder.libraries);
  const runner = await chooseRunner(folder, binaries, signal);
  await ensureCluster(folder, binaries, runner, signal);
  await writeAccess(folder, runner);
  const log = await openLog(folder);
  try {
    const logStart = (await log.stat()).size;
    const lock = await lockCommand(folder, runner, signal);
    let code: number | null = null;
    // What can pass: the children of a killed server are not gone yet, or another process is just starting one.
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const left = await readPostmaster(folder);
      const data = await stat(folder.data);
      if (left && isRunning(left.pid, data)) return;
      const command = [
        ...lock,
        ...serverCommand(
          folder,
          binaries,
          await socketFolder(folder, left?.sockets ?? sockets, runner),
        ),
      ];
      const child = launch(command, {
        log: log.fd,
        cwd: folder.data,
        runner: blindTo(left, runner),
      });
      if (child.pid !== undefined) startWatcher(folder, child.pid, log.fd);
      if (await untilReady(child, folder, signal)) return;
      code = child.exitCode;
      if (code !== LOCKED && !(await readPostmaster(folder))) break;
      await sleep(100 * 2 ** attempt, undefined, { signal });
    }
    if (code === LOCKED)
      throw new EmbeddedPostgresError(
        `another Postgres, which cannot be seen from here, runs on ${folder.data}: in another container, perhaps`,
        'give each container a folder of its own',
      );
    throw new EmbeddedPostgresError(
      `the embedded Postgres does not start; its last words, from ${folder.log}:\n${await lastLines(folder, logStart)}`,
    );
  } finally {
    await log.close();
  }
}

/** Starts the process that stops the server `pid` when nobody uses it any more; one too many ends by itself. */
export function startWatcher(folder: Folder, pid: number, log: number): void {
  launch([process.execPath, watcherFile(), folder.path, `${pid}`], { log, cwd: '/' });
}

/** The built watcher; Node 20 cannot run the source, from which the tests run the rest. */
function watcherFile(): string {
  const built = import.meta.url.endsWith('.ts') ? '../dist/watcher.js' : './watcher.js';
  return fileURLToPath(new URL(built, import.meta.url));
}

/**
 * The command that holds a lock on the data for as long as the server or one of its children lives, on Linux.
 * Postgres's own guard looks for a process number, and so lets two containers corrupt one folder.
 */
async function lockCommand(folder: Folder, runner: Runner, signal: AbortSignal): Promise<string[]> {
  const flock = ['flock', '--nonblock', '--no-fork', `--conflict-exit-code=${LOCKED}`];
  const trial = await run(runner, [...flock, '/bin/sh', '/bin/true'], signal);
  return trial.ok ? [...flock, folder.data] : [];
}

/** What cannot be changed in postgresql.conf: where the socket is, and who may connect. */
function serverCommand(folder: Folder, { postgres }: Binaries, sockets: string): string[] {
  const settings = {
    unix_socket_directories: sockets,
    unix_socket_permissions: '0700',
    hba_file: folder.hba,
    ident_file: folder.ident,
  };
  const options = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  return [postgres, '-D', folder.data, ...options];
}

/**
 * Where the socket goes: beside the data, by a relative name, so that a server whose folder was removed cannot remove its
 * successor's; where the path would be too long, into a private folder, which postmaster.pid then names.
 */
async function socketFolder(folder: Folder, before: string | undefined, runner: Runner) {
  if (addressLength(folder.data) <= LONGEST_ADDRESS) return '.';
  // After a crash the same one again, so that the URL stays the same.
  if (before !== undefined && before !== folder.data && existsSync(before)) return before;
  const made = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
  if (addressLength(made) > LONGEST_ADDRESS)
    throw new EmbeddedPostgresError(
      `the path of ${folder.data} is too long for a socket, and so is ${made}`,
      'set TMPDIR to a folder with a short path',
    );
  if (runner.identity) await chown(made, runner.identity.uid, runner.identity.gid);
  return made;
}

function addressLength(sockets: string): number {
  return Buffer.byteLength(join(sockets, '.s.PGSQL.65535'));
}

/**
 * Postgres does not start while the process in a left postmaster.pid lives; after a crash another program may have got its
 * number. Postgres overlooks that of its grandparent, which this makes it, and still looks out for a server.
 */
function blindTo(left: Postmaster | undefined, runner: Runner): Runner {
  if (!left) return runner;
  return { ...runner, environment: { ...runner.environment, PG_GRANDPARENT_PID: `${left.pid}` } };
}

/** Waits until the server accepts connections; false if it ended instead. Stopping early leaves it to the watcher. */
async function untilReady(child: ChildProcess, folder: Folder, signal: AbortSignal) {
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const said = await readPostmaster(folder);
    if (said?.pid === child.pid && said.ready) return true;
    await sleep(LOOK_AGAIN_MS, undefined, { signal });
  }
  return false;
}
