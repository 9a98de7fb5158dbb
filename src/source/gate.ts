/** The gate holds back every request of this process until an instant that the server named (429, 503). */
import type { Clock } from '../clock.ts';

export interface Gate {
  /** Nobody passes for the next `ms` milliseconds; a shorter hold than the present one changes nothing. */
  hold(ms: number): void;
  /**
   * Returns once the gate is open.
   * @throws the signal's reason, as soon as `signal` is aborted.
   */
  pass(signal: AbortSignal): Promise<void>;
}

/** An open gate. Its time is monotonic: a clock that is set back must not hold everyone for hours. */
export function openGate(clock: Clock): Gate {
  let opensAt = Number.NEGATIVE_INFINITY;
  return {
    hold: (ms) => {
      opensAt = Math.max(opensAt, clock.monotonic() + ms);
    },
    pass: async (signal) => {
      signal.throwIfAborted();
      // Another answer may move the instant on while we wait.
      for (let left = opensAt - clock.monotonic(); left > 0; left = opensAt - clock.monotonic())
        await clock.sleep(Math.ceil(left), signal);
    },
  };
}
