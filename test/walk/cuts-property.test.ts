/** The reasoning for cuts (docs/completeness.md C8), held against every way in which a source may treat the edges of a window. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { around } from '../../src/plan/split.ts';

/** Quarters of a second, so that fractions are exact. */
const PER_SECOND = 4;

/** How a source treats the edges of a window. */
interface Edges {
  /** Records are compared with their fractions, or by whole seconds. */
  readonly fractions: boolean;
  readonly excludesFrom: boolean;
  readonly excludesTo: boolean;
  /** Seconds by which both edges are moved outwards. */
  readonly padding: number;
  /** Seconds to which edges are rounded; 1: not at all. */
  readonly rounding: number;
  readonly inwards: boolean;
}

type Counts = ReadonlyMap<number, number>;

/** What the source shows from one second to another: records by their time, in quarters of a second, with copies. */
function shown(records: readonly number[], from: number, to: number, edges: Edges): Counts {
  const { rounding, inwards, padding } = edges;
  const [up, down] = [Math.ceil, Math.floor].map(
    (round) => (time: number) => round(time / rounding) * rounding,
  ) as [(time: number) => number, (time: number) => number];
  const first = (inwards ? up(from) : down(from)) - padding;
  const last = (inwards ? down(to) : up(to + 1) - 1) + padding;
  const counts = new Map<number, number>();
  for (const time of records) {
    const at = edges.fractions ? time / PER_SECOND : Math.floor(time / PER_SECOND);
    const after = edges.excludesFrom ? at > first : at >= first;
    const before = edges.excludesTo ? at < last : at <= last;
    if (after && before) counts.set(time, (counts.get(time) ?? 0) + 1);
  }
  return counts;
}

function sum(...parts: readonly (readonly [Counts, 1 | -1])[]): Map<number, number> {
  const total = new Map<number, number>();
  for (const [counts, sign] of parts)
    for (const [time, copies] of counts) {
      const now = (total.get(time) ?? 0) + sign * copies;
      if (now === 0) total.delete(time);
      else total.set(time, now);
    }
  return total;
}

const edges: fc.Arbitrary<Edges> = fc.record({
  fractions: fc.boolean(),
  excludesFrom: fc.boolean(),
  excludesTo: fc.boolean(),
  padding: fc.constantFrom(0, 0, 1, 5, 60),
  rounding: fc.constantFrom(1, 1, 10, 60),
  inwards: fc.boolean(),
});

it('two neighbours and the correction of their cut hold what the whole span shows, twins counted', () => {
  const cases = fc.record({
    edges,
    // Lengths that rounding does not make overlap as a whole: a cut needs eight minutes.
    before: fc.integer({ min: 480, max: 3_000 }),
    after: fc.integer({ min: 480, max: 3_000 }),
    offset: fc.nat(120),
    records: fc.array(fc.integer({ min: -3_600 * PER_SECOND, max: 3_600 * PER_SECOND }), {
      maxLength: 30,
    }),
    near: fc.array(fc.integer({ min: -8 * PER_SECOND, max: 8 * PER_SECOND }), { maxLength: 30 }),
    reach: fc.constantFrom(120, 121, 200),
  });
  fc.assert(
    fc.property(cases, (given) => {
      // The last second before the cut, at any place of its minute.
      const s = 86_400 + given.offset;
      const records = [...given.records, ...given.near].map((time) => time + s * PER_SECOND);
      const show = (from: number, to: number) => shown(records, from, to, given.edges);
      const [from, to] = [s - given.before, s + given.after];
      const [r] = [given.reach];
      const correction = sum(
        [show(s - r, s + 1 + r), 1],
        [show(s - r, s), -1],
        [show(s + 1, s + 1 + r), -1],
      );
      const together = sum([show(from, s), 1], [show(s + 1, to), 1], [correction, 1]);
      expect(together).toEqual(new Map(show(from, to)));
      // Neither side shows what the span across does not.
      for (const side of [show(s - r, s), show(s + 1, s + 1 + r)])
        for (const [time, copies] of side)
          expect(show(s - r, s + 1 + r).get(time) ?? 0).toBeGreaterThanOrEqual(copies);
      // What it adds neither shows once more, what it takes away both do.
      for (const [time, copies] of correction) {
        const [a, b] = [show(from, s).get(time) ?? 0, show(s + 1, to).get(time) ?? 0];
        if (copies < 0) expect(Math.min(a, b)).toBeGreaterThan(0);
        else expect(a + b).toBeLessThan(show(from, to).get(time) ?? 0);
      }
    }),
    { numRuns: 5_000 },
  );
});

it('one second of reach will do where edges are neither padded nor rounded', () => {
  const exact = edges.map((given) => ({ ...given, padding: 0, rounding: 1 }));
  const times = fc.array(fc.integer({ min: -6 * PER_SECOND, max: 6 * PER_SECOND }), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(exact, times, (given, offsets) => {
      const s = 1_000;
      const records = offsets.map((offset) => offset + s * PER_SECOND);
      const show = (from: number, to: number) => shown(records, from, to, given);
      const correction = sum(
        [show(s - 1, s + 2), 1],
        [show(s - 1, s), -1],
        [show(s + 1, s + 2), -1],
      );
      const together = sum([show(s - 9, s), 1], [show(s + 1, s + 9), 1], [correction, 1]);
      expect(together).toEqual(new Map(show(s - 9, s + 9)));
    }),
    { numRuns: 5_000 },
  );
});

it('asks for spans around the second, on both sides of midnight', () => {
  expect(around('2026-03-01 23:59:59', -120, 121)).toMatchObject({
    from: '2026-03-01 23:57:59',
    to: '2026-03-02 00:02:00',
  });
});
