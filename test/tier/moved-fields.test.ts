/** `daywalk fields` looks at days that are here, and says how many are not. */
import { expect, it } from 'vitest';
import { describeFields } from '../../src/cli/verbs/fields.ts';
import type { Database } from '../../src/store/database.ts';
import { findFields } from '../../src/tables/fields.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { freshCopies } from '../support/store.ts';
import { DAYS, makeDays, moveAll, partsOf, signal } from './moving-scene.ts';

let database: Database;
freshCopies(makeDays, (fresh) => {
  ({ database } = fresh);
});

it('days that moved are not counted among those that were looked at', async () => {
  const find = (all: boolean) =>
    findFields(database, { streams: ['events'], from: null, to: null, all }, signal);
  const { records = 0 } = (await find(true)).looked[0] ?? {};
  await moveAll(partsOf(database, new MemoryStore()), ['events'], DAYS.slice(0, 1));
  for (const all of [false, true]) {
    const report = await find(all);
    const left = records - 3;
    expect(report.looked).toEqual([
      {
        stream: 'events',
        days: 2,
        daysStored: 2,
        daysTiered: 1,
        records: left,
        recordsStored: left,
      },
    ]);
    expect(describeFields(report)[0]).toBe(
      `events: all ${left} records on 2 of 2 days; 1 day in the tier not looked at`,
    );
  }
});
