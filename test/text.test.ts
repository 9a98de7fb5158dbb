/** Counts, bytes and durations for people: the shapes, and no odd number where the unit changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBytes, formatCount, formatDuration } from '../src/text.ts';

describe('formatCount', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [1234567, '1,234,567'],
    [-1234, '-1,234'],
    [12345678901234567890n, '12,345,678,901,234,567,890'],
  ])('%s is %s', (count, text) => expect(formatCount(count)).toBe(text));

  it('only adds commas', () => {
    fc.assert(fc.property(fc.bigInt(), (n) => BigInt(formatCount(n).replaceAll(',', '')) === n));
  });
});

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [1234, '1.23 kB'],
    [9_994, '9.99 kB'],
    [9_996, '10.0 kB'],
    [45_600_000, '45.6 MB'],
    [99_960, '100 kB'],
    [999_499, '999 kB'],
    [999_500, '1.00 MB'],
    [789e9, '789 GB'],
    [5e15, '5.00 PB'],
    [5e18, '5000 PB'],
  ])('%s is %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it('takes at most four characters below 1000 PB', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 9.99e17, noNaN: true }), (bytes) =>
        /^(\d{1,3}|\d\.\d\d|\d\d\.\d) [kMGTP]?B$/.test(formatBytes(bytes)),
      ),
    );
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [850.4, '850 ms'],
    [999.6, '1.0 s'],
    [12_345, '12.3 s'],
    [59_949, '59.9 s'],
    [59_960, '1 min 00 s'],
    [245_000, '4 min 05 s'],
    [3_599_499, '59 min 59 s'],
    [3_599_600, '1 h 00 min'],
    [11_220_000, '3 h 07 min'],
    [86_399_000, '1 d 00 h'],
    [187_200_000, '2 d 04 h'],
  ])('%s is %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it('never shows 60 of the smaller unit, or 24 hours beside days', () => {
    const any = fc.double({ min: 0, max: 1e11, noNaN: true });
    const unit = fc.constantFrom(1_000, 60_000, 3_600_000, 86_400_000);
    const near = fc
      .tuple(unit, fc.nat(3), fc.integer({ min: -30, max: 30 }))
      .map(([ms, times, off]) => ms * Math.max(0, times + off / 3_000));
    fc.assert(
      fc.property(fc.oneof(any, near), (ms) => {
        // 60 days are well: no larger unit is made of them.
        expect(formatDuration(ms)).not.toMatch(/\b60(\.0)? (s|min)|\b1000 ms|\b24 h/);
      }),
      { numRuns: 1_000 },
    );
  });
});
