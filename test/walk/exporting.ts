/** Exports an imagined source into a test database: a stream, its days, one run after the other, and what came of it. */
import { afterAll, expect } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import type { Stream } from '../../src/model.ts';
import { addDays, lastClosedDay } from '../../src/plan/days.ts';
import type { Database } from '../../src/store/database.ts';
import { readStreams } from '../../src/store/streams.ts';
import { acceptSource } from '../../src/store/windows.ts';
import { catchUp, type RunEvent, type RunReport } from '../../src/walk/run.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { exporterParts, OPTIONS } from '../support/exporter.ts';
import { inEveryFile } from '../support/hooks.ts';
import { hastyClock, TTL_MS } from '../support/store.ts';
import type { ImaginedSource } from './imagined-source.ts';
import { borrow, type Gate, openGate, openGated } from './perils.ts';

/** A settle delay with which the next day closes in no less than twelve hours: no test sees a midnight go by. */
export const SETTLE_MS = new Date().getUTCHours() < 12 ? 0 : 12 * 3_600_000;

/** The newest closed days, oldest first. */
export function closedDays(count: number): string[] {
  const last = lastClosedDay(Date.now(), 'UTC', SETTLE_MS);
  return Array.from({ length: count }, (_, index) => addDays(last, index - count + 1));
}

let made = 0;
/** A stream that no other test uses. */
export function newStream(change: Partial<Stream> = {}): Stream {
  made += 1;
  return { name: `stream-${made}`, resource: 'events', filters: {}, ...change };
}

/** `daywalk accept` of a stream. */
export async function accept(server: TestDatabase, { name }: Stream): Promise<void> {
  const database = sharedDatabase(server);
  for (const { streamId } of await readStreams(database, [name]))
    await acceptSource(database, streamId);
}

export interface Exporting {
  readonly server: TestDatabase;
  readonly source: ImaginedSource;
  readonly stream: Stream;
  /** The first day that is exported. */
  readonly since: string;
  readonly gate?: Gate;
  readonly pageLength?: number;
  /** Windows of more records are split; absent: none. */
  readonly windowRecords?: number;
  readonly concurrency?: number;
  /** Bytes that may be fetched ahead; absent: as much as by default. */
  readonly aheadBytes?: number;
  readonly walkAttempts?: number;
  /** A day closes so long after it has ended; absent: so that no test sees one close. */
  readonly settleMs?: number;
  /** Of the source's calendar; absent: UTC. */
  readonly timeZone?: string;
  /** For how many days complete windows are looked at again; absent: never. */
  readonly recheckDays?: number;
  readonly leaseTtlMs?: number;
  readonly statementTimeoutMs?: number;
  readonly owner?: string;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
}

const databases = new Map<TestDatabase, Database>();
inEveryFile(() =>
  afterAll(async () => {
    for (const database of databases.values()) await database.close();
    databases.clear();
  }),
);

/** The connections that runs of one file share: fresh ones learn the schema anew, which takes Postgres longer than many a run. */
export function sharedDatabase(server: TestDatabase): Database {
  const open = databases.get(server);
  if (open !== undefined) return open;
  const database = openGated(server.url, openGate);
  databases.set(server, database);
  return database;
}

/** One run of one process, with an empty memory. */
export async function runOnce(exporting: Exporting): Promise<RunReport> {
  const { server, gate, statementTimeoutMs } = exporting;
  const shared = sharedDatabase(server);
  if (gate === undefined && statementTimeoutMs === undefined) return runOn(shared, exporting);
  const database =
    statementTimeoutMs === undefined && gate !== undefined
      ? borrow(shared, server.url, gate)
      : openGated(server.url, gate ?? openGate, statementTimeoutMs);
  try {
    return await runOn(database, exporting);
  } finally {
    await database.close();
  }
}

/** Teaches a stream something, as if a day before had shown it. */
export async function teach(
  exporting: Exporting,
  facts: Readonly<Record<string, unknown>>,
): Promise<void> {
  // A run that is stopped at once: the stream is there.
  await runOnce({ ...exporting, signal: AbortSignal.abort() }).catch(() => {});
  for (const [fact, value] of Object.entries(facts))
    await exporting.server.query(
      `insert into daywalk.learned (stream_id, fact, value, evidence)
       select stream_id, $1, $2::jsonb, 'another day' from daywalk.streams where name = $3`,
      [fact, JSON.stringify(value), exporting.stream.name],
    );
}

/** Runs so often; nothing complete is anything but exact. */
export async function exported(exporting: Exporting, runs = 1): Promise<Map<string, WindowResult>> {
  for (let run = 0; run < runs; run += 1) await runOnce(exporting);
  return resultsOf(exporting);
}

/** What came of it; nothing complete is anything but exact. */
export async function resultsOf({
  server,
  source,
  stream,
}: Exporting): Promise<Map<string, WindowResult>> {
  const results = await readResults(server, stream);
  expect([...(await audit(server)), ...inexact(source, results)]).toEqual([]);
  return results;
}

function runOn(database: Database, exporting: Exporting): Promise<RunReport> {
  const { source, stream, gate = openGate, clock = hastyClock } = exporting;
  return catchUp(
    exporterParts({
      database,
      source,
      fetchPage: (request, options) => gate(null, () => source.fetchPage(request, options)),
      clock,
      ...(exporting.owner !== undefined && { owner: exporting.owner }),
    }),
    {
      ...OPTIONS,
      streams: [stream],
      since: exporting.since,
      settleMs: exporting.settleMs ?? SETTLE_MS,
      timeZone: exporting.timeZone ?? OPTIONS.timeZone,
      concurrency: exporting.concurrency ?? 1,
      pageLength: exporting.pageLength ?? 2,
      windowRecords: exporting.windowRecords ?? OPTIONS.windowRecords,
      leaseTtlMs: exporting.leaseTtlMs ?? TTL_MS,
      walkAttempts: exporting.walkAttempts ?? 3,
      recheckDays: exporting.recheckDays ?? 0,
      aheadBytes: exporting.aheadBytes ?? OPTIONS.aheadBytes,
    },
    'hand',
    exporting.signal ?? new AbortController().signal,
    exporting.onEvent,
  );
}

/** A day as it stands, with the records that readers see, sorted. */
export interface WindowResult {
  readonly state: string;
  readonly lastError: string | null;
  /** Of the newest walk that is shown. */
  readonly proof: Record<string, unknown> | null;
  /** How often the day and its parts were walked from start to end, without the halves. */
  readonly walks: number;
  /** How many windows it has, without those that were split. */
  readonly windows: number;
  readonly published: string[];
}

type WindowRow = Omit<WindowResult, 'published'> & { day: string };

/** Every day of the stream. */
export async function readResults(
  server: TestDatabase,
  stream: Stream,
): Promise<Map<string, WindowResult>> {
  const database = sharedDatabase(server);
  const windows = await database.query<WindowRow>(
    `select c.day::text, c.state, c.last_error as "lastError",
            (select count(*)::int from daywalk.leaves(w.window_id)) as windows, w.proof,
            (select count(*)::int from daywalk.walks k where k.window_id in (select daywalk.subtree(w.window_id)) and k.role = 'whole') as walks
       from daywalk.coverage c
       join daywalk.streams s on s.name = c.stream
       join daywalk.windows w on w.stream_id = s.stream_id and w.day = c.day and w.kind = 'day'
      where c.stream = $1 order by c.day`,
    [stream.name],
  );
  const shown = await database.query<{ day: string; record: string }>(
    `select day::text, record::text as record from daywalk.shown_records where stream = $1`,
    [stream.name],
  );
  return new Map(
    windows.map(({ day, ...row }) => [
      day,
      {
        ...row,
        published: shown
          .filter((record) => record.day === day)
          .map(({ record }) => record)
          .sort(),
      },
    ]),
  );
}

/** What breaks the promise that complete windows hold exactly the records of the source, and nothing breaks an invariant. */
export async function complaints(
  server: TestDatabase,
  source: ImaginedSource,
  stream: Stream,
): Promise<string[]> {
  return [...(await audit(server)), ...inexact(source, await readResults(server, stream))];
}

/** Complete days that hold other records than the source has. */
function inexact(source: ImaginedSource, results: ReadonlyMap<string, WindowResult>): string[] {
  const found: string[] = [];
  for (const [day, result] of results) {
    if (result.state !== 'complete') continue;
    const expected = [...(source.lists.get(`${day} 00:00:00`) ?? [])].sort();
    if (JSON.stringify(result.published) !== JSON.stringify(expected))
      found.push(
        `${day} is complete with ${result.published.length} records, the source has ${expected.length}: ${difference(expected, result.published)}`,
      );
  }
  return found;
}

function difference(expected: readonly string[], got: readonly string[]): string {
  const missing = [...expected];
  const extra: string[] = [];
  for (const record of got) {
    const at = missing.indexOf(record);
    if (at === -1) extra.push(record);
    else missing.splice(at, 1);
  }
  return `missing ${missing.slice(0, 5).join(' ')}; extra ${extra.slice(0, 5).join(' ')}`;
}

/** The days that their source is known to have forgotten, oldest first. */
export async function retiredDays(server: TestDatabase): Promise<string[]> {
  const rows = await server.query<{ day: string }>(
    'select day::text from daywalk.days where retired_since is not null order by day',
  );
  return rows.map(({ day }) => day);
}
