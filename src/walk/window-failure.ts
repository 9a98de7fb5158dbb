/** Which errors are a window's own, and how long it then waits. */
import { type DaywalkError, isNoAnswer, WalkError } from '../errors.ts';
import { BodyRefusedError } from '../store/sqlstate.ts';
import { BrokenChainError } from '../store/walks.ts';

/** Why a window failed, and how long to wait before it is walked again. */
export interface WindowFailure {
  readonly reason: string;
  readonly delayMs: number;
  /** What was walked settles nothing; else an answer could not be had, and what was walked before it counts. */
  readonly judged: boolean;
}

const FIRST_DELAY_MS = 5 * 60_000;
const LONGEST_DELAY_MS = 6 * 3_600_000;

/**
 * Whether an error is this window's own, with the wait before the next try: it doubles, is bounded and spread by chance.
 * @returns null for errors that stop more than the window.
 */
export function windowFailure(
  error: unknown,
  failures: number,
  random: number,
): WindowFailure | null {
  const judged =
    error instanceof WalkError ||
    error instanceof BrokenChainError ||
    error instanceof BodyRefusedError;
  if (!judged && !isNoAnswer(error)) return null;
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 20));
  return { reason: reasonText(error), delayMs: delay * (0.75 + random / 2), judged };
}

function reasonText(error: DaywalkError): string {
  return error.hint === undefined
    ? error.message
    : `${error.message} (${error.hint.replace(/\.$/, '')})`;
}
