/** Trials in databases of their own, which are kept where something is wrong. */
import { createTestDatabase } from '../support/database.ts';
import type { Case } from './case.ts';
import { type Killing, type Outcome, runTrial } from './trial.ts';
import { problemsOf } from './verdict.ts';

/** One trial, and what is wrong with how it came out. */
export async function trial(
  testCase: Case,
  killing: Killing | null,
): Promise<{ outcome: Outcome; problems: string[] }> {
  const database = await createTestDatabase();
  const outcome = await runTrial(testCase, database, killing);
  const problems = problemsOf(testCase, outcome).map((problem) =>
    killing === null ? problem : `killed (seed ${killing.seed}): ${problem}`,
  );
  if (problems.length === 0) await database.drop();
  return { outcome, problems };
}
