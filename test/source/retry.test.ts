/** Waits are drawn within their bounds, and a Retry-After is read in all its forms and never believed too far. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextWait, parseRetryAfter, type RetryPolicy } from '../../src/source/retry.ts';

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0);
const LIMIT = 300_000;
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const policy: RetryPolicy = {
  timeMs: 60_000,
  baseMs: 1000,
  capMs: 8000,
  retryAfterLimitMs: LIMIT,
};
const so = { ms: 0, namedMs: 0, pauseMs: null, failures: 1, random: 0.5 };

describe('the decision', () => {
  test('doubles the range of the wait until the cap', () => {
    const waits = [1, 2, 3, 4, 5, 6, 1000].map((failures) => nextWait(policy, { ...so, failures }));
    expect(waits).toEqual([500, 1000, 2000, 4000, 4000, 4000, 4000]);
  });

  test.each<[string, Parameters<typeof nextWait>[1], number | null]>([
    ['however often it failed', { ...so, failures: 10_000 }, 4000],
    ['the time is over', { ...so, ms: 60_000 }, null],
    ['the wait would pass the time left', { ...so, ms: 59_900 }, 100],
    ['a time was named: the wait comes on top', { ...so, retryAfterMs: 7000 }, 7500],
    ['named pauses took longer than the time', { ...so, namedMs: LIMIT }, 500],
    ['named pauses took longer than they may', { ...so, namedMs: LIMIT + 1 }, null],
    ['everyone pauses: no wait of its own', { ...so, pauseMs: 1234, retryAfterMs: 1000 }, 1234],
    ['everyone pauses, and the time is over', { ...so, pauseMs: 1234, ms: 60_000 }, null],
  ])('%s', (_, state, wait) => expect(nextWait(policy, state)).toBe(wait));

  test('waits at least what was named, and without that never beyond the time left', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.nat(70_000),
        fc.option(fc.integer({ min: 1, max: LIMIT }), { nil: undefined }),
        unit,
        (failures, ms, retryAfterMs, random) => {
          const wait = nextWait(policy, { ...so, failures, ms, retryAfterMs, random });
          if (wait === null) {
            expect(ms).toBeGreaterThanOrEqual(policy.timeMs);
            return;
          }
          expect(Number.isSafeInteger(wait)).toBe(true);
          expect(wait).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
          expect(wait).toBeLessThanOrEqual((retryAfterMs ?? 0) + policy.capMs);
          if (retryAfterMs === undefined) expect(wait + ms).toBeLessThanOrEqual(policy.timeMs);
        },
      ),
    );
  });
});

describe('Retry-After (H22)', () => {
  test.each([
    ['1', 1000],
    [' 7 ', 7000],
    ['0', undefined],
    ['1000000000', LIMIT],
    ['9'.repeat(400), LIMIT],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
    ['Sun Mar  1 12:00:30 2026', 30_000],
    ['Sun, 01 Mar 2099 12:00:30 GMT', LIMIT],
    ['Sun, 01 Mar 2026 11:59:59 GMT', undefined],
    ['Sunday, 06-Nov-94 08:49:37 GMT', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e9', undefined],
    ['soon', undefined],
    ['', undefined],
    ['Sun, 01 Foo 2026 12:00:30 GMT', undefined],
    ['Sun, 41 Mar 2026 12:00:30 GMT', undefined],
    ['Sun, 01 Mar 2026 25:00:30 GMT', undefined],
    ['2026-03-01 12:00:30', undefined],
    [undefined, undefined],
  ])('%j is %j ms', (text, ms) => expect(parseRetryAfter(text, NOW, LIMIT)).toBe(ms));

  test('is never NaN, negative or beyond the limit', () => {
    const text = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.double().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(text, fc.nat(2 ** 31 - 1), (given, limit) => {
        const ms = parseRetryAfter(given, NOW, limit);
        if (ms === undefined) return;
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(limit);
      }),
    );
  });
});
