/** Every mutant must be caught: one that survives is a missing test. */
import { afterAll, expect, test } from 'vitest';
import { server } from '../support/database.ts';
import { markdownTable, writeFigures } from '../support/reliability-page.ts';
import { examine, type Verdict } from './laboratory.ts';
import { MUTANTS } from './list.ts';

const verdicts = new Map<string, Verdict>();
const began = performance.now();

for (const mutant of MUTANTS)
  test.concurrent(mutant.name, async () => {
    const verdict = await examine(mutant, server().adminUrl);
    verdicts.set(mutant.name, verdict);
    console.log(
      `${verdict.caughtBy === null ? 'SURVIVED' : 'caught'} ${mutant.name} (${verdict.seconds} s): ${verdict.caughtBy}`,
    );
    expect(verdict.caughtBy, 'a test that fails').not.toBeNull();
  });

afterAll(async () => {
  const caught = [...verdicts.values()].filter(({ caughtBy }) => caughtBy !== null).length;
  const seconds = Math.round((performance.now() - began) / 1000);
  const rows = MUTANTS.map(({ name }) => [
    name,
    verdicts.get(name)?.caughtBy ?? '**nothing**',
    verdicts.get(name)?.seconds ?? 0,
  ]);
  const figures = [
    `${MUTANTS.length} mutants, ${caught} caught, ${MUTANTS.length - caught} survived; ${seconds} s.`,
    '',
    markdownTable(['what is wrong', 'caught by', 'seconds#'], rows),
  ].join('\n');
  // A part of the list makes no figures.
  if (verdicts.size === MUTANTS.length) await writeFigures('mutants', figures);
});
