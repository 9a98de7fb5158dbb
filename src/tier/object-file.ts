/** An object that is Parquet: read by ranges, and whole to see that it holds what was written. */
import { createHash } from 'node:crypto';
import { ObjectStoreError } from '../errors.ts';
import type { RangedBytes } from '../parquet/read.ts';
import { type FileLine, LineDigest, type Written } from '../written.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * An object as something that is read by ranges.
 * @throws {ObjectStoreError} where there is no such object; so does reading it.
 */
export async function openObject(
  store: ObjectStore,
  key: string,
  signal: AbortSignal,
): Promise<RangedBytes> {
  const bytes = await store.size(key, signal);
  if (bytes === null) throw missingObject(store, key);
  return {
    bytes,
    async read(start, end) {
      const part = await store.read(key, signal, { start, end });
      if (part?.length !== end - start) throw missingObject(store, key);
      return part;
    },
  };
}

/** What somebody removed or changed. */
export const missingObject = (store: ObjectStore, key: string): ObjectStoreError =>
  new ObjectStoreError('settings', `${store.name} has no whole object ${key}`, {
    hint: 'Somebody removed or changed it: put it back from a copy of the folder or bucket.',
  });

/**
 * Reads an object whole.
 * @returns what {@link writeEvents} or {@link writePages} told of it, if it is what they wrote.
 */
export async function readBack(
  read: (onBytes: (bytes: Buffer) => void) => AsyncIterable<readonly FileLine[]>,
): Promise<Written> {
  const hash = createHash('sha256');
  const lines = new LineDigest();
  let bytes = 0;
  const rows = read((part) => {
    hash.update(part);
    bytes += part.length;
  });
  for await (const group of rows) lines.take(group);
  return { ...lines.end(), bytes, sha256: hash.digest('hex') };
}
