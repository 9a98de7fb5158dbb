/** Objects that somebody put in the place of those that were written, and noted so in Postgres: the ledger knows what they were. */
import { readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { listMovedDays, type MovedDay } from '../../src/store/moved-days.ts';
import { checkTieredDays } from '../../src/tier/check-days.ts';
import { EVENTS, PAGES, readEvents, type TieredPage } from '../../src/tier/day-objects.ts';
import { readObject } from '../../src/tier/object-file.ts';
import type { Written } from '../../src/written.ts';
import type { TestDatabase } from '../support/database.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { temporaryFolder } from '../support/program.ts';
import { freshCopies } from '../support/store.ts';
import { makeDays, moveAll, partsOf, signal } from './moving-scene.ts';

let server: TestDatabase;
let database: Database;
freshCopies(makeDays, (fresh) => {
  ({ server, database } = fresh);
});

/** Some days that moved, the first of them, and what is wrong with them. */
async function movedScene() {
  const store = new MemoryStore();
  await moveAll(partsOf(database, store));
  const listed = () => listMovedDays(database, ['events'], null);
  const [first] = await listed();
  if (first === undefined) throw new Error('no days');
  const problems = async () => {
    const { findings } = await checkTieredDays(partsOf(database, store), await listed());
    return findings.map(({ day, problem }) => `${day}: ${problem}`);
  };
  expect(await problems()).toEqual([]);
  return { store, first, problems };
}

async function allOf<T>(groups: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const group of groups) all.push(...group);
  return all;
}

async function* once<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
  yield rows;
}

/** Writes another object of a day, and notes it as if it had been written so. */
async function forge(
  store: MemoryStore,
  day: MovedDay,
  what: 'events' | 'pages',
  write: (file: FileHandle) => Promise<Written>,
): Promise<void> {
  const path = join(temporaryFolder(), what);
  const file = await open(path, 'wx');
  const { bytes, sha256, recordsSha256 } = await write(file).finally(() => file.close());
  await store.replace(day[what].key, readFileSync(path));
  await server.query(
    `update daywalk.tiered_days set ${what}_bytes = $1, ${what}_sha256 = decode($2, 'hex') where ${what}_key = $3`,
    [bytes, sha256, day[what].key],
  );
  if (what === 'events')
    await server.query(
      `update daywalk.tiered_days set records_sha256 = decode($1, 'hex') where events_key = $2`,
      [recordsSha256, day.events.key],
    );
}

it('verify names records that the pages of their day do not show', async () => {
  const { store, first, problems } = await movedScene();
  const records = await allOf(readEvents(store, first.events.key, signal));
  const changed = records.map((one) => ({ ...one, text: one.text.replace('1', '7') }));
  expect(changed).not.toEqual(records);
  await forge(store, first, 'events', (file) => EVENTS.write(file, once(changed), signal));
  expect(await problems()).toEqual([
    `2026-03-05: ${first.events.key} is said to hold other records than the pages of its day show`,
  ]);
});

it('verify names records of which something else is noted than they are', async () => {
  const { first, problems } = await movedScene();
  await server.query(
    `update daywalk.tiered_days set records_sha256 = sha256('') where events_key = $1`,
    [first.events.key],
  );
  expect(await problems()).toHaveLength(2);
});

it('verify names pages one of which stands twice in the place of another', async () => {
  const { store, first, problems } = await movedScene();
  const pages = await allOf(readObject<TieredPage>(store, first.pages.key, signal));
  const [second] = pages.slice(1, 2);
  if (second === undefined) throw new Error('one page only');
  const twice = [second, ...pages.slice(1)];
  await forge(store, first, 'pages', (file) => PAGES.write(file, once(twice), signal));
  expect(await problems()).toContainEqual(
    expect.stringMatching(/^2026-03-05: .* pages were sealed, and it holds /),
  );
});
