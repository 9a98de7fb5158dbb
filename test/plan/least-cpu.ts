/** What pieces of work cost the processor, whatever else this machine does. */

const ROUNDS = 5;

/**
 * Lets the pieces take turns. @returns for each the milliseconds of its quickest run: what the others took more is the
 * machine's. A bound between two pieces is far from both: a machine that is busy doubles one of them, and what grows with
 * the square of ten years costs ten times as much.
 */
export function leastCpu<Name extends string>(
  pieces: Readonly<Record<Name, () => unknown>>,
): Record<Name, number> {
  const least = {} as Record<Name, number>;
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, work] of Object.entries(pieces) as [Name, () => unknown][]) {
      const before = process.cpuUsage();
      work();
      const took = process.cpuUsage(before).user / 1000;
      least[name] = Math.min(least[name] ?? took, took);
    }
  return least;
}
