/** Small files that settings name, read whole but never without a bound. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { codeOf } from '../rooted-files.ts';
import { Wrong } from './problems.ts';

/** No settings, key or certificate file is larger (a bundle of authorities has 220 KiB); a device like /dev/zero would have no end. */
const LIMIT = 1024 * 1024;

/** Reads the file at a path; it throws as Node.js does. */
export type ReadFile = (path: string) => Uint8Array;

const pipes = new Map<string, Uint8Array>();

/** Reads up to one byte more than a file may have. A pipe, as `<(vault read key)`, can be read only once, and is remembered. */
export const readSmallFile: ReadFile = (path) => {
  const known = pipes.get(path);
  if (known !== undefined) return known;
  const file = openSync(path, 'r');
  try {
    const isFile = fstatSync(file).isFile();
    const buffer = Buffer.alloc(LIMIT + 1);
    let length = 0;
    // From its beginning, whoever read it before: on macOS a file that stands behind /dev/stdin goes on where that ended.
    for (let got = -1; got !== 0 && length < buffer.length; length += got)
      got = readSync(file, buffer, length, buffer.length - length, isFile ? length : null);
    const bytes = buffer.subarray(0, length);
    if (!isFile) pipes.set(path, bytes);
    return bytes;
  } finally {
    closeSync(file);
  }
};

/** The text of the file, as it is now, without the space around it. @throws as Node.js does. */
export const readAgain = (path: string): string =>
  new TextDecoder().decode(readSmallFile(path)).trim();

/** What is wrong with a file that is not there. */
export const MISSING = new Wrong('does not exist');

/** The text of the file, or what is wrong with it. */
export function readText(path: string, readFile: ReadFile): string | Wrong {
  try {
    const bytes = readFile(path);
    if (bytes.length > LIMIT) return new Wrong(`is larger than ${LIMIT / 1024} KiB`);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const code = codeOf(error) ?? 'unknown reason';
    // A secret in place of a path may be longer than the name of any file.
    if (code === 'ENOENT' || code === 'ENAMETOOLONG') return MISSING;
    return new Wrong(REASONS[code] ?? `cannot be read (${code})`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'does not exist: part of its path is a file',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  ELOOP: 'is a link that leads back to itself',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
};
