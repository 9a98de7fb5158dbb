/** Where folders go in which servers keep their data: files on a disk cost the kernel far more when they come and go. */
import { statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
const PLENTY = 4 * 2 ** 30;

/** A folder in memory where there is plenty, else that for temporary files. */
export async function roomyFolder(): Promise<string> {
  const room = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return Math.min(room, freemem()) < PLENTY ? tmpdir() : MEMORY;
}
