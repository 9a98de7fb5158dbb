/** What the processes of a Postgres on this machine have worked so far, as Linux tells; those that have ended, too. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever the kernel was built with (`man 5 proc`, sysconf(_SC_CLK_TCK)). */
const TICK_MS = 10;

interface Stat {
  readonly name: string;
  readonly parent: number;
  readonly ownMs: number;
  /** Of children that have ended. */
  readonly endedMs: number;
}

function statOf(pid: string | number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program stands in parentheses and may hold anything.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [
      fields[1],
      ...fields.slice(11, 15),
    ];
    return {
      name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
      parent,
      ownMs: (user + system) * TICK_MS,
      endedMs: (endedUser + endedSystem) * TICK_MS,
    };
  } catch {
    // No such process, or not any more.
    return null;
  }
}

/**
 * Milliseconds of CPU that a server and all its processes have used.
 * @param backend the process of one of its connections.
 * @returns null where that cannot be told: another machine, or no Linux.
 */
export function postgresCpuMs(backend: number): number | null {
  const postmaster = statOf(backend)?.parent;
  if (postmaster === undefined) return null;
  const server = statOf(postmaster);
  if (server?.name !== 'postgres') return null;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => statOf(pid) ?? [])
    .filter(({ parent }) => parent === postmaster);
  return children.reduce((sum, { ownMs }) => sum + ownMs, server.ownMs + server.endedMs);
}
