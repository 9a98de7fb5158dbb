/** Acquiring leases: who gets which window, in which order, and what is held by others. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dayWindow } from '../../src/plan/days.ts';
import type { Database } from '../../src/store/database.ts';
import {
  acquireLease,
  type LeasedWindow,
  type LeaseScope,
  readHeldElsewhere,
  renewLease,
} from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { endWalk } from '../../src/store/walks.ts';
import { databaseNow, planWindows } from '../../src/store/windows.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  beginWalk,
  CONTRACT,
  EVERYTHING,
  freshStore,
  leaseDay,
  leaseIn,
  openDatabase,
  openedWalk,
  pageOf,
  planBareDays as planDays,
  records,
  registerEvents,
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

describe('the order of leases', () => {
  it('is scheduled, look, backfill; then the day, oldest first; then nothing', async () => {
    const streamId = await registerEvents(database);
    await planWindows(database, streamId, 'backfill', ['2026-01-01', '2026-01-02'].map(dayWindow));
    await planWindows(database, streamId, 'look', ['2026-02-02', '2026-02-01'].map(dayWindow));
    await planWindows(database, streamId, 'scheduled', ['2026-03-02', '2026-03-01'].map(dayWindow));
    const got: string[] = [];
    for (
      let next = await acquire({ streamIds: [streamId] });
      next;
      next = await acquire({ streamIds: [streamId] })
    )
      got.push(`${next.purpose} ${next.day}`);
    expect(got).toEqual([
      'scheduled 2026-03-01',
      'scheduled 2026-03-02',
      'look 2026-02-01',
      'look 2026-02-02',
      'backfill 2026-01-01',
      'backfill 2026-01-02',
    ]);
  });

  it('is newest first on request, within a range, of the streams asked for', async () => {
    const streamId = await planDays(database, [
      '2026-03-01',
      '2026-03-02',
      '2026-03-03',
      '2026-03-04',
    ]);
    const other = await registerEvents(database, { name: 'other' });
    await planWindows(database, other, 'scheduled', [dayWindow('2026-03-02')]);
    const scope = {
      streamIds: [streamId],
      newestFirst: true,
      range: { from: '2026-03-02', to: '2026-03-03' },
    };
    expect(
      [await acquire(scope), await acquire(scope), await acquire(scope)].map((got) => got?.day),
    ).toEqual(['2026-03-03', '2026-03-02', undefined]);
    expect((await acquire({ streamIds: [other, 99] }))?.streamId).toBe(other);
  });

  it('leaves out what is not due, what waits for its parts, and what is held', async () => {
    const streamId = await planDays(database, [
      '2026-03-01',
      '2026-03-02',
      '2026-03-03',
      '2026-03-04',
    ]);
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp() + interval '1 second' where day = '2026-03-01'`,
    );
    await server.query(
      `update daywalk.windows set state = 'split', split_by = 'time', due_at = null where day = '2026-03-02'`,
    );
    expect((await acquire({ streamIds: [streamId] }))?.day).toBe('2026-03-03');
    expect((await acquire({ streamIds: [streamId] }))?.day).toBe('2026-03-04');
    expect(await acquire({ streamIds: [streamId] })).toBeNull();
  });

  it('gives windows held elsewhere at the same moment to nobody: different workers, different windows', async () => {
    const days = Array.from(
      { length: 20 },
      (_, index) => `2026-03-${String(index + 1).padStart(2, '0')}`,
    );
    const streamId = await planDays(database, days);
    const workers = [
      database,
      openDatabase(server.url, { connections: 10 }),
      openDatabase(server.url, { connections: 10 }),
    ];
    const leases = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        acquireLease(workers[index % 3] as Database, randomUUID(), `worker ${index}`, TTL_MS, {
          ...EVERYTHING,
          streamIds: [streamId],
        }),
      ),
    );
    const got = leases.flatMap((held) => held?.windowId ?? []);
    expect(new Set(got).size).toBe(got.length);
    // A window whose row another worker has locked is skipped, so an attempt may come back with nothing, but not many do.
    expect(got.length).toBeGreaterThan(15);
    for (
      let next = await acquire({ streamIds: [streamId] });
      next;
      next = await acquire({ streamIds: [streamId] })
    )
      got.push(next.windowId);
    expect(new Set(got).size).toBe(20);
  });

  it('skips a window whose row is locked, and waits for nobody', async () => {
    const streamId = await planDays(database, ['2026-03-01', '2026-03-02']);
    const locker = await server.pool.connect();
    await locker.query('begin');
    await locker.query(`select from daywalk.windows where day = '2026-03-01' for update`);
    expect((await acquire({ streamIds: [streamId] }))?.day).toBe('2026-03-02');
    await locker.query('rollback');
    locker.release();
    expect((await acquire({ streamIds: [streamId] }))?.day).toBe('2026-03-01');
  });
});

describe('a lease', () => {
  it('repeated with its lease id gives the same window, and counts once', async () => {
    const streamId = await planDays(database, ['2026-03-01', '2026-03-02']);
    const lease = randomUUID();
    const first = await acquire({ streamIds: [streamId] }, lease);
    expect(first).toMatchObject({
      day: '2026-03-01',
      from: '2026-03-01 00:00:00',
      to: '2026-03-01 23:59:59',
      attempts: 1,
      failures: 0,
      state: 'pending',
    });
    expect(await acquire({ streamIds: [streamId] }, lease)).toEqual(first);
    expect(await window(first?.windowId ?? 0)).toMatchObject({
      attempts: 1,
      lease_number: 1,
      lease_owner: 'here',
    });
  });

  it('tells whether a walk of the window was ever begun', async () => {
    const streamId = await planDays(database);
    const again = async (): Promise<LeasedWindow> => {
      await server.query(
        `update daywalk.windows set lease_expires = clock_timestamp() - interval '1 ms'`,
      );
      return leaseDay(database, streamId);
    };
    const first = await leaseDay(database, streamId);
    expect(first.walked).toBe(false);
    const second = await again();
    expect(second.walked).toBe(false);
    const walk = await openedWalk(database, second);
    expect(walk).toMatchObject({ number: 1, role: 'whole', pages: 0, nextStart: 0 });
    const third = await again();
    expect(third.walked).toBe(true);
    const failed = { outcome: 'failed', reason: 'no', end: null, claims: [], requests: 1 } as const;
    await endWalk(database, third, walk.walkId, failed);
    expect((await again()).walked).toBe(true);
  });

  it('takes an expired lease over with a fresh id, and counts', async () => {
    const streamId = await planDays(database);
    const first = await leaseDay(database, streamId);
    expect(await acquire({ streamIds: [streamId] })).toBeNull();
    await server.query(
      `update daywalk.windows set lease_expires = clock_timestamp() - interval '1 ms'`,
    );
    const second = await leaseDay(database, streamId, 'there');
    expect(second).toMatchObject({ windowId: first.windowId, attempts: 2 });
    expect(second.leaseId).not.toBe(first.leaseId);
    expect(await renewLease(database, first, TTL_MS)).toBe(false);
    expect(await renewLease(database, second, TTL_MS)).toBe(true);
  });

  it('goes by the clock of the database, to the millisecond', async () => {
    const streamId = await planDays(database);
    const began = await databaseNow(database);
    const held = await acquireLease(database, randomUUID(), 'here', 150, {
      ...EVERYTHING,
      streamIds: [streamId],
    });
    const claimed = await databaseNow(database);
    const [row] = await server.query<{ end: number }>(
      'select extract(epoch from lease_expires)::float8 * 1000 as end from daywalk.windows',
    );
    const end = row?.end ?? 0;
    // A microsecond is the least that Postgres tells.
    expect(end).toBeGreaterThanOrEqual(began + 150 - 0.01);
    expect(end).toBeLessThanOrEqual(claimed + 150 + 0.01);
    for (;;) {
      const asked = await databaseNow(database);
      const next = await acquire({ streamIds: [streamId] });
      const answered = await databaseNow(database);
      if (next === null) expect(asked).toBeLessThanOrEqual(end);
      else {
        expect(answered).toBeGreaterThanOrEqual(end);
        expect(next.windowId).toBe(held?.windowId);
        break;
      }
    }
  });

  it('resumes a walk at its checkpoint and keeps attempts of leases that store nothing', async () => {
    const streamId = await planDays(database);
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect((await leaseDay(database, streamId)).attempts).toBe(attempt);
      await server.query(`update daywalk.windows set lease_expires = 'epoch'`);
    }
    const begun = await beginWalk(database, streamId);
    await storePage(
      storing(database, begun.window),
      begun.checkpoint,
      pageOf(0, records(1, 2)),
      CONTRACT,
    );
    await server.query(`update daywalk.windows set lease_expires = 'epoch'`);
    const next = await beginWalk(database, streamId);
    expect(next.window.attempts).toBe(1);
    expect(next.checkpoint).toMatchObject({
      walkId: begun.checkpoint.walkId,
      nextStart: 2,
      pages: 1,
    });
  });
});

describe('what others hold', () => {
  it('is told with its owner and the first expiry, in the scope only', async () => {
    const streamId = await planDays(database, ['2026-03-01', '2026-03-02', '2026-03-03']);
    const scope = { ...EVERYTHING, streamIds: [streamId] };
    const mine: string[] = [];
    // Due, and nobody's: whoever could not claim one has to look again.
    expect(await readHeldElsewhere(database, mine, scope)).toMatchObject({
      windows: 3,
      owner: null,
    });
    mine.push((await leaseDay(database, streamId, 'here')).leaseId);
    const began = performance.now();
    await leaseDay(database, streamId, 'there');
    const some = await readHeldElsewhere(database, mine, scope);
    expect(some).toMatchObject({ windows: 2, owner: 'there' });
    expect(some?.firstExpiryMs).toBeLessThan(0);
    await server.query('update daywalk.windows set due_at = null where lease_id is null');
    const held = await readHeldElsewhere(database, mine, scope);
    expect(held).toMatchObject({ windows: 1, owner: 'there' });
    expect(held?.firstExpiryMs).toBeGreaterThan(TTL_MS - (performance.now() - began) - 1);
    expect(held?.firstExpiryMs).toBeLessThanOrEqual(TTL_MS);
    expect(await readHeldElsewhere(database, mine, { ...scope, streamIds: [99] })).toBeNull();
    // A lease that ended after somebody looked for a window is not nothing: it has to be looked again.
    await server.query(
      `update daywalk.windows set lease_expires = clock_timestamp() - interval '1 second' where lease_id is not null`,
    );
    const ended = await readHeldElsewhere(database, mine, scope);
    expect(ended?.firstExpiryMs).toBeLessThan(0);
    const elsewhere = { from: '2026-03-03', to: '2026-03-09' };
    expect(await readHeldElsewhere(database, mine, { ...scope, range: elsewhere })).toBeNull();
  });
});
