/** The folder of an embedded Postgres (`.daywalk/`): what lies where in it, and the proof that nobody else can reach into it. */
import { existsSync } from 'node:fs';
import { lstat, mkdir, open, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresError, explained, hasCode } from './errors.ts';
import { accountName } from './passwd.ts';

/** Tells one file or folder from any other, also after it was moved or removed. */
export interface Identity {
  readonly dev: number;
  readonly ino: number;
}

const LOG_LIMIT = 5_000_000;

/** The places in the folder, as absolute paths. */
export type Folder = ReturnType<typeof placesIn>;

/** The places in `path`, which must be free of symbolic links. */
export const placesIn = (path: string) => ({
  /** The folder itself, without symbolic links: the same string in every process that uses it. */
  path,
  /** The cluster of Postgres, with its socket. It has this name only once it is complete. */
  data: join(path, 'data'),
  /** Who may connect, for Postgres; written anew at each start. */
  hba: join(path, 'pg_hba.conf'),
  /** Which account of this machine that is. */
  ident: join(path, 'pg_ident.conf'),
  /** What Postgres and its watcher say. */
  log: join(path, 'postgres.log'),
  /** Links to the shared libraries of Postgres. */
  libraries: join(path, 'lib'),
});

/**
 * Makes the folder where it is missing.
 * @throws {EmbeddedPostgresError} if it is another user's, or others can change what is in it.
 */
export async function openFolder(directory: string): Promise<Folder> {
  const uid = process.geteuid?.();
  if (uid === undefined)
    throw new EmbeddedPostgresError('the embedded Postgres does not exist for Windows');
  await explained(
    // Root lets another account run Postgres in here: it must be able to pass, not to look.
    makeFolders(resolve(directory), uid === 0 ? 0o711 : 0o700),
    `the folder ${directory} cannot be made`,
    'make it writable',
  );
  const folder = placesIn(await realpath(directory));
  const { uid: owner, mode } = await stat(folder.path);
  if (owner !== uid) throw await foreign(folder.path, owner);
  if (mode & 0o022) throw tooOpen(folder.path, 'can be changed by others', mode, 'go-w');
  await assertNotReplaceable(folder.path);
  await writeFile(join(folder.path, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined);
  return folder;
}

/** As `mkdir -p`. Node's own tells ENOENT where a file system is read-only, and never ends where one refuses folders so. */
async function makeFolders(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (hasCode(error, 'EEXIST') && (await stat(path)).isDirectory()) return;
    if (!hasCode(error, 'ENOENT') || existsSync(dirname(path))) throw error;
    await makeFolders(dirname(path), mode);
    await makeFolders(path, mode);
  }
}

/** In a folder above that all may write, anyone could put a folder of his own in the place of ours; in /tmp the sticky bit forbids it. */
async function assertNotReplaceable(path: string): Promise<void> {
  for (let above = dirname(path); ; above = dirname(above)) {
    const { mode } = await stat(above);
    if (mode & 0o002 && !(mode & 0o1000))
      throw tooOpen(above, 'lets everyone replace what is in it', mode, 'o-w');
    if (above === dirname(above)) return;
  }
}

/**
 * Proves that only its owner can enter a folder, before anything is asked of who listens in it.
 * @param wanted its owner; for the data that is this user, or, for root, whoever it was given to.
 * @returns the owner.
 * @throws {EmbeddedPostgresError} if it is a link, another user's, or open to others.
 */
export async function assertPrivate(
  path: string,
  wanted = process.geteuid?.() || undefined,
): Promise<number> {
  const found = await lstat(path);
  if (!found.isDirectory())
    throw new EmbeddedPostgresError(
      `${path} is not a folder (a symbolic link is not followed here)`,
      'remove it',
    );
  if (wanted !== undefined && found.uid !== wanted) throw await foreign(path, found.uid);
  if (found.mode & 0o077) throw tooOpen(path, 'can be entered by others', found.mode, 'go=');
  return found.uid;
}

async function foreign(path: string, owner: number): Promise<EmbeddedPostgresError> {
  const name = await accountName(owner);
  const us = await accountName(process.geteuid?.() ?? 0);
  return new EmbeddedPostgresError(
    `${path} belongs to ${name}, and this program runs as ${us}`,
    `run it as ${name}, or in another folder`,
  );
}

function tooOpen(path: string, how: string, mode: number, change: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `${path} ${how} (mode ${(mode & 0o7777).toString(8)})`,
    `chmod ${change} ${path}`,
  );
}

/** Opens the log to write behind what is there; one that has grown large begins anew. */
export async function openLog({ log }: Folder) {
  const { size } = await stat(log).catch(() => ({ size: 0 }));
  if (size > LOG_LIMIT) await rename(log, `${log}.1`);
  return explained(open(log, 'a', 0o600), `${log} cannot be opened`, 'make it writable');
}

/** The last lines that were written to the log after it was `from` bytes long; for error messages. */
export async function lastLines({ log }: Folder, from: number): Promise<string> {
  const text = await readFile(log).catch(() => Buffer.alloc(0));
  return text.subarray(from).toString('utf8').trimEnd().split('\n').slice(-8).join('\n');
}
