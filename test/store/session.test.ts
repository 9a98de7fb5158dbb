/** Sessions: what a person set for the database, or the role, changes nothing of what is read and written. */
import { afterEach, expect, it, vi } from 'vitest';
import { readFault } from '../../src/store/evidence/probes.ts';
import { migrate } from '../../src/store/migrations.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts';
import { leaseDay, openDatabase, pageOfBody, planDays } from '../support/store.ts';

it.each([`datestyle = 'German'`, `datestyle = 'SQL, DMY'`, 'standard_conforming_strings = off'])(
  'a database with %s is read like any other, and failures are heard',
  async (setting) => {
    const server = await createTestDatabase();
    await server.query(`alter database ${server.name} set ${setting}`);
    const database = openDatabase(server.url);
    const window = await leaseDay(database, await planDays(database));
    expect(window).toMatchObject({ day: '2026-03-05', to: '2026-03-05 23:59:59' });
    const busy = pageOfBody(0, '{"message": "Too many requests", "data": []}');
    expect(await readFault(database, busy, ['data'])).toMatch(/Too many requests/);
    const [row] = await database.query('select clock_timestamp() as now');
    expect(row?.now).toBeInstanceOf(Date);
  },
);

it('a database of Turkish, where the small letter of I is another one, hears of failures and partial answers', async ({
  skip,
}) => {
  const server = await createEmptyDatabase();
  const [has] = await server.query<{ icu: boolean }>(
    `select current_setting('server_version_num')::integer >= 150000
        and exists (select from pg_collation where collname = 'tr-x-icu') as icu`,
  );
  skip(!has?.icu, 'this server makes no database of another language');
  const name = `${server.name}_turkish`;
  await server.query(
    `create database ${name} encoding 'UTF8' locale 'C' locale_provider icu icu_locale 'tr-TR' template template0`,
  );
  const { href } = Object.assign(new URL(server.url), { pathname: `/${name}` });
  try {
    await migrate(href);
    const database = openDatabase(href);
    const says = (frame: string) =>
      database.one('select * from daywalk.frame_says($1::jsonb, $2, 200)', [
        `{${frame}, "data": [{"a": 1}]}`,
        ['data'],
      ]);
    for (const said of ['"status": "FAILED"', '"state": "TIMEOUT"', '"QueryStatus": "KILLED"'])
      expect(await says(said), said).toMatchObject({ fault: said.replace(/"(\w+)"/, '$1') });
    for (const said of ['"isIncomplete": true', '"status": "PARTIAL"', '"DATA_LIMIT_HIT": true'])
      expect(await says(said), said).toMatchObject({ more: true });
  } finally {
    await server.query(`drop database ${name} with (force)`);
  }
});

afterEach(() => vi.unstubAllEnvs());

it.each([
  ['PGSSLMODE', 'require'],
  ['PGSSLNEGOTIATION', 'direct'],
])('%s=%s of the environment asks no server of this machine for TLS', async (name, value) => {
  const server = await createTestDatabase();
  vi.stubEnv(name, value);
  const database = openDatabase(server.url);
  expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
});
