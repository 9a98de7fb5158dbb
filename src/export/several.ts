/** Works on several things at a time, in order of beginning, until all are done or one fails. */

/**
 * @param most how many at a time.
 * @returns the results in the order of the things.
 * @throws the first error, once what was begun has ended.
 */
export async function several<T, R>(
  things: readonly T[],
  most: number,
  signal: AbortSignal,
  work: (thing: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(things.length);
  let next = 0;
  let failed: { error: unknown } | null = null;
  const worker = async () => {
    while (next < things.length && failed === null) {
      const index = next++;
      try {
        signal.throwIfAborted();
        results[index] = await work(things[index] as T);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(most, things.length)) }, worker));
  const end = failed as { error: unknown } | null;
  if (end !== null) throw end.error;
  return results;
}
