/** Ceph's S3, radosgw, with a cluster of its own: a monitor, a store in memory and the gateway, on loopback, in a temporary folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AwsClient } from 'aws4fetch';
import { until } from './condition.ts';
import { freePort } from './ports.ts';
import type { S3ServerKeys } from './s3-server.ts';
import { pathOf, tool } from './tool.ts';

/** What it takes; Debian's packages are in ./tool.ts. */
const PROGRAMS = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'monmaptool'];
const run = promisify(execFile);

/** Why it cannot run, in the words that ./missing-programs.ts reads; null: it can. */
export function absenceOfRadosgw(): string | null {
  const missing = PROGRAMS.filter((program) => pathOf(program) === undefined);
  if (missing.length === 0) return null;
  if (process.env.TEST_ALL_PROGRAMS === '1') throw new Error(`${missing} are not installed`);
  return `${missing.join(', ')} not installed`;
}

export interface Radosgw {
  readonly url: string;
  readonly region: string;
  readonly keys: S3ServerKeys;
  /** Makes a bucket; with a lock, its objects can be locked. */
  makeBucket(name: string, lock?: boolean): Promise<void>;
  /** The headers of an object, as another client sees them. */
  head(path: string): Promise<Headers>;
  /** The first thousand keys of a bucket that begin so, in order. */
  keysIn(bucket: string, prefix: string): Promise<string[]>;
  /** Ends its processes, each by its own handle. */
  close(): Promise<void>;
}

function configuration(folder: string, fsid: string, monitor: number, gateway: number): string {
  return `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitor}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
run dir = ${folder}
admin socket = ${folder}/$name.asok
log file = ${folder}/$name.log
crash dir = ${folder}
mon data = ${folder}/mon
mon data avail crit = 1
mon allow pool size one = true
mon max pg per osd = 1000
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 2147483648
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${gateway}
`;
}

/** Takes some seconds. */
export async function startRadosgw(): Promise<Radosgw> {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-radosgw-'));
  for (const name of ['mon', 'osd', 'rgw']) mkdirSync(join(folder, name));
  const [monitor, gateway] = [await freePort(), await freePort()];
  const [fsid, uuid] = [randomUUID(), randomUUID()];
  const [conf, monmap] = [join(folder, 'ceph.conf'), join(folder, 'monmap')];
  writeFileSync(conf, configuration(folder, fsid, monitor, gateway));
  const processes: ChildProcess[] = [];
  const start = (program: string, ...args: readonly string[]): void => {
    const child = spawn(tool(program), ['-c', conf, '-f', ...args], { stdio: 'ignore' });
    processes.push(child);
  };
  const toEnd = (program: string, ...args: readonly string[]) =>
    run(tool(program), ['-c', conf, ...args], { timeout: 60_000 });
  const close = async (): Promise<void> => {
    for (const child of processes.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const keys = { accessKeyId: 'TESTKEY', secretAccessKey: 'secret/of+tests=' };
  const url = `http://127.0.0.1:${gateway}`;
  try {
    const address = `[v2:127.0.0.1:${monitor}]`;
    await toEnd('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', address, monmap);
    await toEnd('ceph-mon', '--mkfs', '-i', 'a', '--monmap', monmap);
    start('ceph-mon', '-i', 'a');
    const { stdout } = await toEnd('ceph', 'osd', 'new', uuid);
    await toEnd('ceph-osd', '-i', stdout.trim(), '--mkfs', '--osd-uuid', uuid);
    start('ceph-osd', '-i', stdout.trim());
    await toEnd(
      'radosgw-admin',
      'user',
      'create',
      '--uid=test',
      '--display-name=test',
      `--access-key=${keys.accessKeyId}`,
      `--secret-key=${keys.secretAccessKey}`,
    );
    start('radosgw', '-n', 'client.rgw');
    await until('radosgw to answer', async () => (await fetch(url).catch(() => null))?.ok);
  } catch (error) {
    const logs = readdirSync(folder).filter((name) => name.endsWith('.log'));
    const ends = logs.map(
      (name) => `${name}: ${readFileSync(join(folder, name), 'utf8').slice(-1500)}`,
    );
    await close();
    throw new Error(`radosgw did not start: ${error}\n${ends.join('\n')}`);
  }
  const client = new AwsClient({ ...keys, service: 's3', region: 'default', retries: 0 });
  return {
    url,
    region: 'default',
    keys,
    close,
    async makeBucket(name, lock = false) {
      const headers = lock ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {};
      const answer = await client.fetch(`${url}/${name}`, { method: 'PUT', headers });
      if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    },
    async keysIn(bucket, prefix) {
      const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix });
      const xml = await (await client.fetch(`${url}/${bucket}?${query}`)).text();
      return [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)]
        .map(([, key = '']) => decodeURIComponent(key.replaceAll('+', ' ')))
        .sort();
    },
    async head(path) {
      return (await client.fetch(`${url}/${path}`, { method: 'HEAD' })).headers;
    },
  };
}
