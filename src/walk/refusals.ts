/** What an answer that is no page says about the length or the depth that was asked for; pure. */
import { PageFailedError, RequestError, TooLargeError } from '../errors.ts';

/** Answers with which services refuse a length; deep in a list the same ones may refuse the start. */
const LENGTH_REFUSED: ReadonlySet<number> = new Set([400, 413, 414, 422]);

/** Whether a shorter page may fare better. */
export function refusesLength(error: unknown): boolean {
  return (
    error instanceof TooLargeError ||
    error instanceof PageFailedError ||
    (error instanceof RequestError && LENGTH_REFUSED.has(error.status))
  );
}

/** Whether it may be the depth of the list that is refused. */
export function mayRefuseDepth(error: unknown): boolean {
  return error instanceof PageFailedError || (error instanceof RequestError && error.status >= 400);
}
