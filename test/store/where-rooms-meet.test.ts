/** Where two rooms meet: an identity that is set later, midnights of days that are away, the midnight before all days, clocks that jump. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../src/errors.ts';
import { listArchivedDays } from '../../src/files/rows.ts';
import { appendToLedger, checkLedger } from '../../src/ledger/rows.ts';
import { listOldDays, markPruned, type OldDay } from '../../src/retention/rows.ts';
import type { Database } from '../../src/store/database.ts';
import { acquireLease, countDue, noteLooked, readHeldElsewhere } from '../../src/store/leases.ts';
import { closeSplit, splitWindow } from '../../src/store/splits.ts';
import { listStoredWalks, listWronglyShared } from '../../src/store/stored.ts';
import { proveCut } from '../../src/store/walks.ts';
import { askAgain } from '../../src/store/windows.ts';
import { audit } from '../support/audit.ts';
import { until } from '../support/condition.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  endedWalk,
  endLooks,
  leaseWindow,
  letHoursPass,
  proveCutOf,
  proveTexts,
  publishNext,
  textsOf,
  walkPages,
  windowOf,
} from '../support/publishing.ts';
import { DAY, EVERYTHING, expireLeases, freshStore, planDays, TTL_MS } from '../support/store.ts';

const NEXT_DAY = '2026-03-06';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const shown = async () =>
  (
    await server.query<{ found: string }>(
      `select to_char(day, 'DD') || ' ' || record::text || case when gone_since is null then '' else ' gone' end as found
         from daywalk.events order by 1`,
    )
  ).map((row) => row.found);

/** Says what the settings say now. */
const identifyBy = (...path: readonly string[]) =>
  planDays(database, [DAY, NEXT_DAY], { idPath: path });

/** Proves a day by several walks, two hours apart. */
async function walks(streamId: number, day: string, ...lists: readonly (readonly string[])[]) {
  const window = await windowOf(database, streamId, day);
  for (const texts of lists) {
    await letHoursPass(database, 2);
    await proveTexts(database, window, [texts]);
  }
}

describe('an id_path that is set, or corrected, later', () => {
  const V1 = '{"v": 1, "id": 5}';
  const V2 = '{"v": 2, "id": 5}';

  it('a record that is gone, and stands in a newer version on another day, is shown once', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY]);
    await walks(streamId, DAY, [V1], [], []);
    await identifyBy('id');
    await walks(streamId, NEXT_DAY, [V2]);
    await walks(streamId, DAY, [], []);
    await walks(streamId, NEXT_DAY, [V2]);
    expect(await shown()).toEqual([`06 ${V2}`]);
  });

  it('hides no record that is gone behind one of which only the other field is the same', async () => {
    const streamId = await identifyBy('rule');
    const first = '{"id": 7, "rule": 5501}';
    await walks(streamId, DAY, [first], [], []);
    expect(await shown()).toEqual([`05 ${first} gone`]);
    await identifyBy('id');
    const other = '{"id": 5501, "rule": 2}';
    await walks(streamId, NEXT_DAY, [other]);
    expect(await shown()).toEqual([`05 ${first} gone`, `06 ${other}`]);
  });

  it('is no reason to say that the views of a resource are wrong', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1]]);
    await proveTexts(database, await windowOf(database, streamId, DAY), [[V1]]);
    const others = await planDays(database, [DAY], {
      name: 'critical',
      filters: { rule_level: '12' },
    });
    await proveTexts(database, await windowOf(database, others, DAY), [[V2]]);
    await planDays(database, [DAY], { idPath: ['id'] });
    await planDays(database, [DAY], {
      name: 'critical',
      filters: { rule_level: '12' },
      idPath: ['id'],
    });
    expect(await listWronglyShared(database, { resource: 'events', day: DAY })).toEqual([]);
  });
});

async function prune(day: string): Promise<void> {
  for (const due of await server.query<{ streamId: number; day: string }>(
    'select stream_id as "streamId", day from daywalk.ledger_due',
  ))
    await appendToLedger(database, due);
  const old = await listOldDays(database, 'day', [{ stream: 'events', olderThanMs: 0 }]);
  const mine = old.find((one) => one.day === day) as OldDay;
  expect(await markPruned(database, 'day', mine)).toBe('pruned');
}

describe('a day that is pruned just when somebody asks for it again', () => {
  it('is not walked again: it would be shown, and is said to be away', async () => {
    const streamId = await planDays(database);
    await publishNext(database, streamId, [[1, 2]]);
    await endLooks(server);
    await appendToLedger(database, { streamId, day: DAY });
    const [old] = await listOldDays(database, 'day', [{ stream: 'events', olderThanMs: 0 }]);
    const pruning = await server.pool.connect();
    await pruning.query('begin');
    await pruning.query(
      `select daywalk.mark_pruned($1, $2, 'day', $3::bigint[], decode($4, 'hex'))`,
      [streamId, DAY, old?.walks, old?.marks],
    );
    const asked = askAgain(database, streamId, [DAY], true);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until('what waits for the day', async () => (await server.query(waiting)).length > 0);
    await pruning.query('commit');
    pruning.release();
    await asked;
    const scope = { ...EVERYTHING, streamIds: [streamId] };
    expect(await acquireLease(database, randomUUID(), 'a', TTL_MS, scope)).toBeNull();
    // Nor is it waited for, where a worker that was killed had it.
    await server.query(
      `update daywalk.windows set lease_id = $1, lease_expires = 'epoch' where due_at is not null`,
      [randomUUID()],
    );
    expect(await readHeldElsewhere(database, [], scope)).toBeNull();
    expect(await countDue(database, scope)).toBe(0);
  });
});

describe('the midnight of a day that is away', () => {
  it('is not due again because the source shows the day behind it again, which it had forgotten', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY]);
    await publishNext(database, streamId, [[1, 2]]);
    await publishNext(database, streamId, [[3, 4]]);
    await prune(DAY);
    await server.query(`update daywalk.days set retired_since = clock_timestamp() where day = $1`, [
      NEXT_DAY,
    ]);
    await endLooks(database);
    const window = await leaseWindow(database, await windowOf(database, streamId, NEXT_DAY));
    await noteLooked(database, window, 7);
    expect(
      await server.query(
        `select kind, day::text from daywalk.windows where day < $1 and due_at is not null`,
        [NEXT_DAY],
      ),
    ).toEqual([]);
  });

  it('says nothing of that day, and what it showed stays that of the day', async () => {
    const streamId = await planDays(database, [NEXT_DAY]);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [textsOf([3])]);
    for (const end of [NEXT_DAY, DAY])
      await proveCutOf(
        database,
        await windowOf(database, streamId, end, 'cut'),
        end === DAY ? { across: textsOf([2]), before: [], after: [] } : null,
        { records: end === DAY ? 1 : 0, removed: 0 },
      );
    await prune(NEXT_DAY);
    await planDays(database, [DAY]);
    await server.query(
      `update daywalk.windows set state = 'failed', last_error = 'no answer', last_failed_at = clock_timestamp() where day = $1`,
      [DAY],
    );
    const states = () =>
      server.query(
        `select day::text, state, last_error from daywalk.coverage where day between $1 and $2 order by day`,
        [DAY, NEXT_DAY],
      );
    expect(await states()).toEqual([
      { day: DAY, state: 'failed', last_error: 'no answer' },
      { day: NEXT_DAY, state: 'pruned', last_error: null },
    ]);
    await server.query(`update daywalk.windows set state = 'pending' where day = $1`, [DAY]);
    await publishNext(database, streamId, [[1]]);
    await appendToLedger(database, { streamId, day: DAY });
    expect(await shown()).toEqual(['05 {"id": 1}']);
    expect(
      await server.query(
        'select l.day from daywalk.ledger l join daywalk.walks k on k.walk_id = any (l.walks) where k.day <> l.day',
      ),
    ).toEqual([]);
    expect(await checkLedger(database, ['events'])).toEqual([]);
    expect(await audit(server)).toEqual([]);
  });

  it('makes it no gap when it is asked for anew', async () => {
    const streamId = await planDays(database, [DAY, NEXT_DAY]);
    for (const day of [DAY, NEXT_DAY])
      await proveTexts(database, await windowOf(database, streamId, day), [textsOf([1])]);
    const cuts = await server.query<{ id: string }>(
      `select window_id as id from daywalk.windows where kind = 'cut' order by from_time`,
    );
    for (const { id } of cuts) await proveCutOf(database, Number(id));
    await prune(NEXT_DAY);
    await server.query(
      `update daywalk.windows set state = 'pending', due_at = clock_timestamp() where midnight = $1`,
      [DAY],
    );
    const gaps = 'select day::text from daywalk.gaps where day between $1 and $2';
    expect(await server.query(gaps, [DAY, NEXT_DAY])).toEqual([{ day: DAY }]);
  });

  it('is gone on with by no walk that was left open while it was one before all days', async () => {
    const streamId = await planDays(database, [NEXT_DAY]);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [textsOf([3])]);
    const cut = await windowOf(database, streamId, DAY, 'cut');
    await walkPages(database, await leaseWindow(database, cut), [[2]], { role: 'across' });
    await expireLeases(server);
    await planDays(database, [DAY]);
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1])]);
    expect(
      await server.query(
        `select w.day::text, k.day::text as of, k.outcome, w.current_walk
           from daywalk.windows w join daywalk.walks k using (window_id) where w.window_id = $1`,
        [cut],
      ),
    ).toEqual([{ day: DAY, of: NEXT_DAY, outcome: 'failed', current_walk: null }]);
    expect(await audit(server)).toEqual([]);
  });

  it('has what it showed as one before all days under the day behind, in views, counts and searches', async () => {
    const streamId = await planDays(database, [NEXT_DAY]);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [textsOf([3])]);
    const cut = await windowOf(database, streamId, DAY, 'cut');
    const after = textsOf([3]);
    const found = { across: textsOf([2, 3]), before: [], after };
    await proveCutOf(database, cut, found, { records: 1, removed: 0 });
    await planDays(database, [DAY]);
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1])]);
    expect(
      await server.query('select state from daywalk.windows where window_id = $1', [cut]),
    ).toEqual([{ state: 'pending' }]);
    const more = { across: textsOf([7, 2, 3]), before: [], after };
    await proveCutOf(database, cut, more, { records: 2, removed: 0 });
    const first = ['05 {"id": 1}', '05 {"id": 7}'];
    expect(await shown()).toEqual([...first, '06 {"id": 2}', '06 {"id": 3}']);
    expect(
      await server.query('select record from daywalk.search($1, $2, $2)', ['2', NEXT_DAY]),
    ).toEqual([{ record: { id: 2 } }]);
    const stored = await listStoredWalks(database, ['events'], { from: NEXT_DAY, to: NEXT_DAY });
    expect(stored.map(({ day, shown }) => [day, shown])).toEqual([
      [NEXT_DAY, true],
      [NEXT_DAY, true],
    ]);
    for (let time = 0; time < 2; time += 1) {
      await letHoursPass(database, 2);
      await proveCutOf(
        database,
        cut,
        { across: after, before: [], after },
        { records: 0, removed: 0 },
      );
    }
    expect(await shown()).toEqual([
      ...['05 {"id": 1}', '05 {"id": 7} gone', '06 {"id": 2} gone', '06 {"id": 3}'],
    ]);
    expect(await audit(server)).toEqual([]);
  });

  it('is not proven by who asked it while it was one before all days', async () => {
    const streamId = await planDays(database, [NEXT_DAY]);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [textsOf([3])]);
    const cut = await windowOf(database, streamId, DAY, 'cut');
    const held = await leaseWindow(database, cut);
    // A record of 23:59:59.7, which neither window shows.
    const across = await endedWalk(database, held, [textsOf([2, 3])], { role: 'across' });
    const before = await endedWalk(database, held, [[]], { role: 'before' });
    const after = await endedWalk(database, held, [textsOf([3])], { role: 'after' });
    await planDays(database, [DAY]);
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1])]);
    const proof = {
      kind: 'cut',
      rule: 'C8',
      records: 1,
      removed: 0,
      why: '',
      across,
      before,
      after,
    } as const;
    await expect(proveCut(database, held, proof)).rejects.toThrow(LeaseLostError);
    expect(await shown()).toEqual(['05 {"id": 1}', '06 {"id": 3}']);
    const found = { across: textsOf([2, 3]), before: [], after: textsOf([3]) };
    await proveCutOf(database, cut, found, { records: 1, removed: 0 });
    expect(await shown()).toEqual(['05 {"id": 1}', '05 {"id": 2}', '06 {"id": 3}']);
    expect(await audit(server)).toEqual([]);
  });

  it('is asked when the day before it is walked later', async () => {
    const streamId = await planDays(database, [NEXT_DAY]);
    await proveTexts(database, await windowOf(database, streamId, NEXT_DAY), [textsOf([3])]);
    const cut = await windowOf(database, streamId, DAY, 'cut');
    await proveCutOf(database, await windowOf(database, streamId, NEXT_DAY, 'cut'));
    // A record of 23:59:59.7, which neither window shows.
    await proveCutOf(
      database,
      cut,
      { across: textsOf([2, 3]), before: [], after: textsOf([3]) },
      { records: 1, removed: 0 },
    );
    expect(await shown()).toEqual(['06 {"id": 2}', '06 {"id": 3}']);
    await prune(NEXT_DAY);
    expect(await shown()).toEqual([]);
    await planDays(database, [DAY]);
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1])]);
    expect(await server.query(`select state from daywalk.coverage where day = $1`, [DAY])).toEqual([
      { state: 'pending' },
    ]);
    const found = { across: textsOf([2, 3]), before: [], after: textsOf([3]) };
    await proveCutOf(database, cut, found, { records: 1, removed: 0 });
    expect(await shown()).toEqual(['05 {"id": 1}', '05 {"id": 2}']);
  });
});

it('what the midnight before all days brings belongs to the first of them, in views and files', async () => {
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[1, 2]]);
  const cut = await windowOf(database, streamId, '2026-03-04', 'cut');
  await proveCutOf(
    database,
    cut,
    { across: textsOf([7, 1]), before: [], after: textsOf([1]) },
    { records: 1, removed: 0 },
  );
  const first = ['05 {"id": 1}', '05 {"id": 2}', '05 {"id": 7}'];
  expect(await shown()).toEqual(first);
  const days = await listArchivedDays(database, ['events'], { from: null, to: null });
  expect(days.map(({ records }) => records).filter((records) => records > 0)).toEqual([3]);
  await planDays(database, ['2026-03-04']);
  await publishNext(database, streamId, [[6]]);
  expect(await shown()).toEqual(['04 {"id": 6}', ...first]);
  expect(await audit(server)).toEqual([]);
});

describe('two records that differ', () => {
  /** Seventeen fields; the first and the last hold one instant, as `timestamp` and `@timestamp` do. */
  const event = (instant: number, first = instant, last = instant) =>
    `{${Array.from({ length: 17 }, (_, index) => `"k${String(index).padStart(2, '0')}": ${index === 0 ? first : index === 16 ? last : 0}`).join(', ')}}`;

  it('only in a value that stands in two of their fields are both shown, also where one came late', async () => {
    const streamId = await planDays(database);
    await walks(streamId, DAY, [event(100)], [event(200), event(100)]);
    expect(await shown()).toEqual([`05 ${event(100)}`, `05 ${event(200)}`]);
  });

  it('only in which of two fields has which of two values are both shown', async () => {
    const streamId = await planDays(database);
    await walks(streamId, DAY, [event(0, 1, 2)], [event(0, 2, 1), event(0, 1, 2)]);
    expect(await shown()).toEqual([`05 ${event(0, 1, 2)}`, `05 ${event(0, 2, 1)}`]);
  });
});

describe('what is not the record, learned after a day was split', () => {
  it('does not leave a record shown twice, once of them as gone', async () => {
    const streamId = await planDays(database);
    const top = await windowOf(database, streamId, DAY);
    const seen = (n: number) => `{"n": ${n}, "id": 1}`;
    await proveTexts(database, top, [[seen(1)]]);
    const window = await leaseWindow(database, top);
    const part = (from: string, to: string) => ({
      ...{ from: `${DAY} ${from}`, to: `${DAY} ${to}` },
      ...{ levelFrom: null, levelTo: null },
    });
    const parts = [part('00:00:00', '11:59:59'), part('12:00:00', '23:59:59')];
    const request = { by: 'time', reason: 'capped', total: null, parts, cuts: [] } as const;
    await splitWindow(database, window, request);
    const [morning = 0, evening = 0] = (
      await server.query<{ id: number }>(
        `select window_id::int as id from daywalk.windows where split_from = $1 order by from_time`,
        [top],
      )
    ).map(({ id }) => id);
    const proof = { kind: 'parts', rule: 'C9', records: 1, why: 'as the test says' } as const;
    const walkParts = async (n: number, ignored: readonly string[]) => {
      await letHoursPass(database, 2);
      await proveTexts(database, morning, [[seen(n)]], {}, { ignored });
      await proveTexts(database, evening, [[]], {}, { ignored });
      await closeSplit(database, await leaseWindow(database, top), proof);
    };
    await walkParts(2, []);
    await walkParts(3, []);
    expect(await shown()).toHaveLength(3);
    await walkParts(4, ['/n']);
    expect(await shown()).toHaveLength(1);
  });
});

it('a record that a midnight shows does not go because the source shows it with the day before by now, and that was not walked yet', async () => {
  const streamId = await planDays(database, [DAY, NEXT_DAY], { idPath: ['id'] });
  await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf([1])]);
  const cut = await windowOf(database, streamId, DAY, 'cut');
  const across = textsOf([1, 7]);
  await proveCutOf(
    database,
    cut,
    { across, before: textsOf([1]), after: [] },
    { records: 1, removed: 0 },
  );
  expect(await shown()).toEqual(['05 {"id": 1}', '05 {"id": 7}']);
  await proveCutOf(database, cut, { across, before: across, after: [] });
  expect(await shown()).toEqual(['05 {"id": 1}', '05 {"id": 7}']);
});
