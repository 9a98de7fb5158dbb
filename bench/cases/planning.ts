/** Case `planning`: ten years of twenty streams, planned, and asked for. */
import type { Bench, Case, Row } from '../case.ts';
import { type Scratch, withDatabase } from '../databases.ts';
import { environmentOf } from '../exporter.ts';
import { mustBeWell, runPlainDaywalk } from '../program.ts';
import { againstFloor, againstLimit, milliseconds, withFloor } from '../rows.ts';
import { seedCompleteDays, streamsYaml } from '../seeded-days.ts';
import { withSource } from '../source.ts';
import { inTurn, timed } from '../statistics.ts';
import { FIRST_DAY } from '../workload.ts';
import { limitHere } from '../yardstick.ts';

const ROUNDS = 7;
const QUERY_ROUNDS = 15;
const QUERY_MS = 100;
const PLAN_AND_STATUS_MS = 1_000;

/** As much as its rows cost: that is all of it. */
const EVERYTHING = 'all days of all streams';
const AS_ITS_ROWS = { ratio: 1.25, text: '≤ 1.25 × its rows' };

/** Questions to the view, as people ask them. */
const QUERIES: readonly (readonly [what: string, sql: string, values: readonly string[]])[] = [
  [
    'one day of one stream',
    'select * from daywalk.coverage where stream = $1 and day = $2::date',
    ['stream-7', '2020-06-15'],
  ],
  [
    'one year of one stream',
    'select * from daywalk.coverage where stream = $1 and day between $2::date and $3::date',
    ['stream-7', '2020-01-01', '2020-12-31'],
  ],
  ['one stream', 'select * from daywalk.coverage where stream = $1', ['stream-7']],
  [
    'the newest month of all streams',
    'select * from daywalk.coverage where day > current_date - 31',
    [],
  ],
  [EVERYTHING, 'select * from daywalk.coverage', []],
  ['all gaps', 'select * from daywalk.gaps', []],
];

export const planning: Case = {
  name: 'planning',
  title: 'Planning',
  about:
    'Ten years of days × 20 streams, all complete and in the ledger: 73,000 days with their cuts. Measured as processes, from their start to their end: `daywalk run` with nothing due, which plans, and `daywalk status`; and the view `daywalk.coverage` as people ask it, from a connection that is open. Floor of a question: its answer, read from a table that holds nothing else.',
  limitMs: 240_000,
  run: (bench) =>
    withDatabase(bench.postgres.url, { schema: true }, async (scratch) => {
      const years = bench.quick ? 1 : 10;
      const streams = bench.quick ? 2 : 20;
      const rows: Row[] = [];
      bench.say('seeding');
      const names = await seedCompleteDays(scratch, years, streams);
      rows.push(...(await programs(bench, scratch, names)));
      for (const [what, sql, values] of QUERIES) {
        bench.say(what);
        rows.push(await question(bench, scratch, what, sql, values));
      }
      return {
        rows,
        notes: [
          `${bench.quick ? 1 : ROUNDS} rounds of the programs, ${QUERY_ROUNDS} of each query. The days are made by SQL, as an export leaves them; their pages are small.`,
        ],
      };
    }),
  words: {
    reached:
      'What the days hold is added up when they are published (docs/decisions/0013), so a question about days reads a row for each, and one about few days few rows. That no day is missing is counted from an index; a run is told the spans of days that are there, and not the days.',
    missed:
      'What the days hold is added up when they are published (docs/decisions/0013). That no day is missing is counted from an index; a run is told the spans of days that are there, and not the days, so that two starts of the program are most of the first three rows. All days of all streams are 73,000 rows of 14 columns: to send them and to make objects of them in Node.js takes most of that time, and more than the target, as the floor shows; the server groups them from twice as many windows meanwhile. Only fewer rows would be quicker.',
  },
};

/** Asks one question, and a table that holds nothing but its answer: what is left is to read, send and parse the rows. */
async function question(
  bench: Bench,
  { query }: Scratch,
  what: string,
  sql: string,
  values: readonly string[],
): Promise<Row> {
  await query(`create table answer as ${sql}`, values);
  await query('vacuum analyze answer');
  const { asked, floor } = await inTurn(bench.quick ? 1 : QUERY_ROUNDS, {
    asked: () => timed(() => query(sql, values)),
    floor: () => timed(() => query('select * from answer')),
  });
  await query('drop table answer');
  const told = { what: `coverage: ${what}`, format: milliseconds };
  if (what === EVERYTHING) return againstFloor(told, asked, floor, AS_ITS_ROWS);
  return withFloor(told, asked, floor, limitHere(bench.yardstick, 'insert', QUERY_MS));
}

async function programs(
  bench: Bench,
  scratch: Scratch,
  streams: readonly string[],
): Promise<Row[]> {
  const records = { kind: 'events', count: 10 } as const;
  const source = { records, recordsPerDay: 10, firstDay: FIRST_DAY };
  return withSource(source, bench.signal, async ({ url: apiUrl }) => {
    const order = { databaseUrl: scratch.url, apiUrl, concurrency: 4, pageLength: 1_000 };
    const { DAYWALK_STREAMS: _, ...environment } = environmentOf(order);
    const files = { 'daywalk.yaml': streamsYaml(streams) };
    const run = async (verb: string) =>
      mustBeWell(await runPlainDaywalk([verb], environment, bench.signal, files)).ms;
    const results = await inTurn(bench.quick ? 1 : ROUNDS, {
      plan: () => run('run'),
      status: () => run('status'),
    });
    const format = milliseconds;
    const unit = bench.yardstick.start;
    const both = results.plan.map((ms, round) => ms + (results.status[round] as number));
    return [
      againstLimit({ what: '`daywalk run`, nothing due', format, unit }, results.plan, null),
      againstLimit({ what: '`daywalk status`', format, unit }, results.status, null),
      againstLimit(
        { what: 'both together', format, unit },
        both,
        limitHere(bench.yardstick, 'start', PLAN_AND_STATUS_MS),
      ),
    ];
  });
}
