/** Where tiered days are kept: a folder or a bucket, as one thing. Keys have `/` between their parts, and begin with none. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { systemClock } from '../clock.ts';
import { ObjectStoreError, SettingsError } from '../errors.ts';
import { codeOf } from '../rooted-files.ts';
import { printable } from '../text.ts';

/** What is written: small things as bytes, large ones as a file of this machine, so that memory stays flat. */
export type ObjectBody =
  | Buffer
  | {
      readonly bytes: number;
      /** Hexadecimal, of all of them. */
      readonly sha256: string;
      /** @param end is exclusive. */
      read(start: number, end: number): Promise<Buffer>;
    };

/** Some bytes of an object; `end` is exclusive and more than `start`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A folder, or a bucket with a prefix; nobody lists what is in it. Everything that it cannot do for a moment is tried again inside. */
export interface ObjectStore {
  /** For people, without secrets: `s3://bucket/prefix`, or a folder. */
  readonly name: string;
  /**
   * Writes an object that must not be there yet; whole or not at all, and on the disk, when this returns.
   * @returns exists: another call has written the key, be it with the same bytes. Of any number of calls at a time one gets
   *   `created`, also where the answer to its first attempt was lost.
   * @throws {ObjectStoreError} where it cannot be written.
   */
  create(key: string, body: ObjectBody, signal: AbortSignal): Promise<'created' | 'exists'>;
  /** Writes an object in place of the one that is there, whole or not at all. */
  replace(key: string, body: Buffer, signal: AbortSignal): Promise<void>;
  /**
   * Reads an object, or a range of its bytes.
   * @param range of what lies behind the object's end nothing comes.
   * @returns null: there is none of this key.
   */
  read(key: string, signal: AbortSignal, range?: ByteRange): Promise<Buffer | null>;
  /** @returns its size in bytes; null: there is none of this key. */
  size(key: string, signal: AbortSignal): Promise<number | null>;
  /** Removes an object; one that is not there is no error. */
  remove(key: string, signal: AbortSignal): Promise<void>;
}

/** Keys of objects that only try a store out begin so. */
export const CHECK_FOLDER = 'daywalk-check/';

/** What a file system takes as a name, and what S3 takes as a key. */
const MOST_BYTES = { part: 255, key: 900 };

/**
 * Whether a folder and a bucket can both have an object of this key. Names that begin with a dot are the folder's own.
 * @throws {ObjectStoreError} for what is none: a way out of the store.
 */
export function checkKey(store: string, key: string): void {
  const isName = (part: string) =>
    part !== '' && !part.startsWith('.') && Buffer.byteLength(part) <= MOST_BYTES.part;
  const isWritable = Buffer.byteLength(key) <= MOST_BYTES.key && printable(key) === key;
  if (isWritable && key.split('/').every(isName)) return;
  throw new ObjectStoreError(
    'settings',
    `${store}: no object can have the key ${JSON.stringify(key)}`,
  );
}

const PIECE_BYTES = 256 * 1024;

/** How many bytes it has. */
export const bytesOf = (body: ObjectBody): number =>
  Buffer.isBuffer(body) ? body.length : body.bytes;

/** Its SHA-256, hexadecimal. */
export const digestOf = (body: ObjectBody): string =>
  Buffer.isBuffer(body) ? createHash('sha256').update(body).digest('hex') : body.sha256;

/**
 * The body from its beginning, however often.
 * @throws {SettingsError} where it cannot be read: an error of the file system must not be taken for one of the connection.
 */
export async function* piecesOf(body: ObjectBody): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(body)) yield body;
  else
    for (let start = 0; start < body.bytes; start += PIECE_BYTES)
      yield await body
        .read(start, Math.min(start + PIECE_BYTES, body.bytes))
        .catch((cause: unknown) => {
          const why = codeOf(cause) ?? 'it is shorter than it was';
          throw new SettingsError(`what was made in ${tmpdir()} cannot be read (${why})`, {
            cause,
          });
        });
}

/** The bytes of a file from `start` to `end`, which is exclusive and not behind its end. */
export async function readFrom(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const part = Buffer.allocUnsafe(end - start);
  for (let at = 0; at < part.length; ) {
    const { bytesRead } = await file.read(part, at, part.length - at, start + at);
    if (bytesRead === 0) throw new Error('a file became shorter while it was read');
    at += bytesRead;
  }
  return part;
}

/**
 * Writes a small object, another one of the same key, reads and removes it, and asks for what is not there any more.
 * @throws {ObjectStoreError} where the second one took effect, or anything else is not as it must be.
 */
export async function checkStore(store: ObjectStore, signal: AbortSignal): Promise<void> {
  const key = `${CHECK_FOLDER}${systemClock.uuid()}`;
  const [first, second] = [Buffer.from(`daywalk was here: ${key}`), Buffer.from('not to be kept')];
  const check = (holds: boolean | undefined, otherwise: string, hint: string) => {
    if (!holds) throw new ObjectStoreError('settings', `${store.name}: ${otherwise}`, { hint });
  };
  try {
    check(
      (await store.create(key, first, signal)) === 'created',
      'a new object is said to have been there',
      'The store does not keep the metadata of objects (x-amz-meta-…), or answers out of a cache.',
    );
    check(
      (await store.create(key, second, signal)) === 'exists' &&
        (await store.read(key, signal))?.equals(first),
      'a second object of the same key took the place of the first',
      'The store ignores conditional writes (If-None-Match: *), without which two workers may overwrite each other: take a newer version of it, or another one.',
    );
    const range = await store.read(key, signal, { start: 8, end: 16 });
    check(
      range?.equals(first.subarray(8, 16)) && (await store.size(key, signal)) === first.length,
      'an object that was just written is not read as it is',
      'The store must show every object as soon as it is written: is there a cache on the way?',
    );
    await store.remove(key, signal);
    check(
      (await store.read(key, signal)) === null,
      'an object that was removed is still there',
      'Is there a cache on the way?',
    );
  } catch (error) {
    const isAway = error instanceof ObjectStoreError && error.fault === 'away';
    if (!isAway) await store.remove(key, signal).catch(() => {});
    throw error;
  }
}
