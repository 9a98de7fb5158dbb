/** The bytes of an object that is written: in pieces, so that a large one is never in memory whole. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
export async function readPart(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const part = Buffer.allocUnsafe(end - start);
  for (let at = 0; at < part.length; ) {
    const { bytesRead } = await file.read(part, at, part.length - at, start + at);
    if (bytesRead === 0) throw new Error('a file became shorter while it was read');
    at += bytesRead;
  }
  return part;
}
