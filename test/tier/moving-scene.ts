/** Days that are about to move: cuts that hide, shared, gone, late and edited records, bodies that jsonb refuses; and all that is to be said of them. */
import { systemClock } from '../../src/clock.ts';
import { appendToLedger } from '../../src/ledger/rows.ts';
import type { Database } from '../../src/store/database.ts';
import { listMovedDays } from '../../src/store/moved-days.ts';
import type { ShownRecord } from '../../src/store/shown-records.ts';
import { readEvents } from '../../src/tier/day-objects.ts';
import { DeltaLog } from '../../src/tier/delta/delta-log.ts';
import { type MoveReport, moveDays } from '../../src/tier/move.ts';
import type { TierParts } from '../../src/tier/moved-log.ts';
import type { ObjectStore } from '../../src/tier/object-store.ts';
import { restoreDays } from '../../src/tier/restore.ts';
import { listDaysToMove, ownedBy } from '../../src/tier/rows.ts';
import type { TestDatabase } from '../support/database.ts';
import { MemoryStore } from '../support/memory-store.ts';
import {
  endLooks,
  letHoursPass,
  proveCutOf,
  proveTexts,
  publishNext,
  textsOf,
  windowOf,
} from '../support/publishing.ts';
import { DAY, freshCopies, planDays } from '../support/store.ts';
import { ANYBODY } from './live-file.ts';

export const DAYS = [DAY, '2026-03-06', '2026-03-07'] as const;
export const STREAMS = ['events', 'audit', 'edits'] as const;
export const signal = new AbortController().signal;

/** What a process moves with. */
export const partsOf = (database: Database, store: ObjectStore): TierParts => ({
  database,
  store,
  log: new DeltaLog(store, systemClock, ownedBy(database)),
  clock: systemClock,
  signal,
});

/** Three streams with three days each, all in the ledger. */
export async function makeDays(database: Database): Promise<void> {
  await makeEvents(database);
  await makeAudit(database);
  await makeEdits(database);
}

/** For a test file: before each test those days, and an empty store. */
export function freshTier(
  use: (fresh: {
    readonly server: TestDatabase;
    readonly database: Database;
    readonly store: MemoryStore;
  }) => void,
): void {
  freshCopies(makeDays, (fresh) => use({ ...fresh, store: new MemoryStore() }));
}

/** Proves the cuts that are to be asked, seals what is shown now, and says that its looks are over. */
export async function sealAll(database: Database): Promise<void> {
  const cuts = await database.query<{ id: number; hides: boolean }>(
    `select w.window_id as id, coalesce((w.proof ->> 'removed')::integer > 0, false) as hides
       from daywalk.windows w where w.kind = 'cut' and (w.rewalk or w.state = 'pending') order by 1`,
  );
  for (const { id, hides } of cuts)
    await (hides ? proveHidingCut(database, id) : proveCutOf(database, id));
  const due = await database.query<{ streamId: number; day: string }>(
    'select stream_id as "streamId", day from daywalk.ledger_due',
  );
  for (const day of due) await appendToLedger(database, day);
  await endLooks(database);
}

/** Both days show the record 3: it is hidden in the later one. */
export async function proveHidingCut(database: Database, cut: number): Promise<void> {
  const both = { across: textsOf([3]), before: textsOf([3]), after: textsOf([3]) };
  await proveCutOf(database, cut, both, { records: 0, removed: 1 });
}

/** A cut that hides, a body that jsonb refuses, a total beyond 2^53, and a record that is gone. */
async function makeEvents(database: Database): Promise<void> {
  const streamId = await planDays(database, DAYS);
  await publishNext(database, streamId, [[1, 2], [], [3]]);
  await publishNext(database, streamId, [[3, 4]]);
  const window = await windowOf(database, streamId, DAYS[2]);
  await publishNext(database, streamId, [[5, 6, 7]]);
  await proveHidingCut(database, await windowOf(database, streamId, DAY, 'cut'));
  for (let time = 0; time < 2; time += 1) {
    await letHoursPass(database, 2);
    const odd = ['{"id": 8, "text": "a\\u0000b"}', '{"id": 9, "n": 12345678901234567890.10}'];
    await proveTexts(database, window, [[...textsOf([5, 6]), ...odd]]);
  }
  await sealAll(database);
}

/** Another stream of the resource, which shows some of the same. */
async function makeAudit(database: Database): Promise<void> {
  const streamId = await planDays(database, DAYS, { name: 'audit', filters: { rule_level: '12' } });
  await publishNext(database, streamId, [[1, 100]]);
  await publishNext(database, streamId, [[]]);
  await publishNext(database, streamId, [[5]]);
  await sealAll(database);
}

/** A stream whose records have an identity, and were edited. */
async function makeEdits(database: Database): Promise<void> {
  const streamId = await planDays(database, DAYS, {
    name: 'edits',
    resource: 'smart-event',
    idPath: ['id'],
  });
  for (const state of ['new', 'read', 'done']) {
    for (const day of DAYS)
      await proveTexts(database, await windowOf(database, streamId, day), [
        [`{"id": "a-${day}", "state": "${state}"}`],
      ]);
    await letHoursPass(database, 2);
  }
  await sealAll(database);
}

/** Moves these days of these streams. */
export async function moveAll(
  parts: TierParts,
  streams: readonly string[] = STREAMS,
  days: readonly string[] = DAYS,
): Promise<MoveReport> {
  const limits = streams.map((stream) => ({ stream, olderThanMs: 0 }));
  const due = await listDaysToMove(parts.database, limits, true);
  return moveDays(
    parts,
    due.filter(({ day }) => days.includes(day)),
  );
}

/** Moves the days of `audit` once one of them has come to show more. */
export async function moveMore(
  database: Database,
  store: ObjectStore,
  days: readonly string[] = DAYS,
): Promise<void> {
  const streamId = await database.value<number>(
    `select stream_id from daywalk.streams where name = 'audit'`,
  );
  const window = await windowOf(database, streamId, DAYS[1]);
  await proveTexts(database, window, [textsOf([200, 201])]);
  await sealAll(database);
  await moveAll(partsOf(database, store), ['audit'], days);
}

/** Brings all days back. */
export const restoreAll = async (parts: TierParts) =>
  restoreDays(parts, await listMovedDays(parts.database, STREAMS, null), 7);

/** Everything that moving and coming back must not change, table by table. */
export async function everything(server: TestDatabase): Promise<Record<string, string[]>> {
  const of = async (sql: string) =>
    (
      await server.query<{ text: string }>(`select q::text as text from (${sql}) as q order by 1`)
    ).map(({ text }) => text);
  return {
    shown: await of('select * from daywalk.shown_records'),
    events: await of('select * from daywalk.events'),
    smart: await of('select * from daywalk.smart_events'),
    versions: await of('select * from daywalk.record_versions'),
    quarantine: await of('select * from daywalk.quarantine'),
    coverage: await of(`select to_jsonb(c) - 'due_at' from daywalk.coverage c`),
    windows: await of(`select to_jsonb(w) - 'due_at' from daywalk.windows w`),
    walks: await of('select * from daywalk.walks'),
    pages: await of('select * from daywalk.pages'),
    marks: await of('select * from daywalk.marks'),
    days: await of(
      `select to_jsonb(d) - 'publication' - 'revision' - 'restored_at' - 'unsealed' from daywalk.days d`,
    ),
    ledger: await of('select * from daywalk.ledger_check'),
  };
}

/** A record by stream and day, with all that is said of it. */
const TOLD = `jsonb_build_array(stream, day, record::text, walk_id, page_no, position, extract(epoch from fetched_at) * 1000000,
                                extract(epoch from first_seen) * 1000000, extract(epoch from gone_since) * 1000000, revision)::text`;

/** The records of each stream and day, wherever Postgres says that they are. */
export async function believed(
  server: TestDatabase,
  store: ObjectStore,
): Promise<Record<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const add = (key: string, ...records: readonly string[]) =>
    found.set(key, [...(found.get(key) ?? []), ...records].sort());
  const here = await server.query<{ key: string; text: string }>(
    `select stream || ' ' || day as key, ${TOLD} as text from daywalk.shown_records`,
  );
  for (const { key, text } of here) add(key, text);
  const there = await server.query<{ stream: string; day: string; events_key: string }>(
    'select s.name as stream, t.day::text, t.events_key from daywalk.tiered_days t join daywalk.streams s using (stream_id)',
  );
  for (const { stream, day, events_key } of there)
    for await (const records of readEvents(store, events_key, signal))
      for (const record of records)
        add(`${stream} ${day}`, await told(server, stream, day, record));
  return Object.fromEntries(found);
}

async function told(
  server: TestDatabase,
  stream: string,
  day: string,
  read: ShownRecord,
): Promise<string> {
  const { text, walkId, pageNo, position, fetchedAt, firstSeen, goneSince, revision } = read;
  const micros = (column: string) =>
    `timestamptz 'epoch' + ${column}::bigint * interval '1 microsecond'`;
  const [row] = await server.query<{ text: string }>(
    `select ${TOLD} as text
       from (select $1::text as stream, $2::date as day, $3::jsonb as record, $4::bigint as walk_id, $5::integer as page_no,
                    $6::bigint as position, ${micros('$7')} as fetched_at, ${micros('$8')} as first_seen, ${micros('$9')} as gone_since,
                    $10::integer as revision) as r`,
    [
      stream,
      day,
      text,
      String(walkId),
      pageNo,
      String(position),
      String(fetchedAt),
      String(firstSeen),
      goneSince === null ? null : String(goneSince),
      revision,
    ],
  );
  if (row?.text === undefined) throw new Error('a select without a table returned no row');
  return row.text;
}

/** What readers of the events table see: stream, day and object of each file. */
export async function tabled(store: ObjectStore): Promise<string[]> {
  const files = await new DeltaLog(store, systemClock, ANYBODY).files(signal);
  return [...files.values()]
    .map(({ partitionValues: { stream, day }, path }) => `${stream} ${day} ${path}`)
    .sort();
}

/** The same as Postgres says it. */
export const moved = async (server: TestDatabase): Promise<string[]> =>
  (
    await server.query<{ text: string }>(
      `select s.name || ' ' || t.day || ' ' || substr(t.events_key, 8) as text
         from daywalk.tiered_days t join daywalk.streams s using (stream_id)`,
    )
  )
    .map(({ text }) => text)
    .sort();
