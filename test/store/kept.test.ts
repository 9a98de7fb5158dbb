/** Kept: what later walks lack stays shown, is told, and comes back; what they change is shown once where records are identified. */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { retireDay } from '../../src/store/evidence/forgotten.ts';
import { noteLooked } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { readGone } from '../../src/store/publications.ts';
import { closeSplit, replanParts, splitWindow } from '../../src/store/splits.ts';
import { proveWindow } from '../../src/store/walks.ts';
import { acceptSource } from '../../src/store/windows.ts';
import { audit } from '../support/audit.ts';
import { until } from '../support/condition.ts';
import type { TestDatabase } from '../support/database.ts';
import { letTimePass } from '../support/pass-time.ts';
import {
  leaseWindow,
  letHoursPass,
  proveTexts,
  publishNext,
  textsOf,
  totalProof,
  windowOf,
} from '../support/publishing.ts';
import {
  CONTRACT,
  DAY,
  freshStore,
  openedWalk,
  pageOf,
  planDays,
  registerEvents,
  storing,
} from '../support/store.ts';

const NEXT_DAY = '2026-03-06';
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

/** Walks a day again, so many hours later. */
async function walkAgain(
  streamId: number,
  texts: readonly string[],
  hours = 2,
  day = DAY,
): Promise<void> {
  await letHoursPass(database, hours);
  await proveTexts(database, await windowOf(database, streamId, day), [texts]);
}

const shown = async () =>
  (
    await server.query<{ found: string }>(
      `select record::text || case when gone_since is null then '' else ' gone' end as found from daywalk.events order by day, record, gone_since nulls first`,
    )
  ).map((row) => row.found);
const counts = async (view: string) =>
  (await server.query<{ count: number }>(`select count(*)::int as count from ${view}`))[0]?.count;
const told = async () => (await readGone(database, ['events']))[0];
const published = () =>
  server.query(
    'select seq::int, day::text, revision, records::int, appeared::int, gone::int, lost::int from daywalk.publications order by seq',
  );

describe('a source that loses its events', () => {
  it('takes none of them from the archive, and it is told once two walks lacked them', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [upTo(700)]);
    await walkAgain(streamId, []);
    expect(await counts('daywalk.events')).toBe(700);
    expect(await counts('daywalk.events_now')).toBe(700);
    expect(await told()).toMatchObject({ gone: 0, lost: 0, failures: [] });
    await walkAgain(streamId, []);
    expect(await counts('daywalk.events')).toBe(700);
    expect(await counts('daywalk.events_now')).toBe(0);
    expect(
      await server.query('select state, records, gone from daywalk.coverage where day = $1', [DAY]),
    ).toEqual([{ state: 'complete', records: '700', gone: '700' }]);
    expect(await told()).toMatchObject({
      gone: 700,
      lost: 700,
      days: 1,
      failures: [{ day: DAY, lost: 700, records: 700 }],
      identified: false,
    });
    expect(await published()).toMatchObject([
      { seq: 1, day: DAY, revision: 1, records: 700, appeared: 0, gone: 0, lost: 0 },
      { seq: 2, day: DAY, revision: 2, records: 700, appeared: 0, gone: 700, lost: 700 },
    ]);
    expect(await audit(server)).toEqual([]);
  });

  it('shows them again: they are gone no more', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2, 2]]);
    await walkAgain(streamId, textsOf([2]));
    await walkAgain(streamId, textsOf([2]));
    expect(await shown()).toEqual(['{"id": 1} gone', '{"id": 2}', '{"id": 2} gone']);
    await walkAgain(streamId, textsOf([1, 2, 2]));
    expect(await shown()).toEqual(['{"id": 1}', '{"id": 2}', '{"id": 2}']);
    expect(await told()).toMatchObject({ gone: 0, lost: 0, days: 0 });
    expect(await audit(server)).toEqual([]);
  });

  it('has lost a few: no failure, and since when is since the first walk that lacked them', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [upTo(700)]);
    await walkAgain(streamId, textsOf(upTo(691)));
    const [missing] = await server.query<{ since: Date }>(
      'select max(since) as since from daywalk.marks',
    );
    await letHoursPass(database, 1);
    await walkAgain(streamId, textsOf(upTo(691)), 0);
    expect(await told()).toMatchObject({ gone: 9, lost: 9, failures: [] });
    const [gone] = await server.query<{ since: Date }>(
      'select max(gone_since) as since from daywalk.events',
    );
    expect(missing && gone && missing.since.getTime() - gone.since.getTime()).toBe(3_600_000);
  });

  it('has forgotten a day for good: told as such, not as lost, and not looked at when looks are over', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [upTo(20)]);
    await walkAgain(streamId, []);
    await walkAgain(streamId, []);
    await retireDay(
      database,
      await leaseWindow(database, await windowOf(database, streamId, DAY)),
      0,
    );
    expect(await told()).toMatchObject({
      gone: 20,
      lost: 0,
      failures: [],
      retiredDays: 1,
      newestRetired: DAY,
    });
    expect(
      await server.query(
        `select state, due_at, lease_id, rewalk from daywalk.windows where kind = 'day'`,
      ),
    ).toEqual([{ state: 'complete', due_at: null, lease_id: null, rewalk: false }]);
  });

  it('has forgotten a day of which another worker splits a part just then: nothing of it is left to be walked', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [upTo(20)]);
    const top = await windowOf(database, streamId, DAY);
    const halve = (at: string, from = '00:00:00', to = '23:59:59') =>
      [
        ['time', 'too much', null],
        [`{${DAY} ${from},${DAY} ${at}:00}`, `{${DAY} ${at}:00,${DAY} ${to}}`, '{null,null}'],
      ].flat();
    const split = `select daywalk.split_window($1, $2, $3, $4, $5, $6::timestamp[], $7::timestamp[], $8::integer[], $8::integer[], '{}')`;
    const day = await leaseWindow(database, top);
    await database.query(split, [day.windowId, day.leaseId, ...halve('12:00')]);
    const partsOf = async (windowId: number) =>
      server.query<{ id: number }>(
        'select window_id::int as id from daywalk.windows where split_from = $1 order by from_time',
        [windowId],
      );
    const [morning, evening] = await partsOf(top);
    await proveTexts(database, morning?.id ?? 0, [textsOf([1])]);
    const mine = await leaseWindow(database, top);
    const other = await leaseWindow(database, evening?.id ?? 0);
    const splitting = await server.pool.connect();
    await splitting.query('begin');
    await splitting.query(split, [other.windowId, other.leaseId, ...halve('18:00', '12:00:00')]);
    const retired = retireDay(database, mine, 7);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until('what waits for the part', async () => (await server.query(waiting)).length > 0);
    await splitting.query('commit');
    splitting.release();
    await retired;
    expect(
      await server.query(
        `select kind, state from daywalk.windows where kind <> 'cut' and (lease_id is not null or state <> 'replaced')`,
      ),
    ).toEqual([{ kind: 'day', state: 'complete' }]);
  });

  it('has forgotten a day that is held by its parts: what is asked between them then is asked no more', async () => {
    const streamId = await planDays(database);
    const top = await windowOf(database, streamId, DAY);
    const ends = [`${DAY} 11:59:59`, `${DAY} 23:59:59`];
    const parts = ends.map((to, index) => ({
      from: `${DAY} ${index === 0 ? '00' : '12'}:00:00`,
      to,
      levelFrom: null,
      levelTo: null,
    }));
    const split = { by: 'time', reason: 'too much', total: 2, parts, cuts: [] } as const;
    await splitWindow(database, await leaseWindow(database, top), split);
    const below = () =>
      server.query<{ id: number; kind: string; state: string }>(
        'select window_id::int as id, kind, state from daywalk.windows where split_from = $1 order by kind desc, from_time',
        [top],
      );
    for (const [index, { id }] of (await below()).entries())
      await proveTexts(database, id, [textsOf([index])]);
    const proof = {
      kind: 'parts',
      rule: 'C9',
      records: 2,
      why: '',
      total: 2,
      calibrated: true,
    } as const;
    await closeSplit(database, await leaseWindow(database, top), proof);
    const [cut = ''] = ends;
    await replanParts(database, await leaseWindow(database, top), { parts: [], cuts: [cut] });
    await retireDay(database, await leaseWindow(database, top), 7);
    expect((await below()).map(({ kind, state }) => [kind, state])).toEqual([
      ['part', 'complete'],
      ['part', 'complete'],
      ['cut', 'replaced'],
    ]);
  });
});

describe('a record that one walk lacks', () => {
  it('is asked for again an hour later, by a walk and not by a look', async () => {
    const streamId = await planDays(database);
    const window = await publishNext(database, streamId, [[1, 2]]);
    await walkAgain(streamId, textsOf([1]));
    const due = () =>
      server.query(
        `select state, rewalk, round(extract(epoch from due_at - clock_timestamp()) / 60)::int as minutes from daywalk.windows where window_id = $1`,
        [window.windowId],
      );
    expect(await due()).toEqual([{ state: 'complete', rewalk: true, minutes: 60 }]);
    await walkAgain(streamId, textsOf([1]));
    expect(await due()).toEqual([{ state: 'complete', rewalk: false, minutes: 60 }]);
  });

  it('is not gone by a second walk within the hour', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await walkAgain(streamId, textsOf([1]));
    await walkAgain(streamId, textsOf([1]), 0.5);
    expect(await shown()).toEqual(['{"id": 1}', '{"id": 2}']);
    await walkAgain(streamId, textsOf([1]), 0.5);
    expect(await shown()).toEqual(['{"id": 1}', '{"id": 2} gone']);
  });

  it('is gone an hour later also where it was missed while the clock of the database was days ahead', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await walkAgain(streamId, textsOf([1]));
    await server.query(`update daywalk.marks set since = since + interval '30 days'`);
    await walkAgain(streamId, textsOf([1]));
    await walkAgain(streamId, textsOf([1]));
    expect(await shown()).toEqual(['{"id": 1}', '{"id": 2} gone']);
    expect(await server.query(`select from daywalk.windows where rewalk and kind = 'day'`)).toEqual(
      [],
    );
  });

  it('is nothing new to readers: no publication, and nothing to seal', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await server.query('update daywalk.days set unsealed = false');
    await walkAgain(streamId, textsOf([1]));
    expect(await published()).toHaveLength(1);
    expect(await server.query('select unsealed from daywalk.days')).toEqual([{ unsealed: false }]);
  });
});

describe('records that came late', () => {
  it('are shown beside the others, under the walk that brought them, and told', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [
      [1, 2],
      [3, 3],
    ]);
    await walkAgain(streamId, textsOf([3, 2, 1, 3, 4, 4]));
    expect(await shown()).toEqual([1, 2, 3, 3, 4, 4].map((id) => `{"id": ${id}}`));
    expect(
      await server.query(
        'select stream, day::text, records, after > $1::interval as late from daywalk.lateness',
        ['0'],
      ),
    ).toEqual([{ stream: 'events', day: DAY, records: '2', late: true }]);
    expect(
      await server.query('select walk_id, shown from daywalk.walks where role = $1 order by 1', [
        'whole',
      ]),
    ).toEqual([
      { walk_id: '1', shown: 'whole' },
      { walk_id: '2', shown: 'part' },
    ]);
    expect(await audit(server)).toEqual([]);
  });

  it('in another order and on other pages are none', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [
      [1, 2],
      [3, 3],
    ]);
    await walkAgain(streamId, textsOf([3, 3, 2, 1]));
    expect(await published()).toHaveLength(1);
    expect(await server.query('select from daywalk.marks')).toEqual([]);
  });

  it('make the cuts at the ends of their day due', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1]]);
    await walkAgain(streamId, textsOf([1, 2]));
    expect(
      await server.query(
        `select midnight::text, due_at <= clock_timestamp() as due from daywalk.windows where kind = 'cut' order by 1`,
      ),
    ).toEqual([
      { midnight: '2026-03-04', due: true },
      { midnight: DAY, due: true },
    ]);
  });

  it('are found on pages that begin with the last record of the page before', async () => {
    const streamId = await planDays(database);
    const window = await leaseWindow(database, await windowOf(database, streamId, DAY));
    const first = await openedWalk(database, window);
    await storePage(storing(database, window), first, pageOf(0, textsOf([1, 2])), CONTRACT);
    const second = { ...first, nextStart: 2, pages: 1, skip: 1 } as const;
    await storePage(storing(database, window), second, pageOf(1, textsOf([2, 3, 4])), CONTRACT);
    await proveWindow(
      database,
      window,
      { walkId: first.walkId, nextStart: 4, pages: 2 },
      totalProof(4),
    );
    expect(await server.query('select position::int from daywalk.events order by 1')).toEqual(
      [0, 1, 2, 3].map((position) => ({ position })),
    );
    await walkAgain(streamId, textsOf([1, 2, 4]));
    await walkAgain(streamId, textsOf([1, 2, 4]));
    expect(
      await server.query(
        'select page_no, position::int from daywalk.events where gone_since is not null',
      ),
    ).toEqual([{ page_no: 1, position: 2 }]);
  });
});

describe('an edited record', () => {
  const before = ['{"id": 1, "read": false}', '{"id": 2, "read": false}'];
  const after = ['{"id": 1, "read": true}', '{"id": 2, "read": false}'];

  it('is shown in both versions where records are not identified; that is no loss', async () => {
    const streamId = await planDays(database);
    await proveTexts(database, await windowOf(database, streamId, DAY), [before]);
    await walkAgain(streamId, after);
    await walkAgain(streamId, after);
    expect(await shown()).toEqual([
      '{"id": 1, "read": false} gone',
      '{"id": 1, "read": true}',
      '{"id": 2, "read": false}',
    ]);
    expect(await told()).toMatchObject({ gone: 1, lost: 0, identified: false });
  });

  it('is shown once where they are, with the older version beside', async () => {
    const streamId = await planDays(database, [DAY], { idPath: ['id'] });
    await proveTexts(database, await windowOf(database, streamId, DAY), [before]);
    await walkAgain(streamId, after);
    expect(
      await server.query(
        'select record, revision, first_seen < fetched_at as seen_before, gone_since from daywalk.events order by record',
      ),
    ).toEqual([
      { record: { id: 1, read: true }, revision: 2, seen_before: true, gone_since: null },
      { record: { id: 2, read: false }, revision: 1, seen_before: false, gone_since: null },
    ]);
    expect(
      await server.query(
        'select stream, day::text, id, revision, record from daywalk.record_versions',
      ),
    ).toEqual([
      { stream: 'events', day: DAY, id: '1', revision: 1, record: { id: 1, read: false } },
    ]);
    expect((await published()).slice(1)).toMatchObject([{ records: 2, appeared: 0, gone: 0 }]);
    expect(await told()).toMatchObject({ gone: 0, identified: true });
    expect(await audit(server)).toEqual([]);
  });

  it.each(['null', '""'])('has no identity where %s stands for one', async (nothing) => {
    const streamId = await planDays(database, [DAY], { idPath: ['id'] });
    const [one, other] = [1, 2].map((n) => `{"n": ${n}, "id": ${nothing}}`) as [string, string];
    await proveTexts(database, await windowOf(database, streamId, DAY), [[one, other]]);
    await walkAgain(streamId, [other]);
    expect(await counts('daywalk.events')).toBe(2);
    expect(await counts('daywalk.record_versions')).toBe(0);
    await walkAgain(streamId, [other]);
    expect(await counts('daywalk.events')).toBe(2);
    expect(await told()).toMatchObject({ gone: 1 });
  });

  it.each([
    ['0', '0'],
    ['{}', '{}'],
    ['[]', '[]'],
    ['"\\ud800"', '"\\ud801"'],
    ['"a\\u0000"', '"a\\ud800"'],
  ])(
    'is none of a record with another identity, where %s and %s are the same here',
    async (one, other) => {
      const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
      const [first, second, third] = [one, other, one].map((id, n) => [`{"n": ${n}, "id": ${id}}`]);
      await proveTexts(database, await windowOf(database, streamId, DAY), [first as string[]]);
      for (let walk = 0; walk < 2; walk += 1) await walkAgain(streamId, second as string[]);
      await walkAgain(streamId, third as string[], 2, NEXT_DAY);
      expect(await counts('daywalk.events')).toBe(3);
      expect(await counts('daywalk.record_versions')).toBe(0);
      expect(await told()).toMatchObject({ gone: 1 });
    },
  );

  it('that its list showed twice for a while, as it moved between tiers, is shown as often as it is now', async () => {
    const streamId = await planDays(database, [DAY], { idPath: ['id'] });
    await publishNext(database, streamId, [[1, 2, 2, 3, 3]]);
    await walkAgain(streamId, textsOf([1, 2, 3, 3]));
    expect(await shown()).toEqual(textsOf([1, 2, 3, 3]));
    await walkAgain(streamId, textsOf([1, 2, 3]));
    expect(await shown()).toEqual(textsOf([1, 2, 3]));
    expect(await told()).toMatchObject({ gone: 0, lost: 0 });
    await walkAgain(streamId, textsOf([1, 2, 2, 3]));
    expect(await shown()).toEqual(textsOf([1, 2, 2, 3]));
    await walkAgain(streamId, textsOf([1, 3]));
    await walkAgain(streamId, textsOf([1, 3]));
    expect(await shown()).toEqual(['{"id": 1}', '{"id": 2} gone', '{"id": 2} gone', '{"id": 3}']);
    expect(await audit(server)).toEqual([]);
  });

  it('is recognised though its first version came when records were not identified', async () => {
    const streamId = await planDays(database);
    await proveTexts(database, await windowOf(database, streamId, DAY), [before]);
    await server.query(`update daywalk.streams set id_path = '{id}'`);
    await walkAgain(streamId, after);
    expect(await shown()).toEqual(['{"id": 1, "read": true}', '{"id": 2, "read": false}']);
  });

  it('counts its versions once, also where it was identified otherwise for a while', async () => {
    const streamId = await planDays(database, [DAY], { idPath: ['id'] });
    await proveTexts(database, await windowOf(database, streamId, DAY), [before]);
    await walkAgain(streamId, after);
    const versions = () =>
      server.query(
        `select revision, record, first_seen from daywalk.events
          union all select revision, record, null from daywalk.record_versions order by 2`,
      );
    const known = await versions();
    for (const idPath of [['key'], ['id']]) await registerEvents(database, { idPath });
    expect(await versions()).toEqual(known);
  });

  it('that has moved to another day is not shown twice once it is gone from the first', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
    await proveTexts(database, await windowOf(database, streamId, DAY), [before]);
    await letHoursPass(database, 1);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [
      ['{"id": 1, "day": 2}'],
    ]);
    await walkAgain(streamId, before.slice(1));
    await walkAgain(streamId, before.slice(1));
    expect(await shown()).toEqual(['{"id": 2, "read": false}', '{"id": 1, "day": 2}']);
    expect(await server.query('select day::text, id from daywalk.record_versions')).toEqual([
      { day: DAY, id: '1' },
    ]);
    expect(await audit(server)).toEqual([]);
  });

  it('that has moved to another day counts its versions there, and is first seen when the first of them was', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
    const version = (n: number) => [`{"v": ${n}, "id": 1}`];
    const versions = () =>
      server.query(
        `select revision, record -> 'v' as v, day::text from daywalk.events
          union all select revision, record -> 'v', day::text from daywalk.record_versions order by 2`,
      );
    for (const n of [1, 2]) {
      await proveTexts(database, await windowOf(database, streamId, DAY), [version(n)]);
      await letHoursPass(database, 1);
    }
    const [first] = await server.query('select first_seen from daywalk.events');
    for (let walk = 0; walk < 2; walk += 1) await walkAgain(streamId, []);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [version(3)]);
    await walkAgain(streamId, version(4), 2, NEXT_DAY);
    expect(await versions()).toEqual([
      { revision: 1, v: 1, day: DAY },
      { revision: 2, v: 2, day: DAY },
      { revision: 3, v: 3, day: NEXT_DAY },
      { revision: 4, v: 4, day: NEXT_DAY },
    ]);
    expect(await server.query('select first_seen from daywalk.events')).toEqual([first]);
    expect(await audit(server)).toEqual([]);
  });

  it('that has moved to another day, and was edited there before it was gone from the first, counts all its versions', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
    await proveTexts(database, await windowOf(database, streamId, DAY), [['{"v": 1, "id": 1}']]);
    await letHoursPass(database, 1);
    for (const n of [2, 3])
      await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [
        [`{"v": ${n}, "id": 1}`],
      ]);
    for (let walk = 0; walk < 2; walk += 1) await walkAgain(streamId, []);
    expect(await server.query('select record, revision from daywalk.events')).toEqual([
      { record: { v: 3, id: 1 }, revision: 3 },
    ]);
    const sealed = await server.query(
      'select d.day::text, d.unsealed from daywalk.days d order by 1',
    );
    expect(sealed).toEqual([DAY, NEXT_DAY].map((day) => ({ day, unsealed: true })));
    expect(await audit(server)).toEqual([]);
  });

  it('of which several move one after the other are shown once when all have moved', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
    const on = (day: number, ids: readonly number[]) =>
      ids.map((id) => `{"id": ${id}, "day": ${day}}`);
    await proveTexts(database, await windowOf(database, streamId, DAY), [on(1, [1, 2, 3])]);
    for (let walk = 0; walk < 2; walk += 1) await walkAgain(streamId, on(1, [2, 3]));
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [on(2, [1, 2])]);
    for (let walk = 0; walk < 2; walk += 1) await walkAgain(streamId, on(1, [3]));
    expect(await shown()).toEqual([...on(1, [3]), ...on(2, [1, 2])]);
    expect(await audit(server)).toEqual([]);
  });

  it('that appears on another day after it was gone from the first is not shown twice either', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
    await proveTexts(database, await windowOf(database, streamId, DAY), [before]);
    await walkAgain(streamId, before.slice(1));
    await walkAgain(streamId, before.slice(1));
    expect(await shown()).toHaveLength(2);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [
      ['{"id": 1, "day": 2}'],
    ]);
    expect(await shown()).toEqual(['{"id": 2, "read": false}', '{"id": 1, "day": 2}']);
    expect(await audit(server)).toEqual([]);
  });
});

describe('an identity that begins anew each day', () => {
  const THIRD_DAY = '2026-03-07';
  const of = (day: string, ids: readonly number[]) =>
    ids.map((id) => `{"id": ${id}, "on": "${day}"}`);
  const deleted = async (id: number, day: string) => [
    [`{"id": ${id}, "on": "${day}"} gone`],
    { gone: 1, lost: 1 },
    [],
  ];
  const found = async () => [
    (await shown()).filter((text) => text.endsWith('gone')),
    await told().then((now) => ({ gone: now?.gone, lost: now?.lost })),
    await audit(server),
  ];

  it.each<[string, Readonly<Record<string, readonly number[]>>, number]>([
    ['as others of its day', { [DAY]: [1, 2, 3], [NEXT_DAY]: [1, 2] }, 2],
    ['on two other days', { [DAY]: [1], [NEXT_DAY]: [1], [THIRD_DAY]: [1] }, 1],
  ])(
    'and stands on another day, too, %s, says nothing of a deleted record',
    async (_, lists, id) => {
      const streamId = await planDays(database, Object.keys(lists), { idPath: ['id'] });
      for (const [day, ids] of Object.entries(lists))
        await proveTexts(database, await windowOf(database, streamId, day), [of(day, ids)]);
      const rest = (lists[DAY] ?? []).filter((other) => other !== id);
      for (let walk = 0; walk < 2; walk += 1) await walkAgain(streamId, of(DAY, rest));
      expect(await found()).toEqual(await deleted(id, DAY));
      for (const [day, ids] of Object.entries(lists).slice(1))
        await walkAgain(streamId, of(day, [...ids, 9]), 2, day);
      expect(await found()).toEqual(await deleted(id, DAY));
    },
  );

  it('and stands on a day that is new hides no record that was deleted before', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
    await proveTexts(database, await windowOf(database, streamId, DAY), [of(DAY, [1, 2])]);
    for (let walk = 0; walk < 2; walk += 1) await walkAgain(streamId, of(DAY, [1]));
    const next = await windowOf(database, streamId, NEXT_DAY);
    await proveTexts(database, next, [of(NEXT_DAY, [1, 2, 3])]);
    expect(await found()).toEqual(await deleted(2, DAY));
  });

  it('and stands on another day, too, says nothing of a day that shows nothing any more', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
    const day = await windowOf(database, streamId, DAY);
    await proveTexts(database, day, [of(DAY, [1, 2])]);
    const next = await windowOf(database, streamId, NEXT_DAY);
    await proveTexts(database, next, [of(NEXT_DAY, [1, 2, 3])]);
    await noteLooked(database, await leaseWindow(database, day), 0);
    for (let walk = 0; walk < 2; walk += 1) {
      await letTimePass(server, '2 hours');
      await proveTexts(database, day, [[]]);
    }
    expect((await found())[0]).toEqual(of(DAY, [1, 2]).map((text) => `${text} gone`));
    expect(await told()).toMatchObject({ gone: 2, lost: 2 });
    expect(await audit(server)).toEqual([]);
  });
});

describe('what a person accepted as lost', () => {
  it.each([0, 30])(
    'is not lost again when something else of the day changes, also where it went while the clock of the database was ahead: %i days',
    async (ahead) => {
      const streamId = await planDays(database);
      await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1, 2, 3])]);
      for (let time = 0; time < 2; time += 1) await walkAgain(streamId, textsOf([2, 3]));
      await server.query(
        `update daywalk.marks set since = since + make_interval(days => ${ahead})`,
      );
      const lost = async () =>
        (
          await server.query<{ lost: number }>(
            'select d.lost::int, (select sum(p.lost)::int from daywalk.publications p) as ever from daywalk.days d',
          )
        )[0];
      expect(await lost()).toEqual({ lost: 1, ever: 1 });
      await acceptSource(database, streamId);
      await walkAgain(streamId, textsOf([2, 3, 4]));
      expect(await lost()).toEqual({ lost: 0, ever: 1 });
      expect(await audit(server)).toEqual([]);
    },
  );
});

describe('what was found not to be the record', () => {
  it('neither doubles nor loses records that were stored with it', async () => {
    const streamId = await planDays(database);
    const window = await windowOf(database, streamId, DAY);
    const rows = (from: number) => [1, 2, 3].map((id, at) => `{"id": ${id}, "row": ${from + at}}`);
    await proveTexts(database, window, [rows(1)]);
    await letHoursPass(database, 2);
    await proveTexts(
      database,
      window,
      [[...rows(7), '{"id": 4, "row": 10}']],
      {},
      { ignored: ['/row'] },
    );
    expect(
      (
        await server.query<{ id: string }>(
          `select record ->> 'id' as id from daywalk.events order by 1`,
        )
      ).map(({ id }) => id),
    ).toEqual(['1', '2', '3', '4']);
    expect(await server.query(`select from daywalk.marks where state <> 'shown'`)).toEqual([]);
  });
});

describe('what was found not to be the record after it was shown in two versions', () => {
  const aged = (ids: readonly number[], age: number) =>
    ids.map((id) => `{"id": ${id}, "age": ${age}}`);
  const idsShown = async () =>
    (
      await server.query<{ id: string }>(
        `select record ->> 'id' || case when gone_since is null then '' else ' gone' end as id from daywalk.events order by 1`,
      )
    ).map(({ id }) => id);

  it('is shown once again, twins as often as one walk brought them', async () => {
    const streamId = await planDays(database);
    const window = await windowOf(database, streamId, DAY);
    await proveTexts(database, window, [aged([1, 2, 2, 3], 1)]);
    for (const age of [2, 3]) await walkAgain(streamId, aged([1, 2, 2, 3], age));
    expect(await counts('daywalk.events')).toBe(12);
    await letHoursPass(database, 2);
    await proveTexts(database, window, [aged([1, 2, 2, 3], 4)], {}, { ignored: ['/age'] });
    expect(await idsShown()).toEqual(['1', '2', '2', '3']);
    expect(await told()).toMatchObject({ gone: 0 });
    expect(await audit(server)).toEqual([]);
  });

  it('keeps what the source does not show any more, in one version', async () => {
    const streamId = await planDays(database);
    const window = await windowOf(database, streamId, DAY);
    await proveTexts(database, window, [aged([1, 2, 2, 3], 1)]);
    await walkAgain(streamId, aged([1, 2], 2));
    for (const age of [3, 4]) {
      await letHoursPass(database, 2);
      await proveTexts(database, window, [aged([1, 2], age)], {}, { ignored: ['/age'] });
    }
    expect(await idsShown()).toEqual(['1', '2', '2 gone', '3 gone']);
    expect(await audit(server)).toEqual([]);
  });
});

describe('the looks at a complete window', () => {
  const dueIn = async () =>
    (
      await server.query<{ hours: number | null }>(
        `select round(extract(epoch from due_at - clock_timestamp()) / 3600)::int as hours from daywalk.windows where kind = 'day'`,
      )
    )[0]?.hours;
  /** Sets how long ago the day closed: the clock cannot be set, so the settle delay is. */
  const closedAgo = (hours: number) =>
    server.query(
      `update daywalk.streams set settle = clock_timestamp() - ($1::date + 1)::timestamp at time zone 'UTC' - make_interval(hours => $2)`,
      [DAY, hours],
    );

  it.each([
    [0, 3, 24],
    [59, 3, 24],
    [61, 3, null],
    [5, 0, null],
    [11, 1, 24],
    [13, 1, null],
  ])(
    'of a day that closed %i hours ago, of %i days: first after an hour, then in %s hours',
    async (hours, days, due) => {
      const streamId = await planDays(database);
      await closedAgo(hours);
      const { windowId } = await publishNext(database, streamId, [[1]]);
      expect(await dueIn()).toBe(1);
      const window = await leaseWindow(database, windowId);
      expect(window).toMatchObject({ state: 'complete', purpose: 'look', rewalk: false, looks: 0 });
      await noteLooked(database, window, days);
      expect(await dueIn()).toBe(due);
      expect(
        await server.query(
          `select state, lease_id, attempts, looks from daywalk.windows where kind = 'day'`,
        ),
      ).toEqual([{ state: 'complete', lease_id: null, attempts: 0, looks: 1 }]);
      expect(
        await server.query('select looks from daywalk.coverage where day = $1', [DAY]),
      ).toEqual([{ looks: 1 }]);
    },
  );

  it('begin anew when it is proven anew', async () => {
    const streamId = await planDays(database);
    const { windowId } = await publishNext(database, streamId, [[1]]);
    await noteLooked(database, await leaseWindow(database, windowId), 7);
    await walkAgain(streamId, textsOf([1]));
    expect(await dueIn()).toBe(1);
    expect(await server.query('select looks from daywalk.coverage where day = $1', [DAY])).toEqual([
      { looks: 0 },
    ]);
  });

  it('that showed nothing when it was proven do not take back that its day was forgotten', async () => {
    const streamId = await planDays(database);
    const { windowId } = await publishNext(database, streamId, [[]]);
    const retired = 'retired_since = clock_timestamp()';
    await server.query(`update daywalk.days set ${retired} where day = $1`, [DAY]);
    await noteLooked(database, await leaseWindow(database, windowId), 7);
    expect(
      await server.query('select day::text from daywalk.days where retired_since is not null'),
    ).toEqual([{ day: DAY }]);
  });
});

it('what stands for thousands of records that are gone is read once, and not once for each of them', async () => {
  const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
  const pages = upTo(4).map((page) => upTo(1000).map((n) => `{"id": "${page}-${n}"}`));
  await proveTexts(database, await windowOf(database, streamId, DAY), pages);
  const window = await windowOf(database, streamId, NEXT_DAY);
  await proveTexts(database, window, [['{"id": "1"}']]);
  await server.query(
    `insert into daywalk.marks (walk_id, page_no, position, day, state, since)
     select p.walk_id, p.page_no, place, p.day, 'gone', now()
       from daywalk.pages p cross join generate_series(1, p.records) as place where p.day = $1`,
    [DAY],
  );
  const [row] = await server.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
    `explain (analyze, buffers, format json) select from daywalk.superseded(${streamId}, 'gone', null, '{${window}}')`,
  );
  expect(row?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(4_000);
});
