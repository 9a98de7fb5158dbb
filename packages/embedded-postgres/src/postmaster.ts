/** A running Postgres as its file `postmaster.pid` describes it: its process, and where its socket is. */
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from './errors.ts';
import { assertPrivate, type Folder, type Identity } from './folder.ts';

/** What a Postgres says of itself; it may be gone since. */
export type Postmaster = NonNullable<Awaited<ReturnType<typeof readPostmaster>>>;

const LOOK_AGAIN_MS = 50;

/** The Postgres that runs on the data, or was running when the machine stopped; undefined when there is none. */
export async function readPostmaster(folder: Folder) {
  const text = await readFile(join(folder.data, 'postmaster.pid'), 'utf8').catch((error) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    return '';
  });
  const lines = text.split('\n');
  const [pid, port] = [Math.abs(Number(lines[0])), Number(lines[3])];
  // It is written piece by piece while Postgres starts.
  if (!(pid > 0)) return undefined;
  /** The folder of its socket, as an absolute path. */
  const sockets = lines[4]?.startsWith('/') ? lines[4] : folder.data;
  return { pid, port, sockets, ready: lines[7]?.trim() === 'ready' };
}

/**
 * The same, for those who are about to connect.
 * @throws {EmbeddedPostgresError} if the data, or the folder of the socket, is not private: whoever answers may be anyone.
 */
export async function provePostmaster(folder: Folder): Promise<Postmaster | undefined> {
  if (!existsSync(folder.data)) return undefined;
  const owner = await assertPrivate(folder.data);
  const found = await readPostmaster(folder);
  if (found && existsSync(found.sockets)) await assertPrivate(found.sockets, owner);
  return found;
}

/** Whether the process with this number is a Postgres on that data, and not one that got the number later. */
export function isRunning(pid: number, data: Identity): boolean {
  try {
    process.kill(pid, 0);
    // It works in the folder of its data.
    const { dev, ino } = statSync(`/proc/${pid}/cwd`);
    return dev === data.dev && ino === data.ino;
  } catch (error) {
    if (hasCode(error, 'ESRCH', 'EPERM')) return false;
    // A process without a working folder has ended, and waits for a parent that may never ask; unless there is no /proc.
    return hasCode(error, 'EACCES') || !existsSync('/proc/self');
  }
}

/** Waits until the process is gone, at most `ms` milliseconds; whether it is. */
export async function untilGone(pid: number, data: Identity, ms: number): Promise<boolean> {
  const late = AbortSignal.timeout(ms);
  while (isRunning(pid, data)) {
    if (late.aborted) return false;
    await sleep(LOOK_AGAIN_MS);
  }
  return true;
}
