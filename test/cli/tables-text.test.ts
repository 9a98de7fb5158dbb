/** What is said of a record table that is not in step: true for days that are taken in, and for days that are taken out. */
import { expect, test } from 'vitest';
import { describeTable } from '../../src/cli/verbs/tables.ts';

test('the next run brings a table in step, whatever that takes', () => {
  const table = {
    table: 'alerts',
    stream: 'events',
    state: 'live',
    days: 3,
    records: 9,
    faults: 0,
  };
  const span = { firstDay: '2026-03-01', lastDay: '2026-03-03', behind: 2, trouble: null };
  expect(describeTable({ ...table, ...span } as Parameters<typeof describeTable>[0])).toEqual([
    'daywalk.alerts (stream events): 9 rows of 3 days, 2026-03-01 to 2026-03-03; 2 days behind: the next run brings it in step',
  ]);
});
