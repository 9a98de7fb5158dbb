/** A clock for tests: sleeping takes no time but moves it on, and deadlines pass when the test says so. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';

export interface FakeClock extends Clock {
  /** Every wait asked for, in milliseconds. */
  readonly waits: number[];
  /** What `random` gives. */
  luck: number;
  /** Called before a wait begins. */
  onSleep: (ms: number) => void;
  /** Lets all deadlines that are running pass. */
  expire(): void;
}

export function fakeClock(startMs = Date.UTC(2026, 2, 1)): FakeClock {
  let time = 0;
  const deadlines: AbortController[] = [];
  const clock: FakeClock = {
    waits: [],
    luck: 0.5,
    onSleep: () => {},
    now: () => startMs + time,
    monotonic: () => time,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      clock.waits.push(ms);
      clock.onSleep(ms);
      signal?.throwIfAborted();
      time += ms;
    },
    timeout: () => {
      const controller = new AbortController();
      deadlines.push(controller);
      return controller.signal;
    },
    every: () => () => {},
    random: () => clock.luck,
    uuid: () => randomUUID(),
    expire: () => {
      for (const deadline of deadlines.splice(0))
        deadline.abort(new DOMException('timed out', 'TimeoutError'));
    },
  };
  return clock;
}
