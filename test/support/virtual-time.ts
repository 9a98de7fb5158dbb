/** Time that passes only when everybody waits: a clock for simulations of minutes within milliseconds. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly ring: () => void;
}

export interface VirtualTime {
  readonly clock: Clock;
  /** Lets `ms` milliseconds pass, one timer after the other. */
  pass(ms: number): Promise<void>;
  /** Timers that have not rung yet. */
  timers(): number;
}

/** @param seed of the numbers that `random` gives. */
export function virtualTime(seed = 1): VirtualTime {
  let now = 0;
  let order = 0;
  let state = seed;
  const timers = new Set<Timer>();
  const after = (ms: number, ring: () => void): (() => void) => {
    const timer = { at: now + Math.max(0, ms), order: order++, ring };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const clock: Clock = {
    now: () => Date.UTC(2026, 2, 1) + now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const stop = (): void => {
          cancel();
          reject(signal?.reason);
        };
        const cancel = after(ms, () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        });
        signal?.addEventListener('abort', stop, { once: true });
      }),
    timeout: (ms) => {
      const controller = new AbortController();
      after(ms, () => controller.abort(new DOMException('timed out', 'TimeoutError')));
      return controller.signal;
    },
    every: () => () => {},
    random: () => {
      // Park and Miller's generator.
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    },
    uuid: () => randomUUID(),
  };
  return {
    clock,
    timers: () => timers.size,
    pass: async (ms) => {
      const end = now + ms;
      for (;;) {
        // Promises that follow from one another, as deep as any here.
        for (let depth = 0; depth < 12; depth++) await Promise.resolve();
        let first: Timer | null = null;
        for (const timer of timers)
          if (
            first === null ||
            timer.at < first.at ||
            (timer.at === first.at && timer.order < first.order)
          )
            first = timer;
        if (first === null || first.at > end) break;
        timers.delete(first);
        now = Math.max(now, first.at);
        first.ring();
      }
      now = end;
    },
  };
}
