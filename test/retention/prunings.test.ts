/** Marking a day as pruned: looked at again at that moment, under the locks of those who show (I2, I7). */
import { describe, expect, it } from 'vitest';
import { readKnownDays, readTotals } from '../../src/days/rows.ts';
import { appendToLedger, checkLedger } from '../../src/ledger/rows.ts';
import { planBackfill } from '../../src/plan/backfill.ts';
import { plan } from '../../src/plan/planner.ts';
import { planPruning, prune } from '../../src/retention/prune.ts';
import { listOldDays, markPruned, type OldDay } from '../../src/retention/rows.ts';
import type { Database } from '../../src/store/database.ts';
import { readWalks } from '../../src/store/evidence/evidence.ts';
import { removeMarked } from '../../src/store/pruned-pages.ts';
import { listStoredWalks } from '../../src/store/stored.ts';
import { askAgain, listDays, listKnownSpans } from '../../src/store/windows.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { DETACH, detachHalf } from '../support/detach.ts';
import {
  endedWalk,
  endLooks,
  leaseWindow,
  letHoursPass,
  proveCutOf,
  proveTexts,
  publishNext,
  textsOf,
  walkPages,
  windowOf,
} from '../support/publishing.ts';
import { DAY, expireLeases, freshStore, planDays } from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

/** A day that is complete and in the ledger. Returns its stream. */
async function shownDay(): Promise<number> {
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

const NEXT_DAY = '2026-03-06';
const mark = (day: OldDay) => markPruned(database, 'day', day);
const prunings = () => server.query('select what from daywalk.prunings');

describe('a day that is marked', () => {
  it('is told as it was listed, and marked once', async () => {
    await shownDay();
    const day = await listed();
    expect(day).toMatchObject({ kept: null, day: DAY, walks: [1], pages: 1, records: 3 });
    expect(await mark(day)).toBe('pruned');
    expect(await mark(day)).toBe('pruned');
    expect(await prunings()).toEqual([{ what: 'day' }]);
    expect(await listOldDays(database, 'day', [{ stream: 'events', olderThanMs: 0 }])).toEqual([]);
    expect(await checkLedger(database, ['events'])).toEqual([]);
  });

  it('has nothing that the statements of docs/ledger.md find wrong', async () => {
    await shownDay();
    expect(await mark(await listed())).toBe('pruned');
    await server.query('delete from daywalk.pages');
    const wrong = `select k.walk_id, daywalk.check_walk(k.walk_id) as walk, c.problems
       from daywalk.walks k left join lateral daywalk.check_pages(k.walk_id, 0, 2147483647) as c on true
      where k.shown <> 'no' and (cardinality(daywalk.check_walk(k.walk_id)) > 0 or cardinality(c.problems) > 0)`;
    expect(await server.query(wrong)).toEqual([]);
  });

  it('is never due again, neither for the planner nor for a backfill of all', async () => {
    const streamId = await shownDay();
    await mark(await listed());
    await askAgain(database, streamId, [DAY], true);
    expect(
      await server.query('select from daywalk.windows where due_at is not null or rewalk'),
    ).toEqual([]);
    const calendar = { timeZone: 'UTC', settleMs: 0, now: Date.parse(DAY) + 86_400_000 };
    const spans = await listKnownSpans(database, [streamId]);
    expect(plan({ ...calendar, since: DAY, until: null, known: spans })).toEqual([]);
    const range = { from: DAY, to: DAY, only: 'all', newestFirst: false } as const;
    const days = await listDays(database, [streamId], range);
    expect(days).toEqual([{ streamId, day: DAY, state: 'complete', pruned: true, tiered: false }]);
    const known = new Map(days.map(({ day, state, pruned }) => [day, { state, pruned }]));
    expect(
      planBackfill({ ...calendar, ...range, streams: [{ name: 'events', known }] }),
    ).toMatchObject([{ action: 'skip', reason: 'it was pruned' }]);
  });

  it('counts as out of scope', async () => {
    await shownDay();
    const [before] = await readTotals(database, ['events']);
    await mark(await listed());
    const [after] = await readTotals(database, ['events']);
    expect(after).toMatchObject({ complete: 0, records: 0, pages: 0, bytes: 0 });
    expect((before?.closed ?? 0) - (after?.closed ?? 0)).toBe(1);
    expect(await readKnownDays(database, ['events'], { from: DAY, to: DAY })).toMatchObject([
      { day: DAY, standing: 'pruned', records: 0 },
    ]);
    expect(await server.query('select from daywalk.events')).toEqual([]);
    expect(await server.query('select from daywalk.gaps where day = $1', [DAY])).toEqual([]);
  });
});

describe('what changed between list and mark', () => {
  it('a worker that took it: held', async () => {
    const streamId = await shownDay();
    const day = await listed();
    await leaseWindow(database, await windowOf(database, streamId, DAY));
    expect(await mark(day)).toBe('held');
    expect((await listed()).kept).toBe('a worker holds it');
    expect(await prunings()).toEqual([]);
  });

  it('a walk that a killed worker left open: it is ended, and holds nothing up', async () => {
    const streamId = await shownDay();
    const day = await listed();
    const left = await leaseWindow(database, await windowOf(database, streamId, DAY));
    await walkPages(database, left, [[1, 2]]);
    await expireLeases(server);
    expect((await listed()).kept).toBeNull();
    expect(await mark(day)).toBe('pruned');
    expect(
      await server.query('select outcome, reason from daywalk.walks where number = 2'),
    ).toEqual([{ outcome: 'failed', reason: 'its window was pruned' }]);
    expect(await audit(server)).toEqual([]);
  });

  it('a window of it that is not complete any more: held', async () => {
    const streamId = await shownDay();
    const day = await listed();
    await server.query(
      `update daywalk.windows set state = 'pending' where kind = 'cut' and day = $1`,
      [DAY],
    );
    expect(await mark(day)).toBe('held');
    expect((await listed()).kept).toBe('it is not complete');
    expect(streamId).toBeGreaterThan(0);
  });

  it('a new walk: changed, and then not in the ledger yet', async () => {
    const streamId = await shownDay();
    const day = await listed();
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 2, 3, 4])]);
    expect(await mark(day)).toBe('changed');
    const now = await listed();
    expect(now.kept).toMatch(/not in the ledger yet/);
    expect(await mark(now)).toBe('unsealed');
    await appendToLedger(database, { streamId, day: DAY });
    expect(await mark(await listed())).toBe('pruned');
  });
});

it.each([
  ['detached', () => server.query(DETACH)],
  ['began to detach', () => detachHalf(server, database)],
])('the pages of a month that somebody %s are left where they were put', async (_, detach) => {
  await shownDay();
  await mark(await listed());
  await detach();
  const { signal } = new AbortController();
  const emptied = await removeMarked(database, signal);
  const left = await server.query('select from daywalk.pages_2026_03 where records > 0');
  // The next test makes it again.
  await server.query('drop table daywalk.pages_2026_03');
  expect([emptied, left.length]).toEqual([[], 1]);
});

it('a walk that only says that it was pruned is checked all the same', async () => {
  const streamId = await shownDay();
  await server.query(
    `with other as (
       insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
       values ($1, '2020-01-01', 'day', '{99}', 1, 1, 1) returning pruning_id)
     update daywalk.walks set pruning = other.pruning_id from other`,
    [streamId],
  );
  expect(await listStoredWalks(database, ['events'], null)).toHaveLength(1);
});

describe('superseded walks', () => {
  const superseded = () =>
    listOldDays(database, 'superseded', [{ stream: 'events', olderThanMs: 0 }]);

  it('are those none of whose records are shown: the last copy of a gone record stays', async () => {
    const streamId = await shownDay();
    const window = await windowOf(database, streamId, DAY);
    for (const ids of [
      [1, 2],
      [1, 2],
      [1, 2],
    ]) {
      await letHoursPass(database, 2);
      await proveTexts(database, window, [textsOf(ids)]);
    }
    await appendToLedger(database, { streamId, day: DAY });
    const [day] = await superseded();
    // Walk 1 shows what it had, and walk 4 is what the next one is compared with.
    expect(day).toMatchObject({ pages: 2, records: 4, kept: null });
    expect(await markPruned(database, 'superseded', day as OldDay)).toBe('pruned');
    expect(await server.query('select walks from daywalk.prunings')).toEqual([
      { walks: ['2', '3'] },
    ]);
    expect(
      await server.query(
        'select walk_id from daywalk.walks where role = $1 and pruning is null order by 1',
        ['whole'],
      ),
    ).toEqual([{ walk_id: '1' }, { walk_id: '4' }]);
    expect(await superseded()).toEqual([]);
    expect(
      await server.query(
        `select (record ->> 'id')::int as id, gone_since is not null as gone from daywalk.events order by 1`,
      ),
    ).toEqual([
      { id: 1, gone: false },
      { id: 2, gone: false },
      { id: 3, gone: true },
    ]);
    await proveTexts(database, window, [textsOf([1, 2, 3])]);
    await appendToLedger(database, { streamId, day: DAY });
    expect(await server.query('select gone from daywalk.days')).toEqual([{ gone: '0' }]);
    expect(await checkLedger(database, ['events'])).toEqual([]);
  });

  it('are none of a window that is being walked again: they are what it is proven by next', async () => {
    const streamId = await shownDay();
    await askAgain(database, streamId, [DAY], true);
    const window = await leaseWindow(database, await windowOf(database, streamId, DAY));
    const walked = await endedWalk(database, window, [textsOf([1, 2, 3, 4])]);
    await expireLeases(server);
    for (const one of await superseded()) await markPruned(database, 'superseded', one);
    await removeMarked(database, new AbortController().signal);
    const again = await leaseWindow(database, window.windowId);
    expect(await readWalks(database, again)).toMatchObject([{ walkId: walked, largestPage: 4 }]);
  });

  it('are none of a midnight that found records: what both days showed is gone once', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY]);
    const day = await windowOf(database, streamId, DAY);
    const next = await windowOf(database, streamId, NEXT_DAY);
    const cut = await windowOf(database, streamId, DAY, 'cut');
    await publishNext(database, streamId, [[1, 2]]);
    await publishNext(database, streamId, [[2, 3]]);
    const two = textsOf([2]);
    const counts = { records: 0, removed: 1 };
    await proveCutOf(database, cut, { across: two, before: two, after: two }, counts);
    const nothing = { across: [], before: [], after: [] };
    for (let time = 0; time < 3; time += 1) {
      await letHoursPass(database, 2);
      await proveTexts(database, day, [textsOf([1])]);
      await proveTexts(database, next, [textsOf([3])]);
      await proveCutOf(database, cut, nothing);
    }
    await endLooks(server);
    for (const one of [DAY, NEXT_DAY]) await appendToLedger(database, { streamId, day: one });
    for (const one of await superseded())
      expect(await markPruned(database, 'superseded', one)).toBe('pruned');
    await proveCutOf(database, cut, nothing);
    expect(
      await server.query(
        `select to_char(day, 'DD') as day, (record ->> 'id')::int as id from daywalk.events order by 1, 2`,
      ),
    ).toEqual([
      { day: '05', id: 1 },
      { day: '05', id: 2 },
      { day: '06', id: 3 },
    ]);
    expect(await audit(server)).toEqual([]);
  });
});

it('what the midnight before all days showed goes with the first day, and is counted no more', async () => {
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[1, 2]]);
  const cut = await windowOf(database, streamId, '2026-03-04', 'cut');
  const across = { across: textsOf([7]), before: [], after: [] };
  await proveCutOf(database, cut, across, { records: 1, removed: 0 });
  await appendToLedger(database, { streamId, day: DAY });
  expect(await mark(await listed())).toBe('pruned');
  expect(await server.query('select sum(records)::int as records from daywalk.days')).toEqual([
    { records: 0 },
  ]);
});

describe('a day beside one that is pruned', () => {
  it('shows again what was hidden because both showed it, and is put into the ledger anew', async () => {
    const streamId = await planDays(database, [DAY, '2026-03-06']);
    await publishNext(database, streamId, [[1, 2]]);
    await publishNext(database, streamId, [[2, 3]]);
    const both = { across: textsOf([2]), before: textsOf([2]), after: textsOf([2]) };
    await proveCutOf(database, await windowOf(database, streamId, DAY, 'cut'), both, {
      records: 0,
      removed: 1,
    });
    for (const day of [DAY, '2026-03-06']) await appendToLedger(database, { streamId, day });
    const shown = () =>
      server.query(
        `select day::text, (record ->> 'id')::int as id from daywalk.events order by 1, 2`,
      );
    expect(await shown()).toHaveLength(3);
    expect(await mark(await listed())).toBe('pruned');
    expect(await shown()).toEqual([
      { day: '2026-03-06', id: 2 },
      { day: '2026-03-06', id: 3 },
    ]);
    expect(
      await server.query('select day::text, unsealed, records from daywalk.days order by 1'),
    ).toEqual([
      { day: DAY, unsealed: false, records: '0' },
      { day: '2026-03-06', unsealed: true, records: '2' },
    ]);
    await appendToLedger(database, { streamId, day: '2026-03-06' });
    expect(await checkLedger(database, ['events'])).toEqual([]);
    expect(await audit(server)).toEqual([]);
  });

  it('goes with it, where both are old enough: nothing of it has changed then', async () => {
    const days = [DAY, '2026-03-06', '2026-03-07'] as const;
    const streamId = await planDays(database, days);
    for (const ids of [
      [1, 2],
      [2, 3],
      [3, 4],
    ])
      await publishNext(database, streamId, [ids]);
    for (const [day, id] of [
      [DAY, 2],
      ['2026-03-06', 3],
    ] as const) {
      const both = { across: textsOf([id]), before: textsOf([id]), after: textsOf([id]) };
      const cut = await windowOf(database, streamId, day, 'cut');
      await proveCutOf(database, cut, both, { records: 0, removed: 1 });
    }
    for (const day of days) await appendToLedger(database, { streamId, day });
    const { signal } = new AbortController();
    const limits = [{ stream: 'events', olderThanMs: 0 }];
    const plan = await planPruning(database, { kind: 'day', limits, exported: null });
    const { days: went, kept } = await prune(database, 'day', plan, signal);
    expect(kept).toEqual([]);
    expect(went.map(({ day }) => day)).toEqual(days);
    expect(await checkLedger(database, ['events'])).toEqual([]);
    expect(await audit(server)).toEqual([]);
  });

  it('shows again, as gone, what it hid because the pruned day showed it in a newer version', async () => {
    const days = [DAY, '2026-03-06'] as const;
    const streamId = await planDays(database, days, { idPath: ['id'] });
    const versions = ['{"v": 1, "id": 5}', '{"v": 2, "id": 5}', '{"v": 3, "id": 5}'] as const;
    const [first, second, third] = versions;
    const walk = async (day: string, list: readonly string[]) => {
      await proveTexts(database, await windowOf(database, streamId, day), [list]);
      await letHoursPass(database, 2);
    };
    // The same day has a newer version of 8 by itself.
    for (const list of [[first, '{"n": 1, "id": 8}'], [second, '{"n": 2, "id": 8}'], textsOf([8])])
      await walk('2026-03-06', list);
    await walk('2026-03-06', textsOf([8]));
    await walk(DAY, [third, ...textsOf([7])]);
    for (const day of [DAY, '2026-03-04'])
      await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
    await proveCutOf(database, await windowOf(database, streamId, '2026-03-06', 'cut'));
    for (const day of days) await appendToLedger(database, { streamId, day });
    const shown = () =>
      server.query(
        `select day::text, record::text, gone_since is not null as gone from daywalk.events order by 1, 2`,
      );
    expect(await shown()).toEqual([
      { day: DAY, record: '{"id": 7}', gone: false },
      { day: DAY, record: third, gone: false },
      { day: '2026-03-06', record: '{"id": 8}', gone: false },
    ]);
    expect(await mark(await listed())).toBe('pruned');
    expect(await shown()).toEqual([
      { day: '2026-03-06', record: '{"id": 8}', gone: false },
      { day: '2026-03-06', record: second, gone: true },
    ]);
    expect(
      await server.query(`select records, gone, lost from daywalk.days where day = '2026-03-06'`),
    ).toEqual([{ records: '2', gone: '1', lost: '0' }]);
    await appendToLedger(database, { streamId, day: '2026-03-06' });
    expect(await checkLedger(database, ['events'])).toEqual([]);
    expect(await audit(server)).toEqual([]);
  });
});
