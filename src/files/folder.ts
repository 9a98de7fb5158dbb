/** The folder of an export: whole files or none, one writer at a time, no link followed, and what is wrong told in words. */
import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../clock.ts';
import { SettingsError } from '../errors.ts';
import {
  codeOf,
  FILE_MODE,
  makeFolders,
  problemOf,
  throughHalf,
  withFile,
} from '../rooted-files.ts';

const LOCK = '.daywalk-export.lock';
/** A lock in which nobody has written within this time is nobody's: a machine without power may leave it so. */
const EMPTY_MS = 60_000;

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
    const hidden = `.${path.split('/').at(-1)}.half`;
    return await throughHalf(root, path, hidden, write, async (half, file, written) => {
      if (await isWanted(written)) await rename(half, file);
      return written;
    });
  } catch (error) {
    throw namedFileError(error, join(root, path));
  }
}

/**
 * Takes the folder for this process; the returned function gives it back.
 * @throws {SettingsError} when another process that is alive has it, or it cannot be written.
 */
export async function lockFolder(folder: string, clock: Clock): Promise<() => Promise<void>> {
  const path = join(folder, LOCK);
  try {
    await makeFolders(folder);
    await writeLock(path).catch(async (error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
      await refuseIfHeld(folder, clock);
      await rm(path, { force: true });
      await writeLock(path);
    });
    return () => rm(path, { force: true });
  } catch (error) {
    throw namedFileError(error, folder);
  }
}

/** @throws {SettingsError} where the process that has the lock is alive, or may not have written into it yet. */
async function refuseIfHeld(folder: string, clock: Clock): Promise<void> {
  const lock = await withFile(folder, LOCK, async (file) => ({
    holder: (await file.readFile('utf8')).trim(),
    writtenMs: (await file.stat()).mtimeMs,
  })).catch(() => null);
  // A link is nobody's lock.
  if (lock === null) return;
  const { holder, writtenMs } = lock;
  if (holder === '' ? writtenMs > clock.now() - EMPTY_MS : isAlive(holder))
    throw new SettingsError(
      `${folder} is being written by another export (${holder.slice(0, 100) || 'just begun'})`,
      {
        hint: `Wait for it, or write into another folder. If that process is gone, remove ${join(folder, LOCK)}.`,
      },
    );
}

/** Makes the lock of this process; on a full disk it may be there without its words, and is taken away again. */
async function writeLock(path: string): Promise<void> {
  // Where it cannot be opened, it may be another's.
  const file = await open(path, 'wx', FILE_MODE);
  try {
    await file.writeFile(`${hostname()} ${process.pid}\n`).finally(() => file.close());
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** A process of another machine cannot be asked, so it counts as alive. */
function isAlive(holder: string): boolean {
  const [host, pid] = holder.split(' ');
  if (host !== hostname()) return true;
  if (Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
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

/** What went wrong with a file, and what to do about it; errors that are none of files stay as they are. */
export function namedFileError(error: unknown, path: string): unknown {
  const problem = problemOf(error, path);
  if (problem !== null)
    return new SettingsError(problem.message, { cause: error, hint: HINTS[problem.kind] });
  const code = codeOf(error) ?? '';
  return ['EIO', 'ENXIO', 'ENOENT'].includes(code)
    ? new SettingsError(`${path} cannot be written (${code})`, { cause: error })
    : error;
}

const AGAIN = 'then run the same command again: days that are there are skipped.';
const HINTS = {
  full: `Make room, ${AGAIN}`,
  forbidden: `Give this user the right to it, or name another folder with --out, ${AGAIN}`,
  misplaced: 'Name another folder with --out.',
};
