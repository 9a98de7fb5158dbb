/** The statement that commits a page: stored with its checkpoint or not at all, and only by the holder of the lease. */
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EnvelopeError, LeaseLostError } from '../../src/errors.ts';
import type { PageFacts } from '../../src/store/bodies/page-facts.ts';
import type { Database } from '../../src/store/database.ts';
import { readWalks } from '../../src/store/evidence/evidence.ts';
import { compareProbe } from '../../src/store/evidence/probes.ts';
import { listPagesObserved, storePage } from '../../src/store/pages.ts';
import { endWalk } from '../../src/store/walks.ts';
import { databaseNow } from '../../src/store/windows.ts';
import { audit } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type Begun,
  beginWalk,
  CONTRACT,
  DAY,
  openDatabase,
  pageOf,
  pageOfBody,
  planDays,
  records,
  storing,
  TTL_MS,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;
let begun: Begun;
let streamId: number;
let streams = 0;

beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(async () => {
  database = openDatabase(server.url);
  streams += 1;
  streamId = await planDays(database, [DAY], { name: `events-${streams}` });
  begun = await beginWalk(database, streamId);
});

const store = (
  page = pageOf(0, records(1, 3), 3),
  change: Partial<Begun['checkpoint']> = {},
  contract = CONTRACT,
): Promise<PageFacts> =>
  storePage(storing(database, begun.window), { ...begun.checkpoint, ...change }, page, contract);

/** Answers without records are known to look like those of {@link pageOf} with a total. */
const knowEmpty = () =>
  server.query(
    `insert into daywalk.frames (stream_id, signature, example, confirmed_at)
     select $1, signature, '', now() from daywalk.frame_of('{"data":[],"total":0}', '{data}', '{total}', null, 200)`,
    [streamId],
  );

const rows = async () => ({
  windows: await server.query(
    `select state, current_walk, attempts, lease_id, lease_owner, lease_number from daywalk.windows where window_id = $1`,
    [begun.window.windowId],
  ),
  walks: await server.query('select * from daywalk.walks where window_id = $1', [
    begun.window.windowId,
  ]),
  pages: await server.query(
    'select walk_id, page_no, start, records, sha256 from daywalk.pages where walk_id = $1 order by page_no',
    [begun.checkpoint.walkId],
  ),
});

describe('a page', () => {
  it('is stored with the checkpoint after it (I1), the lease renewed and the attempts forgotten', async () => {
    await server.query(
      `update daywalk.windows set lease_expires = clock_timestamp(), attempts = 4 where window_id = $1`,
      [begun.window.windowId],
    );
    const before = await databaseNow(database);
    expect(await store()).toMatchObject({
      records: 3,
      came: 3,
      listType: 'array',
      total: 3,
      lowerBound: false,
      fault: null,
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
    const [lease] = await server.query<{ end: number }>(
      `select extract(epoch from lease_expires)::float8 * 1000 as end from daywalk.windows where window_id = $1`,
      [begun.window.windowId],
    );
    expect(lease?.end).toBeGreaterThanOrEqual(before + TTL_MS - 0.01);
    expect(await audit(server)).toEqual([]);
  });

  it('follows the one before (I3)', async () => {
    await store();
    await knowEmpty();
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

describe('the word beside a total', () => {
  it.each([
    ['eq', false],
    ['EQ', false],
    ['=', false],
    ['gte', true],
    ['>=', true],
  ])(
    '%s: a lower bound is %s, as the page comes and whenever it is read again',
    async (word, is) => {
      const contract = { ...CONTRACT, relationPath: ['relation'] };
      const page = pageOfBody(0, `{"data":[{"id":1}],"total":1,"relation":"${word}"}`);
      const { walkId } = begun.checkpoint;
      const probe = await compareProbe(database, { streamId: 1, walkId }, page, contract);
      const stored = await store(page, {}, contract);
      const [observed] = await listPagesObserved(database, walkId);
      const end = { outcome: 'ended', reason: null, end: { end: 'last' }, requests: 0 } as const;
      const { start, length, came, total, lowerBound, totalMissing, more } = { ...page, ...probe };
      const heard = { start, length, came, total, lowerBound, totalMissing, more };
      await endWalk(database, begun.window, walkId, { ...end, claims: [heard] });
      const [walk] = await readWalks(database, begun.window);
      const claims = [probe, stored, observed?.claim, ...(walk?.claims ?? [])];
      expect(claims.map((claim) => claim?.lowerBound)).toEqual([is, is, is, is, is]);
      expect(walk?.claims[0]).toEqual(heard);
    },
  );
});

describe('an answer that is no page', () => {
  it.each([
    ['no list', '{"total":3}', { came: 0, listType: null, frameKnown: false }],
    ['null for the list', '{"data":null,"total":3}', { came: 0, listType: 'null' }],
    ['an object for the list', '{"data":{"a":1}}', { came: 0, listType: 'object' }],
    ['a text', '"maintenance"', { came: 0, listType: null }],
    [
      'a failure beside a list',
      '{"data":[{}],"error":"overloaded"}',
      { came: 1, fault: 'error: "overloaded"' },
    ],
    ['a false success', '{"data":[],"success":false}', { fault: 'success: false' }],
    [
      'no record, in a frame of no known kind',
      '{"data":[],"note":"away"}',
      { came: 0, fault: null },
    ],
  ])('stores nothing and moves nothing: %s', async (_, body, told) => {
    await knowEmpty();
    const before = await rows();
    expect(await store(pageOfBody(0, body))).toMatchObject({ ...told, stored: false });
    expect(await rows()).toEqual(before);
  });

  it.each([
    ['not JSON', '<html>'],
    ['cut', '{"data":[{"id": 1}'],
    ['nothing', ''],
    ['two bodies in one', '{"data":[]}{"data":[]}'],
  ])('is refused and changes nothing, also not as a copy: %s', async (_, body) => {
    const before = await rows();
    const error = await store(pageOfBody(0, body)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EnvelopeError);
    expect(await rows()).toEqual(before);
  });
});

describe('a body that jsonb refuses', () => {
  const deep = `{"data":[{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}]}`;
  it.each([
    ['a NUL', '{"data":[{"id":"a\\u0000b"}],"total":1}'],
    ['half a surrogate', '{"data":[{"id":"\\ud800"}],"total":1}'],
    ['a number too large', '{"data":[{"id":1e131072}],"total":1}'],
    ['too deep', deep],
  ])(
    'is stored as a copy, beside its exact bytes and what was changed where: %s (I5)',
    async (_, body) => {
      const page = pageOfBody(0, body);
      expect(await store(page)).toMatchObject({ stored: true, records: 1 });
      const [row] = await server.query(
        'select bytes, sha256, byte_count, changes from daywalk.pages where walk_id = $1',
        [begun.checkpoint.walkId],
      );
      expect(row).toMatchObject({
        bytes: page.body,
        sha256: page.sha256,
        byte_count: page.body.length,
        changes: [{ what: expect.any(String), offset: expect.any(Number) }],
      });
      expect(await audit(server)).toEqual([]);
    },
  );

  it('keeps the bytes of other pages only where that is asked for', async () => {
    await store();
    const page = pageOf(3, records(4, 1), 4);
    await storePage(
      { ...storing(database, begun.window), keepBytes: true },
      { ...begun.checkpoint, nextStart: 3, pages: 1 },
      page,
      CONTRACT,
    );
    expect(
      await server.query(
        'select bytes, changes from daywalk.pages where walk_id = $1 order by page_no',
        [begun.checkpoint.walkId],
      ),
    ).toEqual([
      { bytes: null, changes: null },
      { bytes: page.body, changes: null },
    ]);
  });
});

describe('a page that asks for the last record again (docs/decisions/0008)', () => {
  const next = { nextStart: 3, pages: 1, skip: 1 } as const;

  it('is stored without it: the checkpoint moves by the new records only (I1, I3)', async () => {
    await store();
    expect(await store(pageOf(2, records(3, 3), 5), next)).toMatchObject({
      stored: true,
      continues: true,
      records: 2,
    });
    const [page] = await server.query(
      `select start::int, skip, records, cardinality(record_hashes) as hashes, jsonb_array_length(body -> 'data') as came
         from daywalk.pages where walk_id = $1 and page_no = 1`,
      [begun.checkpoint.walkId],
    );
    expect(page).toEqual({ start: 2, skip: 1, records: 2, hashes: 2, came: 3 });
    expect((await rows()).walks).toMatchObject([{ next_start: '5', pages: 2, records: '5' }]);
    expect(await audit(server)).toEqual([]);
  });

  it('with nothing new behind it stores nothing: it is looked at as a probe', async () => {
    await store();
    const before = await rows();
    expect(await store(pageOf(2, records(3, 1), 3), next)).toMatchObject({
      stored: false,
      continues: true,
      records: 0,
      came: 1,
    });
    expect(await rows()).toEqual(before);
  });

  it('compares with the last record, past empty pages', async () => {
    await store();
    await knowEmpty();
    await store(pageOf(3, [], 3), { nextStart: 3, pages: 1 });
    expect(await store(pageOf(2, records(3, 2), 4), { ...next, pages: 2 })).toMatchObject({
      stored: true,
      records: 1,
    });
  });

  it.each([
    ['another record', records(4, 3)],
    ['a record that came before', records(2, 3)],
    ['no record', []],
  ])('that begins with %s stores nothing and moves nothing', async (_, list) => {
    await store();
    const before = await rows();
    expect(await store(pageOf(2, list, 5), next)).toMatchObject({
      stored: false,
      continues: false,
      records: Math.max(0, list.length - 1),
      came: list.length,
    });
    expect(await rows()).toEqual(before);
  });

  it('finds the record also where its keys come in another order', async () => {
    await store(pageOf(0, ['{"a": 1, "b": 2.5}'], 2));
    const again = pageOf(0, ['{"b": 2.5, "a": 1}', '{"c": 3}'], 2);
    expect(await store(again, { nextStart: 1, pages: 1, skip: 1 })).toMatchObject({ stored: true });
  });

  it('repeated after a lost answer finds its page (I1)', async () => {
    await store();
    await store(pageOf(2, records(3, 3), 5), next);
    const before = await rows();
    expect(await store(pageOf(2, records(3, 3), 5), next)).toMatchObject({ stored: true });
    expect(await rows()).toEqual(before);
  });
});

describe('a page whose list is elsewhere than on the pages before', () => {
  it('stores nothing, and says so', async () => {
    await store();
    const before = await rows();
    const elsewhere = { ...CONTRACT, recordsPath: ['items'] };
    expect(
      await store(pageOfBody(3, '{"items":[{"id": 4}]}'), { nextStart: 3, pages: 1 }, elsewhere),
    ).toMatchObject({ stored: false, fits: false, records: 1 });
    expect(await rows()).toEqual(before);
  });
});

describe('the fence', () => {
  it('refuses a page of a worker whose lease was taken, and changes nothing (I2)', async () => {
    await server.query(`update daywalk.windows set lease_id = $2 where window_id = $1`, [
      begun.window.windowId,
      randomUUID(),
    ]);
    const before = await rows();
    await expect(store()).rejects.toThrow(LeaseLostError);
    expect(await rows()).toEqual(before);
  });

  it('refuses a page after the window was given back (I2)', async () => {
    await server.query(
      `update daywalk.windows set lease_id = null, lease_owner = null, lease_expires = null where window_id = $1`,
      [begun.window.windowId],
    );
    const before = await rows();
    await expect(store()).rejects.toThrow(LeaseLostError);
    expect(await rows()).toEqual(before);
  });

  it('takes a page on an expired lease that nobody else has claimed', async () => {
    await server.query(`update daywalk.windows set lease_expires = 'epoch' where window_id = $1`, [
      begun.window.windowId,
    ]);
    expect(await store()).toMatchObject({ stored: true });
  });

  it('refuses a page of a walk that has ended, though the lease holds (I7)', async () => {
    await store();
    await endWalk(database, begun.window, begun.checkpoint.walkId, {
      outcome: 'shifted',
      reason: 'the list moved',
      end: null,
      claims: [],
      requests: 1,
    });
    const before = await rows();
    await expect(store(pageOf(3, records(4, 2)), { nextStart: 3, pages: 1 })).rejects.toThrow(
      LeaseLostError,
    );
    expect(await rows()).toEqual(before);
  });

  it('refuses a page of a walk that a failover took away with its window (D08)', async () => {
    const { windowId } = begun.window;
    await server.query(
      'update daywalk.windows set current_walk = null, lease_id = null, lease_expires = null where window_id = $1',
      [windowId],
    );
    await server.query('delete from daywalk.walks where window_id = $1', [windowId]);
    const before = await rows();
    await expect(store()).rejects.toThrow(LeaseLostError);
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
    await server.query('alter table daywalk.pages detach partition daywalk.pages_2026_03');
    const before = await rows();
    await expect(store()).rejects.toThrow(/was detached/);
    expect(await rows()).toEqual(before);
    await server.query('drop table daywalk.pages_2026_03');
    expect(await store()).toMatchObject({ stored: true });
  });
});
