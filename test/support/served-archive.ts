/** The served archive on a test database: days that are stored and proven, and a server that clients ask. */
import { onTestFinished } from 'vitest';
import { serveArchive } from '../../src/archive/archive-server.ts';
import { type ArchiveOptions, ServedArchive } from '../../src/archive/page.ts';
import { silentLogger } from '../../src/log.ts';
import type { Database } from '../../src/store/database.ts';
import type { MovedRecords } from '../../src/store/moved-days.ts';
import { UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import type { TestDatabase } from './database.ts';
import { handDeadlines } from './hand-deadlines.ts';
import { proveCutOf, proveTexts, windowOf } from './publishing.ts';
import { ask } from './status-scene.ts';
import { openDatabase, planDays } from './store.ts';

export const ARCHIVE_KEY = 'key-of-the-archive';
export const ARCHIVE_DAY = '2026-03-05';

type Days = Readonly<Record<string, readonly (readonly object[])[]>>;

/** Proves days, each of pages of these records. */
export const storeDays = (server: TestDatabase, days: Days): Promise<void> =>
  storeDaysIn(openDatabase(server.url), days);

/** The same by connections that are there. */
export async function storeDaysIn(database: Database, days: Days): Promise<void> {
  const streamId = await planDays(database, Object.keys(days));
  for (const [day, pages] of Object.entries(days))
    await proveTexts(
      database,
      await windowOf(database, streamId, day),
      pages.map((list) => list.map((record) => JSON.stringify(record))),
    );
  const cuts = await database.query<{ window_id: number }>(
    `select window_id from daywalk.windows where kind = 'cut'`,
  );
  for (const { window_id } of cuts) await proveCutOf(database, window_id);
}

/** Serves what is stored, until the test ends. */
export async function serveStored(
  server: TestDatabase,
  fields: ArchiveOptions['fields'] = {},
  moved: MovedRecords = UNREACHED_RECORDS,
) {
  const deadlines = handDeadlines();
  const database = openDatabase(server.url, { clock: deadlines.clock, connections: 8 });
  const archive = new ServedArchive(
    database,
    {
      streams: ['events'],
      timeZone: 'UTC',
      fields: {
        agent: [['agent', 'name']],
        manager: [['manager', 'name']],
        rule_level: [['rule', 'level']],
        hideread: [['read']],
        ...fields,
      },
    },
    moved,
  );
  const listener = await serveArchive({
    archive,
    address: { host: '127.0.0.1', port: 0 },
    key: ARCHIVE_KEY,
    clock: deadlines.clock,
    log: silentLogger,
  });
  onTestFinished(() => listener.close());
  const askFor = async (query: string) => {
    const path = `/api/events?${query}`;
    const { status, headers, body } = await ask(listener.url, path, {
      headers: { 'x-api-key': ARCHIVE_KEY },
    });
    return { status, headers, body: JSON.parse(body), text: body };
  };
  const get = (query: string, to = ARCHIVE_DAY) =>
    askFor(`fromDate=${ARCHIVE_DAY}%2000%3A00%3A00&toDate=${to}%2023%3A59%3A59&${query}`);
  const total = async (query: string, to = ARCHIVE_DAY) => {
    const { status, headers, body } = await get(query, to);
    return status === 200 ? Number(headers['x-total-count']) : { status, ...body };
  };
  return { ...listener, ...deadlines, ask: askFor, get, total };
}
