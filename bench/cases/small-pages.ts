/** Case `small-pages`: what a page costs besides its bytes. */
import type { Case } from '../case.ts';
import { againstFloor, pagesPerSecond, seconds } from '../rows.ts';
import { withSource } from '../source.ts';
import { inTurn, median } from '../statistics.ts';
import {
  exportWorkload,
  fetchFloor,
  insertFloor,
  NOT_NEW,
  pagesOf,
  served,
  type Workload,
} from '../workload.ts';

const ROUNDS = 3;
const WIDTH = 4;
const MOST_OF_FLOOR = 1.5;
const LEAST_PER_SECOND = 1_500;

export const smallPages: Case = {
  name: 'small-pages',
  title: 'Small pages',
  about:
    'The whole export in pages of 50 records, the reference length of the API, at concurrency 4. Floor: as for throughput.',
  limitMs: 180_000,
  async run(bench) {
    const workload: Workload = {
      days: bench.quick ? 2 : 16,
      pagesPerDay: bench.quick ? 10 : 200,
      pageLength: 50,
    };
    const source = served(bench, workload);
    const pages = pagesOf(source, workload);
    const rounds = bench.quick ? 1 : ROUNDS;
    const target = { postgresUrl: bench.postgres.url };
    const { whole, floor } = await withSource(source, bench.signal, ({ url }) =>
      inTurn(rounds, {
        whole: async () => (await exportWorkload(bench, url, workload, WIDTH)).ms,
        floor: async () =>
          (await fetchFloor(url, source, workload, WIDTH, bench.signal)) +
          (await insertFloor(target, pages, WIDTH)),
      }),
    );
    const count = pages.flat().length;
    const rate = (count * 1000) / median(whole);
    const row = againstFloor(
      { what: `${count} pages of 50 records`, format: seconds, also: pagesPerSecond(rate) },
      whole,
      floor,
      { ratio: MOST_OF_FLOOR, text: `≥ ${LEAST_PER_SECOND} pages/s or ≤ ${MOST_OF_FLOOR} × floor` },
    );
    const reached = rate >= LEAST_PER_SECOND || row.reached === true;
    return { rows: [{ ...row, reached }], notes: [`${rounds} rounds. ${NOT_NEW}`] };
  },
  words: {
    reached: 'A page is one statement, however small it is.',
    missed:
      'Each page is a statement and a transaction of its own, so that nothing that was received can be lost: it renews the lease, moves the checkpoint and waits for its own flush to disk, on top of what the floor does. The worker does about as much for a page of 50 records as for one of 1,000. Both processors are busy. To come closer, several pages of a window would have to be committed by one statement. A larger `page_length` is what helps.',
  },
};
