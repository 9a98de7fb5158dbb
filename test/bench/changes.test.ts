/** What the paper of the benchmarks says got better or worse: figures of two days, whose machines may not be equally fast. */
import { expect, test } from 'vitest';
import { changesSince, figuresOf } from '../../bench/changes.ts';
import { againstFloor, againstLimit, milliseconds } from '../../bench/rows.ts';
import { limitHere, REFERENCE } from '../../bench/yardstick.ts';

const told = { what: 'a query', format: milliseconds };
const figures = (...rows: Parameters<typeof figuresOf>[0][number]['rows']) =>
  figuresOf([{ name: 'reading', rows }]);
const since = (rows: ReturnType<typeof figures>) => ({ date: '2026-03-01', rows });

test('a machine half as fast changes neither a ratio nor a time in its units', () => {
  const before = figures(
    againstFloor(told, [20], [10], null),
    againstLimit({ ...told, what: 'a start', unit: 40 }, [100], null),
  );
  const now = figures(
    againstFloor(told, [40], [20], null),
    againstLimit({ ...told, what: 'a start', unit: 80 }, [200], null),
  );
  expect(changesSince(since(before), now)).toContain('better nothing; worse nothing; 2 as before');
});

test('what differs by more than the runs of either day is named, with how much', () => {
  const before = figures(
    againstFloor(told, [20], [10], null),
    againstFloor({ ...told, what: 'a scan' }, [30], [10], null),
  );
  const now = figures(
    againstFloor(told, [30], [10], null),
    againstFloor({ ...told, what: 'a scan' }, [20], [10], null),
  );
  expect(changesSince(since(before), now)).toContain(
    'better reading: a scan (0.67 ×); worse reading: a query (1.50 ×); 0 as before',
  );
});

test('a difference within the spread of its runs is none, and a row that is new is not compared', () => {
  const before = figures(againstFloor(told, [8, 10, 14], [5, 5, 5], null));
  const now = figures(
    againstFloor(told, [15], [5], null),
    againstFloor({ ...told, what: 'a new one' }, [1], [1], null),
  );
  expect(changesSince(since(before), now)).toContain('worse nothing; 1 as before');
});

test('a limit in milliseconds is scaled by what the machine takes for its kind of work', () => {
  const slow = { ...REFERENCE, start: REFERENCE.start * 2 };
  expect(limitHere(slow, 'start', 150)).toEqual({ most: 300, text: '≤ 150 ms × 2.00' });
  expect(limitHere(slow, 'insert', 100)).toEqual({ most: 100, text: '≤ 100 ms × 1.00' });
});
