/** What the log tells of the limiter: what changed, and not each request. */
import { describe, expect, test } from 'vitest';
import { tellAway, tellLimits } from '../../src/cli/limit-news.ts';
import { isHeldBack, requestsLine } from '../../src/cli/terminal/progress-text.ts';
import { silentLogger } from '../../src/log.ts';
import type { LimiterState } from '../../src/source/limiter.ts';
import { IDLE } from '../support/idle-limiter.ts';

function told(...states: Partial<LimiterState>[]): string[] {
  const lines: string[] = [];
  const note = (...line: unknown[]) => void lines.push(String(line.at(-1)));
  const tell = tellLimits({ ...silentLogger, info: note, warn: note });
  for (const state of states) tell({ ...IDLE, ...state });
  return lines;
}

describe('the log tells', () => {
  test('a long pause once, and a later one again', () => {
    expect(
      told({ pausedMs: 60_000 }, { pausedMs: 30_000 }, { pausedMs: 900 }, {}, { pausedMs: 7000 }),
    ).toEqual([
      'the API refuses requests; all of them wait for 60 s',
      'the API refuses requests; all of them wait for 7 s',
    ]);
  });

  test('no short pause', () => expect(told({ pausedMs: 1000 }, {})).toEqual([]));

  test('a pace that was found, and that there is none any more', () => {
    expect(told({ pace: 17 }, { pace: 20 }, { pace: 8 }, { pace: 9 }, {})).toEqual([
      'the API limits requests: going on with about 17 a second',
      'the API takes requests freely again',
    ]);
  });

  test('fewer requests at a time, and all of them again', () => {
    expect(told({ limit: 3 }, { limit: 2 }, { limit: 1 }, { limit: 3 }, { limit: 4 })).toEqual([
      'answers do not come in time: 2 of 4 requests at a time',
      'answers come in time again: 4 requests at a time',
    ]);
  });
});

test('the log tells how long the API has been away, and until when it is tried', () => {
  const lines: string[] = [];
  const warn = (...line: unknown[]) => void lines.push(String(line.at(-1)));
  tellAway({ ...silentLogger, warn })({ awayMs: 45_100, until: Date.UTC(2026, 2, 1, 10, 5, 30) });
  expect(lines).toEqual(['the API has been away for 45 s; trying until 10:05:30 UTC']);
});

test.each<[Partial<LimiterState>, string]>([
  [{ why: 'pause', pausedMs: 61_000 }, 'all paused for 1 min 01 s, as the API refused'],
  [{ why: 'pace', pace: 19.4 }, 'the API takes about 19 a second'],
  [{ why: 'quota' }, 'the quota of the API is nearly used up'],
  [{ why: 'rate' }, 'at the rate that is set'],
])('progress tells why requests wait: %j', (limits, words) => {
  expect(requestsLine({ ...IDLE, waiting: 2, ...limits })).toBe(
    `requests: 0 of at most 4 under way · 2 waiting · ${words}`,
  );
  expect([isHeldBack({ ...IDLE, ...limits }), isHeldBack(IDLE)]).toEqual([true, false]);
});
