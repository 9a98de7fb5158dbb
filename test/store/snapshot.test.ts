/** Snapshots: reads that see one state, and a connection that serves again unless its own end is unknown. */
import { beforeAll, describe, expect, it } from 'vitest';
import { OutcomeUnknownError, StatementError } from '../../src/store/connection/sqlstate.ts';
import type { Database, Query } from '../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { handDeadlines } from '../support/hand-deadlines.ts';
import { openDatabase } from '../support/store.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

const backend = async (query: Query) =>
  (await query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid;
/** The process that serves the only connection. */
const nextBackend = (database: Database) => database.snapshot(backend);

describe('a snapshot', () => {
  it('sees one state, whatever is committed meanwhile', async () => {
    const database = openDatabase(server.url);
    const count = async (query: Query) =>
      (await query<{ runs: number }>('select count(*) as runs from daywalk.runs'))[0]?.runs;
    await database.snapshot(async (query) => {
      const before = await count(query);
      await server.query(
        `insert into daywalk.runs (key, trigger, owner) values (gen_random_uuid(), 'hand', 'other')`,
      );
      expect(await count(query)).toBe(before);
    });
  });

  it('whose work fails tells that failure as it is, and its connection serves on', async () => {
    const database = openDatabase(server.url, { connections: 1 });
    const served = await nextBackend(database);
    const gone = new DOMException('the client went away', 'AbortError');
    await expect(database.snapshot(() => Promise.reject(gone))).rejects.toBe(gone);
    expect(await nextBackend(database)).toBe(served);
  });

  it('whose statement fails is rolled back, and its connection serves on', async () => {
    const database = openDatabase(server.url, { connections: 1 });
    const served = await nextBackend(database);
    await expect(database.snapshot((query) => query('select 1 / 0'))).rejects.toThrow(
      StatementError,
    );
    expect(await nextBackend(database)).toBe(served);
  });

  it('whose statement was given up takes its connection along', async () => {
    const deadlines = handDeadlines();
    const database = openDatabase(server.url, { connections: 1, clock: deadlines.clock });
    const served = await nextBackend(database);
    const givenUp = database.snapshot((query) => {
      const asleep = query('select pg_sleep(60)');
      deadlines.pass();
      return asleep;
    });
    await expect(givenUp).rejects.toThrow(OutcomeUnknownError);
    expect(await nextBackend(database)).not.toBe(served);
  });
});
