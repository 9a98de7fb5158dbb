/** What `cancel` has no time for: a server with TLS of its own. */
import { expect } from 'vitest';
import { OutcomeUnknownError } from '../../src/store/connection/sqlstate.ts';
import { CLUSTER, startTlsCluster } from '../support/cluster.ts';
import { until } from '../support/condition.ts';
import { handDeadlines } from '../support/hand-deadlines.ts';
import { openDatabase } from '../support/store.ts';
import { testWith } from '../support/tool.ts';

testWith(
  ['openssl', ...CLUSTER],
  'a statement that is given up is cancelled over TLS',
  async () => {
    const { cluster, ca } = await startTlsCluster();
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
