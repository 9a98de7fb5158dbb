/** The folder of an export: whole files or none, no link followed, and what is wrong told in words. */
import { createHash } from 'node:crypto';
import { type FileHandle, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SettingsError } from '../errors.ts';
import { codeOf, fileProblem, throughHalf, withFile } from '../rooted-files.ts';
import type { Written } from '../written.ts';

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

/** The size of a file below `root`; null: it is not there. */
export async function sizeOf(root: string, path: string): Promise<number | null> {
  return withFile(root, path, async (_, size) => size).catch(() => null);
}

/** SHA-256 of a file below `root`, hexadecimal. */
export async function digestOfFile(root: string, path: string): Promise<string> {
  return withFile(root, path, async (file) => {
    const hash = createHash('sha256');
    await pipeline(file.createReadStream({ autoClose: false }), hash);
    return hash.digest('hex');
  });
}

/**
 * What is wrong with a file below `root`, as words behind its name; null: it is what was written.
 * @param isRead whether all of it is read; otherwise its size tells.
 */
export async function faultOf(
  root: string,
  { path, bytes, sha256 }: Pick<Written, 'bytes' | 'sha256'> & { readonly path: string },
  isRead = true,
): Promise<string | null> {
  if ((await sizeOf(root, path)) !== bytes) return 'is gone, or has another size';
  return isRead && (await digestOfFile(root, path)) !== sha256 ? 'is not what was written' : null;
}

/** What went wrong with a file, and what to do about it; errors that are none of files stay as they are. */
export function namedFileError(error: unknown, path: string): unknown {
  const problem = fileProblem(error, path);
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
