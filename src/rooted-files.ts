/** Files below a folder in which others may write, too: no link is followed on the way to them, and none is written into. */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SettingsError } from './errors.ts';

/** Events are not for every user of the machine. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Where a folder that is open has a name that nobody can point elsewhere meanwhile (proc(5)). */
const OPEN_FOLDERS = '/proc/self/fd';
const hasOpenFolders = existsSync(OPEN_FOLDERS);

/** A folder that is open, and a name for it. */
export interface OpenFolder {
  readonly handle: FileHandle;
  readonly path: string;
}

/**
 * Opens the folder of a file, and calls `work` with it and the file's path in it.
 * Each folder below `root` is opened in the one before, and is no link: whoever may write there could lead us elsewhere.
 * @param how.make folders that are not there are made, and are on the disk as soon as what `work` writes is.
 */
export async function inFolderOf<T>(
  root: string,
  path: string,
  { make }: { readonly make: boolean },
  work: (file: string, folder: OpenFolder) => Promise<T>,
): Promise<T> {
  const names = path.split('/');
  if (names.some((name) => ['', '.', '..'].includes(name)))
    throw new SettingsError(`${path} is no path below ${root}`);
  if (make) await makeFolders(root);
  let folder = await openFolder(root, 0);
  try {
    for (const name of names.slice(0, -1)) {
      const next = join(folder.path, name);
      if (make && (await makeFolder(next))) await folder.handle.sync();
      const inner = await openFolder(next, O_NOFOLLOW);
      await folder.handle.close();
      folder = inner;
    }
    return await work(join(folder.path, names.at(-1) ?? ''), folder);
  } finally {
    await folder.handle.close();
  }
}

async function openFolder(path: string, flags: number): Promise<OpenFolder> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | flags);
  return { handle, path: hasOpenFolders ? `${OPEN_FOLDERS}/${handle.fd}` : path };
}

/** As `mkdir -p`, on the disk. Node's own tells ENOENT where a file system is read-only, and never ends where one refuses folders so. */
export async function makeFolders(path: string): Promise<void> {
  const outer = dirname(path);
  const isMade = await makeFolder(path).catch(async (error: unknown) => {
    if (codeOf(error) !== 'ENOENT' || outer === path) throw error;
    await makeFolders(outer);
    return makeFolder(path);
  });
  if (!isMade) return;
  const { handle } = await openFolder(outer, 0);
  await handle.sync().finally(() => handle.close());
}

/** @returns false: it is there. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, FOLDER_MODE);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

/** Writes a file that is not there, or is what a crash or somebody else left: that goes, and is not written into. */
async function writeNew<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  await unlinkIfThere(path);
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
 * Writes a file under a hidden name, brings it to the disk, and lets `settle` give it its own: after a crash it is there whole or
 * not. What still has the hidden name then goes.
 * @param path from `root`; its folders are made.
 */
export function throughHalf<W, T>(
  root: string,
  path: string,
  hidden: string,
  write: (file: FileHandle, folder: string) => Promise<W>,
  settle: (half: string, file: string, written: W) => Promise<T>,
): Promise<T> {
  return inFolderOf(root, path, { make: true }, async (file, folder) => {
    const half = join(folder.path, hidden);
    try {
      const written = await writeNew(half, (handle) => write(handle, folder.path));
      return await settle(half, file, written);
    } finally {
      await unlinkIfThere(half).catch(() => {});
      // A new name in a folder is only safe when the folder itself is on the disk.
      await folder.handle.sync();
    }
  });
}

export async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
}

/** Calls `work` with a file below `root` that is one, and no link, pipe or device. */
export function withFile<T>(
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

/** The code of an error of the operating system: `ENOENT`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;

/** What is wrong with a file, without what to do about it. */
interface FileProblem {
  readonly kind: 'full' | 'forbidden' | 'misplaced';
  readonly message: string;
}

/** What an error says of a file; null: it is of another kind, or of no file. */
export function fileProblem(error: unknown, path: string): FileProblem | null {
  const code = codeOf(error) ?? '';
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code))
    return { kind: 'full', message: `no space is left for ${path}` };
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTSUP', 'EMLINK', 'EXDEV'].includes(code))
    return { kind: 'forbidden', message: `${path} may not be read or written (${code})` };
  if (['ELOOP', 'ENOTDIR', 'EEXIST', 'EISDIR', 'ERR_FS_EISDIR', 'ENAMETOOLONG'].includes(code)) {
    const found = 'a file or a link stands where a folder is needed, or the reverse';
    return { kind: 'misplaced', message: `${path}: ${found}` };
  }
  return null;
}
