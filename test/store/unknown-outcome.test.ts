/** Statements whose answer is lost between Postgres and us: settled by the rows, never by a guess. */
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { LeaseLostError, UnavailableError } from '../../src/errors.ts';
import { OutcomeUnknownError } from '../../src/store/connection/sqlstate.ts';
import type { Database } from '../../src/store/database.ts';
import { acquireLease, failWindow, releaseLease } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { closeSplit, splitWindow } from '../../src/store/splits.ts';
import { openWalk, proveCut, proveWindow, readOpenWalk } from '../../src/store/walks.ts';
import { audit } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HandDeadlines, handDeadlines } from '../support/hand-deadlines.ts';
import { andAtNight } from '../support/night.ts';
import {
  type Ambush,
  type Fault,
  type PostgresProxy,
  startPostgresProxy,
} from '../support/postgres-proxy.ts';
import {
  endedWalk,
  leaseWindow,
  publishNext,
  totalProof,
  windowOf,
} from '../support/publishing.ts';
import {
  type Begun,
  beginWalk,
  CONTRACT,
  clear,
  DAY,
  EVERYTHING,
  expireLeases,
  leaseDay,
  type Opening,
  openDatabase,
  pageOf,
  planBareDays,
  planDays,
  records,
  storing,
  TTL_MS,
} from '../support/store.ts';

const PAGE = /daywalk\.store_page/;
const PROVE = /daywalk\.prove_window/;
const page = pageOf(0, records(1, 3), 3);
const proof = totalProof(3);

let server: TestDatabase;
let proxy: PostgresProxy;
let deadlines: HandDeadlines;

beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(async () => {
  await clear(server);
  proxy = await startPostgresProxy(server.url);
  onTestFinished(() => proxy.close());
  deadlines = handDeadlines();
});

/** Connections through the proxy, on which statements are given up when the test says so. */
const openHere = (opening: Opening = {}): Database =>
  openDatabase(proxy.url, { clock: deadlines.clock, ...opening });

/** Resolves when the statement has met its fault. One that nobody will ever answer is given up then. */
async function lost({ met, executed }: Ambush, fault: Fault): Promise<void> {
  await (fault === 'mute' ? executed : met);
  if (fault !== 'drop-before' && fault !== 'drop-after') deadlines.pass();
}

/** A walk begun through the proxy. */
async function begin(
  opening: Opening = {},
): Promise<{ database: Database; begun: Begun; streamId: number }> {
  const database = openHere(opening);
  const streamId = await planBareDays(database);
  return { database, streamId, begun: await beginWalk(database, streamId) };
}

const storeIn = (database: Database, { window, checkpoint }: Begun, body = page) =>
  storePage(storing(database, window), checkpoint, body, CONTRACT);

async function expectOnePage(): Promise<void> {
  expect(
    await server.query(
      'select page_no, start, records, encode(sha256, $1) as sha256 from daywalk.pages',
      ['hex'],
    ),
  ).toEqual([{ page_no: 0, start: '0', records: 3, sha256: page.sha256.toString('hex') }]);
  expect(await server.query('select next_start, pages, requests from daywalk.walks')).toEqual([
    { next_start: '3', pages: 1, requests: 1 },
  ]);
  expect(await audit(server)).toEqual([]);
}

describe('a page', () => {
  it.each(
    andAtNight<[Fault, string]>(
      [
        ['drop-after', 'the connection is cut before its answer (D04)'],
        ['mute', 'its answer vanishes on a silent connection (D17, D18)'],
      ],
      [
        ['drop-before', 'the connection is cut before Postgres has it (D03)'],
        ['swallow', 'it vanishes on a silent connection (D17)'],
      ],
    ),
  )('is stored once when %s: %s (I1)', async (fault) => {
    const { database, begun } = await begin();
    const ambush = proxy.ambush(fault, PAGE);
    const storing = storeIn(database, begun);
    await lost(ambush, fault);
    expect(await storing).toMatchObject({ stored: true, records: 3, total: 3 });
    expect(proxy.count(PAGE)).toBeGreaterThan(1);
    await expectOnePage();
  });

  it('is stored once when its first copy arrives after the repeated one (D05)', async () => {
    const { database, begun } = await begin();
    const ambush = proxy.ambush('hold', PAGE);
    const storing = storeIn(database, begun);
    await lost(ambush, 'hold');
    expect(await storing).toMatchObject({ stored: true });
    ambush.release();
    await ambush.executed;
    await expectOnePage();
  });

  it('is stored once when its first copy arrives after the next page (D05)', async () => {
    const { database, begun } = await begin();
    const ambush = proxy.ambush('hold', PAGE);
    const storing = storeIn(database, begun);
    await lost(ambush, 'hold');
    await storing;
    const next = { ...begun, checkpoint: { ...begun.checkpoint, nextStart: 3, pages: 1 } };
    await storeIn(database, next, pageOf(3, records(4, 1), 4));
    ambush.release();
    await ambush.executed;
    expect(await server.query('select start, records from daywalk.pages order by page_no')).toEqual(
      [
        { start: '0', records: 3 },
        { start: '3', records: 1 },
      ],
    );
    expect(await audit(server)).toEqual([]);
  });

  it('is settled through several losses in a row', async () => {
    const { database, begun } = await begin();
    for (const fault of ['drop-before', 'drop-after'] as const) proxy.ambush(fault, PAGE);
    proxy.ambush('drop-before', /select\s+from daywalk\.windows w\s+join daywalk\.pages/);
    expect(await storeIn(database, begun)).toMatchObject({ stored: true });
    await expectOnePage();
  });

  it('whose answer is lost stands down when the window was taken meanwhile (I2)', async () => {
    const { database, begun, streamId } = await begin();
    const ambush = proxy.ambush('swallow', PAGE);
    const storing = storeIn(database, begun).catch((error: unknown) => error);
    await ambush.met;
    await expireLeases(server);
    const thief = openDatabase(server.url);
    const stolen = await leaseDay(thief, streamId, 'thief');
    expect(stolen.windowId).toBe(begun.window.windowId);
    deadlines.pass();
    expect(await storing).toBeInstanceOf(LeaseLostError);
    expect(await server.query('select from daywalk.pages')).toHaveLength(0);
  });

  it('that was stored before the window was taken is not claimed by the loser (I2)', async () => {
    const { database, begun, streamId } = await begin();
    const ambush = proxy.ambush('mute', PAGE);
    const storing = storeIn(database, begun).catch((error: unknown) => error);
    await ambush.executed;
    await expireLeases(server);
    const thief = openDatabase(server.url);
    expect((await beginWalk(thief, streamId, 'thief')).checkpoint).toMatchObject({
      nextStart: 3,
      pages: 1,
    });
    deadlines.pass();
    expect(await storing).toBeInstanceOf(LeaseLostError);
    await expectOnePage();
  });
});

describe('proving', () => {
  it.each(andAtNight<Fault>(['drop-after', 'hold'], ['drop-before', 'swallow', 'mute']))(
    'a window happens once through %s (R15, I6)',
    async (fault) => {
      const { database, begun } = await begin();
      await storeIn(database, begun);
      const ambush = proxy.ambush(fault, PROVE);
      const { walkId } = begun.checkpoint;
      const end = { walkId, nextStart: 3, pages: 1 };
      const proving = proveWindow(database, begun.window, end, proof);
      await lost(ambush, fault);
      await proving;
      ambush.release();
      if (fault === 'hold') await ambush.executed;
      expect(
        await server.query('select state, lease_id, current_walk from daywalk.windows'),
      ).toEqual([{ state: 'complete', lease_id: null, current_walk: null }]);
      expect(
        await server.query('select walk_id::int, outcome, shown, requests from daywalk.walks'),
      ).toEqual([{ walk_id: walkId, outcome: 'proven', shown: 'whole', requests: 1 }]);
      expect(await server.query('select from daywalk.publications')).toHaveLength(1);
      expect(await audit(server)).toEqual([]);
    },
  );

  it.each(andAtNight<Fault>(['drop-after', 'hold'], ['drop-before', 'mute']))(
    'a cut happens once through %s (I6)',
    async (fault) => {
      const database = openHere();
      const streamId = await planDays(database);
      await publishNext(database, streamId, [[1]]);
      await server.query(`update daywalk.windows set state = 'pending' where kind = 'cut'`);
      const cut = await leaseWindow(database, await windowOf(database, streamId, DAY, 'cut'));
      const across = await endedWalk(database, cut, [records(2, 1)], { role: 'across' });
      const before = await endedWalk(database, cut, [[]], { role: 'before' });
      const after = await endedWalk(database, cut, [[]], { role: 'after' });
      const found = { across, before, after, records: 1, removed: 0 };
      const ambush = proxy.ambush(fault, /daywalk\.prove_cut/);
      const proving = proveCut(database, cut, { kind: 'cut', rule: 'C8', why: '', ...found });
      await lost(ambush, fault);
      await proving;
      ambush.release();
      if (fault === 'hold') await ambush.executed;
      expect(
        await server.query(
          'select revision, records, appeared from daywalk.publications order by seq',
        ),
      ).toEqual([
        { revision: 1, records: '1', appeared: '0' },
        { revision: 2, records: '2', appeared: '0' },
      ]);
      expect(await audit(server)).toEqual([]);
    },
  );

  it.each(andAtNight<Fault>(['drop-after', 'hold'], ['drop-before', 'mute']))(
    'a split happens once through %s, and so does its closing (I6)',
    async (fault) => {
      const database = openHere();
      const streamId = await planBareDays(database);
      const window = await leaseDay(database, streamId);
      const half = (from: string, to: string) => ({
        ...window,
        from: `${DAY} ${from}`,
        to: `${DAY} ${to}`,
      });
      const parts = [half('00:00:00', '11:59:59'), half('12:00:00', '23:59:59')];
      const through = async (pattern: RegExp, send: () => Promise<void>) => {
        const ambush = proxy.ambush(fault, pattern);
        const sent = send();
        await lost(ambush, fault);
        await sent;
        ambush.release();
        if (fault === 'hold') await ambush.executed;
      };
      const why = { by: 'time', reason: 'too much', total: 2 } as const;
      await through(/daywalk\.split_window/, () =>
        splitWindow(database, window, { ...why, parts, cuts: [] }),
      );
      expect(
        await server.query('select kind, state, lease_id from daywalk.windows order by window_id'),
      ).toEqual([
        { kind: 'day', state: 'split', lease_id: null },
        { kind: 'part', state: 'pending', lease_id: null },
        { kind: 'part', state: 'pending', lease_id: null },
      ]);
      await publishNext(database, streamId, [[1]]);
      await publishNext(database, streamId, [[2]]);
      const closing = await leaseWindow(database, window.windowId);
      await through(/daywalk\.close_split/, () =>
        closeSplit(database, closing, { kind: 'parts', rule: 'C9', records: 2, why: '' }),
      );
      expect(await server.query('select state from daywalk.windows')).toEqual(
        [1, 2, 3].map(() => ({ state: 'complete' })),
      );
      expect(await server.query('select from daywalk.publications')).toHaveLength(1);
      expect(await audit(server)).toEqual([]);
    },
  );
});

describe('other statements', () => {
  it.each(andAtNight<Fault>(['drop-after'], ['drop-before', 'mute']))(
    'a lease through %s holds one window',
    async (fault) => {
      const database = openHere();
      const streamId = await planBareDays(database, ['2026-03-05', '2026-03-06']);
      const ambush = proxy.ambush(fault, /for update skip locked/);
      const lease = randomUUID();
      const leasing = acquireLease(database, lease, 'here', TTL_MS, {
        ...EVERYTHING,
        streamIds: [streamId],
      });
      await lost(ambush, fault);
      expect(await leasing).toMatchObject({ day: '2026-03-05', attempts: 1, leaseId: lease });
      expect(
        await server.query(
          'select day::text, lease_number from daywalk.windows where lease_id is not null',
        ),
      ).toEqual([{ day: '2026-03-05', lease_number: 1 }]);
    },
  );

  it.each(andAtNight<Fault>(['drop-after'], ['drop-before', 'mute']))(
    'opening a walk through %s opens one',
    async (fault) => {
      const database = openHere();
      const window = await leaseDay(database, await planBareDays(database));
      const ambush = proxy.ambush(fault, /insert into daywalk\.walks/);
      const plan = { ...window, role: 'whole', pageLength: 100, ignored: [] } as const;
      const opening = openWalk(database, window, plan);
      await lost(ambush, fault);
      const opened = await opening;
      const open = await readOpenWalk(database, window);
      expect(open).toMatchObject({ number: 1, pageLength: 100 });
      // Who did not hear of it the first time reads it.
      expect(opened).toEqual(fault === 'drop-before' ? open : null);
      expect(await server.query('select from daywalk.walks')).toHaveLength(1);
    },
  );

  it.each(andAtNight<Fault>(['drop-after'], ['drop-before', 'mute']))(
    'a failure through %s counts once',
    async (fault) => {
      const { database, begun } = await begin();
      const ambush = proxy.ambush(fault, /failures = failures \+ 1/);
      const failing = failWindow(database, begun.window, 'no proof', 1000);
      await lost(ambush, fault);
      await failing;
      expect(
        await server.query('select state, failures, last_error, lease_id from daywalk.windows'),
      ).toEqual([{ state: 'failed', failures: 1, last_error: 'no proof', lease_id: null }]);
    },
  );

  it('releasing is tried once: a lost answer is told', async () => {
    const { database, begun } = await begin();
    proxy.ambush('drop-before', /greatest\(0, attempts - 1\)/);
    await expect(releaseLease(database, begun.window)).rejects.toThrow(OutcomeUnknownError);
  });
});

describe('a database that stays away', () => {
  it('is given up after the patience, as unavailable', async () => {
    const { database, begun } = await begin({ patienceMs: 400 });
    await proxy.close();
    const error = await storeIn(database, begun).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({
      part: 'database',
      hint: expect.stringContaining('DATABASE_URL'),
    });
  });

  it('is not waited for once we are told to stop', async () => {
    const { database } = await begin();
    await proxy.close();
    const stop = new AbortController();
    const asked = database.persist('select 1', [], stop.signal);
    stop.abort(new Error('stopped'));
    await expect(asked).rejects.toThrow('stopped');
  });

  it('is asked once, and not waited for, where whoever opened the database is told to stop', async () => {
    const stop = new AbortController();
    const { database } = await begin({ signal: stop.signal });
    stop.abort(new Error('stopped'));
    expect(await database.persist('select 1 as one')).toEqual([{ one: 1 }]);
    await proxy.close();
    await expect(database.persist('select 1')).rejects.toThrow('stopped');
  });

  it('does not get a connection back whose statement was given up (D18)', async () => {
    const { database } = await begin({ connections: 1 });
    const ambush = proxy.ambush('swallow', /given_up/);
    const asked = expect(database.query('select 1 as given_up')).rejects.toThrow(
      OutcomeUnknownError,
    );
    await lost(ambush, 'swallow');
    await asked;
    expect(await database.query<{ one: number }>('select 1::bigint as one')).toEqual([{ one: 1 }]);
  });
});
