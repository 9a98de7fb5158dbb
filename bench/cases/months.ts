/** Case `months`: what the months that are stored cost each new window. */
import type { Case, Row } from '../case.ts';
import { againstFloor, againstLimit, milliseconds } from '../rows.ts';
import { withSource } from '../source.ts';
import { exportWorkload, NOT_NEW, served, type Workload } from '../workload.ts';

const ROUNDS = 3;
const CONCURRENCY = 4;
/** Five years, and ten. */
const MONTHS = [0, 60, 120];
const MOST = { ratio: 1.25, text: '≤ 1.25 × that with one month' };

export const months: Case = {
  name: 'months',
  title: 'Months stored',
  about: `CPU time of Postgres for each window of one page, at concurrency ${CONCURRENCY}, in a database that has partitions of so many months before. A planner that joins days thinks of all of them, for each statement.`,
  limitMs: 300_000,
  async run(bench) {
    const workload: Workload = { days: bench.quick ? 3 : 40, pagesPerDay: 1, pageLength: 1_000 };
    const rounds = bench.quick ? 1 : ROUNDS;
    const costs = MONTHS.map((): number[] => []);
    await withSource(served(bench, workload), bench.signal, async ({ url }) => {
      for (let round = 0; round < rounds; round += 1)
        for (const [index, monthsBefore] of MONTHS.entries()) {
          bench.say(`${monthsBefore} months`);
          const target = { postgresUrl: bench.postgres.url, monthsBefore };
          const { postgresMs } = await exportWorkload(bench, url, workload, CONCURRENCY, target);
          if (postgresMs !== null) costs[index]?.push(postgresMs / workload.days);
        }
    });
    const [base = []] = costs;
    const rows =
      base.length === 0 ? [] : MONTHS.map((count, index) => rowOf(count, costs[index] ?? [], base));
    return {
      rows,
      notes: [
        `${rounds} rounds, in turn, of ${workload.days} windows of about a thousand records. ${base.length === 0 ? 'Postgres is not on this machine, so that its CPU time is not known. ' : ''}${NOT_NEW}`,
      ],
    };
  },
  words: {
    reached:
      'What a window asks of stored pages goes by the day of a walk, in plans that are kept (`daywalk.pages_of`).',
    missed:
      'What a window asks of stored pages goes by the day of a walk, in plans that are kept (`daywalk.pages_of`); each new connection makes them once, and then thinks of all months.',
  },
};

function rowOf(monthsBefore: number, values: readonly number[], base: readonly number[]): Row {
  const what = monthsBefore === 0 ? 'one month' : `${monthsBefore} months before`;
  const told = { what, format: milliseconds };
  if (monthsBefore === 0) return againstLimit(told, values, null);
  return againstFloor(told, values, base, MOST);
}
