/** The first random servers, one of each class; `npm run torture -- --random N` tries more. */
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { clear } from '../../support/store.ts';
import { CLASSES } from './nature.ts';
import { printTrial, wrongs } from './odds.ts';
import { type Trial, tryServer } from './trial.ts';

const SERVERS = CLASSES.length;
const TOGETHER = 3;

test('random servers', async () => {
  const trials: Trial[] = [];
  let seed = 0;
  const work = async () => {
    const database = await createTestDatabase();
    while (seed < SERVERS) {
      await clear(database);
      const trial = await tryServer(++seed, database);
      trials.push(trial);
      if (wrongs([trial]).length > 0) printTrial(trial);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  expect(wrongs(trials)).toEqual([]);
});
