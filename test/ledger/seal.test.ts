/** Sealing: a day is put into the ledger when it is complete, and again when something else is shown of it. */
import { expect, it } from 'vitest';
import { appendToLedger, checkLedger } from '../../src/ledger/rows.ts';
import { sealing } from '../../src/ledger/seal.ts';
import { silentLogger } from '../../src/log.ts';
import type { Database } from '../../src/store/database.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { letHoursPass, proveCutOf, proveTexts, textsOf, windowOf } from '../support/publishing.ts';
import { DAY, freshStore, planDays } from '../support/store.ts';

let database: Database;
let server: TestDatabase;
freshStore((store) => {
  ({ database, server } = store);
});

/** Seals what is to be sealed; the entries of the ledger. */
async function seal(streamId: number) {
  await sealing({ database, log: silentLogger }).catchUp([streamId], new AbortController().signal);
  expect(await audit(server)).toEqual([]);
  expect(await checkLedger(database, ['events'])).toEqual([]);
  return server.query(
    'select entry::int, revision, walks::int[] as walks, pages::int from daywalk.ledger order by entry',
  );
}

it('a day is sealed when its cuts are proven, too', async () => {
  const streamId = await planDays(database);
  await proveTexts(database, await windowOf(database, streamId, DAY), [
    textsOf([1, 2]),
    textsOf([3]),
  ]);
  expect(await seal(streamId)).toEqual([]);
  await proveCutOf(database, await windowOf(database, streamId, '2026-03-04', 'cut'));
  expect(await seal(streamId)).toEqual([]);
  await proveCutOf(database, await windowOf(database, streamId, DAY, 'cut'));
  expect(await seal(streamId)).toEqual([{ entry: 1, revision: 1, walks: [1], pages: 2 }]);
  expect(await seal(streamId)).toHaveLength(1);
});

it('a day that is not complete any more when it is appended, as after a failover, is sealed when it is', async () => {
  const streamId = await planDays(database);
  await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 2])]);
  await appendToLedger(database, { streamId, day: DAY });
  // They change nothing that is shown.
  for (const day of ['2026-03-04', DAY])
    await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
  expect(await seal(streamId)).toHaveLength(1);
});

it('it is sealed again for what came late, and for what is gone, but not for what one walk lacked', async () => {
  const streamId = await planDays(database);
  const window = await windowOf(database, streamId, DAY);
  const walk = async (ids: readonly number[]) => {
    await letHoursPass(database, 2);
    await proveTexts(database, window, [textsOf(ids)]);
    for (const day of ['2026-03-04', DAY])
      await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
    return (await seal(streamId)).length;
  };
  expect(await walk([1, 2])).toBe(1);
  expect(await walk([1, 2, 3])).toBe(2);
  expect(await walk([2, 3])).toBe(2);
  expect(await walk([2, 3])).toBe(3);
  expect(await walk([1, 2, 3])).toBe(4);
});
