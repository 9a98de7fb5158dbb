/** Whether a body is more than the server can do: it breaks off each time, and answers something else after each. */
import { type TransientError, UnstorableError } from '../../errors.ts';
import { ConnectionLostError, OutOfMemoryError } from './sqlstate.ts';

/** So many points, and the body is to blame: a statement that was late has all of them, no memory half, a lost connection a third, as the server may have died of what others sent. */
const TOO_MUCH = 6;
/** Bytes from which on a body may be why a server is late; with a smaller one it waits for something else. */
const LARGE = 1_000_000;

/**
 * Watches the attempts to have a body read.
 * @param bytes of the body; 0: there is none.
 * @param askElse asks the server something else; false: the body was read all the same, and the answer lost.
 */
export function watchBody(bytes: number, askElse: () => Promise<boolean>) {
  let points = 0;
  /** Counts once the server answers something else: one that is away, as in a failover, breaks off whatever it is sent. */
  let newest: TransientError | undefined;
  const pointsOf = (error: TransientError): number => {
    // There is no more time to be had.
    if (error.timedOut) return bytes < LARGE ? 0 : TOO_MUCH;
    if (error instanceof OutOfMemoryError) return TOO_MUCH / 2;
    return error instanceof ConnectionLostError ? TOO_MUCH / 3 : 0;
  };
  return {
    failed: (error: TransientError): void => {
      if (bytes > 0 && pointsOf(error) > 0) newest = error;
    },
    /** @throws {UnstorableError} where it is too much. */
    refuse: async (): Promise<void> => {
      if (newest === undefined || !(await askElse().catch(() => false))) return;
      points += pointsOf(newest);
      if (points >= TOO_MUCH)
        throw new UnstorableError(
          `the database breaks off at a page of ${bytes} bytes, and answers other questions: ${newest.message}`,
          { hint: newest.hint, cause: newest },
        );
      newest = undefined;
    },
  };
}

/** For statements that carry none. */
export const NO_BODY = watchBody(0, async () => false);
