/** A database of several hosts: the program goes to the one that takes writes, and to another one when that has changed. */
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { SettingsError, TransientError, UnavailableError } from '../../src/errors.ts';
import { hostsOf } from '../../src/hosts.ts';
import { type Logger, silentLogger } from '../../src/log.ts';
import { migrate, readSchemaState } from '../../src/store/migrations.ts';
import { CLUSTER, type Cluster, startCluster } from '../support/cluster.ts';
import { layLine } from '../support/line.ts';
import { openDatabase } from '../support/store.ts';
import { testWith } from '../support/tool.ts';

/** Nobody listens there. */
const CLOSED = '127.0.0.1:1';
const at = ({ port }: Pick<Cluster, 'port'>) => `127.0.0.1:${port}`;
const urlOf = (...hosts: string[]) => `postgres://postgres:s3cret-word@${hosts.join(',')}/postgres`;
const portOf = `select current_setting('port')::int as port`;

test.each([
  ['postgres://h/db', ['h']],
  ['postgres://u:a,b@h1:1,[::1]:2,h3/db?x=a,b', ['h1:1', '[::1]:2', 'h3']],
  ['postgres://u:p@s@h1,h2', ['h1', 'h2']],
  ['nonsense', ['']],
])('the hosts of %s', (url, names) => {
  const hosts = hostsOf(url);
  expect(hosts.map(({ name }) => name)).toEqual(names);
  for (const host of hosts) expect(host.url).toBe(url.replace(names.join(','), host.name));
});

async function pair(): Promise<{ primary: Cluster; standby: Cluster }> {
  const primary = await startCluster();
  const standby = await primary.standby();
  onTestFinished(async () => {
    await standby.stop('immediate');
    await primary.stop('immediate');
  });
  return { primary, standby };
}

testWith(
  CLUSTER,
  'of a closed port, a standby and a primary the primary is taken; after a failover the promoted standby, told once',
  async () => {
    const { primary, standby } = await pair();
    const said: string[] = [];
    const tell = (...told: unknown[]) => void said.push(inspect(told, { depth: 9 }));
    const log: Logger = { ...silentLogger, debug: tell, warn: tell };
    const url = urlOf(CLOSED, at(standby), at(primary));
    const database = openDatabase(url, { log, patienceMs: 60_000 });
    expect(await database.query(portOf)).toEqual([{ port: primary.port }]);
    await migrate(url);
    expect(await readSchemaState(url)).toMatchObject({ pending: [], empty: false });
    await primary.stop('immediate');
    await standby.promote();
    const many = Array.from({ length: 4 }, () => database.persist(portOf));
    expect((await Promise.all(many)).flat()).toEqual(Array(4).fill({ port: standby.port }));
    expect(await readSchemaState(url)).toMatchObject({ pending: [], empty: false });
    expect(said.filter((line) => line.includes('another host'))).toHaveLength(1);
    expect(said.join('')).not.toContain('s3cret-word');
  },
);

testWith(
  CLUSTER,
  'a server that stops taking writes under open connections is left for the other',
  async () => {
    const { primary, standby } = await pair();
    const database = openDatabase(urlOf(at(primary), at(standby)), { patienceMs: 60_000 });
    const reads = Array.from({ length: 4 }, () => database.query('select pg_sleep(0.2)'));
    await Promise.all(reads);
    await primary.ask('alter system set default_transaction_read_only = on');
    await primary.ask('select pg_reload_conf()');
    await standby.promote();
    await database.persist('create table written (here int)');
    expect(await standby.ask('select count(*)::int as n from written')).toEqual([{ n: 0 }]);
  },
);

testWith(
  CLUSTER,
  'a host on a silent line is given up after the limit, and the next one taken; what only the settings can mend is a settings error where it is so at every host; where no host takes writes the error names each and why, and is one that may pass; for good after the patience',
  async () => {
    const { primary, standby } = await pair();
    const line = await layLine(primary.port);
    line.freeze();
    onTestFinished(() => line.close());
    const silent = new URL(line.over(primary.url())).host;
    const patient = openDatabase(urlOf(silent, at(primary)), { statementTimeoutMs: 1_000 });
    expect(await patient.query(portOf)).toEqual([{ port: primary.port }]);

    const url = urlOf(at(standby), at(primary)).replace('/postgres', '/nowhere');
    const wrong = await openDatabase(url)
      .query(portOf)
      .catch((thrown: unknown) => thrown);
    expect(wrong).toBeInstanceOf(SettingsError);
    expect((wrong as Error).message).toMatch(/"nowhere" does not exist.*"nowhere"/);

    await primary.ask(`alter system set default_transaction_read_only = on`);
    await primary.ask('select pg_reload_conf()');
    const database = openDatabase(urlOf(CLOSED, at(standby), at(primary)), { patienceMs: 200 });
    const error = await database.query(portOf).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TransientError);
    const { message } = error as Error;
    expect(message).toMatch(
      /^no host of DATABASE_URL takes writes \(127\.0\.0\.1:1: .*ECONNREFUSED/,
    );
    expect(message).toContain(`${at(standby)}: it is a standby; `);
    expect(message).toContain(`${at(primary)}: its transactions are read-only)`);
    expect(message).not.toContain('s3cret');
    await expect(database.persist(portOf)).rejects.toThrow(UnavailableError);
    const one = openDatabase(`${urlOf(at(standby))}?target_session_attrs=read-write`);
    await expect(one.query(portOf)).rejects.toThrow('it is a standby');
    // Of a URL that names one host and asks for nothing, whoever answers is taken, as before.
    expect(await openDatabase(urlOf(at(standby))).query(portOf)).toEqual([{ port: standby.port }]);
  },
);
