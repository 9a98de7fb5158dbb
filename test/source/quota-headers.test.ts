/** What answers say about requests left: every dialect in use, and distrust of everything else (H23). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QuotaCount } from '../../src/source/quota.ts';
import { type Quota, quotaOf } from '../../src/source/quota-headers.ts';

const NOW = Date.UTC(2026, 2, 1);
const LIMIT = 900_000;
const read = (headers: Record<string, string | string[]>) => quotaOf(headers, NOW, LIMIT);

describe('a quota is read from', () => {
  const left = (remaining: number, seconds: number, limit: number | null): Quota => ({
    remaining,
    resetMs: seconds * 1000,
    limit,
  });
  test.each<[string, Record<string, string | string[]>, Quota]>([
    [
      'structured fields',
      { ratelimit: '"default";r=50;t=30', 'ratelimit-policy': '"default";q=100;w=60' },
      left(50, 30, 100),
    ],
    [
      'several policies: the one with the least left',
      {
        ratelimit: '"hour";r=900;t=1800, "burst";r=2;t=1',
        'ratelimit-policy': '"burst";q=20;w=1,"hour";q=1000;w=3600',
      },
      left(2, 1, 20),
    ],
    ['structured fields without a policy', { ratelimit: '"x";r=0;t=7' }, left(0, 7, null)],
    ['draft 07', { ratelimit: 'limit=100, remaining=50, reset=5' }, left(50, 5, 100)],
    [
      'drafts up to 06',
      {
        'ratelimit-limit': '100, 100;w=10',
        'ratelimit-remaining': '3',
        'ratelimit-reset': '4',
      },
      left(3, 4, 100),
    ],
    [
      'X-RateLimit with an instant in seconds',
      {
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(NOW / 1000 + 90),
      },
      left(0, 90, 60),
    ],
    [
      'X-Rate-Limit with an instant in milliseconds',
      { 'x-rate-limit-remaining': '1', 'x-rate-limit-reset': String(NOW + 2500) },
      left(1, 2.5, null),
    ],
    [
      'a date',
      { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': 'Sun, 01 Mar 2026 00:00:10 GMT' },
      left(1, 10, null),
    ],
    [
      'fields that came twice',
      { 'ratelimit-remaining': ['9', '4'], 'ratelimit-reset': '1' },
      left(4, 1, null),
    ],
    [
      'a far instant, clamped',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '99999999' },
      left(0, LIMIT / 1000, null),
    ],
  ])('%s', (_, headers, quota) => {
    expect(read(headers)).toEqual(quota);
  });

  test.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['only a limit', { 'ratelimit-limit': '100' }],
    ['no reset', { 'x-ratelimit-remaining': '0' }],
    ['a reset that is past', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1500000000' }],
    ['a reset of zero', { 'ratelimit-remaining': '0', 'ratelimit-reset': '0' }],
    ['a negative rest', { 'ratelimit-remaining': '-1', 'ratelimit-reset': '5' }],
    ['words', { ratelimit: 'slow down please', 'x-ratelimit-remaining': 'few' }],
    ['fractions of requests', { 'ratelimit-remaining': '1.5', 'ratelimit-reset': '5' }],
  ])('but not from %s', (_, headers) => {
    expect(read(headers)).toBeNull();
  });

  test('garbage gives nothing or a quota within its bounds', () => {
    const value = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[0-9rtqw=;," .-]{0,40}$/),
      fc.double().map(String),
    );
    const name = fc.constantFrom(
      'ratelimit',
      'ratelimit-policy',
      'ratelimit-remaining',
      'ratelimit-reset',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'x-rate-limit-limit',
    );
    fc.assert(
      fc.property(fc.dictionary(name, value), (headers) => {
        const quota = read(headers);
        if (quota === null) return;
        expect(Number.isSafeInteger(quota.remaining) && quota.remaining >= 0).toBe(true);
        expect(quota.resetMs > 0 && quota.resetMs <= LIMIT).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('what is left', () => {
  const free = Number.NEGATIVE_INFINITY;

  test('is used freely until little is left, then spread, then waited for', () => {
    const count = new QuotaCount();
    const first = count.sent(0);
    count.heard({ remaining: 5, resetMs: 1000, limit: 10 }, first, 0);
    expect(count.opensAt(0)).toBe(free);
    for (let more = 0; more < 3; more++) count.sent(100);
    // Two of ten are left for 900 ms.
    expect(count.opensAt(100)).toBe(400);
    count.sent(400);
    count.sent(700);
    expect(count.opensAt(700)).toBe(1000);
    expect(count.opensAt(1000)).toBe(free);
  });

  test('does not count what went before the answer twice', () => {
    const count = new QuotaCount();
    const first = count.sent(0);
    count.sent(0);
    count.sent(0);
    // The server has not seen the other two when it says that two are left.
    count.heard({ remaining: 2, resetMs: 1000, limit: null }, first, 10);
    expect(count.opensAt(10)).toBe(1010);
  });
});
