/** The sentence at the end of a run says what was done, also where nothing had to be stored. */
import { expect, it } from 'vitest';
import { describeRun } from '../../src/cli/terminal/run-text.ts';
import type { RunReport } from '../../src/walk/run.ts';

const NOTHING: RunReport = {
  windowsDue: 0,
  windowsComplete: 0,
  windowsFailed: 0,
  windowsSplit: 0,
  windowsUnchanged: 0,
  pages: 0,
  records: 0,
  bytes: 0,
  gaps: [],
  failures: [],
  stopped: [],
  notInStep: [],
  lost: [],
};

it.each<[Partial<RunReport>, RegExp]>([
  [{}, /^Nothing was due\.$/],
  [{ windowsDue: 1, windowsUnchanged: 1 }, /^1 day looked at again: .* stored, in 2(\.0)? s\.$/],
  [{ windowsDue: 28, windowsUnchanged: 28 }, /^28 days looked at again/],
  [{ windowsDue: 3, windowsComplete: 1, windowsUnchanged: 2 }, /^1 day complete: 0 records/],
  [{ windowsComplete: 4, windowsSplit: 1 }, /^4 windows complete/],
])('%j', (change, sentence) => {
  expect(describeRun({ ...NOTHING, ...change }, 2_000)).toEqual([expect.stringMatching(sentence)]);
});
