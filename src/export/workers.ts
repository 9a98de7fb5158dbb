/** How many windows are worked on at a time: workers that begin one after the other. */

/**
 * Two workers at first; each begins another one when it says that it has something to do, until there are so many. So the
 * first windows do not wait for connections to the database that nobody needs yet.
 * Ends when all have ended.
 * @param work says so by calling `begin`, as often as it likes; does not throw.
 */
export async function workTogether(
  most: number,
  work: (begin: () => void) => Promise<void>,
): Promise<void> {
  const workers: Promise<void>[] = [];
  let begun = 0;
  const begin = (): void => {
    if (begun === most) return;
    begun += 1;
    let asked = false;
    const once = (): void => {
      if (asked) return;
      asked = true;
      begin();
    };
    workers.push(work(once));
  };
  begin();
  begin();
  // The list grows meanwhile.
  for (const worker of workers) await worker;
}
