/** Objects in a folder: each a file, written under a hidden name first, so that after a crash it is there whole or not. */
import { type FileHandle, link, lstat, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { DaywalkError, ObjectStoreError } from '../errors.ts';
import {
  codeOf,
  fileProblem,
  inFolderOf,
  throughHalf,
  unlinkIfThere,
  withFile,
} from '../rooted-files.ts';
import { checkKey, type ObjectBody, type ObjectStore, piecesOf, readFrom } from './object-store.ts';

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
  const place = <T>(
    key: string,
    body: ObjectBody,
    signal: AbortSignal,
    settle: (half: string, file: string) => Promise<T>,
  ): Promise<T> =>
    named(key, async () => {
      signal.throwIfAborted();
      const hidden = `.${clock.uuid()}${HALF}`;
      const write = async (file: FileHandle, folder: string) => {
        await removeStale(folder, hidden, clock);
        for await (const piece of piecesOf(body)) {
          signal.throwIfAborted();
          // Behind what is there.
          await file.writeFile(piece);
        }
      };
      return throughHalf(root, key, hidden, write, settle);
    });
  return {
    name: root,
    create: (key, body, signal) =>
      place(key, body, signal, async (half, file) => {
        try {
          await link(half, file);
          return 'created';
        } catch (error) {
          if (codeOf(error) !== 'EEXIST') throw error;
          return 'exists';
        }
      }),
    replace: (key, body, signal) => place(key, body, signal, rename),
    read: (key, signal, range) =>
      named(key, () =>
        withFile(root, key, (file, size) => {
          signal.throwIfAborted();
          const { start, end } = range ?? { start: 0, end: size };
          return readFrom(file, Math.min(start, size), Math.min(end, size));
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

/** Removes what killed processes left in a folder; not what is written just now, whatever a server of files has for a clock. */
async function removeStale(folder: string, own: string, clock: Clock): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith('.') && name.endsWith(HALF) && name !== own) {
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
  const problem = fileProblem(error, path);
  return problem === null
    ? new ObjectStoreError('away', `${path} cannot be read or written (${code})`, { cause: error })
    : new ObjectStoreError('settings', problem.message, {
        cause: error,
        hint: HINTS[problem.kind],
      });
}

const HINTS = {
  full: 'Make room, and run the same again.',
  forbidden:
    'Give this user the right to it. The file system must know hard links; most know them, FAT does not.',
  misplaced: 'Nothing but daywalk should write into this folder.',
};
