/** Case `latency`: how much of the waiting for a slow source is done side by side. */
import type { Bench, Case, Row } from '../case.ts';
import { againstFloor, seconds } from '../rows.ts';
import { withSource } from '../source.ts';
import { exportWorkload, NOT_NEW, requiredRequests, served, type Workload } from '../workload.ts';

const MOST_OF_FLOOR = { ratio: 1.1, text: '≤ 1.1 × required requests × latency ÷ concurrency' };

interface Trial {
  readonly what: string;
  readonly workload: Workload;
  readonly latencyMs: number;
  readonly concurrency: number;
  readonly rounds: number;
  readonly target: boolean;
}

const several: Workload = { days: 8, pagesPerDay: 25, pageLength: 100 };
const single: Workload = { days: 1, pagesPerDay: 200, pageLength: 100 };
/** Of some 950 records: of some 95 one in eleven would be 90, and a round number is always proven by halves (C6). */
const small: Workload = { days: 100, pagesPerDay: 1, pageLength: 1_000 };

const TRIALS: readonly Trial[] = [
  {
    what: '8 windows of 25 pages, 100 ms, concurrency 4',
    workload: several,
    latencyMs: 100,
    concurrency: 4,
    rounds: 3,
    target: true,
  },
  {
    what: '8 windows of 25 pages, 1 s, concurrency 8',
    workload: several,
    latencyMs: 1_000,
    concurrency: 8,
    rounds: 1,
    target: true,
  },
  {
    what: 'one window of 200 pages, 100 ms, concurrency 4',
    workload: single,
    latencyMs: 100,
    concurrency: 4,
    rounds: 3,
    target: true,
  },
  {
    what: 'one window of 200 pages, 1 s, concurrency 8',
    workload: single,
    latencyMs: 1_000,
    concurrency: 8,
    rounds: 1,
    target: true,
  },
  {
    what: '100 windows of one page and their cuts, 100 ms, concurrency 4',
    workload: small,
    latencyMs: 100,
    concurrency: 4,
    rounds: 1,
    target: true,
  },
];

const QUICK: readonly Trial[] = [
  {
    what: '2 windows of 3 pages, 20 ms, concurrency 2',
    workload: { days: 2, pagesPerDay: 3, pageLength: 100 },
    latencyMs: 20,
    concurrency: 2,
    rounds: 1,
    target: false,
  },
];

export const latency: Case = {
  name: 'latency',
  title: 'Behind a slow source',
  about:
    'The whole export from a source that answers every request after a fixed time. Floor: the requests that completeness needs, times that time, divided by the concurrency: the pages that are stored, one cut for each day, and three (the totals of both halves, and what lies across the cut between them) for each day that is larger than all before it or whose size is a round number (docs/completeness.md C5 and C6).',
  limitMs: 180_000,
  async run(bench) {
    const rows: Row[] = [];
    for (const trial of bench.quick ? QUICK : TRIALS) {
      bench.say(trial.what);
      rows.push(await measure(bench, trial));
    }
    return {
      rows,
      notes: [
        'Pages of 100 records, of 1,000 in windows of one page. 3 rounds at 100 ms, one at 1 s and with many windows: what is measured is waiting, which does not vary.',
        NOT_NEW,
      ],
    };
  },
  words: {
    reached:
      'Requests are the only thing that is waited for, and as many wait at a time as are allowed.',
    missed:
      'What is above the floor are a few requests more (each is counted in the table): a cut across which something lies is asked four times, a known answer once; the few milliseconds that a request takes beside the fixed time; and requests that cannot be made side by side: the first page of a window, which tells how many there are, and at the end the last page of the longest window and its proofs, beside which nothing is left to ask for. Before the first request the run is registered and planned; after the last one its window is proven and published and its day sealed.',
  },
};

async function measure(bench: Bench, trial: Trial): Promise<Row> {
  const { workload, latencyMs, concurrency, rounds } = trial;
  const source = { ...served(bench, workload), latencyMs };
  return withSource(source, bench.signal, async ({ url, served: asked }) => {
    const took: number[] = [];
    for (let round = 0; round < rounds; round++)
      took.push((await exportWorkload(bench, url, workload, concurrency)).ms);
    const { requests } = await asked();
    const perRound = Math.round(requests / rounds);
    const required = requiredRequests(source, workload);
    const floor = (required * latencyMs) / concurrency;
    const also = `${perRound} requests, ${required} required`;
    const told = { what: trial.what, format: seconds, also };
    return againstFloor(told, took, [floor], trial.target ? MOST_OF_FLOOR : null);
  });
}
