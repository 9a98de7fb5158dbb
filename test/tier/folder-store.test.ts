/** Objects in a folder: the contract of object stores, links that are planted in it, and what a kill leaves. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { DaywalkError, exitCodeOf, ObjectStoreError } from '../../src/errors.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import { fileOf, going, objectStoreContract } from './object-store-contract.ts';

const KEY = 'events/day=2026-03-01/x.parquet';
const BYTES = Buffer.from('whole');

/** A folder of its own, which goes with the test. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-tier-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The folders that are brought to the disk from now on, by their paths. */
async function syncedFolders(): Promise<string[]> {
  const synced: string[] = [];
  const any = await open(tmpdir());
  const files = Object.getPrototypeOf(any) as FileHandle;
  await any.close();
  const { sync } = files;
  vi.spyOn(files, 'sync').mockImplementation(function (this: FileHandle) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  return synced;
}

/** Hidden ones, too: nothing else may be left behind. */
function filesBelow(root: string): string[] {
  if (!existsSync(root)) return [];
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** A store, its folder, and a file elsewhere that nobody may touch. */
function planted() {
  const folder = newFolder();
  const [root, elsewhere] = [join(folder, 'tier'), join(folder, 'elsewhere')];
  for (const path of [root, elsewhere]) mkdirSync(path);
  const victim = join(elsewhere, 'x.parquet');
  writeFileSync(victim, 'secret');
  return { root, elsewhere, victim, store: openFolderStore(root, systemClock) };
}

describe('the contract', () => {
  objectStoreContract(async () => {
    const root = join(newFolder(), 'a', 'b');
    return { store: openFolderStore(root, systemClock), keys: () => filesBelow(root) };
  });
});

describe('whoever plants something in it', () => {
  test('a link in place of an object is not followed, not overwritten by create, and replaced', async () => {
    const { root, victim, store } = planted();
    mkdirSync(join(root, KEY, '..'), { recursive: true });
    symlinkSync(victim, join(root, KEY));
    expect(await store.create(KEY, BYTES, going)).toBe('exists');
    await expect(store.read(KEY, going)).rejects.toThrow(ObjectStoreError);
    await expect(store.size(KEY, going)).rejects.toThrow(ObjectStoreError);
    await store.replace(KEY, BYTES, going);
    expect(await store.read(KEY, going)).toEqual(BYTES);
    await store.remove(KEY, going);
    expect(readFileSync(victim, 'utf8')).toBe('secret');
  });

  test.each(['events', 'events/day=2026-03-01'])(
    'a link in place of the folder %s leads nowhere',
    async (path) => {
      const { root, elsewhere, store } = planted();
      mkdirSync(join(root, path, '..'), { recursive: true });
      symlinkSync(elsewhere, join(root, path));
      const tries = [
        () => store.create(KEY, BYTES, going),
        () => store.replace(KEY, BYTES, going),
        () => store.read(KEY, going),
        () => store.remove(KEY, going),
      ];
      for (const one of tries) {
        const error = await one().catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(ObjectStoreError);
        expect(exitCodeOf(error)).toBe(2);
        expect(String(error)).toContain('a file or a link stands where a folder is needed');
      }
      expect(readdirSync(elsewhere)).toEqual(['x.parquet']);
    },
  );

  test('a pipe and a folder are no objects', async () => {
    const { root, store } = planted();
    execFileSync('mkfifo', [join(root, 'pipe')]);
    mkdirSync(join(root, 'folder'));
    for (const key of ['pipe', 'folder'])
      await expect(store.read(key, going)).rejects.toThrow(DaywalkError);
  });

  test.runIf(existsSync('/proc/self/fd'))(
    'a folder that becomes a link while an object is written leads nowhere else',
    async () => {
      const { root, elsewhere, store } = planted();
      // Who is asked for the bytes knows that the store stands in the folder.
      const read = async () => {
        renameSync(join(root, 'events'), join(root, 'moved'));
        symlinkSync(elsewhere, join(root, 'events'));
        mkdirSync(join(elsewhere, 'day=2026-03-01'));
        return BYTES;
      };
      expect(await store.create(KEY, { ...fileOf(BYTES), read }, going)).toBe('created');
      expect(readdirSync(join(elsewhere, 'day=2026-03-01'))).toEqual([]);
      expect(readdirSync(join(root, 'moved/day=2026-03-01'))).toEqual(['x.parquet']);
    },
  );
});

describe('what is on the disk', () => {
  test('is for its owner only', async () => {
    const root = join(newFolder(), 'new');
    const store = openFolderStore(root, systemClock);
    await store.create(KEY, BYTES, going);
    await store.replace('last', BYTES, going);
    const modes = ['', 'events', 'events/day=2026-03-01', KEY, 'last'].map(
      (path) => statSync(join(root, path)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o600, 0o600]);
    expect(statSync(join(root, KEY)).nlink).toBe(1);
  });

  test('half files of a killed process are no objects, and go when nobody can be writing them', async () => {
    const { root, store } = planted();
    await store.create(KEY, BYTES, going);
    const folder = join(root, KEY, '..');
    const [old, young] = ['.old.half', '.young.half'].map((name) => join(folder, name));
    for (const half of [old, young]) writeFileSync(half ?? '', 'ha');
    const hoursAgo = new Date(systemClock.now() - 2 * 3_600_000);
    utimesSync(old ?? '', hoursAgo, hoursAgo);
    expect(await store.create(`${KEY}.2`, BYTES, going)).toBe('created');
    expect(readdirSync(folder).sort()).toEqual(['.young.half', 'x.parquet', 'x.parquet.2']);
  });

  test('a file system whose clock is hours behind takes objects all the same', async () => {
    const ahead = { ...systemClock, now: () => systemClock.now() + 2 * 3_600_000 };
    const store = openFolderStore(newFolder(), ahead);
    expect(await store.create(KEY, BYTES, going)).toBe('created');
    expect(await store.read(KEY, going)).toEqual(BYTES);
  });

  test('a refused write leaves nothing', async () => {
    const { root, store } = planted();
    await store.create(KEY, BYTES, going);
    expect(await store.create(KEY, Buffer.from('other'), going)).toBe('exists');
    const read = () => Promise.reject(new Error('too short'));
    const body = { ...fileOf(BYTES), read };
    await expect(store.create(`${KEY}.2`, body, going)).rejects.toThrow('cannot be read');
    expect(readdirSync(join(root, KEY, '..'))).toEqual(['x.parquet']);
  });

  test('an object where a folder is needed is told', async () => {
    const { store } = planted();
    await store.create('a', BYTES, going);
    const error = await store.create('a/b', BYTES, going).catch((reason: unknown) => reason);
    expect(exitCodeOf(error)).toBe(2);
  });

  test('a folder that nobody may write into is told', async () => {
    const store = openFolderStore('/sys/daywalk', systemClock);
    const error = await store.create(KEY, BYTES, going).catch((reason: unknown) => reason);
    expect(exitCodeOf(error)).toBe(2);
    expect(error).toMatchObject({ hint: expect.stringContaining('right') });
  });
});

test.runIf(existsSync('/proc/self/fd'))(
  'each folder that holds a new one is brought to the disk, that of the store among them',
  async () => {
    const folder = newFolder();
    const synced = await syncedFolders();
    await openFolderStore(join(folder, 'a', 'b'), systemClock).create(KEY, BYTES, going);
    const holders = ['', 'a', 'a/b', 'a/b/events', 'a/b/events/day=2026-03-01'];
    expect(synced).toEqual(expect.arrayContaining(holders.map((path) => join(folder, path))));
  },
);
