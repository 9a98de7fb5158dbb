/** Whether a body is more than the server can do: it breaks off each time, while other questions are answered. */
import { type TransientError, UnstorableError } from '../../errors.ts';
import { ConnectionLostError, OutOfMemoryError } from './sqlstate.ts';

/** So much is too much: of being late all of it, of no memory a half, of a lost connection a third, as it may be lost by what others sent. */
const TOO_MUCH = 6;
/** Bytes that a server may be late with; with fewer it waits for something else. */
const LARGE = 1_000_000;

/**
 * Watches the attempts to have a body read.
 * @param bytes of the body; 0: there is none.
 * @param askElse asks the server something else; false: the body was read all the same, and the answer lost.
 */
export function watchBody(bytes: number, askElse: () => Promise<boolean>) {
  let met = 0;
  let newest: TransientError | undefined;
  const weightOf = (error: TransientError): number => {
    // Whoever was late has had all the time that there is.
    if (error.timedOut) return bytes < LARGE ? 0 : TOO_MUCH;
    if (error instanceof OutOfMemoryError) return TOO_MUCH / 2;
    return error instanceof ConnectionLostError ? TOO_MUCH / 3 : 0;
  };
  return {
    failed: (error: TransientError): void => {
      if (bytes === 0 || weightOf(error) === 0) return;
      met += weightOf(error);
      newest = error;
    },
    /** @throws {UnstorableError} where it is too much. */
    refuse: async (): Promise<void> => {
      if (newest === undefined || met < TOO_MUCH) return;
      if (await askElse().catch(() => false))
        throw new UnstorableError(
          `the database breaks off at a page of ${bytes} bytes, and answers other questions: ${newest.message}`,
          { hint: newest.hint, cause: newest },
        );
    },
  };
}

/** For statements that carry none. */
export const NO_BODY = watchBody(0, async () => false);
