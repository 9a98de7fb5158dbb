/** Files of days before they move, when some have moved, when all have, and when they are back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Format } from '../../src/files/contents.ts';
import { recordContents } from '../../src/files/contents.ts';
import { exportDays } from '../../src/files/export-days.ts';
import type { Manifest } from '../../src/files/manifest.ts';
import type { Database } from '../../src/store/database.ts';
import type { MovedRecords } from '../../src/store/moved-days.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import type { ObjectStore } from '../../src/tier/object-store.ts';
import { temporaryFolder } from '../support/program.ts';
import { DAYS, moveAll, partsOf, restoreAll, STREAMS, signal } from './moving-scene.ts';

export const exportAll = (
  database: Database,
  folder: string,
  format: Format,
  moved: MovedRecords,
  from: string | null = DAYS[0],
) =>
  exportDays(
    { database, clock: systemClock },
    {
      folder,
      contents: recordContents(database, STREAMS, moved),
      format,
      from,
      to: DAYS[2],
      checkFiles: false,
    },
    signal,
  );

/** Every file below a folder, and what the manifest says of each, but for when it was written. */
export function contentOf(folder: string) {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  return manifest.files.map(({ exportedAt, ...file }) => ({
    ...file,
    content: readFileSync(join(folder, file.path)).toString('base64'),
  }));
}

/** Files of this format are, byte for byte, what they were, wherever their days are. */
export async function expectExportedAsBefore(
  database: Database,
  store: ObjectStore,
  format: Format,
): Promise<void> {
  const [before, half, after, back] = [1, 2, 3, 4].map(() => temporaryFolder());
  if (!before || !half || !after || !back) throw new Error('four folders were made');
  const moved = new StoredRecords(store);
  await exportAll(database, before, format, moved);
  const expected = contentOf(before);
  expect(expected).toHaveLength(9);
  await moveAll(partsOf(database, store), ['events', 'edits'], DAYS.slice(0, 2));
  expect(await exportAll(database, half, format, moved)).toMatchObject({
    written: 9,
    incomplete: [],
  });
  expect(contentOf(half)).toEqual(expected);
  await moveAll(partsOf(database, store));
  // Without a first day, too: what moved is there.
  expect(await exportAll(database, after, format, moved, null)).toMatchObject({
    written: 9,
    incomplete: [],
  });
  expect(contentOf(after)).toEqual(expected);
  // What is there is not written again, and needs no tier.
  expect(await exportAll(database, before, format, UNREACHED_RECORDS)).toMatchObject({
    written: 0,
    skipped: 9,
  });
  await restoreAll(partsOf(database, store));
  await exportAll(database, back, format, UNREACHED_RECORDS);
  expect(contentOf(back)).toEqual(expected);
}
