/** Publishing: only a proven walk whose stored pages are a whole chain, whole and at once (I3, I4, I6). */
import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/errors.ts';
import type { Database } from '../../src/store/database.ts';
import { BrokenChainError, type EndedWalk, endWalk, publishWalk } from '../../src/store/walks.ts';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { totalProof, walkPages } from '../support/publishing.ts';
import {
  type Begun,
  beginWalk,
  claimDay,
  DAY,
  freshStore,
  openedWalk,
  planDays,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;
let streamId: number;
let begun: Begun;

freshStore((store) => {
  ({ server, database } = store);
});
beforeEach(async () => {
  streamId = await planDays(database);
  begun = await beginWalk(database, streamId);
});

/** Stores pages of these sizes, their records numbered from 1; the walk at its end. */
function walkSizes(sizes: readonly number[], { claim }: Begun = begun): Promise<EndedWalk> {
  let last = 0;
  const pages = sizes.map((size) => Array.from({ length: size }, () => ++last));
  return walkPages(database, claim, pages);
}

const publish = (walk: EndedWalk, of: Begun = begun) =>
  publishWalk(database, of.claim, walk, totalProof(walk.nextStart), 1, 0);

const positions = () =>
  server.query<{ position: number }>(`select position::int from daywalk.events order by position`);

describe('publishing an earlier walk while another one is open', () => {
  // A worker that took over may know more than the one that opened it: the comparison is not needed any more.
  it('ends the open one: no walk stays in progress that nobody will take up', async () => {
    const walk = await walkSizes([3, 0]);
    const end = { outcome: 'ended', reason: null, proof: totalProof(3), requests: 1 } as const;
    await endWalk(database, begun.claim, walk.walkId, end);
    const open = await openedWalk(database, begun.claim, 'next day');
    await publish(walk);
    expect(
      await server.query(
        'select walk_id::int, outcome, published, finished_at is not null as dated from daywalk.walks order by 1',
      ),
    ).toEqual([
      { walk_id: walk.walkId, outcome: 'proven', published: true, dated: true },
      { walk_id: open.walkId, outcome: 'failed', published: false, dated: true },
    ]);
    expect(await audit(server)).toEqual([]);
  });
});

describe('publishing a walk', () => {
  it('completes the window, frees it and shows every record with its place (I4, I6)', async () => {
    const walk = await walkSizes([3, 2, 0]);
    expect(await positions()).toEqual([]);
    await publish(walk);
    expect((await positions()).map((row) => row.position)).toEqual([0, 1, 2, 3, 4]);
    expect(
      await server.query(
        `select state, current_walk, lease_id, lease_owner, lease_expires, due_at, attempts, failures, last_error, completed_at is not null as dated
           from daywalk.windows`,
      ),
    ).toEqual([
      {
        state: 'complete',
        current_walk: null,
        lease_id: null,
        lease_owner: null,
        lease_expires: null,
        due_at: null,
        attempts: 0,
        failures: 0,
        last_error: null,
        dated: true,
      },
    ]);
    expect(await server.query('select outcome, proof, requests from daywalk.walks')).toEqual([
      {
        outcome: 'proven',
        proof: { kind: 'total', firstTotal: 5, lastTotal: 5, records: 5 },
        requests: 4,
      },
    ]);
    expect(await audit(server)).toEqual([]);
  });

  it('publishes an empty window on its empty page', async () => {
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
    expect(await server.query('select outcome, published from daywalk.walks')).toEqual([
      { outcome: null, published: false },
    ]);
    // The lease still holds: the walk is ended, and the next one publishes.
    await endWalk(database, begun.claim, walk.walkId, {
      outcome: 'failed',
      reason: 'broken',
      proof: null,
      requests: 0,
    });
    const again = { claim: begun.claim, checkpoint: await openedWalk(database, begun.claim) };
    await publish(await walkSizes([3, 3], again), again);
    expect((await positions()).map((row) => row.position)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each<[string, (walk: EndedWalk) => EndedWalk]>([
    ['fewer records', (walk) => ({ ...walk, nextStart: walk.nextStart - 1 })],
    ['more pages', (walk) => ({ ...walk, pages: walk.pages + 1 })],
  ])('is refused where the worker believes in %s than are stored (I4)', async (_, believed) => {
    await expect(publish(believed(await walkSizes([3, 2])))).rejects.toThrow(BrokenChainError);
    expect(await server.query('select state from daywalk.windows')).toEqual([{ state: 'pending' }]);
  });

  it('is refused where another worker has the lease, and changes nothing (I2)', async () => {
    const walk = await walkSizes([3, 2]);
    await server.query(`update daywalk.windows set lease_expires = 'epoch'`);
    await claimDay(database, streamId, 'thief');
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
    const proof = { kind: 'total', firstTotal: 9, lastTotal: 9, records: 9 } as const;
    await expect(
      publishWalk(database, begun.claim, { walkId, nextStart, pages }, proof, 0, 7),
    ).rejects.toThrow(BrokenChainError);
  });

  it.each(['shifted', 'failed'] as const)(
    'never publishes a walk that met a fault: %s (I4)',
    async (outcome) => {
      const walk = await walkSizes([3]);
      const end = { outcome, reason: 'moved', proof: null, requests: 0 };
      await endWalk(database, begun.claim, walk.walkId, end);
      await expect(publish(walk)).rejects.toThrow(BrokenChainError);
      expect(await server.query('select state from daywalk.windows')).toEqual([
        { state: 'pending' },
      ]);
      expect(await server.query('select outcome, published from daywalk.walks')).toEqual([
        { outcome, published: false },
      ]);
    },
  );

  it('publishes a walk that came to its end before, once its evidence is there', async () => {
    const walk = await walkSizes([3]);
    const proof = totalProof(3);
    const end = { outcome: 'ended', reason: null, proof, requests: 0 } as const;
    await endWalk(database, begun.claim, walk.walkId, end);
    await publish(walk);
    expect(await positions()).toHaveLength(3);
    expect(await audit(server)).toEqual([]);
  });
});

describe('a walk of a complete window', () => {
  it('is invisible until it is published, then takes the place of the old one, which stays as it was (I6, I7)', async () => {
    await publish(await walkSizes([3, 2]));
    const old = await server.query('select * from daywalk.pages order by page_no');
    await server.query(`update daywalk.windows set due_at = clock_timestamp()`);
    const again = await beginWalk(database, streamId);
    expect(again.claim.state).toBe('complete');
    const walk = await walkSizes([4, 3], again);
    expect(await positions()).toHaveLength(5);
    expect(
      await server.query(
        `select state, records::int, pages::int from daywalk.coverage where day = $1`,
        [DAY],
      ),
    ).toEqual([{ state: 'complete', records: 5, pages: 2 }]);
    await publish(walk, again);
    expect(await positions()).toHaveLength(7);
    expect(await server.query('select distinct walk_id::int from daywalk.events')).toEqual([
      { walk_id: walk.walkId },
    ]);
    expect(
      await server.query('select * from daywalk.pages where walk_id = $1 order by page_no', [
        begun.checkpoint.walkId,
      ]),
    ).toEqual(old);
    expect(await audit(server)).toEqual([]);
  });

  it('that ends without a proof leaves what is published (I6)', async () => {
    await publish(await walkSizes([3, 2]));
    await server.query(`update daywalk.windows set due_at = clock_timestamp()`);
    const again = await beginWalk(database, streamId);
    const walk = await walkSizes([4], again);
    await endWalk(database, again.claim, walk.walkId, {
      outcome: 'shifted',
      reason: 'moved',
      proof: null,
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
    await endWalk(database, begun.claim, walk.walkId, {
      outcome: 'shifted',
      reason: 'the total moved',
      proof: null,
      requests: 2,
    });
    await endWalk(database, begun.claim, walk.walkId, {
      outcome: 'failed',
      reason: 'another',
      proof: null,
      requests: 2,
    });
    expect(await server.query('select outcome, reason, requests from daywalk.walks')).toEqual([
      { outcome: 'shifted', reason: 'the total moved', requests: 3 },
    ]);
    expect(await server.query('select * from daywalk.pages')).toEqual(pages);
    expect(await openedWalk(database, begun.claim)).toMatchObject({ number: 2, nextStart: 0 });
  });
});
