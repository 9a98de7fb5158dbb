/** Starting the supervisor as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { open, rename, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SettingsError } from '../../errors.ts';
import { type Folder, lastLines, OWN_DATABASE_HINT, reasonOf } from './folder.ts';

const LOG_LIMIT = 5_000_000;

/** A supervisor that was started; it may have ended again, if another was first. */
export interface SupervisorProcess {
  readonly ended: boolean;
  /** Throws when it ended because it failed. */
  assertNotFailed(): Promise<void>;
}

/** Starts a supervisor for the folder, independent of this process and of its terminal. */
export async function spawnSupervisor(folder: Folder): Promise<SupervisorProcess> {
  const log = await openLog(folder);
  const logStart = (await log.stat()).size;
  let child: ChildProcess;
  try {
    child = spawn(process.execPath, [supervisorFile(), folder.path], {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      cwd: folder.path,
      // Our environment holds secrets, which are none of its business.
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    });
  } finally {
    await log.close();
  }
  child.unref();
  let failure: string | undefined;
  let ended = false;
  child.once('error', (error) => {
    ended = true;
    failure = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = true;
    if (code !== 0) failure = `it ended with ${signal ?? `code ${code}`}`;
  });
  return {
    get ended() {
      return ended;
    },
    async assertNotFailed() {
      if (failure === undefined) return;
      throw new SettingsError(
        `the embedded Postgres could not be started: ${failure}; its last words, from ${folder.log}:\n${await lastLines(folder, logStart)}`,
        { hint: OWN_DATABASE_HINT },
      );
    },
  };
}

async function openLog(folder: Folder) {
  try {
    const { size } = await stat(folder.log).catch(() => ({ size: 0 }));
    if (size > LOG_LIMIT) await rename(folder.log, `${folder.log}.1`);
    return await open(folder.log, 'a', 0o600);
  } catch (cause) {
    throw new SettingsError(
      `the log of the embedded Postgres cannot be opened: ${reasonOf(cause)}`,
      {
        hint: `make it writable, or ${OWN_DATABASE_HINT}`,
        cause,
      },
    );
  }
}

/** The built supervisor; Node 20 cannot run the source, from which the tests run the rest. */
function supervisorFile(): string {
  const built = import.meta.url.endsWith('.ts')
    ? new URL('../../../dist/store/embedded/supervisor.js', import.meta.url)
    : new URL('./supervisor.js', import.meta.url);
  return fileURLToPath(built);
}
