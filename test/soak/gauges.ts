/** What a process holds: memory, files, connections and timers, read from outside as far as that goes. */
import { readdir, readFile } from 'node:fs/promises';
import type { PlanCost } from './plan-cost.ts';

/** One reading. */
export interface Reading extends PlanCost {
  readonly minute: number;
  /** Simulated days so far. */
  readonly days: number;
  /** Megabytes in memory; of these live on the heap after a collection, and outside of it. */
  readonly rss: number;
  readonly heap: number;
  readonly external: number;
  readonly connections: number;
  readonly files: number;
  readonly timers: number;
}

const MB = 1024 * 1024;

/** Reads a process; `gauge` is the file that its preload writes. */
export async function readProcess(
  pid: number,
  gauge: string,
): Promise<Pick<Reading, 'rss' | 'heap' | 'external' | 'files' | 'timers'>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const own = JSON.parse(await readFile(gauge, 'utf8').catch(() => '{}'));
  return {
    rss: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024),
    heap: Math.round((own.heap ?? 0) / MB),
    external: Math.round((own.external ?? 0) / MB),
    files: (await readdir(`/proc/${pid}/fd`)).length,
    timers: own.timers ?? 0,
  };
}

/** What grows from the first half of the readings, without the first of all, to the second: the largest of each. */
export function growth(
  readings: readonly Reading[],
  of: Exclude<keyof Reading, 'minute' | 'days' | keyof PlanCost>,
): { readonly first: number; readonly second: number } {
  const settled = readings.slice(Math.min(2, Math.floor(readings.length / 4)));
  const middle = Math.floor(settled.length / 2);
  const most = (part: readonly Reading[]) => Math.max(...part.map((reading) => reading[of]));
  return { first: most(settled.slice(0, middle)), second: most(settled.slice(middle)) };
}
