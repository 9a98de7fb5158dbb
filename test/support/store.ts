/** A store on a test database: connections, a stream, windows, a lease, pages, as a test needs them. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import { type Logger, silentLogger } from '../../src/log.ts';
import type { Contract, Page, Stream } from '../../src/model.ts';
import { dayWindow } from '../../src/plan/days.ts';
import { Database } from '../../src/store/database.ts';
import {
  acquireLease,
  type Lease,
  type LeasedWindow,
  type LeaseScope,
} from '../../src/store/leases.ts';
import type { Checkpoint, PageStoring } from '../../src/store/pages.ts';
import { registerStreams } from '../../src/store/streams.ts';
import { openWalk, readOpenWalk, type WalkPlan } from '../../src/store/walks.ts';
import { planWindows } from '../../src/store/windows.ts';
import { bySocket, copyOf, createTestDatabase, type TestDatabase } from './database.ts';
import { unguarded } from './unguarded.ts';

export const DAY = '2026-03-05';
export const TTL_MS = 60_000;
export const EVERYTHING: Omit<LeaseScope, 'streamIds'> = { range: null, newestFirst: false };
export const CONTRACT: Contract = {
  recordsPath: ['data'],
  totalPath: ['total'],
  relationPath: null,
};
const EVENTS: Stream = { name: 'events', resource: 'events', filters: {} };

/** Waits of a test that runs against the real time take next to none of it. */
export const hastyClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal),
};

/**
 * Empties all tables: cheaper than a new database for every test of a file. The ledger refuses it from anybody else. What
 * is small is deleted, as a truncated table is a new one, for which every connection plans its statements anew; a function
 * of the connection that deletes keeps the plans.
 */
export async function clear(server: TestDatabase): Promise<void> {
  await unguarded(
    server,
    `do $do$
     begin
       if (select sum(pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0)) > 10 * 1024 * 1024
             from pg_class where relnamespace = 'daywalk'::regnamespace and relkind = 'r') then
         truncate daywalk.streams, daywalk.runs restart identity cascade;
         return;
       end if;
       if to_regprocedure('pg_temp.delete_all()') is null then
         execute format('create function pg_temp.delete_all() returns void language plpgsql as %L', (
           with recursive reached as (
             select unnest(array['daywalk.streams'::regclass, 'daywalk.runs'::regclass]) as relation
             union
             select c.conrelid from reached join pg_constraint c on c.confrelid = reached.relation and c.contype = 'f'
           )
           select 'begin ' || string_agg(format('delete from %s;', relation)
                    || coalesce(format('perform setval(%L, 1, false);', pg_get_serial_sequence(relation::text, a.attname)), ''), ' ')
                  || ' end'
             from reached left join pg_attribute a on a.attrelid = relation and a.attidentity <> '' and not a.attisdropped));
       end if;
       perform pg_temp.delete_all();
     end $do$`,
  );
}

/**
 * For a test file that works on the tables: one database, emptied before every test.
 * @param use gets it, with connections that end with the file: fresh ones learn the schema anew.
 */
export function freshStore(
  use: (store: { readonly server: TestDatabase; readonly database: Database }) => void,
): void {
  let server: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    server = await createTestDatabase();
    database = connectTo(server.url);
  });
  beforeEach(async () => {
    await clear(server);
    use({ server, database });
  });
  afterAll(() => database?.close());
}

/**
 * For a test file whose tests all begin with the same data: it is made once, and each test gets a copy, which costs as much as
 * one of its statements.
 * @param use gets it, with connections that end with the test.
 */
export function freshCopies(
  make: (database: Database) => Promise<void>,
  use: (store: { readonly server: TestDatabase; readonly database: Database }) => void,
): void {
  let made: TestDatabase;
  beforeAll(async () => {
    made = await createTestDatabase();
    const database = connectTo(made.url);
    await make(database);
    // What somebody is connected to cannot be copied.
    await database.close();
  });
  beforeEach(async () => {
    const server = await copyOf(made);
    use({ server, database: openDatabase(server.url) });
  });
}

/** Lets all leases end, as those of a killed process do by themselves. */
export async function expireLeases(server: Pick<TestDatabase, 'query'>): Promise<void> {
  await server.query(
    `update daywalk.windows set lease_expires = 'epoch' where lease_id is not null`,
  );
}

export interface Opening {
  readonly connections?: number;
  readonly statementTimeoutMs?: number;
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** Connections to the database at `url`, closed when the test ends. */
export function openDatabase(url: string, opening: Opening = {}): Database {
  const database = connectTo(url, opening);
  onTestFinished(() => database.close());
  return database;
}

function connectTo(url: string, opening: Opening = {}): Database {
  return new Database({
    url: bySocket(url),
    connections: opening.connections ?? 4,
    statementTimeoutMs: opening.statementTimeoutMs ?? 20_000,
    patienceMs: opening.patienceMs ?? 20_000,
    ...(opening.signal && { signal: opening.signal }),
    clock: opening.clock ?? hastyClock,
    log: opening.log ?? silentLogger,
  });
}

/** Registers a stream whose days from `since` on are due. Returns its id. */
export async function registerEvents(
  database: Database,
  stream: Partial<Stream> = {},
  since = DAY,
): Promise<number> {
  const calendar = { since, firstSince: since, timeZone: 'UTC', settleMs: 0 };
  const [made] = await registerStreams(database, [{ ...EVENTS, ...stream }], calendar);
  if (made === undefined) throw new Error('the stream was not registered');
  return made.streamId;
}

/** A stream with a planned window for each day, and the cuts at their ends. Returns the stream's id. */
export async function planDays(
  database: Database,
  days: readonly string[] = [DAY],
  stream: Partial<Stream> = {},
): Promise<number> {
  const streamId = await registerEvents(database, stream);
  await planWindows(database, streamId, 'scheduled', days.map(dayWindow));
  return streamId;
}

/** The same without the cuts, for tests of single windows. */
export async function planBareDays(
  database: Database,
  days: readonly string[] = [DAY],
  stream: Partial<Stream> = {},
): Promise<number> {
  const streamId = await planDays(database, days, stream);
  await database.query(`delete from daywalk.windows where kind = 'cut'`);
  return streamId;
}

/** Leases the first due window of a stream. */
export async function leaseDay(
  database: Database,
  streamId: number,
  owner = 'here',
): Promise<LeasedWindow> {
  const scope = { ...EVERYTHING, streamIds: [streamId] };
  const window = await acquireLease(database, randomUUID(), owner, TTL_MS, scope);
  if (window === null) throw new Error('nothing is due');
  return window;
}

/** Leases the first due window of a scope; null: nothing is due. */
export const leaseIn = (
  database: Database,
  scope: Partial<LeaseScope>,
  lease: string = randomUUID(),
): Promise<LeasedWindow | null> =>
  acquireLease(database, lease, 'here', TTL_MS, { ...EVERYTHING, streamIds: [], ...scope });

/** The row of a window, as far as leases change it. */
export async function windowRow(server: TestDatabase, windowId: number) {
  const [row] = await server.query(
    `select state, attempts, failures, last_error, lease_id, lease_owner, lease_number, lease_expires is null as free,
            round(extract(epoch from due_at - last_failed_at))::int as due_after_failure, current_walk
       from daywalk.windows where window_id = $1`,
    [windowId],
  );
  if (row === undefined) throw new Error(`no window ${windowId}`);
  return row;
}

/** What the pages of a window are stored with here. */
export const storing = (database: Database, window: Lease): PageStoring => ({
  database,
  window,
  leaseTtlMs: TTL_MS,
  keepBytes: false,
});

/** A leased window with an open walk, at its checkpoint. */
export interface Begun {
  readonly window: LeasedWindow;
  readonly checkpoint: Checkpoint;
}

/** Leases the first due window and opens a walk of it, or takes up the open one. */
export async function beginWalk(
  database: Database,
  streamId: number,
  owner = 'here',
): Promise<Begun> {
  const window = await leaseDay(database, streamId, owner);
  return { window, checkpoint: await openedWalk(database, window) };
}

/** Opens a walk of a leased window where none is open; its checkpoint. */
export async function openedWalk(
  database: Database,
  window: LeasedWindow,
  plan: Partial<WalkPlan> = {},
): Promise<Checkpoint> {
  const { from, to, levelFrom, levelTo } = window;
  const whole = {
    role: 'whole',
    from,
    to,
    levelFrom,
    levelTo,
    pageLength: 100,
    ignored: [],
  } as const;
  await openWalk(database, window, { ...whole, ...plan });
  const walk = await readOpenWalk(database, window);
  if (!walk) throw new Error('no walk was opened');
  return { ...walk, skip: 0 };
}

/** A page with these records, each a JSON text, below `data`, with a total unless that is null. */
export function pageOf(
  start: number,
  records: readonly string[],
  total: number | null = null,
): Page {
  const list = `"data":[${records.join(',')}]`;
  return pageOfBody(start, total === null ? `{${list}}` : `{"total":${total},${list}}`);
}

/** A page with this body. */
export function pageOfBody(start: number, text: string): Page {
  const body = Buffer.from(text);
  const sha256 = createHash('sha256').update(body).digest();
  return { start, length: 100, body, sha256, durationMs: 1.25, requests: 1 };
}

/** Records with the ids from `first` on, as texts that `jsonb` gives back letter by letter. */
export function records(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `{"id": ${first + index}}`);
}
