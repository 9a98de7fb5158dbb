/** The views that people read: what was proven only, and for every day either what is there or what is missing (I6). */
import { beforeEach, describe, expect, it } from 'vitest';
import { readGaps, readRunning } from '../../src/days/coverage-rows.ts';
import { addDays, daysBetween, dayWindow } from '../../src/plan/days.ts';
import type { Database } from '../../src/store/database.ts';
import { failWindow, releaseLease } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { closeSplit, splitWindow } from '../../src/store/splits.ts';
import { registerStreams } from '../../src/store/streams.ts';
import { endWalk, proveWindow } from '../../src/store/walks.ts';
import { planWindows } from '../../src/store/windows.ts';
import type { TestDatabase } from '../support/database.ts';
import { EVENTS } from '../support/exporter.ts';
import { leaseWindow, publishNext, totalProof, windowOf } from '../support/publishing.ts';
import {
  type Begun,
  beginWalk,
  CONTRACT,
  freshStore,
  leaseDay,
  pageOf,
  planDays,
  records,
  registerEvents,
  storing,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;
let yesterday: string;

freshStore((store) => {
  ({ server, database } = store);
});
beforeEach(async () => {
  yesterday = addDays(new Date().toISOString().slice(0, 10), -1);
});

const upTo = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => first + index);

/** Exports the next due day of a stream with these records, and the cuts at its ends. */
const exportNext = (streamId: number, first: number, count: number) =>
  publishNext(database, streamId, [upTo(first, count)]);

const storeRecords = ({ window, checkpoint }: Begun, first: number, count: number) =>
  storePage(storing(database, window), checkpoint, pageOf(0, records(first, count)), CONTRACT);

const ids = async (view = 'events') =>
  (
    await server.query<{ id: number }>(
      `select (record ->> 'id')::int as id from daywalk.${view} order by day, position`,
    )
  ).map((row) => row.id);

describe('the events', () => {
  it('are those of proven walks: none of a walk in progress, shifted or failed (I6)', async () => {
    const streamId = await planDays(database, ['2026-03-01', '2026-03-02', '2026-03-03']);
    await exportNext(streamId, 1, 2);
    const shifted = await beginWalk(database, streamId);
    await storeRecords(shifted, 10, 2);
    await endWalk(database, shifted.window, shifted.checkpoint.walkId, {
      outcome: 'shifted',
      reason: 'moved',
      end: null,
      claims: [],
      requests: 0,
    });
    await storeRecords(await beginWalk(database, streamId), 20, 2);
    expect(await ids()).toEqual([1, 2]);
  });

  it('are read page by page: none is kept for another time', async () => {
    const streamId = await planDays(database, [yesterday]);
    await exportNext(streamId, 1, 3);
    await server.query(
      `insert into daywalk.pages (walk_id, page_no, day, start, length, skip, records, total, relation, body, bytes, changes,
                                  record_hashes, sha256, byte_count, fetched_at, duration_ms)
       select walk_id, n, day, start, length, skip, records, total, relation, body, bytes, changes,
              record_hashes, sha256, byte_count, fetched_at, duration_ms
         from daywalk.pages cross join generate_series(1, 500) as n`,
    );
    await server.query('analyze');
    const plan = await server.query(
      `explain select count(*) from daywalk.events where day = '${yesterday}'`,
    );
    expect(JSON.stringify(plan)).toContain('Function Scan');
    expect(JSON.stringify(plan)).not.toMatch(/Cache Key: [^"]*body/);
  });

  it('carry stream, day, place and page, one row for each record, in the view of their resource', async () => {
    const streamId = await planDays(database, ['2026-03-01']);
    const smart = await registerEvents(database, { name: 'smart', resource: 'smart-event' });
    await planWindows(database, smart, 'scheduled', [dayWindow('2026-03-01')]);
    await exportNext(streamId, 1, 2);
    await exportNext(smart, 5, 3);
    const rows = await server.query(
      'select stream, day::text, record, walk_id::int, page_no, position::int, fetched_at, first_seen = fetched_at as new, gone_since, revision from daywalk.events order by position',
    );
    expect(rows).toEqual([
      {
        stream: 'events',
        day: '2026-03-01',
        record: { id: 1 },
        walk_id: 1,
        page_no: 0,
        position: 0,
        fetched_at: expect.any(Date),
        new: true,
        gone_since: null,
        revision: 1,
      },
      {
        stream: 'events',
        day: '2026-03-01',
        record: { id: 2 },
        walk_id: 1,
        page_no: 0,
        position: 1,
        fetched_at: expect.any(Date),
        new: true,
        gone_since: null,
        revision: 1,
      },
    ]);
    expect(await ids('smart_events')).toEqual([5, 6, 7]);
    expect((await ids('events_now')).sort()).toEqual([1, 2, 5, 6, 7]);
  });

  it('are found by the records path of their walk, wherever the list is', async () => {
    for (const [index, [path, body]] of (
      [
        [[], '[{"id": 1}]'],
        [['hits', 'hits'], '{"hits":{"hits":[{"id": 2}]}}'],
        [['a.b', 'c'], '{"a.b":{"c":[{"id": 3}]}}'],
        [['0'], '{"0":[{"id": 4}]}'],
      ] as const
    ).entries()) {
      const streamId = await planDays(database, ['2026-03-01'], { name: `s${index}` });
      const begun = await beginWalk(database, streamId);
      const page = { ...pageOf(0, []), body: Buffer.from(body) };
      const contract = { recordsPath: path, totalPath: null, relationPath: null };
      expect(
        await storePage(storing(database, begun.window), begun.checkpoint, page, contract),
      ).toMatchObject({ records: 1 });
      const walk = { walkId: begun.checkpoint.walkId, nextStart: 1, pages: 1 };
      await proveWindow(database, begun.window, walk, totalProof(1));
    }
    expect([...(await ids())].sort()).toEqual([1, 2, 3, 4]);
  });
});

describe('the coverage', () => {
  const coverage = async () =>
    (
      await server.query(
        'select day::text, state, records::int from daywalk.coverage where stream = $1 order by day',
        ['events'],
      )
    ).map(({ day, state, records: count }) => [day, state, count]);

  it('has a row for every closed day since the first one, planned or not', async () => {
    const since = addDays(yesterday, -2);
    await registerEvents(database, {}, since);
    expect(await coverage()).toEqual([
      [since, 'missing', 0],
      [addDays(since, 1), 'missing', 0],
      [yesterday, 'missing', 0],
    ]);
    const gaps = await readGaps(database, ['events']);
    expect(gaps.map(({ day, state }) => [day, state])).toEqual([
      [since, 'missing'],
      [addDays(since, 1), 'missing'],
      [yesterday, 'missing'],
    ]);
    expect(await readGaps(database, ['events'], { from: yesterday, to: yesterday })).toHaveLength(
      1,
    );
    expect(await readGaps(database, ['other'])).toEqual([]);
  });

  it('tells each state of a day', async () => {
    const since = addDays(yesterday, -4);
    const streamId = await registerEvents(database, {}, since);
    const days = [0, 1, 2, 3].map((index) => addDays(since, index));
    await planWindows(database, streamId, 'scheduled', days.map(dayWindow));
    await exportNext(streamId, 1, 3);
    const failed = await beginWalk(database, streamId);
    await failWindow(database, failed.window, 'no proof', 60_000);
    const running = await beginWalk(database, streamId);
    await storeRecords(running, 1, 2);
    expect(await coverage()).toEqual([
      [days[0], 'complete', 3],
      [days[1], 'failed', 0],
      [days[2], 'running', 0],
      [days[3], 'pending', 0],
      [yesterday, 'missing', 0],
    ]);
    expect(
      (await readGaps(database, ['events'])).map(({ state, lastError }) => [state, lastError]),
    ).toEqual([
      ['failed', 'no proof'],
      ['running', null],
      ['pending', null],
      ['missing', null],
    ]);
    expect(await readRunning(database)).toMatchObject([
      { stream: 'events', from: `${days[2]} 00:00:00`, owner: 'here', records: 2 },
    ]);
    await releaseLease(database, running.window);
    expect((await coverage())[2]).toEqual([days[2], 'pending', 0]);
  });

  it('has backfilled days before the first one, too, and no day that is not closed', async () => {
    const streamId = await registerEvents(database, {}, yesterday);
    await planWindows(database, streamId, 'backfill', [dayWindow('2020-02-29')]);
    expect(await coverage()).toEqual([
      ['2020-02-29', 'pending', 0],
      [yesterday, 'missing', 0],
    ]);
  });

  it('has no gap at a day that was planned or proven by another calendar, and is not closed by that of now', async () => {
    const days = [addDays(yesterday, -1), yesterday];
    const streamId = await registerEvents(database, {}, days[0]);
    await planWindows(database, streamId, 'scheduled', days.map(dayWindow));
    await exportNext(streamId, 1, 3);
    await server.query(`update daywalk.windows set proven_at = day where state = 'complete'`);
    const gapsBy = async (timeZone: string, settleMs: number) => {
      const calendar = { since: null, firstSince: yesterday, timeZone, settleMs };
      await registerStreams(database, [EVENTS], calendar);
      return (await readGaps(database, ['events'])).map(({ day }) => day);
    };
    expect(await gapsBy('Etc/GMT+12', 3 * 86_400_000)).toEqual([]);
    expect(await coverage()).toEqual([
      [days[0], 'pending', 3],
      [days[1], 'pending', 0],
    ]);
    expect(await gapsBy('UTC', 0)).toEqual(days);
  });

  it('shows days as missing wherever they lie, whatever else there is', async () => {
    const since = addDays(yesterday, -5);
    const streamId = await registerEvents(database, {}, since);
    const missing = async () =>
      (await coverage()).flatMap(([day, state]) => (state === 'missing' ? [day] : []));
    const days = daysBetween(since, yesterday);
    expect(await missing()).toEqual(days);
    // As many windows of whole days as are wanted, of which two are not among those.
    const there = days.filter((_, index) => index !== 0 && index !== 3);
    const elsewhere = [addDays(since, -1), addDays(yesterday, 1)];
    await planWindows(database, streamId, 'backfill', [...there, ...elsewhere].map(dayWindow));
    expect(await missing()).toEqual([days[0], days[3]]);
    expect((await readGaps(database, ['events'])).filter((gap) => gap.state === 'missing')).toEqual(
      [days[0], days[3]].map((day) => ({
        stream: 'events',
        day,
        state: 'missing',
        dueAt: null,
        lastError: null,
      })),
    );
    await planWindows(database, streamId, 'scheduled', days.map(dayWindow));
    expect(await missing()).toEqual([]);
  });

  it('tells the newest error of a day, also of the cut before it', async () => {
    const streamId = await registerEvents(database, {}, yesterday);
    await planWindows(database, streamId, 'scheduled', [dayWindow(yesterday)]);
    const errors = async () =>
      (
        await server.query<{ error: string }>('select last_error as error from daywalk.coverage')
      ).map(({ error }) => error);
    const before = addDays(yesterday, -1);
    for (const [day, kind] of [
      [yesterday, 'day'],
      [yesterday, 'cut'],
      [before, 'cut'],
    ] as const) {
      const window = await leaseWindow(database, await windowOf(database, streamId, day, kind));
      await failWindow(database, window, `of ${kind} ${day}`, 60_000);
      expect(await errors()).toEqual([`of ${kind} ${day}`]);
    }
    expect((await coverage())[0]).toEqual([yesterday, 'failed', 0]);
  });

  it('a day with several windows is complete only when it is closed', async () => {
    const streamId = await registerEvents(database, {}, yesterday);
    await planWindows(database, streamId, 'scheduled', [dayWindow(yesterday)]);
    const half = (from: string, to: string) => ({
      from: `${yesterday} ${from}`,
      to: `${yesterday} ${to}`,
      levelFrom: null,
      levelTo: null,
    });
    const day = await leaseDay(database, streamId);
    await splitWindow(database, day, {
      by: 'time',
      reason: 'too much',
      total: null,
      parts: [half('00:00:00', '11:59:59'), half('12:00:00', '23:59:59')],
      cuts: [],
    });
    await exportNext(streamId, 1, 3);
    await exportNext(streamId, 4, 2);
    expect(await coverage()).toEqual([[yesterday, 'pending', 0]]);
    expect(
      await server.query('select windows, complete_windows, completed_at from daywalk.coverage'),
    ).toEqual([{ windows: 5, complete_windows: 4, completed_at: null }]);
    const closing = await leaseWindow(database, day.windowId);
    await closeSplit(database, closing, { ...totalProof(5), kind: 'parts' });
    expect(await coverage()).toEqual([[yesterday, 'complete', 5]]);
    expect(await readGaps(database, ['events'])).toEqual([]);
  });

  it('a complete day that is walked again stays complete while that runs; when it fails, what it shows stays (I6)', async () => {
    const streamId = await planDays(database, [yesterday]);
    await server.query('update daywalk.streams set since = $1', [yesterday]);
    await exportNext(streamId, 1, 3);
    await server.query(`update daywalk.windows set due_at = clock_timestamp() where kind = 'day'`);
    const again = await beginWalk(database, streamId);
    await storeRecords(again, 1, 5);
    expect(await coverage()).toEqual([[yesterday, 'complete', 3]]);
    await failWindow(database, again.window, 'away', 1000);
    expect(await coverage()).toEqual([[yesterday, 'failed', 3]]);
    expect(await ids()).toEqual([1, 2, 3]);
  });
});
