/** Random servers and random kills: what comes out is the exact multiset, or a window that says why not (I4, I6). */
import { afterAll, expect, test, vi } from 'vitest';
import { Dice, mix, seedNumber } from '../../simulator/random.ts';
import type { Fault, SimulatorOptions } from '../../simulator/simulator.ts';
import type { Case } from './case.ts';
import { EXACT } from './case.ts';
import { between, inOneSecond, spread, timeOf } from './records.ts';
import { trial } from './trials.ts';

// As long as `npm run torture` gives a case, on a machine that may be slow.
vi.setConfig({ testTimeout: 180_000 });

const RUNS = Number(process.env.TORTURE_RUNS ?? 30);
const SEED = Number(process.env.TORTURE_SEED ?? Date.now() % 1_000_000);
const DAY = '2026-03-01';

/** A server drawn from the seed. */
function serverOf(seed: number): SimulatorOptions {
  const dice = new Dice(seed);
  const often = (share: number) => dice.next() < share;
  const count = dice.pick([0, 1, 37, 100, 199, 250, 600, 950, 1000, 1300]);
  const records = [
    ...spread(count),
    ...(often(0.3) ? inOneSecond(dice.below(350), `${DAY} 17:00:00`) : []),
    ...(often(0.3) ? between(dice.below(300), timeOf(`${DAY} 04:00:00`), 60_000, 50_000) : []),
  ];
  const faults: Fault[] = [];
  if (often(0.4))
    faults.push({ kind: 'status', status: dice.pick([500, 503, 429, 408]), rate: 0.08 });
  if (often(0.3))
    faults.push({ kind: dice.pick(['reset', 'hang-up', 'truncate', 'html'] as const), rate: 0.05 });
  return {
    seed,
    records: often(0.2) ? records.flatMap((record) => [record, record]) : records,
    envelope: dice.pick(['array', 'datatables', 'hits', 'nested', 'list'] as const),
    totals: dice.pick(['exact', 'none', 'string', 'page', { cap: 300 }] as const),
    order: dice.pick(['newest', 'newest', 'oldest', 'unstable'] as const),
    clamp: often(0.3) ? 20 + dice.below(90) : null,
    maxLength: often(0.2)
      ? { limit: 15 + dice.below(90), status: dice.pick([400, 413, 422]) }
      : null,
    offsetCap: often(0.4)
      ? {
          limit: 150 + dice.below(600),
          answer: dice.pick([400, 500, 'empty'] as const),
          by: dice.pick(['start', 'end'] as const),
        }
      : null,
    subSecond: dice.pick(['seconds', 'exact'] as const),
    arrivals: often(0.3)
      ? { every: 2, count: 1, where: dice.pick(['newest', 'oldest', 'inside'] as const), limit: 6 }
      : null,
    gzip: dice.pick(['asked', 'never', 'always'] as const),
    faults,
  };
}

const outcomes: Record<string, number> = {};
afterAll(() => console.info(`seed ${SEED}:`, outcomes));

const shown = (sim: SimulatorOptions) => JSON.stringify({ ...sim, records: sim.records?.length });

test.each(Array.from({ length: RUNS }, (_, index) => [mix(seedNumber(SEED), index)]))(
  'server and kills of seed %i',
  async (seed) => {
    const sim = serverOf(seed);
    const testCase: Case = {
      name: `seed ${seed}`,
      server: shown(sim),
      expect: EXACT,
      source: { retryTimeMs: 3_000 },
      // A seam shows what arrives behind it in the next day's first second, until that day is there.
      mostRatio: Infinity,
      scene: () => ({
        sim,
        // What arrived behind a proof is found by looking again.
        later: [
          (stage) => {
            stage.simulator.set({ arrivals: null });
            return stage.makeChecksDue();
          },
          (stage) => stage.makeChecksDue(),
        ],
      }),
    };
    const { outcome } = await trial(testCase, { seed, moments: 60 + (seed % 200) });
    outcomes[outcome.kind] = (outcomes[outcome.kind] ?? 0) + 1;
    const message = `seed ${seed}: ${shown(sim)}: ${outcome.kind}: ${outcome.detail}`;
    expect(outcome.violations, message).toEqual([]);
    expect(['exact', 'failed', 'stopped'], message).toContain(outcome.kind);
  },
);
