/** The log of the events table: whatever writers do and wherever they are killed, it tells of each day once; and a day costs the same after ten years. */
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import { ObjectStoreError } from '../../src/errors.ts';
import { DeltaLogError, type LiveFile } from '../../src/tier/delta/delta-actions.ts';
import { DeltaLog } from '../../src/tier/delta/delta-log.ts';
import type { ObjectStore } from '../../src/tier/object-store.ts';
import { changedStore, MemoryStore } from '../support/memory-store.ts';
import { ANYBODY, filesAt } from './live-file.ts';

const signal = new AbortController().signal;
const DAY_MS = 86_400_000;
const NOON = Date.parse('2026-03-05T12:00:00Z');
const LOG = 'events/_delta_log/';

/** A log in memory, and a clock that only the test moves. */
function stage() {
  const time = { now: NOON };
  const clock: Clock = { ...systemClock, now: () => time.now };
  const store = new MemoryStore();
  const open = (through: ObjectStore = store) => new DeltaLog(through, clock, ANYBODY);
  return { time, clock, store, open };
}

const fileOf = filesAt(NOON);

/** The day of a file, without one. */
const without = ({ partitionValues }: LiveFile) => ({ partitionValues, path: null });

/** Writes the objects of files, as a move does before it commits. */
async function withObjects(store: MemoryStore, ...files: readonly LiveFile[]): Promise<void> {
  for (const { path, size } of files)
    store.objects.set(`events/${path}`, { body: Buffer.alloc(size) });
  store.spent();
}

const pathsOf = async (log: DeltaLog): Promise<string[]> =>
  [...(await log.files(signal)).keys()].sort();

const logOf = (store: MemoryStore): string[] =>
  [...store.objects.keys()]
    .filter((key) => key.startsWith(LOG))
    .map((key) => key.slice(LOG.length))
    .sort();

const commitKey = (version: number) => `${LOG}${String(version).padStart(20, '0')}.json`;

const actionsAt = (store: MemoryStore, version: number) =>
  store.objects
    .get(commitKey(version))
    ?.body.toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Commits a day each, and gives back their files. */
async function commitDays(
  log: DeltaLog,
  store: MemoryStore,
  count: number,
  stream = 'events',
): Promise<LiveFile[]> {
  const files = Array.from({ length: count }, (_, index) =>
    fileOf(stream, new Date(NOON + index * DAY_MS).toISOString().slice(0, 10), `first-${index}`),
  );
  await withObjects(store, ...files);
  for (const file of files) await log.commit(file, signal);
  return files;
}

describe('a commit', () => {
  it('begins the log with the protocol and the table, and adds files', async () => {
    const { store, open } = stage();
    const file = fileOf('events', '2026-03-05', 'a');
    await withObjects(store, file);
    await open().commit(file, signal);
    expect(logOf(store)).toEqual(['00000000000000000000.json']);
    const [info, protocol, table, add, ...others] = actionsAt(store, 0) ?? [];
    expect(others).toEqual([]);
    expect(info).toEqual({
      commitInfo: {
        timestamp: NOON,
        operation: 'WRITE',
        operationParameters: {},
        engineInfo: 'daywalk',
      },
    });
    expect(protocol).toEqual({ protocol: { minReaderVersion: 1, minWriterVersion: 2 } });
    expect(table.metaData).toMatchObject({
      format: { provider: 'parquet', options: {} },
      partitionColumns: ['stream', 'day'],
      configuration: {},
      createdTime: NOON,
    });
    const { fields } = JSON.parse(table.metaData.schemaString);
    expect(fields.map(({ name, type }: Record<string, string>) => `${name} ${type}`)).toEqual([
      'stream string',
      'day date',
      'record string',
      'walk_id long',
      'page_no integer',
      'position long',
      'fetched_at timestamp',
      'first_seen timestamp',
      'gone_since timestamp',
      'revision integer',
    ]);
    expect(add).toEqual({
      add: {
        path: 'stream=events/day=2026-03-05/a.parquet',
        partitionValues: { stream: 'events', day: '2026-03-05' },
        size: 1,
        modificationTime: NOON,
        dataChange: true,
        stats: '{"numRecords":1}',
      },
    });
  });

  it('puts a file in the place of what its day had, and takes out what it names', async () => {
    const { store, open } = stage();
    const log = open();
    const [first, second] = [
      fileOf('events', '2026-03-05', 'a'),
      fileOf('events', '2026-03-05', 'b'),
    ];
    const other = fileOf('smart-event', '2026-03-05', 'a');
    await withObjects(store, first, second, other);
    for (const file of [first, other, second]) await log.commit(file, signal);
    expect(actionsAt(store, 2)?.slice(1)).toEqual([
      {
        remove: {
          path: first.path,
          deletionTimestamp: NOON,
          dataChange: true,
        },
      },
      { add: expect.objectContaining({ path: second.path }) },
    ]);
    await log.commit(without(other), signal);
    expect(actionsAt(store, 3)?.[0].commitInfo.operation).toBe('DELETE');
    expect(await pathsOf(open())).toEqual([second.path]);
    expect([...(await log.files(signal)).values()]).toEqual([second]);
  });

  it('that changes nothing is not written', async () => {
    const { store, open } = stage();
    const log = open();
    await log.commit({ partitionValues: { stream: 'a', day: '2026-03-05' }, path: null }, signal);
    expect(await log.files(signal)).toEqual(new Map());
    const file = fileOf('events', '2026-03-05', 'a');
    await withObjects(store, file);
    for (const writer of [log, open(), log]) await writer.commit(file, signal);
    for (const writer of [log, open(), log]) await writer.commit(without(file), signal);
    expect(logOf(store)).toHaveLength(2);
  });

  it('does not add a file whose object is not there as it was written', async () => {
    const { store, open } = stage();
    const file = fileOf('events', '2026-03-05', 'a');
    await expect(open().commit(file, signal)).rejects.toThrow(ObjectStoreError);
    await withObjects(store, { ...file, size: 2 });
    await expect(open().commit(file, signal)).rejects.toThrow(/no whole object/);
    expect(logOf(store)).toEqual([]);
  });

  it('that is overtaken is decided anew', async () => {
    const { store, open } = stage();
    const [mine, theirs] = [
      fileOf('events', '2026-03-05', 'm'),
      fileOf('events', '2026-03-05', 't'),
    ];
    await withObjects(store, mine, theirs);
    const slow = changedStore(store, {
      async create(key, body) {
        if (!store.objects.has(commitKey(0))) await open().commit(theirs, signal);
        return store.create(key, body);
      },
    });
    await open(slow).commit(mine, signal);
    expect(await pathsOf(open())).toEqual([mine.path]);
    expect(actionsAt(store, 1)?.some(({ remove }) => remove?.path === theirs.path)).toBe(true);
  });

  it('that is there already is known as our own', async () => {
    const { store, open } = stage();
    const file = fileOf('events', '2026-03-05', 'a');
    await withObjects(store, file);
    const forgetful = changedStore(store, {
      async create(key, body) {
        await store.create(key, body);
        return 'exists';
      },
    });
    await open(forgetful).commit(file, signal);
    expect(logOf(store)).toHaveLength(1);
  });

  it('gives up where another writer always is first', async () => {
    const { store, open } = stage();
    const file = fileOf('events', '2026-03-05', 'a');
    await withObjects(store, file);
    const taken = changedStore(store, {
      async create(key) {
        await store.create(key, Buffer.from('{"commitInfo":{}}\n'));
        return 'exists';
      },
    });
    await expect(open(taken).commit(file, signal)).rejects.toThrow(DeltaLogError);
  });
});

describe('the log', () => {
  it('is read whole without a pointer to its checkpoint, with a broken one, and with one to what is gone', async () => {
    const { store, open } = stage();
    const files = await commitDays(open(), store, 120);
    const paths = files.map(({ path }) => path).sort();
    const pointer = `${LOG}_last_checkpoint`;
    const { version } = JSON.parse(String(store.objects.get(pointer)?.body));
    expect(version).toBe(99);
    for (const body of [
      '',
      'no json',
      '{"version":49}',
      '{"version":50}',
      '{"version":"99"}',
      '{"version":4711}',
      '{}',
    ]) {
      await store.replace(pointer, Buffer.from(body));
      expect(await pathsOf(open())).toEqual(paths);
    }
    await store.remove(pointer);
    expect(await pathsOf(open())).toEqual(paths);
    for (const key of logOf(store).filter((name) => name.includes('checkpoint')))
      await store.remove(`${LOG}${key}`);
    expect(await pathsOf(open())).toEqual(paths);
  });

  it('is followed by one that was away while it was cleaned', async () => {
    const { store, open } = stage();
    const away = open();
    const writer = open();
    const files = await commitDays(writer, store, 10);
    expect(await pathsOf(away)).toHaveLength(10);
    files.push(...(await commitDays(writer, store, 100, 'smart-event')));
    // As other engines do it, from the beginning on.
    for (const name of logOf(store))
      if (name < '00000000000000000099') await store.remove(`${LOG}${name}`);
    expect(logOf(store)[0]).toBe('00000000000000000099.checkpoint.parquet');
    expect(await pathsOf(away)).toEqual(files.map(({ path }) => path).sort());
  });

  it('of a store that was emptied begins anew', async () => {
    const { store, open } = stage();
    const log = open();
    await commitDays(log, store, 3);
    store.objects.clear();
    const [file] = await commitDays(log, store, 1);
    expect(logOf(store)).toEqual(['00000000000000000000.json']);
    expect(await pathsOf(open())).toEqual([file?.path]);
  });

  it('with a hole, or with what is no commit, is told, and is read when it is whole again', async () => {
    const { store, open } = stage();
    const log = open();
    const reader = open();
    await commitDays(log, store, 3);
    const commit = await store.read(commitKey(1), signal);
    await store.remove(commitKey(1));
    await expect(reader.files(signal)).rejects.toThrow(DeltaLogError);
    await store.replace(commitKey(1), Buffer.from('<html>'));
    await expect(reader.files(signal)).rejects.toThrow(DeltaLogError);
    await store.replace(commitKey(1), commit ?? Buffer.alloc(0));
    expect(await pathsOf(reader)).toHaveLength(3);
  });

  it.each([
    [1, 1],
    [1, 3],
    [3, 2],
    [4, 1],
    [6, 3],
  ])('that lacks what stood from %i on, %i commits, is told', async (first, count) => {
    const { store, open } = stage();
    await commitDays(open(), store, 10);
    for (let lost = 0; lost < count; lost++) await store.remove(commitKey(first + lost));
    await expect(open().files(signal)).rejects.toThrow(`has no ${commitKey(first)}`);
  });

  it('that lacks more in a row goes on where it seems to end, and then has them all', async () => {
    const { store, open } = stage();
    const files = await commitDays(open(), store, 10);
    for (let version = 3; version < 8; version++) await store.remove(commitKey(version));
    expect(await pathsOf(open())).toHaveLength(3);
    const log = open();
    for (const file of files) await log.commit(file, signal);
    expect(await pathsOf(open())).toEqual(files.map(({ path }) => path).sort());
    expect(logOf(store)).toHaveLength(10);
  });

  it('of which only the name of a checkpoint is left is told', async () => {
    const { store, open } = stage();
    await commitDays(open(), store, 60);
    for (const name of logOf(store))
      if (name !== '_last_checkpoint') await store.remove(`${LOG}${name}`);
    await expect(open().files(signal)).rejects.toThrow(`has no ${commitKey(0)}`);
  });

  it('to which two commits are written while it is read is whole', async () => {
    const { store, open } = stage();
    let isWritten = false;
    const late = changedStore(store, {
      async read(key, ...rest) {
        if (key === commitKey(0) && !isWritten) return null;
        if (key === commitKey(1) && !isWritten) {
          isWritten = true;
          await commitDays(open(), store, 2, 'late');
        }
        return store.read(key, ...rest);
      },
    });
    expect(await pathsOf(open(late))).toHaveLength(2);
  });

  it.each([
    ['a newer protocol', { protocol: { minReaderVersion: 3, minWriterVersion: 7 } }],
    [
      'rows deleted in a file',
      {
        add: {
          path: 'a',
          partitionValues: {},
          size: 1,
          modificationTime: 1,
          dataChange: true,
          deletionVector: {},
        },
      },
    ],
  ])('to which another program wrote %s is left alone', async (_, action) => {
    const { store, open } = stage();
    await commitDays(open(), store, 1);
    await store.create(commitKey(1), Buffer.from(`${JSON.stringify(action)}\n`));
    await expect(open().files(signal)).rejects.toThrow(/only daywalk|another program/i);
    const file = fileOf('events', '2026-01-01', 'x');
    await expect(open().commit(file, signal)).rejects.toThrow(DeltaLogError);
  });

  it('may hold what others may write beside it', async () => {
    const { store, open } = stage();
    const [file] = await commitDays(open(), store, 1);
    const others = [
      { txn: { appId: 'a', version: 1 } },
      { domainMetadata: { domain: 'd' } },
      { cdc: {} },
    ];
    await store.create(
      commitKey(1),
      Buffer.from(others.map((one) => JSON.stringify(one)).join('\n')),
    );
    await store.replace(`${LOG}00000000000000000001.crc`, Buffer.from('{}'));
    await store.replace(`${LOG}.s3-optimization-0`, Buffer.alloc(0));
    expect(await pathsOf(open())).toEqual([file?.path]);
  });
});
