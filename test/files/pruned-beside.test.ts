/** Files of days beside one that was pruned: what was shown under that day until then is in the folder once. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { recordContents } from '../../src/files/contents.ts';
import { exportDays } from '../../src/files/export-days.ts';
import type { Manifest } from '../../src/files/manifest.ts';
import { tableContents } from '../../src/files/table-contents.ts';
import { appendToLedger } from '../../src/ledger/rows.ts';
import { planPruning, prune } from '../../src/retention/prune.ts';
import type { Database } from '../../src/store/database.ts';
import { UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import { temporaryFolder } from '../support/program.ts';
import {
  letHoursPass,
  proveCutOf,
  proveTexts,
  proveTwinsAt,
  publishNext,
  textsOf,
  windowOf,
} from '../support/publishing.ts';
import { DAY, freshStore, planDays } from '../support/store.ts';
import { apply, dropTables, IDS, sync } from '../tables/tables-stage.ts';

let database: Database;
freshStore((store) => {
  ({ database } = store);
});
beforeEach(() => dropTables(database));

const BEHIND = '2026-03-06';
const signal = new AbortController().signal;

/** Two days that both show the record 2 at their midnight. Returns their stream. */
async function makeDays(): Promise<number> {
  const streamId = await planDays(database, [DAY, BEHIND]);
  await publishNext(database, streamId, [[1, 2]]);
  await publishNext(database, streamId, [[2, 3]]);
  await proveMidnight(streamId);
  return streamId;
}

/** Proves that both days show the record 2 at their midnight, where it is one. */
async function proveMidnight(streamId: number): Promise<void> {
  await proveTwinsAt(database, streamId, [DAY], [2]);
  await seal(streamId);
}

async function seal(streamId: number): Promise<void> {
  for (const day of [DAY, BEHIND]) await appendToLedger(database, { streamId, day });
}

/** Exports into a folder. Returns how many files were written, and the ids in those of the folder. */
async function exportTo(folder: string, table: string | null) {
  const contents =
    table === null
      ? recordContents(database, ['events'], UNREACHED_RECORDS)
      : await tableContents(database, table);
  const options = { folder, contents, format: 'ndjson', from: null, to: BEHIND } as const;
  const { written } = await exportDays(
    { database, clock: systemClock },
    { ...options, checkFiles: false },
    signal,
  );
  const ids = manifestOf(folder).files.map(({ path }) =>
    readFileSync(join(folder, path), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: number }).id),
  );
  return { written, ids };
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;

const planOf = (folder: string | null) =>
  planPruning(database, {
    kind: 'day',
    limits: [{ stream: 'events', olderThanMs: 0 }],
    exported: folder,
  });

/** Prunes the first day. */
async function pruneFirst(): Promise<void> {
  const plan = await planOf(null);
  await prune(
    database,
    'day',
    { ...plan, days: plan.days.filter(({ day }) => day === DAY) },
    signal,
  );
}

it.each([null, 'alerts'])('of records, or a table (%s), has it once', async (table) => {
  const streamId = await makeDays();
  await apply(database, IDS);
  await sync(database);
  const folder = temporaryFolder();
  expect(await exportTo(folder, table)).toEqual({ written: 2, ids: [[1, 2], [3]] });
  await pruneFirst();
  await sync(database);
  expect((await exportTo(folder, table)).ids).toEqual([[1, 2], [3]]);
  await letHoursPass(database, 2);
  const window = await windowOf(database, streamId, BEHIND);
  await proveTexts(database, window, [textsOf([2, 3, 4])]);
  await proveCutOf(database, await windowOf(database, streamId, BEHIND, 'cut'));
  await sync(database);
  expect(await exportTo(folder, table)).toEqual({
    written: 1,
    ids: [
      [1, 2],
      [3, 4],
    ],
  });
  expect(manifestOf(folder).files.at(-1)).toMatchObject({ beside: [DAY], records: 2 });
  expect((await exportTo(folder, table)).written).toBe(0);
  // A folder that begins now has it, too.
  expect((await exportTo(temporaryFolder(), table)).ids).toEqual([[2, 3, 4]]);
});

it('of records has it once, also where the day behind is shown only when the one before is pruned', async () => {
  const streamId = await planDays(database, [DAY, BEHIND]);
  await publishNext(database, streamId, [[1, 2]]);
  await proveMidnight(streamId);
  const folder = temporaryFolder();
  expect((await exportTo(folder, null)).ids).toEqual([[1, 2]]);
  await pruneFirst();
  await proveTexts(database, await windowOf(database, streamId, BEHIND), [textsOf([2, 3])]);
  await proveCutOf(database, await windowOf(database, streamId, BEHIND, 'cut'));
  await seal(streamId);
  expect((await exportTo(folder, null)).ids).toEqual([[1, 2], [3]]);
});

it('is in its file where that of the pruned day is of a time before it was shown there', async () => {
  const streamId = await planDays(database, [DAY, BEHIND]);
  await publishNext(database, streamId, [[1]]);
  await publishNext(database, streamId, [[2, 3]]);
  await proveCutOf(database, await windowOf(database, streamId, DAY, 'cut'));
  const folder = temporaryFolder();
  expect((await exportTo(folder, null)).ids).toEqual([[1], [2, 3]]);
  await letHoursPass(database, 2);
  await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 2])]);
  await proveTexts(database, await windowOf(database, streamId, BEHIND), [textsOf([2, 3, 4])]);
  await proveMidnight(streamId);
  await pruneFirst();
  expect((await exportTo(folder, null)).ids).toEqual([[1], [2, 3, 4]]);
});

it('is pruned only while the file that has the rest of it is there, and else written anew', async () => {
  const streamId = await makeDays();
  const folder = temporaryFolder();
  await exportTo(folder, null);
  await pruneFirst();
  await seal(streamId);
  await exportTo(folder, null);
  expect((await planOf(folder)).kept).toEqual([]);
  rmSync(join(folder, `stream=events/day=${DAY}`), { recursive: true });
  expect((await planOf(folder)).kept.map(({ reason }) => reason)).toEqual([
    `the exported file of ${DAY}, which has some of it, is gone, or has another size`,
  ]);
  const { files } = manifestOf(folder);
  const last = files.at(-1)?.path ?? '';
  await exportDays(
    { database, clock: systemClock },
    {
      folder,
      contents: recordContents(database, ['events'], UNREACHED_RECORDS),
      format: 'ndjson',
      from: null,
      to: BEHIND,
      checkFiles: false,
    },
    signal,
  );
  expect(readFileSync(join(folder, last), 'utf8')).toBe(
    textsOf([2, 3])
      .map((text) => `${text}\n`)
      .join(''),
  );
});
