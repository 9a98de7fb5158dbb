/** Planning windows: idempotent, by many at once, with the partitions that their days need; dates are text. */
import { afterEach, describe, expect, it } from 'vitest';
import { daysBetween } from '../../src/plan/days.ts';
import type { Database } from '../../src/store/database.ts';
import { claimWindow } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { databaseNow, listDays, planWindows, splitWindow } from '../../src/store/windows.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  beginWalk,
  claimDay,
  DAY,
  dayRow,
  ENVELOPE,
  EVERYTHING,
  freshStore,
  openDatabase,
  pageOf,
  planDays,
  records,
  registerEvents,
  TTL_MS,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const partitions = async () =>
  (
    await server.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'daywalk.pages'::regclass order by 1`,
    )
  ).map((row) => row.name);

describe('splitting', () => {
  const parts = [
    { from: `${DAY} 00:00:00`, to: `${DAY} 12:00:00`, levelFrom: null, levelTo: null },
    { from: `${DAY} 12:00:00`, to: `${DAY} 23:59:59`, levelFrom: null, levelTo: null },
  ];
  const request = { by: 'time', reason: 'too much', total: 9, parts } as const;
  const windows = () =>
    server.query('select kind, state, lease_owner from daywalk.windows order by window_id');

  it('puts the parts in the place of the window, and gives the lease back', async () => {
    const claim = await claimDay(database, await planDays(database));
    await splitWindow(database, claim, request);
    await splitWindow(database, claim, request);
    expect(await windows()).toEqual([
      { kind: 'day', state: 'split', lease_owner: null },
      { kind: 'part', state: 'pending', lease_owner: null },
      { kind: 'part', state: 'pending', lease_owner: null },
    ]);
  });

  it('is not for a worker whose lease was taken (I2)', async () => {
    const streamId = await planDays(database);
    const lost = await claimDay(database, streamId);
    await server.query(`update daywalk.windows set lease_expires = 'epoch'`);
    await claimDay(database, streamId, 'thief');
    await splitWindow(database, lost, request);
    expect(await windows()).toEqual([{ kind: 'day', state: 'pending', lease_owner: 'thief' }]);
  });
});

describe('planning', () => {
  it('makes each window once; one that exists stays as it is', async () => {
    const streamId = await registerEvents(database);
    const windows = daysBetween('2026-02-27', '2026-03-02').map(dayRow);
    expect(await planWindows(database, streamId, 'scheduled', windows.slice(0, 2))).toBe(2);
    await server.query(`update daywalk.windows set state = 'failed', failures = 2, due_at = null`);
    expect(await planWindows(database, streamId, 'backfill', windows)).toBe(2);
    expect(await planWindows(database, streamId, 'scheduled', windows)).toBe(0);
    expect(
      await server.query(
        'select day::text, purpose, state, failures from daywalk.windows order by day',
      ),
    ).toEqual([
      { day: '2026-02-27', purpose: 'scheduled', state: 'failed', failures: 2 },
      { day: '2026-02-28', purpose: 'scheduled', state: 'failed', failures: 2 },
      { day: '2026-03-01', purpose: 'backfill', state: 'pending', failures: 0 },
      { day: '2026-03-02', purpose: 'backfill', state: 'pending', failures: 0 },
    ]);
    expect(await planWindows(database, streamId, 'scheduled', [])).toBe(0);
  });

  it('does not bring a window back that was split', async () => {
    const streamId = await planDays(database, ['2026-03-01']);
    await server.query(
      `update daywalk.windows set state = 'split', split_by = 'time', due_at = null`,
    );
    expect(await planWindows(database, streamId, 'scheduled', [dayRow('2026-03-01')])).toBe(0);
    expect(await server.query('select state from daywalk.windows')).toEqual([{ state: 'split' }]);
  });

  it('tells windows as the planner needs them, those of the streams and days asked for', async () => {
    const streamId = await planDays(database, ['2026-03-01', '2026-03-02']);
    const other = await registerEvents(database, { name: 'other' });
    await planWindows(database, other, 'backfill', [dayRow('2026-03-01')]);
    await server.query(
      `update daywalk.windows set due_at = '2026-04-01T00:00:00.250Z' where day = '2026-03-01'`,
    );
    await server.query(`update daywalk.windows set due_at = null where day = '2026-03-02'`);
    const known = await listDays(database, [streamId, other]);
    expect([...known].sort((a, b) => a.streamId - b.streamId || (a.day < b.day ? -1 : 1))).toEqual([
      {
        streamId,
        day: '2026-03-01',
        state: 'pending',
        purpose: 'scheduled',
        dueAt: Date.UTC(2026, 3, 1) + 250,
        pruned: false,
      },
      {
        streamId,
        day: '2026-03-02',
        state: 'pending',
        purpose: 'scheduled',
        dueAt: null,
        pruned: false,
      },
      {
        streamId: other,
        day: '2026-03-01',
        state: 'pending',
        purpose: 'backfill',
        dueAt: Date.UTC(2026, 3, 1) + 250,
        pruned: false,
      },
    ]);
    expect(
      await listDays(database, [streamId], { from: '2026-03-02', to: '2026-03-02' }),
    ).toHaveLength(1);
  });
});

describe('partitions', () => {
  it('are made for the months of the planned days, over the turn of a year and in leap years', async () => {
    const streamId = await registerEvents(database);
    const days = [
      '0001-01-02',
      '1999-12-31',
      '2024-02-29',
      '2025-12-31',
      '2026-01-01',
      '2026-02-28',
      '9998-12-31',
    ];
    await planWindows(database, streamId, 'backfill', days.map(dayRow));
    for (const _ of days) {
      const { claim, checkpoint } = await beginWalk(database, streamId);
      await storePage(
        database,
        claim,
        TTL_MS,
        checkpoint,
        pageOf(0, records(1, 1)),
        ENVELOPE,
        false,
      );
    }
    const stored = await server.query(
      'select relname as name, day::text from daywalk.pages p join pg_class c on c.oid = p.tableoid order by day',
    );
    expect(stored.map((row) => row.day)).toEqual(days);
    for (const { name, day } of stored)
      expect(name).toBe(`pages_${day.slice(0, 7).replace('-', '_')}`);
  });

  it('and windows are made once when several processes plan the same years', async () => {
    const streamId = await registerEvents(database);
    const days = daysBetween('2030-11-15', '2032-02-10').map(dayRow);
    const planners = Array.from({ length: 6 }, () => openDatabase(server.url, { connections: 2 }));
    const made = await Promise.all(
      planners.map((planner) => planWindows(planner, streamId, 'backfill', days)),
    );
    expect(made.reduce((sum, count) => sum + count, 0)).toBe(days.length);
    expect((await partitions()).filter((name) => /pages_203[0-2]_/.test(name))).toHaveLength(16);
  });

  it('are pruned where the day is named', async () => {
    await planDays(database, ['2027-01-10', '2027-02-10']);
    const plan = await server.query<Record<'QUERY PLAN', string>>(
      `explain select count(*) from daywalk.events where day = '2027-02-10'`,
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('pages_2027_02');
    expect(text).not.toContain('pages_2027_01');
  });
});

describe('dates and times', () => {
  const zone = process.env.TZ;
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  it.each(['Asia/Tokyo', 'America/Los_Angeles', 'Pacific/Kiritimati'])(
    'are text from end to end under TZ=%s (D30)',
    async (timeZone) => {
      process.env.TZ = timeZone;
      expect(new Date(2026, 0, 1).toISOString()).not.toBe('2026-01-01T00:00:00.000Z');
      const streamId = await planDays(database, ['2026-03-05']);
      const claim = await claimWindow(
        database,
        '00000000-0000-4000-8000-000000000000',
        'here',
        TTL_MS,
        {
          ...EVERYTHING,
          streamIds: [streamId],
          range: { from: '2026-03-05', to: '2026-03-05' },
        },
      );
      expect(claim).toMatchObject({
        day: '2026-03-05',
        from: '2026-03-05 00:00:00',
        to: '2026-03-05 23:59:59',
      });
      expect((await listDays(database, [streamId])).map(({ day }) => day)).toEqual(['2026-03-05']);
      expect(Math.abs((await databaseNow(database)) - Date.now())).toBeLessThan(60_000);
    },
  );
});
