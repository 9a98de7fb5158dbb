/** Where mutants live: a copy of the tree with one change in it, in which the chosen tests run. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NO_DATABASE } from '../global-setup.ts';
import { applied, type Mutant } from './mutant.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What no test of a copy needs, or is linked to. */
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'dist', 'node_modules']);
/** Several files may run to their end, with what they try at night. */
const LONGEST_MS = 600_000;

/** What the tests of a mutant said. */
export interface Verdict {
  /** The test that failed first; null: none did, the mutant has survived. */
  readonly caughtBy: string | null;
  readonly seconds: number;
}

/** The mutants' changes, made to the files of `root`. */
export async function mutate(root: string, { edits }: Pick<Mutant, 'edits'>): Promise<void> {
  for (const edit of edits) {
    const path = join(root, edit.file);
    await writeFile(path, applied(await readFile(path, 'utf8'), edit));
  }
}

/** Runs the tests of a mutant in a copy of the tree. */
export async function examine(mutant: Mutant, databaseUrl: string): Promise<Verdict> {
  const began = performance.now();
  const copy = await mkdtemp(join(tmpdir(), 'daywalk-mutant-'));
  try {
    for (const name of await readdir(ROOT))
      if (!NOT_COPIED.has(name)) await cp(join(ROOT, name), join(copy, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    await mutate(copy, mutant);
    const caughtBy = await firstFailure(copy, mutant.tests, databaseUrl);
    return { caughtBy, seconds: Math.round((performance.now() - began) / 1000) };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** What vitest's JSON reporter tells; only what is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

async function firstFailure(
  copy: string,
  tests: readonly string[],
  databaseUrl: string,
): Promise<string | null> {
  const report = join(copy, 'report.json');
  const args = [
    join(copy, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config=test/mutants/one-mutant.config.ts',
    ...tests,
    '--bail=1',
    '--maxWorkers=1',
    '--testTimeout=30000',
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const { error, output } = await new Promise<{ error: Error | null; output: string }>((resolve) =>
    execFile(
      process.execPath,
      args,
      {
        cwd: copy,
        timeout: LONGEST_MS,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024 * 1024,
        // Nothing of this vitest's own.
        env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: databaseUrl },
      },
      (failed, stdout, stderr) => resolve({ error: failed, output: stdout + stderr }),
    ),
  );
  const text = await readFile(report, 'utf8').catch(() => null);
  if (text === null)
    // It did not come to its end: a fault that makes a program hang is noticed, too, if late.
    return error === null || /No test files found/.test(output)
      ? Promise.reject(new Error(`the tests did not run:\n${output.slice(-2_000)}`))
      : `the suite does not come to its end (${LONGEST_MS / 1000} s)`;
  for (const { name, status, assertionResults, message } of (JSON.parse(text) as Report)
    .testResults) {
    const failed = assertionResults.find((result) => result.status === 'failed');
    const file = name.slice(name.indexOf('/test/') + 1);
    if (failed !== undefined) return `${file}: ${failed.fullName}`;
    // Then nothing was tested: a server that is away catches every mutant.
    if (message.includes(NO_DATABASE)) throw new Error(message);
    if (status === 'failed') return `${file}: ${message.split('\n')[0]}`;
  }
  if (error !== null)
    throw new Error(`the tests failed without a failed test:\n${output.slice(-2_000)}`);
  return null;
}
