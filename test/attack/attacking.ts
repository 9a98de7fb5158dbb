/** How attacks are tried: all tries in `npm run attack`, some of them in `npm test`; what came of them is noted. */
import { appendFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import type { Came } from './collect.ts';

/** One try; it throws where something did not hold. */
export interface Try {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  /** How many hostile requests, connections or statements it is; 1 otherwise. */
  readonly count?: number;
}

/** All that did not hold is told, not the first only; but no more than this of it. */
const MOST_TOLD = 20;

/**
 * Makes a test of an attack.
 * @param what a phrase for the table.
 * @param make prepares, and gives the tries.
 * @param some how many of them, evenly chosen, are enough in `npm test`.
 */
export function attack(
  what: string,
  make: () => readonly Try[] | Promise<readonly Try[]>,
  some = 10,
): void {
  test(what, async () => {
    const file = inject('attackFigures');
    const failed: string[] = [];
    let [tried, broken] = [0, 0];
    const perform = async ({ name, run, count = 1 }: Try): Promise<void> => {
      tried += count;
      try {
        await run();
      } catch (error) {
        broken += count;
        failed.push(`${name}: ${error instanceof Error ? error.message : error}`);
      }
    };
    const tries: Try[] = [];
    await perform({ name: 'preparing', count: 0, run: async () => tries.push(...(await make())) });
    const step = file === undefined ? Math.max(1, tries.length / some) : 1;
    for (let at = 0; at < tries.length; at += step) await perform(tries[Math.floor(at)] as Try);
    const came: Came = { what, tried, held: failed.length === 0 ? tried : tried - broken };
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(came)}\n`);
    expect(failed.slice(0, MOST_TOLD), `${failed.length} did not hold`).toEqual([]);
    expect(tried).toBeGreaterThan(0);
  });
}
