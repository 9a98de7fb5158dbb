/** Around the failovers: which of the plan are due, the file of those that are done, and the table that is made of it. */
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { markdownTable, writeFigures } from '../support/reliability-page.ts';
import { type Failover, GROUPS, type Group, planFailovers, WAYS } from './plan.ts';
import type { Outcome } from './trial.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    failovers: { readonly due: Failover[]; readonly progress: string };
  }
}

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/daywalk', import.meta.url));

/** Notes one that is done. */
export function note(file: string, outcome: Outcome): Promise<void> {
  return appendFile(file, `${JSON.stringify(outcome)}\n`);
}

/** Before all and after: FAILOVERS_SEED, FAILOVERS_FROM and FAILOVERS_COUNT say which. */
export default async function collect(project: TestProject): Promise<() => Promise<void>> {
  const seed = Number(process.env.FAILOVERS_SEED ?? 1);
  const plan = planFailovers(seed);
  const progress = `${FOLDER}/failovers-${seed}.ndjson`;
  await mkdir(dirname(progress), { recursive: true });
  const from = Number(process.env.FAILOVERS_FROM || 0);
  const done = await readOutcomes(progress);
  // From a number on all are played again; otherwise it goes on, or begins anew where all are done.
  const again = from > 0 ? from : done.length === plan.length ? 1 : plan.length + 1;
  const kept = done.filter(({ number }) => number < again);
  await writeFile(progress, kept.map((outcome) => `${JSON.stringify(outcome)}\n`).join(''));
  const played = new Set(kept.map(({ number }) => number));
  const count = Number(process.env.FAILOVERS_COUNT || plan.length);
  const due = plan.filter(({ number }) => number >= from && !played.has(number)).slice(0, count);
  project.provide('failovers', { due, progress });
  return async () => {
    const outcomes = await readOutcomes(progress);
    if (outcomes.length === 0) return;
    const figures = figuresOf(outcomes, plan.length, seed);
    console.log(figures);
    await writeFigures('failovers', figures);
  };
}

async function readOutcomes(file: string): Promise<Outcome[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Outcome => JSON.parse(line));
}

/** The sentence and the table of the failovers that were played. */
export function figuresOf(outcomes: readonly Outcome[], planned: number, seed: number): string {
  const rows = (Object.keys(GROUPS) as Group[]).flatMap((group) =>
    WAYS.flatMap((way) => {
      const these = outcomes.filter((one) => one.group === group && one.way === way);
      return these.length === 0 ? [] : [row(GROUPS[group].what, way, these)];
    }),
  );
  return [
    `${outcomes.length} of ${planned} failovers (seed ${seed}): after each, exact, kept, told, and nothing stuck.`,
    '',
    markdownTable(
      [
        'cluster',
        'how the primary goes',
        'failovers#',
        'seconds until writes are taken again, median#',
        'at most#',
        'records compared#',
        'pages that were lost and fetched again#',
        'publications that were lost and told anew#',
        'programs that left a rest to the next run#',
        'minutes#',
      ],
      rows,
    ),
  ].join('\n');
}

function row(what: string, way: string, outcomes: readonly Outcome[]): (string | number)[] {
  const sum = (of: (outcome: Outcome) => number) =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const away = outcomes.map(({ awaySeconds }) => awaySeconds).sort((a, b) => a - b);
  return [
    what,
    way,
    outcomes.length,
    (away[Math.floor(away.length / 2)] ?? 0).toFixed(1),
    (away.at(-1) ?? 0).toFixed(1),
    sum(({ records }) => records),
    sum(({ pagesLost }) => pagesLost),
    sum(({ publicationsLost }) => publicationsLost),
    sum(({ endedWell }) => (endedWell ? 0 : 1)),
    Math.round(sum(({ seconds }) => seconds) / 60),
  ];
}
