/** What `moved-archive` has no time for: a day with more records than a row group of its object holds. */
import { it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { freshCopies } from '../support/store.ts';
import { expectServedAsBefore, FIRST, LAST, makeArchive } from './moved-archive-scene.ts';

const COUNT = 1_700;

let server: TestDatabase;
let database: Database;
freshCopies(makeArchive(COUNT), (fresh) => {
  ({ server, database } = fresh);
});

it('days of several row groups are served as they were', () =>
  expectServedAsBefore({ server, database }, COUNT, [FIRST, LAST]));
