/** Before `npm run containers`: a container engine of its own in a folder of its own, with the two images that ours build on; after it, the end of both. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { ROOT } from '../docs/markdown.ts';
import { FIGURES, type Figure, tableOf, writeFigures } from './figures.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** What a process needs in its environment to reach the engine. */
    engine: Readonly<Record<string, string>>;
    /** A folder for the run, gone after it. */
    folder: string;
  }
}

const PATIENCE_MS = { tools: 300_000, engine: 60_000, images: 900_000, end: 30_000 };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const lacking = missing();
  if (lacking.length > 0)
    throw new Error(`npm run containers cannot run here:\n- ${lacking.join('\n- ')}`);
  // A socket's path may have 108 characters, so this is not below the checkout.
  const folder = await mkdtemp(join(tmpdir(), 'daywalk-containers-'));
  // A user who is not root runs a clone in it.
  chmodSync(folder, 0o711);
  const figures = join(folder, FIGURES);
  project.provide('folder', folder);
  const given = process.env.DOCKER_HOST;
  const { env, stop } = given
    ? { env: givenEngine(given), stop: async () => {} }
    : await startEngine(folder);
  project.provide('engine', env);
  return async () => {
    await stop();
    const { state } = project.vitest;
    // A part of the files, or of their tests, would make a part of the table.
    const whole = state.getFiles().length === filesHere() && state.getCountOfFailedTests() === 0;
    if (whole && existsSync(figures)) writeFigures(tableOf(readFigures(figures)));
    await rm(folder, { recursive: true, force: true });
  };
}

const filesHere = () =>
  readdirSync(join(ROOT, 'test/containers')).filter((name) => name.endsWith('.containers.ts'))
    .length;

const readFigures = (path: string): Figure[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** What this machine does not have, in words for whoever started the command. */
function missing(): string[] {
  const lacks = [];
  const has = (program: string) =>
    (process.env.PATH ?? '').split(':').some((path) => existsSync(join(path, program)));
  if (process.platform !== 'linux') lacks.push('it needs Linux');
  if (process.getuid?.() !== 0) lacks.push('it needs root, to start an engine');
  for (const program of ['openssl', 'tar'])
    if (!has(program)) lacks.push(`it needs the program ${program}`);
  if (process.env.DOCKER_HOST) {
    if (!has('docker')) lacks.push('DOCKER_HOST is set, so it needs the program docker');
    return lacks;
  }
  for (const program of ['apt-get', 'dpkg-deb', 'iptables'])
    if (!has(program)) lacks.push(`it needs the program ${program}`);
  if (!existsSync('/usr/share/keyrings/debian-archive-keyring.gpg'))
    lacks.push('it needs the package debian-archive-keyring: its tools are unpacked from Debian');
  if (existsSync('/var/run/docker.sock') || existsSync('/run/docker.sock'))
    lacks.push(
      'an engine is there already, and two would meddle with each other’s firewall rules. Take a machine without one; or ' +
        'set DOCKER_HOST to use that engine, with its images: its tags daywalk and daywalk-demo are then overwritten',
    );
  return lacks;
}

/** What every program needs, and npm where a proxy has certificates of its own. */
const pathAndHome = () => {
  const { PATH = '', HOME = '/root', NODE_EXTRA_CA_CERTS } = process.env;
  return { PATH, HOME, ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }) };
};

/** The engine that DOCKER_HOST names, as it is. */
const givenEngine = (host: string) => {
  const { DOCKER_CONFIG } = process.env;
  return { ...pathAndHome(), DOCKER_HOST: host, ...(DOCKER_CONFIG && { DOCKER_CONFIG }) };
};

async function startEngine(folder: string) {
  const tools = join(folder, 'tools');
  run('tools.sh', [tools], process.env, PATIENCE_MS.tools);
  const needed = pathAndHome();
  const env = {
    ...needed,
    PATH: `${tools}/root/usr/bin:${tools}/root/usr/sbin:${needed.PATH}`,
    DOCKER_HOST: `unix://${folder}/docker.sock`,
    DOCKER_CONFIG: `${tools}/config`,
    DEBOOTSTRAP_DIR: `${tools}/root/usr/share/debootstrap`,
  };
  const data = join(folder, 'data');
  mkdirSync(data);
  const log = openSync(join(folder, 'dockerd.log'), 'a');
  const engine = spawn(
    'dockerd',
    [
      ...['--data-root', data, '--exec-root', join(folder, 'exec')],
      ...['--pidfile', join(folder, 'pid'), '--host', env.DOCKER_HOST],
    ],
    { env, stdio: ['ignore', log, log] },
  );
  const stop = () => end(engine);
  try {
    await untilItAnswers(engine, env, join(folder, 'dockerd.log'));
    run('stand-ins.sh', [], env, PATIENCE_MS.images);
    return { env, stop };
  } catch (error) {
    await stop();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function run(script: string, args: string[], env: NodeJS.ProcessEnv, timeout: number): void {
  console.info(`test/containers/${script}`);
  const path = join(ROOT, 'test/containers', script);
  execFileSync('bash', [path, ...args], { cwd: ROOT, env, timeout, stdio: 'inherit' });
}

async function untilItAnswers(engine: ChildProcess, env: NodeJS.ProcessEnv, log: string) {
  const until = Date.now() + PATIENCE_MS.engine;
  for (;;) {
    try {
      execFileSync('docker', ['info'], { env, stdio: 'ignore', timeout: 5_000 });
      return;
    } catch {
      if (engine.exitCode !== null || Date.now() > until)
        throw new Error(`the engine does not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
      await wait(200);
    }
  }
}

/** It stops its containers, and containerd with them. */
async function end(engine: ChildProcess): Promise<void> {
  if (engine.exitCode !== null) return;
  const ended = once(engine, 'exit');
  engine.kill('SIGTERM');
  const hard = setTimeout(() => engine.kill('SIGKILL'), PATIENCE_MS.end);
  await ended;
  clearTimeout(hard);
}
