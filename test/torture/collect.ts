/** Around all tests of the torture suite: where results go, and the table that is made of them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { FAMILIES } from './cases.ts';
import type { Result } from './families.ts';
import { printResults, tableOf } from './table.ts';

const PAGE = fileURLToPath(new URL('../../docs/torture.md', import.meta.url));

export default async function collect(project: TestProject): Promise<() => Promise<void>> {
  const began = performance.now();
  const seed = Number(process.env.TORTURE_SEED ?? 1);
  const directory = await mkdtemp(join(tmpdir(), 'daywalk-torture-'));
  const file = join(directory, 'results.ndjson');
  await writeFile(file, '');
  project.provide('tortureResults', file);
  project.provide('tortureSeed', seed);
  return async () => {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    const results = lines.map((line): Result => JSON.parse(line));
    const seconds = Math.round((performance.now() - began) / 1000);
    printResults(results, seconds, seed);
    const cases = Object.values(FAMILIES).flat();
    // A part of the suite makes no page of its own.
    if (results.length === cases.length) await writeFile(PAGE, tableOf(results, seconds, seed));
    await rm(directory, { recursive: true, force: true });
  };
}
