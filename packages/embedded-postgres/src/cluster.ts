/** The data of the embedded Postgres: made once, whole or not at all; and who may connect to it. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError, hasCode } from './errors.ts';
import type { Folder } from './folder.ts';
import { type Runner, run } from './program.ts';

/** The database user; also its superuser. */
export const DATABASE_USER = 'daywalk';

/** What postgresql.conf begins with. Whoever wants other settings, or to listen on TCP, changes them there. */
const SETTINGS = {
  listen_addresses: '',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Data that is being made, with the number of the process that makes it. */
const HALF_MADE = /^making-(\d+)-/;

/**
 * Makes the cluster where it is missing.
 * @throws {EmbeddedPostgresError} if it cannot be made.
 */
export async function ensureCluster(
  folder: Folder,
  binaries: Binaries,
  runner: Runner,
  signal: AbortSignal,
): Promise<void> {
  if (existsSync(folder.data)) return;
  await removeHalfMade(folder);
  const workshop = join(folder.path, `making-${process.pid}-${randomUUID()}`);
  const data = join(workshop, 'data');
  await mkdir(workshop, { mode: 0o700 });
  if (runner.identity) await chown(workshop, runner.identity.uid, runner.identity.gid);
  try {
    const made = await run(runner, initdb(binaries, data), signal);
    signal.throwIfAborted();
    if (!made.ok)
      throw new EmbeddedPostgresError(
        `the embedded Postgres could not make its data in ${folder.path}; its last words:\n${made.output}`,
      );
    // Another process may have been first: then its data is used.
    await rename(data, folder.data).catch((error) => {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    });
    await syncFolder(folder.path);
  } finally {
    await removeFolder(workshop);
  }
}

function initdb(binaries: Binaries, data: string): string[] {
  return [
    binaries.initdb,
    `--pgdata=${data}`,
    `--username=${DATABASE_USER}`,
    // Who may connect is in files of our own, which each start writes anew.
    '--auth-local=reject',
    '--auth-host=reject',
    '--encoding=UTF8',
    // Built into Postgres, so it exists on every machine and sorts the same on all of them.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
    ...Object.entries(SETTINGS).map(([name, value]) => `--set=${name}=${value}`),
  ];
}

/** Lets in whoever the kernel says is `client`, by the socket; a password counts by TCP only, which is off at first. */
export async function writeAccess(folder: Folder, { client }: Runner): Promise<void> {
  const hba = [
    'local all all peer map=owner',
    'host all all 127.0.0.1/32 scram-sha-256',
    'host all all ::1/128 scram-sha-256',
  ];
  await replaceFile(folder.hba, `${hba.join('\n')}\n`);
  await replaceFile(folder.ident, `owner "${client.replaceAll('"', '""')}" all\n`);
}

/** A server that starts in this moment reads the old text or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}`;
  await writeFile(next, text, { mode: 0o644 });
  await rename(next, path);
}

async function removeHalfMade(folder: Folder): Promise<void> {
  for (const name of await readdir(folder.path)) {
    const maker = Number(HALF_MADE.exec(name)?.[1] ?? 0);
    if (maker > 0 && isGone(maker)) await removeFolder(join(folder.path, name));
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync();
  await folder.close();
}

/** Removes a folder in which an initdb that was cut off may still be writing its last files. */
function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
