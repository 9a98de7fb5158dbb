/** Objects in a folder: each a file, written under a hidden name first, so that after a crash it is there whole or not. */
import { link, lstat, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { DaywalkError, ObjectStoreError } from '../errors.ts';
import {
  codeOf,
  FULL_DISK,
  inFolderOf,
  unlinkIfThere,
  withFile,
  writeNew,
} from '../rooted-files.ts';
import { piecesOf, readPart } from './object-body.ts';
import { checkKey, type ObjectBody, type ObjectStore } from './object-store.ts';

const HALF = '.half';
/** A writer that lives touches its half file more often. */
const STALE_MS = 3_600_000;

/** Opens the store below `root`, which is made with the first object. */
export function openFolderStore(root: string, clock: Clock): ObjectStore {
  const named = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    checkKey(root, key);
    return work().catch((error: unknown) => {
      throw storeError(error, join(root, key));
    });
  };
  return {
    name: root,
    create: (key, body, signal) =>
      named(key, () =>
        throughHalf({ root, key, body, signal, clock }, async (half, file) => {
          try {
            await link(half, file);
            return 'created';
          } catch (error) {
            if (codeOf(error) !== 'EEXIST') throw error;
            return 'exists';
          }
        }),
      ),
    replace: (key, body, signal) =>
      named(key, () => throughHalf({ root, key, body, signal, clock }, rename)),
    read: (key, signal, range) =>
      named(key, () =>
        withFile(root, key, (file, size) => {
          signal.throwIfAborted();
          const { start, end } = range ?? { start: 0, end: size };
          return readPart(file, Math.min(start, size), Math.min(end, size));
        }),
      ).catch(nullIfAbsent),
    size: (key) =>
      named(key, () => withFile(root, key, async (_, size) => size)).catch(nullIfAbsent),
    remove: async (key) => {
      await named(key, () =>
        inFolderOf(root, key, { make: false }, async (file, folder) => {
          await unlinkIfThere(file);
          await folder.handle.sync();
        }),
      ).catch(nullIfAbsent);
    },
  };
}

interface Writing {
  readonly root: string;
  readonly key: string;
  readonly body: ObjectBody;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Writes a half file that nobody else has, lets `settle` give it the key's name, and takes it away where it still is. */
function throughHalf<T>(
  { root, key, body, signal, clock }: Writing,
  settle: (half: string, file: string) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  return inFolderOf(root, key, { make: true }, async (file, folder) => {
    await removeStale(folder.path, clock);
    const half = join(folder.path, `.${clock.uuid()}${HALF}`);
    try {
      await writeNew(half, async (handle) => {
        for await (const piece of piecesOf(body)) {
          signal.throwIfAborted();
          // Behind what is there.
          await handle.writeFile(piece);
        }
      });
      return await settle(half, file);
    } finally {
      await unlinkIfThere(half).catch(() => {});
      // A new name in a folder is only safe when the folder itself is on the disk.
      await folder.handle.sync();
    }
  });
}

/** Removes what killed processes left in a folder. */
async function removeStale(folder: string, clock: Clock): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith('.') && name.endsWith(HALF)) {
      const half = join(folder, name);
      const found = await lstat(half).catch(() => null);
      if (found !== null && found.mtimeMs < clock.now() - STALE_MS) await unlinkIfThere(half);
    }
}

function nullIfAbsent(error: unknown): null {
  const cause = error instanceof ObjectStoreError ? error.cause : error;
  if (codeOf(cause) === 'ENOENT') return null;
  throw error;
}

/** What went wrong with a file, and what to do about it; errors that are none of files stay as they are. */
function storeError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (error instanceof DaywalkError || code === undefined || !/^E[A-Z0-9]+$/.test(code))
    return error;
  const settings = (message: string, hint: string) =>
    new ObjectStoreError('settings', message, { cause: error, hint });
  if (FULL_DISK.includes(code))
    return settings(`no space is left for ${path}`, 'Make room, and run the same again.');
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTSUP', 'EMLINK', 'EXDEV'].includes(code))
    return settings(
      `${path} may not be read or written (${code})`,
      'Give this user the right to it. The file system must know hard links; most know them, FAT does not.',
    );
  if (['ELOOP', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENAMETOOLONG'].includes(code))
    return settings(
      `${path}: a file or a link stands where a folder is needed, or the reverse`,
      'Nothing but daywalk should write into this folder.',
    );
  return new ObjectStoreError('away', `${path} cannot be read or written (${code})`, {
    cause: error,
  });
}
