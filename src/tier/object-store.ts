/** Where tiered days are kept: a folder or a bucket, as one thing. Keys have `/` between their parts, and begin with none. */

/** What is written: small things as bytes, large ones as a file of this machine, so that memory stays flat. */
export type ObjectBody =
  | Buffer
  | {
      readonly path: string;
      readonly bytes: number;
      /** Hexadecimal, of the file. */
      readonly sha256: string;
    };

/** An object as a listing shows it. */
export interface ObjectEntry {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

/** A folder, or a bucket with a prefix. Everything that it cannot do for a moment is tried again inside. */
export interface ObjectStore {
  /** For people, without secrets: `s3://bucket/prefix`, or a folder. */
  readonly name: string;
  /**
   * Writes an object that must not be there yet; whole or not at all, and on the disk, when this returns.
   * @returns exists: another one has the key. The same bytes, from an attempt whose answer was lost, are `created`.
   * @throws {ObjectStoreError} where it cannot be written.
   */
  create(key: string, body: ObjectBody, signal: AbortSignal): Promise<'created' | 'exists'>;
  /** Writes an object in place of the one that is there, whole or not at all. */
  replace(key: string, body: Buffer, signal: AbortSignal): Promise<void>;
  /**
   * Reads an object, or a range of its bytes; `end` is exclusive.
   * @returns null: there is none of this key.
   */
  read(
    key: string,
    signal: AbortSignal,
    range?: { readonly start: number; readonly end: number },
  ): Promise<Buffer | null>;
  /** @returns its size in bytes; null: there is none of this key. */
  size(key: string, signal: AbortSignal): Promise<number | null>;
  /** The objects whose keys begin with a prefix, by key; `after`: only those behind this key. */
  list(prefix: string, signal: AbortSignal, after?: string): AsyncIterable<ObjectEntry>;
  /** Removes an object; one that is not there is no error. */
  remove(key: string, signal: AbortSignal): Promise<void>;
}
