/** Case `peers`: daywalk against what one would write instead. */
import { fileURLToPath } from 'node:url';
import type { Bench, Case, Row } from '../case.ts';
import { type Scratch, withDatabase } from '../databases.ts';
import { environmentOf } from '../exporter.ts';
import { type Ended, mustBeWell, runDaywalk, runNode, runProgram } from '../program.ts';
import { againstLimit, seconds } from '../rows.ts';
import { withSource } from '../source.ts';
import { figureOf, inTurn, spreadOf } from '../statistics.ts';
import { dayAfter, FIRST_DAY, recordsPerDay, served, type Workload } from '../workload.ts';

const CONCURRENCY = 4;
const FAST = { times: 1.8, rounds: 3 };
const SLOW = { times: CONCURRENCY * 0.9, rounds: 1, latencyMs: 100 };

const LOOP = fileURLToPath(new URL('../peers/loop.js', import.meta.url));
const SHELL = fileURLToPath(new URL('../../../../bench/peers/curl-psql.sh', import.meta.url));

export const peers: Case = {
  name: 'peers',
  title: 'Against what one would write instead',
  about:
    'The same days into an empty database, each as a process of its own: `daywalk backfill` at concurrency 4, until every day is complete, proven and in the ledger (behind that it makes the filters of the search, which the last rows count in); [the loop](../bench/peers/loop.ts) that a good engineer writes in an hour (fetch, `JSON.parse`, `JSON.stringify`, insert, one page at a time); and [a shell script](../bench/peers/curl-psql.sh) of `curl` and `psql`, both to their ends. Neither of the two proves anything, resumes, or notices a list that moved. The ratio is the time of the peer over the time of daywalk.',
  limitMs: 300_000,
  async run(bench) {
    const many: Workload = { days: 8, pagesPerDay: bench.quick ? 2 : 25, pageLength: 1_000 };
    const fewer: Workload = { ...many, pagesPerDay: bench.quick ? 1 : 12 };
    const shell = await shellRuns(bench);
    return {
      rows: [
        ...(await compare(bench, many, 0, bench.quick ? 1 : FAST.rounds, FAST.times, shell)),
        ...(await compare(bench, fewer, SLOW.latencyMs, SLOW.rounds, SLOW.times, shell)),
      ],
      notes: [
        `${(many.days * recordsPerDay(many)).toLocaleString('en-US')} events at most, in ${many.days * many.pagesPerDay} pages, without latency, ${FAST.rounds} rounds; ${fewer.days * fewer.pagesPerDay} pages with 100 ms, one round.`,
        ...(shell
          ? []
          : ['`curl` or `psql` is not installed here: the shell script was left out.']),
      ],
    };
  },
  words: {
    reached:
      'The loop turns every page into objects and back, and waits for one thing at a time; the script starts three programs for each page.',
    missed:
      'daywalk is measured with everything that it does beyond the loop: a process that checks settings and schema, the hash of every record, proofs, publication and the ledger. Without latency all three wait for the same Postgres on the same cores, and the more of them there are, the more can be done side by side.',
  },
};

async function shellRuns({ signal }: Bench): Promise<boolean> {
  try {
    for (const program of ['curl', 'psql'])
      mustBeWell(await runProgram(program, ['--version'], {}, signal));
    return true;
  } catch {
    return false;
  }
}

interface Took {
  /** Until the process ended. */
  readonly ms: number;
  /** Until all days were complete and in the ledger; of the others as above. */
  readonly sealedMs: number;
}

async function compare(
  bench: Bench,
  workload: Workload,
  latencyMs: number,
  rounds: number,
  times: number,
  shell: boolean,
): Promise<Row[]> {
  const to = dayAfter(workload.days - 1);
  const range = [FIRST_DAY, to, String(workload.pageLength)];
  return withSource({ ...served(bench, workload), latencyMs }, bench.signal, async ({ url }) => {
    const inDatabase = (schema: boolean, run: (databaseUrl: string) => Promise<Ended>) => () =>
      withDatabase(bench.postgres.url, { schema }, async (scratch) => {
        bench.say(`${workload.days} days, ${latencyMs} ms`);
        const began = Date.now();
        const { ms } = mustBeWell(await run(scratch.url));
        return { ms, sealedMs: schema ? (await lastSealed(scratch)) - began : ms };
      });
    const contenders: Record<string, () => Promise<Took>> = {
      daywalk: inDatabase(true, (databaseUrl) => {
        const { pageLength } = workload;
        const order = { databaseUrl, apiUrl: url, concurrency: CONCURRENCY, pageLength };
        const args = ['backfill', '--from', FIRST_DAY, '--to', to];
        return runDaywalk(args, environmentOf(order), bench.signal);
      }),
      loop: inDatabase(false, (database) =>
        runNode([LOOP, url, database, ...range], {}, bench.signal),
      ),
      ...(shell && {
        shell: inDatabase(false, (database) =>
          runProgram('sh', [SHELL, url, database, ...range], {}, bench.signal),
        ),
      }),
    };
    const { daywalk = [], ...others } = await inTurn(rounds, contenders);
    const own = figureOf(daywalk.map(({ sealedMs }) => sealedMs));
    const behind = latencyMs === 0 ? 'no latency' : `${latencyMs} ms`;
    const rows = Object.entries(others).map(([name, values]): Row => {
      const peer = figureOf(values.map(({ ms }) => ms));
      const ratio = peer.median / own.median;
      return {
        what: `${name === 'loop' ? 'the loop' : 'curl and psql'}, ${behind}`,
        measured: seconds(own.median),
        floor: seconds(peer.median),
        ratio,
        target: `≥ ${times} × as fast`,
        reached: ratio >= times,
        spread: rounds > 1 ? Math.max(spreadOf(own), spreadOf(peer)) : null,
        units: 1 / ratio,
      };
    });
    const told = { what: `daywalk with the filters of the search, ${behind}`, format: seconds };
    return [
      ...rows,
      againstLimit(
        told,
        daywalk.map(({ ms }) => ms),
        null,
      ),
    ];
  });
}

/** When the last day was put into the ledger, milliseconds since 1970: Postgres has the clock of this machine. */
async function lastSealed({ query }: Scratch): Promise<number> {
  const [row] = await query<{ at: Date }>('select max(appended_at) as at from daywalk.ledger');
  if (row === undefined) throw new Error('the ledger is empty');
  return row.at.getTime();
}
