/** Who may do what with record tables: the owner makes them, the worker keeps them in step and can do no more, the reader reads. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { exportDays } from '../../src/files/export-days.ts';
import { tableContents } from '../../src/files/table-contents.ts';
import { silentLogger } from '../../src/log.ts';
import type { Database } from '../../src/store/database.ts';
import { keepingTables } from '../../src/tables/record-tables.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/program.ts';
import { publishNext } from '../support/publishing.ts';
import { DAY, openDatabase, planDays } from '../support/store.ts';
import { apply, column, expectInStep, sync, tableOf } from './tables-stage.ts';

const PASSWORD = 'of-the-test-of-tables';
const TABLE = tableOf([column('id', 'bigint', { index: true })]);

let server: TestDatabase;
let roles: { worker: string; reader: string };

/** The database as another role sees it. */
function as(role: string): Database {
  const url = new URL(server.url);
  [url.username, url.password] = [role, PASSWORD];
  return openDatabase(url.href);
}

beforeAll(async () => {
  server = await createTestDatabase();
  roles = { worker: `${server.name}_works`, reader: `${server.name}_reads` };
  for (const role of Object.values(roles))
    await server.query(`create role ${role} login password '${PASSWORD}'`);
  await server.query(
    `select daywalk.let_work('${roles.worker}'), daywalk.let_read('${roles.reader}')`,
  );
});
afterAll(async () => {
  for (const role of Object.values(roles)) {
    await server.query(`drop owned by ${role}`);
    await server.query(`drop role ${role}`);
  }
});

it('the owner makes a table, the worker fills it, and who may read the events may read it', async () => {
  const owner = openDatabase(server.url);
  const [worker, reader] = [as(roles.worker), as(roles.reader)];
  await publishNext(owner, await planDays(owner), [[1, 2], [3]]);
  await expect(apply(worker, TABLE)).rejects.toThrow(/permission denied/);
  await apply(owner, TABLE);
  await sync(worker);
  await expectInStep(server);
  expect(await reader.query('select id::int from daywalk.alerts order by id')).toHaveLength(3);
  expect(await reader.query('select "table", behind from daywalk.tables')).toEqual([
    { table: 'alerts', behind: 0 },
  ]);
  const contents = await tableContents(worker, 'alerts');
  const files = { folder: temporaryFolder(), format: null, from: DAY, to: DAY, checkFiles: false };
  const { signal } = new AbortController();
  expect(
    await exportDays({ database: worker, clock: systemClock }, { ...files, contents }, signal),
  ).toMatchObject({ written: 1, records: 3 });
  // Built anew by the worker's hand, it is the owner's still, and as open to the reader.
  await apply(owner, tableOf([column('id', 'bigint'), column('more', 'text')]));
  await sync(worker);
  expect(await reader.query('select more from daywalk.alerts')).toHaveLength(3);
  for (const statement of [
    'delete from daywalk.alerts',
    `insert into daywalk.record_tables (name, stream, columns, keep_record, outlives, state) values ('x', 'events', '[]', false, false, 'live')`,
    `update daywalk.record_tables set columns = '[]'`,
    'update daywalk.table_days set records = 0',
    'drop table daywalk.alerts',
    'select daywalk.drop_table(1)',
  ])
    for (const role of [worker, reader])
      await expect(role.query(statement), statement).rejects.toThrow(
        /permission denied|must be owner/,
      );
});

it('a worker leaves what it may not make, and what its settings define otherwise, and says what to do', async () => {
  await apply(openDatabase(server.url), TABLE);
  const warned: unknown[] = [];
  const log = { ...silentLogger, warn: (...line: unknown[]) => warned.push(line.at(-1)) };
  const others = [
    tableOf([column('id', 'bigint')], { name: 'fresh' }),
    tableOf([column('id', 'text')]),
  ];
  const before = await server.query('select * from daywalk.record_tables');
  await keepingTables({ database: as(roles.worker), log }, others).catchUp(
    [],
    new AbortController().signal,
  );
  expect(await server.query('select * from daywalk.record_tables')).toEqual(before);
  expect(warned).toEqual([
    expect.stringContaining('daywalk tables --apply does, as the owner'),
    expect.stringContaining(
      'other columns for alerts than the database has; daywalk tables --apply',
    ),
  ]);
});
