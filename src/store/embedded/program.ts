/** Running a program under the account that Postgres runs as. */
import { type ChildProcess, spawn } from 'node:child_process';
import { parse } from 'node:path';

/** Who runs Postgres, and how a program is started as that account. */
export interface Account {
  /** For people: `as nobody`. */
  readonly name: string;
  /** What the process becomes; undefined: what we are. */
  readonly identity?: { readonly uid: number; readonly gid: number };
  /** A command that starts the program given behind it. */
  readonly prefix: readonly string[];
  /** Who must own the data; undefined: whoever makes it. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/** How the programs of Postgres are run in one folder. */
export interface Runner {
  readonly account: Account;
  /** What the programs need besides the fixed PATH and locale. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What a program left behind. */
export interface Outcome {
  readonly ok: boolean;
  /** Its last lines, or why it could not be started. */
  readonly output: string;
}

/** Starts a program; `output` is where it writes, a file descriptor or 'pipe'. Nothing of our environment, which holds secrets, is passed on. */
export function start(
  { account, environment }: Runner,
  command: readonly string[],
  output: number | 'pipe',
): ChildProcess {
  const [program, ...args] = [...account.prefix, ...command] as [string, ...string[]];
  return spawn(program, args, {
    stdio: ['ignore', output, output],
    // The account may be unable to enter our own working directory.
    cwd: parse(process.execPath).root,
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LC_ALL: 'C',
      ...environment,
    },
    ...account.identity,
  });
}

/** Runs a program to its end; when `signal` aborts, the program is killed. */
export function run(
  runner: Runner,
  command: readonly string[],
  signal: AbortSignal,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = start(runner, command, 'pipe');
    let text = '';
    const collect = (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(-4000);
    };
    const kill = () => child.kill('SIGKILL');
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    signal.addEventListener('abort', kill);
    if (signal.aborted) kill();
    const settle = (ok: boolean, output: string) => {
      signal.removeEventListener('abort', kill);
      resolve({ ok, output: output.trimEnd().split('\n').slice(-8).join('\n') });
    };
    child.once('error', (error) => settle(false, error.message));
    child.once('close', (code) => settle(code === 0, text));
  });
}
