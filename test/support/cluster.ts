/** A Postgres server of a test's own, from Debian's package: to be stopped, killed, filled up and promoted. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, onTestFinished } from 'vitest';
import { migrate } from '../../src/store/migrations.ts';
import { ask } from './ask.ts';
import { makeCertificates } from './certificates.ts';
import { until } from './condition.ts';
import type { TestDatabase } from './database.ts';
import { inEveryFile } from './hooks.ts';
import { roomyFolder } from './memory.ts';
import { openPool, rowsFrom } from './pool.ts';
import { freePort } from './ports.ts';
import { plainUser, tool } from './tool.ts';

/** The programs that a cluster needs, for `testWith`. */
export const CLUSTER = ['initdb', 'postgres', 'pg_basebackup'] as const;

/** How a server is stopped: `fast` ends its sessions, `immediate` leaves recovery to the next start. */
export type StopMode = 'fast' | 'immediate';
const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

/** Sessions, so that the program, the test and a standby fit. */
const SETTINGS = { max_connections: '40', wal_level: 'replica', synchronous_commit: 'on' };

/** A server of this test, with superuser `postgres` and no password, on loopback. */
export interface Cluster {
  readonly port: number;
  readonly folder: string;
  url(database?: string): string;
  start(): Promise<void>;
  stop(mode: StopMode): Promise<void>;
  /** A standby that streams from it. */
  standby(): Promise<Cluster>;
  /** Makes a standby a primary. */
  promote(): Promise<void>;
  /** One statement in a session of its own. */
  ask(statement: string, database?: string): Promise<Record<string, unknown>[]>;
}

const running = new Set<ChildProcess>();
const folders: string[] = [];

/** What `initdb` made for this file: a copy of it takes a tenth of the work. */
let template: Promise<string> | undefined;

/** Makes and starts a server. */
export async function startCluster(settings: Record<string, string> = {}): Promise<Cluster> {
  template ??= makeData();
  const folder = await newFolder();
  await promisify(execFile)('cp', ['-a', `${await template}/.`, folder]);
  return started(folder, await freePort(), settings);
}

async function makeData(): Promise<string> {
  const folder = await newFolder();
  await asPostgres('initdb', [
    '-D',
    folder,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
    '--no-instructions',
  ]);
  return folder;
}

/** The same with TLS, for tests that have openssl; `ca` is the file of the authority that signed its certificate. */
export async function startTlsCluster() {
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
  return { cluster, ca: file('ca.pem', made.ca) };
}

/** A database with the schema in it, as `createTestDatabase` gives one. */
export async function databaseIn(
  cluster: Cluster,
  url = cluster.url('daywalk'),
): Promise<TestDatabase> {
  await cluster.ask('create database daywalk');
  await migrate(cluster.url('daywalk'));
  const pool = openPool(url, 5);
  onTestFinished(() => pool.end());
  return {
    name: 'daywalk',
    url,
    pool,
    query: rowsFrom(pool),
    drop: async () => undefined,
  };
}

async function started(
  folder: string,
  port: number,
  settings: Record<string, string>,
): Promise<Cluster> {
  let server: ChildProcess | undefined;
  const all = { ...SETTINGS, ...settings };
  const url = (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const cluster: Cluster = {
    port,
    folder,
    url,
    async start() {
      const given = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const child = spawn(
        tool('postgres'),
        [
          '-D',
          folder,
          '-p',
          String(port),
          '-c',
          'listen_addresses=127.0.0.1',
          '-c',
          'unix_socket_directories=',
          ...given,
        ],
        { stdio: ['ignore', 'ignore', 'pipe'], ...plainUser() },
      );
      running.add(child);
      let said = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-8000);
      });
      server = child;
      await until('Postgres to answer', () => {
        if (child.exitCode !== null) throw new Error(`Postgres ended:\n${said}`);
        return cluster.ask('select').then(
          () => true,
          () => false,
        );
      });
    },
    async stop(mode) {
      if (server === undefined || server.exitCode !== null) return;
      server.kill(SIGNALS[mode]);
      await once(server, 'close');
      running.delete(server);
    },
    async standby() {
      const copy = await newFolder();
      await asPostgres('pg_basebackup', [
        '-D',
        copy,
        '-d',
        url(),
        '-R',
        '-X',
        'stream',
        '-c',
        'fast',
        '--no-sync',
      ]);
      const standby = await started(copy, await freePort(), settings);
      await until(
        'the standby to stream',
        async () => (await cluster.ask('select from pg_stat_replication')).length === 1,
      );
      return standby;
    },
    async promote() {
      await cluster.ask('select pg_promote()');
      await until('the standby to be a primary', async () => {
        const [row] = await cluster.ask('select pg_is_in_recovery() as recovering');
        return row?.recovering === false;
      });
    },
    ask: (statement, database) => ask(url(database), statement),
  };
  await cluster.start();
  return cluster;
}

/** A folder that the server may own. */
async function newFolder(): Promise<string> {
  const folder = mkdtempSync(join(await roomyFolder(), 'daywalk-cluster-'));
  folders.push(folder);
  const user = plainUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

async function asPostgres(program: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(tool(program), [...args], { cwd: '/', ...plainUser() });
}

inEveryFile(() =>
  afterAll(async () => {
    for (const server of running) {
      if (server.exitCode !== null || server.signalCode !== null) continue;
      server.kill('SIGQUIT');
      await once(server, 'close');
    }
    running.clear();
    template = undefined;
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }),
);
process.once('exit', () => {
  for (const server of running) server.kill('SIGQUIT');
});
