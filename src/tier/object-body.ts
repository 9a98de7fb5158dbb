/** The bytes of an object that is written: in pieces, so that a large one is never in memory whole. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { SettingsError } from '../errors.ts';
import { codeOf } from '../rooted-files.ts';
import type { ObjectBody } from './object-store.ts';

const PIECE_BYTES = 256 * 1024;

/** How many bytes it has. */
export const bytesOf = (body: ObjectBody): number =>
  Buffer.isBuffer(body) ? body.length : body.bytes;

/** Its SHA-256, hexadecimal. */
export const digestOf = (body: ObjectBody): string =>
  Buffer.isBuffer(body) ? createHash('sha256').update(body).digest('hex') : body.sha256;

/**
 * The body from its beginning, however often.
 * @throws {SettingsError} where the file cannot be read; an error of the program, before the last piece, where it is not
 *   what it was said to be.
 */
export async function* piecesOf(body: ObjectBody): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(body)) {
    yield body;
    return;
  }
  const file = await named(body.path, () => open(body.path, 'r'));
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    let held: Buffer | null = null;
    for (;;) {
      const piece = await named(body.path, () => nextPiece(file));
      if (piece.length === 0) break;
      bytes += piece.length;
      hash.update(piece);
      if (held !== null) yield held;
      held = piece;
    }
    if (bytes !== body.bytes || hash.digest('hex') !== body.sha256)
      throw new Error(`${body.path} is not the file that it was said to be`);
    if (held !== null) yield held;
  } finally {
    await file.close();
  }
}

async function nextPiece(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PIECE_BYTES));
  return buffer.subarray(0, bytesRead);
}

/** An error of the file system must not be taken for one of the connection. */
async function named<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new SettingsError(`${path} cannot be read (${codeOf(cause) ?? 'unknown'})`, { cause });
  }
}
