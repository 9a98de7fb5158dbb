/** What errors say: of the length, the depth or the span that was asked for, or of the window, and how long it then waits; pure. */
import {
  DaywalkError,
  FaultError,
  isNoAnswer,
  PageFailedError,
  RequestError,
  TooLargeError,
  UnavailableError,
  WalkError,
} from '../errors.ts';
import { BodyRefusedError } from '../store/connection/sqlstate.ts';

/** Answers with which services refuse a length; deep in a list the same ones may refuse the start. */
const LENGTH_REFUSED: ReadonlySet<number> = new Set([400, 413, 414, 422]);

/** Whether a shorter page may fare better. */
export function refusesLength(error: unknown): boolean {
  return (
    error instanceof TooLargeError ||
    error instanceof PageFailedError ||
    error instanceof FaultError ||
    (error instanceof RequestError && LENGTH_REFUSED.has(error.status))
  );
}

/** Whether it may be a failure of the records that would be shown, and not of how they are asked for. */
export const mayBeOfRecord = (error: unknown): boolean =>
  error instanceof PageFailedError || error instanceof FaultError;

/** Whether it may be the range that is refused, as one that is too short. */
export const isRangeRefused = (error: unknown): error is RequestError | FaultError =>
  error instanceof RequestError || error instanceof FaultError;

/** Whether it may be the depth of the list that is refused. */
export function mayRefuseDepth(error: unknown): boolean {
  return mayBeOfRecord(error) || (error instanceof RequestError && error.status >= 400);
}

/** Whether what was asked for cannot be had, and says nothing against what is stored of it. */
export const isRefused = (error: unknown): boolean =>
  isNoAnswer(error) || error instanceof PageFailedError;

/** What was asked for, or the error by which it cannot be had. @param isNone which errors say so. */
export const orError = <T>(asked: Promise<T>, isNone = isRefused): Promise<T | Error> =>
  asked.catch((error: unknown) => {
    if (isNone(error)) return error as Error;
    throw error;
  });

/** The same; null: it cannot be had. */
export async function orNull<T>(asked: Promise<T>, isNone = isRefused): Promise<T | null> {
  const answer = await orError(asked, isNone);
  return answer instanceof Error ? null : answer;
}

/** Asks once more for what cannot be had: what is refused by turns is not refused twice in a row. */
export const orAgain = async <T>(ask: () => Promise<T | null>): Promise<T | null> =>
  (await ask()) ?? (await ask());

/** Whether an error may be that of what was asked for alone. */
export const isOfRequest = (error: unknown): boolean =>
  isNoAnswer(error) || (error instanceof UnavailableError && error.part === 'api');

/** The error of a window against which something speaks, with the numbers. */
export const contradicted = (reason: string, hint?: string): WalkError =>
  new WalkError('contradicted', reason, { hint });

/** The error of a window that shows something else each time. */
export const unsettled = (reason: string, hint?: string): WalkError =>
  new WalkError('unsettled', reason, { hint });

/** What was refused at a start, and asked for again was not. */
export const ofMoment = (start: number): WalkError =>
  new WalkError('shifted', `start ${start} was refused, and asked again it was not`);

const FIRST_DELAY_MS = 5 * 60_000;
const LONGEST_DELAY_MS = 6 * 3_600_000;

/**
 * Whether an error is this window's own, with the wait before the next try: it doubles, is bounded and spread by chance.
 * @returns why the window failed, how long it waits, and whether it was judged: then what was walked settles nothing; else an answer could
 * not be had, and what was walked before it counts. Null for errors that stop more than the window.
 */
export function windowFailure(error: unknown, failures: number, random: number) {
  const judged = error instanceof WalkError || error instanceof BodyRefusedError;
  if (!judged && !isNoAnswer(error)) return null;
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 20));
  return { reason: reasonText(error), delayMs: delay * (0.75 + random / 2), judged };
}

/** What went wrong, and what to do about it. */
export function reasonText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = error instanceof DaywalkError ? error.hint : undefined;
  return hint === undefined ? error.message : `${error.message} (${hint.replace(/\.$/, '')})`;
}
