/** The statement that commits a page: stored with its checkpoint or not at all, and only by the holder of the lease. */
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/errors.ts';
import type { Database } from '../../src/store/database.ts';
import { type PageFacts, storePage } from '../../src/store/pages.ts';
import { BodyRefusedError } from '../../src/store/sqlstate.ts';
import { endWalk } from '../../src/store/walks.ts';
import { audit } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type Begun,
  beginWalk,
  DAY,
  ENVELOPE,
  openDatabase,
  pageOf,
  pageOfBody,
  planDays,
  records,
  TTL_MS,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;
let begun: Begun;
let streams = 0;

beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(async () => {
  database = openDatabase(server.url);
  streams += 1;
  const streamId = await planDays(database, [DAY], { name: `events-${streams}` });
  begun = await beginWalk(database, streamId);
});

const store = (
  page = pageOf(0, records(1, 3), 3),
  change: Partial<Begun['checkpoint']> = {},
  envelope = ENVELOPE,
): Promise<PageFacts> =>
  storePage(database, begun.claim, TTL_MS, { ...begun.checkpoint, ...change }, page, envelope);

const rows = async () => ({
  windows: await server.query(
    `select state, current_walk, attempts, lease_id, lease_owner, lease_number from daywalk.windows where window_id = $1`,
    [begun.claim.windowId],
  ),
  walks: await server.query('select * from daywalk.walks where window_id = $1', [
    begun.claim.windowId,
  ]),
  pages: await server.query(
    'select walk_id, page_no, start, records, sha256 from daywalk.pages where walk_id = $1',
    [begun.checkpoint.walkId],
  ),
});

describe('a page', () => {
  it('is stored with the checkpoint after it (I1), the lease renewed and the attempts forgotten', async () => {
    await server.query(
      `update daywalk.windows set lease_expires = clock_timestamp(), attempts = 4 where window_id = $1`,
      [begun.claim.windowId],
    );
    expect(await store()).toMatchObject({
      records: 3,
      listType: 'array',
      total: 3,
      relation: null,
      complaint: null,
      stored: true,
    });
    const { windows, walks, pages } = await rows();
    expect(pages).toMatchObject([{ page_no: 0, start: '0', records: 3 }]);
    expect(walks).toMatchObject([
      {
        next_start: '3',
        pages: 1,
        records: '3',
        first_total: '3',
        last_total: '3',
        requests: 1,
        records_path: ['data'],
        outcome: null,
      },
    ]);
    expect(windows).toMatchObject([{ attempts: 0, state: 'pending' }]);
    const [lease] = await server.query<{ left: string }>(
      `select extract(epoch from lease_expires - clock_timestamp()) as left from daywalk.windows where window_id = $1`,
      [begun.claim.windowId],
    );
    expect(Number(lease?.left)).toBeGreaterThan(TTL_MS / 1000 - 10);
    expect(await audit(server)).toEqual([]);
  });

  it('follows the one before (I3)', async () => {
    await store();
    await store(pageOf(3, records(4, 2), 5), { nextStart: 3, pages: 1 });
    await store(pageOf(5, [], 5), { nextStart: 5, pages: 2 });
    const { walks, pages } = await rows();
    expect(pages.map((page) => [page.page_no, page.start, page.records])).toEqual([
      [0, '0', 3],
      [1, '3', 2],
      [2, '5', 0],
    ]);
    expect(walks).toMatchObject([{ next_start: '5', pages: 3, first_total: '3', last_total: '5' }]);
  });

  it.each<[string, Partial<Begun['checkpoint']>]>([
    ['a start ahead', { nextStart: 3 }],
    ['a page number ahead', { pages: 1 }],
    ['both ahead', { nextStart: 3, pages: 1 }],
  ])(
    'that does not begin at the checkpoint is refused, and no row is made: %s (I1, I3)',
    async (_, change) => {
      const before = await rows();
      await expect(store(pageOf(change.nextStart ?? 0, records(1, 3)), change)).rejects.toThrow(
        LeaseLostError,
      );
      const after = await rows();
      expect({ ...after, windows: [] }).toEqual({ ...before, windows: [] });
    },
  );

  it.each([
    ['a total that is no number', '"data":[{}],"total":"1,234"', null],
    ['a total below zero', '"data":[{}],"total":-1', null],
    ['a total that is broken', '"data":[{}],"total":1.5', null],
    ['a total that is text', '"data":[{}],"total":"17"', 17],
    ['a total above 2^31', '"data":[{}],"total":99999999999', 99_999_999_999],
    ['a total above every count', '"data":[{}],"total":99999999999999999999', null],
  ])('tells its total as a number or not at all: %s', async (_, inside, total) => {
    expect(await store(pageOfBody(0, `{${inside}}`))).toMatchObject({ stored: true, total });
  });
});

describe('a body that is no page', () => {
  it.each([
    ['no list', '{"total":3}', { records: null, listType: null }],
    ['null for the list', '{"data":null,"total":3}', { records: null, listType: 'null' }],
    ['an object for the list', '{"data":{"a":1}}', { records: null, listType: 'object' }],
    ['a text', '"maintenance"', { records: null, listType: null }],
    [
      'an error beside a list',
      '{"data":[{}],"error":"overloaded"}',
      { records: 1, complaint: 'overloaded' },
    ],
    ['errors beside a list', '{"data":[],"errors":["x"]}', { records: 0, complaint: '["x"]' }],
    ['a false success', '{"data":[],"success":false}', { complaint: 'success is false' }],
    [
      'a search that timed out',
      '{"data":[],"timed_out":true}',
      { complaint: 'timed_out is true: a partial result' },
    ],
  ])('stores nothing and moves nothing: %s', async (_, body, told) => {
    const before = await rows();
    expect(await store(pageOfBody(0, body))).toMatchObject({ ...told, stored: false });
    expect(await rows()).toEqual(before);
  });

  it.each(['null', 'false', '""', '0', '[]', '{}'])(
    'is a page when its error is %s',
    async (nothing) => {
      const body = `{"data":[{"id": 1}],"error":${nothing},"errors":${nothing}}`;
      expect(await store(pageOfBody(0, body))).toMatchObject({ stored: true, complaint: null });
    },
  );

  it.each([
    ['not JSON', '<html>', '22P02'],
    ['cut', '{"data":[{"id": 1}', '22P02'],
    ['nothing', '', '22P02'],
    ['a NUL', '{"data":["\\u0000"]}', '22P05'],
    ['half a surrogate', '{"data":["\\ud800"]}', '22P02'],
    ['a number too large', '{"data":[1e131072]}', '22003'],
    ['too deep', `{"data":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, '54001'],
  ])('is refused by Postgres and changes nothing: %s', async (_, body, sqlstate) => {
    const before = await rows();
    const error = await store(pageOfBody(0, body)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BodyRefusedError);
    expect((error as BodyRefusedError).sqlstate).toBe(sqlstate);
    expect(await rows()).toEqual(before);
  });
});

describe('the fence', () => {
  it('refuses a page of a worker whose lease was taken, and changes nothing (I2)', async () => {
    await server.query(`update daywalk.windows set lease_id = $2 where window_id = $1`, [
      begun.claim.windowId,
      randomUUID(),
    ]);
    const before = await rows();
    await expect(store()).rejects.toThrow(LeaseLostError);
    expect(await rows()).toEqual(before);
  });

  it('refuses a page after the window was given back (I2)', async () => {
    await server.query(
      `update daywalk.windows set lease_id = null, lease_owner = null, lease_expires = null where window_id = $1`,
      [begun.claim.windowId],
    );
    const before = await rows();
    await expect(store()).rejects.toThrow(LeaseLostError);
    expect(await rows()).toEqual(before);
  });

  it('takes a page on an expired lease that nobody else has claimed', async () => {
    await server.query(`update daywalk.windows set lease_expires = 'epoch' where window_id = $1`, [
      begun.claim.windowId,
    ]);
    expect(await store()).toMatchObject({ stored: true });
  });

  it('refuses a page of a walk that has ended, though the lease holds (I7)', async () => {
    await store();
    await endWalk(database, begun.claim, begun.checkpoint.walkId, 'shifted', 'the list moved', 1);
    const before = await rows();
    await expect(store(pageOf(3, records(4, 2)), { nextStart: 3, pages: 1 })).rejects.toThrow(
      LeaseLostError,
    );
    expect(await rows()).toEqual(before);
  });
});

describe('the same statement again', () => {
  it('affects no row and finds its page (I1)', async () => {
    expect(await store()).toMatchObject({ stored: true });
    const before = await rows();
    expect(await store()).toMatchObject({ stored: true, records: 3 });
    expect(await rows()).toEqual(before);
  });

  it('is refused where another page has this number', async () => {
    await store();
    const before = await rows();
    await expect(store(pageOf(0, records(7, 3), 3))).rejects.toThrow(LeaseLostError);
    expect(await rows()).toEqual(before);
  });

  it('is all or nothing: a page that cannot be inserted moves no checkpoint (I1)', async () => {
    // There is no partition for the day: the insert fails after the updates.
    await server.query(`drop table daywalk.pages_2026_03`);
    const before = await rows();
    await expect(store()).rejects.toThrow(/no partition/);
    expect(await rows()).toEqual(before);
    await server.query(`select daywalk.ensure_partition('2026-03-01')`);
    expect(await store()).toMatchObject({ stored: true });
  });
});
