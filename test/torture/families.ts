/** Runs the cases of a family as tests, each without kills and with them, and notes the results for the table. */
import { appendFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { mix, seedNumber } from '../../simulator/random.ts';
import type { Case } from './case.ts';
import type { Outcome } from './trial.ts';
import { trial } from './trials.ts';

/** One line of the results. */
export interface Result {
  readonly family: string;
  readonly name: string;
  readonly problems: readonly string[];
  readonly plain: Outcome;
  readonly killed: Outcome | null;
}

declare module 'vitest' {
  export interface ProvidedContext {
    tortureResults: string;
    tortureSeed: number;
  }
}

/** Registers a test for each case. */
export function torture(family: string, cases: readonly Case[]): void {
  test.each(cases.map((one) => [one.name, one] as const))('%s', async (name, testCase) => {
    const plain = await trial(testCase, null);
    const seed = mix(inject('tortureSeed'), seedNumber(name));
    const killed =
      testCase.kills === false
        ? null
        : await trial(testCase, { seed, moments: plain.outcome.moments });
    const problems = [...plain.problems, ...(killed?.problems ?? [])];
    const result: Result = {
      family,
      name,
      problems,
      plain: plain.outcome,
      killed: killed?.outcome ?? null,
    };
    await appendFile(inject('tortureResults'), `${JSON.stringify(result)}\n`);
    expect(problems).toEqual([]);
  });
}
