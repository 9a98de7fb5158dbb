/** Walks in a test database: stored page by page, and proven, with the cuts beside them. */
import { randomUUID } from 'node:crypto';
import type { Day, Proof } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import { acquireLease, type LeasedWindow } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import {
  endWalk,
  proveCut,
  proveWindow,
  type WalkedSoFar,
  type WalkPlan,
} from '../../src/store/walks.ts';
import type { TestDatabase } from './database.ts';
import { CONTRACT, EVERYTHING, openedWalk, pageOf, storing, TTL_MS } from './store.ts';

/** The ids of the records of each page. */
export type PageIds = readonly (readonly number[])[];

/** The proof of so many records by their total. */
export const totalProof = (count: number): Proof => ({
  kind: count === 0 ? 'empty' : 'total',
  rule: 'C3',
  records: count,
  why: `${count} records, and the total says so`,
  total: count,
});

/** Records with these ids, as texts that `jsonb` gives back letter by letter. */
export const textsOf = (ids: readonly number[]): string[] => ids.map((id) => `{"id": ${id}}`);

/** Walks a leased window, one page for each list of texts; the walk at its end. */
export async function walkTexts(
  database: Database,
  window: LeasedWindow,
  pages: readonly (readonly string[])[],
  plan: Partial<WalkPlan> = {},
): Promise<WalkedSoFar> {
  const checkpoint = await openedWalk(database, window, plan);
  let nextStart = 0;
  for (const [number, texts] of pages.entries()) {
    const at = { ...checkpoint, nextStart, pages: number };
    const page = pageOf(nextStart, texts);
    const store = (believes: string | null) =>
      storePage(storing(database, window), { ...at, believes }, page, CONTRACT);
    const { stored, signature } = await store(null);
    if (!stored) await store(signature);
    nextStart += texts.length;
  }
  return { walkId: checkpoint.walkId, nextStart, pages: pages.length };
}

/** Walks a leased window, one page for each list of ids; the walk at its end. */
export const walkPages = (
  database: Database,
  window: LeasedWindow,
  pages: PageIds,
  plan: Partial<WalkPlan> = {},
): Promise<WalkedSoFar> => walkTexts(database, window, pages.map(textsOf), plan);

/** Walks and ends; the id of the walk. */
export async function endedWalk(
  database: Database,
  window: LeasedWindow,
  pages: readonly (readonly string[])[],
  plan: Partial<WalkPlan> = {},
): Promise<number> {
  const { walkId } = await walkTexts(database, window, pages, plan);
  const end = {
    outcome: 'ended',
    reason: null,
    end: { end: 'last' },
    claims: [],
    requests: 0,
  } as const;
  await endWalk(database, window, walkId, end);
  return walkId;
}

/** Leases one window, due or not. */
export async function leaseWindow(database: Database, windowId: number): Promise<LeasedWindow> {
  const lease = randomUUID();
  await database.query(
    `update daywalk.windows
        set lease_id = $2::uuid, lease_owner = 'here', lease_number = lease_number + 1, attempts = attempts + 1,
            lease_expires = clock_timestamp() + interval '1 minute'
      where window_id = $1`,
    [windowId, lease],
  );
  const window = await acquireLease(database, lease, 'here', TTL_MS, {
    ...EVERYTHING,
    streamIds: [],
  });
  if (window === null) throw new Error(`no window ${windowId}`);
  return window;
}

/** The window of a day, or the cut at its end. */
export async function windowOf(
  database: Database,
  streamId: number,
  day: Day,
  kind: 'day' | 'cut' = 'day',
): Promise<number> {
  const [row] = await database.query<{ window_id: number }>(
    `select window_id from daywalk.windows where stream_id = $1 and kind = $3 and coalesce(midnight, day) = $2::date and split_from is null`,
    [streamId, day, kind],
  );
  if (row === undefined) throw new Error(`no ${kind} ${day}`);
  return row.window_id;
}

/** Proves a cut; without texts nobody asked for anything. */
export async function proveCutOf(
  database: Database,
  windowId: number,
  texts: {
    readonly across: readonly string[];
    readonly before: readonly string[];
    readonly after: readonly string[];
  } | null = null,
  counts: Pick<Proof, 'records' | 'removed' | 'datesUnasked'> = { records: 0, removed: 0 },
): Promise<void> {
  const cut = await leaseWindow(database, windowId);
  const proof = { kind: 'cut', rule: 'C8', why: 'as the test says', ...counts } as const;
  if (texts === null) return proveCut(database, cut, { ...proof, before: null, after: null });
  const across = await endedWalk(database, cut, [texts.across], { role: 'across' });
  const sides =
    texts.across.length === 0
      ? { before: null, after: null }
      : {
          before: await endedWalk(database, cut, [texts.before], { role: 'before' }),
          after: await endedWalk(database, cut, [texts.after], { role: 'after' }),
        };
  await proveCut(database, cut, { ...proof, across, ...sides });
}

/** Proves the midnights at the ends of these days, each of which shows these records on both of its sides. */
export async function proveTwinsAt(
  database: Database,
  streamId: number,
  days: readonly Day[],
  ids: readonly number[],
): Promise<void> {
  const texts = textsOf(ids);
  for (const day of days)
    await proveCutOf(
      database,
      await windowOf(database, streamId, day, 'cut'),
      { across: texts, before: texts, after: texts },
      { records: 0, removed: ids.length },
    );
}

/** Proves a window by a walk of these texts. */
export async function proveTexts(
  database: Database,
  windowId: number,
  pages: readonly (readonly string[])[],
  change: Partial<Proof> = {},
  plan: Partial<WalkPlan> = {},
): Promise<LeasedWindow> {
  const window = await leaseWindow(database, windowId);
  const walk = await walkTexts(database, window, pages, plan);
  await proveWindow(database, window, walk, { ...totalProof(walk.nextStart), ...change });
  return window;
}

/** Proves the next due day or part of a stream by a walk of these records, and the cuts beside it that are not proven yet. */
export async function publishNext(
  database: Database,
  streamId: number,
  pages: PageIds,
  change: Partial<Proof> = {},
): Promise<LeasedWindow> {
  const [due] = await database.query<{ window_id: number }>(
    `select window_id from daywalk.windows
      where stream_id = $1 and kind <> 'cut' and due_at <= clock_timestamp() and split_by is null
      order by day, from_time limit 1`,
    [streamId],
  );
  if (due === undefined) throw new Error('nothing is due');
  const window = await proveTexts(database, due.window_id, pages.map(textsOf), change);
  const cuts = await database.query<{ window_id: number }>(
    `select window_id from daywalk.windows
      where stream_id = $1 and state = 'pending' and midnight in ($2::date - 1, $2::date)`,
    [streamId, window.day],
  );
  for (const cut of cuts) await proveCutOf(database, cut.window_id);
  return window;
}

/** Lets time pass: all that was noted of proofs, looks and missing records was so many hours earlier. */
export async function letHoursPass(
  database: Pick<TestDatabase, 'query'>,
  hours: number,
): Promise<void> {
  const by = [`${hours} hours`];
  await database.query(
    'update daywalk.windows set proven_at = proven_at - $1::interval, looked_at = looked_at - $1::interval, shown_at = shown_at - $1::interval, due_at = due_at - $1::interval',
    by,
  );
  await database.query('update daywalk.marks set since = since - $1::interval', by);
  await database.query(
    'update daywalk.publications set published_at = published_at - $1::interval',
    by,
  );
}

/** Says that complete windows were looked at for the last time. */
export async function endLooks(database: Pick<TestDatabase, 'query'>): Promise<void> {
  await database.query(
    `update daywalk.windows set due_at = null where state = 'complete' and not rewalk`,
  );
}
