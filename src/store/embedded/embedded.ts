/** The embedded Postgres, as the rest of daywalk sees it: a URL that works for as long as it is held. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { systemClock } from '../../clock.ts';
import { SettingsError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { findBinaries } from './binaries.ts';
import { connectControl, controlAddress, readAnswer, WAIT_FOR_STOP } from './control.ts';
import { databaseUrl } from './database.ts';
import { type Folder, OWN_DATABASE_HINT, openFolder, readPassword, reasonOf } from './folder.ts';
import { type SupervisorProcess, spawnSupervisor } from './supervisor-process.ts';

/** What starting the embedded Postgres needs. */
export interface EmbeddedOptions {
  /** Where the data is kept, for example `.daywalk`; made if it is missing. */
  readonly directory: string;
  /** Ends the waiting; a server that has started is not stopped by it. */
  readonly signal?: AbortSignal;
  readonly log?: Pick<Logger, 'info' | 'warn'>;
}

/** A Postgres that runs at least until it is released, or until this process ends. */
export interface EmbeddedDatabase {
  /** `postgres://daywalk:<password>@127.0.0.1:<port>/daywalk` */
  readonly url: string;
  /**
   * Gives the server back; it stops soon after the last process that uses it has done so.
   * With `untilStopped`, resolves when it has stopped.
   */
  release(options?: { readonly untilStopped?: boolean }): Promise<void>;
}

const START_MS = 60_000;
const RETRY_MS = 25;
/** Before a lost supervisor is replaced: on a machine that shuts down, we are about to be stopped as well. */
const REPLACE_AFTER_MS = 1000;
const GOODBYE_MS = 5000;
const STOP_MS = 60_000;

interface Held {
  readonly socket: Socket;
  readonly port: number;
}

/**
 * Starts a Postgres on the data in `directory`, or joins the one that another process runs there.
 * @throws SettingsError with the reason and the way out, if this machine cannot run it; the signal's reason, if aborted.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const folder = await openFolder(options.directory);
  const released = new AbortController();
  let held = await hold(folder, options.signal);
  let url: string;
  try {
    url = databaseUrl(held.port, await readPassword(folder));
  } catch (error) {
    held.socket.destroy();
    throw error;
  }

  const replaceWhenLost = () => {
    held.socket.once('close', () => {
      if (!released.signal.aborted) void replace();
    });
  };
  /** Without a supervisor nobody would restart the server, or stop it in the end. */
  const replace = async () => {
    options.log?.warn('the supervisor of the embedded Postgres is gone; starting another');
    try {
      await systemClock.sleep(REPLACE_AFTER_MS, released.signal);
      const next = await hold(folder, released.signal);
      if (released.signal.aborted) return void next.socket.destroy();
      if (next.port !== held.port)
        options.log?.warn('the embedded Postgres is on another port now: restart daywalk');
      held = next;
      replaceWhenLost();
    } catch (error) {
      if (!released.signal.aborted)
        options.log?.warn(`the embedded Postgres stays away: ${reasonOf(error)}`);
    }
  };
  replaceWhenLost();
  options.log?.info(`embedded Postgres in ${folder.path}, port ${held.port}`);

  return {
    url,
    async release({ untilStopped = false } = {}) {
      if (released.signal.aborted) return;
      released.abort();
      await letGo(held.socket, untilStopped);
    },
  };
}

/** Takes a reference to the server, and sees to it that there is one. */
async function hold(folder: Folder, stop: AbortSignal | undefined): Promise<Held> {
  const late = systemClock.timeout(START_MS);
  const signal = stop ? AbortSignal.any([stop, late]) : late;
  try {
    return await connectOrStart(folder, signal);
  } catch (error) {
    if (!late.aborted || stop?.aborted) throw error;
    throw new SettingsError(
      `the embedded Postgres was not ready within ${START_MS / 1000} s; see ${folder.log}`,
      {
        hint: `if it recovers from a crash, run the command again in a while; or ${OWN_DATABASE_HINT}`,
        cause: error,
      },
    );
  }
}

async function connectOrStart(folder: Folder, signal: AbortSignal): Promise<Held> {
  let supervisor: SupervisorProcess | undefined;
  for (;;) {
    signal.throwIfAborted();
    const socket = await connectControl(controlAddress(folder.path));
    if (socket) {
      const port = await askPort(socket, signal);
      if (port !== undefined) return { socket, port };
    } else if (!supervisor || supervisor.ended) {
      await supervisor?.assertNotFailed();
      // Here already, so that the usual reasons are told at once.
      await findBinaries();
      supervisor = await spawnSupervisor(folder);
    }
    await systemClock.sleep(RETRY_MS, signal);
  }
}

/** The port of the server, once it is ready; undefined when the supervisor is just going. */
async function askPort(socket: Socket, signal: AbortSignal): Promise<number | undefined> {
  try {
    const answer = await readAnswer(socket, signal);
    if (answer && 'failed' in answer)
      throw new SettingsError(answer.failed, { hint: answer.hint ?? OWN_DATABASE_HINT });
    if (!answer) socket.destroy();
    // Reading on, so that the end of the connection is noticed; but nobody is kept alive by it.
    socket.resume().unref();
    return answer?.port;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function letGo(socket: Socket, untilStopped: boolean): Promise<void> {
  if (socket.destroyed) return;
  const closed = once(socket, 'close');
  socket.ref();
  if (untilStopped) socket.write(WAIT_FOR_STOP);
  socket.end();
  const signal = systemClock.timeout(untilStopped ? STOP_MS : GOODBYE_MS);
  const late = once(signal, 'abort').then(() => socket.destroy());
  await Promise.race([closed, late]);
}
