/** Search: of which days "nothing" counts, which pages are opened, what is refused; and the reports that must not undercount. */
import { describe, expect, it } from 'vitest';
import { appendToLedger } from '../../src/ledger/rows.ts';
import { silentLogger } from '../../src/log.ts';
import { planPruning, prune } from '../../src/retention/prune.ts';
import type { Database } from '../../src/store/database.ts';
import { makeFilters, readNews } from '../../src/tables/page-filter-rows.ts';
import { filtering } from '../../src/tables/page-filters.ts';
import { type SearchRequest, type StreamHit, search } from '../../src/tables/search.ts';
import { type Follower, Followers } from '../../src/walk/followers.ts';
import type { TestDatabase } from '../support/database.ts';
import { proveCutOf, proveTexts, publishNext, windowOf } from '../support/publishing.ts';
import { DAY, freshStore, openDatabase, planDays } from '../support/store.ts';

const NEXT = '2026-03-06';
const LAST = '2026-03-07';
let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const never = new AbortController().signal;

/** Days that are proven, with the cuts beside them; each page holds the ids of one list. */
async function proven(days: Readonly<Record<string, readonly (readonly number[])[]>>) {
  const streamId = await planDays(database, Object.keys(days));
  for (const pages of Object.values(days)) await publishNext(database, streamId, pages);
  return streamId;
}

async function lookFor(value: string, change: Partial<SearchRequest> = {}) {
  const hits: StreamHit[] = [];
  const request = {
    value,
    streams: ['events'],
    from: null,
    to: null,
    limit: null,
    moved: null,
    ...change,
  };
  const report = await search(database, request, (more) => hits.push(...more), never);
  return { hits, report, records: hits.map(({ record }) => record) };
}

const followAll = (streamId: number, signal = never) =>
  filtering({ database }).catchUp([streamId], signal);

const filtered = async () =>
  (await server.query(`select walk_id::int, page_no from daywalk.page_filters order by 1, 2`)).map(
    ({ walk_id, page_no }) => `${walk_id}/${page_no}`,
  );

/** What a statement answers, or how it is refused. */
const answer = (sql: string, values: readonly unknown[] = []): Promise<unknown> =>
  server.query(sql, values).then(
    ([row]) => Object.values(row ?? {})[0],
    (error: Error) => error.message,
  );

describe('filters', () => {
  it('follow what is published: then one page is opened, and before all are', async () => {
    const streamId = await proven({ [DAY]: [[1, 2], [3], [4]], [NEXT]: [[5], [6]] });
    const before = await lookFor('3', { to: NEXT });
    expect(before).toMatchObject({
      records: ['{"id": 3}'],
      report: { limited: false, streams: [{ days: 2, proven: 2, pagesOpened: 5 }] },
    });
    await followAll(streamId);
    expect(await filtered()).toHaveLength(5);
    const after = await lookFor('3', { to: NEXT });
    expect(after.hits).toEqual(before.hits);
    expect(after.report.streams[0]).toMatchObject({ hits: 1, finished: true, pagesOpened: 1 });
    expect((await lookFor('7')).report.streams[0]).toMatchObject({ hits: 0, pagesOpened: 0 });
  });

  it('are made for what is published later, and for walks that are shown only', async () => {
    const streamId = await proven({ [DAY]: [[1], [2]] });
    await followAll(streamId);
    // The second walk brings a record; the third one nothing, so that it is not shown.
    await proveTexts(database, await windowOf(database, streamId, DAY), [
      ['{"id": 1}'],
      ['{"id": 2}', '{"id": 3}'],
    ]);
    await proveTexts(database, await windowOf(database, streamId, DAY), [
      ['{"id": 1}', '{"id": 2}', '{"id": 3}'],
    ]);
    await followAll(streamId);
    const shown = await server.query(
      `select p.walk_id::int, p.page_no from daywalk.pages p join daywalk.walks k using (walk_id) where k.shown <> 'no' order by 1, 2`,
    );
    expect(await filtered()).toEqual(shown.map(({ walk_id, page_no }) => `${walk_id}/${page_no}`));
    expect(shown).toHaveLength(4);
    expect((await lookFor('3', { to: NEXT })).records).toEqual(['{"id": 3}']);
  });

  it('go on where they were stopped, and note their place when a day is done', async () => {
    const streamId = await proven({ [DAY]: [[1], [2]], [NEXT]: [[3]] });
    await server.query('select daywalk.make_filters($1, $2, 1)', [streamId, DAY]);
    expect(await filtered()).toHaveLength(1);
    await expect(followAll(streamId, AbortSignal.abort())).rejects.toThrow();
    expect(await readNews(database, streamId)).toMatchObject({ days: [DAY, NEXT] });
    await followAll(streamId);
    expect(await filtered()).toHaveLength(3);
    expect(await readNews(database, streamId)).toBeNull();
  });

  it('are made once by several workers, which leave a stream to who is at it', async () => {
    const streamId = await proven({ [DAY]: [[1], [2], [3]], [NEXT]: [[4]] });
    const workers = Array.from(
      { length: 3 },
      () =>
        new Followers(
          [filtering({ database: openDatabase(server.url) })],
          [streamId],
          silentLogger,
          never,
        ),
    );
    await Promise.all(workers.map((worker) => worker.finish()));
    await followAll(streamId);
    expect(await filtered()).toHaveLength(4);
    const client = await server.pool.connect();
    try {
      await client.query('begin');
      await client.query('select daywalk.make_filters($1, $2, 1)', [streamId, DAY]);
      expect(await makeFilters(database, streamId, DAY)).toBeNull();
    } finally {
      await client.query('rollback');
      client.release();
    }
    expect(await makeFilters(database, streamId, DAY)).toBe(0);
  });

  it('are made when the walking is done, so that they take nothing from it', async () => {
    const streamId = await proven({ [DAY]: [[1]] });
    const asked: string[] = [];
    const beside = { what: 'beside', catchUp: async () => void asked.push('beside') };
    const filters = filtering({ database });
    const counted: Follower = {
      ...filters,
      async catchUp(streamIds, signal) {
        asked.push('filters');
        await filters.catchUp(streamIds, signal);
      },
    };
    const followers = new Followers([beside, counted], [streamId], silentLogger, never);
    followers.wake();
    await followers.stop();
    expect([asked, await filtered()]).toEqual([['beside'], []]);
    const ending = new Followers([beside, counted], [streamId], silentLogger, never);
    await ending.finish();
    expect(asked).toEqual(['beside', 'beside', 'filters']);
    expect(await filtered()).toHaveLength(1);
  });

  it('hold what stands in lists within lists, and in pages without records', async () => {
    const streamId = await planDays(database, [DAY]);
    await proveTexts(database, await windowOf(database, streamId, DAY), [
      [
        '{"is": "bare"}',
        '{"is": [17, null, false]}',
        '{"is": [["deep"]]}',
        `{"is": ${'['.repeat(450)}"deepest"${']'.repeat(450)}}`,
      ],
    ]);
    await followAll(streamId);
    for (const value of ['bare', '17.0', 'deep', 'deepest', 'false'])
      expect([value, (await lookFor(value)).hits.length]).toEqual([value, 1]);
    expect((await lookFor('null')).hits).toEqual([]);
    expect(await answer(`select daywalk.filter_of('[]') = daywalk.filter_of(null)`)).toBe(true);
  });

  it('let few other values pass', async () => {
    await planDays(database, [DAY]);
    const [row] = await server.query<{ bytes: number; passed: number }>(
      `with page as (
         select daywalk.filter_of(jsonb_agg(to_jsonb('held ' || n))) as filter from generate_series(1, 1000) as n
       )
       select octet_length(filter) as bytes, (
         select count(*)::int from daywalk.filter_keys(array(select 'other ' || n from generate_series(1, 20000) as n)) as k
          where (select bool_and(get_bit(filter, (k.start + i * k.step) % (octet_length(filter) * 8)) = 1) from generate_series(0, 7) as i)) as passed
         from page`,
    );
    expect(row?.bytes).toBe(2500);
    expect(row?.passed).toBeLessThan(20);
  });
});

describe('what was not proven', () => {
  it('is told with its state, and the rest is found all the same', async () => {
    const streamId = await proven({ [DAY]: [[1]], [NEXT]: [[2]] });
    await server.query(
      `update daywalk.windows set state = 'failed' where stream_id = $1 and kind = 'day' and day = $2`,
      [streamId, NEXT],
    );
    const { records, report } = await lookFor('2', { from: '2026-03-04', to: LAST });
    expect(records).toEqual(['{"id": 2}']);
    expect(report.streams[0]).toMatchObject({
      from: '2026-03-04',
      to: LAST,
      days: 4,
      proven: 1,
      unproven: [
        { day: '2026-03-04', state: 'unplanned' },
        { day: NEXT, state: 'failed' },
        { day: LAST, state: 'missing' },
      ],
    });
  });

  it('a stream without days, and one that nobody planned, has none', async () => {
    const none = {
      from: null,
      to: null,
      days: 0,
      proven: 0,
      unproven: [],
      hits: 0,
      finished: true,
    };
    await planDays(database, [DAY], { name: 'later' });
    expect((await lookFor('1', { streams: ['nobody'] })).report.streams).toMatchObject([none]);
    expect(
      (await lookFor('1', { streams: ['later'], from: '2099-01-01' })).report.streams,
    ).toMatchObject([none]);
  });

  it('pages that are gone, though the day is complete, are told', async () => {
    await proven({ [DAY]: [[1], [2]] });
    await server.query('delete from daywalk.pages where page_no = 1');
    const { report } = await lookFor('1', { to: DAY });
    expect(report.streams[0]?.unproven).toEqual([{ day: DAY, state: 'damaged' }]);
  });

  it('SQL warns of it', async () => {
    await proven({ [DAY]: [[1]] });
    const warnings: string[] = [];
    const client = await server.pool.connect();
    client.on('notice', ({ message }) => warnings.push(message ?? ''));
    try {
      await client.query('select * from daywalk.search($1, $2, $2)', ['1', DAY]);
      expect(warnings).toEqual([]);
      await client.query('select * from daywalk.search($1, $2, $3)', ['1', DAY, '2026-03-18']);
      expect(warnings).toEqual([
        expect.stringMatching(
          /^13 of 14 days are not proven, .*: events 2026-03-06 missing, .*events 2026-03-15 missing and 3 more$/,
        ),
      ]);
      // A range without a day: one that begins behind the last closed one, or that ends before the first.
      for (const range of ['from_day', 'to_day']) {
        const day = range === 'from_day' ? '2099-01-01' : '2000-01-01';
        await client.query(`select * from daywalk.search($1, ${range} => $2)`, ['1', day]);
        expect(warnings.splice(1)).toEqual([
          expect.stringMatching(/^no day was searched of events/),
        ]);
      }
    } finally {
      client.release(true);
    }
  });
});

describe('what was pruned', () => {
  it('has no filters, is not searched, and is told where it was asked for', async () => {
    const streamId = await proven({ [DAY]: [[1], [2]], [NEXT]: [[2]] });
    await followAll(streamId);
    for (const day of [DAY, NEXT]) await appendToLedger(database, { streamId, day });
    const [plan, kept] = await Promise.all([
      planPruning(database, {
        kind: 'day',
        limits: [{ stream: 'events', olderThanMs: 0 }],
        exported: null,
      }),
      lookFor('2', { to: NEXT }),
    ]);
    expect(kept.records).toHaveLength(2);
    await prune(
      database,
      'day',
      { ...plan, days: plan.days.filter(({ day }) => day === DAY) },
      never,
    );
    expect(await filtered()).toHaveLength(1);
    await followAll(streamId);
    expect(await filtered()).toHaveLength(1);
    expect(await lookFor('2', { to: NEXT })).toMatchObject({
      records: ['{"id": 2}'],
      report: { streams: [{ from: NEXT, days: 1, proven: 1 }] },
    });
    expect((await lookFor('2', { from: DAY, to: NEXT })).report.streams[0]).toMatchObject({
      proven: 1,
      unproven: [{ day: DAY, state: 'pruned' }],
    });
  });

  it('waits for filters that are being made, so that none is left behind', async () => {
    const streamId = await proven({ [DAY]: [[1]] });
    await appendToLedger(database, { streamId, day: DAY });
    const plan = await planPruning(database, {
      kind: 'day',
      limits: [{ stream: 'events', olderThanMs: 0 }],
      exported: null,
    });
    const client = await server.pool.connect();
    let pruned = false;
    try {
      await client.query('begin');
      await client.query('select daywalk.make_filters($1, $2, 1000000)', [streamId, DAY]);
      const pruning = prune(database, 'day', plan, never).then(() => {
        pruned = true;
      });
      for (let waiting = 0; waiting === 0; )
        // On another connection: within a transaction the view does not change.
        [{ waiting } = { waiting: 0 }] = await server.query<{ waiting: number }>(
          `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
      expect(pruned).toBe(false);
      await client.query('commit');
      await pruning;
    } finally {
      client.release();
    }
    expect(await filtered()).toEqual([]);
  });
});

describe('a search', () => {
  it('ends at its limit, and says that there may be more', async () => {
    await proven({ [DAY]: [[1, 2], [3]], [NEXT]: [[4]] });
    await server.query(
      `update daywalk.pages set body = replace(body::text, '"id"', '"same": "x", "id"')::jsonb`,
    );
    const all = await lookFor('x');
    expect(all.hits.map(({ day, position, paths }) => [day, position, paths])).toEqual([
      [DAY, 0, ['$.same']],
      [DAY, 1, ['$.same']],
      [DAY, 2, ['$.same']],
      [NEXT, 0, ['$.same']],
    ]);
    const some = await lookFor('x', { limit: 3 });
    expect(some.hits).toEqual(all.hits.slice(0, 3));
    expect(some.report).toMatchObject({ limited: true, streams: [{ hits: 3, finished: false }] });
    expect((await lookFor('x', { limit: 4 })).report).toMatchObject({
      limited: false,
      streams: [{ hits: 4, finished: true }],
    });
  });

  it('finds records that only a cut shows', async () => {
    const streamId = await proven({ [DAY]: [[1]], [NEXT]: [[2]] });
    await proveCutOf(
      database,
      await windowOf(database, streamId, DAY, 'cut'),
      { across: ['{"id": 9}'], before: [], after: [] },
      { records: 1, removed: 0 },
    );
    await followAll(streamId);
    expect((await lookFor('9')).records).toEqual(['{"id": 9}']);
  });

  it('is refused where nothing can be searched for, or nowhere', async () => {
    await proven({ [DAY]: [[1]] });
    for (const [sql, message] of [
      ['select * from daywalk.search(null)', /nothing to search for: the value is null/],
      [`select * from daywalk.search('')`, /nothing to search for: the value is an empty text/],
      [`select * from daywalk.search('x', in_stream => 'nobody')`, /there is no stream 'nobody'/],
      [
        `select * from daywalk.search('x', '2026-03-06', '2026-03-05')`,
        /range of days is reversed: from 2026-03-06 to 2026-03-05/,
      ],
      [
        `select * from daywalk.search('x', '-infinity', '2026-03-05')`,
        /longer than a hundred years/,
      ],
    ] as const)
      expect(await answer(sql), sql).toMatch(message);
  });
});

describe('daywalk.require_complete', () => {
  const required = (...values: unknown[]) =>
    answer('select daywalk.require_complete($1, $2, $3) as done', values);

  it('is true where every day is proven, and can be a condition of a query', async () => {
    await proven({ [DAY]: [[1]], [NEXT]: [[2]] });
    expect(await required('events', DAY, NEXT)).toBe(true);
    expect(
      await answer(
        `select count(*)::int from daywalk.events where day between '${DAY}' and '${NEXT}' and daywalk.require_complete('events', '${DAY}', '${NEXT}')`,
      ),
    ).toBe(2);
    expect(
      await answer(
        `select count(*)::int from daywalk.events where day = '${DAY}' and daywalk.require_complete('events', '${DAY}', '${LAST}')`,
      ),
    ).toMatch(/1 of 3 days of events are not proven: 2026-03-07 missing/);
  });

  it.each([
    ['failed', `update daywalk.windows set state = 'failed' where kind = 'day'`],
    ['pending', `update daywalk.windows set state = 'pending' where kind = 'cut'`],
    [
      'running',
      `update daywalk.windows set state = 'pending', lease_id = gen_random_uuid(), lease_expires = now() + interval '1 hour' where kind = 'day'`,
    ],
    [
      'pruned',
      `insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes) values (1, '${DAY}', 'day', '{}', 0, 0, 0)`,
    ],
  ])('raises where a day is %s', async (state, change) => {
    await proven({ [DAY]: [[1]] });
    expect(await required('events', DAY, DAY)).toBe(true);
    await server.query(change);
    expect(await required('events', DAY, DAY)).toBe(
      `1 of 1 days of events are not proven: ${DAY} ${state}`,
    );
  });

  it('raises where the pages of a day are gone, also for who does not see that it was pruned', async () => {
    const streamId = await proven({ [DAY]: [[1]] });
    await appendToLedger(database, { streamId, day: DAY });
    const count = `select count(*)::int from daywalk.events where day = '${DAY}' and daywalk.require_complete('events', '${DAY}', '${DAY}')`;
    const client = await server.pool.connect();
    try {
      await client.query('begin isolation level repeatable read');
      await client.query('select from daywalk.coverage');
      const limits = [{ stream: 'events', olderThanMs: 0 }];
      const plan = await planPruning(database, { kind: 'day', limits, exported: null });
      // Emptied at once, which no snapshot keeps.
      expect(await prune(database, 'day', plan, never)).toMatchObject({ emptied: ['2026-03'] });
      await expect(client.query(count)).rejects.toThrow(
        `1 of 1 days of events are not proven: ${DAY} damaged`,
      );
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it('names ten days, and how many there are', async () => {
    await proven({ [DAY]: [[1]] });
    expect(await required('events', '2026-02-20', DAY)).toMatch(
      /^13 of 14 days of events are not proven: 2026-02-20 unplanned, (2026-02-2\d unplanned, ){8}2026-03-01 unplanned and 3 more$/,
    );
    expect(await required('events', '2099-01-01', '2099-01-01')).toBe(
      '1 of 1 days of events are not proven: 2099-01-01 open',
    );
  });

  it('refuses what is no stream, and no range of days', async () => {
    await proven({ [DAY]: [[1]] });
    for (const [values, message] of [
      [['nobody', DAY, DAY], `there is no stream 'nobody'`],
      [[null, DAY, DAY], /needs a stream.*null/],
      [['events', null, DAY], /needs a stream.*null/],
      [['events', DAY, null], /needs a stream.*null/],
      [['events', NEXT, DAY], /reversed/],
      [['events', DAY, 'infinity'], /longer than a hundred years/],
    ] as const)
      expect(await required(...values), values.join()).toMatch(message);
  });
});
