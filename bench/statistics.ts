/** Measuring several things in turn, and what their numbers come to. */

/** What several runs of one thing gave. */
export interface Figure {
  readonly median: number;
  /** The smallest and the largest value. */
  readonly least: number;
  readonly most: number;
  readonly runs: number;
}

/** The median; of an even number of values the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError('a median of no values');
  return (upper + lower) / 2;
}

/** What the values of several runs come to. */
export function figureOf(values: readonly number[]): Figure {
  return {
    median: median(values),
    least: Math.min(...values),
    most: Math.max(...values),
    runs: values.length,
  };
}

/** How far the runs lie apart, as a share of the median; 0: they are all the same, or there was one. */
export function spreadOf({ least, most, median: middle }: Figure): number {
  return middle === 0 ? 0 : (most - least) / middle;
}

/**
 * Runs every contender `rounds` times, in turn, so that what slows the machine for a while slows all of them: each
 * round begins with another one.
 */
export async function inTurn<Name extends string, Result>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<Result>>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    Result[]
  >;
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length] as Name;
      results[name].push(await contenders[name]());
    }
  return results;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Works through the jobs, `width` at a time. */
export async function parallel(
  jobs: readonly (() => Promise<unknown>)[],
  width: number,
): Promise<void> {
  const queue = [...jobs];
  const worker = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) await job();
  };
  await Promise.all(Array.from({ length: width }, worker));
}
