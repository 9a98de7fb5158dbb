/** Where tiered days are kept: a folder or a bucket, as one thing. Keys have `/` between their parts, and begin with none. */
import { ObjectStoreError } from '../errors.ts';
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
   * @param range `end` is exclusive and more than `start`; of what lies behind the object's end nothing comes.
   * @returns null: there is none of this key.
   */
  read(
    key: string,
    signal: AbortSignal,
    range?: { readonly start: number; readonly end: number },
  ): Promise<Buffer | null>;
  /** @returns its size in bytes; null: there is none of this key. */
  size(key: string, signal: AbortSignal): Promise<number | null>;
  /** Removes an object; one that is not there is no error. */
  remove(key: string, signal: AbortSignal): Promise<void>;
}

/** Keys of objects that only try a store out begin so. */
export const CHECK_FOLDER = 'daywalk-check/';

/** What a file system takes as a name, and what S3 takes as a key. */
const MOST_BYTES = { part: 255, key: 900 };

/** Whether a folder and a bucket can both have an object of this key. Names that begin with a dot are the folder's own. */
export function isKey(key: string): boolean {
  const isName = (part: string) =>
    part !== '' && !part.startsWith('.') && Buffer.byteLength(part) <= MOST_BYTES.part;
  const isWritable = Buffer.byteLength(key) <= MOST_BYTES.key && printable(key) === key;
  return isWritable && key.split('/').every(isName);
}

/** @throws {ObjectStoreError} for what is none: a way out of the store. */
export function checkKey(store: string, key: string): void {
  if (!isKey(key))
    throw new ObjectStoreError(
      'settings',
      `${store}: no object can have the key ${JSON.stringify(key)}`,
    );
}
