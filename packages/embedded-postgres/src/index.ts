/** The embedded Postgres, as those who use it see it: a URL that works for as long as it is held. */
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError, isOfFile, reasonOf } from './errors.ts';
import { type Folder, type Identity, openFolder, openLog } from './folder.ts';
import { isRunning, type Postmaster, provePostmaster, untilGone } from './postmaster.ts';
import { startServer, startWatcher } from './server.ts';
import { databaseUrl, isWatched, join, type Use } from './session.ts';

export { EmbeddedPostgresError } from './errors.ts';

/** What starting the embedded Postgres needs. */
export interface EmbeddedOptions {
  /** Where the data is kept, for example `.daywalk`; made if it is missing. */
  readonly directory: string;
  /** Ends the waiting; a server that has started is not stopped by it. */
  readonly signal?: AbortSignal;
  readonly log?: { warn(text: string): void };
}

/** A Postgres that runs at least until it is released, or until this process ends. */
export interface EmbeddedDatabase {
  /** `postgresql:///daywalk?host=<folder>&port=5432&user=daywalk`; it holds no password. */
  readonly url: string;
  /**
   * Gives the server back; it stops soon after the last one that uses it has done so.
   * With `untilStopped`, resolves when it has stopped.
   */
  release(options?: { readonly untilStopped?: boolean }): Promise<void>;
}

const START_MS = 60_000;
const RETRY_MS = 25;
/** Before a lost server is looked for; one that has only restarted its sessions is not stopped by then. Doubled after each try in vain. */
const RETURN_AFTER_MS = 200;
const LONGEST_RETURN_MS = 30_000;
const GOODBYE_MS = 5000;
const STOP_MS = 60_000;

interface Held extends Use {
  readonly postmaster: Postmaster;
  readonly data: Identity;
}

/**
 * Starts a Postgres on the data in `directory`, or joins the one that another process runs there.
 * @throws {EmbeddedPostgresError} with the reason and the way out, if it cannot be used; the signal's reason, if aborted.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { directory, signal, log } = options;
  const folder = await openFolder(directory);
  const released = new AbortController();
  let held = await hold(folder, signal);
  const url = databaseUrl(held.postmaster);

  /** The server may have been killed: while someone needs it, it is started again. */
  const returnWhenLost = () => {
    held.client.once('end', () => {
      if (!released.signal.aborted) void comeBack();
    });
  };
  const comeBack = async () => {
    log?.warn('the embedded Postgres has gone away; starting it again');
    for (let ms = RETURN_AFTER_MS; ; ms = Math.min(LONGEST_RETURN_MS, 2 * ms))
      try {
        await sleep(ms, undefined, { signal: released.signal, ref: false });
        const next = await hold(folder, released.signal, held.postmaster.sockets);
        if (released.signal.aborted) return void next.client.end();
        if (databaseUrl(next.postmaster) !== url)
          log?.warn('the embedded Postgres has another socket now: start this program again');
        held = next;
        return returnWhenLost();
      } catch (error) {
        if (released.signal.aborted) return;
        // What keeps it away may pass, as a full disk does, or a recovery that takes long.
        log?.warn(`the embedded Postgres stays away, and is tried again: ${reasonOf(error)}`);
      }
  };
  returnWhenLost();

  return {
    url,
    async release({ untilStopped = false } = {}) {
      if (released.signal.aborted) return;
      released.abort();
      const goodbye = leave(folder, held).catch(() => undefined);
      // The connection keeps no process alive; this timer does, until the goodbye is over.
      const enough = new AbortController();
      const late = sleep(GOODBYE_MS, undefined, { signal: enough.signal }).catch(() => undefined);
      await Promise.race([goodbye, late]);
      enough.abort();
      if (untilStopped) await untilGone(held.postmaster.pid, held.data, STOP_MS);
    },
  };
}

/** Begins to use the server, and sees to it that there is one, with its socket where it was. */
async function hold(folder: Folder, stop?: AbortSignal, sockets?: string): Promise<Held> {
  const late = AbortSignal.timeout(START_MS);
  const signal = stop ? AbortSignal.any([stop, late]) : late;
  try {
    return await joinOrStart(folder, signal, sockets);
  } catch (error) {
    if (stop?.aborted) throw stop.reason;
    if (isOfFile(error))
      throw new EmbeddedPostgresError(
        `${folder.path} cannot be used: ${reasonOf(error)}`,
        'make it writable',
        error,
      );
    if (!late.aborted) throw error;
    throw new EmbeddedPostgresError(
      `the embedded Postgres was not ready within ${START_MS / 1000} s; see ${folder.log}`,
      'if it recovers from a crash, run the command again in a while',
      error,
    );
  }
}

async function joinOrStart(folder: Folder, signal: AbortSignal, sockets?: string): Promise<Held> {
  let started = false;
  for (;;) {
    signal.throwIfAborted();
    const postmaster = await provePostmaster(folder);
    const use = postmaster?.ready ? await join(postmaster) : undefined;
    if (postmaster && use) {
      const data = await stat(folder.data);
      // Nobody is kept alive by it. (The types of `pg` do not know this method.)
      (use.client as unknown as { unref(): void }).unref();
      if (!use.watched && !started) await watchAgain(folder, postmaster.pid);
      return { ...use, postmaster, data };
    }
    const data = postmaster && (await stat(folder.data));
    if (!postmaster || !data || !isRunning(postmaster.pid, data)) {
      await startServer(folder, signal, sockets);
      started = true;
    } else await sleep(RETRY_MS, undefined, { signal });
  }
}

/** A watcher that was killed just before this use began may have looked alive then: nobody would stop the server. */
async function leave(folder: Folder, { client, postmaster }: Held): Promise<void> {
  try {
    if (!(await isWatched(client))) await watchAgain(folder, postmaster.pid);
  } finally {
    await client.end();
  }
}

/** For a server whose watcher was killed. */
async function watchAgain(folder: Folder, pid: number): Promise<void> {
  const log = await openLog(folder);
  startWatcher(folder, pid, log.fd);
  await log.close();
}
