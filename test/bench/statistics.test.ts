/** The arithmetic of the benchmarks: medians, spreads, turns, and what a row says of its target. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { againstFloor, againstLimit, milliseconds } from '../../bench/rows.ts';
import { figureOf, inTurn, median, parallel, spreadOf } from '../../bench/statistics.ts';

test('a median lies in the middle, and between two middle values', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(() => median([])).toThrow(RangeError);
  const values = fc.array(fc.double({ noNaN: true, min: 0, max: 1e9 }), { minLength: 1 });
  fc.assert(
    fc.property(values, (list) => {
      const middle = median(list);
      const below = list.filter((value) => value < middle).length;
      const above = list.filter((value) => value > middle).length;
      expect(Math.max(below, above)).toBeLessThanOrEqual(list.length / 2);
    }),
  );
});

test('the spread is the distance of the extremes as a share of the median', () => {
  expect(spreadOf(figureOf([90, 100, 120]))).toBeCloseTo(0.3);
  expect(spreadOf(figureOf([7]))).toBe(0);
  expect(spreadOf(figureOf([0, 0]))).toBe(0);
});

test('contenders take turns, and each round begins with another one', async () => {
  const order: string[] = [];
  const contender = (name: string) => async () => order.push(name);
  const results = await inTurn(3, { a: contender('a'), b: contender('b') });
  expect(order.join('')).toBe('abbaab');
  expect(results).toEqual({ a: [1, 4, 5], b: [2, 3, 6] });
});

test('no more jobs run at a time than the width says, and all of them run', async () => {
  let running = 0;
  let most = 0;
  let done = 0;
  const job = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    done += 1;
  };
  await parallel(
    Array.from({ length: 10 }, () => job),
    3,
  );
  expect({ most, done }).toEqual({ most: 3, done: 10 });
});

test('a row is held against the median of its floor, and one without a target is neither reached nor missed', () => {
  const told = { what: 'x', format: milliseconds };
  const most = { ratio: 1.15, text: '≤ 1.15 × floor' };
  expect(againstFloor(told, [110, 115, 500], [90, 100, 110], most)).toEqual({
    what: 'x',
    measured: '115 ms',
    floor: '100 ms',
    ratio: 1.15,
    target: '≤ 1.15 × floor',
    units: 1.15,
    reached: true,
    spread: expect.closeTo(390 / 115, 5),
  });
  expect(againstFloor(told, [116], [100], most)).toMatchObject({ reached: false, spread: null });
  expect(againstFloor(told, [116], [100], null)).toMatchObject({ reached: null, target: null });
});

test('a limit is one from above or from below', () => {
  const told = { what: 'x', format: milliseconds };
  expect(againstLimit(told, [5], { most: 5 })).toMatchObject({
    reached: true,
    target: '≤ 5.00 ms',
  });
  expect(againstLimit(told, [5.1], { most: 5 }).reached).toBe(false);
  expect(againstLimit(told, [5], { least: 6 })).toMatchObject({
    reached: false,
    target: '≥ 6.00 ms',
  });
  expect(againstLimit(told, [5], null)).toMatchObject({ reached: null, target: null });
});
