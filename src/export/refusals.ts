/** What an answer that is no page says about the length or the depth that was asked for; pure (DESIGN 5.5, 5.7). */
import { RequestError, TooLargeError, TransientError, UnavailableError } from '../errors.ts';

/** Answers with which services refuse a length; deep in a list the same ones may refuse the start. */
const LENGTH_REFUSED: ReadonlySet<number> = new Set([400, 413, 414, 422]);
const TOO_LARGE: ReadonlySet<number> = new Set([413, 414]);

/** Whether a shorter page at `start` may fare better; 'late': if a single record comes in time. */
export function refusesLength(error: unknown, start: number): boolean | 'late' {
  if (error instanceof TooLargeError) return true;
  if (error instanceof RequestError)
    return LENGTH_REFUSED.has(error.status) && (start === 0 || TOO_LARGE.has(error.status));
  const { cause } = error instanceof UnavailableError ? error : { cause: null };
  return cause instanceof TransientError && cause.timedOut ? 'late' : false;
}

/** Whether it may be the depth of the list that is refused. */
export function mayRefuseDepth(error: unknown): boolean {
  return (
    (error instanceof RequestError && error.status >= 400) ||
    (error instanceof UnavailableError && error.part === 'api')
  );
}
