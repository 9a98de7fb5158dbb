/** The folder of an export: whole files or none, one writer at a time, no link followed, and what is wrong told in words. */
import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SettingsError } from '../errors.ts';

const LOCK = '.daywalk-export.lock';
const AGAIN = 'then run the same command again: days that are there are skipped.';
/** Events are not for every user of the machine. */
const [FILE_MODE, FOLDER_MODE] = [0o600, 0o700];

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Where a folder that is open has a name that nobody can point elsewhere meanwhile (proc(5)). */
const OPEN_FOLDERS = '/proc/self/fd';
const hasOpenFolders = existsSync(OPEN_FOLDERS);

/** A folder that is open, and a name for it. */
interface Opened {
  readonly handle: FileHandle;
  readonly path: string;
}

/**
 * Opens the folder of a file, and calls `work` with it and the file's path in it.
 * Each folder below `root` is opened in the one before, and is no link: whoever may write there could lead us elsewhere.
 */
async function inFolderOf<T>(
  root: string,
  path: string,
  { make }: { readonly make: boolean },
  work: (file: string, folder: FileHandle) => Promise<T>,
): Promise<T> {
  const names = path.split('/');
  if (names.some((name) => ['', '.', '..'].includes(name)))
    throw new SettingsError(`${path} is no path below ${root}`);
  if (make) await makeFolders(root);
  let folder = await openFolder(root, 0);
  try {
    for (const name of names.slice(0, -1)) {
      const next = join(folder.path, name);
      if (make) await mkdir(next, FOLDER_MODE).catch(unlessThere);
      const inner = await openFolder(next, O_NOFOLLOW);
      await folder.handle.close();
      folder = inner;
    }
    return await work(join(folder.path, names.at(-1) ?? ''), folder.handle);
  } finally {
    await folder.handle.close();
  }
}

async function openFolder(path: string, flags: number): Promise<Opened> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | flags);
  return { handle, path: hasOpenFolders ? `${OPEN_FOLDERS}/${handle.fd}` : path };
}

/** As `mkdir -p`. Node's own tells ENOENT where a file system is read-only. */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path, FOLDER_MODE).catch(unlessThere);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolders(dirname(path));
    await mkdir(path, FOLDER_MODE).catch(unlessThere);
  }
}

function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

/**
 * Writes a file under another name, brings it to the disk, and gives it its name: after a crash it is there whole or not.
 * @param path from `root`, with `/` between its parts.
 * @param isWanted asked when it is written; if not, it is removed, and a file that has the name already stays.
 * @throws {SettingsError} where the folder cannot be written or the disk is full; the half file is removed.
 */
export async function writeWhole<T>(
  root: string,
  path: string,
  write: (file: FileHandle) => Promise<T>,
  isWanted: (written: T) => boolean | Promise<boolean> = () => true,
): Promise<T> {
  try {
    return await inFolderOf(root, path, { make: true }, async (file, folder) => {
      const half = join(file, '..', `.${path.split('/').at(-1)}.half`);
      try {
        const result = await writeNew(half, write);
        if (await isWanted(result)) {
          await rename(half, file);
          // A new name in a folder is only safe when the folder itself is on the disk.
          await folder.sync();
        } else await rm(half);
        return result;
      } catch (error) {
        await rm(half, { force: true }).catch(() => {});
        throw error;
      }
    });
  } catch (error) {
    throw namedFileError(error, join(root, path));
  }
}

/** Writes a file that is not there, or is what a crash or somebody else left: that goes, and is not written into. */
async function writeNew<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    const result = await write(file);
    await file.sync();
    return result;
  } finally {
    await file.close();
  }
}

/**
 * Takes the folder for this process; the returned function gives it back.
 * @throws {SettingsError} when another process that is alive has it, or it cannot be written.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, LOCK);
  const mine = `${hostname()} ${process.pid}\n`;
  try {
    await makeFolders(folder);
    for (let attempt = 0; ; attempt++) {
      try {
        const file = await open(path, 'wx', FILE_MODE);
        await file.writeFile(mine);
        await file.close();
        return () => rm(path, { force: true });
      } catch (error) {
        if (codeOf(error) !== 'EEXIST' || attempt > 0) throw error;
      }
      // A link is nobody's lock.
      const holder = await readText(folder, LOCK).catch(() => null);
      if (holder !== null && isAlive(holder))
        throw new SettingsError(
          `${folder} is being written by another export (${holder.trim().slice(0, 100)})`,
          {
            hint: `Wait for it, or write into another folder. If that process is gone, remove ${path}.`,
          },
        );
      await rm(path, { force: true });
    }
  } catch (error) {
    throw namedFileError(error, folder);
  }
}

/** A process of another machine cannot be asked, so it counts as alive. */
function isAlive(holder: string): boolean {
  const [host, pid] = holder.trim().split(' ');
  if (host !== hostname()) return true;
  if (Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Calls `work` with a file below `root` that is one, and no link, pipe or device. */
function withFile<T>(
  root: string,
  path: string,
  work: (file: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  return inFolderOf(root, path, { make: false }, async (name) => {
    const file = await open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new SettingsError(`${join(root, path)} is no file`);
      return await work(file, found.size);
    } finally {
      await file.close();
    }
  });
}

/** The size of a file below `root`; null: it is not there. */
export async function sizeOf(root: string, path: string): Promise<number | null> {
  return withFile(root, path, async (_, size) => size).catch(() => null);
}

/** The names of files that stand in the folders of days, two below `root`; no link is followed, and what may not be read is not ours. */
export async function filesOfDays(root: string): Promise<Set<string>> {
  const names = new Set<string>();
  const look = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
      if (depth === 0 && entry.isFile()) names.add(entry.name);
      else if (depth > 0 && entry.isDirectory()) await look(join(folder, entry.name), depth - 1);
  };
  await look(root, 2);
  return names;
}

/** SHA-256 of a file below `root`, hexadecimal. */
export async function digestOfFile(root: string, path: string): Promise<string> {
  return withFile(root, path, async (file) => {
    const hash = createHash('sha256');
    await pipeline(file.createReadStream({ autoClose: false }), hash);
    return hash.digest('hex');
  });
}

/** The text of a file below `root`; the error of the file system when it is not there. */
export async function readText(root: string, path: string): Promise<string> {
  return withFile(root, path, (file) => file.readFile('utf8'));
}

/** What went wrong with a file, and what to do about it; errors that are none of files stay as they are. */
export function namedFileError(error: unknown, path: string): unknown {
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new SettingsError(`no space is left for ${path}`, {
        cause: error,
        hint: `Make room, ${AGAIN}`,
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new SettingsError(`${path} may not be written`, {
        cause: error,
        hint: `Give this user the right to write there, or name another folder with --out, ${AGAIN}`,
      });
    case 'ELOOP':
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EISDIR':
    case 'ERR_FS_EISDIR':
      return new SettingsError(
        `${path}: a file or a link stands where a folder is needed, or the reverse`,
        {
          cause: error,
          hint: 'Name another folder with --out.',
        },
      );
    case 'EIO':
    case 'ENXIO':
    case 'ENOENT':
      return new SettingsError(`${path} cannot be written (${codeOf(error)})`, { cause: error });
    default:
      return error;
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
