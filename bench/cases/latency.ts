/** Case `latency`: how much of the waiting for a slow source is done side by side. */
import type { Bench, Case, Row } from '../case.ts';
import { againstFloor, seconds } from '../rows.ts';
import { withSource } from '../source.ts';
import { exportWorkload, served, type Workload } from '../workload.ts';

const MOST_OF_FLOOR = { ratio: 1.1, text: '≤ 1.1 × pages × latency ÷ concurrency' };

interface Trial {
  readonly what: string;
  readonly workload: Workload;
  readonly latencyMs: number;
  readonly concurrency: number;
  readonly rounds: number;
  /** Pages that must come; where every day is one page, the seams are as many requests again. */
  readonly pages: number;
  readonly target: boolean;
}

const several: Workload = { days: 8, pagesPerDay: 25, pageLength: 100 };
const single: Workload = { days: 1, pagesPerDay: 200, pageLength: 100 };
const small: Workload = { days: 100, pagesPerDay: 1, pageLength: 100 };

const TRIALS: readonly Trial[] = [
  {
    what: '8 windows of 25 pages, 100 ms, concurrency 4',
    workload: several,
    latencyMs: 100,
    concurrency: 4,
    rounds: 3,
    pages: 200,
    target: true,
  },
  {
    what: '8 windows of 25 pages, 1 s, concurrency 8',
    workload: several,
    latencyMs: 1_000,
    concurrency: 8,
    rounds: 1,
    pages: 200,
    target: true,
  },
  {
    what: 'one window of 200 pages, 100 ms, concurrency 4',
    workload: single,
    latencyMs: 100,
    concurrency: 4,
    rounds: 3,
    pages: 200,
    target: true,
  },
  {
    what: 'one window of 200 pages, 1 s, concurrency 8',
    workload: single,
    latencyMs: 1_000,
    concurrency: 8,
    rounds: 1,
    pages: 200,
    target: true,
  },
  {
    what: '100 windows of one page and their seams, 100 ms, concurrency 4',
    workload: small,
    latencyMs: 100,
    concurrency: 4,
    rounds: 1,
    pages: 200,
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
    pages: 6,
    target: false,
  },
];

export const latency: Case = {
  name: 'latency',
  title: 'Behind a slow source',
  about:
    'The whole export from a source that answers every request after a fixed time. Floor: the pages that are stored, times that time, divided by the concurrency; the seams between the days come on top of it, but for the last line, where they are counted because they are half of all requests.',
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
        'Pages of 100 records. 3 rounds at 100 ms, one at 1 s and with many windows: what is measured is waiting, which does not vary.',
        'Where every day is one page, 100 requests more than the 200 pages that are stored are closing probes. All days are equally large, so none is shorter than the largest page that ever came, and a page as full as that may be cut at a limit of the source and met by a total that knows no more (docs/decisions/0007). With these 300 requests nothing could take less than 7.5 s.',
      ],
    };
  },
  words: {
    reached:
      'Requests are the only thing that is waited for, and as many wait at a time as are allowed.',
    missed:
      'What is above the floor are requests that store no page (each is counted in the table; the seams and the closing probes are most of them), the few milliseconds that a request takes beside the fixed time, and requests that cannot be made side by side: the first page of a window, which tells how many there are, and at the end the last page of the longest window, beside which nothing is left to ask for. Before the first request the run is registered and planned; after the last one its window is proven and published and its day sealed. To come closer, the total of a window would have to be known before its first page, and a page as full as the largest would have to be believed without a probe.',
  },
};

async function measure(bench: Bench, trial: Trial): Promise<Row> {
  const { workload, latencyMs, concurrency, rounds, pages } = trial;
  const source = { ...served(bench, workload), latencyMs };
  return withSource(source, bench.signal, async ({ url, served: asked }) => {
    const took: number[] = [];
    for (let round = 0; round < rounds; round++)
      took.push((await exportWorkload(bench, url, workload, concurrency)).ms);
    const { requests } = await asked();
    const perRound = Math.round(requests / rounds);
    const floor = (pages * latencyMs) / concurrency;
    const told = { what: trial.what, format: seconds, also: `${perRound} requests` };
    return againstFloor(told, took, [floor], trial.target ? MOST_OF_FLOOR : null);
  });
}
