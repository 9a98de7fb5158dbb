import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { UnavailableError } from '../../src/errors.ts';
import { OutcomeUnknownError } from '../../src/store/connection/sqlstate.ts';
import type { Database } from '../../src/store/database.ts';
import { until } from '../support/condition.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { handDeadlines } from '../support/hand-deadlines.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { openDatabase } from '../support/store.ts';
import { testWith } from '../support/tool.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

/** Holds a lock that every reader of the windows waits for. */
async function lockWindows(): Promise<void> {
  const holder = await server.pool.connect();
  await holder.query('begin; lock daywalk.windows');
  onTestFinished(async () => {
    await holder.query('rollback');
    holder.release();
  });
}

async function waiting(): Promise<number> {
  const [row] = await server.query<{ backends: number }>(
    `select count(*)::integer as backends from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.backends ?? 0;
}

const someWait = () => until('statements that wait', async () => (await waiting()) > 0);
const noneWaits = () => until('no statement that waits', async () => (await waiting()) === 0);

/** A statement waits for a lock, is given up, and waits no more. */
async function givesUp(url: string, ask: (database: Database) => Promise<unknown>): Promise<void> {
  await lockWindows();
  const deadlines = handDeadlines();
  const database = openDatabase(url, { connections: 1, clock: deadlines.clock });
  const asked = expect(ask(database)).rejects.toThrow(OutcomeUnknownError);
  await someWait();
  deadlines.pass();
  await asked;
  await noneWaits();
  expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
}

it.each<[string, (database: Database) => Promise<unknown>]>([
  ['a statement', (database) => database.query('select from daywalk.windows')],
  [
    'a statement with a large value',
    (database) =>
      database.query('select $1::bytea from daywalk.windows', [Buffer.alloc(100_000, 'x')]),
  ],
  [
    'one of a snapshot',
    (database) => database.snapshot((query) => query('select from daywalk.windows')),
  ],
])('%s that is given up is cancelled on the server', (_, ask) => givesUp(server.url, ask));

testWith(['pgbouncer'], 'a statement that is given up is cancelled through PgBouncer', async () => {
  const bouncer = await startPgBouncer(server.url, 2);
  onTestFinished(() => bouncer.stop());
  await givesUp(bouncer.through(server.url), (database) =>
    database.query('select from daywalk.windows'),
  );
});

it('a statement that comes to the server behind its cancellation is cancelled, too', async () => {
  await lockWindows();
  const proxy = await startPostgresProxy(server.url);
  onTestFinished(() => proxy.close());
  const deadlines = handDeadlines();
  const late = proxy.ambush('hold', /daywalk\.windows/);
  const sleep = async () => {
    late.release();
    await someWait();
  };
  const clock = { ...deadlines.clock, sleep };
  const database = openDatabase(proxy.url, { connections: 1, clock });
  const asked = expect(database.query('select from daywalk.windows')).rejects.toThrow(
    OutcomeUnknownError,
  );
  await late.met;
  deadlines.pass();
  await asked;
  await late.executed;
  await noneWaits();
});

it('repeating a statement that is given up each time leaves none behind', async () => {
  await lockWindows();
  const database = openDatabase(server.url, {
    connections: 2,
    statementTimeoutMs: 50,
    patienceMs: 400,
    clock: systemClock,
  });
  let most = 0;
  const asked = database.persist('select from daywalk.windows').catch((error: unknown) => error);
  let ended = false;
  void asked.then(() => {
    ended = true;
  });
  while (!ended) most = Math.max(most, await waiting());
  expect(await asked).toBeInstanceOf(UnavailableError);
  expect(most).toBeLessThanOrEqual(2);
  await noneWaits();
});
