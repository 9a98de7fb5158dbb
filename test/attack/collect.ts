/** Around the whole of `npm run attack`: where attacks note what came of them, and the table that is made of it. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { markdownTable, writeFigures } from '../support/reliability-page.ts';

/** What one attack came to. */
export interface Came {
  readonly what: string;
  readonly tried: number;
  readonly held: number;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Only in `npm run attack`. */
    attackFigures?: string;
  }
}

export default async function collect(project: TestProject): Promise<() => Promise<void>> {
  const began = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'daywalk-attack-'));
  const file = join(folder, 'figures.ndjson');
  project.provide('attackFigures', file);
  return async () => {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    await rm(folder, { recursive: true });
    const all = lines.map((line): Came => JSON.parse(line));
    const figures = figuresOf(all, (performance.now() - began) / 1000);
    console.log(`\n${figures}`);
    const state = project.vitest.state;
    // A part of it, as with a file named, is no whole run.
    const files = (await readdir(import.meta.dirname)).filter((name) => name.endsWith('.test.ts'));
    const whole = state.getFiles().length === files.length;
    if (whole && state.getCountOfFailedTests() === 0)
      await writeFigures('attack', figures, 'SECURITY.md');
  };
}

function figuresOf(all: readonly Came[], seconds: number): string {
  const sum = (of: (came: Came) => number) => all.reduce((total, came) => total + of(came), 0);
  const [tried, held] = [sum((came) => came.tried), sum((came) => came.held)];
  const rows = [...all]
    .sort((one, other) => one.what.localeCompare(other.what))
    .map((came) => [
      came.what,
      came.tried.toLocaleString('en'),
      came.tried === 0
        ? 'not tried'
        : came.held === came.tried
          ? 'yes'
          : `${came.tried - came.held} did not`,
    ]);
  return [
    `${tried.toLocaleString('en')} tries in ${Math.round(seconds)} s, ${held === tried ? 'all of them held' : `${(tried - held).toLocaleString('en')} did not hold`}.`,
    '',
    markdownTable(['what was tried', 'how often#', 'held'], rows),
  ].join('\n');
}
