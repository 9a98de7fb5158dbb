/** The worker's wait for its tick: it comes when it is due, also where the clock of the machine was wrong. */
import { expect, it } from 'vitest';
import { untilTick } from '../../src/cli/verbs/worker.ts';
import { type FakeClock, fakeClock } from '../source/fake-clock.ts';

const HOURLY = '15 * * * *';
const going = new AbortController().signal;
const START = Date.parse('2026-03-01T00:00:00Z');
const at = (time: string) => Date.parse(`2026-03-01T${time}Z`);

/** A clock that shows `ahead` more until it is set. */
function wrongClock(aheadMs: number): { clock: FakeClock; set: () => void } {
  const clock = fakeClock(START);
  let ahead = aheadMs;
  const { now } = clock;
  return {
    clock: Object.assign(clock, { now: () => now() + ahead }),
    set: () => {
      ahead = 0;
    },
  };
}

/** When the next tick came, by the clock as it shows then. */
async function ticked(clock: FakeClock, since: number, onNext = () => {}): Promise<number> {
  await untilTick(clock, HOURLY, since, going, onNext);
  return clock.now();
}

it('is over at the tick, and never sleeps for longer than a minute', async () => {
  const { clock } = wrongClock(0);
  expect(await ticked(clock, START)).toBe(at('00:15:00'));
  expect(Math.max(...clock.waits)).toBe(60_000);
});

it('is over at once where a tick came during a pass', async () => {
  const { clock } = wrongClock(3_600_000);
  expect(await ticked(clock, START)).toBe(at('01:00:00'));
});

it.each([1, 9, 24 * 400])(
  'ends at the first tick of the right time, %i hours before the wrong one',
  async (hours) => {
    const { clock, set } = wrongClock(hours * 3_600_000);
    expect(await ticked(clock, clock.now(), set)).toBe(at('00:15:00'));
    expect(await ticked(clock, clock.now())).toBe(at('01:15:00'));
  },
);

it('is over at once where the machine slept through the tick', async () => {
  const { clock } = wrongClock(0);
  const sleep = clock.sleep.bind(clock);
  const sleepy = {
    ...clock,
    sleep: (_: number, signal: AbortSignal) => sleep(7 * 3_600_000, signal),
  };
  await untilTick(sleepy, HOURLY, START, going, () => {});
  expect(clock.now()).toBe(at('07:00:00'));
});
