/** Lists of things that are checked several at a time. */

/**
 * Works on things in order of beginning, until all are done or one fails.
 * @param most how many at a time.
 * @returns the results in the order of the things.
 * @throws the first error, once what was begun has ended.
 */
export async function mapConcurrent<T, R>(
  things: readonly T[],
  most: number,
  signal: AbortSignal,
  work: (thing: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(things.length);
  const left = things.entries();
  const failed = new AbortController();
  const worker = async () => {
    for (const [index, thing] of left) {
      if (failed.signal.aborted) return;
      signal.throwIfAborted();
      results[index] = await work(thing);
    }
  };
  const fail = (error: unknown) => failed.abort(error);
  await Promise.all(Array.from({ length: most }, () => worker().catch(fail)));
  failed.signal.throwIfAborted();
  return results;
}
