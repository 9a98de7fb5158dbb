/** Case `growth`: what a record costs on a day of ten thousand and on one of ten million. */
import type { Bench, Case, Row } from '../case.ts';
import type { ServedSource } from '../page-server.ts';
import { againstFloor, againstLimit, microseconds } from '../rows.ts';
import { withSource } from '../source.ts';
import { median } from '../statistics.ts';
import { exportWorkload, FIRST_DAY } from '../workload.ts';

const CONCURRENCY = 4;
const PAGE_LENGTH = 1_000;
/** Records of the smallest day, and of each one before it. */
const SMALLEST = 10_007;
/** A page of an indexed search, and what a database takes to skip a row that it has to look at. */
const LATENCY_MS = 20;
const MS_PER_SKIPPED = 0.0005;
const MOST = { ratio: 1.2, text: '≤ 1.2 × that at 10,000' };

interface Trial {
  readonly records: number;
  readonly rounds: number;
}

/** Microseconds for each record. */
interface Cost {
  readonly elapsed: number;
  /** What the source worked, all requests together. */
  readonly source: number;
  readonly worker: number;
  readonly requests: number;
}

export const growth: Case = {
  name: 'growth',
  title: 'Growth',
  about: `One day of so many records, at concurrency ${CONCURRENCY}, in pages of ${PAGE_LENGTH.toLocaleString('en-US')}. The source has exact totals, and answers after ${LATENCY_MS} ms and ${MS_PER_SKIPPED * 1000} µs more for each record that the request skips (a timer, no work): what an SQL \`OFFSET\` takes on rows in memory. It is held against the day of 10,000 in three ways: the time that passes, the time that the source works (which does not profit from waiting side by side), and the CPU time of the worker, each for one record.`,
  limitMs: 360_000,
  async run(bench) {
    const trials: Trial[] = bench.quick
      ? [
          { records: 2_003, rounds: 1 },
          { records: 20_011, rounds: 1 },
        ]
      : [
          { records: SMALLEST, rounds: 5 },
          { records: 100_003, rounds: 3 },
          { records: 1_000_003, rounds: 1 },
          { records: 10_000_019, rounds: 1 },
        ];
    const costs: Cost[][] = [];
    for (const trial of trials) {
      bench.say(`${trial.records} records`);
      costs.push(await costOf(bench, trial));
    }
    const [base = []] = costs;
    const rows = trials.flatMap((trial, index) =>
      rowsOf(bench, trial, costs[index] as Cost[], base, index),
    );
    const largest = trials.at(-1) as Trial;
    const pages = largest.records / PAGE_LENGTH;
    const unsplit = pages * (LATENCY_MS + (MS_PER_SKIPPED * largest.records) / 2);
    return {
      rows,
      notes: [
        `Rounds: ${trials.map(({ rounds }) => rounds).join(', ')}; records of about 120 bytes. Walked from its first record to its last, the largest day would keep this source at work for ${Math.round(unsplit / 1000).toLocaleString('en-US')} s.`,
      ],
    };
  },
  words: {
    reached:
      'A window whose total is large is cut by time before it is walked, so that no offset becomes large (docs/decisions/0012).',
    missed:
      'A window whose total is large is cut by time before it is walked (docs/decisions/0012), so that no offset becomes large; what is left above the target is what each part costs besides its pages: a last page that is not full, its publication, and the comparison with its neighbours on the second that they share.',
  },
};

function rowsOf(
  { yardstick }: Bench,
  { records }: Trial,
  costs: readonly Cost[],
  base: readonly Cost[],
  index: number,
) {
  const name = `${records.toLocaleString('en-US')} records`;
  const of = (key: keyof Cost) => (cost: Cost) => cost[key];
  const requests = `${Math.round(median(costs.map(of('requests'))))} requests`;
  const row = (key: 'elapsed' | 'source' | 'worker', what: string, also?: string): Row => {
    const told = { what: `${name}: ${what}`, format: microseconds, ...(also && { also }) };
    const values = costs.map(of(key));
    const unit = key === 'worker' ? yardstick.parse : 1;
    if (index === 0) return againstLimit({ ...told, unit }, values, null);
    return againstFloor(told, values, base.map(of(key)), MOST);
  };
  return [
    row('elapsed', 'time', requests),
    row('source', 'time of the source'),
    row('worker', 'CPU of the worker'),
  ];
}

async function costOf(bench: Bench, { records, rounds }: Trial): Promise<Cost[]> {
  const source: ServedSource = {
    records: { kind: 'compact', count: records },
    recordsPerDay: records,
    mostBefore: SMALLEST,
    firstDay: FIRST_DAY,
    latencyMs: LATENCY_MS,
    msPerSkipped: MS_PER_SKIPPED,
  };
  const workload = { days: 1, pagesPerDay: records / PAGE_LENGTH, pageLength: PAGE_LENGTH };
  return withSource(source, bench.signal, async ({ url, served }) => {
    const costs: Cost[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = await served();
      const { ms, cpuMs } = await exportWorkload(bench, url, workload, CONCURRENCY);
      const after = await served();
      costs.push({
        elapsed: (ms * 1000) / records,
        source: ((after.waitedMs - before.waitedMs) * 1000) / records,
        worker: (cpuMs * 1000) / records,
        requests: after.requests - before.requests,
      });
    }
    return costs;
  });
}
