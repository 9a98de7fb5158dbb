/** Progress: what events add up to, the rate of the last half minute, what is left, and the frame that shows it. */
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openProgress } from '../../src/cli/terminal/progress.ts';
import { progressFrame, progressLine, requestsLine } from '../../src/cli/terminal/progress-text.ts';
import { RunProgress } from '../../src/cli/terminal/run-progress.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
import { IDLE } from '../support/idle-limiter.ts';
import { violations } from '../support/json-schemas.ts';

const window = (windowId: number, from = '00:00:00', to = '23:59:59') => ({
  windowId,
  kind: 'day' as const,
  stream: windowId % 2 === 0 ? 'events' : 'smart-event',
  day: '2026-03-05',
  from: `2026-03-05 ${from}`,
  to: `2026-03-05 ${to}`,
});
const page = (windowId: number, records: number, total: number | null = null) =>
  ({ kind: 'page', window: window(windowId), records, bytes: records * 10, total }) as const;
const proof = { kind: 'probe', rule: 'C4', records: 1, why: '' } as const;
const wide = [100, 24] as const;

function halfway(): RunProgress {
  const run = new RunProgress(0);
  run.add({ kind: 'planned', windows: 4 }, 0);
  run.add({ kind: 'claimed', window: window(1) }, 0);
  run.add(page(1, 500), 1_000);
  run.add({ kind: 'complete', window: window(1), proof }, 1_000);
  run.add({ kind: 'claimed', window: window(2) }, 1_000);
  run.add(page(2, 1_000, 2_000), 9_000);
  run.add({ kind: 'claimed', window: window(4, '23:59:59', '00:00:00') }, 9_500);
  return run;
}

describe('the state', () => {
  it('counts windows, records and what runs', () => {
    expect(halfway().state(10_000)).toMatchObject({
      windows: 4,
      done: 1,
      failed: 0,
      records: 1_500,
      bytes: 15_000,
      elapsedMs: 10_000,
      recordsPerSecond: 150,
      running: [
        { windowId: 2, records: 1_000, total: 2_000, elapsedMs: 9_000 },
        { windowId: 4, records: 0, total: null, elapsedMs: 500 },
      ],
    });
  });

  it('guesses what is left from what is over, half a window for half of its total', () => {
    const run = halfway();
    expect(run.state(15_000).leftMs).toBe((15_000 / 1.5) * 2.5);
    expect(new RunProgress(0).state(5_000).leftMs).toBeNull();
    for (const windowId of [2, 3, 4]) run.add({ kind: 'unchanged', window: window(windowId) }, 1);
    expect(run.state(20_000)).toMatchObject({ leftMs: null, done: 4, running: [] });
  });

  it('has the rate of the last half minute', () => {
    const run = halfway();
    expect(run.state(120_000).recordsPerSecond).toBe(0);
    run.add(page(2, 600), 119_000);
    expect(run.state(120_000).recordsPerSecond).toBe(20);
  });

  it('a split adds its parts, a window given back is not over', () => {
    const run = halfway();
    const split = { kind: 'split', by: 'time', parts: 3, reason: '' } as const;
    run.add({ ...split, window: window(2) }, 1);
    run.add({ kind: 'released', window: window(4) }, 1);
    expect(run.state(2)).toMatchObject({ windows: 7, done: 2, running: [] });
    run.add({ kind: 'failed', window: window(3), reason: 'x' }, 1);
    expect(progressLine(run.state(10_000))).toBe(
      '3/7 windows · 1 failed · about 13.3 s left · 1,500 records · 150/s · 0 running',
    );
  });
});

it('the event that tells it is as its schema says', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  const ticks: (() => void)[] = [];
  const every = (_: number, tick: () => void) => {
    ticks.push(tick);
    return () => {};
  };
  const clock = { ...systemClock, every };
  const audience = { events: true, requests: () => IDLE };
  const progress = openProgress(clock, silentLogger, audience);
  progress.onEvent({ kind: 'planned', windows: 4 });
  progress.onEvent({ kind: 'claimed', window: window(2) });
  progress.onEvent(page(2, 1_000, 2_000));
  ticks.at(-1)?.();
  const told = JSON.parse(String(write.mock.lastCall?.[0]));
  expect(told).toMatchObject({ event: 'progress', running: [{ kind: 'day', records: 1_000 }] });
  expect(violations('events', told)).toEqual([]);
});

describe('the frame', () => {
  it('has a bar for all, a line for the requests and one a window', () => {
    const requests = { ...IDLE, underWay: 1, waiting: 3, pausedMs: 11_500 };
    expect(progressFrame(halfway().state(10_000), requests, wide)).toEqual([
      '██░░░░░░░░ 1/4 windows · about 16.7 s left · 1,500 records · 150/s · 2 running',
      '  requests: 1 of at most 4 under way · 3 waiting · all paused for 11.5 s: the API refused some',
      '  events 2026-03-05: 1,000 of 2,000 records, 9.0 s',
      '  events 2026-03-05 23:59:59–00:00:00: 0 records, 500 ms',
    ]);
    expect(requestsLine(IDLE)).toBe('requests: 0 of at most 4 under way');
  });

  it('keeps the time left in a narrow terminal', () => {
    const [total] = progressFrame(halfway().state(10_000), IDLE, [44, 24]);
    expect(total).toBe('██░░░░░░░░ 1/4 windows · about 16.7 s left ');
  });

  it('fits every terminal, in one column a character', () => {
    const sizes = fc.tuple(fc.integer({ min: 2, max: 200 }), fc.integer({ min: 1, max: 60 }));
    fc.assert(
      fc.property(sizes, fc.nat(30), ([width, height], windows) => {
        const run = new RunProgress(0);
        run.add({ kind: 'planned', windows }, 0);
        for (let id = 0; id < windows; id++) run.add({ kind: 'claimed', window: window(id) }, 0);
        if (windows > 0) run.add(page(0, 5, 3), 1);
        const frame = progressFrame(run.state(2), IDLE, [width, height]);
        expect(frame.length).toBeLessThanOrEqual(Math.max(1, height - 1));
        for (const line of frame) expect(line.length).toBeLessThan(width);
      }),
    );
  });
});
