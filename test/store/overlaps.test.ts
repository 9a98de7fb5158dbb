/** What is shown where windows meet: one record once, a real duplicate twice, parts together and not one by one (I4, I6). */
import { describe, expect, it } from 'vitest';
import type { Proof } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import type { Claim } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { readDayStory } from '../../src/store/story.ts';
import { endWalk, publishWalk } from '../../src/store/walks.ts';
import { askAgain, planWindows, splitWindow } from '../../src/store/windows.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  type PageIds,
  publishNext as publishAs,
  totalProof,
  walkPages,
} from '../support/publishing.ts';
import {
  claimDay,
  clear,
  DAY,
  dayRow,
  ENVELOPE,
  freshStore,
  openedWalk,
  pageOf,
  planDays,
  registerEvents,
  seamRow,
  TTL_MS,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const walk = (claim: Claim, pages: PageIds) => walkPages(database, claim, pages);
const publishNext = (streamId: number, pages: PageIds, change?: Partial<Proof>) =>
  publishAs(database, streamId, pages, change);

/** The ids that readers see, with the days that they are shown under. */
const shown = async () =>
  (
    await server.query<{ found: string }>(
      `select to_char(day, 'DD') || ':' || (record ->> 'id') as found from daywalk.events order by day, (record ->> 'id')::int`,
    )
  ).map((row) => row.found);

/** The same, of one day. */
const ids = async () => (await shown()).map((each) => Number(each.slice(3)));

const state = async (windowId: number) =>
  (
    await server.query('select state, last_error from daywalk.windows where window_id = $1', [
      windowId,
    ])
  )[0];

/** Splits a claimed day by time at noon, or by level at 7. */
async function splitDay(claim: Claim, by: 'time' | 'level', total: number | null): Promise<void> {
  const { from, to } = claim;
  const noon = `${claim.day} 12:00:00`;
  const whole = { from, to, levelFrom: null, levelTo: null };
  const parts =
    by === 'time'
      ? [
          { ...whole, to: noon },
          { ...whole, from: noon },
        ]
      : [
          { ...whole, levelTo: 7 },
          { ...whole, levelFrom: 8 },
        ];
  await splitWindow(database, claim, { by, reason: 'capped', total, parts });
}

describe('two parts that share a second', () => {
  it('show its records once', async () => {
    const streamId = await planDays(database);
    await splitDay(await claimDay(database, streamId), 'time', 5);
    await publishNext(streamId, [[1, 2], [3]]);
    await publishNext(streamId, [[3, 4, 5]]);
    expect(await ids()).toEqual([1, 2, 3, 4, 5]);
    expect(
      await server.query('select walk_id::int, page_no, positions from daywalk.overlaps'),
    ).toEqual([{ walk_id: 2, page_no: 0, positions: [1] }]);
    expect(await readDayStory(database, 'events', DAY)).toMatchObject({
      state: 'complete',
      records: 5,
    });
    expect(await audit(server)).toEqual([]);
  });

  it('keep real duplicates: as many as the part that has most of them', async () => {
    const streamId = await planDays(database);
    await splitDay(await claimDay(database, streamId), 'time', null);
    // 3 stands in the shared second three times; 7 twice in the second part alone.
    await publishNext(streamId, [[1, 3, 3, 3]]);
    await publishNext(streamId, [
      [3, 3],
      [3, 7, 7],
    ]);
    expect(await ids()).toEqual([1, 3, 3, 3, 7, 7]);
  });

  it('show a copy that only the second part has', async () => {
    const streamId = await planDays(database);
    await splitDay(await claimDay(database, streamId), 'time', null);
    await publishNext(streamId, [[1, 3]]);
    await publishNext(streamId, [[3, 3, 4]]);
    expect(await ids()).toEqual([1, 3, 3, 4]);
  });

  it('compare whole records, not only what they are called', async () => {
    const streamId = await planDays(database);
    await splitDay(await claimDay(database, streamId), 'time', null);
    await publishNext(streamId, [[1]]);
    const claim = await claimDay(database, streamId);
    const checkpoint = await openedWalk(database, claim);
    const page = pageOf(0, ['{"id": 1, "more": null}', '{"id": 1.0}']);
    await storePage(database, claim, TTL_MS, checkpoint, page, ENVELOPE, false);
    const end = { walkId: checkpoint.walkId, nextStart: 2, pages: 1 };
    await publishWalk(database, claim, end, totalProof(2), 0, 0);
    expect(await ids()).toEqual([1, 1]);
    const [row] = await server.query(
      `select count(*)::int as more from daywalk.events where record ? 'more'`,
    );
    expect(row).toEqual({ more: 1 });
  });

  it('in the other order of publishing show the same', async () => {
    const streamId = await planDays(database);
    await splitDay(await claimDay(database, streamId), 'time', null);
    const first = await claimDay(database, streamId, 'one');
    const second = await claimDay(database, streamId, 'two');
    const [a, b] = [await walk(first, [[1, 2, 3]]), await walk(second, [[3, 4]])];
    await publishWalk(database, second, b, totalProof(2), 0, 0);
    expect(await ids()).toEqual([3, 4]);
    await publishWalk(database, first, a, totalProof(3), 0, 0);
    expect(await ids()).toEqual([1, 2, 3, 4]);
  });

  it('published at the same moment see each other', async () => {
    for (let round = 0; round < 5; round++) {
      await clear(server);
      const streamId = await planDays(database);
      await splitDay(await claimDay(database, streamId), 'time', null);
      const first = await claimDay(database, streamId, 'one');
      const second = await claimDay(database, streamId, 'two');
      const [a, b] = [await walk(first, [[1, 2, 3]]), await walk(second, [[3, 4]])];
      await Promise.all([
        publishWalk(database, first, a, totalProof(3), 0, 0),
        publishWalk(database, second, b, totalProof(2), 0, 0),
      ]);
      expect(await ids()).toEqual([1, 2, 3, 4]);
    }
  });
});

describe('a seam', () => {
  it('shows what lies between two days only, and both days stay as they were', async () => {
    const streamId = await registerEvents(database);
    await planWindows(database, streamId, 'scheduled', [
      dayRow(DAY),
      seamRow(DAY),
      dayRow('2026-03-06'),
    ]);
    await publishNext(streamId, [[1, 2]]);
    await publishNext(streamId, [[4, 5]]);
    expect((await publishNext(streamId, [[2, 3, 4]])).kind).toBe('seam');
    expect(await shown()).toEqual(['05:1', '05:2', '05:3', '06:4', '06:5']);
  });

  it('leaves out the second of the next day that it asked for by itself, until that day is there (docs/decisions/0010)', async () => {
    const streamId = await registerEvents(database);
    await planWindows(database, streamId, 'scheduled', [dayRow(DAY), seamRow(DAY)]);
    await publishNext(streamId, [[1, 2]]);
    const seam = await claimDay(database, streamId);
    const whole = await walk(seam, [[2, 3, 4]]);
    const end = { outcome: 'ended', reason: null, proof: totalProof(3), requests: 0 } as const;
    await endWalk(database, seam, whole.walkId, end);
    const next = await walk(seam, [[4]]);
    await endWalk(database, seam, next.walkId, { ...end, proof: totalProof(1) });
    const proof = { ...totalProof(3), nextDay: next.walkId };
    await publishWalk(database, seam, whole, proof, 0, 0);
    expect(await shown()).toEqual(['05:1', '05:2', '05:3']);
    await planWindows(database, streamId, 'scheduled', [dayRow('2026-03-06')]);
    await publishNext(streamId, [[4, 5]]);
    expect(await shown()).toEqual(['05:1', '05:2', '05:3', '06:4', '06:5']);
  });
});

describe('a union of walks', () => {
  it('shows each record as often as the page that has it most often: what stands on two pages may be one that moved', async () => {
    const streamId = await planDays(database);
    const claim = await claimDay(database, streamId);
    const one = await walk(claim, [
      [1, 2],
      [2, 3],
    ]);
    const end = { outcome: 'ended', reason: null, proof: totalProof(4), requests: 0 } as const;
    await endWalk(database, claim, one.walkId, end);
    const other = await walk(claim, [
      [1, 2],
      [4, 4],
    ]);
    const proof: Proof = { kind: 'union', records: 5, total: 5, unites: [one.walkId] };
    await publishWalk(database, claim, other, proof, 0, 0);
    expect(await ids()).toEqual([1, 2, 3, 4, 4]);
    expect(await audit(server)).toEqual([]);
  });
});

describe('a complete day that is split', () => {
  it('shows what it showed until its last part is complete, then the parts, all at once (I6)', async () => {
    const streamId = await planDays(database);
    const day = await publishNext(streamId, [[1, 2, 3]]);
    await askAgain(database, streamId, [DAY], true);
    await splitDay(await claimDay(database, streamId), 'time', null);
    expect(await ids()).toEqual([1, 2, 3]);
    await publishNext(streamId, [[1, 2]]);
    expect(await ids()).toEqual([1, 2, 3]);
    expect(await audit(server)).toEqual([]);
    // The second part is cut again.
    const second = await claimDay(database, streamId);
    const quarter = { from: second.from, to: `${DAY} 18:00:00`, levelFrom: null, levelTo: null };
    await splitWindow(database, second, {
      by: 'time',
      reason: 'capped',
      total: null,
      parts: [quarter, { ...quarter, from: quarter.to, to: second.to }],
    });
    await publishNext(streamId, [[2, 3]]);
    expect(await ids()).toEqual([1, 2, 3]);
    await publishNext(streamId, [[3, 4]]);
    expect(await ids()).toEqual([1, 2, 3, 4]);
    expect(
      await server.query('select distinct walk_id::int from daywalk.events order by 1'),
    ).toEqual([{ walk_id: 2 }, { walk_id: 3 }, { walk_id: 4 }]);
    expect(
      await server.query(
        'select window_id::int, appeared::int, vanished::int from daywalk.differences',
      ),
    ).toEqual([{ window_id: day.windowId, appeared: 1, vanished: 0 }]);
    expect(await audit(server)).toEqual([]);
  });
});

describe('parts that do not add up', () => {
  it.each([
    ['time', 5, [1, 2, 3], [3, 4], 'holds too little'],
    ['level', 5, [1, 2, 3], [4], 'holds too little'],
    ['level', 5, [1, 2, 3], [4, 5, 6], 'holds too much'],
  ] as const)(
    'by %s to %i make the window fail that was split: %s',
    async (by, total, one, other, _) => {
      const streamId = await planDays(database);
      const day = await claimDay(database, streamId);
      await splitDay(day, by, total);
      await publishNext(streamId, [one]);
      expect(await state(day.windowId)).toMatchObject({ state: 'split' });
      await publishNext(streamId, [other]);
      const held = new Set([...one, ...other]).size;
      expect(await state(day.windowId)).toEqual({
        state: 'failed',
        last_error: `split by ${by}, its parts hold ${held} records where the total said 5`,
      });
      expect((await readDayStory(database, 'events', DAY)).state).toBe('failed');
    },
  );

  it.each([
    ['time', [1, 2, 3], [3, 4, 5, 6]],
    ['level', [1, 2, 3], [4, 5]],
    ['time', [], [1, 2, 3, 4, 5]],
  ] as const)(
    'by %s are another matter than more that came since, or exactly as much',
    async (by, one, other) => {
      const streamId = await planDays(database);
      const day = await claimDay(database, streamId);
      await splitDay(day, by, 5);
      await publishNext(streamId, [one]);
      await publishNext(streamId, [other]);
      expect(await state(day.windowId)).toMatchObject({ state: 'split' });
      expect((await readDayStory(database, 'events', DAY)).state).toBe('complete');
    },
  );
});
