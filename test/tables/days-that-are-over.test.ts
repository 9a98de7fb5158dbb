/** A record table whose days are over, and are not after all. */
import { afterEach, expect, it } from 'vitest';
import { readTables } from '../../src/days/coverage-rows.ts';
import type { Database } from '../../src/store/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { DAY, freshStore } from '../support/store.ts';
import { apply, column, dayWith, dropTables, expectInStep, sync, tableOf } from './tables-stage.ts';

let server: TestDatabase;
let database: Database;
freshStore((store) => {
  ({ server, database } = store);
});
afterEach(() => dropTables(database));

it('has a day again that it held and dropped, when the settings close it later', async () => {
  await dayWith(database, ['{"id": 1}']);
  await server.query(`update daywalk.streams set settle = '1 day'`);
  const [age] = await server.query<{ ms: number }>(
    `select (extract(epoch from clock_timestamp() - daywalk.closed_at($1, 'UTC', '0')) * 1000)::double precision as ms`,
    [DAY],
  );
  const retention = (age?.ms ?? 0) - 3_600_000;
  await apply(database, tableOf([column('id', 'bigint')], { retention }));
  await sync(database);
  expect(await server.query('select id from daywalk.alerts')).toHaveLength(1);
  await server.query(`update daywalk.streams set settle = '0'`);
  await sync(database);
  expect(await server.query('select id from daywalk.alerts')).toEqual([]);
  await server.query(`update daywalk.streams set settle = '1 day'`);
  await sync(database);
  const [table] = await readTables(database);
  expect(table).toMatchObject({ behind: 0 });
  await expectInStep(server);
});
