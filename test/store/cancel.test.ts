/** Statements that are given up: the server stops working on them, so that no number of them can fill it. */
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { UnavailableError } from '../../src/errors.ts';
import type { Database } from '../../src/store/database.ts';
import { OutcomeUnknownError } from '../../src/store/sqlstate.ts';
import { makeCertificates } from '../source/certificates.ts';
import { CLUSTER, startCluster } from '../support/cluster.ts';
import { until } from '../support/condition.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { handDeadlines } from '../support/hand-deadlines.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { openDatabase } from '../support/store.ts';
import { plainUser, testWith } from '../support/tool.ts';

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

testWith(
  ['openssl', ...CLUSTER],
  'a statement that is given up is cancelled over TLS',
  async () => {
    const made = makeCertificates();
    if (made === null) throw new Error('openssl made no certificates');
    const folder = mkdtempSync(join(tmpdir(), 'daywalk-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const user = plainUser();
    const file = (name: string, content: string) => {
      const path = join(folder, name);
      writeFileSync(path, content, { mode: 0o600 });
      if (user !== undefined) for (const one of [folder, path]) chownSync(one, user.uid, user.gid);
      return path;
    };
    const cluster = await startCluster({
      ssl: 'on',
      ssl_cert_file: file('server.pem', made.server.cert),
      ssl_key_file: file('server.key', made.server.key),
    });
    const ca = file('ca.pem', made.ca);
    const deadlines = handDeadlines();
    const database = openDatabase(
      `${cluster.url('postgres')}?sslmode=require&sslrootcert=${ca}`,
      deadlines,
    );
    const running = () =>
      cluster.ask(`select ssl from pg_stat_activity join pg_stat_ssl using (pid)
                  where state = 'active' and query like 'select pg_sleep%'`);
    const asked = expect(database.query('select pg_sleep(600)')).rejects.toThrow(
      OutcomeUnknownError,
    );
    const sleeping = async () => (await running())[0];
    expect(await until('a statement that sleeps', sleeping)).toEqual({ ssl: true });
    deadlines.pass();
    await asked;
    await until('no statement that sleeps', async () => (await running()).length === 0);
    await cluster.stop('fast');
  },
);

it('repeating a statement that is given up each time leaves none behind', async () => {
  await lockWindows();
  const database = openDatabase(server.url, {
    connections: 2,
    statementTimeoutMs: 50,
    patienceMs: 1_000,
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
