/** A year of a stream moves, and real events where TIER_DATASET names a file of them: each record is in the table once, to the last digit. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Database } from '../../src/store/database.ts';
import { listMovedDays } from '../../src/store/moved-days.ts';
import { EVENTS_FOLDER } from '../../src/tier/day-objects.ts';
import { DeltaLog } from '../../src/tier/delta/delta-log.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import type { ObjectStore } from '../../src/tier/object-store.ts';
import { restoreDays } from '../../src/tier/restore.ts';
import { askClickHouse, hasClickHouse } from '../support/clickhouse.ts';
import type { TestDatabase } from '../support/database.ts';
import { difference, sentTexts } from '../support/multiset.ts';
import { temporaryFolder } from '../support/program.ts';
import { proveTexts, windowOf } from '../support/publishing.ts';
import { freshStore, planDays } from '../support/store.ts';
import { HOW_TO_GET_CHDB } from '../support/tool.ts';
import { ANYBODY } from './live-file.ts';
import { moveAll, moved, partsOf, sealAll, signal, tabled } from './moving-scene.ts';
import { newServer, storeAt } from './s3-store-scene.ts';

const PAGE_LENGTH = 100;
const EVENTS_A_DAY = 40;

let server: TestDatabase;
let database: Database;

freshStore((fresh) => {
  ({ server, database } = fresh);
});

/** The records that the source shows of each day, as it sends them. */
type Source = Map<string, string[]>;

const daysFrom = (first: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(first) + index * 86_400_000).toISOString().slice(0, 10),
  );

/** Numbers that a double cannot hold, and text that is not ASCII. */
const eventOf = (day: string, index: number): string =>
  `{"timestamp":"${day}T10:00:00.000Z","sequence":${9_007_199_254_740_993n + BigInt(index)},"least":-9223372036854775808,"most":9223372036854775807,` +
  `"long":1234567890123456789012345678901234567890.${String(index).padStart(20, '0')}10,"rule":{"level":${index % 16}},"full_log":"Grüße 分析 \\"${day} ${index}\\" \\\\ \\ud83d\\ude00"}`;

async function publish(streamId: number, source: Source, days: readonly string[]): Promise<void> {
  for (const day of days) {
    const texts = source.get(day) ?? [];
    const pages = Array.from(
      { length: Math.max(1, Math.ceil(texts.length / PAGE_LENGTH)) },
      (_, page) => texts.slice(page * PAGE_LENGTH, (page + 1) * PAGE_LENGTH),
    );
    await proveTexts(database, await windowOf(database, streamId, day), pages);
  }
  await sealAll(database);
}

/** Moves all days in three goes; between them days are published anew that have moved, and such that have not. */
async function moveYear(streamId: number, source: Source, store: ObjectStore): Promise<void> {
  const days = [...source.keys()];
  const third = Math.ceil(days.length / 3);
  for (const first of [0, third, 2 * third]) {
    const go = days.slice(first, first + third);
    expect(await moveAll(partsOf(database, store), ['events'], go)).toMatchObject({ kept: [] });
    const [back = '', next] = [go[1], days[first + third + 1]];
    const range = { from: back, to: back };
    const moving = await listMovedDays(database, ['events'], range);
    await restoreDays(partsOf(database, store), moving, 7);
    const anew = next === undefined ? [back] : [back, next];
    for (const day of anew) source.get(day)?.push(eventOf(day, 1_000_000 + first));
    await publish(streamId, source, anew);
  }
  expect(await moveAll(partsOf(database, store), ['events'], days)).toMatchObject({ kept: [] });
}

const sizeOfPages = async (): Promise<number> => {
  const [row] = await server.query<{ bytes: string }>(
    `select sum(pg_total_relation_size(relid)) as bytes from pg_partition_tree('daywalk.pages') where isleaf`,
  );
  return Number(row?.bytes);
};

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Each record as its day and the digest of its text. */
async function wanted(source: Source): Promise<string[]> {
  const all: string[] = [];
  for (const [day, texts] of source)
    for (const text of await sentTexts(server, texts)) all.push(`events ${day} ${digest(text)}`);
  return all;
}

/** The same as DuckDB reads the files that the log of a folder names, and ClickHouse, where it is installed, its table. */
async function read(root: string): Promise<Record<string, string[]>> {
  const table = join(root, EVENTS_FOLDER);
  const files = await new DeltaLog(openFolderStore(root, systemClock), systemClock, ANYBODY).files(
    signal,
  );
  const list = [...files.keys()].map((path) => `'${table}${path}'`).join(', ');
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  const found = await duck.runAndReadAll(
    `select stream || ' ' || day::varchar || ' ' || sha256(record) from read_parquet([${list}], hive_partitioning = true)`,
  );
  const duckDb = found.getRows().flat().map(String);
  if (!hasClickHouse) return { duckDb };
  const rows = await askClickHouse(
    root,
    `select concat(stream, ' ', toString(day), ' ', lower(hex(SHA256(record)))) from deltaLakeLocal('${table}')`,
  );
  return { duckDb, clickHouse: rows.flat().map(String) };
}

async function expectExact(source: Source, store: ObjectStore, root: string): Promise<number> {
  const all = await wanted(source);
  for (const [reader, texts] of Object.entries(await read(root))) {
    expect(difference(texts, all), `${reader}: not the source's`).toEqual([]);
    expect(difference(all, texts), `${reader}: missing`).toEqual([]);
  }
  expect(await tabled(store)).toEqual(await moved(server));
  expect(await server.query('select from daywalk.events limit 1')).toEqual([]);
  return all.length;
}

function madeDays(count: number): Source {
  return new Map(
    daysFrom('2025-01-01', count).map((day) => [
      day,
      Array.from({ length: EVENTS_A_DAY }, (_, index) => eventOf(day, index)),
    ]),
  );
}

/** All of it is exact, and Postgres has nothing of it any more. */
async function expectMoved(
  source: Source,
  store: ObjectStore,
  folderOf: () => string,
): Promise<string> {
  const streamId = await planDays(database, [...source.keys()]);
  await publish(streamId, source, [...source.keys()]);
  const before = await sizeOfPages();
  await moveYear(streamId, source, store);
  const after = await sizeOfPages();
  expect(await server.query('select from daywalk.pages limit 1')).toEqual([]);
  expect(after).toBeLessThan(before);
  const records = await expectExact(source, store, folderOf());
  const readers = hasClickHouse
    ? 'DuckDB and ClickHouse'
    : `DuckDB; ClickHouse is not installed (${HOW_TO_GET_CHDB})`;
  return `${source.size} days, ${records} records, read by ${readers}: pages in Postgres ${before} bytes before, ${after} after`;
}

it('a year in a folder', { timeout: 1_200_000 }, async () => {
  const root = temporaryFolder();
  console.info(await expectMoved(madeDays(365), openFolderStore(root, systemClock), () => root));
});

it('thirty days in a bucket', { timeout: 600_000 }, async () => {
  const bucket = await newServer();
  const { store } = storeAt(bucket);
  const folderOf = () => {
    const root = temporaryFolder();
    for (const [key, { body }] of bucket.objects) {
      const path = join(root, key.slice('pre/fix/'.length));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, body);
    }
    return root;
  };
  console.info(await expectMoved(madeDays(30), store, folderOf));
});

const { TIER_DATASET: dataset = '' } = process.env;

it.skipIf(dataset === '')('real events', { timeout: 1_200_000 }, async () => {
  const lines = gunzipSync(readFileSync(dataset))
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '');
  const days = daysFrom('2025-01-01', 30);
  const source: Source = new Map(
    days.map((day, index) => [day, lines.filter((_, line) => line % days.length === index)]),
  );
  const root = temporaryFolder();
  console.info(await expectMoved(source, openFolderStore(root, systemClock), () => root));
});
