/** Repeats an attempt while its failure may pass by itself, within the bounds of the retry policy. */
import pRetry from 'p-retry';
import type { Clock } from '../clock.ts';
import { TransientError, UnavailableError } from '../errors.ts';
import { nextWait, type RetryPolicy } from './retry.ts';

/** Told before each wait. */
export interface RetryNotice {
  /** How many attempts failed so far. */
  readonly failures: number;
  readonly waitMs: number;
  readonly error: TransientError;
}

export interface AttemptOptions {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What was asked for, for the message. */
  readonly place: string;
  /** Milliseconds that count against the policy's time, so far. */
  readonly elapsedMs: () => number;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/**
 * Runs `attempt` until it succeeds.
 * @throws UnavailableError when the policy is used up, with the last TransientError as its cause; any other error at
 *   once; the signal's reason.
 */
export async function untilItSucceeds<T>(
  attempt: () => Promise<T>,
  { policy, clock, signal, place, elapsedMs, onRetry }: AttemptOptions,
): Promise<T> {
  const failures: TransientError[] = [];
  let waitMs = 0;
  try {
    return await pRetry(
      async () => {
        // Waited for here and not by p-retry, whose timer is not the clock's.
        if (failures.length > 0) await clock.sleep(waitMs, signal);
        return await attempt();
      },
      {
        // `nextWait` counts them.
        retries: Number.POSITIVE_INFINITY,
        minTimeout: 0,
        maxTimeout: 0,
        onFailedAttempt: ({ error }) => {
          if (error instanceof TransientError) failures.push(error);
        },
        shouldRetry: ({ error }) => {
          if (!(error instanceof TransientError)) return false;
          const wait = nextWait(policy, {
            failures: failures.length,
            refusals: failures.filter(({ status }) => status === 429).length,
            elapsedMs: elapsedMs(),
            floorMs: error.retryAfterMs ?? 0,
            random: clock.random(),
          });
          if (wait === null) return false;
          waitMs = wait;
          onRetry?.({ failures: failures.length, waitMs, error });
          return true;
        },
      },
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TransientError)) throw error;
    throw gaveUp(failures, error, place, elapsedMs());
  }
}

function gaveUp(
  failures: readonly TransientError[],
  last: TransientError,
  place: string,
  elapsedMs: number,
): UnavailableError {
  const spent = `${failures.length} attempts in ${Math.round(elapsedMs / 1000)} s`;
  const hint = last.hint ?? 'what is stored so far is safe; the next run goes on from there';
  const details = { cause: last, hint };
  if (failures.length === 1)
    return new UnavailableError('api', `${place}: ${last.message}`, details);
  if (last.status !== undefined && failures.every(({ status }) => status === last.status)) {
    const said = last.message.slice(`answered ${last.status}`.length);
    return new UnavailableError(
      'api',
      `${place} answered ${last.status} ${times(failures.length)}${said}`,
      details,
    );
  }
  return new UnavailableError(
    'api',
    `${place}: gave up after ${spent}; the last: ${last.message}`,
    details,
  );
}

const WORDS = [
  '',
  'once',
  'twice',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
];

/** "once", "six times", "17 times". */
function times(count: number): string {
  return count <= 2 ? (WORDS[count] ?? '') : `${WORDS[count] ?? count} times`;
}
