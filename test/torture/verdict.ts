/** Whether a trial came out as its case expects, in words. */
import type { Case, Expected } from './case.ts';
import type { Outcome } from './trial.ts';

/** So many requests are granted for each request that is needed, and so many more for probes, cuts and retries. */
const REQUESTS_RATIO = 16;
const REQUESTS_MORE = 100;

/** The outcome in a few words, for the table. */
export function tellOutcome({ kind, detail, quarantine }: Outcome): string {
  if (kind === 'exact' && quarantine.length > 0)
    return `exact, quarantined: ${quarantine.join(', ')}`;
  return kind === 'exact' ? 'exact' : `${kind}: ${detail}`;
}

/** The expectation in a few words, for the table. */
export function tellExpected(expected: Expected): string {
  if (expected.kind === 'exact') return 'exact';
  if (expected.kind === 'quarantined') return `quarantined ${expected.what}`;
  return `${expected.kind} ${expected.reason}`;
}

/** What is wrong with an outcome; nothing: it is as expected. */
export function problemsOf(testCase: Case, outcome: Outcome): string[] {
  const problems = [...outcome.violations];
  if (!matches(testCase.expect, outcome))
    problems.push(`expected ${tellExpected(testCase.expect)}, came out ${tellOutcome(outcome)}`);
  const lives = outcome.kills + 1;
  const most =
    testCase.mostRatio !== undefined
      ? testCase.mostRatio * outcome.leastRequests
      : (testCase.most ?? REQUESTS_RATIO * outcome.leastRequests + REQUESTS_MORE);
  if (outcome.requests > most * lives)
    problems.push(`${outcome.requests} requests, more than ${most * lives}`);
  return problems;
}

function matches(expected: Expected, { kind, detail, quarantine }: Outcome): boolean {
  switch (expected.kind) {
    case 'exact':
      return kind === 'exact' && quarantine.length === 0;
    case 'quarantined':
      return kind === 'exact' && quarantine.some((what) => expected.what.test(what));
    case 'failed':
    case 'stopped':
      return kind === expected.kind && expected.reason.test(detail);
  }
}
