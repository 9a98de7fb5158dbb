/** What ./cuts-and-splits.test.ts leaves to the night: a cap that answers with an error, and one over both streams. */
import { test } from 'vitest';
import { expectSplitAndWhole } from './capped.ts';

test.each([
  ['an empty page', 'empty'],
  ['an error', 400],
] as const)(
  'days of both streams behind a cap of 120, which answers with %s, are split and whole',
  (_, answer) => expectSplitAndWhole(answer, ['events', 'smart-event']),
);
