/** What is opened piece by piece, and closed whatever happens. */

/** Calls `work`, and then what it left for later, the last first. */
export async function closing<T>(
  work: (later: (close: () => Promise<unknown>) => void) => Promise<T>,
): Promise<T> {
  let closeAll: () => Promise<unknown> = async () => {};
  try {
    return await work((close) => {
      const others = closeAll;
      closeAll = () => close().finally(others);
    });
  } finally {
    await closeAll();
  }
}
