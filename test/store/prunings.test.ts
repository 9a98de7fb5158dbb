/** Marking a day as pruned: looked at again at that moment, under the locks of those who publish (I2, I7). */
import { describe, expect, it } from 'vitest';
import { planBackfill } from '../../src/plan/backfill.ts';
import { plan } from '../../src/plan/planner.ts';
import type { Database } from '../../src/store/database.ts';
import { readKnownDays, readTotals } from '../../src/store/days.ts';
import { appendToLedger, checkLedger } from '../../src/store/ledger.ts';
import { listOldDays, markPruned, type OldDay } from '../../src/store/prunings.ts';
import { listStoredWalks } from '../../src/store/stored.ts';
import { askAgain, listDays, listKnownSpans } from '../../src/store/windows.ts';
import type { TestDatabase } from '../support/database.ts';
import { publishNext } from '../support/publishing.ts';
import { claimDay, DAY, freshStore, planDays } from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

/** A day that is complete and in the ledger. Returns its stream. */
async function publishedDay(): Promise<number> {
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[1, 2, 3]]);
  await appendToLedger(database, { streamId, day: DAY });
  return streamId;
}

async function listed(): Promise<OldDay> {
  const [day] = await listOldDays(database, 'day', [{ stream: 'events', olderThanMs: 0 }]);
  if (day === undefined) throw new Error('no day is listed');
  return day;
}

const mark = (day: OldDay) => markPruned(database, 'day', day);
const prunings = () => server.query('select what from daywalk.prunings');

describe('a day that is marked', () => {
  it('is told as it was listed, and marked once', async () => {
    await publishedDay();
    const day = await listed();
    expect(day).toMatchObject({ kept: null, day: DAY, walks: [1], pages: 1, records: 3 });
    expect(await mark(day)).toBe('pruned');
    expect(await mark(day)).toBe('pruned');
    expect(await prunings()).toEqual([{ what: 'day' }]);
    expect(await listOldDays(database, 'day', [{ stream: 'events', olderThanMs: 0 }])).toEqual([]);
    expect(await checkLedger(database, ['events'])).toEqual([]);
  });

  it('is never due again, neither for the planner nor for a backfill of all', async () => {
    const streamId = await publishedDay();
    await mark(await listed());
    await askAgain(database, streamId, [DAY], true);
    expect(
      await server.query('select from daywalk.windows where due_at is not null or rewalk'),
    ).toEqual([]);
    const calendar = { timeZone: 'UTC', settleMs: 0, now: Date.parse(DAY) + 86_400_000 };
    const spans = await listKnownSpans(database, [streamId]);
    expect(plan({ ...calendar, since: DAY, known: spans })).toEqual([]);
    const range = { from: DAY, to: DAY, only: 'all', newestFirst: false } as const;
    const days = await listDays(database, [streamId], range);
    expect(days).toEqual([{ streamId, day: DAY, state: 'complete', pruned: true }]);
    const known = new Map(days.map(({ day, state, pruned }) => [day, { state, pruned }]));
    expect(
      planBackfill({ ...calendar, ...range, streams: [{ name: 'events', known }] }),
    ).toMatchObject([{ action: 'skip', reason: 'it was pruned' }]);
  });

  it('counts as out of scope', async () => {
    const streamId = await publishedDay();
    const [before] = await readTotals(database, [streamId]);
    await mark(await listed());
    const [after] = await readTotals(database, [streamId]);
    expect(after).toMatchObject({ complete: 0, records: 0, pages: 0, bytes: 0 });
    expect((before?.closed ?? 0) - (after?.closed ?? 0)).toBe(1);
    expect(await readKnownDays(database, [streamId], { from: DAY, to: DAY })).toMatchObject([
      { day: DAY, pruned: true, records: 0 },
    ]);
    expect(await server.query('select from daywalk.events')).toEqual([]);
    expect(await server.query('select from daywalk.gaps where day = $1', [DAY])).toEqual([]);
  });
});

describe('what changed between list and mark', () => {
  it('a worker that took it: held', async () => {
    const streamId = await publishedDay();
    const day = await listed();
    await askAgain(database, streamId, [DAY], true);
    expect(await mark(day)).toBe('held');
    await claimDay(database, streamId);
    expect(await mark(day)).toBe('held');
    expect((await listed()).kept).toBe('a worker holds it');
    expect(await prunings()).toEqual([]);
  });

  it('a statement that has its window at this moment: held, without waiting', async () => {
    await publishedDay();
    const day = await listed();
    const other = await server.pool.connect();
    await other.query('begin');
    await other.query('select from daywalk.windows for update');
    expect(await mark(day)).toBe('held');
    await other.query('rollback');
    other.release();
    expect(await mark(day)).toBe('pruned');
  });

  it('a new walk: changed, and then not in the ledger yet', async () => {
    const streamId = await publishedDay();
    const day = await listed();
    await askAgain(database, streamId, [DAY], true);
    await publishNext(database, streamId, [[1, 2, 3, 4]]);
    expect(await mark(day)).toBe('changed');
    const now = await listed();
    expect(now.kept).toMatch(/not in the ledger yet/);
    expect(await mark(now)).toBe('unsealed');
    await appendToLedger(database, { streamId, day: DAY });
    expect(await mark(await listed())).toBe('pruned');
  });
});

it('a walk that only says that it was pruned is checked all the same', async () => {
  const streamId = await publishedDay();
  await server.query(
    `with other as (
       insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
       values ($1, '2020-01-01', 'day', '{99}', 1, 1, 1) returning pruning_id)
     update daywalk.walks set pruning = other.pruning_id from other`,
    [streamId],
  );
  expect(await listStoredWalks(database, ['events'], null)).toHaveLength(1);
});
