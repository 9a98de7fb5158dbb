/** Case `start`: how long the program takes to say something, and to find that there is nothing to do. */
import type { Bench, Case } from '../case.ts';
import { withDatabase } from '../databases.ts';
import { environmentOf } from '../exporter.ts';
import { type Ended, mustBeWell, runNode, runPlainDaywalk } from '../program.ts';
import { milliseconds, withFloor } from '../rows.ts';
import { withSource } from '../source.ts';
import { inTurn } from '../statistics.ts';
import { FIRST_DAY } from '../workload.ts';
import { limitHere } from '../yardstick.ts';

const ROUNDS = 15;
const HELP_MS = 150;
const RUN_MS = 500;
const DAYS = 30;

export const start: Case = {
  name: 'start',
  title: 'Start',
  about: `From the start of the process to its end, on a warm disk: \`daywalk --help\`, and \`daywalk run\` on a database in which ${DAYS} days of two streams are complete. Floor: \`node -e 0\`.`,
  limitMs: 120_000,
  async run(bench) {
    const rounds = bench.quick ? 2 : ROUNDS;
    const results = await withNothingToDo(bench, (environment) => {
      const plain =
        (...args: string[]) =>
        async () =>
          mustBeWell(await runPlainDaywalk(args, environment, bench.signal)).ms;
      return inTurn(rounds, {
        bare: async () => mustBeWell(await runNode(['-e', '0'], {}, bench.signal)).ms,
        help: plain('--help'),
        run: plain('run'),
      });
    });
    const { bare, help, run } = results;
    const format = milliseconds;
    const row = (what: string, values: readonly number[], most: number) =>
      withFloor({ what, format }, values, bare, limitHere(bench.yardstick, 'start', most));
    return {
      rows: [
        row('`daywalk --help`', help, HELP_MS),
        row('`daywalk run`, nothing to do', run, RUN_MS),
      ],
      notes: [`${rounds} rounds.`],
    };
  },
  words: {
    reached:
      'What a verb does is loaded when it is called, and what it needs of the database is asked for side by side.',
    missed:
      'Node itself takes the floor; the rest is loading the libraries (the Postgres driver, the HTTP client, the log) and the statements of a run, one after the other. One file with everything in it would load faster, at the price of a build that is harder to read.',
  },
};

/** Exports the days once, so that there is nothing left to do. */
function withNothingToDo<T>(
  bench: Bench,
  work: (environment: Record<string, string>) => Promise<T>,
): Promise<T> {
  const records = { kind: 'events', count: 100 } as const;
  const source = { records, recordsPerDay: 100, firstDay: FIRST_DAY };
  return withSource(source, bench.signal, ({ url: apiUrl }) =>
    withDatabase(bench.postgres.url, { schema: true }, async ({ url, query }) => {
      const order = { databaseUrl: url, apiUrl, concurrency: 4, pageLength: 1_000 };
      const since = new Date(Date.now() - DAYS * 86_400_000).toISOString().slice(0, 10);
      const environment = {
        ...environmentOf(order),
        DAYWALK_STREAMS: 'events,smart-event',
        DAYWALK_SINCE: since,
      };
      const ended: Ended = await runPlainDaywalk(['run'], environment, bench.signal);
      mustBeWell(ended);
      await query('vacuum analyze');
      return work(environment);
    }),
  );
}
