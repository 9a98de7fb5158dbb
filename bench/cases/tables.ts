/** Case `tables`: a record table beside one that was made by hand: keeping it in step, asking it, and what it costs an export. */
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
import type { RecordTable } from '../../src/model.ts';
import { Database } from '../../src/store/database.ts';
import { applyTables, syncTables } from '../../src/tables/record-tables.ts';
import { removeTable } from '../../src/tables/table-rows.ts';
import type { Bench, Case, Row } from '../case.ts';
import { type Scratch, withDatabase } from '../databases.ts';
import { exportRange } from '../exporter.ts';
import { againstFloor, againstLimit, milliseconds, seconds } from '../rows.ts';
import { inTurn, timed } from '../statistics.ts';
import {
  dayAfter,
  FIRST_DAY,
  orderOf,
  recordsPerDay,
  type Workload,
  withExported,
} from '../workload.ts';
import { limitHere } from '../yardstick.ts';

const ROUNDS = 3;
const ASKED = 7;

const TABLE: RecordTable = {
  name: 'alerts',
  stream: 'events',
  keepRecord: false,
  columns: [
    { name: 'at', path: ['timestamp'], type: 'timestamptz', index: true },
    { name: 'id', path: ['sequence'], type: 'bigint', index: true },
    { name: 'agent', path: ['agent', 'name'], type: 'text', index: true },
    { name: 'level', path: ['rule', 'level'], type: 'smallint', index: false },
    { name: 'rule', path: ['rule', 'id'], type: 'text', index: false },
  ],
};

/** As somebody would write it who knows the records, with the columns and indexes that a record table has. */
const BY_HAND = [
  'drop table if exists public.by_hand',
  `create table public.by_hand (day date not null, at timestamptz, id bigint, agent text, level smallint, rule text, walk_id bigint not null,
     page_no integer not null, place integer not null, first_seen timestamptz not null, gone_since timestamptz, revision integer not null)`,
  ...['day', 'at', 'id', 'agent'].map((column) => `create index on public.by_hand (${column})`),
];
const FILL_BY_HAND = `insert into public.by_hand
  select day, (record ->> 'timestamp')::timestamptz, (record ->> 'sequence')::bigint, record -> 'agent' ->> 'name', (record -> 'rule' ->> 'level')::smallint,
         record -> 'rule' ->> 'id', walk_id, page_no, position, first_seen, gone_since, revision
    from daywalk.events where day = $1::date`;

const questions = (table: string, from: string, to: string) => ({
  'one event by id': `select * from ${table} where id = 4711`,
  'the newest twenty': `select * from ${table} order by at desc limit 20`,
  "an agent's week": `select count(*), max(level) from ${table} where agent = 'host-7' and day between '${from}' and '${to}'`,
  "the week's top rules": `select rule, count(*) from ${table} where day between '${from}' and '${to}' group by rule order by 2 desc limit 10`,
});

const open = (url: string) =>
  new Database({
    url,
    connections: 2,
    statementTimeoutMs: 60_000,
    patienceMs: 0,
    clock: systemClock,
    log: silentLogger,
  });

async function inStep(bench: Bench, { url, query }: Scratch, workload: Workload): Promise<Row[]> {
  const database = open(url);
  try {
    const days = Array.from({ length: workload.days }, (_, day) => dayAfter(day));
    const [stream] = await query<{ id: number }>(
      "select stream_id as id from daywalk.streams where name = 'events'",
    );
    const ids = [stream?.id ?? 0];
    const sync = await inTurn(bench.quick ? 1 : ROUNDS, {
      own: async () => {
        await removeTable(database, TABLE.name);
        await applyTables(database, [TABLE], []);
        return timed(() => syncTables(database, ids, bench.signal));
      },
      hand: async () => {
        for (const statement of BY_HAND) await query(statement);
        return timed(async () => {
          for (const day of days) await query(FILL_BY_HAND, [day]);
        });
      },
    });
    await query('vacuum analyze');
    const most = { ratio: 1.3, text: '≤ 1.3 × by hand' };
    const what = `${workload.days * recordsPerDay(workload)} events taken in`;
    const rows = [againstFloor({ what, format: seconds }, sync.own, sync.hand, most)];
    const week = [days.at(-8) ?? FIRST_DAY, days.at(-2) ?? FIRST_DAY] as const;
    const ours = questions(`daywalk.${TABLE.name}`, ...week);
    const theirs = questions('public.by_hand', ...week);
    for (const name of Object.keys(ours) as (keyof typeof ours)[]) {
      const { own, hand } = await inTurn(ASKED, {
        own: () => timed(() => query(ours[name])),
        hand: () => timed(() => query(theirs[name])),
      });
      const told = { what: name, format: milliseconds };
      rows.push(
        name.startsWith('one') || name.startsWith('the newest')
          ? againstLimit(
              { ...told, unit: bench.yardstick.insert },
              own,
              limitHere(bench.yardstick, 'insert', 5),
            )
          : againstFloor(told, own, hand, { ratio: 1.2, text: '≤ 1.2 × by hand' }),
      );
    }
    return rows;
  } finally {
    await database.close();
  }
}

/** The export with and without a record table that follows it. */
async function beside(bench: Bench, workload: Workload, apiUrl: string): Promise<Row> {
  const exported = (tables: readonly RecordTable[]) => () =>
    withDatabase(bench.postgres.url, { schema: true }, async ({ url }) => {
      const database = open(url);
      await applyTables(database, tables, []).finally(() => database.close());
      const order = { ...orderOf(bench, apiUrl, workload, url), atEnd: true };
      return (await exportRange(order)).completeMs;
    });
  const { own, plain } = await inTurn(bench.quick ? 1 : ROUNDS, {
    own: exported([TABLE]),
    plain: exported([]),
  });
  const most = { ratio: 1.05, text: '≤ 1.05 × without' };
  return againstFloor(
    { what: 'the export until complete, with a table', format: seconds },
    own,
    plain,
    most,
  );
}

export const tables: Case = {
  name: 'tables',
  title: 'Record tables',
  about:
    'A record table with five columns and three indexes, of a month of 20,000 events a day: taking all of them in, then four questions. Floor: a table that was made and filled by hand with the same columns and indexes, in one plain `insert … select` a day. The last line is the time of an export of a quarter of it until all is complete, with and without the table that follows it.',
  limitMs: 600_000,
  async run(bench) {
    const workload: Workload = {
      days: bench.quick ? 9 : 25,
      pagesPerDay: bench.quick ? 1 : 20,
      pageLength: 1_000,
    };
    const few = { ...workload, days: bench.quick ? 2 : 6 };
    const rows = await withExported(bench, workload, async (scratch, apiUrl) => {
      await scratch.query('vacuum analyze');
      bench.say('taking in');
      const found = await inStep(bench, scratch, workload);
      bench.say('exporting with a table beside it');
      return [...found, await beside(bench, few, apiUrl)];
    });
    return { rows, notes: [`${bench.quick ? 1 : ROUNDS} rounds; each question ${ASKED} times.`] };
  },
  words: {
    reached:
      'A day is taken in by one plain insert, with every value checked in it; only where that fails are records looked at one by one. A month is a partition, so that questions about few days read few rows.',
    missed:
      'A day is taken in by one plain insert, with every value checked in it; only where that fails are records looked at one by one. What is above the floor is the check of each value: a time is read by a function that never guesses.',
  },
};
