/** How long an answer of Postgres is waited for. */
import { OutcomeUnknownError } from './sqlstate.ts';

/**
 * What `running` comes to, or an error when `deadline` passes before.
 * @throws {OutcomeUnknownError} then.
 */
export async function raceAgainst<T>(
  running: Promise<T>,
  deadline: AbortSignal,
  ms: number,
): Promise<T> {
  let expire = () => {};
  const late = new Promise<never>((_, reject) => {
    expire = () => reject(new OutcomeUnknownError(`Postgres did not answer within ${ms} ms`));
  });
  deadline.addEventListener('abort', expire, { once: true });
  try {
    return await Promise.race([running, late]);
  } finally {
    deadline.removeEventListener('abort', expire);
    running.catch(() => {});
  }
}
