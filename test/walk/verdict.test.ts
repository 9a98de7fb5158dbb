/** The verdict: what suffices, what is lacking, and that no claim against a window ever makes it complete. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claim } from '../../src/model.ts';
import {
  type Evidence,
  isAudited,
  isRound,
  type Learned,
  verdict,
} from '../../src/walk/rules/verdict.ts';

const NOTHING: Learned = { calibrated: 0, lowerBoundFrom: null, provenSize: 0 };

function claim(given: Partial<Claim> = {}): Claim {
  return {
    start: 0,
    length: 100,
    came: 0,
    total: null,
    lowerBound: false,
    totalMissing: false,
    more: false,
    ...given,
  };
}

function evidence(given: Partial<Evidence> = {}): Evidence {
  return { stored: 0, end: 'last', claims: [], ...given };
}

const said = (given: Partial<Evidence>, learned: Partial<Learned> = {}) =>
  verdict(evidence(given), { ...NOTHING, ...learned });

it('one window in fifty is audited, of each of several streams, which take turns with their numbers', () => {
  const numbers = { first: fc.nat(1_000_000), streams: fc.integer({ min: 1, max: 5 }) };
  fc.assert(
    fc.property(fc.record({ ...numbers, perDay: fc.integer({ min: 1, max: 12 }) }), (given) => {
      const { first, streams, perDay } = given;
      const days = Array.from({ length: 1_000 }, (_, day) => first + day * streams * perDay);
      const audited = days.filter((windowId) => isAudited({ windowId })).length;
      expect(audited).toBeGreaterThanOrEqual(10);
      expect(audited).toBeLessThanOrEqual(40);
    }),
  );
});

describe('what suffices', () => {
  it('is a calibrated total alone, but for a window that is audited: its end is asked for all the same', () => {
    const told = { stored: 9, claims: [claim({ came: 9, total: 9 })] };
    const calibrated = { calibrated: 12 };
    expect(said({ ...told, end: 'open' }, calibrated)).toMatchObject({ proof: { kind: 'total' } });
    expect(said({ ...told, end: 'open', audited: true }, calibrated)).toMatchObject({
      kind: 'lacking',
      needs: 'end',
    });
    expect(said({ ...told, end: 'last', audited: true }, calibrated)).toMatchObject({
      proof: { kind: 'total' },
    });
  });

  it('is no total alone where its last answer says that there is more: its end is asked for', () => {
    const full = claim({ length: 8, came: 8, total: 8, more: true });
    const learned = { calibrated: 12 };
    const given = { stored: 8, end: 'open', claims: [full] } as const;
    expect(said(given, learned)).toMatchObject({ kind: 'lacking', needs: 'end' });
    const end = claim({ start: 7, length: 2, came: 1, total: 8 });
    const asked = (more: boolean) =>
      said({ stored: 8, end: 'last', claims: [full, { ...end, more }] }, learned);
    expect(asked(false)).toMatchObject({ proof: { kind: 'total' } });
    expect(asked(true)).toMatchObject({ kind: 'against' });
  });

  it('is an empty window that was empty again', () => {
    expect(said({ end: 'nothing', claims: [claim(), claim()] })).toMatchObject({
      kind: 'complete',
      proof: { kind: 'empty', rule: 'C3' },
    });
  });

  it('is the last record for fewer records than any cap', () => {
    expect(said({ stored: 9, claims: [claim({ came: 9 })] })).toMatchObject({
      kind: 'complete',
      proof: { kind: 'probe', rule: 'C4' },
    });
  });

  it('is the last record for a window smaller than one that its halves have proven, and no round number', () => {
    const claims = [claim({ came: 57 })];
    expect(said({ stored: 57, claims })).toMatchObject({ kind: 'lacking', needs: 'halves' });
    expect(said({ stored: 57, claims }, { provenSize: 58 })).toMatchObject({ kind: 'complete' });
    expect(said({ stored: 57, claims }, { provenSize: 57 })).toMatchObject({ needs: 'halves' });
    expect(said({ stored: 50, claims: [claim({ came: 50 })] }, { provenSize: 58 })).toMatchObject({
      needs: 'halves',
    });
  });

  it('is not the last record alone where the window held more when it was last proven', () => {
    const evidence = { stored: 57, claims: [claim({ came: 57 })] };
    const learned = { provenSize: 100 };
    expect(said({ ...evidence, held: 58 }, learned)).toMatchObject({ needs: 'halves' });
    for (const held of [57, 20, null])
      expect(said({ ...evidence, held }, learned)).toMatchObject({ kind: 'complete' });
  });

  it('is a calibrated total on every answer, without an end', () => {
    const claims = [claim({ came: 57, total: 57 })];
    const given = { stored: 57, end: 'open', claims } as const;
    expect(said(given, { provenSize: 60 })).toMatchObject({ kind: 'lacking', needs: 'end' });
    expect(said(given, { provenSize: 60, calibrated: 60 })).toMatchObject({
      kind: 'complete',
      proof: { kind: 'total', rule: 'C5', total: 57 },
    });
    expect(said(given, { calibrated: 12, provenSize: 12 })).toMatchObject({
      kind: 'lacking',
      needs: 'totals of halves',
    });
    expect(said(given, { calibrated: 60, provenSize: 60, lowerBoundFrom: 50 })).toMatchObject({
      needs: 'end',
    });
  });

  it('is two halves that hold what the whole does, unless one of them holds as much', () => {
    const halves = { more: 0, less: 0, oneSided: false, walks: [2, 3] };
    const given = { stored: 1_000, claims: [claim({ came: 1_000 })] };
    expect(said({ ...given, halves })).toMatchObject({ kind: 'complete', proof: { rule: 'C6' } });
    expect(said({ ...given, halves: { ...halves, oneSided: true } })).toMatchObject({
      kind: 'lacking',
    });
  });
});

describe('what speaks against a window', () => {
  const small = { stored: 3, claims: [claim({ came: 3 })] };

  it.each([
    ['a higher total', claim({ came: 1, start: 2, total: 4 })],
    ['a higher lower bound', claim({ came: 1, start: 2, total: 4, lowerBound: true })],
    ['a record behind the last', claim({ start: 3, came: 1 })],
    ['more, says the answer at the end', claim({ start: 2, came: 1, more: true })],
    ['a total that is missing', claim({ came: 1, start: 2, totalMissing: true })],
  ])('is %s', (_, against) => {
    expect(said(small)).toMatchObject({ kind: 'complete' });
    expect(said({ ...small, claims: [...small.claims, against] })).toMatchObject({
      kind: 'against',
    });
  });

  it('is what each answer at the end says, and not what only those say that are as long as any', () => {
    const page = claim({ length: 1_000, came: 100, more: true });
    const end = claim({ length: 1_000, start: 99, came: 1 });
    const heard = (...claims: Claim[]) => said({ stored: 100, claims }, { provenSize: 200 }).kind;
    expect(heard(page)).toBe('against');
    expect(heard(page, { ...end, more: true })).toBe('against');
    expect(heard(page, { ...end, more: true }, claim({ start: 100 }))).toBe('against');
    expect(heard(page, { ...page, more: false })).toBe('against');
    expect(heard(page, end)).toBe('lacking');
    expect(heard(page, end, { ...end, length: 1, more: true })).toBe('lacking');
  });

  it('is a half that shows what the whole does not, or lacks what it does', () => {
    for (const difference of [
      { more: 1, less: 0 },
      { more: 0, less: 1 },
    ])
      expect(
        said({ stored: 57, halves: { ...difference, oneSided: false, walks: [] } }),
      ).toMatchObject({ kind: 'against' });
  });
});

it('takes round numbers for what they may be', () => {
  for (const round of [10, 50, 100, 1_000, 2_400, 10_000, 16, 64, 65_536, 99, 9_999, 32_767])
    expect(isRound(round)).toBe(true);
  for (const other of [0, 5, 9, 57, 119, 199, 1_234, 2_410, 10_001])
    expect(isRound(other)).toBe(false);
});

describe('for the same stored records', () => {
  const claims = fc.record({
    start: fc.nat(40),
    length: fc.integer({ min: 1, max: 50 }),
    came: fc.nat(30),
    total: fc.option(fc.nat(60)),
    lowerBound: fc.boolean(),
    totalMissing: fc.boolean(),
    more: fc.boolean(),
  });
  const evidences = fc.record(
    {
      stored: fc.nat(40),
      end: fc.constantFrom('last' as const, 'nothing' as const, 'open' as const),
      claims: fc.array(claims, { maxLength: 4 }),
      repeated: fc.boolean(),
      unlinked: fc.boolean(),
      agreed: fc.boolean(),
      halves: fc.record({
        more: fc.nat(1),
        less: fc.nat(1),
        oneSided: fc.boolean(),
        walks: fc.constant([]),
      }),
      totalOfHalves: fc.nat(60),
      audited: fc.boolean(),
    },
    { requiredKeys: ['stored', 'end', 'claims'] },
  );
  const learned = fc.record({
    calibrated: fc.nat(60),
    lowerBoundFrom: fc.option(fc.nat(60)),
    provenSize: fc.nat(60),
  });

  it('one more claim of a record that is not stored, or of a higher total, never makes complete what was not', () => {
    fc.assert(
      fc.property(evidences, learned, claims, (given, known, more) => {
        const adverse =
          (more.total !== null && more.total > given.stored) ||
          (more.came > 0 && more.start + more.came > given.stored);
        fc.pre(adverse);
        const after = verdict({ ...given, claims: [...given.claims, more] }, known);
        expect(after.kind).toBe('against');
      }),
      { numRuns: 2_000 },
    );
  });

  it('where lists are cut otherwise than by their number, only halves that agree make complete', () => {
    const known = { ...NOTHING, cutOtherwise: true };
    fc.assert(
      fc.property(evidences, (given) => {
        if (verdict(given, known).kind !== 'complete') return;
        expect(given.halves).toMatchObject({ more: 0, less: 0 });
      }),
      { numRuns: 2_000 },
    );
  });

  it('nothing is complete against any claim, whatever the order of the claims', () => {
    fc.assert(
      fc.property(evidences, learned, (given, known) => {
        const once = verdict(given, known);
        const turned = verdict({ ...given, claims: [...given.claims].reverse() }, known);
        expect(turned.kind).toBe(once.kind);
        if (once.kind !== 'complete') return;
        expect(once.proof.records).toBe(given.stored);
        for (const { total, totalMissing } of given.claims) {
          expect(total ?? 0).toBeLessThanOrEqual(given.stored);
          expect(totalMissing).toBe(false);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
