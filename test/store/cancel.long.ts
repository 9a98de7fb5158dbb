/** What `cancel` has no time for: a server with TLS of its own. */
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { OutcomeUnknownError } from '../../src/store/connection/sqlstate.ts';
import { makeCertificates } from '../source/certificates.ts';
import { CLUSTER, startCluster } from '../support/cluster.ts';
import { until } from '../support/condition.ts';
import { handDeadlines } from '../support/hand-deadlines.ts';
import { openDatabase } from '../support/store.ts';
import { plainUser, testWith } from '../support/tool.ts';

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
