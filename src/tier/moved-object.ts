/** Writes an object of a day: into a file of this machine first, then into the store, then it is read back by another reader. */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import { ObjectStoreError, SettingsError } from '../errors.ts';
import { fileProblem } from '../rooted-files.ts';
import type { MovedDay } from '../store/moved-days.ts';
import type { Written } from '../written.ts';
import type { ObjectKind } from './day-objects.ts';
import type { TierParts } from './moved-log.ts';
import { isSpoiled, readBack } from './object-file.ts';
import { readFrom } from './object-store.ts';

/** Objects that a killed attempt may have left under the names that are tried. */
const MOST_ATTEMPTS = 100;

/**
 * Writes an object, or finds it as an earlier attempt left it: none is written over, so that each attempt has a key of its own.
 * @param count how many rows there must be.
 * @returns null: what came to be written is not all of it, and was not sent.
 * @throws {ObjectStoreError} where the store does not give back what was written.
 */
export async function writeObject<Row>(
  { store, clock, signal }: Pick<TierParts, 'store' | 'clock' | 'signal'>,
  { stream, day, publication }: Pick<MovedDay, 'stream' | 'day' | 'publication'>,
  { keyOf, write, read }: ObjectKind<Row>,
  rows: AsyncIterable<readonly Row[]>,
  count: number,
): Promise<(Written & { readonly key: string }) | null> {
  const file = await openTemporary(clock);
  try {
    const written = await write(file, rows, signal).catch((cause: unknown) => {
      throw fileProblem(cause, tmpdir())?.kind === 'full' ? noRoom(cause) : cause;
    });
    if (written.records !== count) return null;
    const { bytes, sha256 } = written;
    const body = { bytes, sha256, read: readFrom.bind(null, file) };
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      const name = attempt === 1 ? publication : `${publication}-${attempt}`;
      const key = keyOf(stream, day, name);
      const created = await store.create(key, body, signal);
      const found = await readBack(read, store, key, signal).catch((error: unknown) => {
        if (created === 'exists' && isSpoiled(error)) return null;
        throw error;
      });
      if (isDeepStrictEqual(written, found)) return { key, ...written };
      if (created === 'created')
        throw new ObjectStoreError(
          'settings',
          `${store.name} gives back another ${key} than was written`,
          {
            hint: 'Nothing was removed here. Is there a cache on the way, or does something change objects?',
          },
        );
    }
    throw new ObjectStoreError(
      'settings',
      `${store.name} has other objects under every name of ${keyOf(stream, day, publication)}`,
    );
  } finally {
    await file.close();
  }
}

/** A file that has no name any more: however this process ends, nothing of it is left. */
async function openTemporary(clock: Clock): Promise<FileHandle> {
  const root = tmpdir();
  try {
    const path = join(root, `daywalk-tier-${clock.uuid()}`);
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return file;
  } catch (cause) {
    throw new SettingsError(`${root} cannot be written: the objects of a day are made there`, {
      cause,
      hint: ELSEWHERE,
    });
  }
}

const ELSEWHERE =
  'Name another folder with the environment variable TMPDIR; it needs room for the largest day.';

const noRoom = (cause: unknown): SettingsError =>
  new SettingsError(`no space is left in ${tmpdir()}: the objects of a day are made there`, {
    cause,
    hint: ELSEWHERE,
  });
