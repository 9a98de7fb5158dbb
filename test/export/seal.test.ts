/** Sealing behind walks that are in progress: little is left to do when they end, and a walk that is given up does no harm. */
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { Sealer } from '../../src/export/seal.ts';
import { verifyStored } from '../../src/export/verify-stored.ts';
import { silentLogger } from '../../src/log.ts';
import type { Database } from '../../src/store/database.ts';
import { storePage } from '../../src/store/pages.ts';
import { endWalk } from '../../src/store/walks.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  type Begun,
  beginWalk,
  DAY,
  ENVELOPE,
  freshStore,
  pageOf,
  planDays,
  records,
  TTL_MS,
} from '../support/store.ts';

let database: Database;
let server: TestDatabase;
freshStore((store) => {
  ({ database, server } = store);
});

/** A walk in progress with so many pages of two records. */
async function walking(pages: number): Promise<{ streamId: number; begun: Begun }> {
  const streamId = await planDays(database, [DAY]);
  const begun = await beginWalk(database, streamId);
  for (let page = 0; page < pages; page++) {
    const checkpoint = { ...begun.checkpoint, nextStart: 2 * page, pages: page };
    const body = pageOf(2 * page, records(1 + 2 * page, 2));
    await storePage(database, begun.claim, TTL_MS, checkpoint, body, ENVELOPE, false);
  }
  return { streamId, begun };
}

/** A sealer that was told of pages of 10 bytes each, and has done what it does. */
async function sealed(streamId: number, pages: number, behindBytes: number): Promise<number[]> {
  const { signal } = new AbortController();
  const sealer = new Sealer({ database, log: silentLogger }, [streamId], signal, behindBytes);
  for (let page = 0; page < pages; page++) sealer.stored({ streamId, day: DAY }, 10);
  await sealer.finish();
  const seals = await server.query<{ page_no: number }>(
    'select page_no from daywalk.seals order by page_no',
  );
  return seals.map(({ page_no }) => page_no);
}

const verified = async () => {
  const [{ name } = { name: '' }] = await server.query<{ name: string }>(
    'select name from daywalk.streams',
  );
  const { signal } = new AbortController();
  return verifyStored({ database, clock: systemClock }, [name], null, 1, signal);
};

it('the pages behind a walk are sealed but for its last one, which the row of the day waits for', async () => {
  const { streamId } = await walking(4);
  expect(await sealed(streamId, 4, 30)).toEqual([0, 1, 2]);
  expect(await server.query('select from daywalk.ledger')).toEqual([]);
});

it('little is not worth it', async () => {
  const { streamId } = await walking(4);
  expect(await sealed(streamId, 4, 50)).toEqual([]);
});

it('a walk in progress is not verified, and one that was given up is what was sealed', async () => {
  const { streamId, begun } = await walking(3);
  expect(await sealed(streamId, 3, 10)).toEqual([0, 1]);
  expect(await verified()).toMatchObject({ walks: 0, findings: [], ledger: [] });
  await endWalk(database, begun.claim, begun.checkpoint.walkId, {
    outcome: 'shifted',
    reason: 'the list moved',
    proof: null,
    requests: 0,
  });
  expect(await verified()).toMatchObject({ walks: 1, pages: 3, unsealedPages: 0, findings: [] });
  await server.query(
    `update daywalk.pages set body = jsonb_set(body, '{data,0}', '{"id": 99}') where page_no = 1`,
  );
  expect((await verified()).findings).toContainEqual(
    expect.objectContaining({
      pageNo: 1,
      published: false,
      problem: 'its body is not what was stored',
    }),
  );
});
