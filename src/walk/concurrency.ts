/** Several things at a time: windows, by workers that begin one after the other; and what only one does. */

/**
 * Two workers at first; each begins another one when it says that there is more to do, while fewer than `most` are at work.
 * So the first windows do not wait for connections to the database that nobody needs yet.
 * Ends when all have ended.
 * @param work says so by calling `begin`; does not throw.
 */
export async function startWorkers(
  most: number,
  work: (begin: () => void) => Promise<void>,
): Promise<void> {
  const workers: Promise<void>[] = [];
  let atWork = 0;
  const begin = (): void => {
    if (atWork === most) return;
    atWork += 1;
    workers.push(
      work(begin).finally(() => {
        atWork -= 1;
      }),
    );
  };
  begin();
  begin();
  // The list grows meanwhile.
  for (const worker of workers) await worker;
}

/** What one does while the others wait, until it is over; where one ends before it is, the next one does it. */
export class OneAtATime {
  /** Somebody has done it, well or not. */
  done = false;
  #underWay: Promise<void> | null = null;

  /**
   * Works when it is over, or nobody is at it.
   * @param work is told what to call where it is over before its own end.
   * @param isOver never, where it is not given.
   */
  async run<T>(
    work: (end: () => void) => Promise<T>,
    isOver: () => boolean = () => false,
  ): Promise<T> {
    while (this.#underWay !== null && !isOver()) await this.#underWay;
    if (isOver()) return work(() => {});
    let resolve = (): void => {};
    const mine = new Promise<void>((ended) => {
      resolve = ended;
    });
    this.#underWay = mine;
    const end = (): void => {
      this.done = true;
      // Who waits looks again: it must not find what has ended.
      if (this.#underWay === mine) this.#underWay = null;
      resolve();
    };
    return work(end).finally(end);
  }
}
