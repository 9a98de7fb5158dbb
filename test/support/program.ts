/** The program as its users run it: `node dist/main.js …` in a process of its own, with nothing of this process's environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect } from 'vitest';
import { inEveryFile } from './hooks.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** A program that runs longer is killed, and its test fails; just below the limit of a test. */
const LONGEST_MS = 170_000;

/** The API key of every end-to-end test; it must appear in nothing that the program writes (I10). */
export const API_KEY = 'e2e-Qx7vK93/mW+4z=Jt"8';

/** How a program ended, and all that it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly elapsedMs: number;
}

/** A program that runs. */
export interface Program {
  readonly pid: number;
  /** What it has said so far, stdout and stderr together as they came. */
  readonly said: () => string;
  readonly running: () => boolean;
  /** Resolves with the match when the program has said this on stdout or stderr; rejects when it ends before. */
  saying(words: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** How it ended; rejects if it took too long. */
  readonly ended: Promise<Ended>;
}

/** What a program is started with. */
export interface ProgramOptions {
  /** Its environment, besides PATH and a locale. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Its working folder; a fresh one otherwise. */
  readonly folder?: string;
  /** Texts that it must not write, besides the API key. */
  readonly secrets?: readonly string[];
  /** If it runs longer it is killed, and its test fails; 170 s otherwise. */
  readonly longestMs?: number;
  /** A command that starts it, such as `unshare`, with its arguments. */
  readonly under?: readonly string[];
  /** The `main.js` of another build. */
  readonly main?: string;
}

const started = new Set<ChildProcess>();
const folders: string[] = [];
/** The programs of a test whose output held a secret, and those that had to be killed. */
const offences: string[] = [];

/** A folder that is gone after the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-e2e-'));
  folders.push(folder);
  return folder;
}

/** Starts the program. */
export function startProgram(args: readonly string[], options: ProgramOptions = {}): Program {
  const began = performance.now();
  const { longestMs = LONGEST_MS, main = MAIN } = options;
  const [command = '', ...words] = [...(options.under ?? []), process.execPath, main, ...args];
  const child = spawn(command, words, {
    cwd: options.folder ?? temporaryFolder(),
    // A zone far from UTC, so that a day shifted by it would be seen.
    env: {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      TZ: 'Pacific/Kiritimati',
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  const out: string[] = [];
  const err: string[] = [];
  const all: string[] = [];
  const listeners = new Set<() => void>();
  for (const [stream, parts] of [
    [child.stdout, out],
    [child.stderr, err],
  ] as const)
    stream.setEncoding('utf8').on('data', (text: string) => {
      parts.push(text);
      all.push(text);
      for (const listener of listeners) listener();
    });
  const name = `daywalk ${args.join(' ')}`;
  const limit = setTimeout(() => {
    offences.push(`${name} did not end within ${longestMs} ms:\n${all.join('')}`);
    child.kill('SIGKILL');
  }, longestMs);
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    clearTimeout(limit);
    started.delete(child);
    const said = all.join('');
    for (const secret of [API_KEY, ...(options.secrets ?? [])])
      for (const form of formsOf(secret))
        if (said.includes(form)) offences.push(`${name} wrote the secret ${form}:\n${said}`);
    return {
      code,
      signal,
      stdout: out.join(''),
      stderr: err.join(''),
      elapsedMs: performance.now() - began,
    };
  });
  return {
    pid: child.pid ?? 0,
    said: () => all.join(''),
    running: () => child.exitCode === null && child.signalCode === null,
    saying: (words) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = words.exec(all.join(''));
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        void ended.then(() => reject(new Error(`${name} ended before ${words}:\n${all.join('')}`)));
        look();
      }),
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

/** Runs the program to its end. */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return startProgram(args, options).ended;
}

/** The spellings of a secret that are looked for. */
export function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [
    ...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64]),
  ];
}

// Nothing outlives its test: only processes that this file started, each by its own handle.
inEveryFile(() => {
  afterEach(() => {
    for (const child of started) {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
    }
    expect(offences.splice(0)).toEqual([]);
  });
  afterAll(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
});

// A run that is broken off has no afterEach.
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});
