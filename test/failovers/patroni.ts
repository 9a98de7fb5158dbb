/** A Patroni cluster on loopback: etcd and two nodes with Debian's Postgres, each node a process that can be killed and comes back. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ask } from '../support/ask.ts';
import { until } from '../support/condition.ts';
import { type Line, layLine } from '../support/line.ts';
import { freePort } from '../support/ports.ts';
import { plainUser, tool } from '../support/tool.ts';
import { nodeSettings } from './settings.ts';

/** The programs that it needs. */
export const PROGRAMS = ['patroni', 'etcd', 'pg_controldata', 'pg_basebackup', 'pg_rewind'];

const NAMES = ['one', 'two'] as const;
/** Booting, a failover, and a rejoin each take seconds; a slow machine is given more. */
const LONGEST_MS = 60_000;

/** A node: a Patroni and its Postgres. */
export interface Node {
  readonly name: string;
  /** Of Postgres. */
  readonly port: number;
  /** Of Patroni's REST API. */
  readonly rest: number;
  /** The way by which the other node reaches this one's Postgres. */
  readonly line: Line;
  url(database: string): string;
}

/** A cluster that runs. */
export interface PatroniCluster {
  readonly nodes: readonly Node[];
  /** The node that holds the lock and takes writes; waits for one. */
  leader(): Promise<Node>;
  /** Waits until one node leads and the other streams from it and has everything. @returns the leader. */
  settled(): Promise<Node>;
  /** SIGKILL to all processes of the node's Postgres, and to its Patroni if `whole`. */
  kill(node: Node, whole: boolean): Promise<void>;
  /** Starts the Patroni of a node that was killed whole. */
  revive(node: Node): Promise<void>;
  /** Has the leader hand over to the other node; resolves when that is done. */
  switchover(from: Node): Promise<void>;
  /** What the nodes said last. */
  said(): string;
  stop(): Promise<void>;
}

/** Starts etcd and the nodes, and waits until they are a cluster. */
export async function startPatroni(synchronous: boolean): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-failovers-'));
  own(folder);
  const etcd = await startEtcd(folder);
  const nodes: OwnNode[] = [];
  for (const name of NAMES) nodes.push(await newNode(folder, name, etcd.port, synchronous));
  const cluster = new Cluster(folder, etcd.process, nodes, synchronous);
  open.add(cluster);
  try {
    await cluster.start();
  } catch (error) {
    await cluster.stop();
    throw new Error(`the nodes are no cluster; they said:\n${cluster.said()}`, { cause: error });
  }
  return cluster;
}

const open = new Set<Cluster>();
// A run that is broken off has no hooks.
process.once('exit', () => {
  for (const cluster of open) cluster.killAll();
});

interface OwnNode extends Node {
  readonly folder: string;
  readonly config: string;
  patroni: ChildProcess | undefined;
  said: string;
}

class Cluster implements PatroniCluster {
  readonly nodes: readonly OwnNode[];
  readonly #folder: string;
  readonly #etcd: ChildProcess;
  readonly #synchronous: boolean;

  constructor(folder: string, etcd: ChildProcess, nodes: readonly OwnNode[], synchronous: boolean) {
    this.#folder = folder;
    this.#etcd = etcd;
    this.nodes = nodes;
    this.#synchronous = synchronous;
  }

  async start(): Promise<void> {
    for (const node of this.nodes) launch(node);
    await this.settled();
  }

  /** What the nodes said last. */
  said(): string {
    return this.nodes.map(({ name, said }) => `${name}:\n${said}`).join('\n');
  }

  leader(): Promise<Node> {
    return until(
      'a node that leads',
      async () => {
        const ended = this.nodes.find(({ patroni }) => typeof patroni?.exitCode === 'number');
        if (ended !== undefined) throw new Error(`Patroni has ended:\n${ended.said}`);
        for (const node of this.nodes)
          if ((await statusOf(node, '/primary')) === 200 && (await takesWrites(node))) return node;
        return undefined;
      },
      LONGEST_MS,
    );
  }

  settled(): Promise<Node> {
    return until(
      'a cluster that is whole',
      async () => {
        const leader = await this.leader();
        const [row] = await ask(
          leader.url('postgres'),
          `select count(*)::int as streaming, bool_and(sync_state in ('sync', 'quorum')) as sync,
                  bool_and(replay_lsn = pg_current_wal_lsn()) as level
             from pg_stat_replication where state = 'streaming'`,
        ).catch(() => []);
        if (row?.streaming !== this.nodes.length - 1 || row.level !== true) return undefined;
        return !this.#synchronous || row.sync === true ? leader : undefined;
      },
      LONGEST_MS,
    );
  }

  async kill(node: Node, whole: boolean): Promise<void> {
    const { folder, patroni } = this.#own(node);
    if (whole && patroni !== undefined) {
      patroni.kill('SIGKILL');
      // Its Postgres holds its output open: it does not close.
      await once(patroni, 'exit');
      this.#own(node).patroni = undefined;
    }
    await killPostgres(folder);
  }

  async revive(node: Node): Promise<void> {
    const mine = this.#own(node);
    if (mine.patroni === undefined) launch(mine);
  }

  async switchover(from: Node): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${from.rest}/switchover`, {
      method: 'POST',
      body: JSON.stringify({
        leader: from.name,
        candidate: this.nodes.find((node) => node !== from)?.name,
      }),
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    if (answer.status !== 200)
      throw new Error(`the switchover was refused: ${answer.status} ${await answer.text()}`);
  }

  async stop(): Promise<void> {
    open.delete(this);
    for (const { patroni } of this.nodes) patroni?.kill('SIGKILL');
    for (const { folder, line } of this.nodes) {
      await killPostgres(folder);
      await line.close();
    }
    this.#etcd.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Without waiting, for the end of this process. */
  killAll(): void {
    for (const { patroni, folder } of this.nodes) {
      patroni?.kill('SIGKILL');
      const pid = postmaster(folder);
      if (pid !== undefined) signal(pid, 'SIGQUIT');
    }
    this.#etcd.kill('SIGKILL');
  }

  #own(node: Node): OwnNode {
    const found = this.nodes.find(({ name }) => name === node.name);
    if (found === undefined) throw new Error(`no node ${node.name}`);
    return found;
  }
}

async function startEtcd(folder: string): Promise<{ port: number; process: ChildProcess }> {
  const [port, peers] = [await freePort(), await freePort()];
  const data = join(folder, 'etcd');
  mkdirSync(data);
  own(data);
  const [here, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peers}`];
  const child = spawn(
    tool('etcd'),
    [
      ['--data-dir', data],
      ['--listen-client-urls', here],
      ['--advertise-client-urls', here],
      ['--listen-peer-urls', peer],
      ['--initial-advertise-peer-urls', peer],
      ['--initial-cluster', `default=${peer}`],
    ].flat(),
    { stdio: 'ignore', cwd: folder, ...plainUser() },
  );
  await until('etcd to answer', async () => {
    if (child.exitCode !== null) throw new Error(`etcd ended with ${child.exitCode}`);
    return (await statusOf({ rest: port }, '/health')) === 200;
  });
  return { port, process: child };
}

async function newNode(
  folder: string,
  name: string,
  etcd: number,
  synchronous: boolean,
): Promise<OwnNode> {
  const [port, rest] = [await freePort(), await freePort()];
  const line = await layLine(port);
  const own_ = join(folder, name);
  mkdirSync(own_);
  own(own_);
  const reached = new URL(line.over(`postgres://127.0.0.1:${port}`)).port;
  const bin = dirname(tool('pg_controldata'));
  const config = join(own_, 'patroni.json');
  const settings = nodeSettings({
    name,
    folder: own_,
    port,
    rest,
    reached,
    etcd,
    synchronous,
    bin,
  });
  writeFileSync(config, JSON.stringify(settings));
  own(config);
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  return { name, port, rest, line, url, folder: own_, config, patroni: undefined, said: '' };
}

function launch(node: OwnNode): void {
  const child = spawn(tool('patroni'), [node.config], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: node.folder,
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
    ...plainUser(),
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      node.said = (node.said + text).slice(-4_000);
    });
  node.patroni = child;
}

/** Kills the postmaster and all its children; they are gone when it resolves. */
async function killPostgres(folder: string): Promise<void> {
  const pid = postmaster(folder);
  if (pid === undefined) return;
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(pid)]).catch(
    () => ({ stdout: '' }),
  );
  const all = [pid, ...stdout.split('\n').flatMap((line) => Number(line.trim()) || [])];
  for (const one of all) signal(one, 'SIGKILL');
  await until('the killed Postgres to be gone', () => all.every((one) => !lives(one)), 20_000);
}

/** The postmaster of a node, if one runs there. */
function postmaster(folder: string): number | undefined {
  try {
    const [pid = ''] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n');
    const line = readFileSync(`/proc/${Number(pid)}/cmdline`, 'utf8');
    // After a crash the number may be another program's.
    return line.includes(folder) ? Number(pid) : undefined;
  } catch {
    return undefined;
  }
}

function lives(pid: number): boolean {
  try {
    // A zombie is dead, and waits for somebody to notice.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

async function statusOf({ rest }: { rest: number }, path: string): Promise<number> {
  return fetch(`http://127.0.0.1:${rest}${path}`, { signal: AbortSignal.timeout(2_000) }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    () => 0,
  );
}

async function takesWrites(node: Node): Promise<boolean> {
  const [row] = await ask(node.url('postgres'), 'show transaction_read_only', 2_000).catch(
    () => [],
  );
  return row?.transaction_read_only === 'off';
}

/** Gives a file to the user that Postgres runs as. */
function own(path: string): void {
  const user = plainUser();
  if (user !== undefined) chownSync(path, user.uid, user.gid);
}
