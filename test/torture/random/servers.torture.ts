/** `npm run torture -- --random N --seed S`: N random servers from seed S on, exported and judged, and the odds of each class. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { clear } from '../../support/store.ts';
import { CLASSES, classOf } from './nature.ts';
import { pageOf, printTrial, tableOf, traceOf, wrongs } from './odds.ts';
import { type Trial, tryServer } from './trial.ts';

const PAGE = fileURLToPath(new URL('../../../docs/torture-random.md', import.meta.url));
const SERVERS = Number(process.env.TORTURE_RANDOM ?? 0);
/** The first seed; or all of them. */
const [SEED = 1, ...MORE] = (process.env.TORTURE_SEED ?? '1').split(',').map(Number);
const CLASSES_ASKED = (process.env.TORTURE_CLASSES ?? '').split(' ').filter((name) => name !== '');
const TRACE = process.env.TORTURE_TRACE === '1';
/** Fewer servers make no page of odds. */
const FEWEST_FOR_A_PAGE = 1_000;
/** How often it is told how far it is; servers. */
const TOLD_EACH = 50;
/** Servers at a time, each in a database of its own. */
const TOGETHER = 3;

/** So many seeds, of the classes that were asked for. */
function seedsOf(first: number, count: number): number[] {
  const wanted = CLASSES.filter(
    (name) => CLASSES_ASKED.length === 0 || CLASSES_ASKED.includes(name),
  );
  if (wanted.length === 0) throw new Error(`no such class: ${CLASSES_ASKED.join(', ')}`);
  const seeds: number[] = [];
  for (let seed = first; seeds.length < count; seed++)
    if (wanted.includes(classOf(seed))) seeds.push(seed);
  return seeds;
}

test('random servers', { timeout: 6 * 3_600_000 }, async () => {
  const trials: Trial[] = [];
  const began = performance.now();
  const seeds = MORE.length === 0 ? seedsOf(SEED, SERVERS) : [SEED, ...MORE];
  const count = seeds.length;
  const work = async () => {
    const database = await createTestDatabase();
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      await clear(database);
      const trial = await tryServer(seed, database);
      trials.push(trial);
      printTrial(trial);
      if (trials.length % TOLD_EACH === 0)
        console.log(`${trials.length} of ${count} servers tried`);
      if (TRACE) console.log(await traceOf(trial, database));
    }
    await database.drop();
  };
  await Promise.all(Array.from({ length: Math.min(TOGETHER, seeds.length) }, work));
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(tableOf(trials));
  console.log(`${trials.length} servers from seed ${SEED} on, ${seconds} s`);
  if (SERVERS >= FEWEST_FOR_A_PAGE) await writeFile(PAGE, pageOf(trials, SEED, seconds));
  expect(wrongs(trials)).toEqual([]);
});
