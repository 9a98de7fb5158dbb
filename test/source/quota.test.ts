/** What answers say about requests left: every dialect in use, and distrust of everything else. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Quota, quotaOf } from '../../src/source/quota.ts';

const NOW = Date.UTC(2026, 2, 1);
const LIMIT = 900_000;
const read = (headers: Record<string, string | string[]>) => quotaOf(headers, NOW, LIMIT);

describe('a quota is read from', () => {
  const left = (remaining: number, seconds: number): Quota => ({
    remaining,
    resetMs: seconds * 1000,
  });
  test.each<[string, Record<string, string | string[]>, Quota]>([
    [
      'structured fields',
      { ratelimit: '"default";r=50;t=30', 'ratelimit-policy': '"default";q=100;w=60' },
      left(50, 30),
    ],
    [
      'several policies: the one with the least left',
      {
        ratelimit: '"hour";r=900;t=1800, "burst";r=2;t=1',
        'ratelimit-policy': '"burst";q=20;w=1,"hour";q=1000;w=3600',
      },
      left(2, 1),
    ],
    ['structured fields without a policy', { ratelimit: '"x";r=0;t=7' }, left(0, 7)],
    ['draft 07', { ratelimit: 'limit=100, remaining=50, reset=5' }, left(50, 5)],
    [
      'drafts up to 06',
      {
        'ratelimit-limit': '100, 100;w=10',
        'ratelimit-remaining': '3',
        'ratelimit-reset': '4',
      },
      left(3, 4),
    ],
    [
      'X-RateLimit with an instant in seconds',
      {
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(NOW / 1000 + 90),
      },
      left(0, 90),
    ],
    [
      'X-Rate-Limit with an instant in milliseconds',
      { 'x-rate-limit-remaining': '1', 'x-rate-limit-reset': String(NOW + 2500) },
      left(1, 2.5),
    ],
    [
      'a date',
      { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': 'Sun, 01 Mar 2026 00:00:10 GMT' },
      left(1, 10),
    ],
    [
      'fields that came twice',
      { 'ratelimit-remaining': ['9', '4'], 'ratelimit-reset': '1' },
      left(4, 1),
    ],
    [
      'a far instant, clamped',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '99999999' },
      left(0, LIMIT / 1000),
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
