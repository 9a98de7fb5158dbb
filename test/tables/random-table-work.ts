/** A record table is equal to the view whenever it says that it is in step: through kills, two workers, days that are published anew, and changed definitions. */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { readTables } from '../../src/days/coverage-rows.ts';
import type { Column } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import { listTableWork, replaceDay } from '../../src/tables/table-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { letHoursPass, proveTexts, windowOf } from '../support/publishing.ts';
import { clear, openDatabase, planBareDays } from '../support/store.ts';
import { apply, column, dropTables, expectInStep, sync, tableOf } from './tables-stage.ts';

const DAYS = ['2026-02-28', '2026-03-01'] as const;
const COLUMNS: readonly (readonly Column[])[] = [
  [column('id', 'bigint', { index: true })],
  [column('id', 'bigint'), column('word', 'text', { index: true })],
  [column('id', 'bigint'), column('word', 'integer')],
];

let server: TestDatabase;

/** What may happen, in any order. */
const publish = fc.record({
  what: fc.constant('publish' as const),
  day: fc.constantFrom(...DAYS),
  ids: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 7 }),
  word: fc.constantFrom('"a"', '7', 'null', '[1]'),
});
const syncs = fc.record({
  what: fc.constant('sync' as const),
  workers: fc.integer({ min: 1, max: 2 }),
});
const step = fc.oneof(
  { weight: 3, arbitrary: publish },
  { weight: 3, arbitrary: syncs },
  fc.record({ what: fc.constant('kill' as const), statement: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ what: fc.constant('define' as const), columns: fc.integer({ min: 0, max: 2 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Replaces the first day that is due, and dies with a statement of it: what it did is rolled back. */
async function killAt(database: Database, streamId: number, statement: number): Promise<void> {
  const [work] = await listTableWork(database, [streamId], 1);
  if (work === undefined || work.work === 'drop') return;
  let left = statement;
  const mortal: Pick<Database, 'query' | 'transaction'> = {
    query: (sql, values) => database.query(sql, values),
    transaction: (run) =>
      database.transaction((query) =>
        run((sql, values) => {
          left -= 1;
          if (left === 0) throw new Error('killed');
          return query(sql, values);
        }),
      ),
  };
  await replaceDay(mortal as Database, work, new AbortController().signal).catch((error: Error) => {
    expect(error.message).toBe('killed');
  });
}

async function perform(
  databases: readonly Database[],
  streamId: number,
  done: Step,
): Promise<void> {
  const [database] = databases as [Database];
  switch (done.what) {
    case 'publish': {
      await letHoursPass(database, 2);
      const texts = done.ids.map((id) => `{"id": ${id}, "word": ${done.word}}`);
      await proveTexts(database, await windowOf(database, streamId, done.day), [texts]);
      return;
    }
    case 'sync':
      await Promise.all(databases.slice(0, done.workers).map(sync));
      return expectAllInStep(database);
    case 'kill':
      return killAt(database, streamId, done.statement);
    case 'define':
      await apply(database, tableOf(COLUMNS[done.columns] ?? []));
  }
}

/** Whatever says that it is in step is; after a sync, all is, and nothing is being built any more. */
async function expectAllInStep(database: Database): Promise<void> {
  for (const table of await readTables(database))
    expect(table).toMatchObject({ state: 'live', behind: 0 });
  if ((await readTables(database)).length > 0) await expectInStep(server);
}

/** A record table is equal to the view after whatever happened, in so many histories. */
export function tablesStayInStep(runs: number): void {
  beforeAll(async () => {
    server = await createTestDatabase();
  });

  it('is equal to the view after whatever happened', async () => {
    const databases = [openDatabase(server.url), openDatabase(server.url)];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 20 }), async (steps) => {
        await clear(server);
        await dropTables(databases[0] as Database);
        const streamId = await planBareDays(databases[0] as Database, DAYS);
        await apply(databases[0] as Database, tableOf(COLUMNS[0] ?? []));
        for (const done of [...steps, { what: 'sync', workers: 2 } as const])
          await perform(databases, streamId, done);
      }),
      { numRuns: runs, seed: 20_261_122 },
    );
  }, 120_000);
}
