/** Around the whole of `npm run fuzz`: where targets note what they tried, and the table that is made of it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { markdownTable, writeFigures } from '../support/reliability-page.ts';

/** What one target came to. */
export interface Tried {
  readonly name: string;
  readonly tried: number;
  /** Milliseconds of the processor. */
  readonly slowest: number;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Only in `npm run fuzz`. */
    fuzzFigures?: string;
  }
}

export default async function collect(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'daywalk-fuzz-'));
  const file = join(folder, 'figures.ndjson');
  await writeFile(file, '');
  project.provide('fuzzFigures', file);
  return async () => {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    await rm(folder, { recursive: true });
    const all = lines.map((line): Tried => JSON.parse(line));
    const passed = project.vitest.state.getCountOfFailedTests() === 0;
    const figures = figuresOf(all, passed);
    console.log(`\n${figures}`);
    if (passed) await writeFigures('fuzz', figures);
  };
}

function figuresOf(all: readonly Tried[], passed: boolean): string {
  const total = all.reduce((sum, { tried }) => sum + tried, 0);
  const rows = [...all]
    .sort((one, other) => one.name.localeCompare(other.name))
    .map(({ name, tried, slowest }) => [name, tried.toLocaleString('en'), Math.ceil(slowest)]);
  return [
    `${process.env.FUZZ_MINUTES} minutes for each target: ${total.toLocaleString('en')} inputs, ${passed ? 'no findings' : 'with findings'}.`,
    '',
    markdownTable(['what must hold', 'inputs tried#', 'slowest run, ms#'], rows),
  ].join('\n');
}
