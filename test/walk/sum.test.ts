/** Do the parts of a split add up: what suffices, and that nothing that is told against it ever makes it whole. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeSum, type SplitEvidence } from '../../src/walk/rules/sum.ts';
import type { Learned } from '../../src/walk/rules/verdict.ts';

const NOTHING: Learned = { calibrated: 0, lowerBoundFrom: null, provenSize: 0 };
const CALIBRATED: Learned = { ...NOTHING, calibrated: 12 };
const QUIET: SplitEvidence = {
  ...{ by: 'time', held: 100, toldAtSplit: null, cutsTold: true },
  ...{ shows: true, refused: false, total: null, lowerBound: false, totalMissing: false },
};

const judged = (given: Partial<SplitEvidence>, learned = NOTHING) =>
  judgeSum({ ...QUIET, ...given }, learned);

describe('parts', () => {
  it('are all where an exact total says so, whether their cuts were told or not', () => {
    expect(judged({ total: 100, cutsTold: false }, CALIBRATED)).toBe('equal');
    expect(judged({ total: 101 }, CALIBRATED)).toBe('short');
    expect(judged({ total: 100, lowerBound: true, cutsTold: false }, CALIBRATED)).toBe('short');
  });

  it('hold more than an exact total only where nothing stands between them unseen, and the window shows something', () => {
    expect(judged({ total: 99 }, CALIBRATED)).toBe('above');
    expect(judged({ total: 99, cutsTold: false }, CALIBRATED)).toBe('short');
    expect(judged({ total: 99, shows: false }, CALIBRATED)).toBe('short');
    expect(judged({ total: 99, by: 'level' }, CALIBRATED)).toBe('short');
  });

  it('are all without an exact total where their cuts were told, and no total says that there is more', () => {
    expect(judged({})).toBe('covered');
    expect(judged({ total: 100 })).toBe('covered');
    expect(judged({ total: 101 })).toBe('short');
    expect(judged({ cutsTold: false })).toBe('short');
  });

  it('are doubted where a total is missing, or was higher and cannot be asked for any more', () => {
    expect(judged({ totalMissing: true })).toBe('doubtful');
    expect(judged({ totalMissing: true, toldAtSplit: 100 })).toBe('short');
    expect(judged({ shows: false, refused: true, toldAtSplit: 101 })).toBe('doubtful');
    expect(judged({ shows: false, refused: true, toldAtSplit: 100 })).toBe('covered');
  });
});

it('a higher total, one that is missing, a higher one before or a cut that was not told never makes whole what was not', () => {
  const total = fc.option(fc.nat(30));
  const evidence: fc.Arbitrary<SplitEvidence> = fc.record({
    ...{ by: fc.constantFrom('time', 'level'), held: fc.nat(30), toldAtSplit: total, total },
    ...{ cutsTold: fc.boolean(), shows: fc.boolean(), refused: fc.boolean() },
    ...{ lowerBound: fc.boolean(), totalMissing: fc.boolean() },
  });
  const learned = fc.record({
    ...{ calibrated: fc.nat(20), lowerBoundFrom: fc.option(fc.nat(30)) },
    provenSize: fc.nat(30),
  });
  const worse = fc.constantFrom<(given: SplitEvidence) => SplitEvidence>(
    (given) => ({ ...given, total: Math.max(given.total ?? 0, given.held) + 1 }),
    (given) => ({ ...given, total: null, totalMissing: true }),
    (given) => ({ ...given, toldAtSplit: (given.toldAtSplit ?? 0) + 1 }),
    (given) => ({ ...given, cutsTold: false }),
    // One below what they hold says nothing against them, as it may be more.
    (given) => ({ ...given, lowerBound: given.lowerBound || (given.total ?? 0) >= given.held }),
  );
  const isWhole = (sum: string) => sum === 'equal' || sum === 'covered';
  fc.assert(
    fc.property(evidence, learned, worse, (given, known, change) => {
      if (isWhole(judgeSum(given, known))) return;
      expect(isWhole(judgeSum(change(given), known))).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});
