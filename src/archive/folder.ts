/** The folder of an export: whole files or none, one writer at a time, and what is wrong told in words. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SettingsError } from '../errors.ts';

const LOCK = '.daywalk-export.lock';
const AGAIN = 'then run the same command again: days that are there are skipped.';

/**
 * Writes a file under another name, brings it to the disk, and gives it its name: after a crash it is there whole or not.
 * @param isWanted asked when it is written; if not, it is removed, and a file that has the name already stays.
 * @throws {SettingsError} where the folder cannot be written or the disk is full; the half file is removed.
 */
export async function writeWhole<T>(
  path: string,
  write: (file: FileHandle) => Promise<T>,
  isWanted: (written: T) => boolean | Promise<boolean> = () => true,
): Promise<T> {
  const half = join(dirname(path), `.${path.split('/').at(-1)}.half`);
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(half, 'w');
    let result: T;
    try {
      result = await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    if (await isWanted(result)) {
      await rename(half, path);
      await syncFolder(dirname(path));
    } else await rm(half);
    return result;
  } catch (error) {
    await rm(half, { force: true }).catch(() => {});
    throw namedFileError(error, path);
  }
}

/** A new name in a folder is only safe when the folder itself is on the disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
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
    await mkdir(folder, { recursive: true });
    for (let attempt = 0; ; attempt++) {
      try {
        const file = await open(path, 'wx');
        await file.writeFile(mine);
        await file.close();
        return () => rm(path, { force: true });
      } catch (error) {
        if (codeOf(error) !== 'EEXIST' || attempt > 0) throw error;
      }
      const holder = await readFile(path, 'utf8');
      if (isAlive(holder))
        throw new SettingsError(`${folder} is being written by another export (${holder.trim()})`, {
          hint: `Wait for it, or write into another folder. If that process is gone, remove ${path}.`,
        });
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

/** The size of a file; null: it is not there. */
export async function sizeOf(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : null;
  } catch {
    return null;
  }
}

/** SHA-256 of a file, hexadecimal. */
export async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
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
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EISDIR':
      return new SettingsError(`${path}: a file stands where a folder is needed, or the reverse`, {
        cause: error,
        hint: 'Name another folder with --out.',
      });
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
