/** The events table as other engines read it: ClickHouse by its log, DuckDB by its live files, every value as it was written. */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { ShownRecord } from '../../src/store/shown-records.ts';
import { EVENTS, EVENTS_FOLDER } from '../../src/tier/day-objects.ts';
import { DeltaLog } from '../../src/tier/delta/delta-log.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import { readFrom } from '../../src/tier/object-store.ts';
import { askClickHouse, testWithClickHouse } from '../support/clickhouse.ts';
import { andAtNight } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';
import { ANYBODY } from './live-file.ts';

const signal = new AbortController().signal;
const DAY_MS = 86_400_000;

/** Values that a reader could get wrong. */
const RECORDS: readonly ShownRecord[] = [
  {
    text: '{"n": 12345678901234567890.10, "i": 9223372036854775807, "t": "ü \\" \\n\\\\ 分析 \\ud83d"}',
    walkId: 9_007_199_254_740_989,
    pageNo: 0,
    position: 0,
    fetchedAt: 1_772_706_030_123_456,
    firstSeen: 1_772_706_030_123_457,
    goneSince: null,
    revision: 1,
  },
  {
    text: '[]',
    walkId: Number.MAX_SAFE_INTEGER,
    pageNo: 2 ** 31 - 1,
    position: 9_007_199_254_740_987,
    fetchedAt: 1_772_706_030_999_999,
    firstSeen: 1,
    goneSince: 4_102_444_799_999_999,
    revision: 2 ** 31 - 1,
  },
];

/** As both engines are asked to tell a row. */
const told = (stream: string, day: string, record: ShownRecord): unknown[] => [
  stream,
  day,
  record.text,
  String(record.walkId),
  record.pageNo,
  String(record.position),
  String(record.fetchedAt),
  String(record.firstSeen),
  record.goneSince === null ? null : String(record.goneSince),
  record.revision,
];

/** A table in a folder, and what must be in it. */
function stage() {
  const root = temporaryFolder();
  const time = { ahead: 0 };
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + time.ahead };
  const store = openFolderStore(root, clock);
  const log = new DeltaLog(store, clock, ANYBODY);
  const model = new Map<string, unknown[][]>();
  let publications = 0;

  /** Publishes a day, as a move does. */
  async function publish(
    stream: string,
    day: string,
    records: readonly ShownRecord[],
  ): Promise<void> {
    publications += 1;
    const key = EVENTS.keyOf(
      stream,
      day,
      `00000000-0000-4000-8000-${String(publications).padStart(12, '0')}`,
    );
    const file = await open(join(temporaryFolder(), 'events'), 'wx+');
    const chunks = (async function* () {
      yield records;
    })();
    const written = await EVENTS.write(file, chunks, signal);
    const read = (start: number, end: number) => readFrom(file, start, end);
    await store.create(key, { ...written, read }, signal).finally(() => file.close());
    const added = {
      path: key.slice(EVENTS_FOLDER.length),
      partitionValues: { stream, day },
      size: written.bytes,
      modificationTime: clock.now(),
      dataChange: true,
      stats: JSON.stringify({ numRecords: written.records }),
    };
    await log.commit(added, signal);
    model.set(
      `${stream} ${day}`,
      records.map((record) => told(stream, day, record)),
    );
  }

  async function takeOut(stream: string, day: string): Promise<void> {
    await log.commit({ partitionValues: { stream, day }, path: null }, signal);
    model.delete(`${stream} ${day}`);
  }

  const rows = () => [...model].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, day]) => day);
  return { root, time, log, publish, takeOut, rows, table: join(root, EVENTS_FOLDER) };
}

type Stage = ReturnType<typeof stage>;

/**
 * Two readers of the log are in ClickHouse: that of Delta Lake (delta-kernel-rs), which it takes by default, and an older one of
 * its own, which takes the commits of a folder in any order.
 */
const clickHouse = ({ root, table }: Stage, where = '', ownReader = false): Promise<unknown[][]> =>
  askClickHouse(
    root,
    `select stream, toString(day), record, walk_id, page_no, position, toUnixTimestamp64Micro(fetched_at), toUnixTimestamp64Micro(first_seen),
            toUnixTimestamp64Micro(gone_since), revision
       from deltaLakeLocal('${table}') ${where} order by stream, day, position`,
    { allow_experimental_delta_kernel_rs: ownReader ? 0 : 1 },
  );

async function duckDb({ table, log }: Stage, where = ''): Promise<unknown[][]> {
  const files = await log.files(signal);
  const list = [...files.keys()].map((path) => `'${table}${path}'`).join(', ');
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  const result = await duck.runAndReadAll(
    `select stream, day::varchar, record, walk_id, page_no, position, epoch_us(fetched_at), epoch_us(first_seen), epoch_us(gone_since), revision
       from read_parquet([${list}], hive_partitioning = true) ${where} order by stream, day, position`,
  );
  return result.getRowsJson();
}

const logOf = ({ table }: Stage): string[] => readdirSync(join(table, '_delta_log')).sort();
const dayOf = (index: number): string =>
  new Date(Date.parse('2026-01-01') + index * DAY_MS).toISOString().slice(0, 10);

describe('the events table', () => {
  testWithClickHouse(
    'is read by ClickHouse and DuckDB as it was written, also what was published anew or taken out',
    async () => {
      const table = stage();
      const [one] = RECORDS;
      if (one === undefined) throw new Error('no record');
      await table.publish('events', '2026-03-05', [one]);
      await table.publish('smart-event', '2026-03-05', RECORDS);
      await table.publish('odd_stream-1', '2026-03-06', []);
      await table.publish('events', '2026-03-06', [one]);
      await table.publish('events', '2026-03-05', RECORDS);
      await table.takeOut('events', '2026-03-06');
      expect(table.rows()).toHaveLength(4);
      expect(await duckDb(table)).toEqual(table.rows());
      expect(await clickHouse(table)).toEqual(table.rows());
    },
  );

  testWithClickHouse(
    'is the same from a checkpoint, when the commits before it are gone',
    async () => {
      const table = stage();
      for (let index = 0; index < 60; index++)
        await table.publish(index % 2 === 0 ? 'events' : 'smart-event', dayOf(index >> 1), RECORDS);
      await table.publish('events', dayOf(0), RECORDS.slice(1));
      await table.takeOut('smart-event', dayOf(1));
      expect(logOf(table)).toContain('00000000000000000049.checkpoint.parquet');
      expect(await clickHouse(table)).toEqual(table.rows());
      table.time.ahead = 40 * DAY_MS;
      await table.log.cleanUp(signal);
      const newest = [
        '00000000000000000061.checkpoint.parquet',
        '00000000000000000061.json',
        '_last_checkpoint',
      ];
      // As another engine may clean up.
      for (const name of logOf(table))
        if (!newest.includes(name)) rmSync(join(table.table, '_delta_log', name));
      expect(logOf(table)).toEqual(newest);
      expect(await clickHouse(table)).toEqual(table.rows());
      expect(await clickHouse(table, '', true)).toEqual(table.rows());
      expect(await duckDb(table)).toEqual(table.rows());
      await table.publish('events', dayOf(90), RECORDS);
      expect(await clickHouse(table)).toEqual(table.rows());
    },
  );

  testWithClickHouse(
    'tells so much of each file that a reader leaves out none that it needs',
    async () => {
      const table = stage();
      const shifted = (by: number) =>
        RECORDS.map((record) => ({ ...record, fetchedAt: record.fetchedAt + by }));
      for (const [index, by] of [-1_000_000, 0, 1_000_000].entries())
        await table.publish('events', dayOf(index), shifted(by));
      for (const [sign, at] of andAtNight(
        [
          ['=', '2026-03-05 10:20:30.123456'],
          ['<', '2026-03-05 10:20:30.999999'],
          ['>', '2026-03-05 10:20:30.999999'],
        ],
        [
          ['=', '2026-03-05 10:20:30.999999'],
          ['=', '2026-03-05 10:20:31.123456'],
          ['<', '2026-03-05 10:20:30.123456'],
          ['<', '2026-03-05 10:20:31.123456'],
          ['>', '2026-03-05 10:20:30.123456'],
          ['>', '2026-03-05 10:20:31.123456'],
        ],
      )) {
        const of = (utc: string) => `where fetched_at ${sign} ${utc}`;
        expect(
          await clickHouse(table, of(`toDateTime64('${at}', 6, 'UTC')`)),
          `${sign} ${at}`,
        ).toEqual(await duckDb(table, of(`timestamptz '${at}+00'`)));
      }
      expect(await clickHouse(table, `where day = '${dayOf(1)}' and stream = 'events'`)).toEqual(
        await duckDb(table, `where day = '${dayOf(1)}' and stream = 'events'`),
      );
    },
  );

  testWithClickHouse('holds what the digest of its records says', async () => {
    const table = stage();
    await table.publish('events', '2026-03-05', RECORDS);
    const texts = (await clickHouse(table)).map(([, , record]) => `${record}\n`);
    const lines = RECORDS.map(({ text }) => `${text}\n`).join('');
    expect(createHash('sha256').update(texts.join('')).digest('hex')).toBe(
      createHash('sha256').update(lines).digest('hex'),
    );
  });
});
