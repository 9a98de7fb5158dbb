/** The program in the process of the test: for tests of what a verb does and says, where a process of its own would show nothing more. */
import { onTestFinished } from 'vitest';
import { obey } from '../../src/cli/command-line.ts';
import { redactor } from '../../src/cli/process-redactor.ts';
import { InterruptedError } from '../../src/errors.ts';
import { API_KEY, type Ended, formsOf, type ProgramOptions, temporaryFolder } from './program.ts';

/** How it ended, as a program does that nothing has killed. */
export type EndedHere = Omit<Ended, 'signal' | 'elapsedMs'>;

type Here = Pick<ProgramOptions, 'environment' | 'folder' | 'secrets'>;

/** Whether one runs: there is one environment, and one stdout. */
let running = false;

/**
 * Obeys a command line with this environment and nothing of the test's own, one at a time, at a third of the work of a process:
 * nothing has to be loaded and compiled.
 */
export async function runHere(
  args: readonly string[],
  { environment = {}, folder = temporaryFolder(), secrets = [] }: Here = {},
): Promise<EndedHere> {
  if (running) throw new Error('one program at a time runs in the process of the test');
  running = true;
  const [before, cwd] = [{ ...process.env }, process.cwd()];
  const said = { stdout: '', stderr: '' };
  const originals = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const { write } = stream;
    stream.write = ((text: string | Uint8Array, ...more: unknown[]) => {
      said[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
      const done = more.at(-1);
      if (typeof done === 'function') process.nextTick(done as () => void);
      return true;
    }) as typeof write;
    return () => Object.assign(stream, { write });
  });
  // As `startProgram` has it.
  process.chdir(folder);
  setEnvironment({ PATH: before.PATH, LANG: 'C.UTF-8', TZ: 'Pacific/Kiritimati', ...environment });
  const stop = new AbortController();
  const working = obey(args, stop.signal);
  // A test that takes too long ends before it does.
  onTestFinished(async () => {
    stop.abort(new InterruptedError('SIGTERM'));
    await working;
  });
  try {
    const code = await working;
    for (const secret of [API_KEY, ...secrets])
      for (const form of formsOf(secret))
        if (`${said.stdout}${said.stderr}`.includes(form))
          throw new Error(`daywalk ${args.join(' ')} wrote the secret ${form}`);
    return { code, ...said };
  } finally {
    setEnvironment(before);
    process.chdir(cwd);
    for (const putBack of originals) putBack();
    // The next one would not show what it has not been told to strike out.
    redactor.forget(...redactor.secrets());
    running = false;
  }
}

function setEnvironment(values: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const [name, value] of Object.entries(values))
    if (value !== undefined) process.env[name] = value;
}
