/** The judge of the random servers notices what it is there for, and a server comes again with its seed. */
import { expect, test } from 'vitest';
import type { TrialDatabase } from '../trial.ts';
import { Judge } from './judge.ts';
import { CLASSES, type Nature, natureOf } from './nature.ts';
import { unprovable } from './provable.ts';
import { DAYS, type Held, World } from './world.ts';

const [DAY] = DAYS;
/** A quiet server with records on the first day, and nothing that could be wrong about it. */
const NATURE: Nature = {
  ...natureOf(11),
  size: 20,
  bursts: 'none',
  deep: null,
  ids: false,
  changes: { during: 0, later: 0 },
};

/** Judges a store that shows these contents, one pass of ten seconds after the other, of which each has asked for every day. */
async function judging(world: World, ...passes: (readonly string[])[]) {
  let shown: readonly string[] = [];
  let asked = 0;
  const query = async (sql: string) => {
    if (sql.includes('to_regclass')) return [{ there: false }];
    if (sql.includes('coverage'))
      return DAYS.map((day) => ({ day, state: 'complete', why: '', asked }));
    const counts = new Map<string, number>();
    for (const content of shown) counts.set(content, (counts.get(content) ?? 0) + 1);
    return [...counts].map(([content, count]) => ({ content, count }));
  };
  const judge = new Judge(NATURE, world, query as TrialDatabase['query']);
  for (const pass of passes) {
    shown = pass;
    asked += 1;
    world.pass(10);
    await judge.look();
  }
  const [first] = judge.judge();
  return { first, lost: judge.lost };
}

const contents = (records: readonly Held[]) => records.map(({ content }) => content);

test('what is shown as it is held is exact', async () => {
  const world = new World(NATURE);
  const { first, lost } = await judging(world, contents(world.records));
  expect(first).toMatchObject({ verdict: 'exact', healed: false, detail: '' });
  expect(lost).toEqual([]);
});

test('a record that is missing, or shown twice, makes a complete day false', async () => {
  const world = new World(NATURE);
  const all = contents(world.records);
  const one = all[20] as string;
  expect(world.records[20]?.time).toBeGreaterThan(Date.parse(`${DAY}T00:00:00Z`));
  const lacking = await judging(
    world,
    all.filter((content) => content !== one),
  );
  expect(lacking.first).toMatchObject({ verdict: 'false', detail: expect.stringContaining(one) });
  const doubled = await judging(world, [...all, one]);
  expect(doubled.first).toMatchObject({
    verdict: 'false',
    detail: expect.stringMatching(/too many/),
  });
});

test('what was wrong once and is right at the end is healed', async () => {
  const world = new World(NATURE);
  const all = contents(world.records);
  const { first } = await judging(world, all.slice(0, 15), all);
  expect(first).toMatchObject({ verdict: 'exact', healed: true });
});

test.each([
  ['of the same pass or the next one', 15, 'unseen'],
  ['of a later pass', 25, 'false'],
])('an insertion %s may be made up for by a deletion', async (_, second, verdict) => {
  const world = new World(NATURE);
  const [one, other] = world.records.filter(({ time }) => time > Date.parse(`${DAY}T00:10:00Z`));
  world.happened.push({ ...(one as Held), kind: 'delete', second: 5 });
  world.happened.push({ ...(other as Held), kind: 'insert', second });
  const shown = contents(world.records).filter((content) => content !== other?.content);
  expect((await judging(world, shown, shown, shown)).first).toMatchObject({ verdict });
});

test('what was shown once and is not any more is told', async () => {
  const world = new World(NATURE);
  const all = contents(world.records);
  const { lost } = await judging(world, all, all.slice(1));
  expect(lost).toEqual([`${all[0]}: 1 before, 0 now`]);
});

test('a second above the cap cannot be proven', () => {
  const cap = 20;
  const nature: Nature = { ...NATURE, deep: { limit: cap, answer: 'empty' }, shortest: 0 };
  const world = new World(nature);
  expect(unprovable(nature, world, DAY)).toBeNull();
  const [one] = world.records.filter(({ time }) => time > Date.parse(`${DAY}T12:00:00Z`));
  world.records = Array.from({ length: cap }, () => one as Held);
  expect(unprovable(nature, world, DAY)).toMatch(/above the cap/);
});

test('a seed brings the same server again, and every class comes in turn', () => {
  expect(natureOf(4711)).toEqual(natureOf(4711));
  expect(new World(natureOf(4711)).records).toEqual(new World(natureOf(4711)).records);
  expect(CLASSES.map((_, seed) => natureOf(seed).class)).toEqual([...CLASSES]);
});
