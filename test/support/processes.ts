/** The processes of this machine, as /proc of Linux shows them. */
import { readdirSync, readFileSync } from 'node:fs';

/** A process, with its command line. */
interface Seen {
  readonly pid: number;
  readonly line: string;
}

/** The processes whose command line holds all of `parts`. At once: a tenth of the work of waiting for each file. */
export function processesWith(...parts: readonly string[]): Seen[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), line: commandLine(name) }))
    .filter(({ line }) => parts.every((part) => line.includes(part)));
}

/** The command lines that name this folder, but for our own. */
export function processesOf(folder: string): string[] {
  return processesWith(folder).flatMap(({ pid, line }) =>
    pid === process.pid ? [] : [line.replaceAll('\0', ' ')],
  );
}

/** Empty: the process has ended meanwhile, or is one of the kernel. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
