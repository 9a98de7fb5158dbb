/** A folder that is moved away, or whose disk is, while an export writes into it. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { recordContents } from '../../src/files/contents.ts';
import { exportDays } from '../../src/files/export-days.ts';
import type { Database } from '../../src/store/database.ts';
import { UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import { temporaryFolder } from '../support/program.ts';
import { publishNext } from '../support/publishing.ts';
import { DAY, freshStore, planDays } from '../support/store.ts';

let database: Database;
freshStore((store) => {
  ({ database } = store);
});

const LAST = '2026-03-06';

it('is told, and what went with it is in no manifest; the next export writes all of it', async () => {
  const streamId = await planDays(database, [DAY, LAST]);
  for (const ids of [[1, 2], [3]]) await publishNext(database, streamId, [ids]);
  const folder = join(temporaryFolder(), 'export');
  const contents = recordContents(database, ['events'], UNREACHED_RECORDS);
  const options = { folder, contents, format: null, from: DAY, to: LAST, checkFiles: false };
  const exportAll = (onDay?: (done: number) => void) =>
    exportDays({ database, clock: systemClock }, options, new AbortController().signal, onDay);
  const away = `${folder}-away`;
  const lose = (done: number) => {
    if (done === 1) renameSync(folder, away);
  };
  await expect(exportAll(lose)).rejects.toThrow('is not as this export left it');
  expect(existsSync(join(folder, 'manifest.json'))).toBe(false);
  expect(await exportAll()).toMatchObject({ written: 2 });

  // The disk is there again, with what was written before it went.
  rmSync(folder, { recursive: true });
  renameSync(away, folder);
  expect(await exportAll()).toMatchObject({ written: 2, skipped: 0 });
});
