/** The processes of this machine, as /proc of Linux shows them. */
import { readdir, readFile } from 'node:fs/promises';

/** The command lines that name this folder. */
export async function processesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(folder)) found.push(line.replaceAll('\0', ' '));
  }
  return found;
}
