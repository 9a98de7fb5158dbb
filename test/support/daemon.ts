/** Real servers and proxies of Debian, each with a configuration of its own in a temporary folder, on loopback. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from './condition.ts';
import { freePort } from './ports.ts';
import { PACKAGES } from './tool.ts';

export type DaemonName = 'nginx' | 'haproxy' | 'prometheus' | 'tinyproxy' | 'squid';

/** Where Debian puts daemons, which is not in everybody's path. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

/**
 * Why a test of this program cannot run; null: it can.
 * @throws where `TEST_ALL_PROGRAMS=1` says that all tests must run.
 */
export function absenceOf(name: DaemonName): string | null {
  const flag = name === 'haproxy' ? '-vv' : '-v';
  if (spawnSync(name, [flag], { env: { PATH } }).error === undefined) return null;
  const reason = `${name} is not installed (Debian: apt-get install ${PACKAGES[name]})`;
  if (process.env.TEST_ALL_PROGRAMS === '1') throw new Error(reason);
  return reason;
}

/**
 * Starts a daemon in the foreground and waits until it listens; it ends with the test, by its own handle.
 * @param files written to its folder before.
 * @param args gets the folder.
 */
export async function startDaemon(
  name: DaemonName,
  port: number,
  files: (folder: string) => Readonly<Record<string, string>>,
  args: (folder: string) => readonly string[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `daywalk-${name}-`));
  // A daemon that root starts may go on as somebody else.
  chmodSync(folder, 0o755);
  for (const [file, text] of Object.entries(files(folder))) writeFileSync(join(folder, file), text);
  const child = spawn(name, args(folder), { cwd: folder, env: { PATH }, stdio: 'pipe' });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await until(`${name} to listen`, async () => {
    if (hasEnded(child)) throw new Error(`${name} ended: ${said.join('')}`);
    return listens(port);
  });
}

const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** An nginx with this inside its `server` block; `outside` stands beside it. */
export async function startNginx(
  server: string,
  files: Readonly<Record<string, string>> = {},
  outside = '',
): Promise<number> {
  const port = await freePort();
  const config = (folder: string) => `
    daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 64; }
    http {
      access_log off; root ${folder}; default_type application/json;
      client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
      uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
      ${outside}
      server { ${server.replaceAll('LISTEN', `127.0.0.1:${port}`)} }
    }`;
  await startDaemon(
    'nginx',
    port,
    (folder) => ({ 'nginx.conf': config(folder), 'page.json': '{"data":[]}', ...files }),
    (folder) => ['-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`],
  );
  return port;
}

/** A HAProxy in front of the server at `upstream`. */
export async function startHaproxy(
  upstream: number,
  { frontend = '', server = '1m' } = {},
): Promise<number> {
  const port = await freePort();
  const config = `
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server ${server}
frontend api
  bind 127.0.0.1:${port}
${frontend}
  default_backend origin
backend origin
  server one 127.0.0.1:${upstream}
`;
  await startDaemon(
    'haproxy',
    port,
    () => ({ 'haproxy.cfg': config }),
    (folder) => ['-db', '-f', join(folder, 'haproxy.cfg')],
  );
  return port;
}

/** What a proxy lets through, and whom. */
export interface ProxyRules {
  /** The only port that tunnels may lead to. */
  readonly connectPort: number;
  /** The password of the user `user`; absent: everybody may. */
  readonly password?: string;
}

/** A tinyproxy for clients on loopback. */
export async function startTinyproxy({ connectPort, password }: ProxyRules): Promise<number> {
  const port = await freePort();
  const auth = password === undefined ? '' : `BasicAuth user ${password}`;
  const config = `Port ${port}\nListen 127.0.0.1\nTimeout 30\nMaxClients 20\nAllow 127.0.0.1\nLogLevel Error\nConnectPort ${connectPort}\n${auth}\n`;
  await startDaemon(
    'tinyproxy',
    port,
    () => ({ 'tinyproxy.conf': config }),
    (folder) => ['-d', '-c', join(folder, 'tinyproxy.conf')],
  );
  return port;
}

/** A squid for clients on loopback; it stores nothing. */
export async function startSquid({ connectPort, password }: ProxyRules): Promise<number> {
  const port = await freePort();
  const hashed = execFileSync('openssl', ['passwd', '-apr1', password ?? ''], { encoding: 'utf8' });
  const config = (folder: string) => `
http_port 127.0.0.1:${port}
pid_filename none
access_log none
cache_log /dev/null
cache deny all
pinger_enable off
shutdown_lifetime 0 seconds
acl api port ${connectPort}
${password === undefined ? 'acl people src 127.0.0.1' : `auth_param basic program /usr/lib/squid/basic_ncsa_auth ${folder}/passwords\nacl people proxy_auth REQUIRED`}
http_access deny !api
http_access allow people
http_access deny all
`;
  await startDaemon(
    'squid',
    port,
    (folder) => ({ 'squid.conf': config(folder), passwords: `user:${hashed}` }),
    (folder) => ['-N', '-f', join(folder, 'squid.conf')],
  );
  return port;
}
