/** Leases: what giving one back leaves behind, and that a worker that lost one writes nothing (I2). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/errors.ts';
import type { Database } from '../../src/store/database.ts';
import { walkAnewBySize } from '../../src/store/evidence/learned.ts';
import {
  failWindow,
  type LeasedWindow,
  type LeaseScope,
  noteDifferent,
  noteLooked,
  postponeLook,
  releaseLease,
  renewLease,
} from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { endWalk, openWalk, readOpenWalk } from '../../src/store/walks.ts';
import { askAgain, databaseNow } from '../../src/store/windows.ts';
import type { TestDatabase } from '../support/database.ts';
import { publishNext } from '../support/publishing.ts';
import {
  beginWalk,
  CONTRACT,
  DAY,
  freshStore,
  leaseDay,
  leaseIn,
  pageOf,
  planBareDays as planDays,
  records,
  storing,
  TTL_MS,
  windowRow,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const acquire = (scope: Partial<LeaseScope>, lease?: string) => leaseIn(database, scope, lease);
const window = (windowId: number) => windowRow(server, windowId);

/** A day that is complete, and empty. Returns its stream. */
async function completeDay(): Promise<number> {
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[]]);
  return streamId;
}

/** Leases the window of a complete day as if its next look were due. */
async function dueAgain(streamId: number): Promise<LeasedWindow> {
  await server.query('update daywalk.windows set due_at = clock_timestamp()');
  return leaseDay(database, streamId);
}

describe('giving back', () => {
  it('a release leaves the window as it was, due at once, the attempt not counted', async () => {
    const streamId = await planDays(database);
    const held = await leaseDay(database, streamId);
    await releaseLease(database, held);
    expect(await window(held.windowId)).toMatchObject({
      state: 'pending',
      attempts: 0,
      failures: 0,
      lease_id: null,
      free: true,
    });
    await releaseLease(database, held);
    expect((await leaseDay(database, streamId)).attempts).toBe(1);
  });

  it('a failure tells why and when again, and forgets the attempts', async () => {
    const streamId = await planDays(database);
    const held = await leaseDay(database, streamId);
    await failWindow(database, held, 'the list shifted', 90_000);
    expect(await window(held.windowId)).toMatchObject({
      state: 'failed',
      attempts: 0,
      failures: 1,
      last_error: 'the list shifted',
      due_after_failure: 90,
      lease_id: null,
    });
    expect(await acquire({ streamIds: [streamId] })).toBeNull();
    await askAgain(database, streamId, [held.day], true);
    expect(await leaseDay(database, streamId)).toMatchObject({
      state: 'failed',
      failures: 1,
      attempts: 1,
    });
  });

  it('a failure of a complete window takes its completeness away, and nothing that is shown', async () => {
    const streamId = await completeDay();
    await askAgain(database, streamId, [DAY], true);
    const again = await leaseDay(database, streamId);
    expect(again).toMatchObject({ state: 'complete', rewalk: true });
    await failWindow(database, again, 'the API answered 500', 1000);
    expect(await window(again.windowId)).toMatchObject({
      state: 'failed',
      failures: 1,
      last_error: 'the API answered 500',
    });
    expect(await server.query(`select from daywalk.walks where shown <> 'no'`)).toHaveLength(1);
    expect(await server.query('select judged from daywalk.windows')).toEqual([{ judged: 1 }]);
  });

  it('a look that finds nothing new keeps the wish of a person to have it walked again', async () => {
    const streamId = await completeDay();
    const looked = await dueAgain(streamId);
    await askAgain(database, streamId, [looked.day], true);
    await noteLooked(database, looked, 0);
    expect(await leaseDay(database, streamId)).toMatchObject({ state: 'complete', rewalk: true });
  });

  it('a look that finds nothing new keeps the wish to have it walked again for what was learned meanwhile', async () => {
    const streamId = await completeDay();
    const looked = await dueAgain(streamId);
    await walkAnewBySize(database, streamId);
    await noteLooked(database, looked, 0);
    expect(await leaseDay(database, streamId)).toMatchObject({ state: 'pending', rewalk: true });
  });

  it('what a look found otherwise, and could not be had then, is to be walked again also when a person asks for what failed', async () => {
    const streamId = await completeDay();
    const looked = await dueAgain(streamId);
    await noteDifferent(database, looked);
    await failWindow(database, looked, 'the API answered 500', 1000, false);
    await askAgain(database, streamId, [looked.day], false);
    expect(await leaseDay(database, streamId)).toMatchObject({ state: 'failed', rewalk: true });
  });

  it.each([
    ['finds nothing new', (lease: LeasedWindow) => noteLooked(database, lease, 0)],
    ['cannot be had', (lease: LeasedWindow) => postponeLook(database, lease, 0)],
  ])('a look that %s keeps due what was not complete any more when it ended', async (_, end) => {
    const streamId = await completeDay();
    const looked = await dueAgain(streamId);
    // As a cut is whose neighbour is proven anew meanwhile.
    await server.query(`update daywalk.windows set state = 'pending', due_at = clock_timestamp()`);
    await end(looked);
    expect(await leaseDay(database, streamId)).toMatchObject({ state: 'pending' });
  });

  it('asking again makes windows due now, and never later than they were; those that wait for their parts stay', async () => {
    const streamId = await planDays(database, ['2026-03-01', '2026-03-02', '2026-03-03']);
    await server.query(
      `update daywalk.windows set due_at = null, attempts = 3 where day = '2026-03-01'`,
    );
    await server.query(
      `update daywalk.windows set due_at = '2026-01-01Z' where day = '2026-03-02'`,
    );
    await server.query(
      `update daywalk.windows set state = 'split', split_by = 'time', due_at = null where day = '2026-03-03'`,
    );
    const before = await databaseNow(database);
    await askAgain(database, streamId, ['2026-03-01', '2026-03-02', '2026-03-03'], true);
    const after = await databaseNow(database);
    const [first, ...others] = await server.query<{ due: Date | null; rewalk: boolean }>(
      'select due_at as due, rewalk from daywalk.windows order by day',
    );
    // A Date has no more than milliseconds.
    expect(first?.due?.getTime()).toBeGreaterThanOrEqual(before - 1);
    expect(first?.due?.getTime()).toBeLessThanOrEqual(after);
    expect(first?.rewalk).toBe(true);
    expect(others).toEqual([
      { due: new Date('2026-01-01Z'), rewalk: true },
      { due: null, rewalk: false },
    ]);
  });
});

it('a lease that reaches further than any does, as the clock of the database was ahead, keeps nobody waiting', async () => {
  const streamId = await planDays(database);
  const held = await leaseDay(database, streamId);
  const endIn = (time: string) =>
    server.query(
      `update daywalk.windows set lease_expires = clock_timestamp() + $1::interval where window_id = $2`,
      [time, held.windowId],
    );
  await endIn('24 hours');
  expect(await acquire({ streamIds: [streamId] })).toBeNull();
  await endIn('3 days');
  expect(await leaseDay(database, streamId)).toMatchObject({ windowId: held.windowId });
  expect(await renewLease(database, held, TTL_MS)).toBe(false);
});

describe('a worker that lost its lease (I2)', () => {
  it.each<[string, (held: LeasedWindow, walkId: number) => Promise<unknown>]>([
    [
      'renews nothing',
      async (held) => expect(await renewLease(database, held, TTL_MS)).toBe(false),
    ],
    ['releases nothing', (held) => releaseLease(database, held)],
    ['fails nothing', (held) => failWindow(database, held, 'mine', 1000)],
    [
      'ends no walk',
      (held, walkId) =>
        endWalk(database, held, walkId, {
          outcome: 'shifted',
          reason: 'mine',
          end: null,
          claims: [],
          requests: 1,
        }),
    ],
    [
      'opens no walk',
      (held) => openWalk(database, held, { ...held, role: 'whole', pageLength: 7, ignored: [] }),
    ],
    [
      'reads no checkpoint',
      async (held) => expect(await readOpenWalk(database, held)).toBeUndefined(),
    ],
  ])('%s', async (_, write) => {
    const streamId = await planDays(database);
    const { window: lost, checkpoint } = await beginWalk(database, streamId);
    await server.query(`update daywalk.windows set lease_expires = 'epoch'`);
    await leaseDay(database, streamId, 'thief');
    const tables = async () => [
      await server.query('select * from daywalk.windows'),
      await server.query('select * from daywalk.walks'),
    ];
    const before = await tables();
    await write(lost, checkpoint.walkId);
    expect(await tables()).toEqual(before);
  });

  it('stores nothing when the lease is taken while its statement waits for the row (D06)', async () => {
    const streamId = await planDays(database);
    const { window: lost, checkpoint } = await beginWalk(database, streamId);
    const thief = await server.pool.connect();
    await thief.query('begin');
    await thief.query(`update daywalk.windows set lease_id = $1, lease_owner = 'thief'`, [
      randomUUID(),
    ]);
    const stored = storePage(
      storing(database, lost),
      checkpoint,
      pageOf(0, records(1, 3)),
      CONTRACT,
    ).catch((error: unknown) => error);
    await untilWaiting(1);
    await thief.query('commit');
    thief.release();
    expect(await stored).toBeInstanceOf(LeaseLostError);
    expect(await server.query('select from daywalk.pages')).toHaveLength(0);
    expect(await server.query('select next_start, pages, bytes from daywalk.walks')).toEqual([
      { next_start: '0', pages: 0, bytes: '0' },
    ]);
  });

  it('of two copies of one page that wait for the row, one is stored (I1)', async () => {
    const streamId = await planDays(database);
    const { window: held, checkpoint } = await beginWalk(database, streamId);
    const locker = await server.pool.connect();
    await locker.query('begin');
    await locker.query('select from daywalk.windows for update');
    const copies = [1, 2].map(() =>
      storePage(storing(database, held), checkpoint, pageOf(0, records(1, 3)), CONTRACT),
    );
    await untilWaiting(2);
    await locker.query('commit');
    locker.release();
    expect((await Promise.all(copies)).map((facts) => facts.stored)).toEqual([true, true]);
    expect(await server.query('select page_no from daywalk.pages')).toEqual([{ page_no: 0 }]);
  });
});

/** Resolves when so many statements of this database wait for a row lock. */
async function untilWaiting(count: number): Promise<void> {
  for (;;) {
    // Not in a transaction, which would see the same picture of the activity again and again.
    const waiting = await server.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting.length >= count) return;
  }
}
