/** What the log tells of the limiter: what changed, and not each request. */
import { describe, expect, test } from 'vitest';
import { LimitNews } from '../../src/commands/limit-news.ts';
import { silentLogger } from '../../src/log.ts';
import { isHeldBack, requestsLine } from '../../src/report/progress-text.ts';
import type { LimiterState } from '../../src/source/limiter.ts';

const idle: LimiterState = {
  limit: 4,
  most: 4,
  underWay: 0,
  waiting: 0,
  why: null,
  pace: null,
  heldMs: 0,
  slowness: 1,
  requests: 0,
  refused: 0,
};

function told(...states: Partial<LimiterState>[]): string[] {
  const lines: string[] = [];
  const note = (...line: unknown[]) => void lines.push(String(line.at(-1)));
  const news = new LimitNews({ ...silentLogger, info: note, warn: note });
  for (const state of states) news.onLimits({ ...idle, ...state });
  return lines;
}

describe('the log tells', () => {
  test('a long hold once, and a later one again', () => {
    expect(
      told({ heldMs: 60_000 }, { heldMs: 30_000 }, { heldMs: 900 }, {}, { heldMs: 7000 }),
    ).toEqual([
      'the API refuses requests; all of them wait for 60 s',
      'the API refuses requests; all of them wait for 7 s',
    ]);
  });

  test('no short hold', () => expect(told({ heldMs: 1000 }, {})).toEqual([]));

  test('a pace that was found, when it differs much, and when there is none any more', () => {
    expect(told({ pace: 17 }, { pace: 20 }, { pace: 8 }, { pace: 9 }, {})).toEqual([
      'the API limits requests: going on with about 17 a second',
      'the API limits requests: going on with about 8 a second',
      'the API takes requests freely again',
    ]);
  });

  test('fewer requests at a time, and all of them again', () => {
    expect(told({ limit: 3 }, { limit: 2 }, { limit: 1 }, { limit: 3 }, { limit: 4 })).toEqual([
      'answers take long: 2 of 4 requests at a time',
      'answers take long: 1 of 4 requests at a time',
      'answers take no longer than usual: 4 requests at a time',
    ]);
  });
});

test.each<[Partial<LimiterState>, string]>([
  [{ why: 'hold', heldMs: 61_000 }, 'all held for 1 min 01 s, as the API asked'],
  [{ why: 'pace', pace: 19.4 }, 'the API takes about 19 a second'],
  [{ why: 'quota' }, 'the quota of the API is nearly used up'],
  [{ why: 'rate' }, 'at the rate that is set'],
])('progress tells why requests wait: %j', (limits, words) => {
  expect(requestsLine({ ...idle, waiting: 2, ...limits })).toBe(
    `requests: 0 of at most 4 under way · 2 waiting · ${words}`,
  );
  expect([isHeldBack({ ...idle, ...limits }), isHeldBack(idle)]).toEqual([true, false]);
});
