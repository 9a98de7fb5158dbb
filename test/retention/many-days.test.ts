/** What pruning reads where there are ten years of days: for each day the rows of that day, and not those of all others. */
import { expect, test } from 'vitest';
import { listOldDays, type PruningKind } from '../../src/retention/rows.ts';
import type { Database } from '../../src/store/database.ts';
import { removePages } from '../../src/store/pruned-pages.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillCalendar } from '../support/status-scene.ts';

/** Blocks of 8 kB; a day takes about 15. */
const MOST_BUFFERS = 60;

interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Readonly<Record<string, number>> }];
}

/** The statement that a function asks. */
async function statementOf(
  ask: (listening: Database) => Promise<unknown>,
): Promise<[text: string, values: readonly unknown[]]> {
  let asked: [string, readonly unknown[]] = ['', []];
  const persist = async (text: string, values: readonly unknown[]) => {
    asked = [text, values];
    return [];
  };
  await ask({ persist } as unknown as Database);
  return asked;
}

async function buffersOf(
  database: TestDatabase,
  text: string,
  values: readonly unknown[],
): Promise<number> {
  const rows = await database.query<Explained>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const { Plan } = (rows[0] as Explained)['QUERY PLAN'][0];
  return (Plan['Shared Hit Blocks'] ?? 0) + (Plan['Shared Read Blocks'] ?? 0);
}

async function tenYears(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await fillCalendar(database, 'events', '2016-01-01', '2025-12-31');
  await database.query('analyze');
  return database;
}

test.each<PruningKind>(['day', 'superseded'])(
  'listing what goes (%s) reads few blocks for each day',
  async (kind) => {
    const database = await tenYears();
    const limits = [{ stream: 'events', olderThanMs: 0 }];
    const [text, values] = await statementOf((listening) => listOldDays(listening, kind, limits));
    const days = 3653;
    expect((await buffersOf(database, text, values)) / days).toBeLessThan(MOST_BUFFERS);
  },
);

test('marking a day beside a table that outlives its pages reads few blocks', async () => {
  const database = await tenYears();
  await database.query(
    `insert into daywalk.days (stream_id, day, records, gone, lost, pages, bytes, revision)
     select 1, day, 1, 0, 0, 10, 1, 1 from daywalk.windows where kind = 'day'`,
  );
  await database.query(
    `select daywalk.define_table('kept', 'events', '[{"name": "id", "path": ["id"], "type": "text", "index": false, "format": []}]', false, true, null)`,
  );
  const day = '2020-05-05';
  await database.query(
    `insert into daywalk.table_days
     select t.table_id, d.day, d.publication, 1, 0, clock_timestamp() from daywalk.record_tables t, daywalk.days d where d.day <> $1`,
    [day],
  );
  const [shown] = await database.query<{ walks: string[] }>(
    'select walks from daywalk.shown_days where day = $1',
    [day],
  );
  await database.query('select daywalk.append_to_ledger(1, $1)', [day]);
  const mark =
    'select daywalk.mark_pruned(1, $1::date, $2, $3::bigint[], daywalk.marks_digest($3)) as marked';
  const values = [day, 'day', shown?.walks];
  const [row] = await database.query<{ marked: string }>(mark, values);
  expect(row?.marked).toBe('wanted');
  expect(await buffersOf(database, mark, values)).toBeLessThan(MOST_BUFFERS * 10);
});

test('removing the pages of a day reads the partition of its month only', async () => {
  const database = await createTestDatabase();
  await database.query(
    `select daywalk.ensure_partition(month::date) from generate_series('2016-01-01'::timestamp, '2016-12-01', '1 month') as month`,
  );
  const pruning = { pruningId: 1, day: '2016-05-05', month: '2016-05-01' };
  const [text, values] = await statementOf((listening) => removePages(listening, pruning));
  const rows = await database.query(`explain ${text}`, [...values]);
  const partitions = JSON.stringify(rows).match(/pages_2016_\d\d(?!_)/g);
  expect([...new Set(partitions)]).toEqual(['pages_2016_05']);
});
