/** The Postgres of the benchmarks: the given one, the embedded one, or one made with the programs of this machine. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbedded } from '@daywalk/embedded-postgres';
import pg from 'pg';

/** A running server. */
export interface Postgres {
  /** Of a database that may be connected to in order to make others. */
  readonly url: string;
  /** What it is, for the paper. */
  readonly what: string;
  readonly lz4: boolean;
  close(): Promise<void>;
}

/** The servers that can be had. */
export interface Servers {
  /** A server that has lz4: the one in use, or one of this machine's programs; null: none. */
  withLz4(): Promise<Postgres | null>;
}

const run = promisify(execFile);

/** Asks the server what it is. */
async function describe(url: string, origin: string): Promise<Pick<Postgres, 'what' | 'lz4'>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ what: string; lz4: boolean }>(
    `select format('PostgreSQL %s, shared_buffers %s, fsync %s, synchronous_commit %s, max_wal_size %s',
                   split_part(current_setting('server_version'), ' ', 1), current_setting('shared_buffers'),
                   current_setting('fsync'), current_setting('synchronous_commit'), current_setting('max_wal_size')) as what,
            exists (select from pg_settings where name = 'default_toast_compression' and 'lz4' = any (enumvals)) as lz4`,
  );
  await client.end();
  const [row] = rows;
  if (row === undefined) throw new Error('a select without a table returned no row');
  return { what: `${row.what} (${origin})`, lz4: row.lz4 };
}

/** The server of `DATABASE_URL`; its databases are made and dropped by us, it is not. */
export async function givenPostgres(url: string): Promise<Postgres> {
  return { url, ...(await describe(url, 'given')), close: async () => {} };
}

/** The embedded Postgres, in a folder of its own that is removed at the end. */
export async function embeddedPostgres(): Promise<Postgres> {
  const directory = await mkdtemp(join(tmpdir(), 'daywalk-bench-'));
  const embedded = await startEmbedded({ directory });
  return {
    url: embedded.url,
    ...(await describe(embedded.url, 'embedded')),
    async close() {
      await embedded.release({ untilStopped: true });
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The newest Postgres whose programs are where Debian puts them; null: none. */
function installedPrograms(): string | null {
  const home = '/usr/lib/postgresql';
  if (!existsSync(home)) return null;
  const versions = readdirSync(home).sort((a, b) => Number(b) - Number(a));
  const folders = versions.map((version) => join(home, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

/** A Postgres of this machine's programs, with its default settings, in a folder that is removed at the end; null: none. */
export async function installedPostgres(): Promise<Postgres | null> {
  const programs = installedPrograms();
  const user = await ordinaryUser();
  if (programs === null || user === null) return null;
  const folder = await mkdtemp(join(tmpdir(), 'daywalk-bench-'));
  const port = await freePort();
  const as = { ...user, cwd: folder };
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid ?? user.uid);
  const data = join(folder, 'data');
  const pgCtl = (...what: string[]) =>
    run(join(programs, 'pg_ctl'), ['-D', data, '-w', ...what], as);
  await run(join(programs, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8'], as);
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  await pgCtl('-l', join(folder, 'log'), '-o', options, 'start');
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  return {
    url,
    ...(await describe(url, "this machine's, with its default settings")),
    async close() {
      await pgCtl('-m', 'fast', 'stop');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Postgres refuses to run as root: the user `postgres` is taken then. Null: there is none. */
async function ordinaryUser(): Promise<{ uid?: number; gid?: number } | null> {
  if (process.getuid?.() !== 0) return {};
  try {
    const [uid, gid] = await Promise.all([
      run('id', ['-u', 'postgres']),
      run('id', ['-g', 'postgres']),
    ]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}
