/** The folder of an embedded Postgres (`.daywalk/`): what lies where in it, and who may use it. */
import { constants } from 'node:fs';
import { access, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingsError } from '../../errors.ts';
import { accountName } from './passwd.ts';

/** What the operator can always do instead of using the embedded Postgres. */
export const OWN_DATABASE_HINT =
  'set DATABASE_URL=postgres://user:password@host/database to use a Postgres of your own';

/** The places in the folder, as absolute paths. */
export interface Folder {
  /** The folder itself, without symbolic links: the same string in every process that uses it. */
  readonly path: string;
  /** The cluster of Postgres. It has this name only once it is complete. */
  readonly data: string;
  /** The password of the database user, in a file that only its owner can read. */
  readonly password: string;
  /** The port that was used last; it is tried first, so that the URL stays the same. */
  readonly port: string;
  /** What the supervisor and Postgres say. */
  readonly log: string;
  /** Links to the shared libraries, where they cannot be made beside the libraries. */
  readonly libraries: string;
}

/** The places in `path`, which must be free of symbolic links. */
export function placesIn(path: string): Folder {
  return {
    path,
    data: join(path, 'data'),
    password: join(path, 'password'),
    port: join(path, 'port'),
    log: join(path, 'postgres.log'),
    libraries: join(path, 'lib'),
  };
}

/**
 * Makes the folder where it is missing, and checks that this user may use it.
 * @throws SettingsError naming the owner, if the folder or what is in it belongs to someone else.
 */
export async function openFolder(directory: string): Promise<Folder> {
  const uid = process.getuid?.();
  try {
    // Root lets an unprivileged account run Postgres in here: it must be able to pass, not to look.
    await mkdir(directory, { recursive: true, mode: uid === 0 ? 0o711 : 0o700 });
  } catch (cause) {
    throw new SettingsError(`the folder ${directory} cannot be made: ${reasonOf(cause)}`, {
      hint: `make it writable, or ${OWN_DATABASE_HINT}`,
      cause,
    });
  }
  const folder = placesIn(await realpath(directory));
  if (uid !== undefined && uid !== 0) await assertOurs(folder, uid);
  await writeFile(join(folder.path, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined);
  return folder;
}

async function assertOurs(folder: Folder, uid: number): Promise<void> {
  for (const path of [folder.data, folder.password, folder.log, folder.path]) {
    const owner = await stat(path).then(
      (found) => found.uid,
      () => uid,
    );
    if (owner === uid) continue;
    if (path === folder.path && (await mayUse(path))) continue;
    throw new SettingsError(
      `${path} belongs to ${await accountName(owner)}, and daywalk runs as ${await accountName(uid)}`,
      {
        hint: `run daywalk as the user who made ${folder.path} (root for one made with sudo or in a container), or ${OWN_DATABASE_HINT}`,
      },
    );
  }
}

function mayUse(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The password of the database user.
 * @throws SettingsError if it is gone, for example because the folder was emptied by hand.
 */
export async function readPassword(folder: Folder): Promise<string> {
  try {
    return (await readFile(folder.password, 'utf8')).trim();
  } catch (cause) {
    throw new SettingsError(
      `the password of the embedded Postgres cannot be read: ${reasonOf(cause)}`,
      { hint: `restore ${folder.password}, or ${OWN_DATABASE_HINT}`, cause },
    );
  }
}

/** The last lines that were written to the log after it was `from` bytes long; for error messages. */
export async function lastLines(folder: Folder, from: number, lines = 8): Promise<string> {
  const text = await readFile(folder.log).catch(() => Buffer.alloc(0));
  return text.subarray(from).toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
}

/** What an error says, for a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
