/** Planning windows: idempotent, by many at once, with the partitions that their days need; dates are text. */
import { afterEach, describe, expect, it } from 'vitest';
import { LeaseLostError, SettingsError } from '../../src/errors.ts';
import type { Day, WindowState } from '../../src/model.ts';
import { addDays, daysBetween, dayWindow } from '../../src/plan/days.ts';
import type { Database } from '../../src/store/database.ts';
import { rememberContract } from '../../src/store/evidence/contracts.ts';
import { acquireLease } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import {
  askAgain,
  databaseNow,
  listDays,
  listKnownSpans,
  planLooks,
  planWindows,
  takeOver,
} from '../../src/store/windows.ts';
import type { TestDatabase } from '../support/database.ts';
import { DETACH, detachHalf } from '../support/detach.ts';
import { proveTexts, publishNext, windowOf } from '../support/publishing.ts';
import {
  beginWalk,
  CONTRACT,
  DAY,
  EVERYTHING,
  freshStore,
  openDatabase,
  pageOf,
  planDays,
  records,
  registerEvents,
  storing,
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

describe('planning', () => {
  it('makes each window once; one that exists stays as it is', async () => {
    const streamId = await registerEvents(database);
    const windows = daysBetween('2026-02-27', '2026-03-02').map(dayWindow);
    expect(await planWindows(database, streamId, 'scheduled', windows.slice(0, 2))).toBe(2);
    await server.query(
      `update daywalk.windows set state = 'failed', failures = 2, due_at = null where kind = 'day'`,
    );
    expect(await planWindows(database, streamId, 'backfill', windows)).toBe(2);
    expect(await planWindows(database, streamId, 'scheduled', windows)).toBe(0);
    expect(
      await server.query(
        `select day::text, purpose, state, failures from daywalk.windows where kind = 'day' order by day`,
      ),
    ).toEqual([
      { day: '2026-02-27', purpose: 'scheduled', state: 'failed', failures: 2 },
      { day: '2026-02-28', purpose: 'scheduled', state: 'failed', failures: 2 },
      { day: '2026-03-01', purpose: 'backfill', state: 'pending', failures: 0 },
      { day: '2026-03-02', purpose: 'backfill', state: 'pending', failures: 0 },
    ]);
    expect(await planWindows(database, streamId, 'scheduled', [])).toBe(0);
  });

  it('takes over what a backfill planned of its own days, but for what is complete, or older', async () => {
    const streamId = await registerEvents(database);
    const windows = daysBetween('2026-02-27', '2026-03-02').map(dayWindow);
    await planWindows(database, streamId, 'backfill', windows);
    await server.query(
      `update daywalk.windows set state = 'complete', proof = '{}', proven_at = clock_timestamp(), due_at = null where day = '2026-03-01'`,
    );
    await takeOver(database, streamId, '2026-02-28');
    expect(
      await server.query(
        `select day::text, purpose from daywalk.windows where kind = 'day' order by day`,
      ),
    ).toEqual([
      { day: '2026-02-27', purpose: 'backfill' },
      { day: '2026-02-28', purpose: 'scheduled' },
      { day: '2026-03-01', purpose: 'backfill' },
      { day: '2026-03-02', purpose: 'scheduled' },
    ]);
  });

  it('leaves what is due by itself in its turn, where a backfill asks for all', async () => {
    const streamId = await registerEvents(database);
    const days = ['2026-03-01', '2026-03-02'];
    await planWindows(database, streamId, 'scheduled', days.map(dayWindow));
    await server.query(
      `update daywalk.windows set state = 'complete', proof = '{}', proven_at = clock_timestamp(), due_at = null where kind = 'day' and day = '2026-03-01'`,
    );
    await askAgain(database, streamId, ['2026-03-01'], true);
    expect(
      await server.query(`select kind, day::text, purpose from daywalk.windows order by kind, day`),
    ).toEqual([
      { kind: 'cut', day: '2026-03-01', purpose: 'scheduled' },
      { kind: 'cut', day: '2026-03-01', purpose: 'scheduled' },
      { kind: 'cut', day: '2026-03-02', purpose: 'scheduled' },
      { kind: 'day', day: '2026-03-01', purpose: 'backfill' },
      { kind: 'day', day: '2026-03-02', purpose: 'scheduled' },
    ]);
  });

  it('makes again what a failover took away: a day, or the cut at one of its ends', async () => {
    const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
    const streamId = await planDays(database, days);
    const all = await server.query('select kind, day from daywalk.windows order by 1, 2');
    await server.query(
      `delete from daywalk.windows where (kind, day) in (('cut', '2026-03-01'), ('day', '2026-03-02'))`,
    );
    expect(await planWindows(database, streamId, 'backfill', days.map(dayWindow))).toBe(1);
    expect(await server.query('select kind, day from daywalk.windows order by 1, 2')).toEqual(all);
  });

  it('makes due what was never proven, and was planned while the clock of the database was days ahead', async () => {
    const streamId = await planDays(database, [DAY]);
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp() + interval '3 days' where kind = 'day'`,
    );
    await planLooks(database, [streamId], 3);
    expect(
      await server.query(
        `select state, rewalk from daywalk.windows where due_at <= clock_timestamp()`,
      ),
    ).toEqual([{ state: 'pending', rewalk: false }]);
  });

  it.each([-1, 1])(
    'has no day proven before it is over, though the clock of the database was ahead when it was claimed (I8): %i days ahead',
    async (ahead) => {
      const day = addDays(new Date().toISOString().slice(0, 10), ahead);
      const streamId = await planDays(database, [day]);
      const proving = proveTexts(database, await windowOf(database, streamId, day), [['{}']]);
      const lost = await proving.catch((error: unknown) => error);
      if (ahead > 0) expect(lost).toBeInstanceOf(LeaseLostError);
      if (ahead > 0) expect(String(lost)).toContain('its day is not over by the clock');
      const state = ahead > 0 ? 'pending' : 'complete';
      expect(
        await server.query(
          `select state, lease_id, due_at > day as later from daywalk.windows where kind = 'day'`,
        ),
      ).toEqual([{ state, lease_id: null, later: true }]);
    },
  );

  it('makes the partition again that a day waits for, and that somebody dropped as it was empty', async () => {
    const streamId = await planDays(database);
    await server.query('drop table daywalk.pages_2026_03');
    await publishNext(database, streamId, [[1]]);
    expect(await server.query('select from daywalk.events')).toHaveLength(1);
  });

  const expectNamed = async (detach: () => Promise<unknown>) => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1]]);
    await detach();
    const plan = () => planWindows(database, streamId, 'backfill', [dayWindow(DAY)]);
    const error = await plan().catch((why) => why);
    expect(error).toBeInstanceOf(SettingsError);
    const attach = /alter table .* to \([^)]*\)/.exec(error.message)?.[0];
    await server.query(attach ?? '');
    expect(await plan()).toBe(0);
    expect(await server.query('select from daywalk.events')).toHaveLength(1);
  };
  it('says which partition somebody detached, and how it is attached again', () =>
    expectNamed(() => server.query(DETACH)));
  it('says which one somebody began to detach, and how it is attached again', () =>
    expectNamed(() => detachHalf(server, database)));

  it('does not bring a window back that was split', async () => {
    const streamId = await planDays(database, ['2026-03-01']);
    await server.query(
      `update daywalk.windows set state = 'split', split_by = 'time', due_at = null where kind = 'day'`,
    );
    expect(await planWindows(database, streamId, 'scheduled', [dayWindow('2026-03-01')])).toBe(0);
    expect(await server.query(`select state from daywalk.windows where kind = 'day'`)).toEqual([
      { state: 'split' },
    ]);
  });

  it('makes one window for each whole day', async () => {
    const streamId = await planDays(database);
    const shorter = { ...dayWindow(DAY), to: `${DAY} 12:00:00` };
    expect(await planWindows(database, streamId, 'scheduled', [shorter])).toBe(0);
    expect(await server.query('select from daywalk.windows')).toHaveLength(3);
  });
});

describe('what is known', () => {
  it('is told as spans without a hole, of the streams asked for', async () => {
    const whole = await planDays(database, daysBetween('2026-02-27', '2026-03-02'));
    const days = ['2026-01-01', '2026-01-02', '2026-01-04', '2026-02-28', '2026-03-01'];
    const holed = await planDays(database, days, { name: 'holed' });
    const one = await planDays(database, ['2024-02-29'], { name: 'one' });
    await planDays(database, ['2026-01-01'], { name: 'another' });
    const none = await registerEvents(database, { name: 'none' });
    const spans = await listKnownSpans(database, [whole, holed, one, none]);
    const order = (a: string, b: string) => (a < b ? -1 : 1);
    expect(spans.map(({ streamId, from, to }) => `${streamId} ${from} ${to}`).sort(order)).toEqual(
      [
        `${whole} 2026-02-27 2026-03-02`,
        `${holed} 2026-01-01 2026-01-02`,
        `${holed} 2026-01-04 2026-01-04`,
        `${holed} 2026-02-28 2026-03-01`,
        `${one} 2024-02-29 2024-02-29`,
      ].sort(order),
    );
  });

  it('holds days in whatever state, split ones too, and no cut for a day', async () => {
    const streamId = await planDays(database, [DAY]);
    for (const state of ['pending', 'failed', 'complete', 'split']) {
      await server.query(
        `update daywalk.windows set state = $1, split_by = 'time', due_at = null, proof = '{}', proven_at = now() where kind = 'day'`,
        [state],
      );
      expect(await listKnownSpans(database, [streamId])).toEqual([
        { streamId, from: DAY, to: DAY },
      ]);
    }
    await server.query(`delete from daywalk.windows where kind = 'day'`);
    expect(await listKnownSpans(database, [streamId])).toEqual([]);
  });

  it('are for a backfill the days of its range, each as the worst of its windows', async () => {
    const days = daysBetween('2026-03-01', '2026-03-05');
    const streamId = await planDays(database, days);
    const other = await planDays(database, ['2026-03-02'], { name: 'other' });
    const states: readonly [Day, 'day' | 'cut', WindowState][] = [
      ['2026-03-01', 'cut', 'complete'],
      ['2026-03-02', 'day', 'complete'],
      ['2026-03-03', 'day', 'complete'],
      ['2026-03-02', 'cut', 'complete'],
      ['2026-03-03', 'cut', 'failed'],
      ['2026-03-04', 'day', 'complete'],
      ['2026-03-04', 'cut', 'complete'],
      ['2026-03-05', 'day', 'complete'],
      ['2026-03-05', 'cut', 'complete'],
    ];
    for (const [day, kind, state] of states)
      await server.query(
        `update daywalk.windows set state = $3, proof = '{}', proven_at = now() where stream_id = $4 and day = $1 and kind = $2`,
        [day, kind, state, streamId],
      );
    const range = { from: '2026-03-02', to: '2026-03-05' };
    const known = await listDays(database, [streamId, other], range);
    expect([...known].sort((a, b) => a.streamId - b.streamId || (a.day < b.day ? -1 : 1))).toEqual([
      { streamId, day: '2026-03-02', state: 'complete', pruned: false, tiered: false },
      { streamId, day: '2026-03-03', state: 'failed', pruned: false, tiered: false },
      { streamId, day: '2026-03-04', state: 'failed', pruned: false, tiered: false },
      { streamId, day: '2026-03-05', state: 'complete', pruned: false, tiered: false },
      { streamId: other, day: '2026-03-02', state: 'pending', pruned: false, tiered: false },
    ]);
  });
});

describe('partitions', () => {
  it('are made for the months of the planned days, over the turn of a year and in leap years', async () => {
    const streamId = await registerEvents(database);
    const days = [
      '1970-01-02',
      '1999-12-31',
      '2024-02-29',
      '2025-12-31',
      '2026-01-01',
      '2026-02-28',
    ];
    await planWindows(database, streamId, 'backfill', days.map(dayWindow));
    for (const _ of days) {
      const { window, checkpoint } = await beginWalk(database, streamId);
      await storePage(storing(database, window), checkpoint, pageOf(0, records(1, 1)), CONTRACT);
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
    const days = daysBetween('2020-11-15', '2022-02-10').map(dayWindow);
    const planners = Array.from({ length: 6 }, () => openDatabase(server.url, { connections: 2 }));
    const made = await Promise.all(
      planners.map((planner) => planWindows(planner, streamId, 'backfill', days)),
    );
    expect(made.reduce((sum, count) => sum + count, 0)).toBe(days.length);
    expect((await partitions()).filter((name) => /pages_202[0-2]_/.test(name))).toHaveLength(16);
  });

  it('are made while somebody reads the records for hours, or makes a dump of them', async () => {
    const streamId = await registerEvents(database);
    const reader = await server.pool.connect();
    try {
      await reader.query('begin; select from daywalk.events');
      const hasty = openDatabase(server.url, { statementTimeoutMs: 2_000, patienceMs: 0 });
      expect(await planWindows(hasty, streamId, 'backfill', [dayWindow('2018-01-10')])).toBe(1);
    } finally {
      await reader.query('rollback');
      reader.release();
    }
  });

  it('are pruned where the day is named', async () => {
    await planDays(database, ['2017-01-10', '2017-02-10']);
    const plan = await server.query<Record<'QUERY PLAN', string>>(
      `explain select count(*) from daywalk.events where day = '2017-02-10'`,
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('pages_2017_02');
    expect(text).not.toContain('pages_2017_01');
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
      const window = await acquireLease(
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
      expect(window).toMatchObject({
        day: '2026-03-05',
        from: '2026-03-05 00:00:00',
        to: '2026-03-05 23:59:59',
      });
      expect(await listKnownSpans(database, [streamId])).toEqual([
        { streamId, from: '2026-03-05', to: '2026-03-05' },
      ]);
      expect(Math.abs((await databaseNow(database)) - Date.now())).toBeLessThan(60_000);
    },
  );
});

it('with the first record of a stream the empty days of ten years, and the cuts beside them, are due within what a statement may take', async () => {
  const days = daysBetween('2016-01-01', '2025-12-31');
  const streamId = await registerEvents(database, {}, days[0]);
  await planWindows(database, streamId, 'scheduled', days.map(dayWindow));
  await server.query(
    `update daywalk.windows set state = 'complete', due_at = null, proven_at = clock_timestamp(), proof = '{"kind": "empty", "records": 0}'`,
  );
  await rememberContract(database, streamId, 'hints', CONTRACT);
  expect(
    await server.query(
      `select kind, count(*)::int, count(due_at)::int as due from daywalk.windows group by kind order by kind`,
    ),
  ).toEqual([
    { kind: 'cut', count: days.length + 1, due: days.length + 1 },
    { kind: 'day', count: days.length, due: days.length },
  ]);
});
