/** What the archive reads: records in bounded pieces, whether a day is still what was read, times, counts, envelopes, fields. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findNewestWalk, readEnvelope, readRecordFields } from '../../src/archive/envelope-rows.ts';
import {
  countRecords,
  readDays,
  readPages,
  readRecords,
  type ServedStream,
  type Wanted,
} from '../../src/archive/rows.ts';
import { type ArchivedDay, isUnchanged, listArchivedDays } from '../../src/files/rows.ts';
import type { Contract, Page } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import { storePage } from '../../src/store/pages.ts';
import { readRecordsAfter } from '../../src/store/shown-records.ts';
import { proveWindow } from '../../src/store/walks.ts';
import { listFieldsFound, listPageNames } from '../../src/tables/field-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  leaseWindow,
  letHoursPass,
  proveCutOf,
  totalProof,
  windowOf,
} from '../support/publishing.ts';
import {
  CONTRACT,
  clear,
  DAY,
  openDatabase,
  openedWalk,
  pageOf,
  pageOfBody,
  planDays,
  storing,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(async () => {
  await clear(server);
  database = openDatabase(server.url);
});

/** Walks the day, these pages of so many records each, and proves it, with the cuts at its ends. */
async function publish(
  streamId: number,
  pages: readonly { readonly page: Page; readonly records: number }[],
  contract: Contract = CONTRACT,
): Promise<void> {
  const window = await leaseWindow(database, await windowOf(database, streamId, DAY));
  const { walkId, ...at } = await openedWalk(database, window);
  let nextStart = 0;
  for (const [number, { page, records }] of pages.entries()) {
    const place = { ...at, walkId, nextStart, pages: number };
    const store = (believes: string | null) =>
      storePage(storing(database, window), { ...place, believes }, page, contract);
    const { stored, signature } = await store(null);
    if (!stored) await store(signature);
    nextStart += records;
  }
  const walk = { walkId, nextStart, pages: pages.length };
  await proveWindow(database, window, walk, totalProof(nextStart));
  for (const day of ['2026-03-04', DAY])
    await proveCutOf(database, await windowOf(database, streamId, day, 'cut'));
}

/** Pages with these records, one after the other. */
function pagesOf(...lists: readonly (readonly string[])[]) {
  let start = 0;
  return lists.map((texts) => {
    const page = pageOf(start, texts);
    start += texts.length;
    return { page, records: texts.length };
  });
}

const ids = (...numbers: readonly number[]) => numbers.map((id) => `{"id": ${id}}`);

async function theDay(): Promise<ArchivedDay> {
  const [day] = await listArchivedDays(database, ['events'], { from: DAY, to: DAY });
  if (day === undefined) throw new Error('the day is not listed');
  return day;
}

describe('records in pieces', () => {
  /** All records, and of how many pieces; each piece has at least one page, whatever its size. */
  async function readAll(bytes: number) {
    const day = await theDay();
    const pieces: string[][] = [];
    let after = { walkId: 0, pageNo: -1 };
    for (;;) {
      const piece = await readRecordsAfter(database, day, after, bytes);
      if (piece === null) return pieces;
      pieces.push(piece.records.map(({ text }) => text));
      after = piece.last;
    }
  }

  it('are the same records in the same order, whatever the size; a page without any ends nothing', async () => {
    const streamId = await planDays(database);
    await publish(streamId, pagesOf(ids(1, 2, 3), ids(4), [], ids(5, 6)));
    const wanted = ids(1, 2, 3, 4, 5, 6);
    expect(await readAll(1)).toEqual([ids(1, 2, 3), ids(4), [], ids(5, 6)]);
    for (const bytes of [60, 100, 1e9]) expect((await readAll(bytes)).flat()).toEqual(wanted);
    expect(await readAll(1e9)).toHaveLength(1);
  });

  it('are those that the views show: of several walks, and those that are gone', async () => {
    const streamId = await planDays(database);
    await publish(streamId, pagesOf(ids(1, 2)));
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await publish(streamId, pagesOf(ids(2, 3)));
    }
    expect((await readAll(1)).flat()).toEqual(ids(1, 2, 3));
    expect(await theDay()).toMatchObject({ records: 3, gone: 1, walks: [1, 2], windows: 3 });
    const piece = await readRecordsAfter(database, await theDay(), { walkId: 0, pageNo: -1 }, 1e9);
    expect(piece?.records.map(({ goneSince, revision }) => [goneSince !== null, revision])).toEqual(
      [
        [true, 1],
        [false, 1],
        [false, 1],
      ],
    );
  });
});

describe('a day that was read', () => {
  it('is unchanged until something else is shown of it, if only that a record is gone', async () => {
    const streamId = await planDays(database);
    await publish(streamId, pagesOf(ids(1, 2)));
    const day = await theDay();
    expect(await isUnchanged(database, day)).toBe(true);
    expect(await isUnchanged(database, { ...day, marks: `${day.marks.slice(0, -2)}00` })).toBe(
      false,
    );

    await publish(streamId, pagesOf(ids(1, 2, 3)));
    expect(await isUnchanged(database, day)).toBe(false);
    const again = await theDay();
    await letHoursPass(database, 2);
    await publish(streamId, pagesOf(ids(1, 2)));
    expect(await isUnchanged(database, again)).toBe(true);
    await letHoursPass(database, 2);
    await publish(streamId, pagesOf(ids(1, 2)));
    expect(await isUnchanged(database, again)).toBe(false);
    expect(await isUnchanged(database, await theDay())).toBe(true);

    await server.query(`update daywalk.windows set state = 'failed', last_error = 'why'`);
    expect(await isUnchanged(database, await theDay())).toBe(false);
  });
});

describe('a served day', () => {
  const EVENTS: ServedStream = { streamId: 1, name: 'events', exact: true };
  const served = () =>
    database.snapshot((query) =>
      readDays(query, EVENTS, '2026-03-04 00:00:00', '2026-03-06 00:00:00'),
    );

  it('tells what is complete, what was pruned, and how many records it has', async () => {
    const streamId = await planDays(database);
    await publish(streamId, pagesOf(ids(1), ids(2)));
    expect(await served()).toMatchObject([
      { day: '2026-03-04', records: 0 },
      { day: DAY, state: 'complete', records: 2 },
      { day: '2026-03-06', records: 0 },
    ]);
    await server.query(
      `insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
       values ($1, $2, 'day', '{1}', 2, 2, 100)`,
      [streamId, DAY],
    );
    expect((await served())[1]).toMatchObject({ day: DAY, state: 'pruned' });
  });

  const wanted = (change: Partial<Wanted> = {}): Wanted => ({
    stream: EVENTS,
    day: DAY,
    filter: null,
    between: null,
    timePaths: [['time'], ['other', 'time']],
    timeZone: 'Europe/Berlin',
    ...change,
  });

  it('counts by the pages what looking at each record counts', async () => {
    const streamId = await planDays(database);
    await publish(streamId, pagesOf(ids(1, 2, 3), ids(4), [], ids(5, 6)));
    const [whole, looked] = await database.snapshot(async (query) => {
      const pages = await readPages(query, EVENTS, DAY);
      return [pages, await countRecords(query, wanted(), pages)];
    });
    expect(looked).toEqual(whole);
    expect(whole?.map(({ pageNo, records }) => [pageNo, records])).toEqual([
      [0, 3],
      [1, 1],
      [3, 2],
    ]);
    expect((await served())[1]).toMatchObject({ records: 6 });
  });

  it('counts and reads what is shown of several walks, and is another version each time', async () => {
    const streamId = await planDays(database);
    const versions = new Set<unknown>();
    for (const list of [ids(1, 2), ids(2, 3), ids(2, 3)]) {
      await publish(streamId, pagesOf(list));
      await letHoursPass(database, 2);
      versions.add((await served())[1]?.version);
    }
    expect(versions.size).toBe(3);
    await database.snapshot(async (query) => {
      const pages = await readPages(query, EVENTS, DAY);
      expect(pages.map(({ seen }) => seen)).toEqual([2, 1]);
      expect(await countRecords(query, wanted(), pages)).toEqual(pages);
      expect(await readRecords(query, wanted(), pages, 1, 9)).toEqual(ids(2, 3));
    });
    expect((await served())[1]).toMatchObject({ records: 3 });
  });

  it('reads times with an offset, without one, with a comma; the first place that holds one counts; others have none', async () => {
    const streamId = await planDays(database);
    // Berlin is one hour ahead of UTC on this day.
    const texts = [
      '{"time": "2026-03-05T11:00:00Z"}', // 12:00
      '{"time": "2026-03-05 12:00:00,999"}', // 12:00
      '{"time": "2026-03-05T12:00:01+01:00"}', // 12:00:01
      '{"time": "2026-03-05T12:00:00.5 +0100"}', // 12:00
      '{"time": "soon", "other": {"time": "2026-03-05T11:59:59"}}', // 11:59:59
      '{"time": "2026-03-04T23:59:59.9"}', // the source gave it as this day's: 00:00:00
      '{"time": "2026-03-06T09:00:00"}', // 23:59:59
      '{"time": "2026-03-05T12:00:02.9999999Z"}', // 13:00:02: a part of a second is not rounded
      '{"time": "2024-02-29T12:00:00+1400"}', // 00:00:00
      '{"time": "2026-02-29T12:00:00"}', // none, and so are all below
      '{"time": "2026-04-31T12:00:00"}',
      '{"time": "0000-01-01T12:00:00"}',
      '{"time": "2026-03-05T12:00:00+99:00"}',
      '{"time": "2026-03-05T24:00:00"}',
      '{"time": 1772712000}',
      '{}',
    ];
    await publish(streamId, pagesOf(texts));
    const within = (from: string, to: string) =>
      database.snapshot(async (query) => {
        const between = { from: `${DAY} ${from}`, to: `${DAY} ${to}` };
        const found = wanted({ between });
        const pages = await readPages(query, EVENTS, DAY);
        const [count] = await countRecords(query, found, pages);
        const read = await readRecords(query, found, pages, 0, 100);
        expect(count?.records).toBe(read.length);
        expect(count?.timeless).toBe(7);
        return read.map((text) => texts.indexOf(text)).sort();
      });
    expect(await within('12:00:00', '12:00:00')).toEqual([0, 1, 3]);
    expect(await within('12:00:01', '12:00:01')).toEqual([2]);
    expect(await within('11:59:59', '11:59:59')).toEqual([4]);
    expect(await within('00:00:00', '00:00:00')).toEqual([5, 8]);
    expect(await within('13:00:02', '13:00:02')).toEqual([7]);
    expect(await within('23:59:59', '23:59:59')).toEqual([6]);
  });

  it.each<[string, string, Contract, string]>([
    [
      'an object whose total is a number',
      '{"total":1,"data":[{"id":1}],"next":"a"}',
      CONTRACT,
      '{"data": [1,2], "next": "a", "total": 2}',
    ],
    [
      'totals deeper down, a text, with a twin and a relation',
      '{"page":{"count":"1","totalCount":"1","size":"50","relation":"gte"},"data":[{"id":1}]}',
      { ...CONTRACT, totalPath: ['page', 'count'], relationPath: ['page', 'relation'] },
      '{"data": [1,2], "page": {"size": "50", "count": "2", "relation": "eq", "totalCount": "2"}}',
    ],
    [
      'no total',
      '{"data":[{"id":1}],"count":7}',
      { ...CONTRACT, totalPath: null },
      '{"data": [1,2], "count": 7}',
    ],
    [
      'whether there is more',
      '{"data":[{"id":1}],"has_more":true,"note":"\\"hasMore\\": true","page":{"hasMoreEvents":true,"hasNextPage":false}}',
      { ...CONTRACT, totalPath: null },
      '{"data": [1,2], "note": "\\"hasMore\\": true", "page": {"hasNextPage": false, "hasMoreEvents": false}, "has_more": false}',
    ],
    [
      'a bare list',
      '[{"id":1}]',
      { recordsPath: [], totalPath: null, relationPath: null },
      '[1,2]',
    ],
  ])('has the envelope of the source: %s', async (_, body, contract, text) => {
    const streamId = await planDays(database);
    await publish(streamId, [{ page: pageOfBody(0, body), records: 1 }], contract);
    const found = await database.snapshot(async (query) => {
      const walk = await findNewestWalk(query, streamId);
      return walk && readEnvelope(query, walk.walkId, null);
    });
    expect(found?.(['1', '2'], 2, false)).toEqual(text);
    const before = found?.(['1'], 2, true);
    expect(before).toEqual(text.replace('[1,2]', '[1]').replaceAll(/(?<!\\)": false/g, '": true'));
  });

  it('has no envelope before a page is shown', async () => {
    const streamId = await planDays(database);
    expect(await database.snapshot((query) => findNewestWalk(query, streamId))).toBeUndefined();
  });

  it('has the fields of some of its records, lists and objects opened', async () => {
    const streamId = await planDays(database);
    const texts = ['{"a": {"b": 1}, "list": [{"c": "x"}, 7]}', '{"a": {"b": "1"}, "d": null}'];
    await publish(streamId, pagesOf(texts));
    const others = ['{"list": ["x"]}'];
    expect(
      await database.snapshot((query) => readRecordFields(query, EVENTS, [DAY], others)),
    ).toEqual([
      { path: 'list', types: ['number', 'object', 'string'] },
      { path: 'a', types: ['object'] },
      { path: 'a.b', types: ['number', 'string'] },
      { path: 'list.c', types: ['string'] },
    ]);
  });
});

describe('fields', () => {
  it('are found in objects and lists, with their types, counts and a value', async () => {
    const streamId = await planDays(database);
    await publish(
      streamId,
      pagesOf(
        ['{"a": {"b": 1}, "list": [{"c": "x"}, {"c": "y"}, 7]}', '{"a": null, "list": []}'],
        ['{"a": {"b": "text"}, "": 9007199254740993}'],
      ),
    );
    const day = await theDay();
    const names = await listPageNames(database, day);
    expect(names).toHaveLength(2);
    const found = await listFieldsFound(database, day, names, null);
    expect(Object.fromEntries(found.map(({ path, ...rest }) => [path.join('.'), rest]))).toEqual({
      // The record itself and the key that is empty are told apart by their paths only.
      '': { types: ['number'], records: 1, sample: '9007199254740993' },
      a: { types: ['null', 'object'], records: 3, sample: null },
      'a.b': { types: ['number', 'string'], records: 2, sample: '"text"' },
      list: { types: ['array'], records: 2, sample: null },
      'list.[]': { types: ['number', 'object'], records: 1, sample: '7' },
      'list.[].c': { types: ['string'], records: 1, sample: '"x"' },
    });
    expect(found.find(({ path }) => path.length === 0)).toMatchObject({ records: 3 });
  });

  it('of some records of a page are looked for in records spread over it', async () => {
    const streamId = await planDays(database);
    await publish(
      streamId,
      pagesOf(Array.from({ length: 90 }, (_, index) => `{"n${Math.floor(index / 30)}": 1}`)),
    );
    const day = await theDay();
    const found = await listFieldsFound(database, day, await listPageNames(database, day), 9);
    expect(found.map(({ path, records }) => [path.join('.'), records])).toEqual([
      ['', 9],
      ['n0', 3],
      ['n1', 3],
      ['n2', 3],
    ]);
  });
});
