/** Proving: only a walk whose stored pages are a whole chain, whole and at once (I3, I4, I6). */
import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/errors.ts';
import type { Database } from '../../src/store/database.ts';
import { BrokenChainError, endWalk, proveWindow, type WalkedSoFar } from '../../src/store/walks.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { endedWalk, textsOf, totalProof, walkPages } from '../support/publishing.ts';
import {
  type Begun,
  beginWalk,
  DAY,
  freshStore,
  leaseDay,
  openedWalk,
  planBareDays,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;
let streamId: number;
let begun: Begun;

freshStore((store) => {
  ({ server, database } = store);
});
beforeEach(async () => {
  streamId = await planBareDays(database);
  begun = await beginWalk(database, streamId);
});

/** Stores pages of these sizes, their records numbered from 1; the walk at its end. */
function walkSizes(sizes: readonly number[], { window }: Begun = begun): Promise<WalkedSoFar> {
  let last = 0;
  const pages = sizes.map((size) => Array.from({ length: size }, () => ++last));
  return walkPages(database, window, pages);
}

const ENDED = {
  outcome: 'ended',
  reason: null,
  end: { end: 'last' },
  claims: [],
  requests: 0,
} as const;

const publish = (walk: WalkedSoFar, of: Begun = begun) =>
  proveWindow(database, of.window, walk, totalProof(walk.nextStart));

const positions = () =>
  server.query<{ position: number }>(`select position::int from daywalk.events order by position`);

describe('proving by an earlier walk while another one is open', () => {
  // A worker that took over may know more than the one that opened it: the comparison is not needed any more.
  it('ends the open one: no walk stays in progress that nobody will take up', async () => {
    const walk = await walkSizes([3, 0]);
    await endWalk(database, begun.window, walk.walkId, ENDED);
    const open = await openedWalk(database, begun.window, { role: 'half' });
    await publish(walk);
    expect(
      await server.query(
        'select walk_id::int, outcome, shown, finished_at is not null as dated from daywalk.walks order by 1',
      ),
    ).toEqual([
      { walk_id: walk.walkId, outcome: 'proven', shown: 'whole', dated: true },
      { walk_id: open.walkId, outcome: 'failed', shown: 'no', dated: true },
    ]);
    expect(await audit(server)).toEqual([]);
  });
});

describe('proving a window', () => {
  it('says when its source was last seen to show records: when they came, also where the proof is of later', async () => {
    const walk = await walkSizes([3, 2, 0]);
    await server.query(
      `update daywalk.pages set fetched_at = fetched_at - case page_no when 2 then interval '1 day' else interval '9 days' end`,
    );
    await publish(walk);
    expect(
      await server.query(
        `select round(extract(epoch from proven_at - shown_at) / 86400)::int as days from daywalk.windows`,
      ),
    ).toEqual([{ days: 9 }]);
  });

  it('completes the window, frees it and shows every record with its place (I4, I6)', async () => {
    const walk = await walkSizes([3, 2, 0]);
    expect(await positions()).toEqual([]);
    await publish(walk);
    expect((await positions()).map((row) => row.position)).toEqual([0, 1, 2, 3, 4]);
    expect(
      await server.query(
        `select state, current_walk, lease_id, lease_owner, lease_expires, attempts, failures, last_error, proven_at = looked_at as dated,
                judged, looks, proof ->> 'walk' as walk, round(extract(epoch from due_at - proven_at))::int as due_in
           from daywalk.windows`,
      ),
    ).toEqual([
      {
        state: 'complete',
        current_walk: null,
        lease_id: null,
        lease_owner: null,
        lease_expires: null,
        attempts: 0,
        failures: 0,
        last_error: null,
        dated: true,
        judged: 1,
        looks: 0,
        walk: '1',
        due_in: 3600,
      },
    ]);
    expect(await server.query('select outcome, proof, requests from daywalk.walks')).toEqual([
      {
        outcome: 'proven',
        proof: totalProof(5),
        requests: 3,
      },
    ]);
    expect(await audit(server)).toEqual([]);
  });

  it('shows an empty window on its empty page', async () => {
    await publish(await walkSizes([0]));
    expect(await positions()).toEqual([]);
    expect(await server.query('select state from daywalk.windows')).toEqual([
      { state: 'complete' },
    ]);
  });

  it.each<[string, string]>([
    ['a page is deleted', `delete from daywalk.pages where page_no = 1`],
    ['the last page is deleted', `delete from daywalk.pages where page_no = 2`],
    ['all pages are deleted', `delete from daywalk.pages`],
    ['a page starts elsewhere', `update daywalk.pages set start = start + 1 where page_no = 1`],
    ['a page has another number', `update daywalk.pages set page_no = 9 where page_no = 2`],
    [
      'a page counts fewer records',
      `update daywalk.pages set records = records - 1, record_hashes = record_hashes[2:] where page_no = 0`,
    ],
    [
      'records moved from one page to the next',
      `update daywalk.pages set records = records + case page_no when 0 then 1 when 1 then -1 else 0 end, record_hashes = (record_hashes || 1::bigint)[1:records + case page_no when 0 then 1 when 1 then -1 else 0 end]`,
    ],
  ])('is refused where the chain is broken: %s (I3, I4)', async (_, damage) => {
    const walk = await walkSizes([3, 2, 1]);
    await server.query(damage);
    await expect(publish(walk)).rejects.toThrow(BrokenChainError);
    expect(await server.query('select state from daywalk.windows')).toEqual([{ state: 'pending' }]);
    expect(await server.query('select outcome, shown from daywalk.walks')).toEqual([
      { outcome: null, shown: 'no' },
    ]);
    // The lease still holds: the walk is ended, and the next one publishes.
    await endWalk(database, begun.window, walk.walkId, {
      outcome: 'failed',
      reason: 'broken',
      end: null,
      claims: [],
      requests: 0,
    });
    const again = { window: begun.window, checkpoint: await openedWalk(database, begun.window) };
    await publish(await walkSizes([3, 3], again), again);
    expect((await positions()).map((row) => row.position)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each<[string, (walk: WalkedSoFar) => WalkedSoFar]>([
    ['fewer records', (walk) => ({ ...walk, nextStart: walk.nextStart - 1 })],
    ['more pages', (walk) => ({ ...walk, pages: walk.pages + 1 })],
  ])('is refused where the worker believes in %s than are stored (I4)', async (_, believed) => {
    await expect(publish(believed(await walkSizes([3, 2])))).rejects.toThrow(BrokenChainError);
    expect(await server.query('select state from daywalk.windows')).toEqual([{ state: 'pending' }]);
  });

  it('is refused where another worker has the lease, and changes nothing (I2)', async () => {
    const walk = await walkSizes([3, 2]);
    await server.query(`update daywalk.windows set lease_expires = 'epoch'`);
    await leaseDay(database, streamId, 'thief');
    const before = [
      await server.query('select * from daywalk.windows'),
      await server.query('select * from daywalk.walks'),
    ];
    await expect(publish(walk)).rejects.toThrow(LeaseLostError);
    expect([
      await server.query('select * from daywalk.windows'),
      await server.query('select * from daywalk.walks'),
    ]).toEqual(before);
  });

  it('again is no error, and does nothing', async () => {
    const walk = await walkSizes([3]);
    await publish(walk);
    const before = await server.query('select * from daywalk.windows');
    await publish(walk);
    expect(await server.query('select * from daywalk.windows')).toEqual(before);
  });

  it('is refused where the proof speaks of more records than the walk holds, as after a failover (I4, D08)', async () => {
    const { walkId, nextStart, pages } = await walkSizes([3, 2]);
    await expect(
      proveWindow(database, begun.window, { walkId, nextStart, pages }, totalProof(9)),
    ).rejects.toThrow(BrokenChainError);
  });

  it.each(['shifted', 'failed'] as const)(
    'never believes a walk that met a fault: %s (I4)',
    async (outcome) => {
      const walk = await walkSizes([3]);
      const end = { outcome, reason: 'moved', end: null, claims: [], requests: 0 };
      await endWalk(database, begun.window, walk.walkId, end);
      await expect(publish(walk)).rejects.toThrow(BrokenChainError);
      expect(await server.query('select state from daywalk.windows')).toEqual([
        { state: 'pending' },
      ]);
      expect(await server.query('select outcome, shown from daywalk.walks')).toEqual([
        { outcome, shown: 'no' },
      ]);
    },
  );

  it('believes a walk that came to its end before, once its evidence is there, with what was said of it', async () => {
    const walk = await walkSizes([3]);
    await endWalk(database, begun.window, walk.walkId, ENDED);
    const claim = {
      start: 2,
      length: 9,
      came: 1,
      total: 3,
      lowerBound: false,
      totalMissing: false,
      more: false,
    };
    await server.query('update daywalk.walks set claims = $1::jsonb', [JSON.stringify([claim])]);
    await publish(walk);
    expect(await server.query('select claims, requests from daywalk.walks')).toEqual([
      { claims: [claim], requests: 1 },
    ]);
    expect(await positions()).toHaveLength(3);
    expect(await audit(server)).toEqual([]);
  });

  it('by a union shows each record as often as the page that holds it most often', async () => {
    const window = begun.window;
    const first = await endedWalk(database, window, [textsOf([1, 2, 2]), textsOf([3])]);
    const walk = await walkPages(database, window, [
      [2, 4],
      [2, 1],
    ]);
    await proveWindow(database, window, walk, { ...totalProof(5), kind: 'union', unites: [first] });
    expect(
      await server.query<{ id: number }>(
        `select (record ->> 'id')::int as id from daywalk.events order by 1`,
      ),
    ).toEqual([1, 2, 2, 3, 4].map((id) => ({ id })));
    expect(await server.query('select records from daywalk.days')).toEqual([{ records: '5' }]);
    expect(await audit(server)).toEqual([]);
  });
});

describe('a walk of a complete window', () => {
  it('is invisible until it is proven, then adds what it has more; the old one stays as it was (I6, I7)', async () => {
    await publish(await walkSizes([3, 2]));
    const old = await server.query('select * from daywalk.pages order by page_no');
    await server.query(`update daywalk.windows set due_at = clock_timestamp()`);
    const again = await beginWalk(database, streamId);
    expect(again.window.state).toBe('complete');
    const walk = await walkSizes([4, 3], again);
    expect(await positions()).toHaveLength(5);
    const coverage = () =>
      server.query(`select records::int, pages::int from daywalk.coverage where day = $1`, [DAY]);
    expect(await coverage()).toEqual([{ records: 5, pages: 2 }]);
    await publish(walk, again);
    expect(await positions()).toHaveLength(7);
    expect(await coverage()).toEqual([{ records: 7, pages: 4 }]);
    expect(
      await server.query(
        'select walk_id::int, count(*)::int as records from daywalk.events group by 1 order by 1',
      ),
    ).toEqual([
      { walk_id: begun.checkpoint.walkId, records: 5 },
      { walk_id: walk.walkId, records: 2 },
    ]);
    expect(
      await server.query('select * from daywalk.pages where walk_id = $1 order by page_no', [
        begun.checkpoint.walkId,
      ]),
    ).toEqual(old);
    expect(await audit(server)).toEqual([]);
  });

  it('that ends without a proof leaves what is shown (I6)', async () => {
    await publish(await walkSizes([3, 2]));
    await server.query(`update daywalk.windows set due_at = clock_timestamp()`);
    const again = await beginWalk(database, streamId);
    const walk = await walkSizes([4], again);
    await endWalk(database, again.window, walk.walkId, {
      outcome: 'shifted',
      reason: 'moved',
      end: null,
      claims: [],
      requests: 1,
    });
    expect(await positions()).toHaveLength(5);
    expect(await audit(server)).toEqual([]);
  });
});

describe('ending a walk', () => {
  it('notes outcome and reason, once, and keeps the pages (I7)', async () => {
    const walk = await walkSizes([3]);
    const pages = await server.query('select * from daywalk.pages');
    await endWalk(database, begun.window, walk.walkId, {
      outcome: 'shifted',
      reason: 'the total moved',
      end: null,
      claims: [],
      requests: 2,
    });
    await endWalk(database, begun.window, walk.walkId, {
      outcome: 'failed',
      reason: 'another',
      end: null,
      claims: [],
      requests: 2,
    });
    expect(await server.query('select outcome, reason, requests from daywalk.walks')).toEqual([
      { outcome: 'shifted', reason: 'the total moved', requests: 3 },
    ]);
    expect(await server.query('select * from daywalk.pages')).toEqual(pages);
    expect(await openedWalk(database, begun.window)).toMatchObject({ number: 2, nextStart: 0 });
  });
});
