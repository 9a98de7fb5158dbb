/** An object that is Parquet: read by ranges, and whole to see that it holds what was written. */
import { createHash } from 'node:crypto';
import { ObjectStoreError } from '../errors.ts';
import { type RowRange, readParquet } from '../parquet/read.ts';
import type { MovedObject } from '../store/moved-days.ts';
import { type FileLine, type Written, WrittenDigest } from '../written.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * The rows of an object, a row group at a time; see {@link readParquet}.
 * @throws {ObjectStoreError} where it is not there, or cannot be read as what was written.
 */
export async function* readObject<R>(
  store: ObjectStore,
  key: string,
  signal: AbortSignal,
  range?: RowRange,
  onBytes?: (bytes: Buffer) => void,
): AsyncGenerator<R[]> {
  const bytes = await store.size(key, signal);
  if (!bytes) throw spoiledObject(store, key);
  let failure: unknown;
  const read = async (start: number, end: number) => {
    try {
      const part = await store.read(key, signal, { start, end });
      if (part?.length === end - start) return part;
      throw spoiledObject(store, key);
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  try {
    yield* readParquet<R>({ bytes, read }, range, onBytes);
  } catch (cause) {
    throw cause === failure ? cause : spoiledObject(store, key, cause);
  }
}

/** Of one read while an object is compared with its SHA-256. */
const CHECK_BYTES = 8_000_000;

/** Reads an object as bytes, and nothing of what is in it. @throws {ObjectStoreError} where it is not what was written. */
export async function checkObject(
  store: ObjectStore,
  { key, bytes, sha256 }: MovedObject,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256');
  const isWhole = (await store.size(key, signal)) === bytes;
  for (let start = 0; isWhole && start < bytes; start += CHECK_BYTES) {
    const range = { start, end: Math.min(start + CHECK_BYTES, bytes) };
    hash.update((await store.read(key, signal, range)) ?? '');
  }
  if (!isWhole || hash.digest('hex') !== sha256) throw spoiledObject(store, key);
}

/** What somebody removed or changed. */
export const spoiledObject = (store: ObjectStore, key: string, cause?: unknown): ObjectStoreError =>
  new ObjectStoreError('settings', `${store.name} has no whole object ${key}`, {
    hint: 'Is the folder or bucket the right one, and mounted? Otherwise somebody removed or changed it: put it back from a copy.',
    cause,
  });

/** Whether an object is gone, or not what was written; not where the store is away. */
export const isSpoiled = (error: unknown): error is ObjectStoreError =>
  error instanceof ObjectStoreError && error.fault === 'settings';

/** What reads an object of events or of pages, as lines. */
export type ReadLines = (
  ...asked: Parameters<typeof readObject>
) => AsyncIterable<readonly FileLine[]>;

/**
 * Reads an object whole.
 * @returns what {@link ObjectKind.write} told of it, if it is what they wrote.
 */
export async function readBack(
  read: ReadLines,
  store: ObjectStore,
  key: string,
  signal: AbortSignal,
): Promise<Written> {
  const digest = new WrittenDigest();
  const onBytes = (bytes: Buffer) => digest.takeBytes(bytes);
  for await (const lines of read(store, key, signal, undefined, onBytes)) digest.take(lines);
  return digest.end();
}
