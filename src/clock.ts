/** Time and chance, in one place: everything that waits, asks the time or draws a number gets them from here. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/** What a part needs of time and chance; tests pass a fake one. */
export interface Clock {
  /** Milliseconds since the epoch. For reports only: leases and due times use the database's clock. */
  now(): number;
  /** Milliseconds on a clock that never jumps; for durations and deadlines. */
  monotonic(): number;
  /**
   * Waits `ms` milliseconds.
   * @throws the signal's reason, as soon as `signal` is aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A signal that aborts with a `TimeoutError` after `ms` milliseconds; it does not keep the process alive. */
  timeout(ms: number): AbortSignal;
  /** Calls `tick` every `ms` milliseconds until the returned function is called; does not keep the process alive. */
  every(ms: number, tick: () => void): () => void;
  /** A number in [0, 1), as `Math.random`. */
  random(): number;
  /** A fresh random UUID (version 4). */
  uuid(): string;
}

/** The real clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
  timeout: (ms) => AbortSignal.timeout(ms),
  every: (ms, tick) => {
    const timer = setInterval(tick, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  random: () => Math.random(),
  uuid: () => randomUUID(),
};

/** How long something may take. */
export interface Deadline {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
  /** The error to throw when the time is over. */
  readonly late: () => Error;
}

/**
 * Runs `work` until it ends, its time is over or the signal is aborted; its own signal ends with either.
 * @throws what `late` makes; the signal's reason; what `work` throws.
 */
export async function withDeadline<T>(
  { clock, ms, signal, late }: Deadline,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  // Linked by hand: what AbortSignal.any links stays in memory as long as a signal that outlives it.
  const stop = new AbortController();
  const deadline = clock.timeout(ms);
  const onDeadline = (): void => stop.abort(late());
  const onAbort = (): void => stop.abort(signal.reason);
  deadline.addEventListener('abort', onDeadline);
  signal.addEventListener('abort', onAbort);
  try {
    return await orAborted(work(stop.signal), stop.signal);
  } finally {
    deadline.removeEventListener('abort', onDeadline);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Settles with `promise`, or is rejected with `why` when the signal is aborted before: its reason, unless told otherwise. */
export function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  why: () => unknown = () => signal.reason,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(why());
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Ends after so many turns of the event loop: whatever is ready goes first. It takes no time. */
export async function letOthersGo(turns: number): Promise<void> {
  for (let left = turns; left > 0; left--) await turn();
}
