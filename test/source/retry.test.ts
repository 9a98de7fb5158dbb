/** Waits are drawn within their bounds, and a Retry-After is read in all its forms and never believed too far. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, nextWait, parseRetryAfter } from '../../src/source/retry.ts';

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0);
const LIMIT = 300_000;
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('backoff', () => {
  test('lies between the floor and the floor plus the cap', () => {
    fc.assert(
      fc.property(
        fc.nat(5000),
        fc.nat(60_000),
        fc.nat(60_000),
        fc.nat(LIMIT),
        unit,
        (retry, baseMs, capMs, floorMs, random) => {
          const wait = backoffMs({ retry, baseMs, capMs, floorMs, random });
          expect(Number.isSafeInteger(wait)).toBe(true);
          expect(wait).toBeGreaterThanOrEqual(floorMs);
          expect(wait).toBeLessThanOrEqual(floorMs + capMs);
        },
      ),
    );
  });

  test('doubles its range until the cap', () => {
    const waits = [0, 1, 2, 3, 4, 5].map((retry) =>
      backoffMs({ retry, baseMs: 1000, capMs: 8000, floorMs: 0, random: 0.5 }),
    );
    expect(waits).toEqual([500, 1000, 2000, 4000, 4000, 4000]);
  });
});

describe('the decision', () => {
  const policy = {
    attempts: 3,
    timeMs: 60_000,
    baseMs: 1000,
    capMs: 30_000,
    retryAfterLimitMs: LIMIT,
  };
  const so = { failures: 1, refusals: 0, elapsedMs: 0, floorMs: 0, random: 0.5 };
  test.each([
    ['an attempt is left', so, 500],
    ['no attempt is left', { ...so, failures: 3 }, null],
    ['refusals are no attempts', { ...so, failures: 3, refusals: 1 }, 2000],
    ['the time is over', { ...so, elapsedMs: 60_000 }, null],
    [
      'the server asks for more than the time left',
      { ...so, elapsedMs: 30_000, floorMs: 30_001 },
      null,
    ],
    ['the jitter would pass the time left', { ...so, elapsedMs: 59_900 }, 100],
  ])('when %s', (_, state, wait) => expect(nextWait(policy, state)).toBe(wait));

  test('never waits beyond the time left', () => {
    fc.assert(
      fc.property(
        fc.nat(5),
        fc.nat(70_000),
        fc.nat(70_000),
        unit,
        (failures, elapsedMs, floorMs, random) => {
          const wait = nextWait(policy, {
            failures,
            refusals: 0,
            elapsedMs,
            floorMs,
            random,
          });
          if (wait !== null) expect(wait + elapsedMs).toBeLessThanOrEqual(policy.timeMs);
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
