/** Files of days that moved are, byte for byte, what they were before; of an object that is not what was written there is none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { recordContents } from '../../src/files/contents.ts';
import { exportDays } from '../../src/files/export-days.ts';
import { FORMATS, type Format } from '../../src/files/layout.ts';
import type { Manifest } from '../../src/files/manifest.ts';
import type { Database } from '../../src/store/database.ts';
import type { MovedRecords } from '../../src/store/moved-days.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import type { ObjectStore } from '../../src/tier/object-store.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { temporaryFolder } from '../support/program.ts';
import { freshStore, hastyClock } from '../support/store.ts';
import { DAYS, makeDays, moveAll, partsOf, restoreAll, STREAMS, signal } from './moving-scene.ts';
import { newServer, storeAt } from './s3-store-scene.ts';

let database: Database;
freshStore((fresh) => {
  ({ database } = fresh);
});
beforeEach(() => makeDays(database));

const exportAll = (
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
function contentOf(folder: string) {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  return manifest.files.map(({ exportedAt, ...file }) => ({
    ...file,
    content: readFileSync(join(folder, file.path)).toString('base64'),
  }));
}

const STORES: readonly (readonly [string, () => ObjectStore | Promise<ObjectStore>])[] = [
  ['a folder', () => openFolderStore(temporaryFolder(), hastyClock)],
  ['a bucket', async () => storeAt(await newServer()).store],
];

describe.each(STORES)('days in %s', (name, openStore) => {
  // How a file is made of an object has nothing to do with where that is.
  it.each(name === 'a folder' ? FORMATS : FORMATS.slice(0, 1))(
    'are exported as they were: %s',
    async (format) => {
      const store = await openStore();
      const [before, half, after, back] = [1, 2, 3, 4].map(() => temporaryFolder());
      if (!before || !half || !after || !back) throw new Error('four folders were made');
      const moved = new StoredRecords(store);
      await exportAll(before, format, moved);
      const expected = contentOf(before);
      expect(expected).toHaveLength(9);
      await moveAll(partsOf(database, store), ['events', 'edits'], DAYS.slice(0, 2));
      expect(await exportAll(half, format, moved)).toMatchObject({ written: 9, incomplete: [] });
      expect(contentOf(half)).toEqual(expected);
      await moveAll(partsOf(database, store));
      // Without a first day, too: what moved is there.
      expect(await exportAll(after, format, moved, null)).toMatchObject({
        written: 9,
        incomplete: [],
      });
      expect(contentOf(after)).toEqual(expected);
      // What is there is not written again, and needs no tier.
      expect(await exportAll(before, format, UNREACHED_RECORDS)).toMatchObject({
        written: 0,
        skipped: 9,
      });
      await restoreAll(partsOf(database, store));
      await exportAll(back, format, UNREACHED_RECORDS);
      expect(contentOf(back)).toEqual(expected);
    },
  );
});

describe('what cannot be believed', () => {
  /** All days in a store of memory, and the object of the first day's records. */
  async function movedAll() {
    const store = new MemoryStore();
    await moveAll(partsOf(database, store));
    const key = [...store.objects.keys()].find((name) =>
      name.startsWith(`events/stream=events/day=${DAYS[0]}/`),
    );
    const body = store.objects.get(String(key))?.body;
    if (key === undefined || body === undefined) throw new Error('nothing moved');
    const another = [...store.objects.keys()].find((name) =>
      name.startsWith(`events/stream=events/day=${DAYS[2]}/`),
    );
    const put = (bytes: Buffer) => store.objects.set(key, { body: bytes });
    return { store, key, body, another: store.objects.get(String(another))?.body, put };
  }

  const refused = async (moved: MovedRecords, told: RegExp) => {
    const folder = temporaryFolder();
    await expect(exportAll(folder, 'ndjson', moved)).rejects.toThrow(told);
    const day = join(folder, `stream=events/day=${DAYS[0]}`);
    expect(existsSync(day) ? readdirSync(day) : []).toEqual([]);
  };

  it('makes no file: an object that is gone, cut, changed or another', async () => {
    const { store, key, body, another, put } = await movedAll();
    const told = new RegExp(`memory has no whole object ${key}`);
    store.objects.delete(key);
    await refused(new StoredRecords(store), told);
    put(body.subarray(0, body.length - 1));
    await refused(new StoredRecords(store), told);
    put(Buffer.alloc(body.length));
    await refused(new StoredRecords(store), told);
    for (let at = 0; at < body.length; at += 97) {
      const changed = Buffer.from(body);
      changed[at] = (changed[at] ?? 0) ^ 0x41;
      put(changed);
      const read = async () => {
        const folder = temporaryFolder();
        await exportAll(folder, 'ndjson', new StoredRecords(store));
        const manifest = contentOf(folder).find(
          ({ stream, day }) => stream === 'events' && day === DAYS[0],
        );
        return manifest?.content;
      };
      // A byte that is in no record may change: the records are what they were, or there is an error that names the object.
      const outcome = await read().catch((error: Error) => error.message);
      expect(outcome === ORIGINAL() || told.test(String(outcome)), `byte ${at}: ${outcome}`).toBe(
        true,
      );
    }
    put(another ?? Buffer.alloc(0));
    await refused(new StoredRecords(store), told);
  });

  const ORIGINAL = () => Buffer.from('{"id": 1}\n{"id": 2}\n{"id": 3}\n').toString('base64');

  it('is told by its days and the setting: no tier, or another one', async () => {
    await movedAll();
    await refused(UNREACHED_RECORDS, /^events 2026-03-05 moved to memory: tier\.url is not set$/);
    const other = openFolderStore(temporaryFolder(), hastyClock);
    await refused(new StoredRecords(other), /^events 2026-03-05 moved to memory: tier\.url is \//);
  });
});
