/** What is told of requests that wait, and of an API that is away. */
import { expect, test } from 'vitest';
import { isHeldBack, requestsLine } from '../../src/cli/terminal/progress-text.ts';
import { tellAway } from '../../src/cli/walk-wiring.ts';
import { silentLogger } from '../../src/log.ts';
import type { LimiterState } from '../../src/source/limiter.ts';
import { IDLE } from '../support/idle-limiter.ts';

test('the log tells how long the API has been away, and until when it is tried', () => {
  const lines: string[] = [];
  const warn = (...line: unknown[]) => void lines.push(String(line.at(-1)));
  tellAway({ ...silentLogger, warn })({ awayMs: 45_100, until: Date.UTC(2026, 2, 1, 10, 5, 30) });
  expect(lines).toEqual(['the API has been away for 45 s; trying until 10:05:30 UTC']);
});

test.each<[Partial<LimiterState>, string]>([
  [{ why: 'pause', pausedMs: 61_000 }, 'all paused for 1 min 01 s: the API refused some'],
  [{ why: 'pace', pace: 19.4 }, 'the API takes about 19 a second'],
  [{ why: 'quota' }, 'the quota of the API is nearly used up'],
  [{ why: 'rate' }, 'at the rate that is set'],
])('progress tells why requests wait: %j', (limits, words) => {
  expect(requestsLine({ ...IDLE, waiting: 2, ...limits })).toBe(
    `requests: 0 of at most 4 under way · 2 waiting · ${words}`,
  );
  expect([isHeldBack({ ...IDLE, ...limits }), isHeldBack(IDLE)]).toEqual([true, false]);
});
