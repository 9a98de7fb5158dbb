/** Sessions: what a person set for the database, or the role, changes nothing of what is read and written. */
import { afterEach, expect, it, vi } from 'vitest';
import { readFault } from '../../src/store/evidence/probes.ts';
import { createTestDatabase } from '../support/database.ts';
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
