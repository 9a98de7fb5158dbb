/** The pace: how it falls and rises, whatever the refusals. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cut, type Pace, rateAt } from '../../src/source/pace.ts';

const rate = fc.double({ min: 1, max: 10_000, noNaN: true });
const gap = fc.integer({ min: 0, max: 600_000 });
/** Refusals, each so long after the one before. */
const refusals = fc.array(fc.record({ gap, inDoubt: fc.boolean() }), {
  minLength: 1,
  maxLength: 30,
});

/** The pace after these refusals, and when the last one was. */
function paceAfter(lately: number, given: readonly { gap: number; inDoubt: boolean }[]) {
  let now = 0;
  let pace: Pace | null = null;
  for (const { gap, inDoubt } of given) {
    now += gap;
    pace = cut(pace, lately, now, inDoubt);
  }
  return { pace, now };
}

describe('a refusal', () => {
  test('lowers the pace by a tenth, by four tenths at most, and never below one a second', () => {
    fc.assert(
      fc.property(rate, refusals, fc.boolean(), (lately, given, inDoubt) => {
        const { pace, now } = paceAfter(lately, given);
        const before = rateAt(pace, now + 1000) ?? lately;
        const next = cut(pace, lately, now + 1000, inDoubt);
        if (next === null) return;
        const cutTo = rateAt(next, now + 1000) ?? Number.NaN;
        expect(cutTo).toBeGreaterThanOrEqual(Math.max(1, before * 0.6 - 1e-9));
        expect(cutTo).toBeLessThanOrEqual(Math.max(1, before * 0.9 + 1e-9));
      }),
    );
  });

  test('that is in doubt lowers it by a tenth, and changes nothing else', () => {
    fc.assert(
      fc.property(rate, refusals, (lately, given) => {
        const { pace, now } = paceAfter(lately, given);
        const before = rateAt(pace, now) ?? lately;
        const next = cut(pace, lately, now, true);
        if (next === null) {
          expect(before).toBeLessThan(20);
          return;
        }
        expect(rateAt(next, now)).toBeCloseTo(Math.max(1, before * 0.9), 6);
        const returnMs = rateAt(pace, now) === null ? 1_000 : pace?.returnMs;
        expect(next).toMatchObject({ ceiling: before, returnMs });
      }),
    );
  });

  test('soon after another one lowers it more: the ceiling was far too high', () => {
    const first = cut(null, 100, 0, false);
    expect(rateAt(first, 0)).toBeCloseTo(90);
    const soon = cut(first, 100, 1_000, false);
    const late = cut(first, 100, 6_000, false);
    expect(rateAt(soon, 1_000)).toBeLessThan(60);
    expect(rateAt(late, 6_000)).toBeGreaterThan(89);
  });

  test.each([
    [0.9, false],
    [19.9, true],
  ])('makes no pace of %d requests a second (in doubt: %s)', (lately, inDoubt) => {
    expect(cut(null, lately, 0, inDoubt)).toBeNull();
  });
});

describe('without refusals', () => {
  test('the pace rises all the time, is back at its ceiling within a minute, and is none within ten', () => {
    fc.assert(
      fc.property(rate, refusals, fc.array(gap, { maxLength: 20 }), (lately, given, waits) => {
        const { pace, now } = paceAfter(lately, given);
        if (pace === null) return;
        let last = 0;
        for (const wait of waits.toSorted((a, b) => a - b)) {
          const next = rateAt(pace, now + wait) ?? Number.POSITIVE_INFINITY;
          expect(next).toBeGreaterThanOrEqual(last);
          last = next;
        }
        const back = rateAt(pace, now + 60_000) ?? Number.POSITIVE_INFINITY;
        expect(back).toBeGreaterThanOrEqual(pace.ceiling - 1e-9);
        expect(rateAt(pace, now + 600_000)).toBeNull();
      }),
    );
  });
});
