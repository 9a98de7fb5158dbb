/** Files of days that moved are, byte for byte, what they were before; of an object that is not what was written there is none. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import type { MovedRecords } from '../../src/store/moved-days.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { andAtNight } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';
import { freshCopies, hastyClock } from '../support/store.ts';
import { contentOf, expectExportedAsBefore, exportAll } from './moved-files-scene.ts';
import { DAYS, makeDays, moveAll, partsOf } from './moving-scene.ts';

let database: Database;
freshCopies(makeDays, (fresh) => {
  ({ database } = fresh);
});

describe('days in a folder', () => {
  it.each(andAtNight<'ndjson' | 'parquet'>(['parquet'], ['ndjson']))(
    'are exported as they were: %s',
    (format) =>
      expectExportedAsBefore(database, openFolderStore(temporaryFolder(), hastyClock), format),
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
    await expect(exportAll(database, folder, 'ndjson', moved)).rejects.toThrow(told);
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
        await exportAll(database, folder, 'ndjson', new StoredRecords(store));
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
