/** `postmaster.pid`, the file in which a running Postgres says who it is, where it listens, and whether it is ready. */
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Folder } from './folder.ts';

/** What a running Postgres says of itself. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** `starting`, `ready`, `stopping`; empty before it has said so. */
  readonly status: string;
}

/** What is in the file; undefined when there is none. */
export async function readPostmasterFile(folder: Folder): Promise<Postmaster | undefined> {
  try {
    const lines = (await readFile(fileIn(folder), 'utf8')).split('\n');
    const pid = Math.abs(Number(lines[0]));
    if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
    return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The Postgres that runs on the data, also when nobody supervises it.
 * Where the machine can tell that the process is not a Postgres (its number was given to another after a crash),
 * the file, which would keep Postgres from starting, is removed.
 */
export async function findPostmaster(folder: Folder): Promise<Postmaster | undefined> {
  const found = await readPostmasterFile(folder);
  if (!found) return undefined;
  const program = programOf(found.pid);
  if (program === 'postgres' || program === 'unknown') return found;
  // A process that is gone may be in another container; that file is for Postgres itself to judge.
  if (program === 'other') await rm(fileIn(folder), { force: true });
  return undefined;
}

/** What a process is, as far as can be told. */
function programOf(pid: number): 'none' | 'postgres' | 'other' | 'unknown' {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'none';
  }
  const said = /\((.*)\) (.)/s.exec(readProcStat(pid));
  if (!said) return 'unknown';
  // A zombie has ended, and waits for a parent that may never ask (in a container without an init).
  return said[1] === 'postgres' && said[2] !== 'Z' ? 'postgres' : 'other';
}

/** Whether the server with this process number still runs. */
export function isAlive(pid: number): boolean {
  const program = programOf(pid);
  return program === 'postgres' || program === 'unknown';
}

function readProcStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

function fileIn(folder: Folder): string {
  return join(folder.data, 'postmaster.pid');
}
