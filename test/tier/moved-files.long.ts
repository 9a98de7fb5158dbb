/** What `moved-files` has no time for: every format of days in a bucket, and files that are packed. */
import { describe, it } from 'vitest';
import { FORMATS } from '../../src/files/contents.ts';
import type { Database } from '../../src/store/database.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import { temporaryFolder } from '../support/program.ts';
import { freshCopies, hastyClock } from '../support/store.ts';
import { expectExportedAsBefore } from './moved-files-scene.ts';
import { makeDays } from './moving-scene.ts';
import { newServer, storeAt } from './s3-store-scene.ts';

let database: Database;
freshCopies(makeDays, (fresh) => {
  ({ database } = fresh);
});

describe('days are exported as they were', () => {
  it.each(FORMATS)('from a bucket: %s', async (format) =>
    expectExportedAsBefore(database, storeAt(await newServer()).store, format),
  );

  it('from a folder: ndjson.gz', () =>
    expectExportedAsBefore(database, openFolderStore(temporaryFolder(), hastyClock), 'ndjson.gz'));
});
