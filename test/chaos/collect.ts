/** Around the whole of chaos: where its results go, and the tables that are made of them. */
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { markdownTable, writeFigures } from '../support/reliability-page.ts';

/** What one part of chaos came to; everything in it was found exact, or the part would have failed. */
export interface ChaosResult {
  readonly part: 'every call' | 'random kills';
  readonly name: string;
  readonly peril: string;
  /** Calls of a whole run, and so the number of trials; random: calls in all lives. */
  readonly calls: number;
  readonly kills: number;
  readonly cuts: number;
  readonly records: number;
  /** Pages of a window that may be unstored when a kill comes. */
  readonly inFlight: number;
  /** The most of one window that were fetched twice after one kill, stored ones and all. */
  readonly storedAgain: number;
  readonly pagesAgain: number;
  readonly seconds: number;
}

declare module 'vitest' {
  export interface ProvidedContext {
    chaosResults: string;
    chaosSeed: number;
  }
}

/** The parts that a whole run has; another one writes no page. */
const PARTS = 14; // 5 settings killed, 2 cut in 2 ways, 5 campaigns

/** Notes a result. */
export function note(file: string, result: ChaosResult): Promise<void> {
  return appendFile(file, `${JSON.stringify(result)}\n`);
}

export default async function collect(project: TestProject): Promise<() => Promise<void>> {
  const began = performance.now();
  const seed = Number(process.env.CHAOS_SEED ?? 1);
  const folder = await mkdtemp(join(tmpdir(), 'daywalk-chaos-'));
  const file = join(folder, 'results.ndjson');
  await writeFile(file, '');
  project.provide('chaosResults', file);
  project.provide('chaosSeed', seed);
  return async () => {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    await rm(folder, { recursive: true, force: true });
    const results = lines.map((line): ChaosResult => JSON.parse(line));
    const figures = figuresOf(results, seed, Math.round((performance.now() - began) / 1000));
    console.log(figures);
    if (results.length === PARTS) await writeFigures('chaos', figures);
    else console.log(`${results.length} of ${PARTS} parts: docs/reliability.md stays as it is`);
  };
}

function figuresOf(results: readonly ChaosResult[], seed: number, seconds: number): string {
  const sum = (of: (result: ChaosResult) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const ordered = [...results].sort(
    (one, other) => one.part.localeCompare(other.part) || one.name.localeCompare(other.name),
  );
  const rows = ordered.map((result) => [
    result.part,
    result.name,
    result.peril,
    result.calls,
    result.kills,
    result.cuts,
    result.records,
    result.inFlight,
    result.pagesAgain,
    result.storedAgain,
    result.seconds,
  ]);
  return [
    `${sum((result) => result.kills)} SIGKILLs and ${sum((result) => result.cuts)} cut connections in ${seconds} s`,
    `(seed ${seed}): after each, nothing lost, nothing doubled, every invariant kept.`,
    '',
    markdownTable(
      [
        'part',
        'setting',
        'peril',
        'calls#',
        'kills#',
        'cuts#',
        'records compared#',
        'pages of a window in flight, at most#',
        'fetched twice after a kill#',
        'of these stored#',
        'seconds#',
      ],
      rows,
    ),
  ].join('\n');
}
