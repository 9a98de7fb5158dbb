/**
 * The program that stops the embedded Postgres of one folder when nobody uses it any more: `node watcher.js <folder> <pid>`.
 * It is a process of its own, in a session of its own, so that neither Ctrl-C nor a killed program leaves Postgres running
 * or takes it down uncleanly.
 */
import { existsSync, statSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { type Folder, type Identity, placesIn } from './folder.ts';
import { isRunning, type Postmaster, readPostmaster, untilGone } from './postmaster.ts';
import { connect, IN_USE, isUsed, lockAlone, WATCHED } from './session.ts';

const LOOK_AGAIN_MS = 300;
/** So often nobody must be seen before the server is stopped: the next command often comes at once. */
const QUIET_LOOKS = 3;
/** How long the users have to leave once we are told to stop. */
const LEAVE_MS = 5000;
/** How a server is asked to stop, ever more firmly, and how long each takes; after the second it recovers at its next start. */
const WAYS_TO_STOP = [
  ['SIGINT', 45_000],
  ['SIGQUIT', 10_000],
  ['SIGKILL', 10_000],
] as const;

const told = new AbortController();

/** Watches the server until it is gone, through lost connections. */
async function watch(folder: Folder, pid: number, data: Identity): Promise<void> {
  while (isRunning(pid, data)) {
    const postmaster = await readPostmaster(folder);
    const ready = postmaster?.ready && postmaster.pid === pid;
    if (ready ? !isReachable(postmaster) : told.signal.aborted || !isInPlace(folder, data))
      return stop(folder, pid, data);
    if (ready && (await stay(folder, postmaster, data).catch(() => false))) return;
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Stops the server when it is unused. @returns whether nothing is left to do, also because there is another watcher. */
async function stay(folder: Folder, postmaster: Postmaster, data: Identity): Promise<boolean> {
  const client = await connect(postmaster);
  try {
    if (!(await lockAlone(client, WATCHED))) return true;
    await untilUnused(client, () => isInPlace(folder, data) && isReachable(postmaster));
    await stop(folder, postmaster.pid, data);
    if (postmaster.sockets !== folder.data) await rmdir(postmaster.sockets).catch(() => undefined);
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Waits until nobody has been there for a while; when told to stop, only so long as people need to leave. */
async function untilUnused(client: Client, isOfUse: () => boolean): Promise<void> {
  let quiet = 0;
  let leave: AbortSignal | undefined;
  while (!leave?.aborted && isOfUse()) {
    quiet = (await isUsed(client)) ? 0 : quiet + 1;
    if (told.signal.aborted) leave ??= AbortSignal.timeout(LEAVE_MS);
    if (quiet >= (leave ? 1 : QUIET_LOOKS) && (await lockAlone(client, IN_USE))) return;
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Without its socket, which cleaners of temporary folders take away, nobody can come any more. */
function isReachable({ sockets, port }: Postmaster): boolean {
  return existsSync(join(sockets, `.s.PGSQL.${port}`));
}

/** Postgres names its files by their paths: one whose data was moved or removed would write its end into what lies there now. */
function isInPlace(folder: Folder, { dev, ino }: Identity): boolean {
  const found = statSync(folder.data, { throwIfNoEntry: false });
  return found?.dev === dev && found.ino === ino;
}

async function stop(folder: Folder, pid: number, data: Identity): Promise<void> {
  for (const [signal, ms] of isInPlace(folder, data) ? WAYS_TO_STOP : WAYS_TO_STOP.slice(-1)) {
    if (isRunning(pid, data)) process.kill(pid, signal);
    if (await untilGone(pid, data, ms)) return;
  }
}

process.on('SIGTERM', () => told.abort());
// These are meant for the program in the foreground.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
const [path = '', pid] = process.argv.slice(2);
const folder = placesIn(path);
await watch(folder, Number(pid), statSync(folder.data));
