/** A PgBouncer in transaction mode in front of a Postgres: one server connection serves whoever has a statement. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from './ask.ts';
import { until } from './condition.ts';
import { freePort } from './ports.ts';
import { plainUser, tool } from './tool.ts';

/** What went through it. */
export interface PoolFigures {
  readonly transactions: number;
  readonly megabytes: number;
}

/** A PgBouncer that runs. */
export interface PgBouncer {
  readonly port: number;
  /** The same database, through PgBouncer. */
  through(url: string): string;
  figures(): Promise<PoolFigures>;
  stop(): Promise<void>;
}

/**
 * Starts PgBouncer with its defaults, but for the pool mode, before the server of `url`, for all databases of it.
 * @param poolSize server connections per database: fewer than clients, so that they really share them.
 * @param more lines of its settings.
 */
export async function startPgBouncer(url: string, poolSize = 3, more = ''): Promise<PgBouncer> {
  const server = new URL(url);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-pgbouncer-'));
  const user = plainUser();
  const [name, password] = [
    decodeURIComponent(server.username),
    decodeURIComponent(server.password),
  ];
  writeFileSync(join(folder, 'users.txt'), `"${name}" "${password.replaceAll('"', '""')}"\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${server.hostname} port=${server.port || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
pool_mode = transaction
auth_type = ${password === '' ? 'trust' : 'scram-sha-256'}
auth_file = ${join(folder, 'users.txt')}
auth_user = ${name}
admin_users = ${name}
max_client_conn = 500
default_pool_size = ${poolSize}
${more}
`,
  );
  if (user !== undefined)
    for (const path of [folder, join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')])
      chownSync(path, user.uid, user.gid);
  chmodSync(folder, 0o700);
  const child = spawn(tool('pgbouncer'), ['--quiet', join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...user,
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
  });
  const through = (direct: string) => {
    const own = new URL(direct);
    own.hostname = '127.0.0.1';
    own.port = String(port);
    return own.href;
  };
  const console = new URL(through(url));
  console.pathname = '/pgbouncer';
  try {
    await until('PgBouncer to answer', () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
      return ask(console.href, 'show version').then(
        () => true,
        () => false,
      );
    });
  } catch (error) {
    await end(child, folder);
    throw new Error(`PgBouncer did not start: ${said}`, { cause: error });
  }
  return {
    port,
    through,
    async figures() {
      const rows = await ask(console.href, 'show stats_totals');
      const sum = (column: string) =>
        rows.reduce((total, row) => total + Number(row[column] ?? 0), 0);
      return {
        transactions: sum('xact_count'),
        megabytes: Math.round((sum('bytes_received') + sum('bytes_sent')) / 1e6),
      };
    },
    stop: () => end(child, folder),
  };
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGQUIT');
    await once(child, 'close');
  }
  rmSync(folder, { recursive: true, force: true });
}
