/** Waits for several reads at once, by their names. */
export async function readTogether<Reads extends Readonly<Record<string, Promise<unknown>>>>(
  reads: Reads,
): Promise<{ readonly [Name in keyof Reads]: Awaited<Reads[Name]> }> {
  const found = await Promise.all(Object.values(reads));
  const named = Object.keys(reads).map((name, index) => [name, found[index]]);
  return Object.fromEntries(named);
}
