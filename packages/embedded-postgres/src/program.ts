/** Running a program of Postgres under the account that runs it, with nothing of our environment, which holds secrets. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';

/** How the programs of Postgres are run in one folder. */
export interface Runner {
  /** For people: `as nobody`. */
  readonly name: string;
  /** What the process becomes; undefined: what we are. */
  readonly identity?: { readonly uid: number; readonly gid: number };
  /** A command that starts the program given behind it. */
  readonly prefix: readonly string[];
  /** The account that our connections come from, as the server sees it. */
  readonly client: string;
  /** What the programs need besides the fixed PATH and locale. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What a program left behind. */
export interface Outcome {
  readonly ok: boolean;
  /** Its last lines, or why it could not be started. */
  readonly output: string;
}

/** The environment of whatever is started here. */
export const CLEAN_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
} as const;

/** Runs a program to its end; when `signal` aborts, the program is killed. */
export function run(
  { prefix, identity, environment }: Runner,
  command: readonly string[],
  signal: AbortSignal,
): Promise<Outcome> {
  const [program, ...args] = [...prefix, ...command] as [string, ...string[]];
  const options = {
    // The account may be unable to enter our own working directory.
    cwd: '/',
    env: { ...CLEAN_ENVIRONMENT, ...environment },
    signal,
    killSignal: 'SIGKILL',
    ...identity,
  } as const;
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const said = `${stdout}${stderr}`.trimEnd() || (error?.message ?? '');
      resolve({ ok: error === null, output: said.split('\n').slice(-8).join('\n') });
    });
  });
}

/** Starts a program that outlives us and our terminal; what it says goes to the open file `log`. */
export function launch(
  command: readonly string[],
  { log, cwd, runner }: { log: number; cwd: string; runner?: Runner },
): ChildProcess {
  const [program, ...args] = [...(runner?.prefix ?? []), ...command] as [string, ...string[]];
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', log, log],
    cwd,
    env: { ...CLEAN_ENVIRONMENT, ...runner?.environment },
    ...runner?.identity,
  });
  child.on('error', () => undefined);
  child.unref();
  return child;
}
