/** A day as NDJSON: one record or row a line, as Postgres writes it, compressed if asked. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type FileLine, type Written, WrittenDigest } from '../written.ts';

/** Writes the records, as they come, into `file`. */
export async function writeNdjson(
  file: FileHandle,
  chunks: AsyncIterable<readonly FileLine[]>,
  gzip: boolean,
  signal: AbortSignal,
): Promise<Written> {
  const digest = new WrittenDigest();
  const lines = async function* () {
    for await (const records of chunks) yield digest.take(records);
  };
  const source = Readable.from(lines(), { objectMode: false });
  const sink = async (parts: AsyncIterable<Buffer>) => {
    for await (const part of parts) {
      digest.takeBytes(part);
      await file.writeFile(part);
    }
  };
  // Level 6 is twice as slow as 4 here and saves 3 %.
  if (gzip) await pipeline(source, createGzip({ level: 4 }), sink, { signal });
  else await pipeline(source, sink, { signal });
  return digest.end();
}
