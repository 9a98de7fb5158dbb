/** Days move and come back: exact, one place each, whoever is killed where, and whoever else is at it (I6, I7). */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readKnownDays } from '../../src/days/rows.ts';
import { readDayStory } from '../../src/days/story-rows.ts';
import { describeStory } from '../../src/days/story-text.ts';
import { appendToLedger, checkLedger } from '../../src/ledger/rows.ts';
import { verifyStored } from '../../src/ledger/verify-stored.ts';
import type { Day } from '../../src/model.ts';
import { listOldDays, markPruned } from '../../src/retention/rows.ts';
import type { Database } from '../../src/store/database.ts';
import { listMovedDays } from '../../src/store/moved-days.ts';
import { syncTables } from '../../src/tables/record-tables.ts';
import { defineTable, removeTable } from '../../src/tables/table-rows.ts';
import { checkTieredDays } from '../../src/tier/check-days.ts';
import { moveDays } from '../../src/tier/move.ts';
import { type ObjectBody, piecesOf } from '../../src/tier/object-store.ts';
import { restoreDays } from '../../src/tier/restore.ts';
import { listDaysToMove } from '../../src/tier/rows.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { changedStore, type MemoryStore, mortal } from '../support/memory-store.ts';
import { atNight } from '../support/night.ts';
import {
  endLooks,
  letHoursPass,
  proveCutOf,
  proveTexts,
  proveTwinsAt,
  publishNext,
  textsOf,
  windowOf,
} from '../support/publishing.ts';
import { clear, DAY, hastyClock, planDays } from '../support/store.ts';
import { openGated } from '../walk/perils.ts';
import {
  type Act,
  expectExact,
  isChange,
  killedAnywhere,
  mortalDatabase,
  moveOne,
} from './killed-moves.ts';
import {
  believed,
  DAYS,
  everything,
  freshTier,
  moveAll,
  moved,
  partsOf,
  proveHidingCut,
  restoreAll,
  STREAMS,
  sealAll,
  signal,
  tabled,
} from './moving-scene.ts';

let server: TestDatabase;
let database: Database;
let store: MemoryStore;

freshTier((fresh) => {
  ({ server, database, store } = fresh);
});

const pagesOf = async (day: Day) =>
  (
    await server.query<{ pages: number }>(
      'select count(*)::int as pages from daywalk.pages where day = $1',
      [day],
    )
  )[0]?.pages;

const states = () =>
  server.query(`select distinct state from daywalk.coverage where day = any ($1::date[])`, [
    [...DAYS],
  ]);

/** The rows of a record table, as far as they tell a record. */
const rowsOf = (table: string) =>
  server.query(`select day::text, id, gone_since from daywalk.${table} order by day, id`);

async function bytesOf(body: ObjectBody): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(body)) pieces.push(piece);
  return pieces;
}

/** Two days that moved, the second one as if its pages were not those that were sealed: something stands behind them. */
async function listWithChanged() {
  const [first, second] = await listMovedDays(database, ['events'], null);
  const body = store.objects.get(first?.pages.key ?? '')?.body;
  if (first === undefined || second === undefined || body === undefined) throw new Error('no days');
  return { first, changed: { ...second, pages: { ...second.pages, sha256: first.pages.sha256 } } };
}

describe('days of three streams', () => {
  it('move, and what is believed is the same; whenever it is killed, nothing is left in the temporary folder', async () => {
    const before = await believed(server, store);
    const folder = mkdtempSync(join(tmpdir(), 'daywalk-moving-'));
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    });
    const watched = changedStore(store, {
      create: (key, body) => {
        expect(readdirSync(folder)).toEqual([]);
        return store.create(key, body);
      },
    });
    const report = await moveAll(partsOf(database, watched));
    expect(report).toMatchObject({ kept: [], emptied: ['2026-03'], left: 0 });
    expect(report.days).toHaveLength(DAYS.length * STREAMS.length);
    await expectExact({ server, store }, before);
    expect(await states()).toEqual([{ state: 'tiered' }]);
    const [from, to] = [DAYS[0] as Day, DAYS.at(-1) as Day];
    for (const { standing } of await readKnownDays(database, STREAMS, { from, to }))
      expect(standing).toBe('complete');
    expect(await server.query('select from daywalk.pages')).toEqual([]);
    expect(await server.query('select from daywalk.events')).toEqual([]);
    expect(
      await server.query('select from daywalk.gaps where day = any ($1::date[])', [[...DAYS]]),
    ).toEqual([]);
    expect(await checkLedger(database, [...STREAMS])).toEqual([]);
    expect(await audit(server)).toEqual([]);
    expect(await moveAll(partsOf(database, store))).toMatchObject({ days: [], kept: [] });
  });

  it('come back as they were', async () => {
    const before = await everything(server);
    await moveAll(partsOf(database, store));
    const restored = await restoreAll(partsOf(database, store));
    expect(restored.kept).toEqual([]);
    expect(await everything(server)).toEqual(before);
    expect(await tabled(store)).toEqual([]);
    const report = await verifyStored(
      { database, clock: hastyClock },
      [...STREAMS],
      null,
      1,
      signal,
    );
    expect(report).toMatchObject({ findings: [], ledger: [], prunedWalks: 0 });
    expect(await audit(server)).toEqual([]);
    expect(await restoreAll(partsOf(database, store))).toEqual({ days: [], kept: [] });
  });

  it('come back also where somebody has dropped the empty partition of their month', async () => {
    const before = await everything(server);
    await moveAll(partsOf(database, store));
    await server.query('drop table daywalk.pages_2026_03');
    expect((await restoreAll(partsOf(database, store))).kept).toEqual([]);
    expect(await everything(server)).toEqual(before);
  });

  atNight('move again after they came back, as other publications', async () => {
    const before = await believed(server, store);
    for (let time = 0; time < 2; time += 1) {
      await moveAll(partsOf(database, store));
      await expectExact({ server, store }, before);
      await restoreAll(partsOf(database, store));
      await expectExact({ server, store }, before);
    }
  });

  it('one by one: what a neighbour hides stays hidden as long as one of both shows it', async () => {
    const before = await believed(server, store);
    const parts = partsOf(database, store);
    await moveAll(parts, ['events']);
    await expectExact({ server, store }, before);
    for (const stream of ['audit', 'edits']) await moveAll(parts, [stream]);
    await expectExact({ server, store }, before);
  });
});

describe('what is said of days that moved', () => {
  it('why, prune, require_complete and verify answer', async () => {
    await moveAll(partsOf(database, store));
    const [day] = await listMovedDays(database, ['events'], null);
    const told = describeStory(await readDayStory(database, 'events', DAY)).join('\n');
    expect(told).toContain('moved to memory at ');
    expect(told).toContain(day?.events.key);
    expect(told).toContain(`daywalk tier --restore --from ${DAY} --to ${DAY} --stream events`);
    expect(await listOldDays(database, 'day', [{ stream: 'events', olderThanMs: 0 }])).toEqual([]);
    await expect(
      server.query('select daywalk.require_complete($1, $2, $3)', ['events', DAYS[0], DAYS[2]]),
    ).rejects.toThrow(
      `3 of 3 days of events are proven, and not in this database any more: ${DAYS[0]} in memory, `,
    );
    const wherever = (from: string | undefined) =>
      server.query('select daywalk.require_complete($1, $2, $3, tiered => true) as done', [
        'events',
        from,
        DAYS[2],
      ]);
    expect(await wherever(DAYS[0])).toEqual([{ done: true }]);
    await expect(wherever('2025-12-31')).rejects.toThrow('not proven: 2025-12-31 unplanned');
    const days = await listMovedDays(database, [...STREAMS], null);
    expect(await checkTieredDays(partsOf(database, store), days)).toMatchObject({
      days: 9,
      findings: [],
    });
  });

  it('verify names what somebody did to an object', async () => {
    await moveAll(partsOf(database, store));
    const [first, second] = await listMovedDays(database, ['events'], null);
    const other = store.objects.get(second?.pages.key ?? '');
    if (first === undefined || second === undefined || other === undefined)
      throw new Error('no days');
    store.objects.set(first.pages.key, other);
    store.objects.delete(second.events.key);
    const { findings } = await checkTieredDays(partsOf(database, store), [first, second]);
    expect(findings.map(({ day, problem }) => `${day}: ${problem}`)).toEqual([
      expect.stringMatching(/^2026-03-05: .* pages were sealed, and it holds /),
      `2026-03-05: ${first.pages.key} is not what was written`,
      expect.stringMatching(/^2026-03-06: .* has no whole object /),
    ]);
    await expect(restoreAll(partsOf(database, store))).rejects.toThrow('is not what was written');
    expect(await server.query('select from daywalk.events')).toEqual([]);
  });

  it('verify names days that the table of events lacks, or has twice', async () => {
    await moveAll(partsOf(database, store), ['events']);
    const days = await listMovedDays(database, ['events'], null);
    const problems = async () => {
      const { findings } = await checkTieredDays(partsOf(database, store), days);
      return findings.map(({ day, problem }) => `${day}: ${problem}`);
    };
    const commits = [...store.objects].filter(([key]) => key.includes('/_delta_log/')).sort();
    const [newest, last] = commits.at(-1) ?? [];
    if (newest === undefined || last === undefined) throw new Error('no commit');
    expect(await problems()).toEqual([]);
    store.objects.delete(newest);
    const lacking = expect.stringMatching(
      /^2026-03-07: the table of events does not have events\//,
    );
    expect(await problems()).toEqual([lacking]);
    const twice = last.body.toString().replace(/(\/day=2026-03-07\/[\da-f-]+)/, '$1-2');
    store.objects.set(newest, last);
    store.objects.set(newest.replace('2.json', '3.json'), { body: Buffer.from(twice) });
    expect(await problems()).toEqual([lacking]);
    // What is on its way back is no finding.
    await restoreDays(partsOf(database, store), days.slice(2), 7);
    expect(await problems()).toEqual([]);
    for (const [key] of commits.slice(0, 1)) store.objects.delete(key);
    expect(await problems()).toHaveLength(3);
  });

  it('what a restore put back that was stopped is removed again', async () => {
    await moveAll(partsOf(database, store));
    const stopped = new AbortController();
    const stopping = openGated(server.url, async (statement, act) => {
      const result = await act();
      if (statement?.includes('put_back') === true) stopped.abort(new Error('stopped'));
      return result;
    });
    const parts = { ...partsOf(stopping, store), signal: stopped.signal };
    await expect(restoreAll(parts)).rejects.toThrow('stopped');
    await stopping.close();
    expect((await server.query('select from daywalk.pages')).length).toBeGreaterThan(0);
    await moveAll(partsOf(database, store), ['events']);
    expect(await server.query('select from daywalk.pages')).toEqual([]);
    await restoreAll(partsOf(database, store));
    expect(await checkLedger(database, STREAMS)).toEqual([]);
  });

  it('what a restore put back from a spoiled object is not believed, and the next one takes its place', async () => {
    await moveAll(partsOf(database, store));
    const { changed } = await listWithChanged();
    const parts = partsOf(database, store);
    for (let time = 0; time < 2; time += 1)
      await expect(restoreDays(parts, [changed], 7)).rejects.toThrow('is not what was');
    expect(await server.query('select from daywalk.events')).toEqual([]);
    await restoreAll(parts);
    expect(await checkLedger(database, STREAMS)).toEqual([]);
  });

  it('a day that came back leaves the table, though another one cannot be brought back', async () => {
    const parts = partsOf(database, store);
    await moveAll(parts, ['events']);
    const { first, changed } = await listWithChanged();
    await expect(restoreDays(parts, [first, changed], 7)).rejects.toThrow('is not what was');
    expect(await tabled(store)).toEqual(await moved(server));
  });

  it('a store that gives back something else is told, and everything stays here', async () => {
    const before = await believed(server, store);
    let first: ObjectBody | null = null;
    const other = changedStore(store, {
      create: async (key, body) => {
        if (key.startsWith('events/stream')) first ??= Buffer.concat(await bytesOf(body));
        return store.create(key, key.startsWith('events/stream') && first ? first : body);
      },
    });
    await expect(moveAll(partsOf(database, other))).rejects.toThrow(/^memory gives back another /);
    expect(await moved(server)).toHaveLength(1);
    await expectExact({ server, store }, before);
  });

  atNight('a restored day is not moved again by itself before it is old once more', async () => {
    await moveAll(partsOf(database, store));
    await restoreAll(partsOf(database, store));
    const limits = [{ stream: 'events', olderThanMs: 86_400_000 }];
    expect(await listDaysToMove(database, limits, true)).toHaveLength(3);
    expect(await listDaysToMove(database, limits, false)).toEqual([]);
  });
});

// Whatever a process was killed behind, it was killed before what comes next: the rest is in moving.long.
describe('processes that are killed', () => {
  it('before any change of the store', async () => {
    const all = await everything(server);
    const dying = (step: number) =>
      partsOf(database, mortal(store, { operation: step, done: false, atChanges: true }));
    const emptied: Act = async (parts) => {
      await restoreAll(parts);
      // Where nothing is away a folder may be empty; a longer log takes more reads.
      store.objects.clear();
    };
    expect(await killedAnywhere({ server, database, store }, dying, moveOne, emptied)).toBe(4);
    await moveOne(partsOf(database, store));
    await killedAnywhere({ server, database, store }, dying, restoreAll, moveOne);
    await restoreAll(partsOf(database, store));
    expect(await everything(server)).toEqual(all);
  });

  it('before any statement that changes something', async () => {
    const all = await everything(server);
    const dying = (step: number) =>
      partsOf(mortalDatabase(server.url, step, false, isChange), store);
    expect(
      await killedAnywhere({ server, database, store }, dying, moveOne, restoreAll),
    ).toBeGreaterThan(5);
    await moveOne(partsOf(database, store));
    await killedAnywhere({ server, database, store }, dying, restoreAll, moveOne);
    await restoreAll(partsOf(database, store));
    expect(await everything(server)).toEqual(all);
  });
});

it('several that move at a time: each day moves once', async () => {
  const before = await believed(server, store);
  const reports = await Promise.all([1, 2, 3].map(() => moveAll(partsOf(database, store))));
  await moveAll(partsOf(database, store));
  await expectExact({ server, store }, before);
  const days = reports.flatMap((report) =>
    report.days.map(({ stream, day }) => `${stream} ${day}`),
  );
  expect(new Set(days).size).toBe(days.length);
});

it('a day that is published anew while it moves, moves as it is shown then', async () => {
  const [row] = await server.query<{ stream_id: number }>(
    `select stream_id from daywalk.streams where name = 'events'`,
  );
  const window = await windowOf(database, row?.stream_id ?? 0, DAY);
  let changed = false;
  const disturbed = openGated(server.url, async (statement, act) => {
    if (!changed && statement?.includes('mark_tiered') === true) {
      changed = true;
      await proveTexts(database, window, [textsOf([1, 2]), textsOf([3, 44])]);
      await sealAll(database);
    }
    return act();
  });
  const report = await moveAll(partsOf(disturbed, store), ['events']);
  await disturbed.close();
  expect(changed).toBe(true);
  expect(report.kept).toEqual([]);
  expect(await tabled(store)).toEqual(await moved(server));
  const there = await believed(server, store);
  expect(there[`events ${DAY}`]?.filter((text) => text.includes(': 44}'))).toHaveLength(1);
  expect(await server.query(`select from daywalk.events where stream = 'events'`)).toEqual([]);
});

it('a day stays while the one behind it is not shown, and a record of their midnight is in both', async () => {
  await clear(server);
  const streamId = await planDays(database, DAYS);
  const window = (day: string) => windowOf(database, streamId, day);
  await proveTexts(database, await window(DAY), [textsOf([1, 2, 3])]);
  await proveTexts(database, await window(DAYS[2]), [textsOf([5])]);
  await proveHidingCut(database, await windowOf(database, streamId, DAY, 'cut'));
  await sealAll(database);
  const parts = partsOf(database, store);
  const stays = {
    day: DAY,
    reason:
      'the day before or behind it is not shown yet, or to be looked at again, and at midnight both show the same record',
  };
  expect((await moveAll(parts, ['events'])).kept).toContainEqual(expect.objectContaining(stays));
  const limits = [{ stream: 'events', olderThanMs: 0 }];
  const [due] = (await listDaysToMove(database, limits, true)).filter(({ day }) => day === DAY);
  if (due === undefined) throw new Error('the day is not listed');
  // What was found out before the transaction is looked at in it, too.
  const report = await moveDays(parts, [{ ...due, kept: null }]);
  expect(report).toMatchObject({ days: [], kept: [{ day: DAY }] });
  await proveTexts(database, await window(DAYS[1]), [textsOf([3, 4])]);
  await sealAll(database);
  const before = await believed(server, store);
  expect(before[`events ${DAYS[1]}`]).toHaveLength(1);
  await moveAll(parts, ['events']);
  await expectExact({ server, store }, before);
  expect(await server.query('select from daywalk.events')).toEqual([]);
});

it('record tables: one that outlives the pages keeps the days, another one gets them back', async () => {
  const column = { name: 'id', path: ['id'], type: 'integer', index: false } as const;
  const table = { stream: 'events', columns: [column], keepRecord: false };
  await defineTable(database, { ...table, name: 'outliving', retention: null });
  await defineTable(database, { ...table, name: 'following' });
  const streams = (
    await server.query<{ id: number }>('select stream_id as id from daywalk.streams')
  ).map(({ id }) => id);
  const wanted = moveAll(partsOf(database, store), ['events']);
  expect((await wanted).kept).toHaveLength(DAYS.length);
  await syncTables(database, streams, signal);
  const before = await rowsOf('following');
  expect(before.length).toBeGreaterThan(5);
  expect((await moveAll(partsOf(database, store), ['events'])).kept).toEqual([]);
  await syncTables(database, streams, signal);
  expect(await rowsOf('outliving')).toEqual(before);
  expect(await rowsOf('following')).toEqual([]);
  await restoreAll(partsOf(database, store));
  await syncTables(database, streams, signal);
  expect(await rowsOf('outliving')).toEqual(before);
  expect(await rowsOf('following')).toEqual(before);
  for (const name of ['outliving', 'following']) await removeTable(database, name);
});

it('a neighbour that is pruned while a day is away: what it hid is shown when the day is back', async () => {
  const parts = partsOf(database, store);
  const shown = () =>
    server.query(
      `select day::text, (record ->> 'id')::int as id from daywalk.shown_records where stream = 'events' and (record ->> 'id')::int = 3`,
    );
  expect(await shown()).toEqual([{ day: DAY, id: 3 }]);
  await moveAll(parts, ['events'], [DAYS[1]]);
  const [old] = await listOldDays(database, 'day', [{ stream: 'events', olderThanMs: 0 }]);
  if (old === undefined) throw new Error('no day is listed');
  expect(await markPruned(database, 'day', old)).toBe('pruned');
  expect(await shown()).toEqual([]);
  await restoreAll(parts);
  expect(await shown()).toEqual([{ day: DAYS[1], id: 3 }]);
  await sealAll(database);
  expect(await checkLedger(database, [...STREAMS])).toEqual([]);
  expect(await audit(server)).toEqual([]);
});

it('what the midnight before all days brought moves with the first of them', async () => {
  await clear(server);
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[1, 2]]);
  const across = { across: textsOf([7]), before: [], after: [] };
  const cut = await windowOf(database, streamId, '2026-03-04', 'cut');
  await proveCutOf(database, cut, across, { records: 1, removed: 0 });
  await sealAll(database);
  const { days } = await moveAll(partsOf(database, store), ['events']);
  expect(days).toMatchObject([{ day: DAY, records: 3 }]);
  expect(await server.query('select from daywalk.events')).toEqual([]);
  await restoreAll(partsOf(database, store));
  const shown = await server.query('select day::text, record from daywalk.events order by 1, 2');
  expect(shown.map(({ record }) => record)).toEqual([{ id: 1 }, { id: 2 }, { id: 7 }]);
});

it('what the midnight before all days brought stays in the file of the first of them when the day before is walked later', async () => {
  await clear(server);
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[1, 2]]);
  const cut = await windowOf(database, streamId, '2026-03-04', 'cut');
  const across = { across: textsOf([7]), before: [], after: [] };
  await proveCutOf(database, cut, across, { records: 1, removed: 0 });
  await sealAll(database);
  const parts = partsOf(database, store);
  await moveAll(parts, ['events']);
  await planDays(database, ['2026-03-04']);
  expect(await server.query('select state from daywalk.coverage where day = $1', [DAY])).toEqual([
    { state: 'tiered' },
  ]);
  await publishNext(database, streamId, [[6]]);
  await sealAll(database);
  const both = 'select daywalk.require_complete($1, $2, $3, tiered => true) as done';
  expect(await server.query(both, ['events', '2026-03-04', DAY])).toEqual([{ done: true }]);
  const before = await believed(server, store);
  expect(before[`events ${DAY}`]).toHaveLength(3);
  expect(before['events 2026-03-04']).toHaveLength(1);
  expect(await checkLedger(database, ['events'])).toEqual([]);
  await restoreAll(parts);
  await expectExact({ server, store }, before);
  await sealAll(database);
  expect(await checkLedger(database, ['events'])).toEqual([]);
  expect(await audit(server)).toEqual([]);
});

it('a day that was planned before all others moves, and what was asked at its end before stays with the day behind', async () => {
  await clear(server);
  const before = '2026-03-04';
  const streamId = await planDays(database, [DAY]);
  const cut = await windowOf(database, streamId, before, 'cut');
  const sides = { across: textsOf([0, 1]), before: textsOf([0]), after: textsOf([1]) };
  await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 2])]);
  await proveCutOf(database, cut, sides);
  await planDays(database, [before]);
  await proveTexts(database, await windowOf(database, streamId, before), [textsOf([0])]);
  await proveCutOf(database, cut, sides);
  await sealAll(database);
  const [old] = await listOldDays(database, 'day', [{ stream: 'events', olderThanMs: 0 }]);
  expect(old).toMatchObject({ day: before, storedPages: await pagesOf(before) });
  const parts = partsOf(database, store);
  const report = await moveAll(parts, ['events'], [before, DAY]);
  expect(report.kept).toEqual([]);
  expect(report.days.map(({ day }) => day)).toEqual([before, DAY]);
  expect(await server.query('select walk_id from daywalk.pages')).toEqual([]);
  await restoreAll(parts);
  await sealAll(database);
  expect(await checkLedger(database, ['events'])).toEqual([]);
  expect(await audit(server)).toEqual([]);
});

it('a day moves though nobody planned the days beside it, and those hide later what both show at midnight', async () => {
  await clear(server);
  const streamId = await planDays(database, [DAY]);
  await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 2, 3])]);
  await proveTwinsAt(database, streamId, ['2026-03-04'], [1]);
  await proveTwinsAt(database, streamId, [DAY], [3]);
  await sealAll(database);
  const parts = partsOf(database, store);
  expect((await moveAll(parts, ['events'])).kept).toEqual([]);
  await planDays(database, ['2026-03-04', DAYS[1]]);
  await publishNext(database, streamId, [[0, 1]]);
  await publishNext(database, streamId, [[3, 4]]);
  await sealAll(database);
  const shown = async () =>
    (
      await server.query<{ found: string }>(
        `select to_char(day, 'DD') || ' ' || (record ->> 'id') as found from daywalk.events order by 1`,
      )
    ).map(({ found }) => found);
  expect(await shown()).toEqual(['04 0', '06 4']);
  expect(await checkLedger(database, ['events'])).toEqual([]);
  expect(await audit(server)).toEqual([]);
  await moveAll(parts, ['events']);
  await restoreAll(parts);
  expect(await shown()).toEqual(['04 0', '04 1', '05 2', '05 3', '06 4']);
  await sealAll(database);
  expect(await checkLedger(database, ['events'])).toEqual([]);
  expect(await audit(server)).toEqual([]);
});

it('a day that nobody planned between two that moved hides later what both show at its midnights, of equal records another copy each', async () => {
  await clear(server);
  const [, between, behind] = DAYS;
  const streamId = await planDays(database, [DAY, behind]);
  const prove = async (day: string, ids: readonly number[]) =>
    proveTexts(database, await windowOf(database, streamId, day), [textsOf(ids)]);
  await prove(DAY, [1, 2]);
  await prove(behind, [2, 4]);
  await proveTwinsAt(database, streamId, [DAY, between], [2]);
  for (const end of ['2026-03-04', behind])
    await proveCutOf(database, await windowOf(database, streamId, end, 'cut'));
  await sealAll(database);
  expect((await moveAll(partsOf(database, store), ['events'])).kept).toEqual([]);
  await planDays(database, [between]);
  for (let walk = 0; walk < 2; walk += 1) {
    await prove(between, [2, 3, 2]);
    expect(await server.query('select record from daywalk.events')).toEqual([
      { record: { id: 3 } },
    ]);
  }
});

describe('a record that a day in the tier hides as an older version', () => {
  const DAY_BEFORE = '2026-03-04';
  const [first, second] = ['{"id": 1, "serial": 7}', '{"id": 2, "serial": 7}'] as const;
  const identifyBy = (path: string) =>
    planDays(database, [DAY_BEFORE, DAY], { idPath: [path], name: 'ids' });
  const shown = async () =>
    (
      await server.query<{ found: string }>(
        `select day::text || ' ' || record::text || case when gone_since is null then '' else ' gone' end as found
           from daywalk.shown_records where stream = 'ids' order by 1`,
      )
    ).map(({ found }) => found);

  /** Walks a day again and again until what a walk lacks is gone. */
  async function walked(streamId: number, day: string, ...lists: (readonly string[])[]) {
    for (const list of lists) {
      await letHoursPass(server, 2);
      await proveTexts(database, await windowOf(database, streamId, day), [list]);
    }
  }

  beforeEach(() => clear(server));

  it('is shown when it is back, where another id_path says that it is none', async () => {
    const streamId = await identifyBy('serial');
    await walked(streamId, DAY, [first], [second]);
    await walked(streamId, DAY_BEFORE, []);
    await sealAll(database);
    expect(await shown()).toEqual([`${DAY} ${second}`]);
    const parts = partsOf(database, store);
    await moveAll(parts, ['ids']);
    await identifyBy('id');
    await server.query('select daywalk.identify_anew($1)', [streamId]);
    await restoreDays(parts, await listMovedDays(database, ['ids'], null), 7);
    expect(await shown()).toEqual([`${DAY} ${first} gone`, `${DAY} ${second}`]);
    expect(await server.query('select day from daywalk.days where lost > 0')).toEqual([]);
    await sealAll(database);
    expect(await checkLedger(database, ['ids'])).toEqual([]);
    expect(await audit(server)).toEqual([]);
  });

  it('is in the ledger as it is, where a midnight beside it is proven after it is back', async () => {
    const streamId = await identifyBy('serial');
    await walked(streamId, DAY, [first], [second]);
    await walked(streamId, DAY_BEFORE, []);
    await sealAll(database);
    const parts = partsOf(database, store);
    await moveAll(parts, ['ids']);
    await identifyBy('id');
    await server.query('select daywalk.identify_anew($1)', [streamId]);
    const moved = await listMovedDays(database, ['ids'], null);
    await restoreDays(
      parts,
      moved.filter(({ day }) => day === DAY_BEFORE),
      7,
    );
    await server.query(
      `update daywalk.windows set state = 'failed', due_at = clock_timestamp() where midnight = $1`,
      [DAY_BEFORE],
    );
    await restoreDays(
      parts,
      moved.filter(({ day }) => day === DAY),
      7,
    );
    expect(await server.query('select day::text from daywalk.days where unsealed')).toEqual([
      { day: DAY },
    ]);
    await proveCutOf(database, await windowOf(database, streamId, DAY_BEFORE, 'cut'));
    await sealAll(database);
    expect(await shown()).toEqual([`${DAY} ${first} gone`, `${DAY} ${second}`]);
    expect(await checkLedger(database, ['ids'])).toEqual([]);
    expect(await server.query('select day from daywalk.days where unsealed')).toEqual([]);
  });

  it('is shown when it is back, where the day of the newer one was pruned meanwhile', async () => {
    const streamId = await identifyBy('serial');
    await walked(streamId, DAY, [first], [], []);
    await walked(streamId, DAY_BEFORE, [second]);
    await sealAll(database);
    expect(await shown()).toEqual([`${DAY_BEFORE} ${second}`]);
    const parts = partsOf(database, store);
    await moveAll(parts, ['ids'], [DAY]);
    const [old] = await listOldDays(database, 'day', [{ stream: 'ids', olderThanMs: 0 }]);
    if (old === undefined) throw new Error('no day is listed');
    expect(await markPruned(database, 'day', old)).toBe('pruned');
    await restoreDays(parts, await listMovedDays(database, ['ids'], null), 7);
    expect(await shown()).toEqual([`${DAY} ${first} gone`]);
    expect(await audit(server)).toEqual([]);
  });

  it('stays hidden, whichever of the two days is back first', async () => {
    const streamId = await identifyBy('serial');
    await walked(streamId, DAY, [first], [], []);
    await walked(streamId, DAY_BEFORE, [second]);
    await sealAll(database);
    const parts = partsOf(database, store);
    await moveAll(parts, ['ids']);
    const days = await listMovedDays(database, ['ids'], null);
    for (const day of days.reverse()) await restoreDays(parts, [day], 7);
    expect(await shown()).toEqual([`${DAY_BEFORE} ${second}`]);
  });
});

describe('a day that must stay', () => {
  it('because something changed since the ledger: it is told, and not in the table', async () => {
    const [row] = await server.query<{ stream_id: number }>(
      `select stream_id from daywalk.streams where name = 'events'`,
    );
    const window = await windowOf(database, row?.stream_id ?? 0, DAY);
    await proveTexts(database, window, [textsOf([1, 2, 3, 4444])]);
    await server.query('update daywalk.windows set rewalk = false, due_at = null');
    const report = await moveAll(partsOf(database, store), ['events']);
    expect(report.kept).toEqual([
      { stream: 'events', day: DAY, reason: expect.stringMatching(/not in the ledger yet/) },
    ]);
    expect(await tabled(store)).toEqual(await moved(server));
  });

  it('because its first look is still to come', async () => {
    await clear(server);
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await appendToLedger(database, { streamId, day: DAY });
    const parts = partsOf(database, store);
    const reason = expect.stringMatching(/walked again first: the next runs do that, daily/);
    expect((await moveAll(parts, ['events'])).kept).toMatchObject([{ day: DAY, reason }]);
    const [due] = await listDaysToMove(database, [{ stream: 'events', olderThanMs: 0 }], true);
    if (due === undefined) throw new Error('the day is not listed');
    // A look that was asked for since the day was listed holds it, too.
    expect(await moveDays(parts, [{ ...due, kept: null }])).toMatchObject({
      days: [],
      kept: [{ day: DAY }],
    });
    expect(await tabled(store)).toEqual([]);
    await endLooks(database);
    expect((await moveAll(parts, ['events'])).days).toMatchObject([{ day: DAY }]);
  });

  it('because it is to be walked again', async () => {
    await server.query('update daywalk.windows set rewalk = true where day = $1', [DAY]);
    const report = await moveAll(partsOf(database, store), ['audit']);
    expect(report.kept).toMatchObject([{ stream: 'audit', day: DAY }]);
    expect(await tabled(store)).toEqual(await moved(server));
  });

  it('because a page of it is not what was sealed: from its object it could not be brought back', async () => {
    const before = await believed(server, store);
    const change = (to: string) =>
      server.query(
        `update daywalk.pages set body = jsonb_set(body, '{data,0,id}', '${to}') where (walk_id, page_no) = (
           select s.walk_id, s.page_no from daywalk.seals s where s.day = $1 order by 1, 2 limit 1)`,
        [DAY],
      );
    await change('77');
    const report = await moveAll(partsOf(database, store), ['events'], [DAY]);
    expect(report).toMatchObject({
      days: [],
      kept: [{ day: DAY, reason: expect.stringMatching(/were sealed: .* verify --offline/) }],
    });
    expect(await tabled(store)).toEqual(await moved(server));
    // What was put right, as from a backup, moves.
    await change('1');
    await moveAll(partsOf(database, store), ['events'], [DAY]);
    await expectExact({ server, store }, before);
    expect(await restoreAll(partsOf(database, store))).toMatchObject({ kept: [] });
  });

  it('because pages of it are missing', async () => {
    await server.query(
      `delete from daywalk.pages where walk_id = (select min(walk_id) from daywalk.pages where day = $1)`,
      [DAY],
    );
    const report = await moveAll(partsOf(database, store), ['events']);
    expect(report.kept).toMatchObject([
      { stream: 'events', day: DAY, reason: expect.stringMatching(/verify --offline/) },
    ]);
  });
});
