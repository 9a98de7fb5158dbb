/** The real program in a process of its own: how long it takes, and what the system says that it used. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  /** From the start of the process to its end. */
  readonly ms: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The most memory that it held, in bytes; of daywalk only. */
  readonly peakRss: number;
  readonly cpuMs: number;
}

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const USAGE = new URL('./report-usage.js', import.meta.url).href;

/** Runs `daywalk` with these arguments; the environment is this one and nothing else but PATH. */
export function runDaywalk(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Ended> {
  return runNode(['--import', USAGE, MAIN, ...args], environment, signal);
}

/** Runs `daywalk` as a user does, without anything that measures inside it. */
export function runPlainDaywalk(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
  files: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return runProgram(process.execPath, [MAIN, ...args], environment, signal, files);
}

/** Runs Node. */
export function runNode(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Ended> {
  return runProgram(process.execPath, args, environment, signal);
}

/** Runs a program to its end, in a folder that holds these files only. */
export async function runProgram(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
  files: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const cwd = await mkdtemp(join(tmpdir(), 'daywalk-bench-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
    const began = performance.now();
    const child = spawn(file, args, {
      cwd,
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      signal,
    });
    const texts = ['', '', ''];
    for (const [index, stream] of [child.stdout, child.stderr, child.stdio[3]].entries())
      stream?.on('data', (chunk) => {
        texts[index] += String(chunk);
      });
    const exited = once(child, 'exit').then(() => performance.now() - began);
    const [[code], ms] = await Promise.all([once(child, 'close'), exited]);
    const [stdout = '', stderr = '', told = ''] = texts;
    const usage = told === '' ? { maxRSS: 0, userCPUTime: 0, systemCPUTime: 0 } : JSON.parse(told);
    return {
      code,
      ms,
      stdout,
      stderr,
      peakRss: usage.maxRSS * 1024,
      cpuMs: (usage.userCPUTime + usage.systemCPUTime) / 1000,
    };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** The end of a process that had to end well. */
export function mustBeWell(ended: Ended): Ended {
  if (ended.code === 0) return ended;
  throw new Error(`ended with exit code ${ended.code}: ${ended.stderr.slice(-500)}`);
}
