/** The limiter decides when each request of this process goes: one queue, by priority, for one budget. */
import type { Clock } from '../clock.ts';
import type { Priority } from '../model.ts';

/** Leave to send one request. */
export interface Turn {
  /** Gives the place back, once the request has ended in any way; a second call changes nothing. */
  end(): void;
}

/** What the limiter does now. */
export interface LimiterState {
  /** Most requests under way at a time. */
  readonly limit: number;
  readonly underWay: number;
  readonly waiting: number;
  /** Milliseconds until the instant that the server named; 0: nobody is held. */
  readonly heldMs: number;
}

export interface Limiter {
  /**
   * Waits for a turn. Of those who wait, the one with the first purpose goes first, needed pages before pages ahead,
   * and among equals the one who asked first. `priority` is read whenever a place is free: it may change meanwhile.
   * @throws the signal's reason, as soon as `signal` is aborted.
   */
  pass(priority: Priority, signal: AbortSignal): Promise<Turn>;
  /** Nobody goes for the next `ms` milliseconds; a shorter hold than the present one changes nothing. */
  hold(ms: number): void;
  state(): LimiterState;
}

interface Waiter {
  readonly priority: Priority;
  readonly go: (turn: Turn) => void;
}

/** Earlier words go first. */
const RANK = { scheduled: 0, recheck: 1, backfill: 2 } as const;

/** An idle limiter. Its time is monotonic: a clock that is set back must not hold everyone for hours. */
export function openLimiter(clock: Clock, limit: number): Limiter {
  const waiters: Waiter[] = [];
  let underWay = 0;
  let opensAt = Number.NEGATIVE_INFINITY;
  /** Ends the present sleep; null: nobody sleeps. */
  let sleeper: AbortController | null = null;

  const turn = (): Turn => {
    let ended = false;
    underWay++;
    return {
      end: () => {
        if (ended) return;
        ended = true;
        underWay--;
        serve();
      },
    };
  };
  /** Lets go who may, and sleeps until the next one may. */
  const serve = (): void => {
    while (waiters.length > 0 && underWay < limit) {
      const left = opensAt - clock.monotonic();
      if (left > 0) {
        sleep(left);
        return;
      }
      next(waiters).go(turn());
    }
    sleeper?.abort();
  };
  const sleep = (ms: number): void => {
    if (sleeper !== null) return;
    const own = new AbortController();
    sleeper = own;
    const awake = (): void => {
      if (sleeper === own) sleeper = null;
      serve();
    };
    clock.sleep(Math.ceil(ms), own.signal).then(awake, awake);
  };

  return {
    pass: (priority, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const stop = (): void => {
          waiters.splice(waiters.indexOf(waiter), 1);
          reject(signal.reason);
          // Who sleeps for nobody would keep the process alive.
          if (waiters.length === 0) sleeper?.abort();
        };
        const waiter: Waiter = {
          priority,
          go: (given) => {
            signal.removeEventListener('abort', stop);
            resolve(given);
          },
        };
        signal.addEventListener('abort', stop, { once: true });
        waiters.push(waiter);
        serve();
      }),
    hold: (ms) => {
      opensAt = Math.max(opensAt, clock.monotonic() + ms);
    },
    state: () => ({
      limit,
      underWay,
      waiting: waiters.length,
      heldMs: Math.max(0, opensAt - clock.monotonic()),
    }),
  };
}

/** Takes the first of those who wait out of the line. */
function next(waiters: Waiter[]): Waiter {
  let first = 0;
  for (const [index, { priority }] of waiters.entries())
    if (rankOf(priority) < rankOf(waiters[first]?.priority ?? priority)) first = index;
  return waiters.splice(first, 1)[0] as Waiter;
}

/** Lower goes first: no backfill before a page ahead of a scheduled window. */
function rankOf({ purpose, ahead = false }: Priority): number {
  return RANK[purpose] * 2 + (ahead ? 1 : 0);
}
