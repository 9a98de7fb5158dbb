/** The decisions of proof.ts against any list that holds still: they end in bounded steps, and never before the list does (I4). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  afterBreak,
  afterConfirm,
  afterFar,
  afterPage,
  afterProbe,
  type ProbeSeen,
  ROUND_CAPS,
  type Step,
} from '../../src/export/proof.ts';
import { nothingSeen, skipOf, type WalkSeen, withPage } from '../../src/export/seen.ts';
import { HOLES } from './any-source.ts';
import type { Totals } from './imagined-source.ts';

interface Still {
  readonly list: readonly number[];
  readonly totals: Totals;
  readonly clamp: number;
  /** The answers of which number come short. */
  readonly short: readonly boolean[];
  readonly pageLength: number;
}

const still: fc.Arbitrary<Still> = fc
  .record({
    list: fc.oneof(
      fc
        .integer({ min: 0, max: 60 })
        .map((count) => Array.from({ length: count }, (_, index) => index)),
      fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 30 }),
      fc
        .constantFrom(...ROUND_CAPS)
        .map((count) => Array.from({ length: Math.min(count, 5000) }, (_, index) => index)),
    ),
    totals: fc.constantFrom<Totals>('none', 'exact', 'page', 'beyond', 'bound'),
    clamp: fc.integer({ min: 1, max: 80 }),
    short: fc.oneof(fc.constant([]), fc.array(fc.boolean(), { maxLength: 4 })),
    pageLength: fc.integer({ min: 1, max: 80 }),
  })
  // A total that is too small and met exactly where a page comes short is a lie that nothing contradicts.
  .map((drawn) => (drawn.totals === 'bound' ? { ...drawn, short: [] } : drawn));

interface Walked {
  readonly step: Extract<Step, { kind: 'end' | 'fault' }>;
  readonly records: readonly number[];
  readonly requests: number;
}

/** Walks the list by the decisions alone, as export/walk.ts does with pages and Postgres between. */
function walk({ list, totals, clamp, short, pageLength }: Still): Walked {
  let requests = 0;
  const ask = (start: number, length: number) => {
    requests += 1;
    const room = list.slice(start, start + Math.min(length, clamp));
    const cut =
      short[requests % Math.max(1, short.length)] && room.length > (HOLES.shortProbes ? 1 : 2);
    const records = cut ? room.slice(0, -1) : room;
    return { records, total: totalOf(totals, list.length, records.length) };
  };
  const records: number[] = [];
  const digests = new Set<string>();
  let seen: WalkSeen = nothingSeen(pageLength);
  const probe = (start: number): ProbeSeen => {
    const answer = ask(start, 2);
    return {
      records: answer.records.length,
      total: answer.total,
      beginsWithLast: answer.records[0] === records.at(-1),
      beginsWithKnown: records.includes(answer.records[0] ?? -1),
      sha256: '',
    };
  };
  const noted = (step: Step): Step => {
    if (step.kind === 'page') seen = { ...seen, moreAt: seen.records };
    return step;
  };
  let breaks = 0;
  const limit = 4 * list.length + 20;
  for (let step: Step = { kind: 'page' }; ; ) {
    if (step.kind === 'end' || step.kind === 'fault') return { step, records, requests };
    if (requests > limit) throw new Error(`no end after ${requests} requests`);
    switch (step.kind) {
      case 'page': {
        const skip = skipOf(seen);
        const page = ask(seen.records - skip, Math.max(pageLength, 1 + skip));
        const digest = page.records.join();
        if (skip === 1 && page.records[0] !== records.at(-1)) {
          breaks += 1;
          const sameAgain = digests.has(digest);
          step = afterBreak(seen, {
            came: page.records.length,
            total: page.total,
            sameAgain,
            breaks,
          });
          break;
        }
        breaks = 0;
        const fresh = page.records.slice(skip);
        seen = withPage(seen, {
          records: fresh.length,
          skip,
          total: page.total,
          relation: null,
          repeats: digests.has(digest),
        });
        digests.add(digest);
        records.push(...fresh);
        step = afterPage(seen);
        break;
      }
      case 'probe':
        step = noted(afterProbe(seen, probe(seen.records - 1)));
        break;
      case 'confirm':
        step = noted(afterConfirm(seen, probe(seen.records)));
        break;
      case 'far': {
        const far = ask(2_000_000_000, pageLength);
        const same = far.records.length > 0 && digests.has(far.records.join());
        if (!same) seen = { ...seen, startHonoured: true };
        step = afterFar(seen, same, far.total);
      }
    }
  }
}

function totalOf(totals: Totals, length: number, page: number): number | null {
  return { none: null, exact: length, page, bound: Math.max(0, length - 3), beyond: length + 2 }[
    totals
  ];
}

it('a list that holds still is walked to its end, or to a fault that it deserves, in bounded steps', () => {
  fc.assert(
    fc.property(still, (source) => {
      const { step, records, requests } = walk(source);
      const pages = source.list.length / Math.max(1, Math.min(source.clamp, source.pageLength) - 1);
      expect(requests).toBeLessThanOrEqual(4 * Math.ceil(pages) + 8);
      if (step.kind === 'end') {
        expect(records).toEqual(source.list);
        expect(step.proof.records).toBe(source.list.length);
        return;
      }
      const deserved = source.totals === 'beyond' || ROUND_CAPS.has(source.list.length);
      expect({ fault: step.fault, deserved }).toEqual({ fault: step.fault, deserved: true });
    }),
    { numRuns: 2000 },
  );
});

it('an honest list without totals costs two requests more than its pages, with a total none, or one where the last page is full', () => {
  const cost = (totals: Totals, count: number) =>
    walk({
      list: Array.from({ length: count }, (_, index) => index),
      totals,
      clamp: 80,
      short: [],
      pageLength: 10,
    }).requests;
  // Each page after the first has nine new records. A full page at the end is probed: the total may be too small.
  expect([cost('exact', 95), cost('exact', 100), cost('exact', 0)]).toEqual([11, 12, 2]);
  expect([cost('none', 95), cost('none', 100), cost('none', 0), cost('none', 1)]).toEqual([
    13, 13, 2, 3,
  ]);
});
