/** Limits of paging, orders, and records that come and go during a walk. */
import { afterEach, describe, expect, test } from 'vitest';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../simulator/simulator.ts';
import { ask, DAY, numbered, numbersOf } from './asking.ts';

let simulator: Simulator;
afterEach(() => simulator.close());
const start = async (options: SimulatorOptions) => {
  simulator = await startSimulator(options);
};
const sorted = (numbers: number[]) => [...numbers].sort((one, other) => one - other);

describe('limits', () => {
  test('a page begins at start and has at most length records', async () => {
    await start({ records: numbered(10), order: 'oldest' });
    expect(await numbersOf(simulator, { start: 3, length: 4 })).toEqual([3, 4, 5, 6]);
    expect(await numbersOf(simulator, { start: 8, length: 4 })).toEqual([8, 9]);
    expect(await numbersOf(simulator, { start: 10, length: 4 })).toEqual([]);
  });

  test('clamp makes a larger length smaller, maxLength refuses it', async () => {
    await start({ records: numbered(10), clamp: 3 });
    expect(await numbersOf(simulator, { length: 100 })).toHaveLength(3);
    simulator.set({ maxLength: { limit: 5, status: 413 } });
    expect((await ask(simulator, { length: 6 })).status).toBe(413);
    expect((await ask(simulator, { length: 5 })).status).toBe(200);
  });

  test.each([400, 500])('a deep offset is answered with %i', async (answer) => {
    await start({ records: numbered(10), offsetCap: { limit: 6, answer } });
    expect((await ask(simulator, { start: 2, length: 4 })).status).toBe(200);
    expect((await ask(simulator, { start: 3, length: 4 })).status).toBe(answer);
    simulator.set({ offsetCap: { limit: 6, answer, by: 'start' } });
    expect((await ask(simulator, { start: 5, length: 4 })).status).toBe(200);
    expect((await ask(simulator, { start: 6, length: 1 })).status).toBe(answer);
  });

  test('or with an empty page', async () => {
    await start({
      records: numbered(10),
      order: 'oldest',
      offsetCap: { limit: 6, answer: 'empty' },
    });
    expect(await numbersOf(simulator, { start: 4, length: 4 })).toEqual([4, 5]);
    expect(await numbersOf(simulator, { start: 6, length: 4 })).toEqual([]);
    simulator.set({ offsetCap: { limit: 6, answer: 'empty', by: 'start' } });
    expect(await numbersOf(simulator, { start: 4, length: 4 })).toEqual([4, 5, 6, 7]);
    expect(await numbersOf(simulator, { start: 8, length: 4 })).toEqual([]);
  });

  test('ignoreStart gives the first page again', async () => {
    await start({ records: numbered(10), ignoreStart: true, order: 'oldest' });
    expect(await numbersOf(simulator, { start: 5, length: 2 })).toEqual([0, 1]);
  });
});

describe('orders', () => {
  test('newest is the default', async () => {
    await start({ records: numbered(4) });
    expect(await numbersOf(simulator)).toEqual([3, 2, 1, 0]);
  });

  test('unstable changes the order of equal times only, across pages too', async () => {
    const [early, late] = [
      numbered(3),
      numbered(20, 0).map((text) => ({ text, time: '2026-03-01T20:00:00Z' })),
    ];
    await start({ records: [...early, ...late], order: 'unstable' });
    const all = await numbersOf(simulator);
    expect(sorted(all.slice(0, 20))).toEqual(sorted(Array.from({ length: 20 }, (_, n) => n)));
    expect(all.slice(20)).toEqual([2, 1, 0]);
    expect(await numbersOf(simulator)).not.toEqual(all);
    const seenLast = new Set<number>();
    for (let asked = 0; asked < 5; asked++) {
      for (const n of await numbersOf(simulator, { start: 15, length: 5 })) seenLast.add(n);
    }
    expect(seenLast.size).toBeGreaterThan(5);
    const walked = [];
    for (const offset of [0, 5, 10, 15]) {
      walked.push(...(await numbersOf(simulator, { start: offset, length: 5 })));
    }
    expect(walked).toHaveLength(20);
    expect(new Set(walked).size).toBeLessThan(20);
  });

  test('shuffled has another order in every request, the same for the same seed', async () => {
    const seen = async () => {
      await start({ records: numbered(30), order: 'shuffled' });
      return [await numbersOf(simulator), await numbersOf(simulator)] as const;
    };
    const [first, second] = await seen();
    expect(first).not.toEqual(second);
    expect(sorted(first)).toEqual(sorted(second));
    await simulator.close();
    expect(await seen()).toEqual([first, second]);
  });
});

describe('changes during a walk', () => {
  test.each(['newest', 'oldest', 'inside'] as const)('records arrive: %s', async (where) => {
    const arrivals = { every: 2, count: 3, where, limit: 4 };
    await start({ records: numbered(10), arrivals, envelope: 'list' });
    const totals = [];
    for (let page = 0; page < 6; page++) totals.push(JSON.parse((await ask(simulator)).text).total);
    expect(totals).toEqual([10, 10, 13, 13, 14, 14]);
    const texts = simulator.matching(DAY);
    if (where === 'newest') expect(texts.slice(0, 10)).toEqual(numbered(10));
    if (where === 'oldest') expect(texts.slice(-10)).toEqual(numbered(10));
  });

  test.each(['newest', 'oldest', 'inside'] as const)('records vanish: %s', async (where) => {
    await start({ records: numbered(10), deletions: { every: 1, count: 2, where } });
    expect(await numbersOf(simulator)).toHaveLength(10);
    const left = sorted(await numbersOf(simulator));
    expect(left).toHaveLength(8);
    if (where === 'newest') expect(left.at(-1)).toBe(7);
    if (where === 'oldest') expect(left[0]).toBe(2);
    for (let page = 0; page < 5; page++) await ask(simulator);
    expect(simulator.count(DAY)).toBe(0);
  });

  test('one in and one out leaves the total as it was', async () => {
    const change = { every: 1, count: 1, where: 'newest' } as const;
    await start({
      records: numbered(5),
      arrivals: change,
      deletions: { ...change, where: 'oldest' },
    });
    await ask(simulator);
    expect(simulator.count(DAY)).toBe(5);
    expect(simulator.matching(DAY)[0]).toBe(numbered(2)[1]);
  });

  test('insert and remove work on given and on seeded records', async () => {
    await start({ eventsPerDay: 50, dayVariation: 0 });
    simulator.insert(['{"timestamp":"2026-03-01T12:00:00Z","mine":9007199254740993}']);
    expect(simulator.count(DAY)).toBe(51);
    const isMine = ({ text }: { text: string }) => text.includes('"mine"');
    expect(() => simulator.remove(isMine)).toThrow('from');
    expect(simulator.remove(isMine, DAY)).toBe(1);
    expect(simulator.remove(() => true, DAY)).toBe(50);
    expect(await numbersOf(simulator)).toEqual([]);
    expect(() => simulator.insert(['{"no":"time"}'])).toThrow('without a time');
    await simulator.close();

    await start({ records: numbered(5) });
    expect(simulator.remove(({ text }) => text.includes('"n":3'))).toBe(1);
    expect(await numbersOf(simulator)).toEqual([4, 2, 1, 0]);
    const second = { ...DAY, filters: 'n:1' };
    expect(simulator.count(second)).toBe(1);
    simulator.insert(numbered(2));
    expect(simulator.count(second)).toBe(2);
    simulator.insert(numbered(1), 'smart-event');
    expect(simulator.count({ ...DAY, resource: 'smart-event' })).toBe(1);
  });
});
