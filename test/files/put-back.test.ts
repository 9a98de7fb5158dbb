/** Files of an earlier export, after a backup of the database was put back, and before a day is in the ledger. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { recordContents } from '../../src/files/contents.ts';
import { exportDays } from '../../src/files/export-days.ts';
import type { Manifest } from '../../src/files/manifest.ts';
import { appendToLedger } from '../../src/ledger/rows.ts';
import { planPruning } from '../../src/retention/prune.ts';
import type { Database } from '../../src/store/database.ts';
import { UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import type { TestDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/program.ts';
import {
  letHoursPass,
  proveCutOf,
  proveTexts,
  publishNext,
  textsOf,
  windowOf,
} from '../support/publishing.ts';
import { clear, DAY, freshStore, planDays } from '../support/store.ts';

let server: TestDatabase;
let database: Database;
freshStore((store) => {
  ({ server, database } = store);
});

const signal = new AbortController().signal;

/** Exports the day into a folder. Returns what was done, and what the manifest says of its file then. */
async function exportTo(folder: string) {
  const contents = recordContents(database, ['events'], UNREACHED_RECORDS);
  const options = { folder, contents, format: 'ndjson', from: DAY, to: DAY } as const;
  const { written, skipped, incomplete } = await exportDays(
    { database, clock: systemClock },
    { ...options, checkFiles: false },
    signal,
  );
  const { files } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const [file] = files;
  if (file === undefined) throw new Error('no file was written');
  const text = readFileSync(join(folder, file.path), 'utf8');
  return { written, skipped, incomplete, file, lines: text.split('\n').slice(0, -1) };
}

/** Why the day must stay in spite of its file; nothing where it may go. */
async function keptFor(folder: string): Promise<string[]> {
  const limits = [{ stream: 'events', olderThanMs: 0 }];
  const plan = await planPruning(database, { kind: 'day', limits, exported: folder });
  return plan.kept.map(({ reason }) => reason);
}

/** Walks the day and puts it into the ledger. */
async function makeDay(ids: readonly number[]): Promise<void> {
  const streamId = await planDays(database);
  await publishNext(database, streamId, [ids]);
  await appendToLedger(database, { streamId, day: DAY });
}

it('a day that was walked again after a backup was put back is written anew, and not pruned before', async () => {
  const folder = temporaryFolder();
  await makeDay([1, 2, 3]);
  const before = await exportTo(folder);
  // The backup is from before the day was walked: ids are given out a second time.
  await clear(server);
  await makeDay([1, 2, 4]);
  expect(await keptFor(folder)).toEqual(['what is shown of it changed since it was exported']);
  const after = await exportTo(folder);
  expect(after).toMatchObject({ written: 1, lines: textsOf([1, 2, 4]) });
  const { walks, marks } = before.file;
  expect(after.file).toMatchObject({ walks, marks });
  expect(await keptFor(folder)).toEqual([]);
  expect(await exportTo(folder)).toMatchObject({ written: 0, skipped: 1 });
});

it('a day that was exported before it was in the ledger, and walked again after a backup was put back, is written anew', async () => {
  const folder = temporaryFolder();
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[1, 2, 3]]);
  expect((await exportTo(folder)).file.ledger).toBeNull();
  await clear(server);
  await makeDay([1, 2, 4]);
  expect(await keptFor(folder)).toEqual(['what is shown of it changed since it was exported']);
  expect(await exportTo(folder)).toMatchObject({ written: 1, lines: textsOf([1, 2, 4]) });
  expect(await keptFor(folder)).toEqual([]);
});

const SEALED = [
  ['in the ledger', true],
  ['not in the ledger', false],
] as const;

it.each(SEALED)(
  'a file that holds more than its day, walked again after a backup was put back, stays: %s',
  async (_, isSealed) => {
    const folder = temporaryFolder();
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2, 3]]);
    if (isSealed) await appendToLedger(database, { streamId, day: DAY });
    const before = await exportTo(folder);
    // The source has forgotten one of them meanwhile.
    await clear(server);
    await makeDay([1, 2]);
    const earlierFile = before.file.path;
    const after = await exportTo(folder);
    expect(after).toMatchObject({ written: 0, lines: textsOf([1, 2, 3]), file: before.file });
    expect(after.incomplete).toMatchObject([{ day: DAY, state: 'complete', earlierFile }]);
    expect(after.incomplete[0]?.reason).toContain('move it away');
    expect(await keptFor(folder)).toEqual(['what is shown of it changed since it was exported']);
    rmSync(join(folder, earlierFile));
    expect(await exportTo(folder)).toMatchObject({ written: 1, lines: textsOf([1, 2]) });
  },
);

it.each(SEALED)(
  'a file that holds more than its day, as a midnight showed a record twice, is written anew: %s',
  async (_, isSealed) => {
    const folder = temporaryFolder();
    const before = '2026-03-04';
    const streamId = await planDays(database, [before, DAY]);
    for (const ids of [
      [1, 3],
      [3, 4],
    ])
      await publishNext(database, streamId, [ids]);
    const cut = await windowOf(database, streamId, before, 'cut');
    await proveCutOf(database, cut);
    if (isSealed) await appendToLedger(database, { streamId, day: DAY });
    expect(await exportTo(folder)).toMatchObject({ written: 1, lines: textsOf([3, 4]) });
    const both = { across: textsOf([3]), before: textsOf([3]), after: textsOf([3]) };
    await proveCutOf(database, cut, both, { records: 0, removed: 1 });
    if (isSealed) await appendToLedger(database, { streamId, day: DAY });
    expect(await exportTo(folder)).toMatchObject({
      written: 1,
      incomplete: [],
      lines: textsOf([4]),
    });
  },
);

it('a day that comes into the ledger after it was exported is not written again for that', async () => {
  const folder = temporaryFolder();
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[1, 2]]);
  for (const [entry, ids] of [
    [1, 2],
    [1, 2, 3],
  ].entries()) {
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf(ids)]);
    await letHoursPass(database, 2);
    expect(await exportTo(folder)).toMatchObject({
      written: 1,
      file: { ledger: null },
      lines: textsOf(ids),
    });
    await appendToLedger(database, { streamId, day: DAY });
    expect(await exportTo(folder)).toMatchObject({
      skipped: 1,
      file: { ledger: { entry: entry + 1 } },
    });
  }
});
